// Schedulers that are one formula of the epoch.

import { Counter } from "../../files/counter.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { must } from "../options.js";
import { type AnyOptimizer, scheduler } from "./scheduler.js";

type Factor = (epoch: number) => number;
interface Lambdas {
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
export const StepLR = /* @__PURE__ */ scheduler<{ step_size: number; gamma: number }>({
  name: "StepLR",
  defaults: { step_size: undefined, gamma: 0.1 },
  next: (o, { t, lr }) => (t === 0 || t % o.step_size !== 0 ? lr : lr * o.gamma),
  closed: (o, t, base) => base * o.gamma ** Math.floor(t / o.step_size),
});

/** The scheduler keeps how often each epoch is among them, as PyTorch's does. */
interface Milestones {
  milestones: readonly number[] | Counter;
  gamma: number;
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
export const ConstantLR = /* @__PURE__ */ scheduler<{ factor: number; total_iters: number }>({
  name: "ConstantLR",
  defaults: { factor: 1 / 3, total_iters: 5 },
  check: ({ factor }) => {
    must(factor >= 0 && factor <= 1, "Constant multiplicative factor expected to be between 0 and 1.");
  },
  next: ({ factor, total_iters }, { t, lr }) => (t === 0 ? lr * factor : t === total_iters ? lr * (1 / factor) : lr),
  closed: ({ factor, total_iters }, t, base) => base * (t >= total_iters ? 1 : factor),
});

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
export const LinearLR = /* @__PURE__ */ scheduler<{ start_factor: number; end_factor: number; total_iters: number }>({
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
export const ExponentialLR = /* @__PURE__ */ scheduler<{ gamma: number }>({
  name: "ExponentialLR",
  defaults: { gamma: undefined },
  next: ({ gamma }, { lr, initial }) => (initial ? lr : lr * gamma),
  closed: ({ gamma }, t, base) => base * gamma ** t,
});

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
export const PolynomialLR = /* @__PURE__ */ scheduler<{ total_iters: number; power: number }>({
  name: "PolynomialLR",
  defaults: { total_iters: 5, power: 1 },
  next: ({ total_iters: n, power }, { t, lr, initial }) =>
    initial || t > n ? lr : lr * ((1 - t / n) / (1 - (t - 1) / n)) ** power,
  closed: ({ total_iters: n, power }, t, base) => base * (1 - Math.min(n, t) / n) ** power,
});

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
export const CosineAnnealingLR = /* @__PURE__ */ scheduler<{ T_max: number; eta_min: number }>({
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
