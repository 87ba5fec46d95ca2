// Numbers of few bits in programs: what training for them computes, and the operators of quantised graphs.

import { fake_quantize_per_channel_affine } from "../composite/adapted.js";
import * as torch from "../../names/torch.js";
import * as views from "../views/views.js";
import { to } from "../views/transfer.js";
import type { DType } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import type { Operator } from "./operators.js";

type Parameter = Tensor | number;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const fake = torch.fake_quantize_per_tensor_affine as (...args: any[]) => Tensor;

const cast = (x: Tensor, dtype: DType): Tensor => (x.dtype === dtype ? x : (to(x, [dtype]) as Tensor));

/** One element as a tensor without axes. */
const single = (x: Parameter): Parameter => (typeof x === "number" ? x : views.reshape(x, []));

/** Values of slices along `axis`, so that they broadcast over `x`; null: 0. */
function along(x: Tensor, values: Tensor | null, axis: number): Parameter {
  if (!values) return 0;
  const at = axis < 0 ? axis + x.ndim : axis;
  return views.reshape(
    values,
    x.shape.map((n, i) => (i === at ? n : 1)),
  );
}

/** The whole numbers that stand for `x`, not cut off. */
const coded = (x: Tensor, scale: Parameter, zero: Parameter): Tensor => {
  const inverse = typeof scale === "number" ? 1 / scale : (torch.reciprocal(scale) as Tensor);
  return torch.add(torch.round(torch.mul(x, inverse) as Tensor) as Tensor, zero) as Tensor;
};

/** Which elements are not cut off. */
const kept = (x: Tensor, scale: Parameter, zero: Parameter, low: number, high: number): Tensor => {
  const code = coded(x.detach(), scale, zero);
  return torch.logical_and(torch.ge(code, low), torch.le(code, high)) as Tensor;
};

const quantised = (x: Tensor, scale: Parameter, zero: Parameter, low: number, high: number, dtype: DType): Tensor =>
  cast(torch.clamp(coded(cast(x, "float32"), scale, zero), low, high) as Tensor, dtype);

const dequantised = (x: Tensor, scale: Parameter, zero: Parameter, dtype: unknown): Tensor =>
  cast(
    torch.mul(torch.sub(cast(x, "float32"), zero), scale) as Tensor,
    (dtype as DType | null | undefined) ?? "float32",
  );

type ByTensor = [x: Tensor, scale: Parameter, zero: Parameter, low: number, high: number];
type ByChannel = [x: Tensor, scales: Tensor, zeros: Tensor, axis: number, low: number, high: number];

const byTensor: Operator = ({ args }) => {
  const [x, scale, zero, low, high] = args as ByTensor;
  return fake(x, single(scale), single(zero), low, high);
};

export const QUANTISED: Readonly<Record<string, Operator>> = {
  fake_quantize_per_tensor_affine: byTensor,
  fake_quantize_per_tensor_affine_cachemask: (call) => {
    const [x, scale, zero, low, high] = call.args as ByTensor;
    return [byTensor(call), call.used[1] ? kept(x, single(scale), single(zero), low, high) : null];
  },
  // what is not switched on leaves its argument as it is
  _fake_quantize_per_tensor_affine_cachemask_tensor_qparams: ({ args, used }) => {
    const [x, scale, zero, on, low, high] = args as [Tensor, Tensor, Tensor, Tensor, number, number],
      enabled = torch.ne(single(on) as Tensor, 0) as Tensor,
      out = torch.where(enabled, fake(x, single(scale), single(zero), low, high), x);
    const mask = () =>
      torch.logical_or(kept(x, single(scale), single(zero), low, high), torch.logical_not(enabled) as Tensor);
    return [out, used[1] ? mask() : null];
  },
  fake_quantize_per_channel_affine: ({ args }) => fake_quantize_per_channel_affine(...(args as ByChannel)),
  fake_quantize_per_channel_affine_cachemask: ({ args, used }) => {
    const [x, scales, zeros, axis, low, high] = args as ByChannel,
      mask = () => kept(x, along(x, scales, axis), along(x, zeros, axis), low, high);
    return [fake_quantize_per_channel_affine(x, scales, zeros, axis, low, high), used[1] ? mask() : null];
  },
};

/** What graphs consist of that PyTorch's quantiser converted. */
export const DECOMPOSED: Readonly<Record<string, Operator>> = {
  "quantized_decomposed::quantize_per_tensor": ({ args }) => {
    const [x, scale, zero, low, high, dtype] = args as [...ByTensor, DType];
    return quantised(x, single(scale), single(zero), low, high, dtype);
  },
  "quantized_decomposed::dequantize_per_tensor": ({ args, options }) => {
    const [x, scale, zero] = args as ByTensor;
    return dequantised(x, single(scale), single(zero), options["out_dtype"]);
  },
  "quantized_decomposed::quantize_per_channel": ({ args }) => {
    const [x, scales, zeros, axis, low, high, dtype] = args as [...ByChannel, DType];
    return quantised(x, along(x, scales, axis), along(x, zeros, axis), low, high, dtype);
  },
  "quantized_decomposed::dequantize_per_channel": ({ args, options }) => {
    const [x, scales, zeros, axis] = args as ByChannel;
    return dequantised(x, along(x, scales, axis), along(x, zeros, axis), options["out_dtype"]);
  },
};
