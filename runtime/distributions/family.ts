// Families of distributions of single numbers: each is a record of formulas, and this makes the class.

import type { Callable } from "../base/callable.js";
import { OpError } from "../base/errors.js";
import { broadcast_shapes } from "../functions/grids.js";
import { is_floating_point } from "../functions/tensor-functions.js";
import { unrecorded } from "../tape/grad-mode.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  type Value,
  add,
  broadcast_all,
  valueOf,
  clamp_probs,
  either,
  expand,
  filled,
  gt,
  inner,
  like as as_type,
  log,
  log1p,
  neg,
  sigmoid,
  sub,
  where,
} from "./arithmetic.js";
import { type Constraint, less_than, real, unit_interval } from "./constraints/constraints.js";
import { DistributionClass, type Validate, declared } from "./distribution.js";

/** The parameters of a distribution, in one shape. */
export type Given<P extends string> = Readonly<Record<P, Tensor>>;

/** Expectations of a distribution, those that have a closed form; `x` is its sample. */
export interface Expectations {
  readonly mean: Tensor;
  readonly variance: Tensor;
  /** Of log x, and of log(1 - x). */
  readonly log?: () => Tensor;
  readonly log_rest?: () => Tensor;
  /** Of log x!. */
  readonly log_factorial?: () => Tensor;
  /** Of |x - a|. */
  readonly distance?: (a: Tensor) => Tensor;
  /** Of xᵏ. */
  readonly power?: (k: Tensor) => Tensor;
  /** The logarithm of the expectation of exp(t x). */
  readonly cumulant?: (t: Tensor) => Tensor;
}

export interface Family<P extends string> {
  readonly name: string;
  /** What each parameter must hold, in the order in which the constructor takes them. */
  readonly holds: Readonly<Record<P, Constraint>>;
  /** Which parameters PyTorch prints, if not all. */
  readonly prints?: readonly P[];
  /** What parameters are where they are left out. */
  readonly defaults?: Partial<Readonly<Record<P, number>>>;
  /** A parameter that must be less than another. */
  readonly ordered?: readonly [P, P];
  readonly support: Constraint | ((p: Given<P>) => Constraint);
  /** The logarithm of the density, or of the probability of a number. */
  readonly log_prob: (p: Given<P>, x: Tensor) => Tensor;
  readonly mean?: (p: Given<P>) => Tensor;
  readonly variance?: (p: Given<P>) => Tensor;
  readonly mode?: (p: Given<P>) => Tensor;
  readonly entropy?: (p: Given<P>) => Tensor;
  readonly cdf?: (p: Given<P>, x: Tensor) => Tensor;
  readonly icdf?: (p: Given<P>, share: Tensor) => Tensor;
  /** How samples are drawn; without it, uniform numbers go through `icdf`. */
  readonly draw?: (p: Given<P>, shape: Sizes) => Tensor;
  /** Whether samples have no gradients. */
  readonly rough?: boolean;
  /** All values. */
  readonly values?: (p: Given<P>) => Tensor;
  readonly expectations?: (p: Given<P>) => Omit<Expectations, "mean" | "variance">;
  /** The expectation of `log_prob` under another distribution; null where that lacks one of the expectations. */
  readonly expected?: (q: Given<P>, e: Expectations) => Tensor | null;
  /** The divergence from one of the same family, where expectations do not say it, or less exactly. */
  readonly divergence?: (p: Given<P>, q: Given<P>) => Tensor;
}

/** The parameters `probs` and `logits`, of which one is given and the other follows. */
export const WEIGHT = { probs: unit_interval, logits: real };

/** Whether the first bound is above the second. */
function beyond(high: Value, low: Value): Tensor {
  const [a, b] = broadcast_all(high, low);
  return gt(a!, b!);
}

/** Whole numbers among floats become such floats. */
function alike(tensors: Tensor[]): Tensor[] {
  const float = tensors.find((x) => is_floating_point(x));
  return float ? tensors.map((x) => (is_floating_point(x) ? x : as_type(x, float))) : tensors;
}

/** A distribution of single numbers by a record of formulas. */
export abstract class FamilyMember extends DistributionClass {
  abstract readonly family: Family<string>;
  /** The first of its parameters that was given. */
  get like(): Tensor {
    const name = this.params.find((one) => Object.hasOwn(this, one))!;
    return (this as unknown as Given<string>)[name]!;
  }
  /** Which numbers it expects of itself. */
  expectations(): Expectations {
    const { mean, variance } = this;
    return { mean, variance, ...this.family.expectations?.(this as unknown as Given<string>) };
  }
  /** By the formula of the family, else what it expects of the other's logarithms less what it expects of its own. */
  override divergence(q: DistributionClass): Tensor | null {
    if (!(q instanceof FamilyMember)) return null;
    const own = this as unknown as Given<string>,
      other = q as unknown as Given<string>;
    if (q.family === this.family && q.family.divergence) return q.family.divergence(own, other);
    const [from, to] = [this.support, q.support],
      wider =
        (from.lower_bound === undefined && to.lower_bound !== undefined) ||
        (from.upper_bound === undefined && to.upper_bound !== undefined);
    if (from.is_discrete !== to.is_discrete) return null;
    if (wider) return filled(broadcast_shapes([...this.batch_shape], [...q.batch_shape]), Infinity, this.like);
    if (!this.family.entropy) return null;
    const cross = q.family.expected?.(other, this.expectations());
    if (!cross) return null;
    const inside = neg(add(this.family.entropy(own), cross));
    const outside = either(
      beyond(to.lower_bound ?? -Infinity, from.lower_bound ?? -Infinity),
      beyond(from.upper_bound ?? Infinity, to.upper_bound ?? Infinity),
    );
    return where(outside, Infinity, inside);
  }
}

export type FamilyClass<P extends string> = Callable<
  new (
    ...values: (Value | Validate | null | Partial<Readonly<Record<P, Value | null>>>)[]
  ) => FamilyMember & Given<P>
>;

/** The class of a family; it can be called with and without `new`. */
export function family<P extends string>(recipe: Family<P>): FamilyClass<P> {
  const names = Object.keys(recipe.holds),
    optional = (name: string): boolean => name === "probs" || name === "logits";
  class Made extends FamilyMember {
    readonly family = recipe as unknown as Family<string>;

    constructor(...values: unknown[]) {
      super([], [], values[names.length] as Validate);
      values = names.map((name, i) => values[i] ?? recipe.defaults?.[name as P]);
      const given = names.filter((name, i) => !optional(name) || values[i] != null);
      if (names.some(optional) && given.filter(optional).length !== 1)
        throw new OpError(`${recipe.name}: Either \`probs\` or \`logits\` must be specified, but not both.`);
      const tensors = alike(
        broadcast_all(...given.map((name) => valueOf(values[names.indexOf(name)], recipe.name, name))),
      );
      given.forEach((name, i) => {
        const described = { value: tensors[i], enumerable: true, writable: true, configurable: true };
        Object.defineProperty(this, name, described);
      });
      this.shaped(tensors[0]!.shape);
    }
    private get own(): Given<P> {
      return this as unknown as Given<P>;
    }
    override get support(): Constraint {
      return typeof recipe.support === "function" ? recipe.support(this.own) : recipe.support;
    }
    override get has_rsample(): boolean {
      return !recipe.rough;
    }
    override get has_enumerate_support(): boolean {
      return recipe.values !== undefined;
    }
    override get mean(): Tensor {
      return recipe.mean ? recipe.mean(this.own) : super.mean;
    }
    override get mode(): Tensor {
      return recipe.mode ? recipe.mode(this.own) : super.mode;
    }
    override get variance(): Tensor {
      return recipe.variance ? recipe.variance(this.own) : super.variance;
    }
    override sample(sample_shape: Sizes = []): Tensor {
      return unrecorded(() => this.drawn(sample_shape).detach());
    }
    override rsample(sample_shape: Sizes = []): Tensor {
      return recipe.rough ? super.rsample(sample_shape) : this.drawn(sample_shape);
    }
    private drawn(sample_shape: Sizes): Tensor {
      const shape = this.extended_shape(sample_shape);
      return recipe.draw ? recipe.draw(this.own, shape) : recipe.icdf!(this.own, inner(shape, this.like));
    }
    override log_prob(value: Tensor): Tensor {
      this.checked(value);
      return recipe.log_prob(this.own, value);
    }
    override cdf(value: Tensor): Tensor {
      if (!recipe.cdf) return super.cdf(value);
      this.checked(value);
      return recipe.cdf(this.own, value);
    }
    override icdf(value: Tensor): Tensor {
      return recipe.icdf ? recipe.icdf(this.own, value) : super.icdf(value);
    }
    override entropy(): Tensor {
      return recipe.entropy ? recipe.entropy(this.own) : super.entropy();
    }
    override enumerate_support(expanded = true): Tensor {
      if (!recipe.values) return super.enumerate_support(expanded);
      const values = recipe.values(this.own);
      return expanded ? expand(values, [values.shape[0]!, ...this.batch_shape]) : values;
    }
  }
  const { prototype } = Made as unknown as { prototype: object };
  const define = (name: string, get: (this: Made) => unknown): void => {
    Object.defineProperty(prototype, name, { get, configurable: true });
  };
  if (names.some(optional)) {
    define("probs", function () {
      return sigmoid((this as unknown as Given<"logits">).logits);
    });
    define("logits", function () {
      const share = clamp_probs((this as unknown as Given<"probs">).probs);
      return sub(log(share), log1p(neg(share)));
    });
    define("param_shape", function () {
      return this.batch_shape;
    });
  }
  define("params", () => names);
  if (recipe.prints) define("prints", () => recipe.prints);
  define("arg_constraints", function () {
    const [low, high] = recipe.ordered ?? [];
    return low && high ? { ...recipe.holds, [low]: less_than((this as unknown as Given<P>)[high]) } : recipe.holds;
  });
  const line = names.map((name) => (optional(name) || recipe.defaults?.[name as P] !== undefined ? `${name}?` : name));
  return declared(Made, recipe.name, line.join(" ")) as unknown as FamilyClass<P>;
}
