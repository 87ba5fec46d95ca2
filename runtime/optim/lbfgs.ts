// L-BFGS: Newton's method with a Hessian estimated from the last steps.  Vectors stay on the device, all parameters in
// a row; what decides the course (losses, slopes) is read.

import { abs, add, dot, max, mul, neg, sub, sum } from "../../names/torch.js";
import { copy_ } from "../views/transfer.js";
import { zeros } from "../creation/create.js";
import { TypeMismatchError, OpError } from "../base/errors.js";
import { enable_grad, unrecorded } from "../tape/grad-mode.js";
import { cat } from "../functions/join.js";
import { keep, tidy } from "../tensor/memory.js";
import { callable } from "../base/callable.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import type { Group, GroupOptions } from "./groups.js";
import { type Point, strongWolfe } from "./line-search.js";
import { type Closure, Optimizer, withNumbers } from "./optimizer.js";
import type { StateShape } from "./state.js";
import { type Rate, mustBeRate, naming, optionsOf } from "./options.js";
import type { Made } from "./recipe.js";

export interface LBFGSOptions {
  /** How much of each step along the direction found is made; with a line search, of the first that it tries. */
  lr: Rate;
  /** How many iterations one step makes at most. */
  max_iter: number;
  /** How often one step computes the loss at most; null: five quarters of `max_iter`. */
  max_eval: number | null;
  /** A step ends where no element of the gradient is larger. */
  tolerance_grad: number;
  /** A step ends where the loss or the parameters change less. */
  tolerance_change: number;
  /** From how many iterations before the curvature is estimated; each keeps two copies of all parameters. */
  history_size: number;
  /** How the length of a step is found: by Wolfe's strong conditions, or null: `lr` says it. */
  line_search_fn: "strong_wolfe" | null;
}

/** What is kept between steps, under PyTorch's names. */
interface Memory {
  func_evals: number;
  n_iter: number;
  d?: Tensor;
  t?: number;
  /** Differences of gradients and of parameters, and one over their products. */
  old_dirs: Tensor[];
  old_stps: Tensor[];
  ro: (number | Tensor)[];
  H_diag: number;
  prev_flat_grad?: Tensor;
  prev_loss?: number;
}

const NUMBERS = ["func_evals", "n_iter", "t", "H_diag", "prev_loss"];
const read = async (x: Tensor): Promise<number> => {
  const value = Number(await x.item());
  x.dispose();
  return value;
};
/** A vector computed outside of the tape, everything else freed. */
const vector = (compute: () => Tensor): Tensor => unrecorded(() => keep(tidy(compute)));
const largest = (x: Tensor): Promise<number> => read(vector(() => max(abs(x)) as Tensor));
const product = (x: Tensor, y: Tensor): Promise<number> => read(vector(() => dot(x, y)));

class LBFGSClass extends Optimizer<LBFGSOptions> {
  constructor(...args: Made<LBFGSOptions>) {
    const [params, o] = optionsOf<LBFGSOptions>(
      "LBFGS",
      "params",
      {
        lr: 1,
        max_iter: 20,
        max_eval: null,
        tolerance_grad: 1e-7,
        tolerance_change: 1e-9,
        history_size: 100,
        line_search_fn: null,
      },
      args,
    );
    naming("LBFGS", () => {
      mustBeRate(o.lr);
    });
    super(params, { ...o, max_eval: o.max_eval ?? Math.floor((o.max_iter * 5) / 4) });
  }

  override add_param_group(group: GroupOptions<LBFGSOptions>): void {
    if (this.param_groups.length) throw new OpError("LBFGS doesn't support per-parameter options (parameter groups)");
    super.add_param_group(group);
  }

  protected override holdsNumber(key: string): boolean {
    return NUMBERS.includes(key);
  }
  /** Directions go over all parameters. */
  protected override shapeOfState(key: string, { params }: Group<LBFGSOptions>, _param: Tensor): StateShape {
    const all = [params.reduce((n, p) => n + p.numel(), 0)];
    return key.startsWith("old_") ? [all] : key === "d" || key === "prev_flat_grad" ? all : null;
  }
  protected override update(_group: Group<LBFGSOptions>): void {
    /* step() does it all */
  }

  /** One step: up to `max_iter` iterations, each with one or more calls of the closure.  Answers the first loss. */
  override step(): Promise<void>;
  override step(closure: Closure): Promise<Tensor | number>;
  override async step(closure?: Closure): Promise<void | Tensor | number> {
    if (!closure) throw new TypeMismatchError("LBFGS.step() missing 1 required positional argument: 'closure'");
    const group = await withNumbers(this.param_groups[0]!),
      loss = await enable_grad(closure);
    await this.search(group, closure, await value(loss));
    return loss;
  }

  private async search(o: Group<LBFGSOptions>, closure: Closure, first: number): Promise<void> {
    const { params, tolerance_grad, tolerance_change, max_iter } = o,
      lr = o.lr as number,
      most = o.max_eval!;
    if (o.line_search_fn !== null && o.line_search_fn !== "strong_wolfe")
      throw new OpError("only 'strong_wolfe' is supported");
    let kept = this.state.get(params[0]!) as Memory | undefined;
    if (!kept)
      this.state.set(
        params[0]!,
        (kept = { func_evals: 0, n_iter: 0, old_dirs: [], old_stps: [], ro: [], H_diag: 1 }) as Memory &
          Record<string, unknown>,
      );
    kept.func_evals++;
    let loss = first,
      gradient = gathered(params),
      evaluations = 1;
    if ((await largest(gradient)) <= tolerance_grad) return;
    for (let n = 1; n <= max_iter; n++) {
      kept.n_iter++;
      await turn(kept, gradient, o.history_size);
      kept.prev_flat_grad = gradient;
      kept.prev_loss = loss;
      const d = kept.d!,
        slope = await product(gradient, d);
      kept.t = kept.n_iter === 1 ? Math.min(1, 1 / (await read(vector(() => sum(abs(gradient)))))) * lr : lr;
      if (slope > -tolerance_change) break;
      let used = 0,
        optimal = false;
      if (o.line_search_fn) {
        const { found, evaluations: tried } = await searched(
          params,
          closure,
          { t: 0, f: loss, slope, gradient },
          kept,
          tolerance_change,
          most - evaluations,
        );
        ({ t: kept.t, f: loss, gradient } = found);
        move(params, d, kept.t);
        used = tried;
        optimal = (await largest(gradient)) <= tolerance_grad;
      } else {
        move(params, d, kept.t);
        if (n !== max_iter) {
          loss = await value(await enable_grad(closure));
          gradient = gathered(params);
          optimal = (await largest(gradient)) <= tolerance_grad;
          used = 1;
        }
      }
      evaluations += used;
      kept.func_evals += used;
      if (n === max_iter || evaluations >= most || optimal) break;
      if (
        (await largest(d)) * Math.abs(kept.t) <= tolerance_change ||
        Math.abs(loss - kept.prev_loss) < tolerance_change
      )
        break;
    }
  }
}

const value = async (loss: Tensor | number): Promise<number> =>
  loss instanceof Tensor ? Number(await loss.item()) : Number(loss);

/** All gradients in a row; zeros where there is none. */
function gathered(params: readonly Tensor[]): Tensor {
  return vector(() =>
    cat(
      params.map((p) => {
        const grad = p.ownGradient();
        return grad ? views.reshape(grad.detach(), [-1]) : zeros([p.numel()], { dtype: p.dtype, device: p.device });
      }),
    ),
  );
}

/** Moves the parameters by `t` along the direction `d`. */
function move(params: readonly Tensor[], d: Tensor, t: number): void {
  unrecorded(() =>
    tidy(() => {
      let at = 0;
      for (const p of params) {
        const n = p.numel();
        copy_(p, add(p, views.reshape(views.narrow(d, 0, at, n), p.shape), { alpha: t }));
        at += n;
      }
    }),
  );
}

/**
 * Takes the last step into the memory and sets the next direction: minus the gradient times the estimated inverse
 * Hessian.
 */
async function turn(kept: Memory, gradient: Tensor, history: number): Promise<void> {
  if (kept.n_iter === 1) {
    kept.d = vector(() => neg(gradient));
    return;
  }
  const { old_dirs, old_stps, ro } = kept;
  const y = vector(() => sub(gradient, kept.prev_flat_grad!)),
    s = vector(() => mul(kept.d!, kept.t!));
  const curvature = await product(y, s);
  if (curvature > 1e-10) {
    if (old_dirs.length === history) [old_dirs, old_stps, ro].forEach((list: unknown[]) => list.shift());
    old_dirs.push(y);
    old_stps.push(s);
    ro.push(1 / curvature);
    kept.H_diag = curvature / (await product(y, y));
  }
  kept.d = vector(() => {
    const weights: Tensor[] = [];
    let q = neg(gradient);
    for (let i = old_dirs.length - 1; i >= 0; i--) {
      weights[i] = mul(dot(old_stps[i]!, q), ro[i]!);
      q = sub(q, mul(old_dirs[i]!, weights[i]!));
    }
    q = mul(q, kept.H_diag);
    for (let i = 0; i < old_dirs.length; i++)
      q = add(q, mul(old_stps[i]!, sub(weights[i]!, mul(dot(old_dirs[i]!, q), ro[i]!))));
    return q;
  });
}

/** The line search from where the parameters are; they are back there afterwards. */
async function searched(
  params: readonly Tensor[],
  closure: Closure,
  start: Point<Tensor>,
  { d, t }: Memory,
  tolerance: number,
  most: number,
): Promise<{ found: Point<Tensor>; evaluations: number }> {
  const origin = params.map((p) => vector(() => p.detach().clone()));
  const evaluate = async (at: number): Promise<Point<Tensor>> => {
    move(params, d!, at);
    const f = await value(await enable_grad(closure)),
      gradient = gathered(params);
    unrecorded(() => {
      params.forEach((p, i) => copy_(p, origin[i]!));
    });
    return { t: at, f, gradient, slope: await product(gradient, d!) };
  };
  try {
    return await strongWolfe(evaluate, start, t!, await largest(d!), tolerance, most);
  } finally {
    for (const x of origin) x.dispose();
  }
}

/**
 * A quasi-Newton method with little memory; its step takes a closure.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * const optimizer = torch.optim.LBFGS([w]);
 * await optimizer.step(() => {
 *   optimizer.zero_grad();
 *   const loss = w.square().sum();
 *   loss.backward();
 *   return loss;
 * });
 * torch.round(w)  // [0, 0]
 */
export const LBFGS = /* @__PURE__ */ callable(
  LBFGSClass,
  "LBFGS",
  "add_param_group param_group{}, holdsNumber !, shapeOfState !, update !, step closure?, search !",
);
export type LBFGS = LBFGSClass;
