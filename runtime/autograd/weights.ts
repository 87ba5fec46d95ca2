// Weights of outputs by which a way back is differentiated.

import { tensor } from "../creation/create.js";
import { ones_like } from "../creation/like.js";
import { isFloat } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * Weights for the elements of an output.  What comes back is linear in them, so any will do but zero, or such as add up
 * to it: there an op leaves out what it would weigh, since 0 * inf is no number.
 */
export function weightsFor(out: Tensor): Tensor {
  const { shape, dtype, device } = out;
  if (!isFloat(dtype)) return ones_like(out).detach().requires_grad_();
  const scattered = Float32Array.from({ length: out.numel() }, (_, i) => 1.5 + ((43758.5453 * Math.sin(i + 1)) % 1));
  return tensor(scattered, { shape, dtype, device, requires_grad: true });
}
