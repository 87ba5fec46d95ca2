// Optimizers that follow the gradient itself: SGD, its average (ASGD), its sign (Rprop).

import { asgd_stepOp, rprop_stepOp, sgd_momentum_stepOp, sgd_stepOp } from "../../ops/optim.js";
import { describe } from "../base/errors.js";
import { type Momentum, type Kernels, type Rate, type Shared, must, mustBeRate, mustNotBeNegative } from "./options.js";
import { type Plain, bothParts, optimizer } from "./recipe.js";
import type { Optimizer } from "./optimizer.js";

export interface SGDOptions extends Shared, Momentum, Kernels {
  /** How much of the gradient is left out of the momentum, from 0 to 1. */
  dampening: number;
}
/**
 * Steps along the gradient, with momentum if one likes.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.SGD([w], { lr: 0.1 }).step();
 * w  // [0.8, -1.6]
 */
export const SGD = /* @__PURE__ */ optimizer<SGDOptions>({
  name: "SGD",
  defaults: {
    lr: 1e-3,
    momentum: 0,
    dampening: 0,
    weight_decay: 0,
    nesterov: false,
    maximize: false,
    foreach: null,
    differentiable: false,
    fused: null,
  },
  byName: "maximize",
  check(o) {
    mustBeRate(o.lr);
    mustNotBeNegative(o, { momentum: "momentum value", weight_decay: "weight_decay value" });
    must(
      !o.nesterov || (o.momentum > 0 && o.dampening === 0),
      "Nesterov momentum requires a momentum and zero dampening",
    );
  },
  op: (o) => (o.momentum ? sgd_momentum_stepOp : sgd_stepOp),
  state: { momentum_buffer: (o) => (o.momentum ? 0 : null) },
  words: (o, _numbers, _param, first) => ({ first }),
});
export type SGD = Optimizer<SGDOptions>;

export interface ASGDOptions extends Shared, Kernels {
  /** How strongly parameters and the learning rate shrink with the number of steps. */
  lambd: number;
  /** The power with which the learning rate falls. */
  alpha: number;
  /** At which step averaging begins. */
  t0: number;
}
const isPair = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every((v) => typeof v === "number");
/**
 * Steps along the gradient, and an average of where they led.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.ASGD([w], { lr: 0.1 }).step();
 * w  // [0.79999, -1.59998]
 */
export const ASGD = /* @__PURE__ */ optimizer<ASGDOptions>({
  name: "ASGD",
  defaults: {
    lr: 1e-2,
    lambd: 1e-4,
    alpha: 0.75,
    t0: 1e6,
    weight_decay: 0,
    foreach: null,
    maximize: false,
    differentiable: false,
    capturable: false,
  },
  check(o) {
    mustBeRate(o.lr);
    mustNotBeNegative(o, { weight_decay: "weight_decay value" });
  },
  op: () => asgd_stepOp,
  state: { ax: () => 0 },
  numbers: ({ lr }) => ({ eta: lr, mu: 1 }),
  words({ lr, lambd, alpha, t0 }: Plain<ASGDOptions>, kept) {
    const { step, eta, mu } = kept as typeof kept & { eta: number; mu: number };
    Object.assign(kept, { eta: lr / (1 + lambd * lr * step) ** alpha, mu: 1 / Math.max(1, step - t0) });
    return { eta, mu };
  },
});
export type ASGD = Optimizer<ASGDOptions>;

export interface RpropOptions extends Pick<Shared, "maximize">, Kernels {
  /** How far the first step goes; later steps have sizes of their own. */
  lr: Rate;
  /** By what an element's step is multiplied where its gradient changed its sign, and where it did not. */
  etas: readonly [number, number];
  /** The smallest and the largest step of an element. */
  step_sizes: readonly [number, number];
}
/**
 * Steps of their own size for each element, by the gradient's sign alone.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.Rprop([w], { lr: 0.1 }).step();
 * w  // [0.9, -1.9]
 */
export const Rprop = /* @__PURE__ */ optimizer<RpropOptions>({
  name: "Rprop",
  defaults: {
    lr: 1e-2,
    etas: [0.5, 1.2],
    step_sizes: [1e-6, 50],
    capturable: false,
    foreach: null,
    maximize: false,
    differentiable: false,
  },
  byName: "capturable",
  check({ lr, etas, step_sizes }) {
    must(isPair(etas), `Invalid eta values: ${describe(etas)}`);
    must(isPair(step_sizes), `Invalid step sizes: ${describe(step_sizes)}`);
    const [minus, plus] = etas;
    mustBeRate(lr);
    must(minus > 0 && minus < 1 && plus > 1, `Invalid eta values: ${minus}, ${plus}`);
  },
  op: () => rprop_stepOp,
  state: { prev: () => 0, step_size: ({ lr }, param) => bothParts(param, lr) },
  words: ({ etas, step_sizes }) => ({
    eta_minus: etas[0],
    eta_plus: etas[1],
    step_size_min: step_sizes[0],
    step_size_max: step_sizes[1],
  }),
});
export type Rprop = Optimizer<RpropOptions>;
