// Schedulers of schedulers: one after another, and all at once.

import { nameOf } from "../../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { listOf } from "../../base/argument-kinds.js";
import { callable } from "../../base/callable.js";
import { integers } from "../../base/shape.js";
import { optionsOf } from "../options.js";
import { ReduceLROnPlateau } from "./plateau.js";
import {
  type AnyOptimizer,
  LRScheduler,
  type SchedulerState,
  groupsIn,
  stepping,
  hide,
  rateOf,
  ratesOf,
  setRate,
} from "./scheduler.js";

function checkAll(name: string, schedulers: readonly unknown[], optimizer: AnyOptimizer): void {
  schedulers.forEach((one, i) => {
    if (one instanceof ReduceLROnPlateau) {
      throw new OpError(
        `${name} does not support \`ReduceLROnPlateau\` scheduler as it requires additional kwargs to be specified when calling \`step\`, ` +
          `but got one at index ${i} in the given schedulers sequence.`,
      );
    }
    if (!(one instanceof LRScheduler))
      throw new TypeMismatchError(`${name} at index ${i} should have \`optimizer\` as its attribute.`);
    if (one.optimizer !== optimizer) {
      throw new OpError(
        `${name} expects all schedulers to belong to the same optimizer, but got scheduler ${nameOf(one)} at index ${i}, ` +
          `which is different from ${nameOf(optimizer)}.`,
      );
    }
  });
}

/** A scheduler that asks others; its state holds theirs. */
abstract class Composed extends LRScheduler {
  declare readonly _schedulers: LRScheduler[];

  override begin(): void {
    /* the others have begun */
  }
  override get_lr(): number[] {
    throw new OpError(
      `${nameOf(this)}: get_lr() is not implemented: of the schedulers of SequentialLR only the first may be made of others`,
    );
  }
  override state_dict(): SchedulerState {
    return { ...super.state_dict(), _schedulers: this._schedulers.map((one) => one.state_dict()) };
  }
  override fitting(state_dict: SchedulerState): () => void {
    const { _schedulers: theirs, ...own } = { ...state_dict },
      { length } = this._schedulers;
    if (!Array.isArray(theirs) || theirs.length !== length) {
      throw new OpError(
        `load_state_dict: expected the states of ${length} schedulers as _schedulers of ${nameOf(this)}, got ${describe(theirs)}`,
      );
    }
    const all = [super.fitting(own), ...this._schedulers.map((one, i) => one.fitting(theirs[i] as SchedulerState))];
    return () => {
      for (const load of all) load();
    };
  }
}

/** Takes back the step that a scheduler made when it was constructed. */
function undo(scheduler: LRScheduler): void {
  if (scheduler instanceof Composed) scheduler._schedulers.forEach(undo);
  else scheduler.last_epoch--;
}

interface AtMilestones {
  /** The epoch at which each scheduler after the first begins. */
  milestones: readonly number[];
  last_epoch?: number;
}
type Milestones = readonly number[] | AtMilestones;

class SequentialClass extends Composed {
  declare _milestones: number[];

  /** The first scheduler until the first milestone, then the next. */
  constructor(optimizer: AnyOptimizer, schedulers: readonly LRScheduler[], milestones: Milestones, last_epoch?: number);
  constructor(options: { optimizer: AnyOptimizer; schedulers: readonly LRScheduler[] } & AtMilestones);
  constructor(...args: readonly unknown[]) {
    const [optimizer, { milestones, last_epoch, ...given }] = optionsOf(
      "SequentialLR",
      "optimizer",
      {
        schedulers: undefined as unknown as readonly LRScheduler[],
        milestones: undefined as unknown as readonly number[],
        last_epoch: -1,
      },
      args,
    );
    const schedulers = listOf<LRScheduler>(given.schedulers, "SequentialLR", "schedulers", "a list of schedulers");
    integers([milestones], "SequentialLR", "milestones");
    if (schedulers.length < 1) throw new OpError("SequentialLR expects at least one scheduler, but got no scheduler.");
    checkAll("SequentialLR", schedulers, optimizer);
    if (milestones.length !== schedulers.length - 1) {
      throw new OpError(
        "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, " +
          `but got number of schedulers ${schedulers.length} and the number of milestones to be equal to ${milestones.length}`,
      );
    }
    super(optimizer, last_epoch, (self: object) => {
      hide(self, "_schedulers", [...schedulers]);
      (self as SequentialClass)._milestones = [...milestones];
    });
    this.last_epoch = last_epoch + 1;
    for (const group of groupsIn(optimizer)) setRate(group, rateOf(group, "initial_lr"));
    undo(this);
    const first = this.current();
    if (first instanceof Composed) first.step();
    else first.begin();
    this._last_lr = first.get_last_lr();
  }

  private place(): number {
    return this._milestones.filter((m) => m <= this.last_epoch).length;
  }
  private current(): LRScheduler {
    return this._schedulers[this.place()]!;
  }

  override step(): void {
    stepping(this, () => {
      this.last_epoch++;
      const scheduler = this.current(),
        at = this.place();
      if (at > 0 && this._milestones[at - 1] === this.last_epoch) scheduler.advance(0);
      else scheduler.step();
      this._last_lr = scheduler.get_last_lr();
    });
  }
}
/**
 * @param optimizer whose rates are set
 * @param schedulers those that take turns, of the same optimizer
 * @param last_epoch the number of the last epoch where a training goes on; -1: it begins
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const { ConstantLR, ExponentialLR, SequentialLR } = torch.optim.lr_scheduler;
 * const parts = [ConstantLR(optimizer, { factor: 0.1 }), ExponentialLR(optimizer, 0.5)];
 * const scheduler = SequentialLR(optimizer, parts, [1]);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [1]
 */
export const SequentialLR = /* @__PURE__ */ callable(SequentialClass, "SequentialLR");
export type SequentialLR = SequentialClass;

class ChainedClass extends Composed {
  /** All schedulers at each step, one after another. */
  constructor(schedulers: readonly LRScheduler[], optimizer?: AnyOptimizer | { optimizer?: AnyOptimizer }) {
    schedulers = listOf<LRScheduler>(schedulers, "ChainedScheduler", "schedulers", "a list of schedulers");
    if (schedulers.length < 1)
      throw new OpError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.");
    const own = (optimizer ?? schedulers[0]?.optimizer) as AnyOptimizer;
    checkAll("ChainedScheduler", schedulers, own);
    super(own, -1, (self: object) => {
      hide(self, "_schedulers", [...schedulers]);
    });
    this._last_lr = ratesOf(own);
  }

  override step(): void {
    stepping(this, () => {
      for (const scheduler of this._schedulers) scheduler.step();
      this._last_lr = ratesOf(this.optimizer);
    });
  }
}
/**
 * @param schedulers those that all step, of one optimizer
 * @param optimizer whose rates are set; null: the schedulers' own
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const { ConstantLR, ExponentialLR, ChainedScheduler } = torch.optim.lr_scheduler;
 * const scheduler = ChainedScheduler([ConstantLR(optimizer, { factor: 0.1 }), ExponentialLR(optimizer, 0.5)]);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.05]
 */
export const ChainedScheduler = /* @__PURE__ */ callable(
  ChainedClass,
  "ChainedScheduler",
  "constructor schedulers optimizer?",
);
export type ChainedScheduler = ChainedClass;
