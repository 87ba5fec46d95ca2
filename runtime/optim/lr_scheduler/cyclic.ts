// Rates that go up and down, with a momentum that goes the other way: CyclicLR, OneCycleLR.

import { OpError } from "../../base/errors.js";
import { callable } from "../../base/callable.js";
import { must, optionsOf } from "../options.js";
import {
  hide,
  type AnyGroup,
  type AnyOptimizer,
  type LastEpoch,
  LRScheduler,
  type Scheduled,
  checkOptimizer,
  groupsIn,
  perGroup,
  rateOf,
  setRate,
} from "./scheduler.js";

const REQUIRED = undefined as never;

/** The first of the betas, or the momentum. */
function setMomentum(group: AnyGroup, momentum: number, beta: boolean): void {
  if (beta) group["betas"] = [momentum, ...(group["betas"] as number[]).slice(1)];
  else group["momentum"] = momentum;
}

/** Whether the momentum is the first of the betas; throws where there is neither. */
function usesBeta(optimizer: AnyOptimizer): boolean {
  if (!("momentum" in optimizer.defaults) && !("betas" in optimizer.defaults)) {
    throw new OpError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
  }
  return "betas" in optimizer.defaults;
}

/** The momenta at both ends of a cycle, by group; the groups begin with the larger one. */
function momenta(
  optimizer: AnyOptimizer,
  base: number | readonly number[],
  greatest: number | readonly number[],
  begin: boolean,
): { base: number[]; max: number[]; beta: boolean } {
  const beta = usesBeta(optimizer),
    bases = perGroup("base_momentum", optimizer, base),
    most = perGroup("max_momentum", optimizer, greatest);
  if (begin) {
    groupsIn(optimizer).forEach((group, i) => {
      setMomentum(group, most[i]!, beta);
      group["max_momentum"] = most[i];
      group["base_momentum"] = bases[i];
    });
  }
  return { base: bases, max: most, beta };
}

type PerGroup = number | readonly number[];
type Scale = (x: number) => number;

/** What both take: a momentum that falls where the rate rises. */
interface Cycling extends LastEpoch {
  /** The largest rate, or a list of one for each group of parameters. */
  max_lr: PerGroup;
  /** Whether the momentum (of Adam and its kin the first of the betas) moves the other way. */
  cycle_momentum: boolean;
  /** The smallest momentum, where the rate is largest, or a list of one for each group. */
  base_momentum: PerGroup;
  /** The largest momentum, where the rate is smallest, or a list of one for each group. */
  max_momentum: PerGroup;
}

export interface CyclicOptions extends Cycling {
  /** The smallest rate, with which it begins, or a list of one for each group of parameters. */
  base_lr: PerGroup;
  /** How many steps it goes up. */
  step_size_up: number;
  /** How many steps it goes down; null: as many as up. */
  step_size_down: number | null;
  /** Every cycle as high as the first, each half as high as the one before, or `gamma` to the power of the step. */
  mode: "triangular" | "triangular2" | "exp_range";
  /** The height of each step by the one before, in the mode `"exp_range"`. */
  gamma: number;
  /** From the number of a cycle or a step to how high it is, 1 for all of it; in place of `mode`. */
  scale_fn: Scale | null;
  /** Whether `scale_fn` gets the number of the cycle, from 1, or of the step, from 0. */
  scale_mode: "cycle" | "iterations";
}

class CyclicClass extends LRScheduler {
  declare max_lrs: number[];
  declare total_size: number;
  declare step_ratio: number;
  declare mode: CyclicOptions["mode"];
  declare gamma: number;
  declare scale_fn: Scale | null;
  declare scale_mode: CyclicOptions["scale_mode"];
  declare cycle_momentum: boolean;
  declare base_momentums: number[];
  declare max_momentums: number[];
  declare use_beta1: boolean;

  /** From `base_lr` to `max_lr` and back, in so many steps up and down. */
  constructor(...args: Scheduled<CyclicOptions>) {
    const [optimizer, o] = optionsOf<CyclicOptions>(
      "CyclicLR",
      "optimizer",
      {
        base_lr: REQUIRED,
        max_lr: REQUIRED,
        step_size_up: 2000,
        step_size_down: null,
        mode: "triangular",
        gamma: 1,
        scale_fn: null,
        scale_mode: "cycle",
        cycle_momentum: true,
        base_momentum: 0.8,
        max_momentum: 0.9,
        last_epoch: -1,
      },
      args,
    );
    const begin = o.last_epoch === -1,
      base = perGroup("base_lr", checkOptimizer(optimizer), o.base_lr);
    if (begin)
      groupsIn(optimizer).forEach((group, i) => {
        setRate(group, base[i]!);
      });
    const max_lrs = perGroup("max_lr", optimizer, o.max_lr),
      up = o.step_size_up,
      total_size = up + (o.step_size_down ?? up);
    must(
      ["triangular", "triangular2", "exp_range"].includes(o.mode) || o.scale_fn !== null,
      "mode is invalid and scale_fn is None",
    );
    const scale_mode = o.scale_fn ? o.scale_mode : o.mode === "exp_range" ? "iterations" : "cycle";
    const m = o.cycle_momentum ? momenta(optimizer, o.base_momentum, o.max_momentum, begin) : null;
    super(optimizer, o.last_epoch, (self: object) => {
      Object.assign(self, {
        max_lrs,
        total_size,
        step_ratio: up / total_size,
        mode: o.mode,
        gamma: o.gamma,
        scale_mode,
        cycle_momentum: o.cycle_momentum,
        _scale_fn_custom: null, // PyTorch's own asks for it; a function is no part of a state
      });
      hide(self, "scale_fn", o.scale_fn);
      if (m) Object.assign(self, { base_momentums: m.base, max_momentums: m.max, use_beta1: m.beta });
      (self as CyclicClass).base_lrs = base;
    });
    this.base_lrs = base;
  }

  private scale(x: number): number {
    if (this.scale_fn) return this.scale_fn(x);
    return this.mode === "triangular2" ? 1 / 2 ** (x - 1) : this.mode === "exp_range" ? this.gamma ** x : 1;
  }

  override get_lr(): number[] {
    const { last_epoch: t, total_size, step_ratio } = this,
      cycle = Math.floor(1 + t / total_size),
      x = 1 + t / total_size - cycle;
    const height =
      (x <= step_ratio ? x / step_ratio : (x - 1) / (step_ratio - 1)) *
      this.scale(this.scale_mode === "cycle" ? cycle : t);
    if (this.cycle_momentum) {
      groupsIn(this.optimizer).forEach((group, i) => {
        const most = this.max_momentums[i]!;
        setMomentum(group, most - (most - this.base_momentums[i]!) * height, this.use_beta1);
      });
    }
    return this.base_lrs.map((base, i) => base + (this.max_lrs[i]! - base) * height);
  }
}
/**
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1, { step_size_up: 3, cycle_momentum: false });
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.4]
 */
export const CyclicLR = /* @__PURE__ */ callable(CyclicClass, "CyclicLR", "scale !");
export type CyclicLR = CyclicClass;

export interface OneCycleOptions extends Cycling {
  /** How many steps the cycle has; null: `epochs * steps_per_epoch`. */
  total_steps: number | null;
  /** How many epochs the cycle has, where `total_steps` does not say it. */
  epochs: number | null;
  /** How many steps an epoch has, where `total_steps` does not say it. */
  steps_per_epoch: number | null;
  /** The part of the cycle in which the rate rises, from 0 to 1. */
  pct_start: number;
  /** Along half a wave of the cosine, or along a line. */
  anneal_strategy: "cos" | "linear";
  /** By how much the first rate is smaller than `max_lr`. */
  div_factor: number;
  /** By how much the last rate is smaller than the first. */
  final_div_factor: number;
  /** Whether the rate falls as fast as it rose and then, in a third phase, to the last; not at once to the last. */
  three_phase: boolean;
}

/** A part of the cycle: until which step, between which options of a group. */
interface Phase {
  end_step: number;
  start_lr: string;
  end_lr: string;
  start_momentum: string;
  end_momentum: string;
}

function phases(steps: number, start: number, three: boolean): Phase[] {
  const up: Phase = {
    end_step: start * steps - 1,
    start_lr: "initial_lr",
    end_lr: "max_lr",
    start_momentum: "max_momentum",
    end_momentum: "base_momentum",
  };
  const down = (end_step: number, end_lr: string): Phase => ({
    end_step,
    start_lr: "max_lr",
    end_lr,
    start_momentum: "base_momentum",
    end_momentum: "max_momentum",
  });
  if (!three) return [up, down(steps - 1, "min_lr")];
  return [
    up,
    down(2 * start * steps - 2, "initial_lr"),
    {
      end_step: steps - 1,
      start_lr: "initial_lr",
      end_lr: "min_lr",
      start_momentum: "max_momentum",
      end_momentum: "max_momentum",
    },
  ];
}

class OneCycleClass extends LRScheduler {
  declare total_steps: number;
  declare _schedule_phases: Phase[];
  declare _anneal_func_type: OneCycleOptions["anneal_strategy"];
  declare cycle_momentum: boolean;
  declare use_beta1: boolean;

  /** Up to `max_lr` and down to nearly nothing, once in `total_steps` steps. */
  constructor(...args: Scheduled<OneCycleOptions>) {
    const [optimizer, o] = optionsOf<OneCycleOptions>(
      "OneCycleLR",
      "optimizer",
      {
        max_lr: REQUIRED,
        total_steps: null,
        epochs: null,
        steps_per_epoch: null,
        pct_start: 0.3,
        anneal_strategy: "cos",
        cycle_momentum: true,
        base_momentum: 0.85,
        max_momentum: 0.95,
        div_factor: 25,
        final_div_factor: 1e4,
        three_phase: false,
        last_epoch: -1,
      },
      args,
    );
    const begin = o.last_epoch === -1,
      total_steps = stepsOf(o),
      most = perGroup("max_lr", checkOptimizer(optimizer), o.max_lr);
    must(o.pct_start >= 0 && o.pct_start <= 1, `Expected float between 0 and 1 pct_start, but got ${o.pct_start}`);
    must(
      ["cos", "linear"].includes(o.anneal_strategy),
      `anneal_strategy must be one of 'cos' or 'linear', instead got ${o.anneal_strategy}`,
    );
    if (begin) {
      groupsIn(optimizer).forEach((group, i) => {
        const initial_lr = most[i]! / o.div_factor;
        Object.assign(group, { initial_lr, max_lr: most[i], min_lr: initial_lr / o.final_div_factor });
      });
    }
    const m = o.cycle_momentum ? momenta(optimizer, o.base_momentum, o.max_momentum, begin) : null;
    super(optimizer, o.last_epoch, (self: object) => {
      Object.assign(self, {
        total_steps,
        _schedule_phases: phases(total_steps, o.pct_start, o.three_phase),
        _anneal_func_type: o.anneal_strategy,
        cycle_momentum: o.cycle_momentum,
        use_beta1: m?.beta ?? false,
      });
    });
  }

  override get_lr(): number[] {
    const { last_epoch: t, total_steps, _schedule_phases: all } = this;
    must(t <= total_steps, `Tried to step ${t} times. The specified number of total steps is ${total_steps}`);
    const found = all.findIndex((phase) => t <= phase.end_step),
      i = found < 0 ? all.length - 1 : found,
      phase = all[i]!;
    const start = i === 0 ? 0 : all[i - 1]!.end_step,
      part = (t - start) / (phase.end_step - start);
    const between = (a: number, b: number): number =>
      this._anneal_func_type === "linear" ? (b - a) * part + a : b + ((a - b) / 2) * (Math.cos(Math.PI * part) + 1);
    return groupsIn(this.optimizer).map((group) => {
      if (this.cycle_momentum)
        setMomentum(
          group,
          between(rateOf(group, phase.start_momentum), rateOf(group, phase.end_momentum)),
          this.use_beta1,
        );
      return between(rateOf(group, phase.start_lr), rateOf(group, phase.end_lr));
    });
  }
}

function stepsOf({ total_steps, epochs, steps_per_epoch }: OneCycleOptions): number {
  const stepCount = (name: string, n: number): number => {
    must(Number.isInteger(n) && n > 0, `Expected positive integer ${name}, but got ${n}`);
    return n;
  };
  if (total_steps !== null) return stepCount("total_steps", total_steps);
  if (epochs === null || steps_per_epoch === null)
    throw new OpError("You must define either total_steps OR (epochs AND steps_per_epoch)");
  return stepCount("epochs", epochs) * stepCount("steps_per_epoch", steps_per_epoch);
}
/**
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1, { total_steps: 10, cycle_momentum: false });
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.52]
 */
export const OneCycleLR = /* @__PURE__ */ callable(OneCycleClass, "OneCycleLR");
export type OneCycleLR = OneCycleClass;
