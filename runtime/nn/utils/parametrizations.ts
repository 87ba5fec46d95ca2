// torch.nn.utils.parametrizations: weights as a length and a direction, or divided by their largest singular value;
// orthogonal ones: orthogonal.ts.

import { count } from "../../base/argument-kinds.js";
import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { normalize } from "../../../names/functional.js";
import { titled, nameOf } from "../../base/class-name.js";
import { Module } from "../module.js";
import { register_parametrization } from "./parametrize.js";
import { asMatrix, divided, drawnVectors, normExcept, ofLength, powerSteps, weightOf } from "./weight-norms.js";

export { orthogonal } from "./orthogonal.js";

class WeightNorm extends Module {
  constructor(private readonly dimension: number | null) {
    super();
    Object.defineProperty(this, "dimension", { value: dimension });
  }
  override forward(g: Tensor, v: Tensor): Tensor {
    return ofLength(g, v, this.dimension);
  }
  right_inverse(weight: Tensor): Tensor[] {
    return [normExcept(weight, this.dimension), weight];
  }
}
titled(WeightNorm, "_WeightNorm");

class SpectralNorm extends Module {
  declare _u: Tensor;
  declare _v: Tensor;
  constructor(
    weight: Tensor,
    private readonly how: { steps: number; dim: number; eps: number },
  ) {
    super();
    Object.defineProperty(this, "how", { value: how });
    if (weight.ndim < 2) return;
    const matrix = asMatrix(weight, how.dim),
      [u, v] = drawnVectors(matrix, how.eps);
    powerSteps(matrix, u, v, { steps: 15, eps: how.eps });
    this.register_buffer("_u", u);
    this.register_buffer("_v", v);
  }
  override forward(weight: Tensor): Tensor {
    const { steps, dim, eps } = this.how;
    if (weight.ndim === 1) return normalize(weight, { dim: 0, eps }) as Tensor;
    const matrix = asMatrix(weight, dim);
    if (this.training) powerSteps(matrix.detach(), this._u, this._v, { steps, eps });
    return divided(weight, matrix, this._u, this._v);
  }
  right_inverse(value: Tensor): Tensor {
    return value;
  }
}
titled(SpectralNorm, "_SpectralNorm");

/**
 * The weight as its length along `dim` (null: of all) and its direction, `original0` and `original1`.
 *
 * @param module the module that has the tensor
 * @param name the tensor's name
 * @param dim the axis whose slices have lengths of their own; null: there is one length
 *
 * @example
 * const layer = torch.nn.Linear(2, 1);
 * layer.weight = torch.nn.Parameter(torch.tensor([[3, 4]]));
 * torch.nn.utils.parametrizations.weight_norm(layer);
 * layer.parametrizations.weight.original0  // [[5]]
 */
export function weight_norm<M extends Module>(
  module: M,
  name?: string | { name?: string; dim?: number | null },
  dim?: number | null,
): M;
export function weight_norm(...args: unknown[]): Module {
  const [module, name = "weight", dim = 0] = taken("weight_norm module name? dim?", args);
  weightOf("weight_norm", module, name);
  const made = register_parametrization(module as Module, name, new WeightNorm(dim), { unsafe: true });
  // States of before there were parametrizations: nn.utils.weight_norm's.
  made.register_load_state_dict_pre_hook((_, state, prefix) => {
    const old = [`${prefix}${name}_g`, `${prefix}${name}_v`];
    if (!old.every((key) => key in state)) return;
    old.forEach((key, i) => {
      state[`${prefix}parametrizations.${name}.original${i}`] = state[key];
      delete state[key];
    });
  });
  return made;
}

interface SpectralOptions {
  name?: string;
  n_power_iterations?: number;
  eps?: number;
  dim?: number | null;
}
/**
 * The weight divided by its largest singular value, which each use in training finds a little better.
 *
 * @param module the module that has the tensor
 * @param name the tensor's name
 * @param n_power_iterations how many steps each use in training makes towards the singular value
 * @param eps the least length that is divided by
 * @param dim which axis of the weight counts as a matrix' rows
 *
 * @example
 * const layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2), { n_power_iterations: 50 });
 * torch.linalg.matrix_norm(layer.weight, 2).round({ decimals: 3 })  // 1
 */
export function spectral_norm<M extends Module>(module: M, ...options: (string | number | SpectralOptions | null)[]): M;
export function spectral_norm(...args: unknown[]): Module {
  const [module, name = "weight", steps = 1, eps = 1e-12, given] = taken(
      "spectral_norm module name? n_power_iterations? eps? dim?",
      args,
    ),
    weight = weightOf("spectral_norm", module, name);
  const dim = (given ?? (/^ConvTranspose/.test(nameOf(module as Module)) ? 1 : 0)) as number;
  count(steps, "spectral_norm", "n_power_iterations", 1);
  return register_parametrization(module as Module, name, new SpectralNorm(weight.detach(), { steps, dim, eps }));
}
