// The two factors of a contraction, from its kernel's formulas: which parts of the product and which conditions of the
// sum belong to which, and the loops that each depends on.  Nothing here knows a call.

import type { Code, Kernel } from "../../../host/model.js";
import {
  Binary,
  Constant,
  Element,
  Index,
  type Node,
  Select,
  Unary,
  elements_of,
  factors_of,
  joined_by,
  nodes_of,
  operands_of,
} from "../../../host/nodes.js";
import { type Formula, Formulas } from "./node-evaluator.js";
import { withFormulas } from "../../program/notation-formulas.js";

/** One side of the product. */
export interface Factor {
  /** Its value; -0, which it is nowhere else, where its conditions fail: no product is asked for there. */
  readonly value: Formula;
  /** The accesses it reads, and the loops it depends on. */
  readonly reads: readonly number[];
  readonly names: ReadonlySet<string>;
  /** The access that it is, times `scale`, where `inside` holds, and 0 elsewhere; -1 if it is more than that. */
  readonly access: number;
  readonly scale: Formula;
  readonly inside: Formula | null;
  /** Whether it has conditions of the sum. */
  readonly conditional: boolean;
}

/** What formulas depend on. */
interface Uses {
  readonly reads: Set<number>;
  readonly loops: Set<string>;
}

interface Side extends Uses {
  readonly parts: Node[];
  readonly conditions: Node[];
}

const ONE = new Constant("f", 1),
  ZERO = new Constant("f", 0);

const known = new WeakMap<Kernel, readonly Factor[] | null>();

/** The left and the right factor of a contraction; null if it does not split. */
export function factorsOf(kernel: Kernel): readonly Factor[] | null {
  let found = known.get(kernel);
  if (found === undefined) known.set(kernel, (found = split(kernel)));
  return found;
}

function split(kernel: Kernel): readonly Factor[] | null {
  if (
    kernel.steps.some(
      ({ kind, inner, mode }, n) => n > 0 && (kind !== "store" || inner || (mode !== "=" && mode !== "+=")),
    )
  )
    return null;
  const code = withFormulas(kernel).floating!,
    { pred, body } = code.steps[0];
  const sides = [0, 1].map((): Side => ({ parts: [], conditions: [], reads: new Set(), loops: new Set() }));
  for (const part of factors_of(body, "f")) {
    const own = elements_of(part).filter((r) => kernel.accesses[r].axes.length > 0),
      left = own.filter((r) => kernel.left.includes(r)).length;
    if (left > 0 && left < own.length) return null;
    const side = sides[own.length > 0 && left === 0 ? 1 : 0];
    side.parts.push(part);
    note(part, kernel, code, side);
  }
  const product = sides.map((side) => new Set(side.loops));
  for (const condition of operands_of(pred, "&&")) {
    const used: Uses = { reads: new Set(), loops: new Set() };
    note(condition, kernel, code, used);
    const outer = kernel.loops.filter(({ name }) => used.loops.has(name));
    const leans = (a: number): boolean => outer.some(({ name }) => product[a].has(name) && !product[1 - a].has(name));
    if (leans(0) && leans(1)) return null;
    // What both can decide keeps both from reading where nothing is to be read.
    const both = outer.every(({ name }) => product[0].has(name) && product[1].has(name));
    for (const side of both ? sides : [sides[leans(1) ? 1 : 0]]) {
      side.conditions.push(condition);
      for (const read of used.reads) side.reads.add(read);
      for (const loop of used.loops) side.loops.add(loop);
    }
  }
  const formulas = new Formulas(new Map()),
    [left, right] = sides.map((side) => factor(code, side, formulas));
  return left.reads.length > 0 && right.reads.length > 0 ? [left, right] : null;
}

function factor(code: Code, { parts, conditions, reads, loops }: Side, formulas: Formulas): Factor {
  const all = joined_by("*", parts) ?? ONE,
    condition = joined_by("&&", conditions),
    own = [...reads];
  const rest = parts.filter((part) => !(part instanceof Element)),
    words = rest.every((part) => nodes_of(part).every((e) => !(e instanceof Element || e instanceof Index)));
  const alone = own.length === 1 && words && rest.length + 1 === parts.length,
    { guard, fallback } = alone ? code.accesses[own[0]] : { guard: null, fallback: null };
  const single = alone && (!fallback || (fallback instanceof Constant && fallback.value === 0)),
    inside = joined_by("&&", guard ? [guard, ...conditions] : conditions);
  return {
    value: formulas.of(condition ? new Select(condition, new Binary("+", all, ZERO), new Unary("-", ZERO)) : all),
    reads: own,
    names: loops,
    conditional: condition !== null,
    access: single ? own[0] : -1,
    scale: formulas.of(joined_by("*", rest) ?? ONE),
    inside: inside && formulas.of(inside),
  };
}

/** Notes what a formula depends on, with the places of what it reads. */
function note(e: Node | null, kernel: Kernel, code: Code, found: Uses): void {
  for (const x of nodes_of(e)) {
    if (x instanceof Index) found.loops.add(x.loop);
    if (!(x instanceof Element) || found.reads.has(x.access)) continue;
    found.reads.add(x.access);
    const { index, guard, fallback } = code.accesses[x.access];
    for (const part of [...index, guard, fallback]) note(part, kernel, code, found);
    for (const axis of kernel.accesses[x.access].axes) if (axis) found.loops.add(axis);
  }
}
