// Modules that only see their input in another shape.

import { integer } from "../../base/argument-kinds.js";
import { integers } from "../../base/shape.js";
import { flatten, unflatten } from "../../functions/tensor-functions.js";
import type { Tensor } from "../../tensor/tensor.js";
import { callable } from "../../base/callable.js";
import { Module } from "../module.js";
import { construct, type Arguments } from "../options.js";

class IdentityClass extends Module {
  /** Gives its input; takes any arguments, and heeds none. */
  constructor(..._args: unknown[]) {
    super();
  }
  override forward(input: Tensor): Tensor {
    return input;
  }
}
/**
 * @param _args taken and not looked at
 *
 * @example
 * torch.nn.Identity()(torch.tensor([1, 2]))  // [1, 2]
 */
export const Identity = /* @__PURE__ */ callable(IdentityClass, "Identity", "forward input");
export type Identity = IdentityClass;

class FlattenClass extends Module {
  readonly start_dim: number;
  readonly end_dim: number;

  /** Axes `start_dim` to `end_dim` as one. */
  constructor(
    ...args: Arguments<[], [start_dim: number, end_dim: number], { start_dim?: number; end_dim?: number }, object>
  ) {
    super();
    ({ start_dim: this.start_dim, end_dim: this.end_dim } = construct("Flatten", { start_dim: 1, end_dim: -1 }, args));
  }
  override forward(input: Tensor): Tensor {
    return flatten(input, this.start_dim, this.end_dim);
  }
  override extra_repr(): string {
    return `start_dim=${this.start_dim}, end_dim=${this.end_dim}`;
  }
}
/**
 * @param start_dim the first of the axes that become one
 * @param end_dim the last of them
 *
 * @example
 * torch.nn.Flatten()(torch.ones([2, 3, 4])).shape  // [2, 12]
 */
export const Flatten = /* @__PURE__ */ callable(FlattenClass, "Flatten", "forward input");
export type Flatten = FlattenClass;

class UnflattenClass extends Module {
  readonly dim: number;
  readonly unflattened_size: readonly number[];

  /** Axis `dim` as several, of the sizes given. */
  constructor(dim: number, unflattened_size: readonly number[]) {
    super();
    this.dim = integer(dim, "Unflatten", "dim");
    this.unflattened_size = integers([unflattened_size], "Unflatten", "unflattened_size");
  }
  override forward(input: Tensor): Tensor {
    return unflatten(input, this.dim, [...this.unflattened_size]);
  }
  override extra_repr(): string {
    return `dim=${this.dim}, unflattened_size=(${this.unflattened_size.join(", ")})`;
  }
}
/**
 * @param dim the axis that becomes several
 * @param unflattened_size their sizes
 *
 * @example
 * torch.nn.Unflatten(1, [2, 2])(torch.tensor([[1, 2, 3, 4]]))  // [[[1, 2], [3, 4]]]
 */
export const Unflatten = /* @__PURE__ */ callable(
  UnflattenClass,
  "Unflatten",
  "constructor dim unflattened_size, forward input",
);
export type Unflatten = UnflattenClass;
