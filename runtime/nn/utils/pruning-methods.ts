// The pruning methods of torch.nn.utils.prune: what a mask holds at zero. A method is called before each call of its
// module, like a hook; several on one parameter are joined by a PruningContainer.

import { nameOf } from "../../base/class-name.js";
import { refuse } from "../../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { callable } from "../../base/callable.js";
import { type IndexSpec, index, setIndex } from "../../functions/indexing.js";
import { isOptions } from "../../base/named-arguments.js";
import { sameShape, showShape } from "../../base/shape.js";
import { ones_like } from "../../creation/like.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { Tensor } from "../../tensor/tensor.js";
import { clone } from "../../tensor/copy.js";
import { to } from "../../views/transfer.js";
import { eq, mul, ne, sum } from "../../../names/torch.js";
import type { RemovableHandle } from "../hooks.js";
import { forget, properties } from "../members.js";
import type { Module } from "../module.js";
import { checkModule } from "../tree.js";
import { copiedMask, wholeMask } from "./pruning-masks.js";
import { Parameter } from "../parameter.js";

interface Applied {
  readonly method: BasePruningMethodClass;
  readonly handle: RemovableHandle;
}
const applied = new WeakMap<Module, Map<string, Applied>>();
/** What prunes a parameter of a module now, if anything does. */
export const pruning = (module: Module, name: string): Applied | undefined => applied.get(module)?.get(name);
export const isPruned = (module: Module): boolean => (applied.get(module)?.size ?? 0) > 0;

/** The tensor under a name that is no parameter any more: no part of the state. */
function setPruned(module: Module, name: string, value: Tensor): void {
  Object.defineProperty(module, name, { value, writable: true, enumerable: false, configurable: true });
}
export const tensorIn = (module: Module, name: string): Tensor => properties(module)[name] as Tensor;
export const typed = (mask: Tensor, like: Tensor): Tensor =>
  mask.dtype === like.dtype ? mask : (to(mask, [like.dtype]) as Tensor);

/** Scores must be shaped like what they are of. */
export function scoresOf(scores: Tensor | null | undefined, tensor: Tensor, what: string): Tensor {
  if (scores === null || scores === undefined) return tensor;
  if (!(scores instanceof Tensor)) refuse("prune", "importance_scores", "a Tensor", scores);
  if (!sameShape(scores.shape, tensor.shape))
    throw new OpError(
      `importance_scores should have the same shape as ${what}, got ${showShape(scores.shape)} vs ${showShape(tensor.shape)}`,
    );
  return scores.detach();
}

/** Where the slices along `dim` stand of which a mask leaves anything. */
function placesOfSlices(mask: Tensor, dim: number | undefined): IndexSpec[] {
  if (dim === undefined)
    throw new OpError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.');
  const axis = axisFor(mask, dim),
    others = mask.shape.flatMap((_, i) => (i === axis ? [] : [i]));
  return [...others.slice(0, axis).map(() => ":"), ne(sum(mask, others) as Tensor, 0) as Tensor];
}

type Kind = "unstructured" | "structured" | "global";
export abstract class BasePruningMethodClass {
  declare _tensor_name: string | undefined;
  /** What a method works on: of the class, or of an instance. */
  declare PRUNING_TYPE?: Kind;
  static PRUNING_TYPE?: Kind;
  /** The axis of a structured one's slices, default -1. */
  declare dim?: number;

  constructor() {
    Object.defineProperty(this, "_tensor_name", { value: undefined, writable: true });
  }

  /** The mask of `t`, of ones and zeros, where `default_mask` holds already. */
  abstract compute_mask(t: Tensor, default_mask: Tensor): Tensor;
  /**
   * The mask of all of `t` where only what `mask` leaves takes part. A method that does not need to read the mask for
   * it overrides this; on a GPU, where reading waits, one must.
   */
  joined_mask(t: Tensor, mask: Tensor): Tensor {
    const kind = this.kind();
    if (t.storage.device.type !== "cpu")
      throw new OpError(
        `${nameOf(this)}: a pruned tensor on a GPU is pruned once more by prune's own methods only; prune on the CPU`,
      );
    const places: IndexSpec[] =
        kind === "global" ? ["..."] : kind === "structured" ? placesOfSlices(mask, this.dim) : [eq(mask, 1) as Tensor],
      out = typed(clone(mask), t),
      rest = this.compute_mask(index(t, places) as Tensor, index(mask, places) as Tensor);
    setIndex(out, places, typed(rest, out));
    return out;
  }
  kind(): Kind {
    const kind = this.PRUNING_TYPE ?? (this.constructor as typeof BasePruningMethodClass).PRUNING_TYPE;
    if (kind !== "unstructured" && kind !== "structured" && kind !== "global")
      throw new OpError(`Unrecognized PRUNING_TYPE ${kind}`);
    return kind;
  }
  /** The parameter times its mask. */
  apply_mask(module: Module): Tensor {
    const name = this._tensor_name;
    if (name === undefined) throw new OpError(`Module ${nameOf(module)} has to be pruned`);
    const original = tensorIn(module, `${name}_orig`);
    return mul(typed(tensorIn(module, `${name}_mask`), original), original) as Tensor;
  }
  /** `t` pruned, with no module; `importance_scores` decide in its place. */
  prune(t: Tensor, default_mask?: Tensor | null, importance_scores?: Tensor | null): Tensor {
    const scores = scoresOf(importance_scores, t, "tensor t");
    return mul(t, this.compute_mask(scores, default_mask ?? ones_like(t.detach()))) as Tensor;
  }
  /** Makes what is left the parameter. */
  remove(module: Module): void {
    const name = this._tensor_name;
    if (name === undefined)
      throw new OpError(`Module ${nameOf(module)} has to be pruned before pruning can be removed`);
    const weight = unrecorded(() => this.apply_mask(module)),
      original = tensorIn(module, `${name}_orig`) as Parameter;
    pruning(module, name)?.handle.remove();
    applied.get(module)?.delete(name);
    for (const part of [name, `${name}_orig`, `${name}_mask`]) forget(module, part);
    original.set_data(weight.detach());
    module.register_parameter(name, original);
  }

  /** Prunes a parameter by a new method of this class, made of `args`; a last object may hold `importance_scores`. */
  static apply(module: Module, name: string, ...args: unknown[]): BasePruningMethodClass {
    const last = args.at(-1);
    if (!isOptions(last)) return apply(this as unknown as Maker<BasePruningMethodClass>, module, name, args);
    const { importance_scores, ...others } = last as { importance_scores?: Tensor | null },
      rest = Object.keys(others).length > 0 ? [others] : [];
    return apply(
      this as unknown as Maker<BasePruningMethodClass>,
      module,
      name,
      [...args.slice(0, -1), ...rest],
      importance_scores,
    );
  }
}
type Maker<T> = new (...args: never[]) => T;

/** Prunes a parameter by a new method, joined to those that prune it already. */
export function apply<T extends BasePruningMethodClass>(
  make: Maker<T>,
  module: Module,
  name: string,
  args: readonly unknown[],
  scores?: Tensor | null,
): T | PruningContainerClass {
  checkModule(module, make.name);
  const before = pruning(module, name),
    own = new make(...(args as never[])),
    weight = tensorIn(module, before ? `${name}_orig` : name);
  own._tensor_name = name;
  if (!(weight instanceof Parameter)) throw new OpError(`${make.name}: ${nameOf(module)} has no parameter '${name}'`);
  const earlier = before && (before.method instanceof PruningContainerClass ? [...before.method] : [before.method]),
    method = earlier ? new PruningContainerClass(...earlier, own) : own;
  unrecorded(() => {
    const now = before ? before.method.apply_mask(module) : weight.detach(),
      importance = scoresOf(scores, now, `parameter ${name} of ${nameOf(module)}`),
      mask = method.compute_mask(importance, before ? copiedMask(tensorIn(module, `${name}_mask`)) : wholeMask(now));
    before?.handle.remove();
    if (!before) {
      forget(module, name);
      module.register_parameter(`${name}_orig`, weight);
    }
    module.register_buffer(`${name}_mask`, mask);
  });
  const refresh = (): void => setPruned(module, name, method.apply_mask(module));
  refresh();
  const all = applied.get(module) ?? new Map<string, Applied>();
  const refreshed = (_: Module, args: unknown[]): unknown[] => {
    refresh();
    return args; // a hook that answers nothing is not captured
  };
  all.set(name, { method, handle: module.register_forward_pre_hook(refreshed) });
  applied.set(module, all);
  return method;
}

/** An axis by number, also from the end. */
export function axisFor(t: Tensor, dim: number): number {
  if (!Number.isInteger(dim) || dim >= t.ndim || dim < -t.ndim)
    throw new OpError(`Invalid index ${dim} for tensor of size ${showShape(t.shape)}`);
  return dim < 0 ? dim + t.ndim : dim;
}

class PruningContainerClass extends BasePruningMethodClass {
  declare private readonly methods: BasePruningMethodClass[];

  constructor(...methods: BasePruningMethodClass[]) {
    super();
    Object.defineProperty(this, "methods", { value: [] });
    this._tensor_name = methods[0]?._tensor_name;
    for (const method of methods) this.join(method);
  }
  /** Joins one more, of the same parameter. */
  add_pruning_method(method: BasePruningMethodClass): void {
    this.join(method);
  }
  private join(method: BasePruningMethodClass): void {
    if (!(method instanceof BasePruningMethodClass))
      throw new TypeMismatchError(`${describe(method)} is not a BasePruningMethod subclass`);
    if (this._tensor_name !== method._tensor_name)
      throw new OpError(
        `Can only add pruning methods acting on the parameter named '${this._tensor_name}' to PruningContainer. Found '${method._tensor_name}'`,
      );
    this.methods.push(method);
  }
  get length(): number {
    return this.methods.length;
  }
  [Symbol.iterator](): Iterator<BasePruningMethodClass> {
    return this.methods[Symbol.iterator]();
  }
  /** The method at a place, also from the end: `container[i]` in Python. */
  at(index: number): BasePruningMethodClass | undefined {
    return this.methods.at(index);
  }
  /** The mask of the last method, on what `default_mask` leaves. */
  compute_mask(t: Tensor, default_mask: Tensor): Tensor {
    return this.methods.at(-1)!.joined_mask(t, default_mask);
  }
}

/**
 * What pruning methods of one's own extend: `compute_mask(t, default_mask)` and `static PRUNING_TYPE`.
 *
 * @example
 * class Negative extends torch.nn.utils.prune.BasePruningMethod {
 *   static PRUNING_TYPE = "unstructured";
 *   compute_mask(t, default_mask) { return default_mask.mul(t.ge(0)); }
 * }
 * const method = new Negative();
 * method.prune(torch.tensor([1, -4, 3]))  // [1, -0, 3]
 */
export const BasePruningMethod = /* @__PURE__ */ callable(
  BasePruningMethodClass,
  "BasePruningMethod",
  "constructor, joined_mask t mask, kind, apply_mask module, prune t default_mask? importance_scores?, remove module, apply !",
);
export type BasePruningMethod = BasePruningMethodClass;
/**
 * Several methods of one parameter, of which each works on what those before it leave.
 *
 * @example
 * const layer = torch.nn.Linear(4, 1);
 * layer.weight = torch.nn.Parameter(torch.tensor([[1, 2, 3, 4]]));
 * for (const amount of [1, 1]) torch.nn.utils.prune.l1_unstructured(layer, "weight", amount);
 * layer.weight  // [[0, 0, 3, 4]]
 */
export const PruningContainer = /* @__PURE__ */ callable(
  PruningContainerClass,
  "PruningContainer",
  "constructor *methods, add_pruning_method method, join !, at index, compute_mask t default_mask",
);
export type PruningContainer = PruningContainerClass;
