// torch.distributions.constraints: which values a parameter or a sample may have.

import { integer as integerArgument, refuse } from "../../base/argument-kinds.js";
import { titled } from "../../base/class-name.js";
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import { cat as joined, stack as stacked } from "../../functions/join.js";
import type { Tensor } from "../../tensor/tensor.js";
import { any } from "../../../names/torch.js";
import { type Value, both, either, eq, floor, ge, gt, le, lt, narrow, select, unsqueeze } from "../arithmetic.js";
import { Constraint, type Test, alone, bounded, constraintOf, constraintsOf, texts, throughout } from "./constraint.js";

export { Constraint, type Joined } from "./constraint.js";
export * from "./vector-constraints.js";

const isInteger = (x: Tensor): Tensor => eq(floor(x), x);
const isNumber = (x: Tensor): Tensor => eq(x, x);

/**
 * Numbers above `lower_bound`.
 *
 * @param lower_bound the least value, which is not allowed itself
 *
 * @example
 * torch.distributions.constraints.greater_than(1).check(torch.tensor([1, 2]))  // [false, true]
 */
export function greater_than(lower_bound: Value): Constraint {
  [lower_bound] = taken("greater_than lower_bound", arguments);
  return bounded("greater_than", "GreaterThan", (x) => gt(x, lower_bound), { lower_bound });
}
/**
 * Numbers from `lower_bound` on.
 *
 * @param lower_bound the least value
 *
 * @example
 * torch.distributions.constraints.greater_than_eq(1).check(torch.tensor([0, 1]))  // [false, true]
 */
export function greater_than_eq(lower_bound: Value): Constraint {
  [lower_bound] = taken("greater_than_eq lower_bound", arguments);
  return bounded("greater_than_eq", "GreaterThanEq", (x) => ge(x, lower_bound), { lower_bound });
}
/**
 * Numbers below `upper_bound`.
 *
 * @param upper_bound the greatest value, which is not allowed itself
 *
 * @example
 * torch.distributions.constraints.less_than(1).check(torch.tensor([0, 1]))  // [true, false]
 */
export function less_than(upper_bound: Value): Constraint {
  [upper_bound] = taken("less_than upper_bound", arguments);
  return bounded("less_than", "LessThan", (x) => lt(x, upper_bound), { upper_bound });
}
/**
 * Numbers from `lower_bound` to `upper_bound`.
 *
 * @param lower_bound the least value
 * @param upper_bound the greatest value
 *
 * @example
 * torch.distributions.constraints.interval(0, 1).check(torch.tensor([0, 0.5, 2]))  // [true, true, false]
 */
export function interval(lower_bound: Value, upper_bound: Value): Constraint {
  [lower_bound, upper_bound] = taken("interval lower_bound upper_bound", arguments);
  return bounded("interval", "Interval", (x) => both(ge(x, lower_bound), le(x, upper_bound)), {
    lower_bound,
    upper_bound,
  });
}
/**
 * Numbers from `lower_bound` up to, but without, `upper_bound`.
 *
 * @param lower_bound the least value
 * @param upper_bound the greatest value, which is not allowed itself
 *
 * @example
 * torch.distributions.constraints.half_open_interval(0, 1).check(torch.tensor([0, 1]))  // [true, false]
 */
export function half_open_interval(lower_bound: Value, upper_bound: Value): Constraint {
  [lower_bound, upper_bound] = taken("half_open_interval lower_bound upper_bound", arguments);
  return bounded("half_open_interval", "HalfOpenInterval", (x) => both(ge(x, lower_bound), lt(x, upper_bound)), {
    lower_bound,
    upper_bound,
  });
}
/**
 * Whole numbers from `lower_bound` to `upper_bound`.
 *
 * @param lower_bound the least value
 * @param upper_bound the greatest value
 *
 * @example
 * torch.distributions.constraints.integer_interval(0, 2).check(torch.tensor([0, 1.5, 2]))  // [true, false, true]
 */
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
/**
 * Values that hold `base_constraint` throughout so many more of the last axes.
 *
 * @param base_constraint what each number, or smaller value, must hold
 * @param reinterpreted_batch_ndims how many axes more a value has
 *
 * @example
 * const { independent, positive } = torch.distributions.constraints;
 * independent(positive, 1).check(torch.tensor([[1, 2], [1, -2]]))  // [true, false]
 */
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
/**
 * A condition of its own for each part of an axis.
 *
 * @param cseq constraints, one for each part
 * @param dim the axis; 0 unless given
 * @param lengths how long each part is; 1 unless given
 *
 * @example
 * const { cat, positive, real } = torch.distributions.constraints;
 * cat([real, positive], { lengths: [1, 2] }).check(torch.tensor([-1, 2, -3]))  // [true, true, false]
 */
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
/**
 * A condition of its own for each place of an axis.
 *
 * @param cseq constraints, one for each place
 * @param dim the axis; 0 unless given
 *
 * @example
 * const { positive, real, stack } = torch.distributions.constraints;
 * stack([real, positive]).check(torch.tensor([-1, -1]))  // [true, false]
 */
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
/**
 * Values that some component of a mixture may have: the components lie along one axis more, before those of a value.
 *
 * @param base_constraint what a value must hold in each component
 *
 * @example
 * const { MixtureSameFamilyConstraint, positive } = torch.distributions.constraints;
 * MixtureSameFamilyConstraint(positive).check(torch.tensor([-1, 2]))  // [false, true]
 */
export const MixtureSameFamilyConstraint = /* @__PURE__ */ titled(function (base_constraint: Constraint): Constraint {
  [base_constraint] = taken("MixtureSameFamilyConstraint base_constraint", arguments);
  const base = constraintOf(base_constraint, "MixtureSameFamilyConstraint", "base_constraint"),
    { event_dim, is_discrete } = base;
  const test: Test = (x) => any(base.check(unsqueeze(x, -1 - event_dim)), -1),
    made = new Constraint("MixtureSameFamilyConstraint()", test, event_dim, is_discrete);
  texts.set(made, () => `MixtureSameFamilyConstraint(${base})`);
  return made;
}, "MixtureSameFamilyConstraint");
/**
 * A condition that depends on other parameters.
 *
 * @example
 * const { dependent, is_dependent } = torch.distributions.constraints;
 * is_dependent(dependent)  // true
 */
export const dependent: Constraint = /* @__PURE__ */ alone("_Dependent()", () => {
  throw new OpError("Cannot determine validity of dependent constraint");
});
/**
 * Whether a constraint is `dependent`, which depends on other parameters.
 *
 * @param constraint any constraint
 *
 * @example
 * const { is_dependent, positive } = torch.distributions.constraints;
 * is_dependent(positive)  // false
 */
export function is_dependent(constraint: Constraint): boolean {
  [constraint] = taken("is_dependent constraint", arguments);
  if (!(constraint instanceof Constraint)) refuse("is_dependent", "constraint", "a constraint", constraint);
  return constraint === dependent;
}
/**
 * Truth values, as 0 and 1.
 *
 * @example
 * torch.distributions.constraints.boolean.check(torch.tensor([0, 1, 2]))  // [true, true, false]
 */
export const boolean: Constraint = /* @__PURE__ */ new Constraint(
  "Boolean()",
  (x) => either(eq(x, 0), eq(x, 1)),
  0,
  true,
  { lower_bound: 0, upper_bound: 1 },
);
/**
 * All numbers but NaN.
 *
 * @example
 * torch.distributions.constraints.real.check(torch.tensor([1, NaN]))  // [true, false]
 */
export const real: Constraint = /* @__PURE__ */ alone("Real()", isNumber);
/**
 * Vectors, along the last axis, of any numbers but NaN.
 *
 * @example
 * torch.distributions.constraints.real_vector.check(torch.tensor([[1, 2], [1, NaN]]))  // [true, false]
 */
export const real_vector: Constraint = /* @__PURE__ */ independent(real, 1);
/**
 * Numbers above 0.
 *
 * @example
 * torch.distributions.constraints.positive.check(torch.tensor([0, 1]))  // [false, true]
 */
export const positive: Constraint = /* @__PURE__ */ greater_than(0);
/**
 * Numbers from 0 on.
 *
 * @example
 * torch.distributions.constraints.nonnegative.check(torch.tensor([-1, 0]))  // [false, true]
 */
export const nonnegative: Constraint = /* @__PURE__ */ greater_than_eq(0);
/**
 * Numbers from 0 to 1.
 *
 * @example
 * torch.distributions.constraints.unit_interval.check(torch.tensor([0, 1, 2]))  // [true, true, false]
 */
export const unit_interval: Constraint = /* @__PURE__ */ interval(0, 1);
/**
 * Whole numbers from 0 on.
 *
 * @example
 * torch.distributions.constraints.nonnegative_integer.check(torch.tensor([-1, 0, 0.5]))  // [false, true, false]
 */
export const nonnegative_integer: Constraint = /* @__PURE__ */ bounded(
  "nonnegative_integer",
  "IntegerGreaterThan",
  (x) => both(isInteger(x), ge(x, 0)),
  { lower_bound: 0 },
  true,
);
/**
 * Whole numbers from 1 on.
 *
 * @example
 * torch.distributions.constraints.positive_integer.check(torch.tensor([0, 1]))  // [false, true]
 */
export const positive_integer: Constraint = /* @__PURE__ */ bounded(
  "positive_integer",
  "IntegerGreaterThan",
  (x) => both(isInteger(x), ge(x, 1)),
  { lower_bound: 1 },
  true,
);
