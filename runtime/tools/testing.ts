// torch.testing: whether values are the same, and what differs where they are not.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { titled } from "../base/class-name.js";
import { atMost, isOptions, taken } from "../base/named-arguments.js";
import { sameShape, showSize } from "../base/shape.js";
import { type DType, isFloat } from "../elements/dtype.js";
import { Tensor } from "../tensor/tensor.js";

export { make_tensor, type MakeTensorOptions } from "./make-tensor.js";

/**
 * What assert_close throws.
 *
 * @example
 * const { AssertionError, assert_close } = torch.testing;
 * await assert_close(torch.tensor([1]), torch.tensor([2])).catch((error) => error instanceof AssertionError)  // true
 */
export class AssertionError extends OpError {}
titled(AssertionError, "AssertionError");

export interface CloseOptions {
  allow_subclasses?: boolean;
  /** Of the expected value, and in itself; either both or none. */
  rtol?: number | null;
  atol?: number | null;
  /** Whether NaN equals NaN. */
  equal_nan?: boolean;
  check_device?: boolean;
  check_dtype?: boolean;
  check_layout?: boolean;
  check_stride?: boolean;
  /** The error's text, or what makes it of the one there would be. */
  msg?: string | ((message: string) => string) | null;
}

/** A number as Python prints it: whole ones of floats with a point. */
function python(x: number, float: boolean): string {
  if (!Number.isFinite(x)) return String(x).replace("Infinity", "inf").toLowerCase();
  const size = Math.abs(x);
  if ((size < 1e-4 && x !== 0) || (float && size >= 1e16)) return x.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return float && Number.isInteger(x) ? `${x}.0` : String(x);
}

function tolerances(types: readonly (DType | "number" | "integer")[]): [rtol: number, atol: number] {
  const all = types.map((type): [number, number] =>
    type === "float16"
      ? [1e-3, 1e-5]
      : type === "bfloat16"
        ? [1.6e-2, 1e-5]
        : type === "float32"
          ? [1.3e-6, 1e-5]
          : type === "float64" || type === "number"
            ? [1e-7, 1e-7]
            : [0, 0],
  );
  return [Math.max(...all.map(([r]) => r)), Math.max(...all.map(([, a]) => a))];
}

/** Throws, with what differs most, unless all numbers are close. */
function compare(
  [actual, expected]: readonly [ArrayLike<number>, ArrayLike<number>],
  shape: readonly number[],
  single: boolean,
  [rtol, atol]: readonly [number, number],
  options: CloseOptions,
  floats: readonly [boolean, boolean],
): void {
  let wrong = 0;
  const most = { absolute: [-1, 0], relative: [-1, 0] } as Record<"absolute" | "relative", [number, number]>;
  for (let i = 0; i < expected.length; i++) {
    const a = Number(actual[i]),
      b = Number(expected[i]),
      alike = typeof actual[i] === typeof expected[i], // BigInts, too
      far = Math.abs(alike ? Number(actual[i]! - expected[i]!) : a - b);
    if (
      (a === b && !(far > 0)) ||
      (options.equal_nan && Number.isNaN(a) && Number.isNaN(b)) ||
      far <= atol + rtol * Math.abs(b)
    )
      if (!(far === Infinity && a !== b)) continue;
    wrong++;
    for (const [name, value] of [
      ["absolute", far],
      ["relative", far / Math.abs(b)],
    ] as const)
      if (Number.isNaN(value) ? !Number.isNaN(most[name][0]) : value > most[name][0]) most[name] = [value, i];
  }
  if (wrong === 0) return;
  const equality = rtol === 0 && atol === 0,
    allowed = (tolerance: number) => (equality ? "" : ` (up to ${python(tolerance, false)} allowed)`);
  if (single) {
    throw new AssertionError(
      `Scalars are not ${equality ? "equal" : "close"}!\n\nExpected ${python(Number(expected[0]), floats[1])} but got ${python(Number(actual[0]), floats[0])}.\n` +
        `Absolute difference: ${python(most.absolute[0], floats[0] || floats[1])}${allowed(atol)}\nRelative difference: ${python(most.relative[0], true)}${allowed(rtol)}`,
    );
  }
  const place = (at: number): string => {
    const index: number[] = [];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index.unshift(at % shape[axis]!);
      at = Math.floor(at / shape[axis]!);
    }
    return `(${index.join(", ")}${index.length === 1 ? "," : ""})`;
  };
  const line = (name: "absolute" | "relative", tolerance: number, float: boolean): string =>
    `Greatest ${name} difference: ${python(most[name][0], float)} at index ${place(most[name][1])}${allowed(tolerance)}`;
  throw new AssertionError(
    `Tensor-likes are not ${equality ? "equal" : "close"}!\n\nMismatched elements: ${wrong} / ${expected.length} (${((100 * wrong) / expected.length).toFixed(1)}%)\n` +
      `${line("absolute", atol, floats[0] || floats[1])}\n${line("relative", rtol, true)}`,
  );
}

/** Throws unless an attribute of both is the same. */
function same(name: string, a: string, b: string): void {
  if (a !== b) throw new AssertionError(`The values for attribute '${name}' do not match: ${a} != ${b}.`);
}

/** Compares what may hold others; `path`: where in what was given. */
async function compareAll(actual: unknown, expected: unknown, options: CloseOptions, path: string): Promise<void> {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length)
      throw new AssertionError(`The length of the sequences mismatch: ${actual.length} != ${expected.length}`);
    for (let i = 0; i < actual.length; i++) await compareAll(actual[i], expected[i], options, `${path}[${i}]`);
  } else if (isOptions(actual) && isOptions(expected)) {
    const list = (from: object, other: object) =>
        Object.keys(from)
          .filter((name) => !Object.hasOwn(other, name))
          .sort()
          .map((name) => `'${name}'`)
          .join(", "),
      lacking = list(expected, actual),
      additional = list(actual, expected);
    if (lacking || additional)
      throw new AssertionError(
        `The keys of the mappings do not match:` +
          (lacking && `\nMissing keys in the actual mapping: [${lacking}]`) +
          (additional && `\nAdditional keys in the actual mapping: [${additional}]`),
      );
    for (const name of Object.keys(expected))
      await compareAll(actual[name], expected[name], options, `${path}['${name}']`);
  } else {
    try {
      await comparePair(actual, expected, options);
    } catch (error) {
      if (!(error instanceof AssertionError) || !path) throw error;
      throw new AssertionError(`${error.message}\n\nThe failure occurred for item ${path}`);
    }
  }
}

async function comparePair(actual: unknown, expected: unknown, options: CloseOptions): Promise<void> {
  const { rtol, atol } = options,
    within = (types: (DType | "number" | "integer")[]): readonly [number, number] =>
      rtol == null ? tolerances(types) : [rtol, atol!];
  if (actual instanceof Tensor && expected instanceof Tensor) {
    if (!sameShape(actual.shape, expected.shape)) same("shape", showSize(actual.shape), showSize(expected.shape));
    if (options.check_device ?? true) same("device", actual.device, expected.device);
    if (options.check_dtype ?? true) same("dtype", `torch.${actual.dtype}`, `torch.${expected.dtype}`);
    if (options.check_stride) same("stride()", `(${actual.strides.join(", ")})`, `(${expected.strides.join(", ")})`);
    const values = await Promise.all([actual.data(), expected.data()]);
    compare(
      values as unknown as [ArrayLike<number>, ArrayLike<number>],
      actual.shape,
      actual.ndim === 0,
      within([actual.dtype, expected.dtype]),
      options,
      [isFloat(actual.dtype), isFloat(expected.dtype)],
    );
  } else if (["number", "boolean"].includes(typeof actual) && typeof actual === typeof expected) {
    const whole = typeof actual === "boolean" || (Number.isInteger(actual) && Number.isInteger(expected));
    compare(
      [[Number(actual)], [Number(expected)]],
      [],
      true,
      within([whole && typeof actual === "boolean" ? "integer" : "number"]),
      options,
      [typeof actual === "number", typeof expected === "number"],
    );
  } else if (actual !== null || expected !== null)
    throw new TypeMismatchError(
      `assert_close: No comparison pair was able to handle inputs of type ${describe(actual)} and ${describe(expected)}.`,
    );
}

/**
 * Throws an AssertionError, which says what differs, unless tensors, numbers, or lists and objects of them are close:
 * `|actual - expected| <= atol + rtol * |expected|`, of the same type, device and shape. The values have to be read, so
 * it is a promise.
 *
 * @param actual tensor or number, or lists and objects of them
 * @param expected the same, of the same structure
 * @param allow_subclasses means nothing here: tensors have no subclasses
 * @param atol in itself; with `rtol` by default as the type is precise
 * @param check_device whether both must be on one device
 * @param check_dtype whether types must be the same
 * @param check_layout means nothing here: there is one layout
 * @param check_stride whether strides must be the same
 *
 * @example
 * const { assert_close } = torch.testing;
 * await assert_close(torch.tensor([1]), torch.tensor([2])).catch((error) => error.message.split("\n")[0])  // "Tensor-likes are not close!"
 * await torch.testing.assert_close(torch.tensor([1]), torch.tensor([1.0000001]))  // undefined
 */
export function assert_close(actual: unknown, expected: unknown, options?: CloseOptions): Promise<void>;
export async function assert_close(...args: unknown[]): Promise<void> {
  atMost("assert_close", args, 3);
  // Objects are values here: options come third.
  const [actual, expected, given] = (
      args.length < 2 ? taken("assert_close actual expected | " + OPTIONS, args) : args
    ) as [unknown, unknown, (CloseOptions | null)?],
    options = given ?? {},
    { rtol, atol, msg } = isOptions(options) ? (taken("assert_close | " + OPTIONS, [options])[0] as CloseOptions) : {};
  if ((rtol == null) !== (atol == null))
    throw new OpError(
      `assert_close: Both 'rtol' and 'atol' must be either specified or omitted, but got no ${rtol == null ? "rtol" : "atol"}.`,
    );
  try {
    await compareAll(actual, expected, options, "");
  } catch (error) {
    if (!(error instanceof AssertionError) || msg == null) throw error;
    throw new AssertionError(typeof msg === "function" ? msg(error.message) : msg);
  }
}
const OPTIONS = "allow_subclasses rtol atol equal_nan check_device check_dtype check_layout check_stride msg";
