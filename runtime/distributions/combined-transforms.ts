// Transforms made of transforms: one after another, side by side, over other shapes.

import { listOf, integer } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { cat, stack } from "../functions/join.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  type Value,
  add,
  count,
  mul,
  narrow,
  reshape,
  select,
  sum_rightmost,
  zeros_like,
} from "./arithmetic.js";
import {
  type Constraint,
  cat as joined_constraint,
  independent,
  real,
  stack as stacked_constraint,
} from "./constraints/constraints.js";
import { type Cache, type Transform, TransformClass, transform, transformOf } from "./transform.js";

const listed = (list: unknown, op: string, name: string): Transform[] =>
  listOf<Transform>(list, op, name, "a list of transforms").map((t) => transformOf(t, op, name));
/** A constraint over so many last axes. */
const over = (constraint: Constraint, dims: number): Constraint =>
  dims > constraint.event_dim ? independent(constraint, dims - constraint.event_dim) : constraint;

class ComposeClass extends TransformClass {
  readonly parts: readonly Transform[];
  constructor(parts: readonly Transform[], cache_size?: Cache) {
    super(cache_size);
    const all = listed(parts, "ComposeTransform", "parts");
    // Its inverse is one of its parts' inverses, which find what they remember.
    this.parts = this.cache_size ? all.map((part) => part.with_cache(1)) : all;
  }
  override with_cache(cache_size: 0 | 1 = 1): this {
    return cache_size === this.cache_size ? this : (new ComposeClass(this.parts, cache_size) as this);
  }
  /** How many last axes one value has before and behind all of them. */
  private get event_dims(): readonly [before: number, behind: number] {
    const step = ({ domain, codomain }: Transform): number => codomain.event_dim - domain.event_dim;
    let before = 0,
      sofar = 0;
    for (const part of this.parts) {
      before = Math.max(before, part.domain.event_dim - sofar);
      sofar += step(part);
    }
    return [before, before + sofar];
  }
  override get domain(): Constraint {
    return over(this.parts[0]?.domain ?? real, this.event_dims[0]);
  }
  override get codomain(): Constraint {
    return over(this.parts[this.parts.length - 1]?.codomain ?? real, this.event_dims[1]);
  }
  override get bijective(): boolean {
    return this.parts.every((part) => part.bijective);
  }
  override get sign(): Value {
    return this.parts.reduce<Value>((sign, part) => times(sign, part.sign), 1);
  }
  override get inv(): Transform {
    return new ComposeClass(this.parts.map((part) => part.inv).reverse());
  }
  override _call(x: Tensor): Tensor {
    return this.parts.reduce((value, part) => part(value), x);
  }
  override _inverse(y: Tensor): Tensor {
    return this.parts.reduceRight((value, part) => part.inv(value), y);
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    let dims = this.event_dims[0],
      total: Tensor | null = null;
    for (const part of this.parts) {
      const y = part(x),
        each = sum_rightmost(part.log_abs_det_jacobian(x, y), dims - part.domain.event_dim);
      total = total ? add(total, each) : each;
      dims += part.codomain.event_dim - part.domain.event_dim;
      x = y;
    }
    return total ?? zeros_like(x);
  }
  override forward_shape(shape: Sizes): Sizes {
    return this.parts.reduce((sizes, part) => part.forward_shape(sizes), shape);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return this.parts.reduceRight((sizes, part) => part.inverse_shape(sizes), shape);
  }
  override toString(): string {
    return `ComposeTransform(\n    ${this.parts.join(",\n    ")}\n)`;
  }
}
const times = (a: Value, b: Value): Value => (typeof a === "number" && typeof b === "number" ? a * b : mul(a, b));
/**
 * One transform after another.
 *
 * @param parts transforms, the first of which comes first
 *
 * @example
 * const { AffineTransform, ComposeTransform, ExpTransform } = torch.distributions.transforms;
 * ComposeTransform([AffineTransform(0, 2), ExpTransform()])(torch.tensor([0]))  // [1]
 */
export const ComposeTransform = /* @__PURE__ */ transform(ComposeClass, "ComposeTransform", "parts");
export type ComposeTransform = ComposeClass;

/**
 * Every value as it is.
 *
 * @example
 * torch.distributions.transforms.identity_transform(torch.tensor([1, 2]))  // [1, 2]
 */
export const identity_transform: ComposeTransform = /* @__PURE__ */ ComposeTransform([]);

class IndependentTransformClass extends TransformClass {
  readonly base_transform: Transform;
  readonly reinterpreted_batch_ndims: number;
  constructor(base_transform: Transform, reinterpreted_batch_ndims: number, cache_size?: Cache) {
    super(cache_size);
    this.base_transform = transformOf(base_transform, "IndependentTransform", "base_transform");
    this.reinterpreted_batch_ndims = integer(
      reinterpreted_batch_ndims,
      "IndependentTransform",
      "reinterpreted_batch_ndims",
    );
  }
  override get domain(): Constraint {
    return independent(this.base_transform.domain, this.reinterpreted_batch_ndims);
  }
  override get codomain(): Constraint {
    return independent(this.base_transform.codomain, this.reinterpreted_batch_ndims);
  }
  override get bijective(): boolean {
    return this.base_transform.bijective;
  }
  override get sign(): Value {
    return this.base_transform.sign;
  }
  override _call(x: Tensor): Tensor {
    return this.base_transform(x);
  }
  override _inverse(y: Tensor): Tensor {
    return this.base_transform.inv(y);
  }
  override log_abs_det_jacobian(x: Tensor, y: Tensor): Tensor {
    return sum_rightmost(this.base_transform.log_abs_det_jacobian(x, y), this.reinterpreted_batch_ndims);
  }
  override forward_shape(shape: Sizes): Sizes {
    return this.base_transform.forward_shape(shape);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return this.base_transform.inverse_shape(shape);
  }
  override toString(): string {
    return `IndependentTransform(${this.base_transform}, ${this.reinterpreted_batch_ndims})`;
  }
}
/**
 * The same, of which so many more of the last axes count as one value.
 *
 * @param base_transform transform of values of fewer axes
 * @param reinterpreted_batch_ndims how many axes more a value has
 *
 * @example
 * const { ExpTransform, IndependentTransform } = torch.distributions.transforms;
 * const x = torch.tensor([[1, 2], [3, 4]]);
 * IndependentTransform(ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())  // [3, 7]
 */
export const IndependentTransform = /* @__PURE__ */ transform(
  IndependentTransformClass,
  "IndependentTransform",
  "base_transform reinterpreted_batch_ndims",
);
export type IndependentTransform = IndependentTransformClass;

const sizesOf = (shape: unknown, name: string): Sizes =>
  listOf(shape, "ReshapeTransform", name, "a list of sizes").map((n) => integer(n, "ReshapeTransform", name));

class ReshapeClass extends TransformClass {
  readonly in_shape: Sizes;
  readonly out_shape: Sizes;
  constructor(in_shape: Sizes, out_shape: Sizes, cache_size?: Cache) {
    super(cache_size);
    this.in_shape = sizesOf(in_shape, "in_shape");
    this.out_shape = sizesOf(out_shape, "out_shape");
    if (count(this.in_shape) !== count(this.out_shape))
      throw new OpError("ReshapeTransform: in_shape, out_shape have different numbers of elements");
  }
  override get domain(): Constraint {
    return over(real, this.in_shape.length);
  }
  override get codomain(): Constraint {
    return over(real, this.out_shape.length);
  }
  override _call(x: Tensor): Tensor {
    return reshape(x, [...this.forward_shape(x.shape)]);
  }
  override _inverse(y: Tensor): Tensor {
    return reshape(y, [...this.inverse_shape(y.shape)]);
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    let one = zeros_like(x);
    for (const _ of this.in_shape) one = select(one, -1, 0);
    return one;
  }
  override forward_shape(shape: Sizes): Sizes {
    return this.exchanged(shape, this.in_shape, this.out_shape);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return this.exchanged(shape, this.out_shape, this.in_shape);
  }
  private exchanged(shape: Sizes, from: Sizes, to: Sizes): Sizes {
    const at = shape.length - from.length;
    if (at < 0 || from.some((size, i) => size !== shape[at + i]))
      throw new OpError(
        `ReshapeTransform: Shape mismatch: expected [${shape.slice(Math.max(at, 0))}] but got [${from}]`,
      );
    return [...shape.slice(0, at), ...to];
  }
}
/**
 * The same numbers in another shape.
 *
 * @param in_shape the shape of a value
 * @param out_shape the shape that it gets
 *
 * @example
 * torch.distributions.transforms.ReshapeTransform([4], [2, 2])(torch.tensor([1, 2, 3, 4]))  // [[1, 2], [3, 4]]
 */
export const ReshapeTransform = /* @__PURE__ */ transform(ReshapeClass, "ReshapeTransform", "in_shape out_shape", {
  bijective: true,
});
export type ReshapeTransform = ReshapeClass;

/** Several transforms along an axis, each for its part of it. */
abstract class BesideClass extends TransformClass {
  readonly transforms: readonly Transform[];
  readonly dim: number;
  constructor(tseq: readonly Transform[], dim: number, cache_size: Cache | undefined, op: string) {
    super(cache_size);
    this.transforms = listed(tseq, op, "tseq");
    this.dim = dim;
  }
  /** The parts of a value, and the parts put together. */
  abstract parted(x: Tensor): Tensor[];
  abstract joined(parts: Tensor[]): Tensor;
  override get bijective(): boolean {
    return this.transforms.every((t) => t.bijective);
  }
  override _call(x: Tensor): Tensor {
    return this.joined(this.parted(x).map((part, i) => this.transforms[i]!(part)));
  }
  override _inverse(y: Tensor): Tensor {
    return this.joined(this.parted(y).map((part, i) => this.transforms[i]!.inv(part)));
  }
  override log_abs_det_jacobian(x: Tensor, y: Tensor): Tensor {
    const images = this.parted(y);
    return this.joined(this.parted(x).map((part, i) => this.transforms[i]!.log_abs_det_jacobian(part, images[i]!)));
  }
}

class CatClass extends BesideClass {
  readonly lengths: readonly number[];
  constructor(tseq: readonly Transform[], dim = 0, lengths?: readonly number[] | null, cache_size?: Cache) {
    super(tseq, dim, cache_size, "CatTransform");
    this.lengths = lengths ?? this.transforms.map(() => 1);
  }
  override get domain(): Constraint {
    return joined_constraint(
      this.transforms.map((t) => t.domain),
      this.dim,
      this.lengths,
    );
  }
  override get codomain(): Constraint {
    return joined_constraint(
      this.transforms.map((t) => t.codomain),
      this.dim,
      this.lengths,
    );
  }
  parted(x: Tensor): Tensor[] {
    let start = 0;
    return this.lengths.map((n) => narrow(x, this.dim, (start += n) - n, n));
  }
  joined(parts: Tensor[]): Tensor {
    return cat(parts, this.dim);
  }
}
/**
 * Each transform takes so much of an axis as `lengths` says.
 *
 * @param tseq transforms, one for each part
 * @param dim the axis; 0 unless given
 * @param lengths how long each part is; 1 unless given
 *
 * @example
 * const { CatTransform, ExpTransform, identity_transform } = torch.distributions.transforms;
 * CatTransform([identity_transform, ExpTransform()], { lengths: [2, 1] })(torch.tensor([1, 2, 0]))  // [1, 2, 1]
 */
export const CatTransform = /* @__PURE__ */ transform(CatClass, "CatTransform", "tseq dim? lengths?");
export type CatTransform = CatClass;

class StackClass extends BesideClass {
  constructor(tseq: readonly Transform[], dim = 0, cache_size?: Cache) {
    super(tseq, dim, cache_size, "StackTransform");
  }
  override get domain(): Constraint {
    return stacked_constraint(
      this.transforms.map((t) => t.domain),
      this.dim,
    );
  }
  override get codomain(): Constraint {
    return stacked_constraint(
      this.transforms.map((t) => t.codomain),
      this.dim,
    );
  }
  parted(x: Tensor): Tensor[] {
    return this.transforms.map((_, i) => select(x, this.dim, i));
  }
  joined(parts: Tensor[]): Tensor {
    return stack(parts, this.dim);
  }
}
/**
 * Each transform takes one place of an axis.
 *
 * @param tseq transforms, one for each place
 * @param dim the axis; 0 unless given
 *
 * @example
 * const { ExpTransform, StackTransform, identity_transform } = torch.distributions.transforms;
 * StackTransform([identity_transform, ExpTransform()])(torch.tensor([5, 0]))  // [5, 1]
 */
export const StackTransform = /* @__PURE__ */ transform(StackClass, "StackTransform", "tseq dim?");
export type StackTransform = StackClass;
