// What optimizers call besides: hooks around each step, and around states that are taken and loaded.

import { OpError, describe } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { type Registered, type RemovableHandle, hookInto } from "../nn/hooks.js";
import type { Optimizer } from "./optimizer.js";
import type { OptimizerState } from "./state.js";

type Named = Record<string, unknown>;
/** Gets the optimizer and the arguments of its step; what it answers, `[args, kwargs]`, replaces those. */
export type StepPreHook = (
  optimizer: Optimizer<any>,
  args: unknown[],
  kwargs: Named,
) => readonly [unknown[], Named] | null | undefined | void;
/** Gets the optimizer and the arguments of its step. */
export type StepPostHook = (optimizer: Optimizer<any>, args: unknown[], kwargs: Named) => void;
/** Gets the optimizer and a state that it may change; what it answers takes the place of that. */
export type StateHook = (
  optimizer: Optimizer<any>,
  state_dict: OptimizerState,
) => OptimizerState | null | undefined | void;
export type OptimizerHook = (optimizer: Optimizer<any>) => void;

type Registry<H> = Set<Registered<H>>;
export class OptimizerHooks {
  readonly before: Registry<StepPreHook> = new Set();
  readonly after: Registry<StepPostHook> = new Set();
  readonly saving: Registry<OptimizerHook> = new Set();
  readonly saved: Registry<StateHook> = new Set();
  readonly loading: Registry<StateHook> = new Set();
  readonly loaded: Registry<OptimizerHook> = new Set();

  copy(): OptimizerHooks {
    return Object.assign(
      new OptimizerHooks(),
      Object.fromEntries(Object.entries(this).map(([k, s]) => [k, new Set(s)])),
    );
  }
}
/** Those of all optimizers, around an optimizer's own. */
export const everywhere = /* @__PURE__ */ new OptimizerHooks();

/** Calls what comes before a step, and answers the arguments that it gets. */
export function entered(optimizer: Optimizer<any>, hooks: OptimizerHooks, args: unknown[]): unknown[] {
  for (const { run } of [...everywhere.before, ...hooks.before]) {
    const answer: unknown = run(optimizer, args, {});
    if (answer === undefined || answer === null) continue;
    if (!Array.isArray(answer) || answer.length !== 2 || !Array.isArray(answer[0]) || !isOptions(answer[1]))
      throw new OpError(`step: a pre-hook must return [new_args, new_kwargs] or nothing, but got ${describe(answer)}`);
    args = [...(answer[0] as unknown[]), ...Object.values(answer[1])];
  }
  return args;
}
/** Calls what comes after a step. */
export function left(optimizer: Optimizer<any>, hooks: OptimizerHooks, args: unknown[]): void {
  for (const { run } of [...hooks.after, ...everywhere.after]) run(optimizer, args, {});
}
/** What hooks make of a state. */
export const passed = (optimizer: Optimizer<any>, hooks: Registry<StateHook>, state: OptimizerState): OptimizerState =>
  [...hooks].reduce((now, { run }) => run(optimizer, now) ?? now, state);

/**
 * Calls `hook(optimizer, args, kwargs)` before each step of every optimizer, before the optimizer's own hooks.
 *
 * @param hook gets the optimizer, its step's arguments and an empty object; what it answers, `[args, kwargs]`,
 *   replaces them
 *
 * @example
 * let steps = 0;
 * const hook = torch.optim.optimizer.register_optimizer_step_pre_hook(() => void steps++);
 * await torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 0.1 }).step();
 * hook.remove();
 * steps  // 1
 */
export function register_optimizer_step_pre_hook(hook: StepPreHook): RemovableHandle;
export function register_optimizer_step_pre_hook(...args: unknown[]): RemovableHandle {
  return hookInto(everywhere.before, taken("register_optimizer_step_pre_hook hook", args)[0] as StepPreHook);
}
/**
 * Calls `hook(optimizer, args, kwargs)` after each step of every optimizer, after the optimizer's own hooks.
 *
 * @param hook gets the optimizer, its step's arguments and an empty object
 *
 * @example
 * const names = [];
 * const named = (optimizer) => void names.push(optimizer.constructor.name);
 * const hook = torch.optim.optimizer.register_optimizer_step_post_hook(named);
 * await torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 0.1 }).step();
 * hook.remove();
 * names  // ["SGD"]
 */
export function register_optimizer_step_post_hook(hook: StepPostHook): RemovableHandle;
export function register_optimizer_step_post_hook(...args: unknown[]): RemovableHandle {
  return hookInto(everywhere.after, taken("register_optimizer_step_post_hook hook", args)[0] as StepPostHook);
}
