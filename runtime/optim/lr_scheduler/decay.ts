// Schedulers that are one formula of the epoch.

import { Counter } from "../../files/counter.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { must } from "../options.js";
import { type AnyOptimizer, scheduler } from "./scheduler.js";

type Factor = (epoch: number) => number;
interface Lambdas {
  /** From the epoch's number, which counts from 0, to a factor; or a list of one for each group of parameters. */
  lr_lambda: Factor | readonly Factor[];
}
const lambdas = (o: Lambdas): Factor[] => (o as unknown as { lr_lambdas: Factor[] }).lr_lambdas;

/** One function for each group. */
function keepLambdas({ lr_lambda }: Lambdas, optimizer: AnyOptimizer): { lr_lambdas: Factor[] } {
  const { length } = optimizer.param_groups;
  const all = Array.isArray(lr_lambda)
    ? [...(lr_lambda as Factor[])]
    : new Array<Factor>(length).fill(lr_lambda as Factor);
  if (all.length !== length) throw new OpError(`Expected ${length} lr_lambdas, but got ${all.length}`);
  for (const f of all)
    if (typeof f !== "function") throw new TypeMismatchError(`lr_lambda should be a function, but got ${describe(f)}`);
  return { lr_lambdas: all };
}

/**
 * The first rate times `lr_lambda(epoch)`.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, (epoch) => 0.5 ** epoch);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const LambdaLR = /* @__PURE__ */ scheduler<Lambdas>({
  name: "LambdaLR",
  defaults: { lr_lambda: undefined },
  keep: keepLambdas,
  next: (o, { t, base, group }) => base * (lambdas(o)[group]?.(t) ?? NaN),
});
/**
 * The last rate times `lr_lambda(epoch)`.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, () => 0.5);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const MultiplicativeLR = /* @__PURE__ */ scheduler<Lambdas>({
  name: "MultiplicativeLR",
  defaults: { lr_lambda: undefined },
  keep: keepLambdas,
  next: (o, { t, lr, group, initial }) => (initial ? lr : lr * (lambdas(o)[group]?.(t) ?? NaN)),
});

/** What those take that multiply the rate again and again. */
interface Multiplied {
  /** By what the rate is multiplied each time. */
  gamma: number;
}
interface StepOptions extends Multiplied {
  /** After how many epochs the rate is multiplied again. */
  step_size: number;
}
/**
 * Times `gamma` every `step_size` epochs.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const StepLR = /* @__PURE__ */ scheduler<StepOptions>({
  name: "StepLR",
  defaults: { step_size: undefined, gamma: 0.1 },
  next: (o, { t, lr }) => (t === 0 || t % o.step_size !== 0 ? lr : lr * o.gamma),
  closed: (o, t, base) => base * o.gamma ** Math.floor(t / o.step_size),
});

/** The scheduler keeps how often each epoch is among them, as PyTorch's does. */
interface Milestones extends Multiplied {
  /** The numbers of the epochs at which the rate is multiplied; one that stands there twice counts twice. */
  milestones: readonly number[] | Counter;
}

/**
 * Times `gamma` at each of the milestones.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 10], 0.5);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const MultiStepLR = /* @__PURE__ */ scheduler<Milestones>({
  name: "MultiStepLR",
  defaults: { milestones: undefined, gamma: 0.1 },
  keep: ({ milestones, gamma }) => ({ milestones: Counter.of(milestones), gamma }),
  next: ({ milestones, gamma }, { t, lr }) => lr * gamma ** ((milestones as Counter)[t] ?? 0),
  closed: ({ milestones, gamma }, t, base) =>
    Object.entries(milestones as Counter).reduce((lr, [n, times]) => (Number(n) <= t ? lr * gamma ** times : lr), base),
});

/** What those take that are at an end after so many epochs. */
interface Ending {
  /** After how many epochs the rate stays as it is. */
  total_iters: number;
}
interface ConstantOptions extends Ending {
  /** The part of the rate that is used until then, from 0 to 1. */
  factor: number;
}
/**
 * A part of the rate, and all of it after `total_iters` epochs.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, { factor: 0.5 });
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const ConstantLR = /* @__PURE__ */ scheduler<ConstantOptions>({
  name: "ConstantLR",
  defaults: { factor: 1 / 3, total_iters: 5 },
  check: ({ factor }) => {
    must(factor >= 0 && factor <= 1, "Constant multiplicative factor expected to be between 0 and 1.");
  },
  next: ({ factor, total_iters }, { t, lr }) => (t === 0 ? lr * factor : t === total_iters ? lr * (1 / factor) : lr),
  closed: ({ factor, total_iters }, t, base) => base * (t >= total_iters ? 1 : factor),
});

interface LinearOptions extends Ending {
  /** The part of the rate in the first epoch, above 0 and up to 1. */
  start_factor: number;
  /** The part of the rate at the end, from 0 to 1. */
  end_factor: number;
}
/**
 * From one part of the rate to another in a straight line.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, { start_factor: 0.5, total_iters: 2 });
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.75]
 */
export const LinearLR = /* @__PURE__ */ scheduler<LinearOptions>({
  name: "LinearLR",
  defaults: { start_factor: 1 / 3, end_factor: 1, total_iters: 5 },
  check({ start_factor, end_factor }) {
    must(
      start_factor > 0 && start_factor <= 1,
      "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.",
    );
    must(end_factor >= 0 && end_factor <= 1, "Ending multiplicative factor expected to be between 0 and 1.");
  },
  next({ start_factor: a, end_factor: b, total_iters: n }, { t, lr, initial }) {
    if (t === 0) return lr * a;
    return initial || t > n ? lr : lr * (1 + (b - a) / (n * a + (t - 1) * (b - a)));
  },
  closed: ({ start_factor: a, end_factor: b, total_iters: n }, t, base) => base * (a + ((b - a) * Math.min(n, t)) / n),
});

/**
 * Times `gamma` each epoch.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const ExponentialLR = /* @__PURE__ */ scheduler<Multiplied>({
  name: "ExponentialLR",
  defaults: { gamma: undefined },
  next: ({ gamma }, { lr, initial }) => (initial ? lr : lr * gamma),
  closed: ({ gamma }, t, base) => base * gamma ** t,
});

interface PolynomialOptions extends Ending {
  /** 1 is a straight line, more falls faster at first. */
  power: number;
}
/**
 * Down to nothing in `total_iters` epochs, as a power of what is left.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, { total_iters: 4 });
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.75]
 */
export const PolynomialLR = /* @__PURE__ */ scheduler<PolynomialOptions>({
  name: "PolynomialLR",
  defaults: { total_iters: 5, power: 1 },
  next: ({ total_iters: n, power }, { t, lr, initial }) =>
    initial || t > n ? lr : lr * ((1 - t / n) / (1 - (t - 1) / n)) ** power,
  closed: ({ total_iters: n, power }, t, base) => base * (1 - Math.min(n, t) / n) ** power,
});

interface CosineOptions {
  /** How many epochs the way down takes. */
  T_max: number;
  /** The smallest rate. */
  eta_min: number;
}
/**
 * Half a wave of the cosine down to `eta_min` in `T_max` epochs, and up again.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2);
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.5]
 */
export const CosineAnnealingLR = /* @__PURE__ */ scheduler<CosineOptions>({
  name: "CosineAnnealingLR",
  defaults: { T_max: undefined, eta_min: 0 },
  next({ T_max, eta_min }, { t, lr, base, initial, steps }) {
    if (initial) return lr;
    if (steps === 1 && t > 0) return eta_min + ((base - eta_min) * (1 + Math.cos((t * Math.PI) / T_max))) / 2;
    if ((t - 1 - T_max) % (2 * T_max) === 0) return lr + ((base - eta_min) * (1 - Math.cos(Math.PI / T_max))) / 2;
    return (
      ((1 + Math.cos((Math.PI * t) / T_max)) / (1 + Math.cos((Math.PI * (t - 1)) / T_max))) * (lr - eta_min) + eta_min
    );
  },
  closed: ({ T_max, eta_min }, t, base) => eta_min + ((base - eta_min) * (1 + Math.cos((Math.PI * t) / T_max))) / 2,
});
