// What all optimizers share: groups of parameters with their options, state by parameter, steps, hooks.

import { capturing } from "../base/capturing.js";
import { fill_ } from "../views/transfer.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { enable_grad, unrecorded } from "../tape/grad-mode.js";
import { callable, flag } from "../base/argument-kinds.js";
import { limited } from "../base/named-arguments.js";
import { shown } from "../nn/shown.js";
import { Tensor } from "../tensor/tensor.js";
import { titled, nameOf } from "../base/class-name.js";
import { type Group, type GroupOptions, type Params, checkedGroup, groupsOf } from "./groups.js";
import { naming } from "./options.js";
import { type OptimizerState, type State, type StateShape, loaded, numberOf, stateDict } from "./state.js";

/** Computes the loss and the gradients anew. */
export type Closure = () => Tensor | number | Promise<Tensor | number>;
type Hook = (optimizer: Optimizer) => void;

export abstract class Optimizer<O extends object = object> {
  param_groups: Group<O>[] = [];
  /** What is kept for each parameter that has been moved. */
  state = new Map<Tensor, State>();
  readonly defaults: O;
  /** Steps done; schedulers compare it with theirs. */
  stepCount = 0;
  private readonly before = new Set<Hook>();
  private readonly after = new Set<Hook>();
  /** Whether its class has a `step` of its own. */
  private readonly own: boolean;

  /** `params`: tensors, pairs of names and tensors, or groups of them `{params, ...options}`. */
  constructor(params: Params<O>, defaults: O) {
    this.defaults = defaults;
    for (const group of naming(nameOf(this), () => groupsOf(params))) this.add_param_group(group);
    this.own = this.step !== Optimizer.prototype.step;
    if (this.own) this.surround(this.step as () => unknown);
  }
  /** A step of a class's own gets what all have: hooks, and that it is counted. */
  private surround(step: () => unknown): void {
    const value = (...args: []): unknown => {
      for (const hook of this.before) hook(this);
      const answer = step.apply(this, args),
        done = (loss: unknown): unknown => {
          this.stepCount++;
          for (const hook of this.after) hook(this);
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
    if (closure !== undefined && closure !== null) callable(closure, `${nameOf(this)}.step`, "closure");
    if (closure) return Promise.resolve(enable_grad(closure)).then((loss) => this.once().then(() => loss));
    return this.once();
  }
  private once(): Promise<void> {
    if (!this.own) for (const hook of this.before) hook(this);
    const groups = this.param_groups.map(withNumbers);
    if (groups.some((group) => group instanceof Promise)) return Promise.all(groups).then((all) => this.move(all));
    return this.move(groups as Group<O>[]);
  }

  private move(groups: readonly Group<O>[]): Promise<void> {
    const update = (): void =>
      unrecorded(() => {
        for (const group of groups) this.update(group);
      });
    if (capturing) capturing.stepping(this, [this.before, this.after], this.fed, update);
    else update();
    if (!this.own) {
      this.stepCount++;
      for (const hook of this.after) hook(this);
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

  // --- State ----------------------------------------------------------------------------------------

  /** The state by the number of the parameter, and the groups with such numbers: as PyTorch's. */
  state_dict(): OptimizerState {
    return stateDict(this.param_groups, this.state);
  }

  /**
   * Copies a state, all of it or, where it does not fit the parameters, nothing; a promise where its values come from a
   * GPU to the CPU.
   */
  load_state_dict(state_dict: OptimizerState): void | Promise<void> {
    const settle = ([groups, state]: [Group<O>[], Map<Tensor, State>]): void => {
      this.param_groups = groups;
      this.state = state;
    };
    const answer = loaded(
      state_dict,
      this.param_groups,
      (key) => this.holdsNumber(key),
      (...of) => this.shapeOfState(...of),
    );
    return answer instanceof Promise ? answer.then(settle) : settle(answer);
  }

  // --- Hooks and looks ------------------------------------------------------------------------------

  /** Calls `hook(optimizer)` before each step. */
  register_step_pre_hook(hook: Hook): { remove(): void } {
    return listen(this.before, hook);
  }
  /** Calls `hook(optimizer)` after each step. */
  register_step_post_hook(hook: Hook): { remove(): void } {
    return listen(this.after, hook);
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
  "add_param_group param_group{}, zero_grad set_to_none?, step closure?, surround !, once !, update !, move !, checkParams !, holdsNumber !, shapeOfState !, load_state_dict state_dict{}, register_step_pre_hook hook, register_step_post_hook hook",
);

function listen<T>(hooks: Set<T>, hook: T): { remove(): void } {
  if (typeof hook !== "function") throw new TypeMismatchError("a hook must be a function");
  hooks.add(hook);
  return {
    remove: () => {
      hooks.delete(hook);
    },
  };
}

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
