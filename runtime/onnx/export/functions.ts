// What the functions of kernels' formulas are in ONNX: most an operator of their own, some a few of them.

import { BOOL, type GraphBuilder, INT64, type Value } from "./model.js";

/** "f" floating, "i" a whole number, "b" a boolean. */
export type Kind = "f" | "i" | "b";
type Make = (g: GraphBuilder, ...args: Value[]) => Value;

export const typeOf = (kind: Kind, floating: number): number => (kind === "f" ? floating : kind === "i" ? INT64 : BOOL);

const op =
  (...kinds: string[]): Make =>
  (g, ...args) =>
    kinds.reduce((made: Value[], kind) => [g.each(kind, made)], args)[0]!;
const like = (g: GraphBuilder, x: Value, value: number): Value => g.constant([value], [], x.type);
const compare =
  (kind: string): Make =>
  (g, a, b) =>
    g.each(kind, [a, b], BOOL);
/** Of booleans one operator, of whole numbers another. */
const bits =
  (logical: string, bitwise: string): Make =>
  (g, a, b) =>
    g.each(a.type === BOOL ? logical : bitwise, [a, b]);
const first: Make = (_, x) => x;

const where: Make = (g, condition, yes, no) => {
  if (yes.type !== BOOL) return g.each("Where", [condition, yes, no], yes.type);
  return g.each("Or", [g.each("And", [condition, yes]), g.each("And", [g.each("Not", [condition]), no])]);
};
const truncated: Make = (g, x) =>
  where(g, g.each("Less", [x, like(g, x, 0)], BOOL), g.each("Ceil", [x]), g.each("Floor", [x]));
/** The quotient of whole numbers, rounded down. */
const floorDivided: Make = (g, a, b) => g.each("Div", [g.each("Sub", [a, g.each("Mod", [a, b])]), b]);
const remainder: Make = (g, a, b) => g.each("Sub", [a, g.each("Mul", [g.each("Floor", [g.each("Div", [a, b])]), b])]);
const scaled =
  (kind: string, by: number): Make =>
  (g, x) =>
    g.each("Mul", [g.each(kind, [x]), like(g, x, by)]);
/** The greater or lesser, or the one that is a number. */
const among =
  (kind: string): Make =>
  (g, a, b) =>
    where(g, g.each("IsNaN", [a], BOOL), b, where(g, g.each("IsNaN", [b], BOOL), a, g.each(kind, [a, b])));
/** Whether so many bits can be shifted by. */
const shiftable: Make = (g, y) =>
  g.each("And", [g.each("GreaterOrEqual", [y, like(g, y, 0)], BOOL), g.each("Less", [y, like(g, y, 64)], BOOL)]);
/** `step` with 2 ** y in three parts, each of which is a number of 32 bits; ONNX itself shifts only what has no sign. */
const shifted =
  (step: Make): Make =>
  (g, x, y) => {
    let rest = where(g, shiftable(g, y), y, like(g, y, 63)),
      made = x;
    for (const parts of [3, 2, 1]) {
      const bits = g.each("Div", [rest, like(g, y, parts)]);
      made = step(g, made, g.each("Pow", [like(g, y, 2), bits]));
      rest = g.each("Sub", [rest, bits]);
    }
    return made;
  };
const shiftedLeft: Make = (g, x, y) => where(g, shiftable(g, y), shifted(op("Mul"))(g, x, y), like(g, x, 0));
const negative: Make = (g, x) => g.each("Less", [x, like(g, x, 0)], BOOL);
/** log(1 + x), right for small x: log(u) * x / (u - 1) of u = 1 + x. */
const log1p: Make = (g, x) => {
  const one = like(g, x, 1),
    u = g.each("Add", [one, x]),
    less = g.each("Sub", [u, one]),
    none = g.each("Equal", [less, like(g, x, 0)], BOOL),
    endless = g.each("IsInf", [u], BOOL),
    log = g.each("Log", [u]),
    near = g.each("Mul", [log, g.each("Div", [x, where(g, none, one, less)])]);
  return where(g, none, x, where(g, endless, log, near));
};
/** exp(x) - 1, right for small x: tanh(x / 2) * (exp(x) + 1) there. */
const expm1: Make = (g, x) => {
  const one = like(g, x, 1),
    e = g.each("Exp", [x]),
    small = g.each("Less", [g.each("Abs", [x]), one], BOOL),
    near = g.each("Mul", [g.each("Tanh", [g.each("Mul", [x, like(g, x, 0.5)])]), g.each("Add", [e, one])]);
  return where(g, small, near, g.each("Sub", [e, one]));
};
/** The angle of (x, y). */
const atan2: Make = (g, y, x) => {
  const zero = like(g, x, 0),
    left = g.each("Less", [x, zero], BOOL),
    below = g.each("Less", [y, zero], BOOL),
    none = g.each("Equal", [x, zero], BOOL),
    half = where(g, below, like(g, x, -Math.PI / 2), like(g, x, Math.PI / 2)),
    angle = g.each("Atan", [g.each("Div", [y, where(g, none, like(g, x, 1), x)])]),
    turned = where(g, left, where(g, below, like(g, x, -Math.PI), like(g, x, Math.PI)), zero);
  return where(g, none, where(g, g.each("Equal", [y, zero], BOOL), zero, half), g.each("Add", [angle, turned]));
};
const wide =
  (kind: string): Make =>
  (g, a, b) =>
    g.each(kind, [a, b]);

/** By the name of the function or operator. */
export const FUNCTIONS: ReadonlyMap<string, Make> = new Map<string, Make>(
  Object.entries({
    "+": op("Add"),
    "-": op("Sub"),
    "*": op("Mul"),
    neg: op("Neg"),
    divide: op("Div"),
    "<": compare("Less"),
    "<=": compare("LessOrEqual"),
    ">": compare("Greater"),
    ">=": compare("GreaterOrEqual"),
    "==": compare("Equal"),
    "!=": (g, a, b) => g.each("Not", [g.each("Equal", [a, b], BOOL)]),
    "&&": op("And"),
    "||": op("Or"),
    "!": op("Not"),
    "&": bits("And", "BitwiseAnd"),
    "|": bits("Or", "BitwiseOr"),
    "^": bits("Xor", "BitwiseXor"),
    "~": op("BitwiseNot"),
    select: (g, no, yes, condition) => where(g, condition, yes, no),
    abs: op("Abs"),
    abs_checked: op("Abs"),
    acos_of: op("Acos"),
    acosh_of: op("Acosh"),
    add_checked: wide("Add"),
    asin_of: op("Asin"),
    asinh_of: op("Asinh"),
    atan2_of: atan2,
    atan_of: op("Atan"),
    atanh_of: op("Atanh"),
    ceil: op("Ceil"),
    check_value: first,
    cos_far: op("Cos"),
    cos_of: op("Cos"),
    cosh_of: op("Cosh"),
    cut: (g, x) => g.cast(x, INT64),
    cut_checked: (g, x) => g.cast(x, INT64),
    copy_sign: (g, a, b) => where(g, negative(g, b), g.each("Neg", [g.each("Abs", [a])]), g.each("Abs", [a])),
    erf_of: op("Erf"),
    erfc_of: (g, x) => g.each("Sub", [like(g, x, 1), g.each("Erf", [x])]),
    exp2_of: (g, x) => g.each("Pow", [like(g, x, 2), x]),
    exp_of: op("Exp"),
    expm1_of: expm1,
    floor: op("Floor"),
    floor_divide: (g, a, b) => g.each("Floor", [g.each("Div", [a, b])]),
    floor_divide_checked: floorDivided,
    floor_divide_int: floorDivided,
    fmod_of: (g, a, b) => g.each("Mod", [a, b], undefined, { fmod: 1 }),
    fmod_int: (g, a, b) => g.each("Mod", [a, b], undefined, { fmod: 1 }),
    is_infinite: (g, x) => g.each("IsInf", [x], BOOL),
    is_nan: (g, x) => g.each("IsNaN", [x], BOOL),
    larger: op("Max"),
    larger_number: among("Max"),
    log10_of: scaled("Log", Math.LOG10E),
    log1p_of: log1p,
    log2_of: scaled("Log", Math.LOG2E),
    log_of: op("Log"),
    max: op("Max"),
    min: op("Min"),
    multiply_checked: wide("Mul"),
    narrow_checked: first,
    nothing_of: (g, x) => g.each("Mul", [x, like(g, x, 0)]),
    power: op("Pow"),
    power_checked: op("Pow"),
    power_int: op("Pow"),
    reciprocal_root: op("Sqrt", "Reciprocal"),
    remainder,
    remainder_int: op("Mod"),
    round: op("Round"),
    rounded: first,
    shift_left: shiftedLeft,
    shift_left_checked: shiftedLeft,
    shift_right: shifted(floorDivided),
    sign: op("Sign"),
    sign_bit: negative,
    sign_of: op("Sign"),
    sin_far: op("Sin"),
    sin_of: op("Sin"),
    sinh_of: op("Sinh"),
    smaller: op("Min"),
    smaller_number: among("Min"),
    square: (g, x) => g.each("Mul", [x, x]),
    square_root: op("Sqrt"),
    subtract_checked: wide("Sub"),
    tan_far: op("Tan"),
    tan_of: op("Tan"),
    tanh_of: op("Tanh"),
    to_int: (g, x) => g.cast(x, INT64),
    trunc: truncated,
    trunc_divide_checked: (g, a, b) => g.each("Div", [a, b]),
    wide_difference: wide("Sub"),
    wide_product: wide("Mul"),
    wide_sum: wide("Add"),
    wide_times: wide("Mul"),
    widened: first,
  } satisfies Record<string, Make>),
);

/** Functions whose value is of another kind than their first operand. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...["<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "is_nan", "is_infinite", "sign_bit"].map(
    (name) => [name, "b"] as const,
  ),
  ...["cut", "cut_checked", "to_int", "i32"].map((name) => [name, "i"] as const),
  ["f32", "f"],
]);

export const kindAfter = (name: string, operand: Kind): Kind => KINDS.get(name) ?? operand;

/** What a reduction is, and the number that changes nothing of it. */
export const REDUCTIONS: Readonly<Record<string, readonly [operator: string, neutral: number]>> = {
  sum: ["ReduceSum", 0],
  prod: ["ReduceProd", 1],
  max: ["ReduceMax", -Infinity],
  min: ["ReduceMin", Infinity],
  argmax: ["ArgMax", -Infinity],
  argmin: ["ArgMin", Infinity],
  any: ["ReduceMax", 0],
  all: ["ReduceMin", 1],
};
