// torch.distributions.biject_to and transform_to: transforms of all numbers into what a constraint allows.

import { callable as callableOf, refuse } from "../../base/argument-kinds.js";
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Value, sub } from "../arithmetic.js";
import {
  CatTransform,
  ComposeTransform,
  IndependentTransform,
  StackTransform,
  identity_transform,
} from "../combined-transforms.js";
import { Constraint, type Joined } from "./constraints.js";
import { AffineTransform, ExpTransform, SigmoidTransform } from "../elementwise-transforms.js";
import type { Transform } from "../transform.js";
import {
  CorrCholeskyTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
  SoftmaxTransform,
  StickBreakingTransform,
} from "../vector-transforms.js";

type Factory = (constraint: never) => Transform;
export interface ConstraintRegistry {
  /** A transform of all numbers, or vectors, into what the constraint allows. */
  (constraint: Constraint): Transform;
  /** Says which transform constraints of the kind of this one have. */
  register(constraint: Constraint, factory: (constraint: Constraint) => Transform): void;
}

type Bounded = { lower_bound: Value; upper_bound: Value };
const moved = (from: Transform, loc: Value, scale: Value): Transform =>
  loc === 0 && scale === 1 ? from : ComposeTransform([from, AffineTransform(loc, scale)]);
const above = ({ lower_bound }: Bounded): Transform => moved(ExpTransform(), lower_bound, 1);
function within({ lower_bound: low, upper_bound: high }: Bounded): Transform {
  const width = high instanceof Tensor || low instanceof Tensor ? sub(high, low) : high - low;
  return moved(SigmoidTransform(), low, width);
}

/** Kind of constraint -> its transform; `again` asks the same registry for the parts of others. */
const COMMON = (again: (constraint: Constraint) => Transform): Record<string, Factory> => ({
  Real: () => identity_transform,
  IndependentConstraint: ({ base_constraint, reinterpreted_batch_ndims }: Joined) =>
    IndependentTransform(again(base_constraint), reinterpreted_batch_ndims),
  GreaterThan: above,
  GreaterThanEq: above,
  LessThan: ({ upper_bound }: Bounded) => moved(ExpTransform(), upper_bound, -1),
  Interval: within,
  HalfOpenInterval: within,
  CorrCholesky: () => CorrCholeskyTransform(),
  Cat: ({ cseq, dim, lengths }: Joined) => CatTransform(cseq.map(again), dim, lengths),
  Stack: ({ cseq, dim }: Joined) => StackTransform(cseq.map(again), dim),
});

function registry(name: string, own: Record<string, Factory>): ConstraintRegistry {
  const factories = new Map<string, Factory>();
  const asked = (constraint: Constraint): Transform => {
    const { kind } = constraintOf(constraint, name),
      make = factories.get(kind);
    if (!make) throw new OpError(`${name}: Cannot transform ${kind} constraints`);
    return make(constraint as never);
  };
  for (const [kind, make] of Object.entries({ ...COMMON(asked), ...own })) factories.set(kind, make);
  const found = (...args: unknown[]): Transform => asked(taken(`${name} constraint`, args)[0] as Constraint);
  return Object.assign(found as (constraint: Constraint) => Transform, {
    register(...args: unknown[]): void {
      const [constraint, factory] = taken(`${name}.register constraint factory`, args) as [Constraint, Factory];
      factories.set(constraintOf(constraint, name).kind, callableOf(factory, name, "factory"));
    },
  });
}
function constraintOf(value: Constraint, op: string): Constraint {
  return value instanceof Constraint ? value : refuse(op, "constraint", "a constraint", value);
}

/**
 * A transform into what a constraint allows that can be undone.
 *
 * @param constraint what the result must hold
 *
 * @example
 * const { biject_to, constraints } = torch.distributions;
 * biject_to(constraints.positive)(torch.tensor([0]))  // [1]
 */
export const biject_to: ConstraintRegistry = /* @__PURE__ */ registry("biject_to", {
  Simplex: () => StickBreakingTransform(),
});
/**
 * A transform into what a constraint allows, which may take several values to one.
 *
 * @param constraint what the result must hold
 *
 * @example
 * const { transform_to, constraints } = torch.distributions;
 * transform_to(constraints.simplex)(torch.tensor([0, 0, 0, 0]))  // [0.25, 0.25, 0.25, 0.25]
 */
export const transform_to: ConstraintRegistry = /* @__PURE__ */ registry("transform_to", {
  Simplex: () => SoftmaxTransform(),
  LowerCholesky: () => LowerCholeskyTransform(),
  PositiveDefinite: () => PositiveDefiniteTransform(),
  PositiveSemidefinite: () => PositiveDefiniteTransform(),
});
