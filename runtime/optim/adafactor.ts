// Adafactor: a matrix's squared gradients are kept as a column and a row.  A step of a parameter goes by its own norms;
// parameters of one shape that lie side by side are a stack of them, so that launches are for each shape.

import { adafactor_stepOp, adafactor_vector_stepOp } from "../../ops/optim.js";
import { zeros } from "../creation/create.js";
import { describe } from "../base/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { finfo } from "../functions/type-info.js";
import type { Optimizer } from "./optimizer.js";
import { type Kernels, type Rate, type Shared, must, mustBeRate } from "./options.js";
import { optimizer } from "./recipe.js";

export interface AdafactorOptions extends Shared, Pick<Kernels, "foreach"> {
  /** The most that a step goes, as a part of the parameter's own size. */
  lr: Rate;
  /** How the average of squares forgets: at step `n` it takes `n ** beta2_decay` of the new ones. */
  beta2_decay: number;
  /** The least average of squares (null: the type's own precision), and the least size of a parameter. */
  eps: readonly [number | null, number];
  /** Steps with a root mean square beyond this are made so small. */
  d: number;
}

/** Zeros in the shape of `param` with one element along `axis`, counted from the end. */
function along(param: Tensor, axis: number): Tensor | null {
  if (param.ndim < 2) return null;
  const shape = [...param.shape];
  shape[shape.length - axis] = 1;
  return zeros(shape, { dtype: param.dtype, device: param.device });
}

/**
 * Steps by the gradient over averages of its square, kept as rows and columns alone.
 *
 * @example
 * const w = torch.tensor([1, -2], { requires_grad: true });
 * w.square().sum().backward();
 * await torch.optim.Adafactor([w], { lr: 0.1 }).step();
 * w  // [0.841886, -1.84189]
 */
export const Adafactor = /* @__PURE__ */ optimizer<AdafactorOptions>({
  name: "Adafactor",
  defaults: { lr: 1e-2, beta2_decay: -0.8, eps: [null, 1e-3], d: 1, weight_decay: 0, foreach: null, maximize: false },
  byName: "foreach",
  check({ lr, beta2_decay, eps, d, weight_decay }) {
    must(Array.isArray(eps) && eps.length === 2, `eps should be a pair of numbers but is: ${describe(eps)}`);
    const [eps1, eps2] = eps;
    mustBeRate(lr, "Learning rate should be >= 0 but is");
    must(beta2_decay <= 0, `beta2_decay should be <= 0 but is: ${beta2_decay}`);
    must(eps1 === null || eps1 >= 0, `epsilon1 should be >= 0 but is: ${String(eps1)}`);
    must(eps2 >= 0, `epsilon2 should be >= 0 but is: ${eps2}`);
    must(d >= 1, `Clipping threshold d should be >= 1 but is: ${d}`);
    must(weight_decay >= 0, `weight_decay should be >= 0 but is: ${weight_decay}`);
  },
  op(_, param) {
    must(param.dtype !== "complex64", "Adafactor does not support complex parameters");
    return param.ndim > 1 ? adafactor_stepOp : adafactor_vector_stepOp;
  },
  stacks: true,
  state: {
    row_var: (_, param) => along(param, 1),
    col_var: (_, param) => along(param, 2),
    variance: (_, param) => (param.ndim > 1 ? null : 0),
  },
  words: ({ lr, eps, beta2_decay }, { step }, param) => ({
    eps1: eps[0] ?? finfo(param.dtype).eps,
    eps2: eps[1],
    decay: step ** beta2_decay,
    rho: Math.min(lr, 1 / Math.sqrt(step)),
  }),
});
export type Adafactor = Optimizer<AdafactorOptions>;
