// Arguments as a user wrote them -> one value per parameter; and which of several ops under one name they fit.
// Whether values are right for an op (shapes, types) is host/bind's business.

import type { CompiledOp, Op } from "../program/compiled-op.js";
import { Complex } from "../elements/complex-number.js";
import { type DType, isFloat } from "../elements/dtype.js";
import { engine } from "../base/errors.js";
import { refuse } from "../base/argument-kinds.js";
import { isOptions, missing, named, placeOf } from "../base/named-arguments.js";
import { sourceOf } from "../elements/random.js";
import { numberIn } from "../tensor/number-in.js";
import { Tensor } from "../tensor/tensor.js";

type Param = Op["params"][number];

interface Layout {
  readonly positional: number;
  /** Their names, and that of the generator of a random op. */
  readonly names: readonly string[];
}

const layouts = new WeakMap<Op, Layout>();

function layoutOf(op: Op): Layout {
  let layout = layouts.get(op);
  if (layout === undefined) {
    const names = op.params.map((p) => p.name);
    if (op.random) names.push("generator");
    layout = { positional: op.params.filter((p) => !p.keyword).length, names };
    layouts.set(op, layout);
  }
  return layout;
}

/** How many arguments come before the options. */
const byPlace = (args: readonly unknown[]): number =>
  isOptions(args[args.length - 1]) ? args.length - 1 : args.length;

/**
 * One value for each parameter of `op`, `undefined` where none was given; of a random op also the generator, after
 * them.
 *
 * `args` are positional in PyTorch's order, then perhaps a plain object of options.
 * Throws TypeMismatchError for too many arguments, an unknown option, one given twice, one missing, a text that is none
 * of the op's: `texts` are those that may stand there.  A tensor without axes may stand for an option that is a number;
 * `reading` says whether it does, or whether the call is only tried.
 */
export function arrange(
  op: Op,
  args: readonly unknown[],
  texts?: (p: Param) => Texts,
  reading: "read" | "try" | "refuse" = "read",
): unknown[] {
  const { positional, names } = layoutOf(op),
    { params } = op,
    values = named(op.name, names, args, positional);
  if (values.length > params.length) values.push(sourceOf(values.pop(), op.name));
  for (let i = 0; i < params.length; i++) {
    const p = params[i];
    if (i === values.length) values.push(undefined);
    if (values[i] === null && p.has_default && !p.optional && p.kind !== "dims") values[i] = undefined;
    let value = values[i];
    if (p.slot < 0 && reading !== "refuse" && NUMBERS.has(p.kind) && value instanceof Tensor)
      value = values[i] = numberIn(value, op.name, p.name, /^(int|dim)/.test(p.kind), reading === "try");
    if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) value = values[i] = Number(value);
    if (value === undefined && !p.optional && !p.has_default) throw missing(op.name, p.name);
    if (p.kind === "choice" && typeof value === "boolean") values[i] = String(value);
    if (value !== undefined && value !== null && p.slot < 0 && !ofKind(p, value))
      refuseKind(op.name, p, value, texts?.(p));
    if (p.kind === "tensor" && isNumber(value) && p.instead !== "num") refuse(op.name, p.name, "a tensor", value);
  }
  return values;
}

/** Kinds of options for which a tensor without axes may stand. */
const NUMBERS: ReadonlySet<string> = new Set(["num", "real", "int", "dim", "ints", "dims"]);
const isWhole = (v: unknown): boolean => typeof v === "number" && Number.isInteger(v);
const WANTED: Readonly<Record<string, string>> = {
  num: "a number",
  real: "a number",
  reals: "a number",
  bool: "true or false",
  dtype: "a dtype",
};

/** Whether a value is of the kind that an option's parameter takes. */
export function ofKind({ kind, choices }: Param, value: unknown): boolean {
  const one = kind === "reals" ? isNumber : isWhole;
  return kind === "num" || kind === "real"
    ? isNumber(value) || (kind === "num" && value instanceof Complex)
    : kind === "bool"
      ? typeof value === "boolean" || value === 0 || value === 1
      : kind === "choice"
        ? typeof value !== "object" && choices.includes(String(value))
        : kind === "dtype"
          ? typeof value === "string"
          : one(value) ||
            (kind !== "int" &&
              kind !== "dim" &&
              Array.isArray(value) &&
              Array.from(value as unknown[]).every((v) => v === null || one(v)));
}

/** The error for an option of another kind than its parameter's, or for a text that is none of `choices`. */
export function refuseKind(
  op: string,
  { kind, name, choices: own }: Param,
  value: unknown,
  choices: Texts = own,
): never {
  const wanted = kind === "choice" ? `one of ${JSON.stringify(choices)}` : (WANTED[kind] ?? "a whole number");
  refuse(op, name, kind.endsWith("s") ? `${wanted} or a list of them` : wanted, value);
}

type Texts = readonly (string | null)[];
/** All that the parameters, of ops of one name, take. */
export const textsOf = (params: readonly Param[]): Texts => [
  ...new Set(params.flatMap((p) => [...p.choices, ...(p.optional ? [null] : [])])),
];

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}

/**
 * The first op that accepts the arguments, numbers in tensors' places only if there is no other way.  Where ranks and
 * types leave several, shapes decide: `binds` says whether an op takes these arguments.
 */
export function choose(
  ops: readonly CompiledOp[],
  args: readonly unknown[],
  binds: (op: CompiledOp, args: readonly unknown[]) => boolean,
): CompiledOp {
  if (ops.length === 1) return ops[0];
  for (const strict of [true, false]) {
    const able = ops.filter((op) => accepts(op.op, args, strict));
    if (able.length > 1) refuseNumberForLists(able, args);
    if (able.length > 0) return able.length === 1 ? able[0] : (able.find((op) => binds(op, args)) ?? able[0]);
  }
  // Its own error says what is wrong.
  const given = byPlace(args),
    options = Object.keys((args[given] ?? {}) as object),
    able = ops.filter(({ op }) => layoutOf(op).positional >= given),
    best =
      ops.find(({ op }) => {
        const values = arranged(op, args, false);
        return values && op.params.every((p, i) => p.slot < 0 || fits(op, p, values[i], false));
      }) ??
      ops.find(({ op }) => arranged(op, args, false) !== null) ??
      able.find(({ op }) => options.every((name) => placeOf(layoutOf(op).names, name) >= 0)) ??
      able[0] ??
      ops[0];
  arrange(best.op, args, ({ name }) => textsOf(ops.flatMap(({ op }) => op.params.filter((p) => p.name === name))));
  return best;
}

/** A number stands for a list of one length; where ops of one name take lists of several, it does not say which. */
function refuseNumberForLists(ops: readonly CompiledOp[], args: readonly unknown[]): void {
  const { params, name: called } = ops[0]!.op,
    isList = ({ kind, pack }: Param) => !pack && (kind === "ints" || kind === "reals");
  if (!params.some(isList)) return;
  const values = arrange(ops[0]!.op, args, undefined, "try");
  params.forEach((p, i) => {
    const { name } = p;
    if (!isList(p) || typeof values[i] !== "number") return;
    const lengths = new Set(ops.map(({ op }) => op.params.find((p) => p.name === name && !p.pack)?.rank));
    if (lengths.size > 1) refuse(called, name, "a list of whole numbers", values[i]);
  });
}

function arranged(op: Op, args: readonly unknown[], strict: boolean): unknown[] | null {
  const { stackTraceLimit } = engine;
  // Errors that nobody sees need no stack.
  if (stackTraceLimit) engine.stackTraceLimit = 0;
  try {
    return byPlace(args) > layoutOf(op).positional ? null : arrange(op, args, undefined, strict ? "refuse" : "try");
  } catch {
    return null;
  } finally {
    if (stackTraceLimit) engine.stackTraceLimit = stackTraceLimit;
  }
}

function accepts(op: Op, args: readonly unknown[], strict: boolean): boolean {
  const values = arranged(op, args, strict);
  return values !== null && op.params.every((p, i) => fits(op, p, values[i], strict));
}

function fits(op: Op, p: Param, value: unknown, strict: boolean): boolean {
  const { kind, rank, pack } = p,
    list = Array.isArray(value) ? (value as unknown[]) : null;
  if (value === undefined) return true;
  if (value === null) return p.optional || p.has_default;
  if (kind === "tensor") {
    if (value instanceof Tensor) return hasRank(op, p, value.ndim) && (!strict || hasType(p.cls, value.dtype));
    return isNumber(value) || typeof value === "bigint" || value instanceof Complex
      ? !strict && p.instead === "num"
      : p.instead === "ints" && !!list?.every(isWhole);
  }
  if (!ofKind(p, value)) return false;
  if (list)
    return (
      (p.optional || !list.includes(null)) &&
      (rank < 0 || [pack ? 1 : rank, rank, p.has_default ? 0 : rank].includes(list.length))
    );
  return (
    typeof value === (kind === "bool" ? "boolean" : "number") ||
    /choice|dtype/.test(kind) ||
    (kind !== "bool" && rank !== 0 && !strict)
  );
}

function hasType(cls: string, dtype: DType): boolean {
  const float = isFloat(dtype),
    bool = dtype === "bool";
  return { Float: float, Int: !float && !bool, Bits: !float, Bool: bool }[cls] ?? true;
}

/** Whether a tensor of this rank can have the parameter's shape pattern. */
function hasRank(op: Op, p: Param, rank: number): boolean {
  if (p.flat) return true;
  let least = 0,
    open = false;
  for (const dim of op.slots[p.slot].dims) {
    if (dim.kind === "pack" || dim.kind === "domain") open = true;
    else if (dim.when === null) least++;
  }
  // A tensor without axes may stand where an axis is chosen: it counts as one element along it.
  const axes = rank === 0 && op.slots[p.slot].dims.some((dim) => dim.kind === "chosen") ? 1 : rank;
  return open ? axes >= least : axes === least;
}
