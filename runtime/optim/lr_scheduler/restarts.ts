// Cosine annealing that begins anew: SGDR.

import { callable } from "../../base/callable.js";
import { must, optionsOf, shown } from "../options.js";
import { type LastEpoch, LRScheduler, type Scheduled, stepping } from "./scheduler.js";

export interface WarmRestartsOptions extends Partial<LastEpoch> {
  /** How many epochs the first wave takes. */
  T_0: number;
  /** By what each wave is longer than the one before, a whole number. */
  T_mult?: number;
  /** The smallest rate, at the end of each wave. */
  eta_min?: number;
}

class WarmRestarts extends LRScheduler {
  declare readonly T_0: number;
  declare readonly T_mult: number;
  declare readonly eta_min: number;
  /** How long this wave is, and how far it is. */
  declare T_i: number;
  declare T_cur: number;

  /** Waves of `T_0` epochs, each `T_mult` times as long as the one before, from the first rate down to `eta_min`. */
  constructor(...args: Scheduled<WarmRestartsOptions>) {
    const [optimizer, { last_epoch, ...o }] = optionsOf(
      "CosineAnnealingWarmRestarts",
      "optimizer",
      { T_0: undefined as unknown as number, T_mult: 1, eta_min: 0, last_epoch: -1 },
      args,
    );
    must(Number.isInteger(o.T_0) && o.T_0 > 0, `Expected positive integer T_0, but got ${shown(o.T_0)}`);
    must(Number.isInteger(o.T_mult) && o.T_mult >= 1, `Expected integer T_mult >= 1, but got ${shown(o.T_mult)}`);
    must(
      typeof o.eta_min === "number",
      `Expected float or int eta_min, but got ${String(o.eta_min)} of type ${typeof o.eta_min}`,
    );
    super(optimizer, last_epoch, (self: object) => {
      Object.assign(self, o, { T_i: o.T_0, T_cur: last_epoch });
    });
  }

  override get_lr(): number[] {
    return this.base_lrs.map(
      (base) => this.eta_min + ((base - this.eta_min) * (1 + Math.cos((Math.PI * this.T_cur) / this.T_i))) / 2,
    );
  }

  /** Goes on to the next epoch, or to `epoch`, which may be a fraction. */
  override step(epoch?: number): void {
    stepping(this, () => {
      this.restart(epoch);
    });
  }

  private restart(epoch?: number): void {
    const { T_0, T_mult } = this;
    let to = epoch ?? (this.last_epoch < 0 ? 0 : undefined);
    if (to === undefined) {
      to = this.last_epoch + 1;
      if (++this.T_cur >= this.T_i) {
        this.T_cur %= this.T_i;
        this.T_i *= T_mult;
      }
    } else {
      must(to >= 0, `Expected non-negative epoch, but got ${to}`);
      const n = to < T_0 || T_mult === 1 ? 0 : Math.trunc(Math.log((to / T_0) * (T_mult - 1) + 1) / Math.log(T_mult));
      this.T_i = T_0 * T_mult ** n;
      this.T_cur = T_mult === 1 ? to % T_0 : to - (T_0 * (T_mult ** n - 1)) / (T_mult - 1);
    }
    this._step_count++;
    this.last_epoch = Math.floor(to);
    this.put(this.get_lr());
  }
}

/**
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 4);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.853553]
 */
export const CosineAnnealingWarmRestarts = /* @__PURE__ */ callable(
  WarmRestarts,
  "CosineAnnealingWarmRestarts",
  "step epoch?, restart !",
);
export type CosineAnnealingWarmRestarts = WarmRestarts;
