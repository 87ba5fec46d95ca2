// torch.nn.utils.prune: elements of a parameter held at zero by a mask, `NAME_mask`, of the original `NAME_orig`.

import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { listOf } from "../../base/argument-kinds.js";
import { taken } from "../../base/named-arguments.js";
import { sameShape } from "../../base/shape.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { ones, rand } from "../../creation/create.js";
import { ones_like } from "../../creation/like.js";
import { cat } from "../../functions/join.js";
import { vector_norm } from "../../../names/linalg.js";
import { abs, gt, mul, scatter, topk, where } from "../../../names/torch.js";
import { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import type { RemovableHandle } from "../hooks.js";
import { type Module, checkModule } from "../module.js";
import { forget } from "../members.js";
import { Parameter } from "../parameter.js";

const kept = new WeakMap<Module, Map<string, RemovableHandle>>();
/** How many elements, or slices along `dim`, a mask leaves. */
const left = new WeakMap<Tensor, number>();
const attributes = (module: Module) => module as unknown as Record<string, Tensor>;

/** How many of `n` an amount is: a part from 0 up to 1, or a whole number of them. */
function amountOf(amount: unknown, n: number): number {
  if (typeof amount !== "number")
    throw new TypeMismatchError(`Invalid type for amount: ${describe(amount)}. Must be number.`);
  if (!(amount >= 0) || (!Number.isInteger(amount) && amount > 1))
    throw new OpError(`amount=${amount} should either be a float in the range [0, 1] or a non-negative integer`);
  if (Number.isInteger(amount) && amount > n)
    throw new OpError(`amount=${amount} should be smaller than the number of parameters to prune=${n}`);
  if (Number.isInteger(amount)) return amount;
  const half = n * amount;
  // Python rounds halves to even.
  return half % 1 === 0.5 ? 2 * Math.round(half / 2) : Math.round(half);
}

function parameterOf(op: string, module: Module, name: string): [Tensor, Tensor | null] {
  checkModule(module, op);
  const mask = kept.get(module)?.has(name) ? attributes(module)[`${name}_mask`]! : null,
    weight = attributes(module)[mask ? `${name}_orig` : name];
  if (!(weight instanceof Parameter)) throw new OpError(`${op}: ${module.constructor.name} has no parameter '${name}'`);
  return [weight, mask];
}

/** Lets the mask hold from now on, also before each call. */
function put(module: Module, name: string, mask: Tensor, remaining?: number): Module {
  const own = attributes(module),
    handles = kept.get(module) ?? new Map<string, RemovableHandle>();
  if (remaining !== undefined) left.set(mask, remaining);
  if (handles.has(name)) own[`${name}_mask`] = mask;
  else {
    const weight = own[name] as Parameter;
    forget(module, name);
    module.register_parameter(`${name}_orig`, weight);
    module.register_buffer(`${name}_mask`, mask);
    kept.set(module, handles);
  }
  const apply = (): void => {
    Object.defineProperty(module, name, {
      value: mul(own[`${name}_orig`]!, own[`${name}_mask`]!),
      writable: true,
      enumerable: false,
      configurable: true,
    });
  };
  apply();
  if (!handles.has(name)) handles.set(name, module.register_forward_pre_hook(apply));
  return module;
}

/** How many elements a mask leaves, which is counted where nobody knows it. */
function remaining(op: string, mask: Tensor): number {
  const known = left.get(mask);
  if (known !== undefined) return known;
  const { storage, offset } = mask;
  if (storage.device.type !== "cpu")
    throw new OpError(`${op}: how many elements a mask of one's own on a GPU leaves is not known; prune on the CPU`);
  // Masks are products or parts of one, so lie in order.
  let n = 0;
  for (let i = 0; i < mask.numel(); i++) n += +(Number(storage.elements[offset + i]) !== 0);
  return n;
}

/** A mask without the `k` elements that matter least of those that `mask` leaves. */
function without(importance: Tensor, mask: Tensor, k: number): Tensor {
  if (k === 0) return mask;
  const flat = views.reshape(importance, [-1]),
    rest = views.reshape(mask, [-1]),
    order = where(gt(rest, 0) as Tensor, flat, Infinity) as Tensor,
    { indices } = topk(order, k, { largest: false }) as unknown as { indices: Tensor };
  return views.reshape(scatter(rest, 0, indices, 0) as Tensor, mask.shape);
}

function unstructured(op: string, importanceOf: (weight: Tensor) => Tensor, args: unknown[]): Module {
  const [module, name, amount, scores] = taken(`${op} module name amount importance_scores?`, args) as [
      Module,
      string,
      number,
      Tensor?,
    ],
    [weight, before] = parameterOf(op, module, name);
  return unrecorded(() => {
    const mask = before ?? ones_like(weight.detach()),
      n = before ? remaining(op, before) : weight.numel(),
      k = amountOf(amount, n);
    return put(module, name, without(importanceOf(scores ?? weight.detach()), mask, k), n - k);
  });
}
type Amount = number | { amount: number; importance_scores?: Tensor | null };

/** Zeroes the elements of least absolute value. */
export function l1_unstructured<M extends Module>(
  module: M,
  name: string,
  amount: Amount,
  importance_scores?: Tensor | null,
): M;
export function l1_unstructured(...args: unknown[]): Module {
  return unstructured("l1_unstructured", (x) => abs(x) as Tensor, args);
}
/** Zeroes elements at random. */
export function random_unstructured<M extends Module>(module: M, name: string, amount: Amount): M;
export function random_unstructured(...args: unknown[]): Module {
  return unstructured("random_unstructured", (x) => rand(x.shape, { device: x.device }), args);
}

function structured(op: string, line: string, args: unknown[], score: (x: Tensor, n: number) => Tensor): Module {
  const given = taken(`${op} ${line}`, args),
    [module, name, amount] = given as [Module, string, number],
    dim = given[line.includes(" n ") ? 4 : 3] as number,
    [weight, before] = parameterOf(op, module, name),
    slices = weight.shape[dim < 0 ? dim + weight.ndim : dim]!;
  return unrecorded(() => {
    const k = amountOf(amount, slices),
      axis = dim < 0 ? dim + weight.ndim : dim,
      shape = weight.shape.map((n, i) => (i === axis ? n : 1)),
      rows = views.reshape(
        views.transpose(before ? (mul(weight.detach(), before) as Tensor) : weight.detach(), 0, axis),
        [slices, -1],
      );
    const keep = without(
        score(rows, given[3] as number),
        ones([slices], { device: weight.device, dtype: weight.dtype }),
        k,
      ),
      mask = mul(before ?? ones_like(weight.detach()), views.reshape(keep, shape)) as Tensor;
    return put(module, name, mask, before ? undefined : (weight.numel() / slices) * (slices - k));
  });
}
/** Zeroes the slices along `dim` of the least norm of order `n`. */
export function ln_structured<M extends Module>(module: M, name: string, amount: number, n: number, dim: number): M;
export function ln_structured(...args: unknown[]): Module {
  return structured(
    "ln_structured",
    "module name amount n dim importance_scores?",
    args,
    (rows, n) => vector_norm(rows, n, 1) as Tensor,
  );
}
/** Zeroes slices along `dim` at random. */
export function random_structured<M extends Module>(module: M, name: string, amount: number, dim: number): M;
export function random_structured(...args: unknown[]): Module {
  return structured("random_structured", "module name amount dim", args, (rows) =>
    rand([rows.shape[0]!], { device: rows.device }),
  );
}

/** Zeroes what the mask does. */
export function custom_from_mask<M extends Module>(module: M, name: string, mask: Tensor): M;
export function custom_from_mask(...args: unknown[]): Module {
  const [module, name, mask] = taken("custom_from_mask module name mask", args) as [Module, string, Tensor],
    [weight, before] = parameterOf("custom_from_mask", module, name);
  if (!(mask instanceof Tensor) || !sameShape(mask.shape, weight.shape))
    throw new OpError(`custom_from_mask: argument 'mask' must be a tensor shaped like the parameter`);
  return unrecorded(() => put(module, name, mul(before ?? ones_like(weight.detach()), mask) as Tensor));
}
/** Zeroes nothing: the parameter gets a mask of ones. */
export function identity<M extends Module>(module: M, name: string): M;
export function identity(...args: unknown[]): Module {
  const [module, name] = taken("identity module name", args) as [Module, string],
    [weight, before] = parameterOf("identity", module, name);
  return put(module, name, before ?? ones_like(weight.detach()), before ? undefined : weight.numel());
}

/** What `global_unstructured` prunes by. */
export const L1Unstructured = "L1Unstructured",
  RandomUnstructured = "RandomUnstructured";

/** Zeroes the elements that matter least of all these parameters, `[module, name]` each, together. */
export function global_unstructured(
  parameters: Iterable<readonly [Module, string]>,
  pruning_method: typeof L1Unstructured | typeof RandomUnstructured,
  options: { amount: number },
): void;
export function global_unstructured(...args: unknown[]): void {
  const op = "global_unstructured",
    [list, method, amount] = taken(`${op} parameters pruning_method amount`, args),
    all = listOf<[Module, string]>(list, op, "parameters").map(
      ([module, name]) => [module, name, ...parameterOf(op, module, name)] as const,
    );
  if (method !== L1Unstructured && method !== RandomUnstructured)
    throw new TypeMismatchError(
      `${op}: argument 'pruning_method' must be prune.L1Unstructured or prune.RandomUnstructured`,
    );
  unrecorded(() => {
    const masks = all.map(([, , weight, mask]) => mask ?? ones_like(weight.detach())),
      flat = (x: Tensor) => views.reshape(x, [-1]),
      weights = cat(all.map(([, , weight]) => flat(weight.detach()))),
      n = all.reduce((sum, [, , weight, mask]) => sum + (mask ? remaining(op, mask) : weight.numel()), 0),
      importance =
        method === L1Unstructured ? (abs(weights) as Tensor) : rand(weights.shape, { device: weights.device }),
      mask = without(importance, cat(masks.map(flat)), amountOf(amount, n));
    let at = 0;
    for (const [module, name, weight] of all) {
      put(module, name, views.reshape(views.narrow(mask, 0, at, weight.numel()), weight.shape));
      at += weight.numel();
    }
  });
}

/** Makes what is left the parameter. */
export function remove<M extends Module>(module: M, name: string): M;
export function remove(...args: unknown[]): Module {
  const [module, name] = taken("remove module name", args) as [Module, string],
    handle = kept.get(checkModule(module, "remove"))?.get(name);
  if (!handle)
    throw new OpError(
      `Parameter '${name}' of module ${module.constructor.name} has to be pruned before pruning can be removed`,
    );
  const own = attributes(module),
    weight = own[`${name}_orig`] as Parameter,
    pruned = unrecorded(() => mul(weight.detach(), own[`${name}_mask`]!) as Tensor);
  handle.remove();
  kept.get(module)!.delete(name);
  for (const part of [name, `${name}_orig`, `${name}_mask`]) forget(module, part);
  weight.set_data(pruned);
  module.register_parameter(name, weight);
  return module;
}
/** Whether a parameter of the module, or of one within it, is pruned. */
export function is_pruned(module: Module): boolean {
  [module] = taken("is_pruned module", arguments);
  return [...checkModule(module, "is_pruned").modules()].some((part) => (kept.get(part)?.size ?? 0) > 0);
}
