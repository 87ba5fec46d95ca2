// What all optimizers share: groups of parameters with their options, state by parameter, steps.

import { OpError, TypeMismatchError, describe } from "../errors.js";
import { enable_grad, no_grad } from "../grad-mode.js";
import { Tensor } from "../tensor.js";

export type Group<O> = O & { params: Tensor[] };
export type Params<O> = Iterable<Tensor> | Iterable<Partial<O> & { params: Iterable<Tensor> }>;
type Closure = () => Tensor | number | Promise<Tensor | number>;

export abstract class Optimizer<O extends object> {
  readonly param_groups: Group<O>[] = [];
  protected readonly defaults: O;

  /** `params`: tensors, or groups of them `{params, ...options}`. */
  constructor(params: Params<O>, defaults: O) {
    this.defaults = defaults;
    const given = [...(params as Iterable<unknown>)];
    const name = this.constructor.name;
    if (!given.length) throw new OpError(`${name}: optimizer got an empty parameter list`);
    if (given.every((x) => x instanceof Tensor)) this.add_param_group({ params: given as Tensor[] } as unknown as Group<O>);
    else for (const group of given) this.add_param_group(group as Partial<O> & { params: Iterable<Tensor> });
  }

  /** Adds parameters with options of their own; what is not given has the optimizer's defaults. */
  add_param_group(group: Partial<O> & { params: Iterable<Tensor> | Tensor }): void {
    const name = this.constructor.name;
    if (group === null || typeof group !== "object" || !("params" in group)) {
      throw new TypeMismatchError(`${name}: expected tensors or groups {params, …}, got ${describe(group)}`);
    }
    const params = group.params instanceof Tensor ? [group.params] : [...group.params];
    const known = new Set(this.param_groups.flatMap((g) => g.params));
    for (const p of params) {
      if (!(p instanceof Tensor)) throw new TypeMismatchError(`${name}: can only optimize Tensors, got ${describe(p)}`);
      if (p.grad_fn) throw new OpError(`${name}: can't optimize a non-leaf Tensor`);
      if (known.has(p)) throw new OpError(`${name}: some parameters appear in more than one parameter group`);
    }
    this.param_groups.push({ ...this.defaults, ...group, params } as Group<O>);
  }

  /** Forgets all gradients, or zeroes them where `set_to_none` is false. */
  zero_grad(options: boolean | { set_to_none?: boolean } = true): void {
    const drop = typeof options === "boolean" ? options : options.set_to_none ?? true;
    for (const { params } of this.param_groups) {
      for (const p of params) {
        if (drop) p.grad = null;
        else if (p.ownGradient()) no_grad(() => p.ownGradient()!.detach_().zero_());
      }
    }
  }

  /**
   * One step.  With a closure that computes the loss and its gradients anew, a promise of that loss.  Awaiting the promise is
   * how a loop that disposes of nothing keeps the GPU's memory flat: it lets the garbage collector give tensors back.
   */
  step(): Promise<void>;
  step(closure: Closure): Promise<Tensor | number>;
  step(closure?: Closure): Promise<void | Tensor | number> {
    if (closure) return Promise.resolve(enable_grad(closure)).then((loss) => this.step().then(() => loss));
    no_grad(() => { for (const group of this.param_groups) this.update(group); });
    return this.param_groups[0]!.params[0]?.storage.device.relax() ?? Promise.resolve();
  }

  /** Changes one group's parameters that have gradients. */
  protected abstract update(group: Group<O>): void;
}

/** Throws unless a number lies in a range. */
export function within(name: string, option: string, value: number, least: number, below = Infinity): void {
  if (!(value >= least && value < below)) throw new OpError(`${name}: Invalid ${option}: ${value}`);
}
