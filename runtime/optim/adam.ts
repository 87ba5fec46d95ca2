// Adam, and AdamW, whose decay of weights stands apart from the gradient.

import { runForeach } from "../call.js";
import { zeros_like } from "../create.js";
import { callable } from "../nn/callable.js";
import { keep } from "../memory.js";
import type { Tensor } from "../tensor.js";
import { adam_stepOp } from "../../ops/optim.js";
import { type Group, Optimizer, type Params, within } from "./optimizer.js";

export interface AdamOptions {
  lr: number;
  betas: readonly [number, number];
  eps: number;
  weight_decay: number;
  maximize: boolean;
}

interface Moments {
  step: number;
  readonly exp_avg: Tensor;
  readonly exp_avg_sq: Tensor;
}

abstract class Adaptive extends Optimizer<AdamOptions> {
  private readonly moments = new Map<Tensor, Moments>();
  private readonly decoupled: boolean;

  constructor(name: string, params: Params<AdamOptions>, options: AdamOptions, decoupled: boolean) {
    within(name, "learning rate", options.lr, 0);
    within(name, "epsilon value", options.eps, 0);
    within(name, "beta parameter at index 0", options.betas[0], 0, 1);
    within(name, "beta parameter at index 1", options.betas[1], 0, 1);
    within(name, "weight_decay value", options.weight_decay, 0);
    super(params, options);
    this.decoupled = decoupled;
  }

  protected override update({ params, betas: [beta1, beta2], ...options }: Group<AdamOptions>): void {
    // Parameters that have been moved equally often go together.
    const bySteps = new Map<number, Tensor[]>();
    for (const p of params) {
      if (!p.ownGradient()) continue;
      let state = this.moments.get(p);
      if (!state) this.moments.set(p, (state = { step: 0, exp_avg: keep(zeros_like(p)), exp_avg_sq: keep(zeros_like(p)) }));
      const step = ++state.step, others = bySteps.get(step);
      if (others) others.push(p);
      else bySteps.set(step, [p]);
    }
    for (const [step, now] of bySteps) {
      const states = now.map((p) => this.moments.get(p)!);
      runForeach(adam_stepOp, [now, now.map((p) => p.ownGradient()), states.map((s) => s.exp_avg), states.map((s) => s.exp_avg_sq),
        { ...options, step, beta1, beta2, decoupled: this.decoupled }]);
    }
  }
}

class AdamClass extends Adaptive {
  constructor(params: Params<AdamOptions>, options: Partial<AdamOptions> = {}) {
    super("Adam", params, { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0, maximize: false, ...options }, false);
  }
}
export const Adam = callable(AdamClass);
export type Adam = AdamClass;

class AdamWClass extends Adaptive {
  constructor(params: Params<AdamOptions>, options: Partial<AdamOptions> = {}) {
    super("AdamW", params, { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0.01, maximize: false, ...options }, true);
  }
}
export const AdamW = callable(AdamWClass);
export type AdamW = AdamWClass;
