// torch.distributions.transforms.Transform: an invertible map of values, and how much it stretches them.

import { nameOf } from "../base/class-name.js";
import { type Callable, callable } from "../base/callable.js";
import { refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { type Sizes, type Value, neg } from "./arithmetic.js";
import type { Constraint } from "./constraints/constraints.js";

export interface TransformOptions {
  /** 1: the last value and what became of it are remembered, so that going back gives it as it was. */
  cache_size?: 0 | 1;
}
export type Cache = 0 | 1 | TransformOptions;

export interface TransformClass {
  /** Of each value its image. */
  (x: Tensor): Tensor;
}

export class TransformClass {
  declare private remembered: readonly [x: Tensor, y: Tensor] | null;
  declare protected readonly cache_size: number;

  constructor(cache_size: Cache = 0) {
    // An instance is a function that has the class as its prototype, so that it can be called.
    const self = ((...args: unknown[]) => self.applied(tensorOf(self, args))) as unknown as TransformClass;
    Object.setPrototypeOf(self, new.target.prototype as object);
    delete (self as { name?: unknown }).name;
    delete (self as { length?: unknown }).length;
    const size = (isOptions(cache_size) ? cache_size.cache_size : cache_size) ?? 0;
    if (size !== 0 && size !== 1) throw new OpError("Transform: cache_size must be 0 or 1");
    Object.defineProperty(self, "cache_size", { value: size });
    Object.defineProperty(self, "remembered", { value: null, writable: true });
    return self;
  }
  /** Whether each value of the codomain has one value that becomes it. */
  get bijective(): boolean {
    return false;
  }
  /** Where values come from, and where they go. */
  get domain(): Constraint {
    throw this.lacks("domain");
  }
  get codomain(): Constraint {
    throw this.lacks("codomain");
  }
  /** How many axes of an event it takes and answers, where these are as many. */
  get event_dim(): number {
    if (this.domain.event_dim !== this.codomain.event_dim)
      throw new OpError("Please use either .domain.event_dim or .codomain.event_dim");
    return this.domain.event_dim;
  }
  /** 1 where larger values become larger, -1 where they become smaller. */
  get sign(): Value {
    throw this.lacks("sign");
  }
  _call(x: Tensor): Tensor {
    void x;
    throw this.lacks("_call");
  }
  _inverse(y: Tensor): Tensor {
    void y;
    throw this.lacks("_inverse");
  }
  /** The logarithm of the size of the derivative, or of its determinant where values are vectors. */
  log_abs_det_jacobian(x: Tensor, y: Tensor): Tensor {
    void [x, y];
    throw this.lacks("log_abs_det_jacobian");
  }
  /** The shape of what becomes of values of a shape, and the other way. */
  forward_shape(shape: Sizes): Sizes {
    return shape;
  }
  inverse_shape(shape: Sizes): Sizes {
    return shape;
  }
  /** The way back, as a transform. */
  get inv(): TransformClass {
    return new InverseTransform(this);
  }
  /** The same transform, which remembers the last value or does not. */
  with_cache(cache_size: 0 | 1 = 1): this {
    if (cache_size === this.cache_size) return this;
    const made = new TransformClass(cache_size) as this;
    Object.setPrototypeOf(made, Object.getPrototypeOf(this) as object);
    for (const key of Object.keys(this)) Object.assign(made, { [key]: (this as Record<string, unknown>)[key] });
    return made;
  }
  /** Whether another transform does the same. */
  equals(other: unknown): boolean {
    if (!(other instanceof TransformClass) || other.constructor !== this.constructor) return false;
    const [own, others] = [this, other].map((t) => Object.entries(t as unknown as Record<string, unknown>));
    return (
      own!.length === others!.length &&
      own!.every(([key, value], i) => others![i]![0] === key && same(value, others![i]![1]))
    );
  }
  /** @internal With what is remembered, forward and back. */
  applied(x: Tensor): Tensor {
    if (this.remembered?.[0] === x) return this.remembered[1];
    const y = this._call(x);
    if (this.cache_size) this.remembered = [x, y];
    return y;
  }
  /** @internal */
  reversed(y: Tensor): Tensor {
    if (this.remembered?.[1] === y) return this.remembered[0];
    const x = this._inverse(y);
    if (this.cache_size) this.remembered = [x, y];
    return x;
  }
  toString(): string {
    return `${nameOf(this)}()`;
  }
  private lacks(what: string): OpError {
    return new OpError(`${nameOf(this)} does not implement ${what}`);
  }
}

/** Whether parameters of transforms are the same: numbers, tensors themselves, transforms, and lists of those. */
function same(a: unknown, b: unknown): boolean {
  if (a instanceof TransformClass) return a.equals(b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((x, i) => same(x, b[i]));
  return Object.is(a, b);
}

function tensorOf(self: TransformClass, args: readonly unknown[]): Tensor {
  const { name } = self.constructor,
    [x] = taken(`${name} x`, args);
  if (!(x instanceof Tensor)) refuse(name, "x", "a tensor", x);
  return x;
}

/** What transforms answer to, as `callable` takes it. */
const METHODS =
  "_call x, _inverse y, log_abs_det_jacobian x y, forward_shape shape, inverse_shape shape, with_cache cache_size?, " +
  "equals other, applied !, reversed !, lacks !, exchanged !, parted !, joined !";

type Class = abstract new (...args: any) => TransformClass;
/** Declares a transform: what it takes as a line, and what there is to say of it once. */
export function transform<C extends Class>(
  target: C,
  name: string,
  line: string,
  traits: { bijective?: boolean; domain?: Constraint; codomain?: Constraint; sign?: number } = {},
): Callable<C> {
  for (const [key, value] of Object.entries(traits))
    Object.defineProperty(target.prototype, key, { value, configurable: true });
  return callable(target, name, `constructor ${`${line} cache_size?`.trim()}, ${METHODS}`);
}

class InverseTransform extends TransformClass {
  readonly #forward: TransformClass;
  constructor(forward: TransformClass) {
    super();
    this.#forward = forward;
  }
  override get domain(): Constraint {
    return this.#forward.codomain;
  }
  override get codomain(): Constraint {
    return this.#forward.domain;
  }
  override get bijective(): boolean {
    return this.#forward.bijective;
  }
  override get sign(): Value {
    return this.#forward.sign;
  }
  override get inv(): TransformClass {
    return this.#forward;
  }
  override with_cache(cache_size: 0 | 1 = 1): this {
    return this.#forward.with_cache(cache_size).inv as this;
  }
  override equals(other: unknown): boolean {
    return other instanceof InverseTransform && this.#forward.equals(other.#forward);
  }
  override applied(x: Tensor): Tensor {
    return this.#forward.reversed(x);
  }
  override reversed(y: Tensor): Tensor {
    return this.#forward.applied(y);
  }
  override log_abs_det_jacobian(x: Tensor, y: Tensor): Tensor {
    return neg(this.#forward.log_abs_det_jacobian(y, x));
  }
  override forward_shape(shape: Sizes): Sizes {
    return this.#forward.inverse_shape(shape);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return this.#forward.forward_shape(shape);
  }
  override toString(): string {
    return `_InverseTransform(${this.#forward})`;
  }
}

/**
 * A base class to derive from: give it `_call`, `_inverse`, `log_abs_det_jacobian`, `domain` and `codomain`.
 *
 * @example
 * torch.distributions.transforms.ExpTransform() instanceof torch.distributions.transforms.Transform  // true
 */
export const Transform = /* @__PURE__ */ transform(TransformClass, "Transform", "");
export type Transform = TransformClass;

/** The value, which must be a transform. */
export function transformOf(value: unknown, op: string, name: string): Transform {
  if (!(value instanceof TransformClass)) refuse(op, name, "a transform", value);
  return value;
}
