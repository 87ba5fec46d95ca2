// Values of a GPU that decide what a program does next.  What reads one stops with `Waiting`; whoever runs the program
// fetches it and begins that operator anew, and the program's result is a promise from then on.

import { OpError } from "../base/errors.js";
import { capturing } from "../base/capturing.js";
import { is_grad_enabled, set_grad_enabled } from "../tape/grad-mode.js";
import type { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";

/** What stops an operator: a tensor whose elements are not here yet. */
export class Waiting {
  constructor(readonly tensor: Tensor) {}
  /** Fetches them. */
  async arrived(): Promise<void> {
    copies.set(this.tensor, await (to(this.tensor.detach(), ["cpu"]) as unknown as Promise<Tensor>));
  }
}

const copies = new WeakMap<Tensor, Tensor>();

/** The tensor, or its copy on the CPU, whose memory can be read at once; throws Waiting where there is none yet.  Since
 *  the operator begins anew then, `x` must be what it was given, not something that it made. */
export function here(x: Tensor): Tensor {
  if (x.device === "cpu") return x;
  const copy = copies.get(x);
  if (!copy) throw new Waiting(x);
  return copy;
}

/** Work that waits for what it yields. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** A value at once, or once it is there. */
export function* settled<T>(value: T | Promise<T>): Steps<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** More tensors than any operator reads: what it makes anew each time is never there. */
const MOST = 100;

/** Calls `work` until nothing that it reads is missing. */
export function* completed<T>(work: () => T): Steps<T> {
  for (let waits = 0; ; waits++) {
    try {
      return work();
    } catch (stop) {
      if (!(stop instanceof Waiting)) throw stop;
      capturing?.read(stop.tensor.storage); // may refuse it, in the operator that reads
      if (waits === MOST) throw new OpError(`it reads over ${MOST} values of ${stop.tensor.device}`);
      yield stop.arrived();
    }
  }
}

/** Does all of it: at once, or from the first wait on as a promise, with gradients recorded as they are now. */
export function finished<T>(steps: Steps<T>): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : rest(steps, first.value, is_grad_enabled());
}

async function rest<T>(steps: Steps<T>, wait: Promise<unknown>, recording: boolean): Promise<T> {
  let next: () => IteratorResult<Promise<unknown>, T>;
  for (;;) {
    try {
      const value = await wait;
      next = () => steps.next(value);
    } catch (error) {
      next = () => steps.throw(error);
    }
    const step = set_grad_enabled(recording, next);
    if (step.done) return step.value;
    wait = step.value;
  }
}
