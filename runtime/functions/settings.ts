// Names that programs carry with them from PyTorch: settings of how it computes there, layouts, types that there are not
// here, kinds of tensors, questions with one answer.

import { count, flag, number, refuse } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { sameShape } from "../base/shape.js";
import { type Options, type TensorValues, counted, empty, tensor } from "../creation/create.js";
import { setThreads, threads } from "../devices/cpu/threads.js";
import { type DType, isFloat, isSigned, toDType } from "../elements/dtype.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";

// How tensors may lie in memory in PyTorch: whatever takes one answers rows in order.

/**
 * The memory format of pictures whose channels lie beside each other; results lie in rows whatever is asked for.
 *
 * @example
 * torch.ones(2, 3).contiguous({ memory_format: torch.channels_last }).shape  // [2, 3]
 */
export const channels_last = "torch.channels_last";
/**
 * The memory format of volumes whose channels lie beside each other; results lie in rows whatever is asked for.
 *
 * @example
 * torch.channels_last_3d  // "torch.channels_last_3d"
 */
export const channels_last_3d = "torch.channels_last_3d";
/**
 * The memory format of rows in order, which all results have.
 *
 * @example
 * torch.ones(2, 3).is_contiguous({ memory_format: torch.contiguous_format })  // true
 */
export const contiguous_format = "torch.contiguous_format";
/**
 * The memory format of what is copied; results lie in rows whatever is asked for.
 *
 * @example
 * torch.tensor([1, 2]).clone({ memory_format: torch.preserve_format })  // [1, 2]
 */
export const preserve_format = "torch.preserve_format";
/**
 * The layout of all tensors here: elements in memory with a stride for each axis.
 *
 * @example
 * torch.ones(2).layout === torch.strided  // true
 */
export const strided = "torch.strided";

// Types that there are not here; whatever takes a type refuses them by their name.

/**
 * The name of a type that there is not here, whole numbers of 64 bits without a sign: whatever takes a type refuses it.
 *
 * @example
 * torch.uint64  // "uint64"
 */
export const uint64 = "uint64";
/**
 * The name of a type that there is not here, pairs of float64: whatever takes a type refuses it.
 *
 * @example
 * torch.complex128  // "complex128"
 */
export const complex128 = "complex128";
/**
 * Another name of complex128, a type that there is not here.
 *
 * @example
 * torch.cdouble  // "complex128"
 */
export const cdouble = "complex128";

let precision = "highest",
  deterministic = false,
  warns = false;
/**
 * Kept and answered: products of matrices are of float32 here, whatever it says.
 *
 * @example
 * torch.set_float32_matmul_precision("high");
 * const told = torch.get_float32_matmul_precision();
 * torch.set_float32_matmul_precision("highest");
 * told  // "high"
 */
export function set_float32_matmul_precision(wanted: "highest" | "high" | "medium"): void {
  const [given] = taken("set_float32_matmul_precision precision", arguments);
  if (!["highest", "high", "medium"].includes(given))
    throw new OpError(`set_float32_matmul_precision: expected "highest", "high" or "medium", got "${given}"`);
  precision = wanted = given;
}
/**
 * What `set_float32_matmul_precision` was told.
 *
 * @example
 * torch.set_float32_matmul_precision("highest");
 * torch.get_float32_matmul_precision()  // "highest"
 */
export function get_float32_matmul_precision(): string {
  taken("get_float32_matmul_precision", arguments);
  return precision;
}
/**
 * Kept and answered: what adds up in any order on a GPU does so still.
 *
 * @example
 * torch.use_deterministic_algorithms(true);
 * const told = torch.are_deterministic_algorithms_enabled();
 * torch.use_deterministic_algorithms(false);
 * told  // true
 */
export function use_deterministic_algorithms(mode: boolean, options?: { warn_only?: boolean }): void {
  const [wanted, warn_only = false] = taken("use_deterministic_algorithms mode * warn_only?", arguments);
  deterministic = flag(wanted, "use_deterministic_algorithms", "mode");
  warns = flag(warn_only, "use_deterministic_algorithms", "warn_only");
}
/**
 * What `use_deterministic_algorithms` was told.
 *
 * @example
 * torch.use_deterministic_algorithms(false);
 * torch.are_deterministic_algorithms_enabled()  // false
 */
export function are_deterministic_algorithms_enabled(): boolean {
  taken("are_deterministic_algorithms_enabled", arguments);
  return deterministic;
}
/**
 * Whether it was to warn only.
 *
 * @example
 * torch.use_deterministic_algorithms(true, { warn_only: true });
 * const told = torch.is_deterministic_algorithms_warn_only_enabled();
 * torch.use_deterministic_algorithms(false);
 * told  // true
 */
export function is_deterministic_algorithms_warn_only_enabled(): boolean {
  taken("is_deterministic_algorithms_warn_only_enabled", arguments);
  return warns;
}
const DEBUG_MODES = ["default", "warn", "error"];
/**
 * The same as a number or a name: 0 "default", 1 "warn", 2 "error".
 *
 * @example
 * torch.set_deterministic_debug_mode("warn");
 * const mode = torch.get_deterministic_debug_mode();
 * torch.set_deterministic_debug_mode("default");
 * mode  // 1
 */
export function set_deterministic_debug_mode(debug_mode: number | "default" | "warn" | "error"): void {
  [debug_mode] = taken("set_deterministic_debug_mode debug_mode", arguments);
  const mode = typeof debug_mode === "number" ? debug_mode : DEBUG_MODES.indexOf(debug_mode);
  if (DEBUG_MODES[mode] === undefined)
    refuse("set_deterministic_debug_mode", "debug_mode", '0 "default", 1 "warn" or 2 "error"', debug_mode);
  use_deterministic_algorithms(mode > 0, { warn_only: mode === 1 });
}
/**
 * What `set_deterministic_debug_mode` was told, as a number.
 *
 * @example
 * torch.set_deterministic_debug_mode("default");
 * torch.get_deterministic_debug_mode()  // 0
 */
export function get_deterministic_debug_mode(): number {
  taken("get_deterministic_debug_mode", arguments);
  return deterministic ? 2 - Number(warns) : 0;
}
/**
 * How many threads large kernels of the CPU may take, where memory can be shared: in Node, in isolated pages.
 *
 * @example
 * torch.set_num_threads(1);
 * torch.get_num_threads()  // 1
 */
export function set_num_threads(num: number): void {
  setThreads(count(taken("set_num_threads num", arguments)[0], "set_num_threads", "num", 1));
}
/**
 * How many threads they may take now: 1 where there is no memory that threads share.
 *
 * @example
 * torch.get_num_threads() >= 1  // true
 */
export function get_num_threads(): number {
  taken("get_num_threads", arguments);
  return threads();
}
/**
 * Numbers become float32 here: anything else is refused.
 *
 * @example
 * torch.set_default_dtype(torch.float32);
 * torch.get_default_dtype()  // "float32"
 */
export function set_default_dtype(d: DType): void {
  [d] = taken("set_default_dtype d", arguments);
  if (toDType(d, "set_default_dtype", "d") !== "float32")
    throw new TypeMismatchError(`set_default_dtype: the type of new numbers is float32 here, got ${d}`);
}

/**
 * From `start` to `end` and with it, in steps.
 *
 * @example
 * torch.range(0, 1, 0.25)  // [0, 0.25, 0.5, 0.75, 1]
 */
export function range(start: number, end: number, step?: number | Options, options?: Options): Tensor;
export function range(...args: unknown[]): Tensor {
  const values = taken("range start end step? | dtype layout device pin_memory requires_grad", args),
    options = values.pop() as Options,
    dtype = toDType(options.dtype ?? "float32", "range"),
    cut = isFloat(dtype) ? Number : Math.trunc;
  const [start, end, step] = ["start", "end", "step"].map((name, i) =>
    cut(number(values[i] === undefined ? 1 : values[i], "range", name)),
  ) as [number, number, number];
  // Half a step behind the last; whole numbers have no halves, and are exact.
  const behind = start + (Math.floor((end - start) / step) + (isFloat(dtype) ? 0.5 : 1)) * step;
  return counted("range", [start, behind, step, { ...options, dtype }]);
}

const made =
  (name: string, dtype: DType) =>
  (...args: (TensorValues | { data: TensorValues } | number)[]): Tensor => {
    const [first] = args;
    if (first === undefined) return empty([0], { dtype });
    return typeof first === "number"
      ? empty(...(args as number[]), { dtype })
      : tensor(taken(`${name} data`, args)[0], { dtype });
  };
/**
 * A tensor of float32: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.FloatTensor([1, 2]).dtype  // "float32"
 */
export const FloatTensor = /* @__PURE__ */ made("FloatTensor", "float32");
/**
 * A tensor of float64: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.DoubleTensor([1, 2]).dtype  // "float64"
 */
export const DoubleTensor = /* @__PURE__ */ made("DoubleTensor", "float64");
/**
 * A tensor of float16: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.HalfTensor([1, 2]).dtype  // "float16"
 */
export const HalfTensor = /* @__PURE__ */ made("HalfTensor", "float16");
/**
 * A tensor of int32: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.IntTensor([1.5, -2.5])  // [1, -2]
 */
export const IntTensor = /* @__PURE__ */ made("IntTensor", "int32");
/**
 * A tensor of int64: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.LongTensor([1, 2]).dtype  // "int64"
 */
export const LongTensor = /* @__PURE__ */ made("LongTensor", "int64");
/**
 * A tensor of int16: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.ShortTensor([1, 2]).dtype  // "int16"
 */
export const ShortTensor = /* @__PURE__ */ made("ShortTensor", "int16");
/**
 * A tensor of bfloat16: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.BFloat16Tensor([1, 2]).dtype  // "bfloat16"
 */
export const BFloat16Tensor = /* @__PURE__ */ made("BFloat16Tensor", "bfloat16");
/**
 * A tensor of int8: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.CharTensor([1, 2]).dtype  // "int8"
 */
export const CharTensor = /* @__PURE__ */ made("CharTensor", "int8");
/**
 * A tensor of uint8: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.ByteTensor([1, 255])  // [1, 255]
 */
export const ByteTensor = /* @__PURE__ */ made("ByteTensor", "uint8");
/**
 * A tensor of bool: of these numbers, or of these sizes with undefined values.
 *
 * @example
 * torch.BoolTensor([0, 1, 2])  // [false, true, true]
 */
export const BoolTensor = /* @__PURE__ */ made("BoolTensor", "bool");

/**
 * Whether the one element is not 0.
 *
 * @example
 * await torch.is_nonzero(torch.tensor([0.0]))  // false
 */
export async function is_nonzero(input: Tensor): Promise<boolean> {
  [input] = taken("is_nonzero input", arguments);
  const count = tensorOf(input, "is_nonzero", "input").numel();
  if (count !== 1)
    throw new OpError(
      `is_nonzero: Boolean value of Tensor with ${count === 0 ? "no values" : "more than one value"} is ambiguous`,
    );
  return Boolean(await input.item<number | boolean>());
}
/**
 * Whether two tensors have one shape.
 *
 * @example
 * torch.is_same_size(torch.ones(2, 3), torch.zeros(2, 3))  // true
 */
export function is_same_size(input: Tensor, other: Tensor): boolean {
  [input, other] = taken("is_same_size input other", arguments);
  return sameShape(tensorOf(input, "is_same_size", "input").shape, tensorOf(other, "is_same_size", "other").shape);
}
/**
 * Whether the type has numbers below zero.
 *
 * @example
 * torch.is_signed(torch.zeros(2, { dtype: torch.uint8 }))  // false
 */
export function is_signed(input: Tensor): boolean {
  const { dtype } = tensorOf(taken("is_signed input", arguments)[0], "is_signed", "input");
  return isSigned(dtype);
}
