// torch.nn.utils.prune: elements of a parameter held at zero by a mask, `NAME_mask`, of the original `NAME_orig`.

import { nameOf } from "../../base/class-name.js";
import { OpError, TypeMismatchError } from "../../base/errors.js";
import { listOf, refuse } from "../../base/argument-kinds.js";
import { isOptions, taken } from "../../base/named-arguments.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { cat } from "../../functions/join.js";
import { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import type { Module } from "../module.js";
import { checkModule } from "../tree.js";
import {
  CustomFromMask,
  Identity,
  L1Unstructured,
  LnStructured,
  RandomStructured,
  RandomUnstructured,
} from "./pruning-kinds.js";
import { joinedMasks, wholeMask } from "./pruning-masks.js";
import { BasePruningMethod, PruningContainer, isPruned, pruning, scoresOf, tensorIn } from "./pruning-methods.js";

export {
  BasePruningMethod,
  CustomFromMask,
  Identity,
  L1Unstructured,
  LnStructured,
  PruningContainer,
  RandomStructured,
  RandomUnstructured,
};

type Amount = number | { amount: number; importance_scores?: Tensor | null };

/**
 * Zeroes the elements of least absolute value.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 * @param amount a part of the elements, from 0 to 1, or a whole number of them
 * @param importance_scores numbers in the parameter's shape that decide in its place, default null
 *
 * @example
 * const layer = torch.nn.Linear(2, 2);
 * layer.weight = torch.nn.Parameter(torch.tensor([[1, -4], [0.5, 3]]));
 * torch.nn.utils.prune.l1_unstructured(layer, "weight", 0.5).weight  // [[0, -4], [0, 3]]
 */
export function l1_unstructured<M extends Module>(
  module: M,
  name: string,
  amount: Amount,
  importance_scores?: Tensor | null,
): M;
export function l1_unstructured(...args: unknown[]): Module {
  const [module, ...rest] = taken("l1_unstructured module name amount importance_scores?", args);
  L1Unstructured.apply(module as Module, rest[0] as string, ...rest.slice(1));
  return module as Module;
}
/**
 * Zeroes elements at random.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 * @param amount a part of the elements, from 0 to 1, or a whole number of them
 *
 * @example
 * const layer = torch.nn.utils.prune.random_unstructured(torch.nn.Linear(4, 5), "weight", 0.3);
 * layer.weight.eq(0).sum()  // 6
 */
export function random_unstructured<M extends Module>(module: M, name: string, amount: Amount): M;
export function random_unstructured(...args: unknown[]): Module {
  const [module, name, amount] = taken("random_unstructured module name amount", args);
  RandomUnstructured.apply(module as Module, name as string, amount);
  return module as Module;
}
interface Slices {
  amount: number;
  /** Which norm: 2 adds squares, "fro" and "nuc" are those of matrices. */
  n: number | "fro" | "nuc";
  /** Along which axis the slices lie. */
  dim: number;
  importance_scores?: Tensor | null;
}
/**
 * Zeroes the slices along `dim` of the least norm of order `n`.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 * @param amount a part of the slices, from 0 to 1, or a whole number of them
 * @param n which norm: 2 adds squares, "fro" and "nuc" are those of matrices
 * @param dim along which axis the slices lie
 * @param importance_scores numbers in the parameter's shape that decide in its place, default null
 *
 * @example
 * const layer = torch.nn.Linear(2, 2);
 * layer.weight = torch.nn.Parameter(torch.tensor([[1, -4], [0.5, 3]]));
 * torch.nn.utils.prune.ln_structured(layer, "weight", { amount: 1, n: 2, dim: 0 }).weight  // [[1, -4], [0, 0]]
 */
export function ln_structured<M extends Module>(
  module: M,
  name: string,
  amount: number,
  n: number | "fro" | "nuc",
  dim: number,
  importance_scores?: Tensor | null,
): M;
export function ln_structured<M extends Module>(
  module: M,
  name: string,
  ...args:
    | [amount: number, n: number | "fro" | "nuc", Pick<Slices, "dim" | "importance_scores">]
    | [amount: number, Omit<Slices, "amount">]
    | [Slices]
): M;
export function ln_structured(...args: unknown[]): Module {
  const [module, ...rest] = taken("ln_structured module name amount n dim importance_scores?", args);
  LnStructured.apply(module as Module, rest[0] as string, ...rest.slice(1));
  return module as Module;
}
/**
 * Zeroes slices along `dim` at random.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 * @param amount a part of the slices, from 0 to 1, or a whole number of them
 * @param dim along which axis the slices lie
 *
 * @example
 * const layer = torch.nn.utils.prune.random_structured(torch.nn.Linear(4, 3), "weight", { amount: 1, dim: 0 });
 * layer.weight.eq(0).all({ dim: 1 }).sum()  // 1
 */
export function random_structured<M extends Module>(module: M, name: string, amount: number, dim: number): M;
export function random_structured<M extends Module>(
  module: M,
  name: string,
  ...args: [amount: number, Pick<Slices, "dim">] | [Pick<Slices, "amount" | "dim">]
): M;
export function random_structured(...args: unknown[]): Module {
  const [module, name, amount, dim] = taken("random_structured module name amount dim", args);
  RandomStructured.apply(module as Module, name as string, amount, dim);
  return module as Module;
}
/**
 * Zeroes what the mask does.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 * @param mask in the parameter's shape, 0 where it is zeroed
 *
 * @example
 * const layer = torch.nn.Linear(2, 1);
 * layer.weight = torch.nn.Parameter(torch.tensor([[3, 4]]));
 * torch.nn.utils.prune.custom_from_mask(layer, "weight", torch.tensor([[1, 0]])).weight  // [[3, 0]]
 */
export function custom_from_mask<M extends Module>(module: M, name: string, mask: Tensor | { mask: Tensor }): M;
export function custom_from_mask(...args: unknown[]): Module {
  const [module, name, mask] = taken("custom_from_mask module name mask", args);
  CustomFromMask.apply(module as Module, name as string, mask);
  return module as Module;
}
/**
 * Zeroes nothing: the parameter gets a mask of ones.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 *
 * @example
 * torch.nn.utils.prune.identity(torch.nn.Linear(2, 1), "weight").weight_mask  // [[1, 1]]
 */
export function identity<M extends Module>(module: M, name: string): M;
export function identity(...args: unknown[]): Module {
  const [module, name] = taken("identity module name", args);
  Identity.apply(module as Module, name as string);
  return module as Module;
}

type Place = readonly [module: Module, name: string];
type Method = new (...args: never[]) => BasePruningMethod;
/** Scores for some of the parameters, by `[module, name]`. */
type Scores = ReadonlyMap<Place, Tensor>;

/**
 * Zeroes the elements that matter least of all these parameters, `[module, name]` each, together. `pruning_method` is a
 * class of "unstructured" ones, made of the other options; `importance_scores` is a Map from `[module, name]`.
 *
 * @param pruning_method a class of `prune` that zeroes single elements
 * @param importance_scores numbers in a parameter's shape that decide in its place, default null
 *
 * @example
 * const layers = [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)];
 * layers[0].weight = torch.nn.Parameter(torch.tensor([[1, 2]]));
 * layers[1].weight = torch.nn.Parameter(torch.tensor([[3, 4]]));
 * torch.nn.utils.prune.global_unstructured(layers.map((layer) => [layer, "weight"]),
 *   { pruning_method: torch.nn.utils.prune.L1Unstructured, amount: 2 });
 * layers.map((layer) => layer.weight)  // [[[0, 0]], [[3, 4]]]
 */
export function global_unstructured(
  parameters: Iterable<Place>,
  options: { pruning_method: Method; importance_scores?: Scores | null; [option: string]: unknown },
): void;
export function global_unstructured(
  parameters: Iterable<Place>,
  pruning_method: Method,
  importance_scores?: Scores | null | Record<string, unknown>,
  options?: Record<string, unknown>,
): void;
export function global_unstructured(...args: unknown[]): void {
  const op = "global_unstructured",
    {
      parameters: byName,
      pruning_method,
      importance_scores,
      ...options
    } = (isOptions(args.at(-1)) ? args.pop() : {}) as Record<string, unknown>,
    own = Object.entries({ parameters: byName, pruning_method, importance_scores }).filter(([, x]) => x !== undefined),
    // Other options are the method's, if one is named.
    left = args.length > 1 || pruning_method !== undefined ? {} : options,
    [list, make, scores] = taken(`${op} parameters pruning_method importance_scores?`, [
      ...args,
      { ...Object.fromEntries(own), ...left },
    ]) as [unknown, Method, Scores | null | undefined],
    places = listOf<Place>(list, op, "parameters").map((place) => {
      if (!Array.isArray(place)) refuse(op, "parameters", "a list of pairs [module, name]", place);
      const [module, name] = place;
      return { module: checkModule(module, op), name, before: pruning(module, name)?.method };
    });
  if (typeof make !== "function" || !(make.prototype instanceof BasePruningMethod))
    throw new TypeMismatchError(`${op}: argument 'pruning_method' must be a class of pruning methods`);
  if (scores && !(scores instanceof Map)) refuse(op, "importance_scores", "a Map", scores);
  const method = new make(...((Object.keys(options).length > 0 ? [options] : []) as never[]));
  if (method.kind() !== "unstructured")
    throw new TypeMismatchError(
      `Only "unstructured" PRUNING_TYPE supported for the \`pruning_method\`. Found method ${make.name} of type ${method.kind()}`,
    );
  const given = [...(scores ?? [])] as [Place, Tensor][];
  unrecorded(() => {
    const flat = (x: Tensor): Tensor => views.reshape(x, [-1]),
      now = places.map(({ module, name, before }) => {
        const tensor = before ? before.apply_mask(module) : tensorIn(module, name);
        if (!(tensor instanceof Tensor)) throw new OpError(`${op}: ${nameOf(module)} has no parameter '${name}'`);
        return tensor.detach();
      }),
      importance = places.map(({ module, name }, i) => {
        const [, own] = given.find(([[m, n]]) => m === module && n === name) ?? [];
        return flat(scoresOf(own, now[i]!, `parameter ${name} of ${nameOf(module)}`));
      }),
      masks = places.map(({ module, name, before }, i) =>
        before ? tensorIn(module, `${name}_mask`) : wholeMask(now[i]!),
      ),
      mask = method.joined_mask(cat(importance), joinedMasks(masks));
    let at = 0;
    places.forEach(({ module, name }, i) => {
      const { shape } = now[i]!,
        size = now[i]!.numel();
      custom_from_mask(module, name, views.reshape(views.narrow(mask, 0, at, size), shape));
      at += size;
    });
  });
}

/**
 * Makes what is left the parameter.
 *
 * @param module the module that has the parameter
 * @param name the parameter's name
 *
 * @example
 * const layer = torch.nn.utils.prune.identity(torch.nn.Linear(2, 1), "weight");
 * torch.nn.utils.prune.remove(layer, "weight");
 * [...layer.named_parameters()].map(([name]) => name)  // ["bias", "weight"]
 */
export function remove<M extends Module>(module: M, name: string): M;
export function remove(...args: unknown[]): Module {
  const [module, name] = taken("remove module name", args) as [Module, string],
    found = pruning(checkModule(module, "remove"), name);
  if (!found)
    throw new OpError(`Parameter '${name}' of module ${nameOf(module)} has to be pruned before pruning can be removed`);
  found.method.remove(module);
  return module;
}
/**
 * Whether a parameter of the module, or of one within it, is pruned.
 *
 * @param module any module
 *
 * @example
 * torch.nn.utils.prune.is_pruned(torch.nn.utils.prune.identity(torch.nn.Linear(2, 1), "weight"))  // true
 */
export function is_pruned(module: Module): boolean {
  [module] = taken("is_pruned module", arguments);
  return [...checkModule(module, "is_pruned").modules()].some(isPruned);
}
