// torch.distributions.constraints.Constraint: a region of values, and how one is declared.

import { callable } from "../../base/callable.js";
import { callable as callableOf, listOf, refuse, text as named } from "../../base/argument-kinds.js";
import { float, formatted } from "../../nn/shown.js";
import { Tensor } from "../../tensor/tensor.js";
import { all } from "../../../names/torch.js";
import { type Value, reshape, valueOf } from "../arithmetic.js";

export type Test = (value: Tensor) => Tensor;

/** Whether a value lies within each. */
const tests = /* @__PURE__ */ new WeakMap<object, Test>();
/** How each shows itself; bounds that are tensors are read for it, so not before somebody asks. */
export const texts = /* @__PURE__ */ new WeakMap<object, () => string>();

class ConstraintClass {
  /** What it is apart from its bounds: "GreaterThan". */
  readonly kind: string;
  /** How many of the last axes belong to one value. */
  readonly event_dim: number;
  readonly is_discrete: boolean;
  readonly lower_bound?: Value;
  readonly upper_bound?: Value;

  constructor(shown: string, test: Test, event_dim = 0, is_discrete = false, bounds: Bounds = {}) {
    this.kind = named(shown, "Constraint", "shown").split("(", 1)[0]!;
    texts.set(this, () => shown);
    tests.set(this, callableOf(test, "Constraint", "test"));
    this.event_dim = event_dim;
    this.is_discrete = is_discrete;
    if (bounds.lower_bound !== undefined) this.lower_bound = bounds.lower_bound;
    if (bounds.upper_bound !== undefined) this.upper_bound = bounds.upper_bound;
  }
  /** How it shows itself. */
  get shown(): string {
    return texts.get(this)!();
  }
  /** Whether each value, over its `event_dim` last axes, lies within. */
  check(value: Tensor): Tensor {
    return tests.get(this)!(value);
  }
  toString(): string {
    return this.shown;
  }
}
interface Bounds {
  lower_bound?: Value;
  upper_bound?: Value;
}
/**
 * A region of values: `check(value)` says for each whether it lies there.
 *
 * @param shown how it is printed
 * @param test of a tensor, which of its values hold it
 * @param event_dim how many of the last axes count as one value
 * @param is_discrete whether values are whole numbers
 * @param bounds the least and the greatest value, default {}
 *
 * @example
 * torch.distributions.Normal(0, 1).support.check(torch.tensor([1, NaN]))  // [true, false]
 */
export const Constraint = /* @__PURE__ */ callable(
  ConstraintClass,
  "Constraint",
  "check value, constructor shown test event_dim? is_discrete? bounds{}?",
);
export type Constraint = ConstraintClass;
/** What constraints made of constraints are made of. */
export interface Joined {
  base_constraint: Constraint;
  reinterpreted_batch_ndims: number;
  cseq: readonly Constraint[];
  dim: number;
  lengths: readonly number[];
}

const text = (x: Value): string => (x instanceof Tensor ? formatted(x) : float(x));
export const constraintOf = (value: unknown, op: string, name: string, wanted = "a constraint"): Constraint =>
  value instanceof ConstraintClass ? value : refuse(op, name, wanted, value);
/** Constraints of a list, each of which must be one. */
export const constraintsOf = (list: readonly Constraint[], op: string): Constraint[] =>
  listOf(list, op, "cseq", "a list of constraints").map((c) => constraintOf(c, op, "cseq", "a list of constraints"));
export const bounded = (op: string, name: string, test: Test, bounds: Bounds, is_discrete = false): Constraint => {
  for (const [key, value] of Object.entries(bounds)) valueOf(value, op, key);
  const made = new Constraint(`${name}()`, test, 0, is_discrete, bounds),
    shown = ([key, value]: [string, Value]): string => `${key}=${is_discrete ? String(value) : text(value)}`;
  texts.set(
    made,
    () =>
      `${name}(${Object.entries<Value>(bounds as Record<string, Value>)
        .map(shown)
        .join(", ")})`,
  );
  return made;
};
export const alone = (name: string, test: Test, event_dim = 0, is_discrete = false): Constraint =>
  new Constraint(name, test, event_dim, is_discrete);
/** Whether a condition holds over the last axes. */
export const throughout = (x: Tensor, dims: number): Tensor =>
  dims === 0 ? x : all(reshape(x, [...x.shape.slice(0, x.shape.length - dims), -1]), -1);
