// Weights as a length and a direction, and weights divided by their largest singular value: the parts that
// parametrizations (parametrizations.ts) and older states (nn.utils.weight_norm, spectral_norm) share, and the latter.

import { nameOf } from "../../base/class-name.js";
import { count } from "../../base/argument-kinds.js";
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { randn } from "../../creation/random-tensors.js";
import { copy_ } from "../../views/transfer.js";
import { vector_norm } from "../../../names/linalg.js";
import { div, matmul, mul, sum } from "../../../names/torch.js";
import { normalize } from "../../../names/functional.js";
import { clone } from "../../tensor/copy.js";
import { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import type { Module } from "../module.js";
import { checkModule } from "../tree.js";
import { forget } from "../members.js";
import type { RemovableHandle } from "../hooks.js";
import { Parameter } from "../parameter.js";

/** The parameter or buffer of this name. */
export function weightOf(op: string, module: Module, name: string): Tensor {
  const weight = (checkModule(module, op) as unknown as Record<string, unknown>)[name];
  if (!(weight instanceof Tensor))
    throw new OpError(`${op}: Module '${nameOf(module)}' has no parameter or buffer with name '${name}'`);
  return weight;
}

/** The 2-norm of each slice along `dim`, with all axes kept; of everything where `dim` is null. */
export function normExcept(weight: Tensor, dim: number | null): Tensor {
  if (dim === null || dim === -1) return vector_norm(weight) as Tensor;
  const others = weight.shape.flatMap((_, axis) => (axis === (dim < 0 ? dim + weight.ndim : dim) ? [] : [axis]));
  return vector_norm(weight, 2, others, true) as Tensor;
}
export const ofLength = (g: Tensor, v: Tensor, dim: number | null): Tensor =>
  mul(v, div(g, normExcept(v, dim)) as Tensor) as Tensor;

/** A weight as a matrix whose rows are its slices along `dim`. */
export function asMatrix(weight: Tensor, dim: number): Tensor {
  const axes = [dim, ...weight.shape.keys()].filter((axis, i, all) => all.indexOf(axis) === i);
  return views.reshape(views.permute(weight, axes), [weight.shape[dim]!, -1]);
}
/** Makes two vectors more like the first singular ones of a matrix, in place, by so many steps that begin with `first`. */
export function powerSteps(
  matrix: Tensor,
  u: Tensor,
  v: Tensor,
  { steps, eps, first = "u" }: { steps: number; eps: number; first?: "u" | "v" },
): void {
  const left = () => copy_(u, normalize(matmul(matrix, v) as Tensor, { dim: 0, eps }) as Tensor),
    right = () => copy_(v, normalize(matmul(views.transpose(matrix, 0, 1), u) as Tensor, { dim: 0, eps }) as Tensor),
    order = first === "u" ? [left, right] : [right, left];
  unrecorded(() => {
    for (let i = 0; i < steps; i++) for (const better of order) better();
  });
}
export const drawnVectors = (matrix: Tensor, eps: number): [u: Tensor, v: Tensor] =>
  matrix.shape.map((n) => normalize(randn([n], { device: matrix.device }), { dim: 0, eps })) as [Tensor, Tensor];
/** The weight divided by u'Wv; u and v count as constants. */
export function divided(weight: Tensor, matrix: Tensor, u: Tensor, v: Tensor): Tensor {
  const sigma = sum(mul(clone(u.detach()), matmul(matrix, clone(v.detach())) as Tensor) as Tensor);
  return div(weight, sigma as Tensor) as Tensor;
}

// --- The older way: parameters under other names, and the weight computed before each call --------------

interface Kept {
  readonly handle: RemovableHandle;
  /** The weight of its parts; `training` is whether a call in training asks. */
  compute(training: boolean): Tensor;
  /** Names of what stands in the weight's place. */
  readonly parts: readonly string[];
}
const kept = new WeakMap<Module, Map<string, Kept>>();
const attributes = (module: Module) => module as unknown as Record<string, Tensor>;

/** Puts `begin` in a weight's place, and before each call what `compute` makes of its parts. */
function replaceBy(
  op: string,
  module: Module,
  name: string,
  { parts, compute, begin }: Pick<Kept, "parts" | "compute"> & { begin: Tensor },
): Module {
  const all = kept.get(module) ?? new Map<string, Kept>();
  kept.set(module, all);
  const put = (value: Tensor): void => {
    Object.defineProperty(module, name, { value, writable: true, enumerable: false, configurable: true });
  };
  put(begin);
  const before = (_: Module, args: unknown[]): unknown[] => {
    put(compute(module.training));
    return args; // a hook that answers nothing is not captured
  };
  all.set(`${op} ${name}`, { handle: module.register_forward_pre_hook(before), compute, parts });
  return module;
}
function parameterOf(op: string, module: Module, name: string): Parameter {
  const weight = attributes(checkModule(module, op))[name];
  if (!(weight instanceof Parameter)) throw new OpError(`${op}: ${nameOf(module)} has no parameter '${name}'`);
  if (kept.get(module)?.has(`${op} ${name}`))
    throw new OpError(`Cannot register two ${op} hooks on the same parameter ${name}`);
  return weight;
}
function remove(op: string, module: Module, name: string): Module {
  const found = kept.get(checkModule(module, op))?.get(`${op} ${name}`);
  if (!found) throw new OpError(`${op} of '${name}' not found in ${nameOf(module)}`);
  const weight = unrecorded(() => found.compute(false).detach());
  found.handle.remove();
  kept.get(module)!.delete(`${op} ${name}`);
  for (const part of [name, ...found.parts]) forget(module, part);
  module.register_parameter(name, new Parameter(weight));
  return module;
}

/**
 * Trains a weight as its length along `dim` and its direction: `weight_g` and `weight_v`.
 *
 * @param module the module that has the weight
 * @param name the weight's name
 * @param dim the axis whose slices have lengths of their own; null: there is one length
 *
 * @example
 * const layer = torch.nn.Linear(2, 1);
 * layer.weight = torch.nn.Parameter(torch.tensor([[3, 4]]));
 * torch.nn.utils.weight_norm(layer).weight_g  // [[5]]
 */
export function weight_norm<M extends Module>(
  module: M,
  name?: string | { name?: string; dim?: number | null },
  dim?: number | null,
): M;
export function weight_norm(...args: unknown[]): Module {
  const [module, name = "weight", dim = 0] = taken("weight_norm module name? dim?", args),
    weight = parameterOf("weight_norm", module, name);
  forget(module, name);
  module.register_parameter(`${name}_g`, new Parameter(unrecorded(() => normExcept(weight.detach(), dim))));
  module.register_parameter(`${name}_v`, new Parameter(weight.detach()));
  const own = attributes(module),
    parts = [`${name}_g`, `${name}_v`],
    compute = () => ofLength(own[`${name}_g`]!, own[`${name}_v`]!, dim);
  return replaceBy("weight_norm", module, name, { parts, compute, begin: compute() });
}
/**
 * Makes the weight a parameter again.
 *
 * @param module the module that has the weight
 * @param name the weight's name
 *
 * @example
 * const layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 1));
 * torch.nn.utils.remove_weight_norm(layer);
 * [...layer.named_parameters()].map(([name]) => name)  // ["bias", "weight"]
 */
export function remove_weight_norm<M extends Module>(module: M, name?: string): M;
export function remove_weight_norm(...args: unknown[]): Module {
  const [module, name = "weight"] = taken("remove_weight_norm module name?", args);
  return remove("weight_norm", module, name);
}

interface SpectralOptions {
  name?: string;
  n_power_iterations?: number;
  eps?: number;
  dim?: number | null;
}
/**
 * Divides a weight by its largest singular value, which each call in training finds a little better.
 *
 * @param module the module that has the weight
 * @param name the weight's name
 * @param n_power_iterations how many steps each call in training makes towards the singular value
 * @param eps the least length that is divided by
 * @param dim which axis of the weight counts as a matrix' rows
 *
 * @example
 * const layer = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2), { n_power_iterations: 50 });
 * layer(torch.ones([1, 3]));
 * torch.linalg.matrix_norm(layer.weight, 2).round({ decimals: 3 })  // 1
 */
export function spectral_norm<M extends Module>(module: M, ...options: (string | number | SpectralOptions | null)[]): M;
export function spectral_norm(...args: unknown[]): Module {
  const [module, name = "weight", steps = 1, eps = 1e-12, given] = taken(
      "spectral_norm module name? n_power_iterations? eps? dim?",
      args,
    ),
    weight = parameterOf("spectral_norm", module, name),
    dim = (given ?? (/^ConvTranspose/.test(nameOf(module as Module)) ? 1 : 0)) as number;
  count(steps, "spectral_norm", "n_power_iterations", 1);
  const [u, v] = drawnVectors(asMatrix(weight.detach(), dim), eps);
  forget(module, name);
  module.register_parameter(`${name}_orig`, weight);
  module.register_buffer(`${name}_u`, u);
  module.register_buffer(`${name}_v`, v);
  const own = attributes(module),
    parts = [`${name}_orig`, `${name}_u`, `${name}_v`],
    compute = (training: boolean): Tensor => {
      const [original, u, v] = parts.map((part) => own[part]!) as [Tensor, Tensor, Tensor],
        matrix = asMatrix(original, dim);
      if (training) powerSteps(matrix.detach(), u, v, { steps, eps, first: "v" });
      return divided(original, matrix, u, v);
    };
  return replaceBy("spectral_norm", module, name, { parts, compute, begin: weight.detach() });
}
/**
 * Takes the spectral norm off a module again.
 *
 * @param module the module that has the weight
 * @param name the weight's name
 *
 * @example
 * const layer = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2));
 * torch.nn.utils.remove_spectral_norm(layer);
 * [...layer.named_parameters()].map(([name]) => name)  // ["bias", "weight"]
 */
export function remove_spectral_norm<M extends Module>(module: M, name?: string): M;
export function remove_spectral_norm(...args: unknown[]): Module {
  const [module, name = "weight"] = taken("remove_spectral_norm module name?", args);
  return remove("spectral_norm", module, name);
}
