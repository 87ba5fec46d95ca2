// Floats of Python, of which JavaScript does not tell 2.0 from 2: what is made of them, and of whole numbers beside them,
// are floats before anything is computed, so that nothing has to fit into whole numbers.

import { full } from "../creation/create.js";
import { isFloat } from "../elements/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import type { NodeJson, TensorMeta } from "./graph-json.js";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Operators that compute in the type that their tensors and numbers come to. */
const JOINING = words("add sub rsub mul div pow remainder fmod floor_divide clamp xlogy where");
/** Operators that make tensors of a number, of its type where none is named. */
const CREATING = words("full scalar_tensor");

export interface Floats {
  /** The arguments that are such floats. */
  readonly at: readonly number[];
  readonly creates: boolean;
}

/** The floats among a node's operands; null where they are of no account. */
export function floatsOf({ target, inputs }: NodeJson): Floats | null {
  const name = target.split(".")[3] ?? "",
    creates = CREATING.has(name);
  if (!creates && !JOINING.has(name)) return null;
  const at = inputs.flatMap(({ operand }, i) =>
    operand.kind === "value" && operand.float && Number.isInteger(operand.value) ? [i] : [],
  );
  return at.length > 0 ? { at, creates } : null;
}

/** The arguments of such a node, which gives a tensor like `result`; its options are changed. */
export function besideFloats(
  { at, creates }: Floats,
  args: unknown[],
  options: Record<string, unknown>,
  result: TensorMeta | undefined,
  device: string,
): unknown[] {
  const dtype = result?.dtype;
  if (!dtype || !isFloat(dtype)) return args;
  if (creates) {
    options["dtype"] ??= dtype;
    return args;
  }
  if (args.some((x) => x instanceof Tensor && (isFloat(x.dtype) || x.dtype === "complex64"))) return args;
  const whole = (x: unknown): x is Tensor => x instanceof Tensor && x.dtype !== "bool";
  if (args.some(whole)) return args.map((x) => (whole(x) ? to(x, [dtype]) : x));
  return args.map((x, i) => (at.includes(i) ? full([], x as number, { dtype, device } as never) : x));
}
