// Tensors with one number everywhere, which may stand in a tensor without axes.

import { defaultDevice } from "../devices/device.js";
import { isFloat, toDType } from "../elements/dtype.js";
import type { Complex } from "../elements/complex-number.js";
import { TypeMismatchError } from "../base/errors.js";
import { expand } from "../views/views.js";
import { clone } from "../tensor/copy.js";
import { describeTensor } from "../tensor/print.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Options, fullOf, tensor } from "./create.js";
import { like } from "./like.js";

/**
 * A tensor of these sizes whose elements are all `fill_value`.
 *
 * @example
 * torch.full([2, 2], 7)  // [[7, 7], [7, 7]]
 */
export function full(
  size: number | readonly number[],
  fill_value: number | bigint | boolean | Complex | Tensor,
  options?: Options,
): Tensor;
export function full(
  options: Options & { size: number | readonly number[]; fill_value: number | boolean | Complex | Tensor },
): Tensor;
export function full(...args: unknown[]): Tensor {
  return fullOf("full", args, spread);
}
/**
 * A tensor of `input`'s shape whose elements are all `fill_value`.
 *
 * @example
 * torch.full_like(torch.zeros(3), 0.5)  // [0.5, 0.5, 0.5]
 */
export function full_like(
  ...args: [input: Tensor, fill_value: number | boolean | Complex | Tensor, options?: Options]
): Tensor {
  const {
    values: [x, value],
    options,
  } = like("full_like", args, "fill_value");
  return fullOf("full_like", [x.shape, value, options], spread);
}

/** The one element of a tensor everywhere: as a number of its kind, float32 or int64, where no type is asked for. */
export function spread(value: Tensor, shape: readonly number[], options: Options, op: string): Tensor {
  if (value.ndim > 0 || value.requires_grad)
    throw new TypeMismatchError(
      `${op}: argument 'fill_value' must be a number or a tensor without axes and gradient, got ${describeTensor(value)}`,
    );
  const kind =
      value.dtype === "bool" || value.dtype === "complex64" ? value.dtype : isFloat(value.dtype) ? "float32" : "int64",
    { requires_grad, ...rest } = {
      ...options,
      device: options.device ?? defaultDevice(),
      dtype: options.dtype ? toDType(options.dtype, op) : kind,
    };
  const out = clone(expand(tensor(value, rest), shape));
  return requires_grad ? out.requires_grad_() : out;
}
