// Adam and its kin: averages of the gradient and of its squares.

import { adam_stepOp, adamax_stepOp, amsgrad_stepOp, nadam_stepOp, radam_stepOp } from "../../ops/optim.js";
import type { Optimizer } from "./optimizer.js";
import {
  type Betas,
  type Decoupled,
  type Kernels,
  type Shared,
  mustBeBetas,
  mustBeRate,
  mustNotBeNegative,
} from "./options.js";
import { type OptimizerClass, optimizer } from "./recipe.js";

interface Averaging extends Shared, Kernels {
  /** How much of the averages of the gradient and of its square is kept at each step, each from 0 to 1. */
  betas: Betas;
  /** Added to what is divided by, so that nothing is divided by 0. */
  eps: number;
}

function check(o: Averaging): void {
  mustBeRate(o.lr);
  mustNotBeNegative(o, { eps: "epsilon value" });
  mustBeBetas(o.betas);
  mustNotBeNegative(o, { weight_decay: "weight_decay value" });
}

/** The two averages, zero at first. */
const moments = { exp_avg: () => 0, exp_avg_sq: () => 0 };

/** The betas, and by how much averages of `step` gradients fall short because they began at zero. */
function corrections(
  { betas: [beta1, beta2] }: { betas: Betas },
  step: number,
): Record<"beta1" | "beta2" | "correction1" | "correction2", number> {
  return { beta1, beta2, correction1: 1 - beta1 ** step, correction2: 1 - beta2 ** step };
}

export interface AdamOptions extends Averaging, Decoupled {
  /** Whether the largest average of squares so far is divided by, not the current one. */
  amsgrad: boolean;
}
const adam = (name: string, defaults: AdamOptions): OptimizerClass<AdamOptions> =>
  optimizer<AdamOptions>({
    name,
    defaults,
    byName: "foreach",
    check,
    op: (o) => (o.amsgrad ? amsgrad_stepOp : adam_stepOp),
    state: { ...moments, max_exp_avg_sq: (o) => (o.amsgrad ? 0 : null) },
    words: (o, { step }) => corrections(o, step),
  });

/**
 * Steps by averages of the gradient over the root of averages of its square.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.Adam([w], { lr: 0.1 }).step();
 * w  // [0.9, -1.9]
 */
export const Adam = /* @__PURE__ */ adam("Adam", {
  lr: 1e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weight_decay: 0,
  amsgrad: false,
  foreach: null,
  maximize: false,
  capturable: false,
  differentiable: false,
  fused: null,
  decoupled_weight_decay: false,
});
export type Adam = Optimizer<AdamOptions>;

/**
 * Adam whose decay of weights stands apart from the gradient.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.AdamW([w], { lr: 0.1 }).step();
 * w  // [0.899, -1.898]
 */
export const AdamW = /* @__PURE__ */ adam("AdamW", {
  lr: 1e-3,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weight_decay: 1e-2,
  amsgrad: false,
  foreach: null,
  maximize: false,
  capturable: false,
  differentiable: false,
  fused: null,
  decoupled_weight_decay: true,
});
export type AdamW = Optimizer<AdamOptions>;

export interface AdamaxOptions extends Averaging {}
/**
 * Adam with the largest gradient so far in place of the average of squares.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.Adamax([w], { lr: 0.1 }).step();
 * w  // [0.9, -1.9]
 */
export const Adamax = /* @__PURE__ */ optimizer<AdamaxOptions>({
  name: "Adamax",
  check,
  defaults: {
    lr: 2e-3,
    betas: [0.9, 0.999],
    eps: 1e-8,
    weight_decay: 0,
    foreach: null,
    maximize: false,
    differentiable: false,
    capturable: false,
  },
  byName: "maximize",
  op: () => adamax_stepOp,
  state: { exp_avg: () => 0, exp_inf: () => 0 },
  words: (o, { step }) => corrections(o, step),
});
export type Adamax = Optimizer<AdamaxOptions>;

export interface NAdamOptions extends Averaging, Decoupled {
  /** How fast the momentum rises from half of `betas[0]` to all of it. */
  momentum_decay: number;
}
/**
 * Adam with Nesterov's momentum.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.NAdam([w], { lr: 0.1 }).step();
 * w  // [0.894355, -1.89435]
 */
export const NAdam = /* @__PURE__ */ optimizer<NAdamOptions>({
  name: "NAdam",
  defaults: {
    lr: 2e-3,
    betas: [0.9, 0.999],
    eps: 1e-8,
    weight_decay: 0,
    momentum_decay: 4e-3,
    decoupled_weight_decay: false,
    foreach: null,
    maximize: false,
    capturable: false,
    differentiable: false,
  },
  byName: "foreach",
  check(o) {
    check(o);
    mustNotBeNegative(o, { momentum_decay: "momentum_decay value" });
  },
  op: () => nadam_stepOp,
  state: moments,
  numbers: () => ({ mu_product: 1 }),
  words(o, kept) {
    const { step } = kept,
      mu = (t: number): number => o.betas[0] * (1 - 0.5 * 0.96 ** (t * o.momentum_decay));
    const product = (kept["mu_product"]! *= mu(step)),
      next = mu(step + 1);
    return {
      ...corrections(o, step),
      grad_rate: (o.lr * (1 - mu(step))) / (1 - product),
      momentum_rate: (o.lr * next) / (1 - product * next),
    };
  },
});
export type NAdam = Optimizer<NAdamOptions>;

export interface RAdamOptions extends Averaging, Decoupled {}
/**
 * Adam that waits until the average of squares can be trusted.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.RAdam([w], { lr: 0.1 }).step();
 * w  // [0.8, -1.6]
 */
export const RAdam = /* @__PURE__ */ optimizer<RAdamOptions>({
  name: "RAdam",
  check,
  defaults: {
    lr: 1e-3,
    betas: [0.9, 0.999],
    eps: 1e-8,
    weight_decay: 0,
    decoupled_weight_decay: false,
    foreach: null,
    maximize: false,
    capturable: false,
    differentiable: false,
  },
  byName: "foreach",
  op: () => radam_stepOp,
  state: moments,
  words(o, { step }) {
    const c = corrections(o, step),
      limit = 2 / (1 - c.beta2) - 1,
      length = limit - (2 * step * c.beta2 ** step) / c.correction2;
    const adaptive = length > 5,
      rectified = Math.sqrt(((length - 4) * (length - 2) * limit) / ((limit - 4) * (limit - 2) * length));
    return { ...c, adaptive, rate: (o.lr / c.correction1) * (adaptive ? Math.sqrt(c.correction2) * rectified : 1) };
  },
});
export type RAdam = Optimizer<RAdamOptions>;
