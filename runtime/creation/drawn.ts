// Random numbers of a floating type, or of complex64.

import { TypeMismatchError } from "../base/errors.js";
import type { Device } from "../devices/device.js";
import { type DType, isFloat } from "../elements/dtype.js";
import type { RandomSource } from "../elements/random.js";
import { emptyOn } from "../tensor/allocate.js";
import { intoComplex } from "../tensor/pairs.js";
import type { Tensor } from "../tensor/tensor.js";
import * as kernels from "../views/needed-ops.js";

/**
 * Uniform numbers (`rand`) or normal ones (`randn`), of complex64 in both parts: those have half of the variance each.
 * `op` is the function that was called.
 */
export function drawn(
  kind: "rand" | "randn",
  device: Device,
  shape: readonly number[],
  dtype: DType,
  generator: RandomSource | null,
  op: string,
): Tensor {
  if (dtype === "complex64") {
    const pairs = drawn(kind, device, [...shape, 2], "float32", generator, op);
    if (kind === "rand") return intoComplex(pairs);
    const out = intoComplex(kernels.add(pairs, pairs, Math.SQRT1_2 - 1));
    pairs.dispose();
    return out;
  }
  if (!isFloat(dtype)) throw new TypeMismatchError(`${op}: expected a floating point dtype, got ${dtype}`);
  const draw = kind === "rand" ? kernels.rand_like : kernels.randn_like,
    like = emptyOn(device, shape, dtype, op),
    out = draw(like, generator);
  like.dispose();
  return out;
}
