// The errors of the package: one family, so that a program can tell its own mistakes from JavaScript's.
// Messages begin with the operator's name and say what came and what was expected.

import { titled } from "./class-name.js";
import { ownPlace } from "./own-place.js";

/**
 * A call that cannot be made, or that failed on its device.
 *
 * @example
 * const wrong = async () => torch.ones([2]).add(torch.ones([3]));
 * await wrong().catch((error) => error instanceof torch.OpError)  // true
 */
export class OpError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
    beginAtCaller(this);
  }
}

/** What V8's errors have more. */
export const engine = Error as { captureStackTrace?: (target: object) => void; stackTraceLimit?: number };

/** Lets the stack begin at the line of the program that called the package; engines without such a stack keep theirs. */
function beginAtCaller(error: Error): void {
  const { captureStackTrace, stackTraceLimit: limit } = engine,
    at: { stack?: string } = {};
  if (!captureStackTrace || !limit) return;
  // The package's own lines are not to take the places of the program's.
  engine.stackTraceLimit = limit + 30;
  captureStackTrace(at);
  engine.stackTraceLimit = limit;
  let other: string | undefined;
  // Read seldom: an error that is caught costs no text.
  Object.defineProperty(error, "stack", {
    get: () => other ?? `${error.name}: ${error.message}${outside(at.stack ?? "", limit)}`,
    set(value: string) {
      other = value;
    },
    configurable: true,
  });
}

/** The lines of a stack from the first on that is none of the package's; all, where everything is in one bundle. */
function outside(stack: string, most: number): string {
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line)),
    own = /(?:file:|https?:|\/).*?(?=:\d+:\d+\)?$)/.exec(lines[0] ?? "")?.[0] ?? "",
    home = ownPlace(own),
    // Nothing is left out of a program's bundle but the error's own lines; of the script that is the package, its own.
    known = own !== home || /\/torch(-core)?\.js$/.test(own),
    first = known ? lines.findIndex((line) => /:\d+\)?$/.test(line) && !line.includes(home)) : 2;
  return ["", ...lines.slice(Math.max(first, 0)).slice(0, most)].join("\n");
}

/**
 * An index, or an axis, outside of what it indexes.
 *
 * @example
 * const wrong = async () => torch.zeros([2]).select(0, 5);
 * await wrong().catch((error) => error instanceof torch.IndexError)  // true
 */
export class IndexError extends OpError {}

/**
 * A value of the wrong kind or type.
 *
 * @example
 * const wrong = async () => torch.zeros("two");
 * await wrong().catch((error) => error instanceof torch.TypeMismatchError)  // true
 */
export class TypeMismatchError extends OpError {}

/**
 * A matrix that a function of torch.linalg cannot take: singular, or not positive-definite.
 *
 * @example
 * const singular = async () => torch.linalg.inv(torch.zeros([2, 2])).tolist();
 * await singular().catch((error) => error.name)  // "LinAlgError"
 */
export class LinAlgError extends OpError {}

/**
 * A gradient that cannot be computed: a freed graph, a tensor changed after it was saved.
 *
 * @example
 * const loss = torch.tensor([1, 2], { requires_grad: true }).square().sum();
 * loss.backward();
 * const twice = async () => loss.backward();
 * await twice().catch((error) => error instanceof torch.AutogradError)  // true
 */
export class AutogradError extends OpError {}

/**
 * The device failed: it was lost, a kernel does not compile, memory ran out.
 *
 * @example
 * const failed = new torch.DeviceError("webgpu: the device was lost");
 * [failed.name, failed instanceof torch.OpError]  // ["DeviceError", true]
 */
export class DeviceError extends OpError {}

titled(OpError, "OpError");
titled(IndexError, "IndexError");
titled(TypeMismatchError, "TypeMismatchError");
titled(LinAlgError, "LinAlgError");
titled(AutogradError, "AutogradError");
titled(DeviceError, "DeviceError");

/** What a requirement over elements says that does not hold; "LinAlgError: " before its own words makes it one. */
export function refused(message: string): OpError {
  const said = message.replace("LinAlgError: ", "");
  return said === message ? new OpError(said) : new LinAlgError(said);
}

const warnings = /* @__PURE__ */ new Set<string>();
/** Whether a requirement only warns, which its message begins with: it is said once, and the call goes on. */
export function warned(message: string): boolean {
  const said = message.split("Warning: ")[1];
  if (said && !warnings.has(said)) {
    warnings.add(said);
    console.warn(said);
  }
  return !!said;
}

/** `TypeName` of a wrong argument, for messages. */
export function describe(value: unknown): string {
  if (value == null) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Promise) return "a Promise: await it first";
  if (typeof value === "function") return value.name ? `the function ${value.name}` : "a function";
  if (typeof value === "object") return (value as object).constructor?.name ?? "an object";
  if (typeof value === "string") return `"${value}"`;
  return `${typeof value} ${String(value)}`;
}

/** A number as messages and kernels' texts write it. */
export const decimal = (value: number): string => String(value);
