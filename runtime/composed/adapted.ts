// Functions that are an op with its arguments or results brought into another form.

import { run } from "../call.js";
import { TypeMismatchError, describe } from "../errors.js";
import { named } from "../named.js";
import { Tensor, type TensorOrNumber } from "../tensor.js";
import { float_powerOp } from "../../ops/arithmetic.js";
import { layer_norm_momentsOp } from "../../ops/norm.js";
import { vector_normOp } from "../../ops/reduce.js";
import { sub } from "../../names/torch.js";

/** `input` to the power `exponent`, in float64 on the CPU and float32 on a GPU, which has no wider floats. */
export function float_power(input: TensorOrNumber, exponent: TensorOrNumber): Tensor {
  const [base, power] = named("float_power", ["input", "exponent"], [input, exponent]);
  if (!(base instanceof Tensor || power instanceof Tensor)) throw new TypeMismatchError(`float_power: one of 'input' and 'exponent' must be a tensor, got ${describe(base)} and ${describe(power)}`);
  const wide = (x: unknown) => (x instanceof Tensor ? x.to(x.device === "cpu" ? "float64" : "float32") : x);
  return run(float_powerOp, [wide(base), wide(power)]) as Tensor;
}

/** Layer norm, with the mean and the reciprocal standard deviation of each sample, their axes kept with length 1. */
export function native_layer_norm(input: Tensor, normalized_shape: readonly number[], weight: Tensor | null, bias: Tensor | null, eps: number): [Tensor, Tensor, Tensor] {
  const all = named("native_layer_norm", ["input", "normalized_shape", "weight", "bias", "eps"], [input, normalized_shape, weight, bias, eps]);
  const [out, mean, rstd] = run(layer_norm_momentsOp, all) as unknown as [Tensor, Tensor, Tensor];
  const x = all[0] as Tensor, shape = x.shape.map((n, i) => (i < mean.ndim ? n : 1));
  return [out, mean.reshape(shape), rstd.reshape(shape)];
}

/** The p-norm of `input - other`, of all elements together. */
export function dist(input: Tensor, other: Tensor, p: number | { p?: number } = 2): Tensor {
  const [x, y, order] = named("dist", ["input", "other", "p"], [input, other, p]);
  for (const t of [x, y]) if (!(t instanceof Tensor)) throw new TypeMismatchError(`dist: 'input' and 'other' must be tensors, got ${describe(t)}`);
  return run(vector_normOp, [sub(x as Tensor, y as Tensor), order ?? 2]) as Tensor;
}
