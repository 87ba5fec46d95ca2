// Muon: the average gradient of a matrix, made nearly orthogonal by Newton-Schulz iterations.  PyTorch takes one
// parameter after another; here matrices of one shape that lie side by side on a GPU are one stack of them, so that
// launches are for each shape.

import { capturing } from "../base/capturing.js";
import { muon_directionOp, muon_iterationOp, muon_stepOp } from "../../ops/optim.js";
import { run } from "../dispatch/call.js";
import { zeros_like } from "../creation/like.js";
import { OpError } from "../base/errors.js";
import { byShape, forEachStack, runForeach } from "../functions/foreach.js";
import { keep, tidy } from "../tensor/memory.js";
import { callable } from "../base/callable.js";
import { showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import type { Group } from "./groups.js";
import { Optimizer } from "./optimizer.js";
import { type Momentum, type Shared, must, mustBeRate, naming, optionsOf } from "./options.js";
import type { Made } from "./recipe.js";

export interface MuonOptions extends Pick<Shared, "lr" | "weight_decay">, Momentum {
  /** The polynomial of each iteration that makes a step orthogonal: factors of `X`, `(X Xᵀ) X` and `(X Xᵀ)² X`. */
  ns_coefficients: readonly [number, number, number];
  /** The least size that a step is divided by before the iterations. */
  eps: number;
  /** How many iterations make a step orthogonal. */
  ns_steps: number;
  /** How the rate depends on a matrix's shape; null: as the original's. */
  adjust_lr_fn: "original" | "match_rms_adamw" | null;
}

class MuonClass extends Optimizer<MuonOptions> {
  constructor(...args: Made<MuonOptions>) {
    const [params, o] = optionsOf<MuonOptions>(
      "Muon",
      "params",
      {
        lr: 1e-3,
        weight_decay: 0.1,
        momentum: 0.95,
        nesterov: true,
        ns_coefficients: [3.4445, -4.775, 2.0315],
        eps: 1e-7,
        ns_steps: 5,
        adjust_lr_fn: null,
      },
      args,
    );
    naming("Muon", () => {
      mustBeRate(o.lr, "Learning rate should be >= 0 but is");
    });
    must(o.momentum >= 0, `momentum should be >= 0 but is: ${o.momentum}`);
    must(o.weight_decay >= 0, `weight decay should be >= 0 but is: ${o.weight_decay}`);
    must(
      [null, "original", "match_rms_adamw"].includes(o.adjust_lr_fn),
      `Adjust learning rate function ${String(o.adjust_lr_fn)} is not supported`,
    );
    super(params, o);
  }

  protected override checkParams(params: readonly Tensor[]): void {
    must(!params.some(({ dtype }) => dtype === "complex64"), "Muon does not support complex parameters");
    const other = params.find((p) => p.ndim !== 2);
    if (other)
      throw new OpError(
        `Muon only supports 2D parameters whereas we found a parameter with size: ${showShape(other.shape)}`,
      );
  }

  protected override shapeOfState(_key: string, _group: Group<MuonOptions>, param: Tensor): readonly number[] {
    return param.shape;
  }
  protected override update({ params, ...o }: Group<MuonOptions>): void {
    must(o.ns_steps < 100, "Number of steps must be less than 100 for computational efficiency");
    must(o.ns_coefficients.length === 3, "Coefficients must be a tuple of exactly 3 values");
    const lr = o.lr as number;
    const moved = params.filter((p) => p.ownGradient()).sort(byShape);
    const lists = [moved, moved.map((p) => p.ownGradient()!), moved.map((p) => this.bufferOf(p))] as const;
    if (moved.length > 1 && !capturing) moved[0]!.storage.device.collect?.(this, lists);
    forEachStack(lists, [moved, lists[2]], ([param, grad, buffer]) => {
      const [rows, columns] = param!.shape.slice(-2) as [number, number],
        rate = lr * adjustment(o.adjust_lr_fn, rows, columns);
      tidy(() => {
        const direction = orthogonal(
          run(muon_directionOp, [grad, buffer, { momentum: o.momentum, nesterov: o.nesterov, eps: o.eps }]) as Tensor,
          o,
        );
        runForeach(muon_stepOp, [[param], [direction], { lr, rate, weight_decay: o.weight_decay }]);
      });
    });
  }

  private bufferOf(param: Tensor): Tensor {
    let state = this.state.get(param);
    if (!state) this.state.set(param, (state = { momentum_buffer: keep(zeros_like(param)) }));
    return state["momentum_buffer"] as Tensor;
  }
}

/** A stack of matrices made nearly orthogonal. */
function orthogonal(
  matrix: Tensor,
  { ns_steps, ns_coefficients: [a, b, c] }: Pick<MuonOptions, "ns_steps" | "ns_coefficients">,
): Tensor {
  const [rows, columns] = matrix.shape.slice(-2) as [number, number],
    tall = rows > columns;
  let x = tall ? views.transpose(matrix, -2, -1) : matrix;
  for (let i = 0; i < ns_steps; i++) x = run(muon_iterationOp, [x, a, b, c]) as Tensor;
  return tall ? views.transpose(x, -2, -1) : x;
}

/** How much further matrices of this shape move than the learning rate says. */
function adjustment(way: MuonOptions["adjust_lr_fn"], rows: number, columns: number): number {
  return way === "match_rms_adamw" ? 0.2 * Math.sqrt(Math.max(rows, columns)) : Math.sqrt(Math.max(1, rows / columns));
}

/**
 * Momentum whose matrices are made orthogonal before the step.
 *
 * @example
 * const w = torch.eye(2).requires_grad_();
 * w.square().sum().backward();
 * await torch.optim.Muon([w], { lr: 0.1 }).step();
 * w  // [[0.8775, 0], [0, 0.8775]]
 */
export const Muon = /* @__PURE__ */ callable(MuonClass, "Muon", "checkParams !, shapeOfState !, update !, bufferOf !");
export type Muon = MuonClass;
