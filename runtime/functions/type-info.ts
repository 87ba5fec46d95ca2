// What is known of the element types: the limits of their numbers, and which type comes of several.

import { TYPES } from "../../dsl/dtypes.js";
import {
  INT_CATEGORY,
  can_cast as castable,
  category,
  promote_types as promoted,
  result_type as common,
} from "../../host/dtypes.js";
import { Complex } from "../elements/complex-number.js";
import { metaOf } from "../dispatch/call.js";
import { type DType, toDType } from "../elements/dtype.js";
import { TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { Tensor, type TensorOrNumber } from "../tensor/tensor.js";

/** The limits of a floating type. */
export interface FloatInfo {
  readonly dtype: DType;
  readonly bits: number;
  /** The distance from 1 to the next number. */
  readonly eps: number;
  readonly min: number;
  readonly max: number;
  /** The least positive number of full precision. */
  readonly tiny: number;
  readonly smallest_normal: number;
  /** The decimal digits that hold. */
  readonly resolution: number;
  toString(): string;
}

/** The limits of a type of whole numbers. */
export interface IntegerInfo {
  readonly dtype: DType;
  readonly bits: number;
  readonly min: number;
  readonly max: number;
  toString(): string;
}

/** Bits of each type: all of it, and of the fraction and the exponent. */
const FLOATS: Partial<Record<DType, [bits: number, fraction: number, exponent: number, digits: number]>> = {
  float16: [16, 10, 5, 3],
  bfloat16: [16, 7, 8, 2],
  float32: [32, 23, 8, 6],
  float64: [64, 52, 11, 15],
};

/** As C prints a number with six digits.  The one tie among the limits (float16's eps) goes down, to the even digit. */
function short(value: number): string {
  const near = value * (1 - Number.EPSILON / 2),
    text = near.toPrecision(6),
    at = text.indexOf("e"),
    digits = at < 0 ? text : text.slice(0, at);
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent >= 6) {
    const [mantissa, power] = value.toExponential(5).split("e") as [string, string];
    return `${mantissa.replace(/\.?0+$/, "")}e${power.replace(/^([+-])(\d)$/, "$10$2")}`;
  }
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}

/**
 * torch.finfo: the limits of a floating type.
 *
 * @example
 * torch.finfo(torch.float16).max  // 65504
 */
export function finfo(dtype: DType | string = "float32"): FloatInfo {
  [dtype = "float32"] = taken("finfo dtype?", arguments);
  const type = toDType(dtype, "finfo"),
    known = FLOATS[type];
  if (!known)
    throw new TypeMismatchError(
      `torch.finfo() requires a floating point input type. Use torch.iinfo to handle '${type}'`,
    );
  const [bits, fraction, exponent, digits] = known,
    bias = 2 ** (exponent - 1) - 1,
    eps = 2 ** -fraction;
  const max = (2 - eps) * 2 ** bias,
    tiny = 2 ** (1 - bias),
    resolution = Number(`1e-${digits}`);
  return {
    dtype: type,
    bits,
    eps,
    min: -max,
    max,
    tiny,
    smallest_normal: tiny,
    resolution,
    toString: () =>
      `finfo(resolution=${short(resolution)}, min=${short(-max)}, max=${short(max)}, eps=${short(eps)}, ` +
      `smallest_normal=${short(tiny)}, tiny=${short(tiny)}, dtype=${type})`,
  };
}

/**
 * torch.iinfo: the limits of a type of whole numbers.
 *
 * @example
 * torch.iinfo(torch.int8).min  // -128
 */
export function iinfo(dtype: DType | string): IntegerInfo {
  [dtype] = taken("iinfo dtype", arguments);
  const type = toDType(dtype, "iinfo"),
    { kind, bits } = TYPES[type]!;
  if (category(type) !== INT_CATEGORY)
    throw new TypeMismatchError(`torch.iinfo() requires an integer input type. Use torch.finfo to handle '${type}'`);
  const sign = +(kind === "i"),
    min = -sign * 2 ** (bits - 1) + 0,
    max = 2 ** (bits - sign) - 1;
  return { dtype: type, bits, min, max, toString: () => `iinfo(min=${short(min)}, max=${short(max)}, dtype=${type})` };
}

/** complex64, where one of these types is that: all others but float64 fit in. */
function joinedComplex(types: readonly DType[]): DType | null {
  if (!types.includes("complex64")) return null;
  if (!types.includes("float64")) return "complex64";
  throw new TypeMismatchError("complex64 and float64 make complex128, which there is not");
}

/**
 * The smallest type that holds both.
 *
 * @example
 * torch.promote_types(torch.int32, torch.float16)  // "float16"
 */
export function promote_types(type1: DType | string, type2: DType | string): DType {
  [type1, type2] = taken("promote_types type1 type2", arguments);
  const types = [toDType(type1, "promote_types", "type1"), toDType(type2, "promote_types", "type2")] as const;
  return joinedComplex(types) ?? (promoted(...types) as DType);
}

/**
 * Whether an element of type `from` may be written where `to` is: not from floats to whole numbers, nor from those to
 * bool.
 *
 * @example
 * torch.can_cast(torch.float32, torch.int32)  // false
 */
export function can_cast(from: DType | string, to: DType | string): boolean {
  [from, to] = taken("can_cast from to", arguments);
  const target = toDType(to, "can_cast", "to");
  return (
    target === "complex64" ||
    (toDType(from, "can_cast", "from") !== "complex64" && castable(toDType(from, "can_cast", "from"), target))
  );
}

/**
 * The type of an operation on two tensors or numbers; a number gives way to a tensor of its kind.
 *
 * @example
 * torch.result_type(torch.tensor([1, 2]), 2.5)  // "float32"
 */
export function result_type(tensor1: TensorOrNumber, tensor2: TensorOrNumber): DType {
  [tensor1, tensor2] = taken("result_type tensor1 tensor2", arguments);
  for (const x of [tensor1, tensor2] as unknown[])
    if (x instanceof Complex || (x instanceof Tensor && x.dtype === "complex64")) return "complex64";
  const metas = [tensor1, tensor2].map((x) => {
    if (x instanceof Tensor) return metaOf(x);
    if (typeof x !== "number" && typeof x !== "boolean")
      throw new TypeMismatchError(`result_type: expected a tensor or a number, got ${describe(x)}`);
    const dtype = typeof x === "boolean" ? "bool" : Number.isInteger(x) ? "int64" : "float32";
    return { dtype, shape: [], strides: [], offset: 0, weak: true };
  });
  return common(metas) as DType;
}
