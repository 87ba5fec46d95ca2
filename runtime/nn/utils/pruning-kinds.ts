// The pruning methods that torch.nn.utils.prune has: by absolute value, by the norm of slices, at random, by a mask.

import { nameOf } from "../../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { refuse } from "../../base/argument-kinds.js";
import { callable } from "../../base/callable.js";
import { taken } from "../../base/named-arguments.js";
import { sameShape, showShape } from "../../base/shape.js";
import { zeros } from "../../creation/create.js";
import { rand } from "../../creation/random-tensors.js";
import { matrix_norm } from "../../composite/matrix-norms.js";
import { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import { vector_norm } from "../../../names/linalg.js";
import { abs, any, mul, ne, scatter, topk, where } from "../../../names/torch.js";
import type { Module } from "../module.js";
import { elementsLeft, isWhole, slicesLeft, withElements, withSlices } from "./pruning-masks.js";
import { BasePruningMethod, type PruningContainer, apply, axisFor, typed } from "./pruning-methods.js";

/** An amount of elements or slices: a part from 0 up to 1, or a whole number of them. */
function amountOf(amount: unknown): number {
  if (typeof amount !== "number")
    throw new TypeMismatchError(`Invalid type for amount: ${describe(amount)}. Must be number.`);
  if (!(amount >= 0) || (!Number.isInteger(amount) && amount > 1))
    throw new OpError(`amount=${amount} should either be a float in the range [0, 1] or a non-negative integer`);
  return amount;
}
/** How many of `n` an amount is. */
function counted(amount: number, n: number): number {
  if (Number.isInteger(amount)) {
    if (amount <= n) return amount;
    throw new OpError(`amount=${amount} should be smaller than the number of parameters to prune=${n}`);
  }
  const share = n * amount;
  // Python rounds halves to even.
  return share % 1 === 0.5 ? 2 * Math.round(share / 2) : Math.round(share);
}
type Applied<T> = T | PruningContainer;
type Scores = Tensor | null;

/** Methods that zero single elements, those of least importance. */
abstract class Unstructured extends BasePruningMethod {
  static override PRUNING_TYPE = "unstructured" as const;
  readonly amount: number;
  constructor(amount: number) {
    super();
    this.amount = amountOf(amount);
  }
  protected abstract importance(t: Tensor): Tensor;
  override compute_mask(t: Tensor, default_mask: Tensor): Tensor {
    if (isWhole(default_mask)) return this.joined_mask(t, default_mask);
    return this.without(default_mask, this.importance(t), counted(this.amount, t.numel()));
  }
  override joined_mask(t: Tensor, mask: Tensor): Tensor {
    const n = elementsLeft(nameOf(this), mask),
      k = counted(this.amount, n),
      free = where(ne(mask, 0) as Tensor, this.importance(t), Infinity) as Tensor;
    return withElements(this.without(mask, free, k), n - k);
  }
  private without(mask: Tensor, importance: Tensor, k: number): Tensor {
    if (k === 0) return mask;
    const { indices } = topk(views.reshape(importance, [-1]), k, { largest: false });
    return views.reshape(scatter(views.reshape(mask, [-1]), 0, indices, 0) as Tensor, mask.shape);
  }
}

class L1UnstructuredClass extends Unstructured {
  protected override importance(t: Tensor): Tensor {
    return abs(t) as Tensor;
  }
  static override apply(...args: [Module, string, ...unknown[]]): Applied<L1UnstructuredClass> {
    const [module, name, amount, scores] = taken("L1Unstructured.apply module name amount importance_scores?", args);
    return apply(L1Unstructured, module as Module, name as string, [amount], scores as Scores);
  }
}
class RandomUnstructuredClass extends Unstructured {
  protected override importance({ shape, device }: Tensor): Tensor {
    return rand(shape, { device });
  }
  static override apply(...args: [Module, string, ...unknown[]]): Applied<RandomUnstructuredClass> {
    const [module, name, amount] = taken("RandomUnstructured.apply module name amount", args);
    return apply(RandomUnstructured, module as Module, name as string, [amount]);
  }
}

/** Methods that zero whole slices along `dim`, those of least importance. */
abstract class Structured extends BasePruningMethod {
  static override PRUNING_TYPE = "structured" as const;
  readonly amount: number;
  override readonly dim: number;
  constructor(amount: number, dim = -1) {
    super();
    this.amount = amountOf(amount);
    this.dim = dim;
  }
  /** A number for each slice along an axis. */
  protected abstract importance(t: Tensor, axis: number): Tensor;
  override compute_mask(t: Tensor, default_mask: Tensor): Tensor {
    if (isWhole(default_mask)) return this.joined_mask(t, default_mask);
    const axis = this.axis(t),
      n = t.shape[axis]!;
    return this.largest(default_mask, axis, this.importance(t, axis), n, counted(this.amount, n));
  }
  override joined_mask(t: Tensor, mask: Tensor): Tensor {
    const axis = this.axis(t),
      others = t.shape.flatMap((_, i) => (i === axis ? [] : [i])),
      n = slicesLeft(nameOf(this), mask, axis),
      k = counted(this.amount, n),
      free = where(any(ne(mask, 0) as Tensor, others) as Tensor, this.importance(t, axis), -Infinity) as Tensor;
    return withSlices(this.largest(mask, axis, free, n, k), mask, axis, n - k);
  }
  private axis(t: Tensor): number {
    if (t.ndim <= 1)
      throw new OpError(
        `Structured pruning can only be applied to multidimensional tensors. Found tensor of shape ${showShape(t.shape)} with ${t.ndim} dims`,
      );
    return axisFor(t, this.dim);
  }
  /** The mask on all but `k` of `n` slices. */
  private largest(mask: Tensor, axis: number, importance: Tensor, n: number, k: number): Tensor {
    if (k === 0) return mask;
    const { shape, dtype, device } = mask,
      size = shape[axis]!,
      { indices } = topk(importance, n - k),
      kept = scatter(zeros([size], { dtype, device }), 0, indices, 1) as Tensor;
    return mul(
      mask,
      views.reshape(
        kept,
        shape.map((_, i) => (i === axis ? size : 1)),
      ),
    ) as Tensor;
  }
}

class LnStructuredClass extends Structured {
  readonly n: number | "fro" | "nuc";
  constructor(amount: number, n: number | "fro" | "nuc", dim = -1) {
    super(amount, dim);
    if (typeof n !== "number" && n !== "fro" && n !== "nuc") refuse("LnStructured", "n", "a number, 'fro' or 'nuc'", n);
    this.n = n;
  }
  protected override importance(t: Tensor, axis: number): Tensor {
    const dims = t.shape.flatMap((_, i) => (i === axis ? [] : [i])),
      { n } = this;
    if (n === "nuc" || (n === "fro" && dims.length === 2)) return matrix_norm(t, n, dims as [number, number]);
    return vector_norm(t, n === "fro" ? 2 : n, dims) as Tensor;
  }
  static override apply(...args: [Module, string, ...unknown[]]): Applied<LnStructuredClass> {
    const [module, name, amount, n, dim, scores] = taken(
      "LnStructured.apply module name amount n dim importance_scores?",
      args,
    );
    return apply(LnStructured, module as Module, name as string, [amount, n, dim], scores as Scores);
  }
}
class RandomStructuredClass extends Structured {
  protected override importance({ shape, device }: Tensor, axis: number): Tensor {
    return rand([shape[axis]!], { device });
  }
  static override apply(...args: [Module, string, ...unknown[]]): Applied<RandomStructuredClass> {
    const [module, name, amount, dim = -1] = taken("RandomStructured.apply module name amount dim?", args);
    return apply(RandomStructured, module as Module, name as string, [amount, dim]);
  }
}

class IdentityClass extends BasePruningMethod {
  static override PRUNING_TYPE = "unstructured" as const;
  override compute_mask(_t: Tensor, default_mask: Tensor): Tensor {
    return default_mask;
  }
  override joined_mask(_t: Tensor, mask: Tensor): Tensor {
    return mask;
  }
  static override apply(...args: [Module, string, ...unknown[]]): Applied<IdentityClass> {
    const [module, name] = taken("Identity.apply module name", args);
    return apply(Identity, module as Module, name as string, []);
  }
}
class CustomFromMaskClass extends BasePruningMethod {
  static override PRUNING_TYPE = "global" as const;
  readonly mask: Tensor;
  constructor(mask: Tensor) {
    super();
    if (!(mask instanceof Tensor)) refuse("CustomFromMask", "mask", "a Tensor", mask);
    this.mask = mask;
  }
  override compute_mask(_t: Tensor, default_mask: Tensor): Tensor {
    if (!sameShape(default_mask.shape, this.mask.shape))
      throw new OpError(
        `CustomFromMask: default_mask shape ${showShape(default_mask.shape)} must match mask shape ${showShape(this.mask.shape)}`,
      );
    return mul(default_mask, typed(this.mask, default_mask)) as Tensor;
  }
  override joined_mask(t: Tensor, mask: Tensor): Tensor {
    return this.compute_mask(t, mask);
  }
  static override apply(...args: [Module, string, ...unknown[]]): Applied<CustomFromMaskClass> {
    const [module, name, mask] = taken("CustomFromMask.apply module name mask", args);
    return apply(CustomFromMask, module as Module, name as string, [mask]);
  }
}

/**
 * Zeroes the elements of least absolute value.
 *
 * @param amount a part of the elements, from 0 to 1, or a whole number of them
 *
 * @example
 * torch.nn.utils.prune.L1Unstructured(2).prune(torch.tensor([1, -4, 0.5, 3]))  // [0, -4, 0, 3]
 */
export const L1Unstructured = /* @__PURE__ */ callable(
  L1UnstructuredClass,
  "L1Unstructured",
  "constructor amount, importance !, apply !",
);
/**
 * Zeroes elements at random.
 *
 * @param amount a part of the elements, from 0 to 1, or a whole number of them
 *
 * @example
 * torch.nn.utils.prune.RandomUnstructured(2).prune(torch.ones([5])).sum()  // 3
 */
export const RandomUnstructured = /* @__PURE__ */ callable(
  RandomUnstructuredClass,
  "RandomUnstructured",
  "constructor amount, importance !, apply !",
);
/**
 * Zeroes the slices along `dim` of the least norm of order `n`.
 *
 * @param amount a part of the slices, from 0 to 1, or a whole number of them
 * @param n which norm: 2 adds squares, "fro" and "nuc" are those of matrices
 * @param dim along which axis the slices lie, default -1
 *
 * @example
 * torch.nn.utils.prune.LnStructured(1, 2, 0).prune(torch.tensor([[1, -4], [0.5, 3]]))  // [[1, -4], [0, 0]]
 */
export const LnStructured = /* @__PURE__ */ callable(
  LnStructuredClass,
  "LnStructured",
  "constructor amount n dim?, importance !, apply !",
);
/**
 * Zeroes slices along `dim` at random.
 *
 * @param amount a part of the slices, from 0 to 1, or a whole number of them
 * @param dim along which axis the slices lie, default -1
 *
 * @example
 * torch.nn.utils.prune.RandomStructured(1, 0).prune(torch.ones([3, 2])).sum()  // 4
 */
export const RandomStructured = /* @__PURE__ */ callable(
  RandomStructuredClass,
  "RandomStructured",
  "constructor amount dim?, importance !, apply !",
);
/**
 * Zeroes nothing: the parameter gets a mask of ones.
 *
 * @example
 * torch.nn.utils.prune.Identity().prune(torch.tensor([1, 2]))  // [1, 2]
 */
export const Identity = /* @__PURE__ */ callable(
  IdentityClass,
  "Identity",
  "constructor, compute_mask t default_mask, joined_mask t mask, apply !",
);
/**
 * Zeroes what a mask does.
 *
 * @param mask in the parameter's shape, 0 where it is zeroed
 *
 * @example
 * torch.nn.utils.prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.tensor([3, 4]))  // [3, 0]
 */
export const CustomFromMask = /* @__PURE__ */ callable(
  CustomFromMaskClass,
  "CustomFromMask",
  "constructor mask, compute_mask t default_mask, joined_mask t mask, apply !",
);
