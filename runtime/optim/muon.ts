// Muon: the average gradient of a matrix, made nearly orthogonal by Newton-Schulz iterations.

import { muon_directionOp, muon_iterationOp, muon_stepOp } from "../../ops/optim.js";
import { run } from "../call.js";
import { zeros_like } from "../create.js";
import { OpError } from "../errors.js";
import { runForeach } from "../foreach.js";
import { keep, tidy } from "../memory.js";
import { callable } from "../nn/callable.js";
import { showShape } from "../shape.js";
import type { Tensor } from "../tensor.js";
import * as views from "../views.js";
import type { Group, Params } from "./groups.js";
import { Optimizer } from "./optimizer.js";
import { type Rate, must, mustBeRate, optionsOf } from "./options.js";
import type { Given } from "./recipe.js";

export interface MuonOptions {
  lr: Rate;
  weight_decay: number;
  momentum: number;
  nesterov: boolean;
  ns_coefficients: readonly [number, number, number];
  eps: number;
  ns_steps: number;
  adjust_lr_fn: "original" | "match_rms_adamw" | null;
}

class MuonClass extends Optimizer<MuonOptions> {
  constructor(params: Params<MuonOptions>, ...args: Given<MuonOptions>) {
    const o = optionsOf<MuonOptions>("Muon", {
      lr: 1e-3, weight_decay: 0.1, momentum: 0.95, nesterov: true, ns_coefficients: [3.4445, -4.775, 2.0315], eps: 1e-7, ns_steps: 5, adjust_lr_fn: null,
    }, args);
    mustBeRate(o.lr, "Learning rate should be >= 0 but is");
    must(o.momentum >= 0, `momentum should be >= 0 but is: ${o.momentum}`);
    must(o.weight_decay >= 0, `weight decay should be >= 0 but is: ${o.weight_decay}`);
    must([null, "original", "match_rms_adamw"].includes(o.adjust_lr_fn), `Adjust learning rate function ${String(o.adjust_lr_fn)} is not supported`);
    super(params, o);
  }

  protected override checkParams(params: readonly Tensor[]): void {
    const other = params.find((p) => p.ndim !== 2);
    if (other) throw new OpError(`Muon only supports 2D parameters whereas we found a parameter with size: ${showShape(other.shape)}`);
  }

  protected override update({ params, ...o }: Group<MuonOptions>): void {
    must(o.ns_steps < 100, "Number of steps must be less than 100 for computational efficiency");
    must(o.ns_coefficients.length === 3, "Coefficients must be a tuple of exactly 3 values");
    const lr = o.lr as number;
    for (const param of params) {
      if (!param.ownGradient()) continue;
      let state = this.state.get(param);
      if (!state) this.state.set(param, (state = { momentum_buffer: keep(zeros_like(param)) }));
      const rate = lr * adjustment(o.adjust_lr_fn, param.shape[0]!, param.shape[1]!), buffer = state["momentum_buffer"] as Tensor;
      tidy(() => {
        const direction = orthogonal(run(muon_directionOp, [param.ownGradient(), buffer, { momentum: o.momentum, nesterov: o.nesterov, eps: o.eps }]) as Tensor, o);
        runForeach(muon_stepOp, [[param], [direction], { lr, rate, weight_decay: o.weight_decay }]);
      });
    }
  }
}

/** A matrix made nearly orthogonal. */
function orthogonal(matrix: Tensor, { ns_steps, ns_coefficients: [a, b, c] }: Pick<MuonOptions, "ns_steps" | "ns_coefficients">): Tensor {
  const tall = matrix.shape[0]! > matrix.shape[1]!;
  let x = tall ? views.reverseAxes(matrix) : matrix;
  for (let i = 0; i < ns_steps; i++) x = run(muon_iterationOp, [x, a, b, c]) as Tensor;
  return tall ? views.reverseAxes(x) : x;
}

/** How much further matrices of this shape move than the learning rate says. */
function adjustment(way: MuonOptions["adjust_lr_fn"], rows: number, columns: number): number {
  return way === "match_rms_adamw" ? 0.2 * Math.sqrt(Math.max(rows, columns)) : Math.sqrt(Math.max(1, rows / columns));
}

export const Muon = callable(MuonClass);
export type Muon = MuonClass;
