// Options of optimizers and schedulers by name and by position, with PyTorch's names, defaults and complaints.

import { named } from "../base/named-arguments.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";

/** Options by which PyTorch chooses kernels: groups hold them, and they change nothing here. */
export interface Kernels {
  /** Taken for PyTorch's sake, without effect: parameters are changed together wherever they can be, default null. */
  foreach?: boolean | null;
  /** Taken for PyTorch's sake, without effect: every step can be captured, default false. */
  capturable?: boolean;
  /** Taken for PyTorch's sake, without effect: a step is one kernel wherever it can be, default null. */
  fused?: boolean | null;
  /** Taken for PyTorch's sake; true is refused, default false. */
  differentiable?: boolean;
}

/** Refuses of these options what PyTorch refuses, and steps that gradients go through. */
export function checkKernels({ foreach, fused, differentiable }: Kernels): void {
  must(!(fused && differentiable), "`fused` does not support `differentiable`");
  must(!(fused && foreach), "`fused` and `foreach` cannot be `true` together.");
  must(!differentiable, "differentiable steps are not supported");
}

/** What nearly every optimizer takes. */
export interface Shared {
  /** How far a step goes: the learning rate. */
  lr: Rate;
  /** How strongly each step draws parameters towards 0. */
  weight_decay: number;
  /** Whether steps make the loss larger, not smaller. */
  maximize: boolean;
}
/** What those take that may draw parameters towards 0 without the gradient, as AdamW does. */
export interface Decoupled {
  /** Whether `weight_decay` makes parameters smaller by themselves, not through the gradient and what is kept of it. */
  decoupled_weight_decay: boolean;
}
/** What those take that go on in the direction of the steps before. */
export interface Momentum {
  /** How much of the last step's direction is kept, from 0 to 1. */
  momentum: number;
  /** Whether the gradient looks ahead along the momentum (Nesterov's). */
  nesterov: boolean;
}

/**
 * `params` or `optimizer`, and the options of `args`, by position in the order of `defaults` or in a trailing object, and
 * defaults for the others (undefined: none).  `byName`: the first option that has no position.
 */
export function optionsOf<O extends object>(
  name: string,
  first: string,
  defaults: O,
  args: readonly unknown[],
  byName?: string,
): [first: never, options: O] {
  const names = [first, ...Object.keys(defaults)],
    out = { ...defaults, [first]: undefined } as Record<string, unknown>,
    values = named(`${name}.__init__()`, names, args, byName ? names.indexOf(byName) : names.length);
  names.forEach((key, i) => {
    if (values[i] !== undefined) out[key] = values[i];
    else if (out[key] === undefined)
      throw new TypeMismatchError(`${name}.__init__() missing required argument: '${key}'`);
  });
  const { [first]: whose, ...options } = out;
  return [whose as never, options as O];
}

/** What `body` answers; its errors begin with `name`, whose options or parameters they are about. */
export function naming<T>(name: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof OpError) error.message = `${name}: ${error.message}`;
    throw error;
  }
}

/** Throws `message` unless the condition holds. */
export function must(holds: boolean, message: string): void {
  if (!holds) throw new OpError(message);
}

export const shown = (value: unknown): string => (typeof value === "number" ? String(value) : describe(value));

/** A learning rate: a number, or a tensor with one element. */
export type Rate = number | Tensor;

export function mustBeRate(lr: Rate, message = "Invalid learning rate"): void {
  if (lr instanceof Tensor) must(lr.numel() === 1, "Tensor lr must be 1-element");
  else must(typeof lr === "number" && lr >= 0, `${message}: ${shown(lr)}`);
}

/** The complaint that most options have: less than nothing. */
export function mustNotBeNegative<O extends object>(options: O, texts: Partial<Record<keyof O, string>>): void {
  for (const [key, text] of Object.entries(texts)) {
    const value = (options as Record<string, unknown>)[key] as number;
    must(typeof value === "number" && value >= 0, `Invalid ${text as string}: ${shown(value)}`);
  }
}

export type Betas = readonly [number, number];

export function mustBeBetas(betas: Betas): void {
  must(Array.isArray(betas) && betas.length === 2, "betas must be a pair of numbers");
  betas.forEach((beta, i) => {
    must(typeof beta === "number" && beta >= 0 && beta < 1, `Invalid beta parameter at index ${i}: ${shown(beta)}`);
  });
}
