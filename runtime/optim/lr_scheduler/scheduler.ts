// What all learning-rate schedulers share, and schedulers from a formula.  A scheduler sets `lr` in the groups of its
// optimizer.

import { capturing } from "../../base/capturing.js";
import { fill_ } from "../../views/transfer.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { Counter } from "../../files/counter.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { callable } from "../../base/callable.js";
import { limited } from "../../base/named-arguments.js";
import { Tensor } from "../../tensor/tensor.js";
import { titled, nameOf } from "../../base/class-name.js";
import type { Group } from "../groups.js";
import { Optimizer } from "../optimizer.js";
import { optionsOf } from "../options.js";
import { numberOf } from "../state.js";

export type AnyOptimizer = Optimizer<object>;
export type AnyGroup = Group<Record<string, unknown>>;
export type SchedulerState = Record<string, unknown>;

/** The groups of an optimizer, whatever its options are. */
export const groupsIn = (optimizer: AnyOptimizer): AnyGroup[] => optimizer.param_groups as unknown as AnyGroup[];

export function checkOptimizer(value: unknown): AnyOptimizer {
  if (value instanceof Optimizer) return value as AnyOptimizer;
  throw new TypeMismatchError(`${describe(value)} is not an Optimizer`);
}

/** An option of a group as a number. */
export function rateOf(group: AnyGroup, key = "lr"): number {
  const value = numberOf(group[key]);
  if (value instanceof Promise)
    throw new OpError(
      `lr_scheduler: the option ${key} is a tensor on a GPU; schedulers need a number, or a tensor on the CPU`,
    );
  return value;
}

/** Sets a group's learning rate; a tensor's element is replaced. */
export function setRate(group: AnyGroup, rate: number): void {
  if (group["lr"] instanceof Tensor) unrecorded(() => fill_(group["lr"] as Tensor, rate));
  else group["lr"] = rate;
}

export const ratesOf = (optimizer: AnyOptimizer): number[] => groupsIn(optimizer).map((group) => rateOf(group));

/** A value for each group: itself, or one of a list; of tensors the numbers that they hold now. */
export function perGroup<T>(name: string, optimizer: AnyOptimizer, value: T | readonly T[]): T[] {
  const { length } = optimizer.param_groups,
    now = (x: T): T => (x instanceof Tensor ? (rateOf({ [name]: x } as unknown as AnyGroup, name) as T) : x);
  if (!Array.isArray(value)) return new Array<T>(length).fill(now(value as T));
  if (value.length !== length)
    throw new OpError(
      `${name} must have the same length as optimizer.param_groups. ${name} has ${value.length} values, param_groups has ${length}.`,
    );
  return (value as T[]).map(now);
}

/** Makes a step of a scheduler, which a replay of captured code makes, too. */
export function stepping(scheduler: LRScheduler, step: () => void): void {
  if (capturing) capturing.again(nameOf(scheduler), step);
  else step();
}

/**
 * @param optimizer whose groups' rates are set
 * @param last_epoch the number of the last epoch where a training goes on; -1: it begins
 * @param prepare gets the scheduler before its first rates are computed, default null
 *
 * @example
 * class Halving extends torch.optim.lr_scheduler.LRScheduler {
 *   get_lr() { return this.base_lrs.map((lr) => lr * 0.5 ** this.last_epoch); }
 * }
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = new Halving(optimizer);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export class LRScheduler {
  declare readonly optimizer: AnyOptimizer;
  declare base_lrs: number[];
  declare last_epoch: number;
  declare _step_count: number;
  declare _last_lr: number[];
  /** Whether the constructor's own step is being made. */
  declare protected initial: boolean;

  /** `last_epoch`: -1, or where to go on.  `prepare` sets what get_lr() needs before the first rates are computed. */
  constructor(optimizer: AnyOptimizer, last_epoch = -1, prepare?: (self: never) => void) {
    hide(this, "optimizer", checkOptimizer(optimizer));
    hide(this, "initial", false);
    prepare?.(this as never);
    groupsIn(optimizer).forEach((group, i) => {
      if (last_epoch === -1) group["initial_lr"] ??= rateOf(group);
      else if (!("initial_lr" in group)) {
        throw new OpError(
          `param 'initial_lr' is not specified in param_groups[${i}] when resuming scheduler with last_epoch >= 0`,
        );
      }
    });
    this.base_lrs = groupsIn(optimizer).map((group) => rateOf(group, "initial_lr"));
    this.last_epoch = last_epoch;
    this.begin();
  }

  /** @internal The first step, which sets the rates of epoch 0. */
  begin(): void {
    this._step_count = 0;
    this.initial = true;
    this.step();
    this.initial = false;
  }

  /** The rates that the last step set. */
  get_last_lr(): number[] {
    return this._last_lr;
  }
  /** The rates of epoch `last_epoch`, from those of the one before.  For subclasses to say. */
  get_lr(): number[] {
    throw new OpError(`${nameOf(this)}: get_lr() is not implemented`);
  }
  /** The same from the epoch's number alone, where there is such a formula. */
  protected closed(): number[] | null {
    return null;
  }

  /** Goes on to the next epoch, or to `epoch`. */
  step(epoch?: number): void {
    if (this._step_count === 1 && this.optimizer.stepCount === 0) {
      console.warn(
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in the opposite order: " +
          "failure to do this skips the first value of the learning rate schedule.",
      );
    }
    stepping(this, () => {
      this._step_count++;
      this.advance(epoch);
    });
  }

  /** @internal Sets the rates of the next epoch, or of `epoch`. */
  advance(epoch?: number): void {
    this.last_epoch = epoch ?? this.last_epoch + 1;
    this.put((epoch === undefined ? null : this.closed()) ?? this.get_lr());
  }

  protected put(rates: readonly number[]): void {
    const groups = groupsIn(this.optimizer);
    for (let i = this.base_lrs.length; i < groups.length; i++)
      if (Number.isNaN(rates[i] ?? NaN))
        throw new OpError(
          `${nameOf(this)}: param_groups[${i}] was added after this scheduler was made, which has no first learning rate of it`,
        );
    groups.forEach((group, i) => {
      setRate(group, rates[i]!);
    });
    this._last_lr = ratesOf(this.optimizer);
  }

  /** All that it keeps, but the optimizer and functions. */
  state_dict(): SchedulerState {
    return Object.fromEntries(
      Object.entries(this)
        .filter(([, value]) => typeof value !== "function")
        .map(([key, value]) => [
          key,
          Array.isArray(value) ? value.map((x: unknown) => (typeof x === "function" ? null : x)) : value,
        ]),
    );
  }
  /** Takes what it keeps itself from a state, all of it or, where something does not fit, nothing. */
  load_state_dict(state_dict: SchedulerState): void {
    this.fitting(state_dict)();
  }

  /** @internal What loads the state; throws if it does not fit. */
  fitting(state_dict: SchedulerState): () => void {
    if (kindOf(state_dict) !== "object")
      throw new TypeMismatchError(`load_state_dict: expected an object, got ${describe(state_dict)}`);
    const taken: [string, unknown][] = [];
    for (const [key, mine] of Object.entries(this.state_dict())) {
      let value = Object.hasOwn(state_dict, key) ? state_dict[key] : undefined;
      if (mine instanceof Counter && counts(value)) value = Counter.of(value);
      const functions = Array.isArray(value) && value.length > 0 && value.every((x) => x === null);
      // JSON has null for an infinity.
      if (value === undefined || functions || (value === null && Math.abs(mine as number) === Infinity)) continue;
      const always = OWN.indexOf(key),
        fits = always < 0 ? value === null || mine === null : false;
      if (
        !fits &&
        (kindOf(value) !== kindOf(mine) ||
          mine instanceof Counter !== value instanceof Counter ||
          (Array.isArray(mine) && mine.length > 0 && !(value as unknown[]).every((x) => kindOf(x) === kindOf(mine[0]))))
      ) {
        throw new TypeMismatchError(
          `load_state_dict: ${key} of ${nameOf(this)}: expected ${describe(mine)}, got ${describe(value)}`,
        );
      }
      if (always > 1 && (value as unknown[]).length !== this.optimizer.param_groups.length) {
        throw new OpError(
          `load_state_dict: ${key} of ${nameOf(this)} has ${(value as unknown[]).length} values, the optimizer has ${this.optimizer.param_groups.length} groups`,
        );
      }
      taken.push([key, Array.isArray(value) ? [...(value as unknown[])] : value]);
    }
    return () => {
      Object.assign(this, Object.fromEntries(taken));
    };
  }
}
titled(LRScheduler, "LRScheduler");
limited(LRScheduler, "LRScheduler.", "step epoch?, advance !, put !, load_state_dict state_dict{}, fitting !");

/** Entries of every state that are never null; from the third on a number for each group. */
const OWN = ["last_epoch", "_step_count", "base_lrs", "_last_lr"];
/** Whole numbers, or how often each is there. */
const counts = (value: unknown): value is number[] | Record<number, number> =>
  typeof value === "object" &&
  value !== null &&
  [...Object.values(value), ...(Array.isArray(value) ? [] : Object.keys(value).map(Number))].every(Number.isInteger);
const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "list" : typeof value);

/** A property that is no part of the state. */
export function hide(self: object, key: string, value: unknown): void {
  Object.defineProperty(self, key, { value, writable: true, enumerable: false, configurable: true });
}

// --- From a formula -----------------------------------------------------------------------------------

/** Where a scheduler is: the epoch, a group's rate in the one before and at first, and the group's place. */
export interface Place {
  t: number;
  lr: number;
  base: number;
  group: number;
  /** Whether the constructor asks. */
  initial: boolean;
  /** Steps of this scheduler. */
  steps: number;
}

export interface Course<O extends object> {
  readonly name: string;
  /** In the order of PyTorch's constructor; undefined where there is no default. */
  readonly defaults: { readonly [K in keyof O]: O[K] | undefined };
  readonly check?: (options: O, optimizer: AnyOptimizer) => void;
  /** What the options are kept as. */
  readonly keep?: (options: O, optimizer: AnyOptimizer) => object;
  /** The rate of epoch `t` from the one before. */
  readonly next: (options: O, at: Place) => number;
  /** The same from the first. */
  readonly closed?: (options: O, t: number, base: number) => number;
}

/** What schedulers take last. */
export interface LastEpoch {
  /** The number of the last epoch where a training goes on; -1: it begins, default -1. */
  last_epoch: number;
}
type GivenOptions<O, E> = Partial<O & E>;
/** An optimizer and options, by position in PyTorch's order, in an object, or both. */
export type Scheduled<O, E = LastEpoch> =
  | [optimizer: AnyOptimizer, options?: GivenOptions<O, E> | O[keyof O], ...others: unknown[]]
  | [options: GivenOptions<O, E> & { optimizer: AnyOptimizer }];

export interface SchedulerClass<O extends object> {
  new (...args: Scheduled<O>): LRScheduler & O;
  (...args: Scheduled<O>): LRScheduler & O;
}

/** The class of a scheduler that a formula describes; it can be called with and without `new`. */
export function scheduler<O extends object>(course: Course<O>): SchedulerClass<O> {
  class Made extends LRScheduler {
    constructor(...args: unknown[]) {
      const [optimizer, { last_epoch, ...rest }] = optionsOf<O & { last_epoch: number }>(
        course.name,
        "optimizer",
        { ...course.defaults, last_epoch: -1 } as O & { last_epoch: number },
        args,
      );
      const options = rest as unknown as O;
      course.check?.(options, checkOptimizer(optimizer));
      super(optimizer, last_epoch, (self: object) => {
        Object.assign(self, course.keep?.(options, optimizer) ?? options);
      });
    }
    override get_lr(): number[] {
      return groupsIn(this.optimizer).map((group, i) =>
        course.next(this as unknown as O, {
          t: this.last_epoch,
          lr: rateOf(group),
          base: this.base_lrs[i]!,
          group: i,
          initial: this.initial,
          steps: this._step_count,
        }),
      );
    }
    protected override closed(): number[] | null {
      return course.closed
        ? this.base_lrs.map((base) => course.closed!(this as unknown as O, this.last_epoch, base))
        : null;
    }
  }
  return callable(Made, course.name) as unknown as SchedulerClass<O>;
}
