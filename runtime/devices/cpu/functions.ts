// The functions and operators of formulas, on numbers: booleans are 0 and 1.  What whole numbers of T come to must fit
// into 32 bits where it is int32, and into the 53 that a double has where it is int64; other types wrap, as PyTorch's do.

import { OpError } from "../../base/errors.js";
import {
  copysign,
  digamma,
  erf,
  erfc,
  erfinv,
  floorDivide,
  fmax,
  fmin,
  lgamma,
  modulo,
  power,
  remainder,
  roundHalfEven,
  shiftLeft,
  shiftRight,
  sign,
  signbit,
  integerPower,
} from "../../elements/math.js";
import { rounder } from "../../elements/dtype.js";
import { uniform } from "../../elements/philox.js";

export type Scalar = (...args: number[]) => number;

/**
 * The run that asks: its op, whether T is bool, whether whole numbers of it wrap, whether it is uint32 or int64, whether
 * floats of it have 32 bits or fewer, T itself, and what random draws begin with.
 */
export const asking = {
  op: "",
  bool: false,
  narrow: false,
  unsigned: false,
  long: false,
  single: false,
  dtype: "float32",
  seed0: 0,
  seed1: 0,
  call: 0,
};

export const beyondDoubles = (op: string, what: string): OpError =>
  new OpError(`${op}: ${what} does not fit into 53 bits, which int64 has where there is no WebAssembly`);

/** What is computed, where it fits. */
export function fits(x: number): number {
  return x === (x | 0) ? x : wrapped(x);
}

function wrapped(x: number): number {
  if (asking.long) {
    if (Number.isSafeInteger(x)) return x;
    throw beyondDoubles(asking.op, "the result");
  }
  if (asking.narrow || x !== x) return x | 0; // an endless product times 0 is 0
  throw new OpError(`${asking.op}: the result does not fit into int32`);
}

/** A number without a sign as one with it. */
export const signed = (x: number): number => (asking.unsigned ? x | 0 : fits(x));

/** Sums of products, from doubles that may have lost a few digits of their end, and from the lowest 32 bits. */
export function settled(x: number, low: number): number {
  if (asking.long) return (x | 0) === low ? fits(x) : wrapped(NaN);
  return asking.narrow || Math.abs(x - low) < 2 ** 31 ? low : wrapped(x);
}

/** A float as an element of a whole-number type: towards zero; what does not fit is the least number. */
export function cut(x: number): number {
  return x === (x | 0) ? x : x !== x || (x >= -(2 ** 31) && x < 2 ** 31) ? Math.trunc(x) || 0 : -(2 ** 31);
}

/** The same of 64 bits. */
export const cutLong = (x: number): number => (Math.abs(x) < 2 ** 63 ? Math.trunc(x) + 0 : -(2 ** 63));

/** The same as a number without a sign; negative ones count down from the end. */
export const cutUnsigned = (x: number): number => (x >= 0 && x < 2 ** 32 ? Math.trunc(x) : cut(x));

/** A float as a whole number: towards zero, kept in range. */
function truncated(x: number): number {
  if (asking.long) return cutLong(x);
  return x === (x | 0) ? x : Math.trunc(Math.min(Math.max(x, -(2 ** 31)), 2 ** 31 - 1)) || 0;
}

/** Bits of numbers that may have more than 32. */
const bits =
  (few: (x: number, y: number) => number, many: (x: bigint, y: bigint) => bigint) =>
  (x: number, y: number): number =>
    x === (x | 0) && y === (y | 0) ? few(x, y) : Number(many(BigInt(x), BigInt(y)));

function integerPowerThatFits(x: number, y: number): number {
  if (asking.long && y >= 0) {
    let out = 1;
    if (Math.abs(x) > 1) for (let k = 0; k < y; k++) out = fits(out * x);
    else out = x === 0 ? +(y === 0) : y % 2 ? x : 1;
    return out;
  }
  const low = integerPower(x, y);
  return y < 0 || Math.abs(Math.pow(x, y) - low) < 1 || asking.narrow ? low : wrapped(Infinity);
}

const floorOf = (x: number, y: number): number => (y === 0 ? 0 : (x - modulo(x, y)) / y + 0);
const truncOf = (x: number, y: number): number => (y === 0 ? 0 : (x - (x % y)) / y + 0);

export const FUNCTIONS: Readonly<Record<string, Scalar>> = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  "&": bits(
    (x, y) => x & y,
    (x, y) => x & y,
  ),
  "|": bits(
    (x, y) => x | y,
    (x, y) => x | y,
  ),
  "^": bits(
    (x, y) => x ^ y,
    (x, y) => x ^ y,
  ),
  "~": (x) => -1 - x,
  "!": (x) => (x === 0 ? 1 : 0),
  "<": (x, y) => +(x < y),
  "<=": (x, y) => +(x <= y),
  ">": (x, y) => +(x > y),
  ">=": (x, y) => +(x >= y),
  "==": (x, y) => +(x === y),
  "!=": (x, y) => +(x !== y),
  "&&": (x, y) => x && y,
  "||": (x, y) => x || y,
  neg: (x) => -x,
  i32: truncated,
  select: (x, y, c) => (c !== 0 ? y : x),
  abs: Math.abs,
  abs_checked: (x) => fits(Math.abs(x)),
  acos_of: Math.acos,
  acosh_of: Math.acosh,
  add_checked: (x, y) => fits(x + y),
  add_low: (x, y) => (x + y) | 0,
  check_value: (x) => x,
  asin_of: Math.asin,
  asinh_of: Math.asinh,
  atan2_of: Math.atan2,
  atan_of: Math.atan,
  atanh_of: Math.atanh,
  ceil: Math.ceil,
  copy_sign: copysign,
  cos_of: Math.cos,
  cos_far: Math.cos,
  cosh_of: Math.cosh,
  cut,
  cut_checked: (x) => (asking.long ? cutLong(x) : fits(Math.trunc(x))),
  digamma_of: digamma,
  divide: (x, y) => x / y,
  /** An infinity among whole numbers. */
  end_of: (x) => (asking.long ? Math.sign(x) * 2 ** 63 : x),
  erf_of: erf,
  erfc_of: erfc,
  erfinv_of: erfinv,
  exp2_of: (x) => 2 ** x,
  exp_of: Math.exp,
  expm1_of: Math.expm1,
  floor: Math.floor,
  floor_divide: floorDivide,
  floor_divide_checked: (x, y) => fits(floorOf(x, y)),
  floor_divide_int: floorOf,
  fmod_of: (x, y) => x % y,
  fmod_int: (x, y) => (y === 0 ? 0 : (x % y) + 0),
  invert: (x) => (asking.bool ? 1 - x : -1 - x),
  is_infinite: (x) => +(Math.abs(x) === Infinity),
  is_nan: (x) => +Number.isNaN(x),
  larger: Math.max,
  larger_number: fmax,
  lgamma_of: lgamma,
  log10_of: Math.log10,
  log1p_of: Math.log1p,
  log2_of: Math.log2,
  log_of: Math.log,
  max: Math.max,
  min: Math.min,
  multiply_checked: (x, y) => settled(x * y, Math.imul(x, y)),
  multiply_low: Math.imul,
  nothing_of: (x) => 0 * x,
  power,
  power_checked: integerPowerThatFits,
  power_int: integerPower,
  reciprocal_root: (x) => 1 / Math.sqrt(x),
  remainder,
  remainder_int: modulo,
  round: roundHalfEven,
  rounded: Math.fround,
  settled,
  shift_left: shiftLeft,
  shift_left_checked: (x, y) => (y < 0 || asking.narrow ? shiftLeft(x, y) : fits(x * 2 ** y)),
  shift_right: (x, y) => (asking.long ? Math.floor(x / 2 ** (y < 0 || y > 63 ? 63 : y)) : shiftRight(x, y)),
  sign,
  sign_bit: (x) => +signbit(x),
  sign_of: sign,
  sin_of: Math.sin,
  sin_far: Math.sin,
  sinh_of: Math.sinh,
  smaller: Math.min,
  smaller_number: fmin,
  square: (x) => x * x,
  square_root: Math.sqrt,
  subtract_checked: (x, y) => fits(x - y),
  subtract_low: (x, y) => (x - y) | 0,
  tan_of: Math.tan,
  tan_far: Math.tan,
  stored_of: (x) => rounder(asking.dtype)(x),
  tanh_of: Math.tanh,
  to_int: truncated,
  trunc: Math.trunc,
  trunc_divide: (x, y) => Math.trunc(asking.single ? Math.fround(x / y) : x / y), // 1 / 0.1 is 10 in 32 bits
  trunc_divide_checked: (x, y) => fits(truncOf(x, y)),
  uniform_random: (draw, place) => uniform(asking.seed0, asking.seed1, asking.call, draw, place),
};
