// torch.distributions.constraints: which values a parameter or a sample may have.

import { callable } from "../base/callable.js";
import {
  callable as callableOf,
  listOf,
  refuse,
  text as named,
  integer as integerArgument,
} from "../base/argument-kinds.js";
import { titled } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { cat as joined, stack as stacked } from "../functions/join.js";
import { float, formatted } from "../nn/shown.js";
import { Tensor } from "../tensor/tensor.js";
import { all, any } from "../../names/torch.js";
import { cholesky_ex, eigvalsh } from "../../names/linalg.js";
import {
  type Value,
  abs,
  add,
  both,
  diagonal,
  either,
  eq,
  floor,
  ge,
  gt,
  le,
  lt,
  mul,
  narrow,
  pow,
  reshape,
  select,
  sub,
  sum,
  transpose,
  tril,
  unsqueeze,
  valueOf,
} from "./arithmetic.js";

type Test = (value: Tensor) => Tensor;

/** Whether a value lies within each. */
const tests = /* @__PURE__ */ new WeakMap<object, Test>();
/** How each shows itself; bounds that are tensors are read for it, so not before somebody asks. */
const texts = /* @__PURE__ */ new WeakMap<object, () => string>();

class ConstraintClass {
  /** What it is apart from its bounds: "GreaterThan". */
  readonly kind: string;
  /** How many of the last axes belong to one value. */
  readonly event_dim: number;
  readonly is_discrete: boolean;
  readonly lower_bound?: Value;
  readonly upper_bound?: Value;

  /** A region of values: `check(value)` says for each whether it lies there. */
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
const constraintOf = (value: unknown, op: string, name: string, wanted = "a constraint"): Constraint =>
  value instanceof ConstraintClass ? value : refuse(op, name, wanted, value);
/** Constraints of a list, each of which must be one. */
const constraintsOf = (list: readonly Constraint[], op: string): Constraint[] =>
  listOf(list, op, "cseq", "a list of constraints").map((c) => constraintOf(c, op, "cseq", "a list of constraints"));
const bounded = (op: string, name: string, test: Test, bounds: Bounds, is_discrete = false): Constraint => {
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
const alone = (name: string, test: Test, event_dim = 0, is_discrete = false): Constraint =>
  new Constraint(name, test, event_dim, is_discrete);
const isInteger = (x: Tensor): Tensor => eq(floor(x), x);
/** Whether a condition holds over the last axes. */
const throughout = (x: Tensor, dims: number): Tensor =>
  dims === 0 ? x : all(reshape(x, [...x.shape.slice(0, x.shape.length - dims), -1]), -1);
const bool = (x: Tensor): Tensor => eq(x, x);

/** Numbers above `lower_bound`. */
export function greater_than(lower_bound: Value): Constraint {
  [lower_bound] = taken("greater_than lower_bound", arguments);
  return bounded("greater_than", "GreaterThan", (x) => gt(x, lower_bound), { lower_bound });
}
/** Numbers from `lower_bound` on. */
export function greater_than_eq(lower_bound: Value): Constraint {
  [lower_bound] = taken("greater_than_eq lower_bound", arguments);
  return bounded("greater_than_eq", "GreaterThanEq", (x) => ge(x, lower_bound), { lower_bound });
}
/** Numbers below `upper_bound`. */
export function less_than(upper_bound: Value): Constraint {
  [upper_bound] = taken("less_than upper_bound", arguments);
  return bounded("less_than", "LessThan", (x) => lt(x, upper_bound), { upper_bound });
}
/** Numbers from `lower_bound` to `upper_bound`. */
export function interval(lower_bound: Value, upper_bound: Value): Constraint {
  [lower_bound, upper_bound] = taken("interval lower_bound upper_bound", arguments);
  return bounded("interval", "Interval", (x) => both(ge(x, lower_bound), le(x, upper_bound)), {
    lower_bound,
    upper_bound,
  });
}
/** Numbers from `lower_bound` up to, but without, `upper_bound`. */
export function half_open_interval(lower_bound: Value, upper_bound: Value): Constraint {
  [lower_bound, upper_bound] = taken("half_open_interval lower_bound upper_bound", arguments);
  return bounded("half_open_interval", "HalfOpenInterval", (x) => both(ge(x, lower_bound), lt(x, upper_bound)), {
    lower_bound,
    upper_bound,
  });
}
/** Whole numbers from `lower_bound` to `upper_bound`. */
export function integer_interval(lower_bound: Value, upper_bound: Value): Constraint {
  [lower_bound, upper_bound] = taken("integer_interval lower_bound upper_bound", arguments);
  return bounded(
    "integer_interval",
    "IntegerInterval",
    (x) => both(isInteger(x), both(ge(x, lower_bound), le(x, upper_bound))),
    { lower_bound, upper_bound },
    true,
  );
}
/** Values that hold `base_constraint` throughout so many more of the last axes. */
export function independent(base_constraint: Constraint, reinterpreted_batch_ndims: number): Constraint {
  [base_constraint, reinterpreted_batch_ndims] = taken(
    "independent base_constraint reinterpreted_batch_ndims",
    arguments,
  );
  base_constraint = constraintOf(base_constraint, "independent", "base_constraint");
  reinterpreted_batch_ndims = integerArgument(reinterpreted_batch_ndims, "independent", "reinterpreted_batch_ndims");
  const dims = base_constraint.event_dim + reinterpreted_batch_ndims,
    made = new Constraint(
      "IndependentConstraint()",
      (x) => {
        if (x.shape.length < dims) throw new OpError(`Expected value.dim() >= ${dims} but got ${x.shape.length}`);
        return throughout(base_constraint.check(x), reinterpreted_batch_ndims);
      },
      dims,
      base_constraint.is_discrete,
    );
  texts.set(made, () => `IndependentConstraint(${base_constraint}, ${reinterpreted_batch_ndims})`);
  return Object.assign(made, { base_constraint, reinterpreted_batch_ndims });
}
/** A condition of its own for each part of an axis. */
export function cat(cseq: readonly Constraint[], dim = 0, lengths?: readonly number[] | null): Constraint {
  [cseq, dim = 0, lengths] = taken("cat cseq dim? lengths?", arguments);
  cseq = constraintsOf(cseq, "cat");
  const sizes = lengths ?? cseq.map(() => 1);
  const made = new Constraint(
    "Cat()",
    (x) => {
      let start = 0;
      return joined(
        cseq.map((c, i) => c.check(narrow(x, dim, (start += sizes[i]!) - sizes[i]!, sizes[i]!))),
        dim,
      );
    },
    Math.max(...cseq.map((c) => c.event_dim)),
    cseq.some((c) => c.is_discrete),
  );
  return Object.assign(made, { cseq, dim, lengths: sizes });
}
/** A condition of its own for each place of an axis. */
export function stack(cseq: readonly Constraint[], dim = 0): Constraint {
  [cseq, dim = 0] = taken("stack cseq dim?", arguments);
  cseq = constraintsOf(cseq, "stack");
  const made = new Constraint(
    "Stack()",
    (x) =>
      stacked(
        cseq.map((c, i) => c.check(select(x, dim, i))),
        dim,
      ),
    Math.max(...cseq.map((c) => c.event_dim)) + (dim < 0 ? 1 : 0),
    cseq.some((c) => c.is_discrete),
  );
  return Object.assign(made, { cseq, dim });
}
/** Values that some component of a mixture may have: the components lie along one axis more, before those of a value. */
export const MixtureSameFamilyConstraint = /* @__PURE__ */ titled(function (base_constraint: Constraint): Constraint {
  [base_constraint] = taken("MixtureSameFamilyConstraint base_constraint", arguments);
  const base = constraintOf(base_constraint, "MixtureSameFamilyConstraint", "base_constraint"),
    { event_dim, is_discrete } = base;
  const test: Test = (x) => any(base.check(unsqueeze(x, -1 - event_dim)), -1),
    made = new Constraint("MixtureSameFamilyConstraint()", test, event_dim, is_discrete);
  texts.set(made, () => `MixtureSameFamilyConstraint(${base})`);
  return made;
}, "MixtureSameFamilyConstraint");
/** Whole numbers that add up to at most `upper_bound` along the last axis. */
export function multinomial(upper_bound: Value): Constraint {
  [upper_bound] = taken("multinomial upper_bound", arguments);
  valueOf(upper_bound, "multinomial", "upper_bound");
  return new Constraint("Multinomial()", (x) => both(all(ge(x, 0), -1), le(sum(x, -1), upper_bound)), 1, true, {
    upper_bound,
  });
}

/** A condition that depends on other parameters. */
export const dependent: Constraint = /* @__PURE__ */ alone("_Dependent()", () => {
  throw new OpError("Cannot determine validity of dependent constraint");
});
/** Whether a constraint is `dependent`, which depends on other parameters. */
export function is_dependent(constraint: Constraint): boolean {
  [constraint] = taken("is_dependent constraint", arguments);
  if (!(constraint instanceof ConstraintClass)) refuse("is_dependent", "constraint", "a constraint", constraint);
  return constraint === dependent;
}
/** Truth values, as 0 and 1. */
export const boolean: Constraint = /* @__PURE__ */ new Constraint(
  "Boolean()",
  (x) => either(eq(x, 0), eq(x, 1)),
  0,
  true,
  { lower_bound: 0, upper_bound: 1 },
);
/** All numbers but NaN. */
export const real: Constraint = /* @__PURE__ */ alone("Real()", bool);
/** Vectors, along the last axis, of any numbers but NaN. */
export const real_vector: Constraint = /* @__PURE__ */ independent(real, 1);
/** Numbers above 0. */
export const positive: Constraint = /* @__PURE__ */ greater_than(0);
/** Numbers from 0 on. */
export const nonnegative: Constraint = /* @__PURE__ */ greater_than_eq(0);
/** Numbers from 0 to 1. */
export const unit_interval: Constraint = /* @__PURE__ */ interval(0, 1);
/** Whole numbers from 0 on. */
export const nonnegative_integer: Constraint = /* @__PURE__ */ bounded(
  "nonnegative_integer",
  "IntegerGreaterThan",
  (x) => both(isInteger(x), ge(x, 0)),
  { lower_bound: 0 },
  true,
);
/** Whole numbers from 1 on. */
export const positive_integer: Constraint = /* @__PURE__ */ bounded(
  "positive_integer",
  "IntegerGreaterThan",
  (x) => both(isInteger(x), ge(x, 1)),
  { lower_bound: 1 },
  true,
);
/** Vectors, along the last axis, of a 1 and else zeros. */
export const one_hot: Constraint = /* @__PURE__ */ alone(
  "OneHot()",
  (x) => both(all(either(eq(x, 0), eq(x, 1)), -1), eq(sum(x, -1), 1)),
  1,
  true,
);
/** Vectors, along the last axis, of numbers from 0 on that add up to 1. */
export const simplex: Constraint = /* @__PURE__ */ alone(
  "Simplex()",
  (x) => both(all(ge(x, 0), -1), lt(abs(sub(sum(x, -1), 1)), 1e-6)),
  1,
);
/** Matrices, over the last two axes, with zeros above the diagonal. */
export const lower_triangular: Constraint = /* @__PURE__ */ alone(
  "LowerTriangular()",
  (x) => throughout(eq(tril(x), x), 2),
  2,
);
/** Matrices with zeros above the diagonal and positive numbers on it. */
export const lower_cholesky: Constraint = /* @__PURE__ */ alone(
  "LowerCholesky()",
  (x) => both(throughout(eq(tril(x), x), 2), all(gt(diagonal(x, 0, -2, -1), 0), -1)),
  2,
);
/** Whether each row has the length 1, but for the rounding of as many squares as there are columns. */
const unit_rows = (x: Tensor): Tensor =>
  all(le(abs(sub(sum(pow(x, 2), -1), 1)), 10 * x.shape[x.shape.length - 1]! * 2 ** -23), -1);
/** Matrices with zeros above the diagonal, positive numbers on it and rows of length 1. */
export const corr_cholesky: Constraint = /* @__PURE__ */ alone(
  "CorrCholesky()",
  (x) => both(unit_rows(x), lower_cholesky.check(x)),
  2,
);
/** Square matrices, over the last two axes. */
export const square: Constraint = /* @__PURE__ */ alone("Square()", (x) => bool(select(select(x, -1, 0), -1, 0)), 2);
const even = (x: Tensor): Tensor => throughout(le(abs(sub(x, transpose(x, -2, -1))), add(mul(abs(x), 1e-5), 1e-6)), 2);
/** Matrices that equal their transposes. */
export const symmetric: Constraint = /* @__PURE__ */ alone("Symmetric()", even, 2);
/** Symmetric matrices with positive eigenvalues. */
export const positive_definite: Constraint = /* @__PURE__ */ alone(
  "PositiveDefinite()",
  (x) => both(even(x), eq((cholesky_ex(x) as unknown as { info: Tensor }).info, 0)),
  2,
);
/** Symmetric matrices without negative eigenvalues. */
export const positive_semidefinite: Constraint = /* @__PURE__ */ alone(
  "PositiveSemidefinite()",
  (x) => both(even(x), all(ge(eigvalsh(x), 0), -1)),
  2,
);
