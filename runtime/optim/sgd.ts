// Stochastic gradient descent, with momentum.

import { runForeach } from "../call.js";
import { zeros_like } from "../create.js";
import { callable } from "../nn/callable.js";
import { OpError } from "../errors.js";
import { keep } from "../memory.js";
import type { Tensor } from "../tensor.js";
import { sgd_stepOp } from "../../ops/optim.js";
import { type Group, Optimizer, type Params, within } from "./optimizer.js";

export interface SGDOptions {
  lr: number;
  momentum: number;
  dampening: number;
  weight_decay: number;
  nesterov: boolean;
  maximize: boolean;
}

class SGDClass extends Optimizer<SGDOptions> {
  private readonly momenta = new Map<Tensor, Tensor>();

  constructor(params: Params<SGDOptions>, options: Partial<SGDOptions> = {}) {
    const o = { lr: 1e-3, momentum: 0, dampening: 0, weight_decay: 0, nesterov: false, maximize: false, ...options };
    within("SGD", "learning rate", o.lr, 0);
    within("SGD", "momentum value", o.momentum, 0);
    within("SGD", "weight_decay value", o.weight_decay, 0);
    if (o.nesterov && (o.momentum <= 0 || o.dampening !== 0)) throw new OpError("SGD: Nesterov momentum requires a momentum and zero dampening");
    super(params, o);
  }

  protected override update({ params, ...options }: Group<SGDOptions>): void {
    const moving = params.filter((p) => p.ownGradient());
    for (const first of options.momentum ? [true, false] : [false]) {
      const now = moving.filter((p) => !options.momentum || !this.momenta.has(p) === first);
      if (!now.length) continue;
      if (first) for (const p of now) this.momenta.set(p, keep(zeros_like(p)));
      runForeach(sgd_stepOp, [now, now.map((p) => p.ownGradient()), options.momentum ? now.map((p) => this.momenta.get(p)) : null, { ...options, first }]);
      if (first) break;
    }
  }
}
export const SGD = callable(SGDClass);
export type SGD = SGDClass;
