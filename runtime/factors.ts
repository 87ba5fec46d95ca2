// The two factors of a contraction, from its nest's texts: which parts of the product and which conditions of the sum
// belong to which, and the loops that each depends on.  Nothing here knows a call.

import type { Nest } from "./compiled.js";
import { type Formula, formula } from "./formula.js";
import { type Read, read } from "./evaluator.js";

/** One side of the product. */
export interface Factor {
  /** Its value; -0, which it is nowhere else, where its conditions fail: no product is asked for there. */
  readonly value: Formula;
  /** The accesses it reads, and the names it uses, loops among them. */
  readonly reads: readonly number[];
  readonly names: ReadonlySet<string>;
  /** The access that it is, times `scale`, where `inside` holds, and 0 elsewhere; -1 if it is more than that. */
  readonly access: number;
  readonly scale: Formula;
  readonly inside: Formula | null;
  /** Whether it has conditions of the sum. */
  readonly conditional: boolean;
}

const ONE = formula("1", []), ZERO = formula("0", []);
const NOTHING = { guard: null, fallback: null };

const known = new WeakMap<Nest, readonly Factor[] | null>();

/** The left and the right factor of a contraction; null if it does not split. */
export function factorsOf(nest: Nest): readonly Factor[] | null {
  let found = known.get(nest);
  if (found === undefined) known.set(nest, (found = split(nest)));
  return found;
}

function split(nest: Nest): readonly Factor[] | null {
  const texts = read(nest), { pred, body } = texts.steps[0];
  if (nest.steps.some(({ kind, inner, mode }, n) => n > 0 && (kind !== "store" || inner || (mode !== "=" && mode !== "+=")))) return null;
  const sides = [0, 1].map(() => ({ parts: [] as Formula[], conditions: [] as Formula[], names: new Set<string>() }));
  for (const part of partsOf("*", body)) {
    const own = reads(namesIn(part)).filter((r) => nest.accesses[r].axes.length > 0), left = own.filter((r) => nest.left.includes(r)).length;
    if (left > 0 && left < own.length) return null;
    const side = sides[own.length > 0 && left === 0 ? 1 : 0];
    side.parts.push(part);
    namesIn(part, nest, texts, side.names);
  }
  const product = sides.map((side) => new Set(side.names));
  for (const condition of pred ? partsOf("&&", pred) : []) {
    const used = namesIn(condition, nest, texts), outer = nest.loops.filter(({ name }) => used.has(name));
    const leans = (a: number): boolean => outer.some(({ name }) => product[a].has(name) && !product[1 - a].has(name));
    if (leans(0) && leans(1)) return null;
    // What both can decide keeps both from reading where nothing is to be read.
    const both = outer.every(({ name }) => product[0].has(name) && product[1].has(name));
    for (const side of both ? sides : [sides[leans(1) ? 1 : 0]]) {
      side.conditions.push(condition);
      for (const name of used) side.names.add(name);
    }
  }
  const [left, right] = sides.map((side) => factor(nest, texts, side.parts, side.conditions, side.names));
  return left.reads.length > 0 && right.reads.length > 0 ? [left, right] : null;
}

function factor(nest: Nest, texts: Read, parts: readonly Formula[], conditions: readonly Formula[], used: ReadonlySet<string>): Factor {
  const all = joined("*", parts) ?? ONE, condition = joined("&&", conditions), own = reads(used);
  const rest = parts.filter((part) => numberOf(part.op) < 0), words = rest.every((part) => [...namesIn(part)].every((name) => numberOf(name) < 0 && !isLoop(nest, name)));
  const alone = own.length === 1 && words && rest.length + 1 === parts.length, { guard, fallback } = alone ? texts.accesses[own[0]] : NOTHING;
  const single = alone && (!fallback || fallback.constant?.[0] === 0);
  return {
    value: condition ? formula("select", [formula("neg", [ZERO]), formula("+", [all, ZERO]), condition]) : all, reads: own, names: used, conditional: condition !== null,
    access: single ? own[0] : -1, scale: joined("*", rest) ?? ONE, inside: joined("&&", guard ? [guard, ...conditions] : conditions),
  };
}

/** The factors of a product, or the parts of a conjunction. */
export function partsOf(op: string, f: Formula): readonly Formula[] {
  if (op === "*" && f.op === "neg") return [formula("neg", [ONE]), ...partsOf(op, f.args[0])];
  return f.op === op ? f.args.flatMap((a) => partsOf(op, a)) : [f];
}

function joined(op: string, parts: readonly Formula[]): Formula | null {
  return parts.length ? parts.reduce((a, b) => formula(op, [a, b])) : null;
}

/** The names in a formula; with a nest also those in the places of what it reads. */
export function namesIn(f: Formula | null, nest?: Nest, texts?: Read, found = new Set<string>()): Set<string> {
  for (const a of f ? f.args : []) namesIn(a, nest, texts, found);
  if (!f || f.constant || f.args.length || found.has(f.op)) return found;
  found.add(f.op).add(f.op.replace(/_$/, ""));                      // a loop's name has a `_` in texts
  const n = numberOf(f.op);
  if (nest && n >= 0) {
    const { index, guard, fallback } = texts!.accesses[n];
    for (const part of [...index, guard, fallback]) namesIn(part, nest, texts, found);
    for (const axis of nest.accesses[n].axes) if (axis) found.add(axis);
  }
  return found;
}

const isLoop = (nest: Nest, name: string): boolean => [...nest.loops, ...nest.rloops].some((l) => l.name === name);

const reads = (found: ReadonlySet<string>): number[] => [...found].map(numberOf).filter((r) => r >= 0);

/** The access that a name stands for the value of, or -1. */
export function numberOf(name: string): number {
  return /^r\d+$/.test(name) ? Number(name.slice(1)) : -1;
}
