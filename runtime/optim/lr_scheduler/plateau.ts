// Less when nothing gets better any more.

import { capturing } from "../../base/capturing.js";
import { OpError } from "../../base/errors.js";
import { callable } from "../../base/callable.js";
import type { Tensor } from "../../tensor/tensor.js";
import { must, optionsOf } from "../options.js";
import { numberOf } from "../state.js";
import { LRScheduler, type Scheduled, checkOptimizer, groupsIn, hide, rateOf, ratesOf, setRate } from "./scheduler.js";

export interface PlateauOptions {
  /** Whether a smaller or a larger metric is better. */
  mode: "min" | "max";
  /** By what the rate is multiplied, below 1. */
  factor: number;
  /** How many epochs in a row may bring nothing better. */
  patience: number;
  /** By how much a metric has to be better to count. */
  threshold: number;
  /** Whether `threshold` is a part of the best metric so far, or an amount. */
  threshold_mode: "rel" | "abs";
  /** How many epochs are not counted after the rate has become less. */
  cooldown: number;
  /** The smallest rate, or a list of one for each group of parameters. */
  min_lr: number | readonly number[];
  /** A change of the rate that is not larger than this is not made. */
  eps: number;
}

class PlateauClass extends LRScheduler {
  declare mode: PlateauOptions["mode"];
  declare factor: number;
  declare patience: number;
  declare threshold: number;
  declare threshold_mode: PlateauOptions["threshold_mode"];
  declare cooldown: number;
  declare eps: number;
  declare default_min_lr: number | null;
  declare min_lrs: number[];
  declare best: number;
  declare cooldown_counter: number;
  declare num_bad_epochs: number;

  /** Times `factor` once the metric has not got better by `threshold` for more than `patience` epochs. */
  constructor(...args: Scheduled<PlateauOptions, unknown>) {
    const [optimizer, { min_lr, ...o }] = optionsOf<PlateauOptions>(
      "ReduceLROnPlateau",
      "optimizer",
      {
        mode: "min",
        factor: 0.1,
        patience: 10,
        threshold: 1e-4,
        threshold_mode: "rel",
        cooldown: 0,
        min_lr: 0,
        eps: 1e-8,
      },
      args,
    );
    must(o.factor < 1, "Factor should be < 1.0.");
    const { length } = checkOptimizer(optimizer).param_groups,
      several = Array.isArray(min_lr);
    if (several)
      must((min_lr as number[]).length === length, `expected ${length} min_lrs, got ${(min_lr as number[]).length}`);
    must(["min", "max"].includes(o.mode), `mode ${o.mode} is unknown!`);
    must(["rel", "abs"].includes(o.threshold_mode), `threshold mode ${o.threshold_mode} is unknown!`);
    super(optimizer, -1, (self: object) => {
      Object.assign(self, o, {
        default_min_lr: several ? null : min_lr,
        min_lrs: several ? [...(min_lr as number[])] : new Array<number>(length).fill(min_lr as number),
        best: o.mode === "min" ? Infinity : -Infinity,
        cooldown_counter: 0,
        num_bad_epochs: 0,
      });
    });
  }

  /** The rates stay until the first metric comes. */
  override begin(): void {
    this.last_epoch = 0;
    this._last_lr = ratesOf(this.optimizer);
    for (const key of ["_step_count", "base_lrs"]) hide(this, key, (this as unknown as Record<string, unknown>)[key]);
  }

  get in_cooldown(): boolean {
    return this.cooldown_counter > 0;
  }

  /** Takes the metric of an epoch: a number or a tensor on the CPU; a promise where a tensor on a GPU holds it. */
  override step(metric?: number | Tensor, epoch?: number): void | Promise<void> {
    if (metric === undefined)
      throw new OpError("ReduceLROnPlateau.step() missing 1 required positional argument: 'metrics'");
    const value = numberOf(metric);
    return value instanceof Promise
      ? value.then((number) => {
          this.take(number, epoch);
        })
      : this.take(value, epoch);
  }

  private take(metric: number, epoch?: number): void {
    capturing?.refuse("ReduceLROnPlateau.step() looks at a number");
    epoch ??= this.last_epoch + 1;
    this.last_epoch = epoch;
    if (this.better(metric)) {
      this.best = metric;
      this.num_bad_epochs = 0;
    } else this.num_bad_epochs++;
    if (this.in_cooldown) {
      this.cooldown_counter--;
      this.num_bad_epochs = 0;
    }
    if (this.num_bad_epochs > this.patience) {
      this.reduce();
      this.cooldown_counter = this.cooldown;
      this.num_bad_epochs = 0;
    }
    this._last_lr = ratesOf(this.optimizer);
  }

  private better(metric: number): boolean {
    const { best, threshold, mode, threshold_mode } = this,
      sign = mode === "min" ? -1 : 1;
    const than = threshold_mode === "rel" ? best * (1 + sign * threshold) : best + sign * threshold;
    return mode === "min" ? metric < than : metric > than;
  }

  private reduce(): void {
    const groups = groupsIn(this.optimizer);
    if (groups.length !== this.min_lrs.length) {
      if (this.default_min_lr === null) {
        throw new OpError(
          `The number of param groups in the \`optimizer\` (${groups.length}) differs from when \`ReduceLROnPlateau\` was initialized ` +
            `(${this.min_lrs.length}), usually due to a new param group being added to the optimizer. Please modify the \`min_lrs\` field to match the length of the \`optimizer\` param groups.`,
        );
      }
      this.min_lrs = new Array<number>(groups.length).fill(this.default_min_lr);
    }
    groups.forEach((group, i) => {
      const before = rateOf(group),
        after = Math.max(before * this.factor, this.min_lrs[i]!);
      if (before - after > this.eps) setRate(group, after);
    });
  }
}
/**
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, { patience: 0, factor: 0.5 });
 * for (const loss of [3, 4]) scheduler.step(loss);
 * scheduler.get_last_lr()  // [0.5]
 */
export const ReduceLROnPlateau = /* @__PURE__ */ callable(
  PlateauClass,
  "ReduceLROnPlateau",
  "step metrics? epoch?, take !, better !",
);
export type ReduceLROnPlateau = PlateauClass;
