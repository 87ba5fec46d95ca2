// Optimizers that divide by the size of past gradients: RMSprop, Adagrad, Adadelta.

import { adadelta_stepOp, adagrad_stepOp, rmsprop_momentum_stepOp, rmsprop_stepOp } from "../../ops/optim.js";
import type { Optimizer } from "./optimizer.js";
import { type Momentum, type Kernels, type Shared, must, mustBeRate, mustNotBeNegative } from "./options.js";
import { bothParts, optimizer } from "./recipe.js";

/** What those take that divide by the size of past gradients. */
interface Dividing extends Shared, Kernels {
  /** Added to what is divided by, so that nothing is divided by 0. */
  eps: number;
}
export interface RMSpropOptions extends Dividing, Pick<Momentum, "momentum"> {
  /** How much of the average of squares is kept at each step, from 0 to 1. */
  alpha: number;
  /** Whether the square of the average gradient is taken from the average of squares: the variance is divided by. */
  centered: boolean;
}
/**
 * Steps by the gradient over the root of an average of its square.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.RMSprop([w], { lr: 0.01 }).step();
 * w  // [0.9, -1.9]
 */
export const RMSprop = /* @__PURE__ */ optimizer<RMSpropOptions>({
  name: "RMSprop",
  defaults: {
    lr: 1e-2,
    alpha: 0.99,
    eps: 1e-8,
    weight_decay: 0,
    momentum: 0,
    centered: false,
    capturable: false,
    foreach: null,
    maximize: false,
    differentiable: false,
  },
  check(o) {
    mustBeRate(o.lr);
    mustNotBeNegative(o, {
      eps: "epsilon value",
      momentum: "momentum value",
      weight_decay: "weight_decay value",
      alpha: "alpha value",
    });
  },
  op: (o) => (o.momentum > 0 || o.centered ? rmsprop_momentum_stepOp : rmsprop_stepOp),
  state: {
    square_avg: () => 0,
    grad_avg: (o) => (o.centered ? 0 : null),
    momentum_buffer: (o) => (o.momentum > 0 ? 0 : null),
  },
});
export type RMSprop = Optimizer<RMSpropOptions>;

export interface AdagradOptions extends Dividing {
  /** How fast the learning rate falls: at step `n` it is `lr / (1 + (n - 1) * lr_decay)`. */
  lr_decay: number;
  /** What the sums of squares begin with. */
  initial_accumulator_value: number;
}
/**
 * Steps by the gradient over the root of the sum of its squares.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.Adagrad([w], { lr: 0.1 }).step();
 * w  // [0.9, -1.9]
 */
export const Adagrad = /* @__PURE__ */ optimizer<AdagradOptions>({
  name: "Adagrad",
  defaults: {
    lr: 1e-2,
    lr_decay: 0,
    weight_decay: 0,
    initial_accumulator_value: 0,
    eps: 1e-10,
    foreach: null,
    maximize: false,
    differentiable: false,
    fused: null,
  },
  byName: "maximize",
  check(o) {
    mustBeRate(o.lr);
    mustNotBeNegative(o, {
      lr_decay: "lr_decay value",
      weight_decay: "weight_decay value",
      initial_accumulator_value: "initial_accumulator_value value",
      eps: "epsilon value",
    });
  },
  op: () => adagrad_stepOp,
  state: { sum: ({ initial_accumulator_value }, param) => bothParts(param, initial_accumulator_value) },
  words: ({ lr, lr_decay }, { step }) => ({ rate: lr / (1 + (step - 1) * lr_decay) }),
});
export type Adagrad = Optimizer<AdagradOptions>;

export interface AdadeltaOptions extends Dividing {
  /** How much of the averages of squares is kept at each step, from 0 to 1. */
  rho: number;
}
/**
 * Steps by the gradient over recent squares, without a rate to choose.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.Adadelta([w], { lr: 0.1 }).step();
 * w  // [0.999684, -1.99968]
 */
export const Adadelta = /* @__PURE__ */ optimizer<AdadeltaOptions>({
  name: "Adadelta",
  defaults: {
    lr: 1,
    rho: 0.9,
    eps: 1e-6,
    weight_decay: 0,
    foreach: null,
    capturable: false,
    maximize: false,
    differentiable: false,
  },
  byName: "capturable",
  check(o) {
    mustBeRate(o.lr);
    must(o.rho >= 0 && o.rho <= 1, `Invalid rho value: ${o.rho}`);
    mustNotBeNegative(o, { eps: "epsilon value", weight_decay: "weight_decay value" });
  },
  op: () => adadelta_stepOp,
  state: { square_avg: () => 0, acc_delta: () => 0 },
});
export type Adadelta = Optimizer<AdadeltaOptions>;
