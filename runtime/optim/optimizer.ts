// What all optimizers share: groups of parameters with their options, state by parameter, steps, hooks.

import { capturing } from "../base/capturing.js";
import { fill_ } from "../views/transfer.js";
import { OpError } from "../base/errors.js";
import { enable_grad, unrecorded } from "../tape/grad-mode.js";
import { callable, flag } from "../base/argument-kinds.js";
import { limited } from "../base/named-arguments.js";
import { type RemovableHandle, hookInto } from "../nn/hooks.js";
import { shown } from "../nn/shown.js";
import { copied, memoOf } from "../nn/transfer.js";
import { Tensor } from "../tensor/tensor.js";
import { titled, nameOf } from "../base/class-name.js";
import { type Group, type GroupOptions, type Params, checkedGroup, groupsOf } from "./groups.js";
import { OptimizerHooks, entered, everywhere, left, passed } from "./hooks.js";
import type { OptimizerHook, StateHook, StepPostHook, StepPreHook } from "./hooks.js";
import { naming } from "./options.js";
import { type OptimizerState, type State, type StateShape, loaded, numberOf, stateDict } from "./state.js";

/** Computes the loss and the gradients anew. */
export type Closure = () => Tensor | number | Promise<Tensor | number>;
/**
 * @example
 * class Signs extends torch.optim.Optimizer {
 *   async step() {
 *     for (const { params, lr } of this.param_groups)
 *       for (const p of params) torch.no_grad(() => p.sub_(p.grad.sign(), { alpha: lr }));
 *   }
 * }
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await new Signs([w], { lr: 0.1 }).step();
 * w  // [0.9, -1.9]
 */
export abstract class Optimizer<O extends object = object> {
  param_groups: Group<O>[] = [];
  /** What is kept for each parameter that has been moved. */
  state = new Map<Tensor, State>();
  readonly defaults: O;
  /** Steps done; schedulers compare it with theirs. */
  stepCount = 0;
  private readonly hooks = new OptimizerHooks();
  /** Whether its class has a `step` of its own. */
  private readonly own: boolean;

  /**
   * What all optimizers share; subclasses say `step` or `update`.
   *
   * @param params tensors, pairs of names and tensors, or groups of them `{params, ...options}`
   * @param defaults options by name, for groups that do not say their own
   */
  constructor(params: Params<O>, defaults: O) {
    this.defaults = defaults;
    for (const group of naming(nameOf(this), () => groupsOf(params))) this.add_param_group(group);
    this.own = this.step !== Optimizer.prototype.step;
    if (this.own) this.surround(this.step as () => unknown);
  }
  /** A step of a class's own gets what all have: hooks, and that it is counted. */
  private surround(step: () => unknown): void {
    const value = (...given: unknown[]): unknown => {
      const args = entered(this, this.hooks, given),
        answer = step.apply(this, args as []),
        done = (loss: unknown): unknown => {
          this.stepCount++;
          left(this, this.hooks, args);
          return loss;
        };
      return answer instanceof Promise ? answer.then(done) : done(answer);
    };
    Object.defineProperty(this, "step", { value, writable: true, configurable: true });
  }

  /** Adds parameters with options of their own; what is not given has the optimizer's defaults. */
  add_param_group(group: GroupOptions<O>): void {
    const checked = naming(nameOf(this), () => checkedGroup(group, this.defaults, this.param_groups));
    this.checkParams(checked.params);
    this.param_groups.push(checked);
  }

  /** Forgets all gradients, or zeroes them where `set_to_none` is false. */
  zero_grad(set_to_none?: boolean | { set_to_none?: boolean }): void {
    const drop = flag(set_to_none ?? true, "zero_grad", "set_to_none");
    for (const { params } of this.param_groups) {
      for (const p of params) {
        if (drop) p.grad = null;
        else if (p.ownGradient()) unrecorded(() => fill_(p.ownGradient()!.detach_(), 0));
      }
    }
  }

  /**
   * One step.  With a closure that computes the loss and its gradients anew, a promise of that loss.  Awaiting the
   * promise is how a loop that disposes of nothing keeps the GPU's memory flat: it lets the garbage collector give
   * tensors back.  It must be awaited where an option is a tensor on a GPU: its value is read first.
   */
  step(): Promise<void>;
  step(closure: Closure): Promise<Tensor | number>;
  step(closure?: Closure): Promise<void | Tensor | number> {
    const given = closure === undefined || closure === null ? [] : [closure],
      args = this.own ? given : entered(this, this.hooks, given),
      [body] = args as [Closure?];
    if (body === undefined || body === null) return this.once(args);
    callable(body, `${nameOf(this)}.step`, "closure");
    return Promise.resolve(enable_grad(body)).then((loss) => this.once(args).then(() => loss));
  }
  private once(args: unknown[]): Promise<void> {
    const groups = this.param_groups.map(withNumbers);
    if (groups.some((group) => group instanceof Promise))
      return Promise.all(groups).then((all) => this.move(all, args));
    return this.move(groups as Group<O>[], args);
  }

  private move(groups: readonly Group<O>[], args: unknown[]): Promise<void> {
    const update = (): void =>
      unrecorded(() => {
        for (const group of groups) this.update(group);
      });
    if (capturing)
      capturing.stepping(
        this,
        [this.hooks, everywhere].flatMap((of) => [of.before, of.after]),
        this.fed,
        update,
      );
    else update();
    if (!this.own) {
      this.stepCount++;
      left(this, this.hooks, args);
    }
    return this.param_groups[0]!.params[0]?.storage.device.relax() ?? Promise.resolve();
  }

  /** Whether a replay computes the numbers of its launches anew from the options. */
  protected get fed(): boolean {
    return false;
  }

  /** Changes one group's parameters that have gradients.  Options that were tensors come as numbers. */
  protected update(_group: Group<O>): void {
    throw new OpError(`${nameOf(this)}: neither step() nor update() is there`);
  }
  /** Refuses parameters that this optimizer cannot move. */
  protected checkParams(_params: readonly Tensor[]): void {
    /* most move any */
  }
  /** Whether an entry of the state is a number (PyTorch keeps tensors). */
  protected holdsNumber(key: string): boolean {
    return key === "step";
  }
  /** The shape of what is kept for a parameter as `key`. */
  protected shapeOfState(_key: string, _group: Group<O>, _param: Tensor): StateShape {
    return null;
  }

  /**
   * An optimizer with its own parameters, state and groups of the same values; `copy.deepcopy` in Python.  `memo`: what
   * was copied already, and its copy, such as the parameters of `model.deepcopy(memo)`, which the copy then moves.
   */
  deepcopy(memo?: Map<unknown, unknown>): this {
    const made = memoOf(memo),
      copy = Object.create(Object.getPrototypeOf(this) as object) as this,
      { hooks, ...own } = this;
    made.set(this, copy);
    Object.assign(copy, copied(own, made), { hooks: hooks.copy() });
    if (this.own) copy.surround((Object.getPrototypeOf(this) as this).step as () => unknown);
    return copy;
  }

  // --- State ----------------------------------------------------------------------------------------

  /** The state by the number of the parameter, and the groups with such numbers: as PyTorch's. */
  state_dict(): OptimizerState {
    for (const { run } of this.hooks.saving) run(this);
    return passed(this, this.hooks.saved, stateDict(this.param_groups, this.state));
  }

  /**
   * Copies a state, all of it or, where it does not fit the parameters, nothing; a promise where its values come from a
   * GPU to the CPU.
   */
  load_state_dict(state_dict: OptimizerState): void | Promise<void> {
    const settle = ([groups, state]: [Group<O>[], Map<Tensor, State>]): void => {
      this.param_groups = groups;
      this.state = state;
      for (const { run } of this.hooks.loaded) run(this);
    };
    const answer = loaded(
      passed(this, this.hooks.loading, { ...state_dict }),
      this.param_groups,
      (key) => this.holdsNumber(key),
      (...of) => this.shapeOfState(...of),
    );
    return answer instanceof Promise ? answer.then(settle) : settle(answer);
  }

  // --- Hooks and looks ------------------------------------------------------------------------------

  /** Calls `hook(optimizer, args, kwargs)` before each step; what it answers replaces the arguments. */
  register_step_pre_hook(hook: StepPreHook): RemovableHandle {
    return hookInto(this.hooks.before, hook);
  }
  /** Calls `hook(optimizer, args, kwargs)` after each step. */
  register_step_post_hook(hook: StepPostHook): RemovableHandle {
    return hookInto(this.hooks.after, hook);
  }
  /** Calls `hook(optimizer)` before its state is taken. */
  register_state_dict_pre_hook(hook: OptimizerHook, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(this.hooks.saving, hook, prepend);
  }
  /** Calls `hook(optimizer, state_dict)` with a state that may be changed; what it answers takes its place. */
  register_state_dict_post_hook(hook: StateHook, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(this.hooks.saved, hook, prepend);
  }
  /** Calls `hook(optimizer, state_dict)` before a state is loaded; what it answers is loaded in its place. */
  register_load_state_dict_pre_hook(hook: StateHook, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(this.hooks.loading, hook, prepend);
  }
  /** Calls `hook(optimizer)` when a state has been loaded. */
  register_load_state_dict_post_hook(hook: OptimizerHook, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(this.hooks.loaded, hook, prepend);
  }

  toString(): string {
    const groups = this.param_groups.map((group, i) =>
      [
        `Parameter Group ${i}`,
        ...Object.entries(group)
          .filter(([key]) => key !== "params")
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, value]) => `    ${key}: ${typeof value === "string" ? value : shown(value)}`),
      ].join("\n"),
    );
    return `${nameOf(this)} (\n${groups.join("\n\n")}\n)`;
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}
titled(Optimizer, "Optimizer");
limited(
  Optimizer,
  "Optimizer.",
  "add_param_group param_group{}, zero_grad set_to_none?, deepcopy memo?, step closure?, surround !, once !, update !, move !, checkParams !, holdsNumber !, shapeOfState !, load_state_dict state_dict{}, register_step_pre_hook hook, register_step_post_hook hook, register_state_dict_pre_hook hook prepend?, register_state_dict_post_hook hook prepend?, register_load_state_dict_pre_hook hook prepend?, register_load_state_dict_post_hook hook prepend?",
);

/** The group with numbers in the place of tensors; a promise where they are on a GPU. */
export function withNumbers<O>(group: Group<O>): Group<O> | Promise<Group<O>> {
  const tensors = Object.entries(group).filter(([, value]) => value instanceof Tensor);
  if (!tensors.length) return group;
  const numbers = tensors.map(([, value]) => numberOf(value));
  const put = (values: readonly number[]): Group<O> => ({
    ...group,
    ...Object.fromEntries(tensors.map(([key], i) => [key, values[i]])),
  });
  return numbers.some((x) => x instanceof Promise) ? Promise.all(numbers).then(put) : put(numbers as number[]);
}
