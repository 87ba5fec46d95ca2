// torch.distributions.Distribution: what all distributions have, and how one is declared.

import { capturing } from "../base/capturing.js";
import { nameOf } from "../base/class-name.js";
import { type Callable, callable } from "../base/callable.js";
import { count, listOf, refuse } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { type Shape, frozen, showSize } from "../base/shape.js";
import { isOptions } from "../base/named-arguments.js";
import { unrecorded } from "../tape/grad-mode.js";
import { formatted, tuple } from "../nn/shown.js";
import { Tensor } from "../tensor/tensor.js";
import { all } from "../../names/torch.js";
import { type Sizes, exp, expand, sqrt } from "./arithmetic.js";
import { type Constraint, is_dependent } from "./constraints/constraints.js";

export interface DistributionOptions {
  /** Whether parameters and values are checked; on unless `set_default_validate_args(false)` said otherwise. */
  validate_args?: boolean | null;
}
/** `validate_args`, by position or by name. */
export type Validate = boolean | null | DistributionOptions;

let checking = true;

/**
 * Whether every element is true; null where only a GPU knows. A program that replays the call refuses in these words,
 * of which nothing is read.
 */
export function everywhere(condition: Tensor, refusal: () => string): boolean | null {
  const { storage, offset } = unrecorded(() => all(condition));
  if (storage.device.type !== "cpu") return null;
  capturing?.asked(storage, offset, refusal());
  return storage.elements[offset] !== 0;
}

const sizes = (list: Sizes, name: string): Shape =>
  frozen(listOf<number>(list, "Distribution", name).map((size) => count(size, "Distribution", name)));

/** The value, which must be a distribution. */
export function distributionOf<D extends Distribution>(value: D, op: string, name: string): D {
  if (!(value instanceof DistributionClass)) refuse(op, name, "a distribution", value);
  return value;
}

class DistributionClass {
  /** The names of its parameters, in the order in which the constructor takes them. */
  declare readonly params: readonly string[];
  /** Which of them PyTorch prints, if not all of those that were given: it has some in distributions within. */
  declare readonly prints?: readonly string[];
  batch_shape: Shape = [];
  event_shape: Shape = [];
  protected validates: boolean;

  constructor(batch_shape: Sizes = [], event_shape: Sizes = [], validate_args?: Validate) {
    const given = isOptions(validate_args) ? validate_args.validate_args : validate_args;
    this.validates = (given as boolean | null | undefined) ?? checking;
    this.batch_shape = sizes(batch_shape, "batch_shape");
    this.event_shape = sizes(event_shape, "event_shape");
  }
  /** Whether parameters and values are checked where a program does not say. */
  static set_default_validate_args(value: boolean): void {
    if (typeof value !== "boolean")
      throw new TypeMismatchError(`set_default_validate_args: expected true or false, got ${describe(value)}`);
    checking = value;
  }

  /** Sets shapes, and checks the parameters; every constructor ends with it. */
  protected shaped(batch_shape: Sizes, event_shape: Sizes = []): void {
    this.batch_shape = frozen([...batch_shape]);
    this.event_shape = frozen([...event_shape]);
    if (!this.validates) return;
    for (const [name, constraint] of Object.entries(this.arg_constraints)) {
      const value = Object.hasOwn(this, name) ? (this as unknown as Record<string, unknown>)[name] : null;
      if (!(value instanceof Tensor) || is_dependent(constraint)) continue;
      const refusal = (by: unknown, within: unknown): string =>
        `${nameOf(this)}: Expected parameter ${name} (Tensor of shape ${tuple(value.shape)}) of distribution ${by} to satisfy the constraint ${within}, but found invalid values`;
      if (everywhere(constraint.check(value), () => refusal(nameOf(this), constraint.kind)) === false)
        throw new OpError(`${refusal(this, constraint)}:\n${formatted(value)}`);
    }
  }
  /** Checks a value that is asked about. */
  protected checked(value: Tensor): void {
    if (!(value instanceof Tensor))
      throw new TypeMismatchError(
        `${nameOf(this)}: The value argument to log_prob must be a Tensor, got ${describe(value)}`,
      );
    if (!this.validates) return;
    const { shape } = value,
      wanted = [...this.batch_shape, ...this.event_shape],
      n = this.event_shape.length,
      end = shape.slice(Math.max(shape.length - n, 0));
    if (end.length !== n || end.some((s, i) => s !== this.event_shape[i]))
      throw new OpError(
        `${nameOf(this)}: The right-most size of value must match event_shape: ${showSize(shape)} vs ${showSize(this.event_shape)}.`,
      );
    for (let i = 1; i <= Math.min(shape.length, wanted.length); i++) {
      const a = shape[shape.length - i]!,
        b = wanted[wanted.length - i]!;
      if (a !== 1 && b !== 1 && a !== b)
        throw new OpError(
          `${nameOf(this)}: Value is not broadcastable with batch_shape+event_shape: ${showSize(shape)} vs ${showSize(wanted)}.`,
        );
    }
    const { support } = this,
      refusal = (by: unknown, within: unknown): string =>
        `${nameOf(this)}: Expected value argument (Tensor of shape ${tuple(shape)}) to be within the support (${within}) of the distribution ${by}, but found invalid values`;
    if (everywhere(support.check(value), () => refusal(nameOf(this), support.kind)) === false)
      throw new OpError(`${refusal(this, support)}:\n${formatted(value)}`);
  }
  private lacks(what: string): OpError {
    return new OpError(`${nameOf(this)} does not implement ${what}`);
  }

  /** What each parameter must hold. */
  get arg_constraints(): Readonly<Record<string, Constraint>> {
    return {};
  }
  /** Which values there are. */
  get support(): Constraint {
    throw this.lacks("support");
  }
  /** Whether gradients flow through samples. */
  get has_rsample(): boolean {
    return false;
  }
  get has_enumerate_support(): boolean {
    return false;
  }
  get mean(): Tensor {
    throw this.lacks("mean");
  }
  get mode(): Tensor {
    throw this.lacks("mode");
  }
  get variance(): Tensor {
    throw this.lacks("variance");
  }
  get stddev(): Tensor {
    return sqrt(this.variance);
  }
  /** A sample, or as many as `sample_shape` says, without gradients. */
  sample(sample_shape: Sizes = []): Tensor {
    return unrecorded(() => this.rsample(sample_shape).detach());
  }
  /** As `sample`, with gradients of the parameters. */
  rsample(sample_shape: Sizes = []): Tensor {
    void sample_shape;
    throw this.lacks("rsample");
  }
  /** The logarithm of the density, or of the probability, at a value. */
  log_prob(value: Tensor): Tensor {
    void value;
    throw this.lacks("log_prob");
  }
  /** The probability of values up to this one. */
  cdf(value: Tensor): Tensor {
    void value;
    throw this.lacks("cdf");
  }
  /** The value up to which there is this probability. */
  icdf(value: Tensor): Tensor {
    void value;
    throw this.lacks("icdf");
  }
  entropy(): Tensor {
    throw this.lacks("entropy");
  }
  /** @internal How far it is from another one; null where nobody knows. */
  divergence(q: DistributionClass): Tensor | null {
    void q;
    return null;
  }
  /** @internal The same distribution as a more general one. */
  get dense(): DistributionClass {
    return this;
  }
  perplexity(): Tensor {
    return exp(this.entropy());
  }
  /** All values that there are, along a first axis. */
  enumerate_support(expand = true): Tensor {
    void expand;
    throw this.lacks("enumerate_support");
  }
  /** The same distribution with its parameters repeated over a larger batch. */
  expand(batch_shape: Sizes): this {
    const made = this.copied();
    for (const name of Object.keys(this.arg_constraints)) {
      const value = Object.hasOwn(this, name) ? (this as unknown as Record<string, unknown>)[name] : null;
      if (!(value instanceof Tensor)) continue;
      const own = value.shape.slice(Math.min(this.batch_shape.length, value.shape.length));
      Object.assign(made, { [name]: expand(value, [...batch_shape, ...own]) });
    }
    made.batch_shape = frozen([...batch_shape]);
    return made;
  }
  /** Parameters stand before getters of the same name, so are defined, not assigned. */
  protected copied(): this {
    return Object.create(Object.getPrototypeOf(this) as object, Object.getOwnPropertyDescriptors(this)) as this;
  }
  protected extended_shape(sample_shape: Sizes = []): Sizes {
    return [...sample_shape, ...this.batch_shape, ...this.event_shape];
  }
  toString(): string {
    const shown = (this.prints ?? this.params).flatMap((name) => {
      const given = Object.prototype.propertyIsEnumerable.call(this, name),
        value = given ? (this as unknown as Record<string, unknown>)[name] : null;
      if (!(value instanceof Tensor) || !(name in this.arg_constraints)) return [];
      return [`${name}: ${value.numel() === 1 ? formatted(value) : showSize(value.shape)}`];
    });
    return `${nameOf(this)}(${shown.join(", ")})`;
  }
}
/** What distributions answer to, as `callable` takes it. */
const METHODS =
  "log_prob value, cdf value, icdf value, sample sample_shape?, rsample sample_shape?, expand batch_shape, " +
  "enumerate_support expand?, set_default_validate_args value, shaped !, checked !, copied !, lacks !, " +
  "extended_shape !, divergence !, expectations !, drawn !, padded !, places !, log_prob_of !, information !, distance !, volume !, trace !, moved !, back !, turned !";

type Class = abstract new (...args: any) => DistributionClass;
interface Traits {
  prints?: readonly string[];
  support?: Constraint;
  has_rsample?: boolean;
  has_enumerate_support?: boolean;
}

export type Named = Readonly<Record<string, Tensor | number | boolean | null | undefined>>;
/** Parameters by name, alone or after others: `MultivariateNormal(loc, { scale_tril })`. */
export interface ByName<C extends Class> {
  (...args: [...unknown[], Named]): InstanceType<C>;
  new (...args: [...unknown[], Named]): InstanceType<C>;
}

/** Declares a distribution: its parameters as a line, what they must hold, and its traits. */
export function distribution<C extends Class>(
  target: C,
  name: string,
  line: string,
  arg_constraints: Readonly<Record<string, Constraint>>,
  traits: Traits = {},
): Callable<C> & ByName<C> {
  const params = line.split(" ").map((word) => word.replace("?", ""));
  for (const [key, value] of Object.entries({ params, arg_constraints, ...traits })) {
    if (!Object.hasOwn(target.prototype as object, key))
      Object.defineProperty(target.prototype, key, { value, configurable: true });
  }
  return declared(target, name, line) as Callable<C> & ByName<C>;
}
/** The class, which takes the parameters of a line. */
export const declared = <C extends Class>(target: C, name: string, line: string): Callable<C> =>
  callable(target, name, `constructor ${line} validate_args?, ${METHODS}`);

/**
 * A base class to derive from: give it `log_prob`, `rsample` and what else there is.
 *
 * @param batch_shape list of numbers: how many distributions of their own there are, along each axis
 * @param event_shape list of numbers: the shape of one value
 *
 * @example
 * torch.distributions.Normal(torch.zeros([2, 3]), 1) instanceof torch.distributions.Distribution  // true
 */
export const Distribution = /* @__PURE__ */ distribution(
  DistributionClass,
  "Distribution",
  "batch_shape? event_shape?",
  {},
);
export type Distribution = DistributionClass;

export { DistributionClass };
