// Arguments as a user wrote them -> one value per parameter; and which of several ops under one name they fit.
// Whether values are right for an op (shapes, types) is host/bind's business.

import type { CompiledOp, Op } from "../program/compiled-op.js";
import type { DType } from "../elements/dtype.js";
import { TypeMismatchError, describe } from "../base/errors.js";
import { refuse, unknownOption } from "../base/argument-kinds.js";
import { isOptions, tooMany } from "../base/named-arguments.js";
import { sourceOf } from "../elements/random.js";
import { Tensor } from "../tensor/tensor.js";

type Param = Op["params"][number];

interface Layout {
  readonly positional: number;
  /** Places of the tensor parameters. */
  readonly tensors: readonly number[];
  /** Place of each parameter by its name, in snake_case and in camelCase. */
  readonly places: ReadonlyMap<string, number>;
}

const layouts = new WeakMap<Op, Layout>();

function layoutOf(op: Op): Layout {
  let layout = layouts.get(op);
  if (layout === undefined) {
    const places = new Map<string, number>();
    op.params.forEach((p, place) => {
      places.set(
        p.name.replace(/(?<=[A-Za-z0-9])_+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
        place,
      );
      places.set(p.name, place);
    });
    const tensors = op.params.flatMap((p, place) => (p.kind === "tensor" ? [place] : []));
    layout = { positional: op.params.filter((p) => !p.keyword).length, tensors, places };
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
 * Throws TypeMismatchError for too many arguments, an unknown option, one given twice, one missing.
 */
export function arrange(op: Op, args: readonly unknown[]): unknown[] {
  const { positional, places, tensors } = layoutOf(op);
  const given = byPlace(args),
    options = given < args.length ? (args[given] as Record<string, unknown>) : null;
  if (given > positional) throw tooMany(op.name, positional, given);
  const values: unknown[] = new Array(op.params.length).fill(undefined);
  for (let i = 0; i < given; i++) values[i] = args[i];
  if (options !== null) {
    for (const name of Object.keys(options)) {
      const place = places.get(name) ?? (name === "generator" && op.random ? values.length : undefined);
      if (place === undefined) throw unknownOption(op.name, name, places.keys());
      if (options[name] === undefined) continue;
      if (values[place] !== undefined)
        throw new TypeMismatchError(`${op.name}: got multiple values for argument '${name}'`);
      values[place] = place < op.params.length ? options[name] : sourceOf(options[name], op.name);
    }
  }
  for (let i = 0; i < op.params.length; i++) {
    const p = op.params[i];
    if (values[i] === null && p.has_default && !p.optional && p.kind !== "dims") values[i] = undefined;
    if (values[i] === undefined && !p.optional && !p.has_default) {
      throw new TypeMismatchError(`${op.name}: missing required argument '${p.name}'`);
    }
    if (p.kind === "choice" && typeof values[i] === "boolean") values[i] = String(values[i]);
    if (values[i] !== undefined && values[i] !== null && p.slot < 0) checkKind(op.name, p, values[i]);
  }
  for (const place of tensors) {
    const { name, instead } = op.params[place];
    if (isNumber(values[place]) && instead !== "num")
      throw new TypeMismatchError(
        `${op.name}: argument '${name}' (position ${place + 1}) must be a tensor, got ${describe(values[place])}`,
      );
  }
  return values;
}

const isWhole = (v: unknown): boolean => typeof v === "number" && Number.isInteger(v);
const WANTED: Readonly<Record<string, string>> = {
  num: "a number",
  real: "a number",
  bool: "true or false",
  choice: "a text",
  dtype: "a dtype",
  dims: "a whole number or a list of them",
  ints: "a whole number or a list of them",
};

/** Whether a value is of the kind that an option's parameter takes. */
export function ofKind({ kind, choices }: Param, value: unknown): boolean {
  return kind === "num" || kind === "real"
    ? isNumber(value)
    : kind === "bool"
      ? typeof value === "boolean" || value === 0 || value === 1
      : kind === "choice"
        ? typeof value === "string" ||
          (typeof value === "boolean" && choices.some((c) => c === "true" || c === "false"))
        : kind === "dtype"
          ? typeof value === "string"
          : isWhole(value) ||
            ((kind === "ints" || kind === "dims") &&
              Array.isArray(value) &&
              Array.from(value as unknown[]).every((v) => v === null || isWhole(v)));
}

/** Refuses an option of another kind than its parameter's. */
export function checkKind(op: string, param: Param, value: unknown): void {
  if (ofKind(param, value)) return;
  const { kind, name, choices } = param,
    wanted =
      kind === "choice" ? `one of ${choices.map((c) => `"${c}"`).join(", ")}` : (WANTED[kind] ?? "a whole number");
  refuse(op, name, wanted, value);
}

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
    if (able.length > 0) return able.length === 1 ? able[0] : (able.find((op) => binds(op, args)) ?? able[0]);
  }
  // Its own error says what is wrong.
  return (
    ops.find(({ op }) => arranged(op, args) !== null) ??
    ops.find(({ op }) => layoutOf(op).positional >= byPlace(args)) ??
    ops[0]
  );
}

function arranged(op: Op, args: readonly unknown[]): unknown[] | null {
  try {
    return arrange(op, args);
  } catch {
    return null;
  }
}

function accepts(op: Op, args: readonly unknown[], strict: boolean): boolean {
  const values = arranged(op, args);
  return values !== null && op.params.every((p, i) => fits(op, p, values[i], strict));
}

function fits(op: Op, p: Param, value: unknown, strict: boolean): boolean {
  if (value === undefined) return true;
  if (value === null) return p.optional || p.has_default;
  const whole = (v: unknown) => typeof v === "number" && Number.isInteger(v);
  switch (p.kind) {
    case "tensor":
      if (value instanceof Tensor) return hasRank(op, p, value.ndim) && (!strict || hasType(p.cls, value.dtype));
      return isNumber(value)
        ? !strict && p.instead === "num"
        : p.instead === "ints" && Array.isArray(value) && value.every(whole);
    case "num":
    case "real":
      return typeof value === "number" || (!strict && typeof value === "boolean");
    case "bool":
      return typeof value === "boolean";
    case "choice":
      return (typeof value === "string" || typeof value === "boolean") && p.choices.includes(String(value));
    case "dtype":
      return typeof value === "string";
    case "dims":
    case "ints":
      return (
        whole(value) ||
        (Array.isArray(value) &&
          value.every((v) => whole(v) || (v === null && p.optional)) &&
          (p.rank < 0 || [1, p.rank, p.has_default ? 0 : 1].includes(value.length)))
      );
    default:
      return whole(value);
  }
}

function hasType(cls: string, dtype: DType): boolean {
  const float = dtype.startsWith("float");
  switch (cls) {
    case "Float":
      return float;
    case "Int":
      return !float && dtype !== "bool";
    case "Bits":
      return !float;
    case "Bool":
      return dtype === "bool";
    default:
      return true;
  }
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
