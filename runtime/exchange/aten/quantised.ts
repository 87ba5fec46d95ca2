// Numbers of few bits in programs: what training for them computes, and the operators of quantised graphs.

import { fake_quantize_per_channel_affine } from "../../composite/adapted.js";
import * as F from "../../../names/functional.js";
import * as torch from "../../../names/torch.js";
import { no_grad } from "../../tape/grad-mode.js";
import { full_like } from "../../creation/filled.js";
import * as views from "../../views/views.js";
import { copy_, to } from "../../views/transfer.js";
import type { DType } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Call, Operator } from "../operators.js";

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

/** What quantises, of the types that PyTorch gives it, as far as its device has them. */
const parameters = (scale: Tensor, zero: Tensor): Tensor[] => [
  scale.device === "cpu" ? cast(scale, "float64") : scale,
  cast(zero, "int64"),
];

/** Steps as wide as numbers from `low` to `high` need for all from `least` to `most`; at least `eps` wide. */
const steps = (least: Tensor, most: Tensor, low: number, high: number, eps: number): Tensor =>
  torch.clamp(torch.div(torch.sub(most, least), high - low) as Tensor, eps) as Tensor;

/** From the least to the largest element of each row, and 0. */
const range = (x: Tensor): [Tensor, Tensor] => [
  torch.clamp(torch.amin(x, -1, true) as Tensor, null, 0) as Tensor,
  torch.clamp(torch.amax(x, -1, true) as Tensor, 0) as Tensor,
];

/** How far the elements of each row are from 0 at most. */
const farthest = (x: Tensor): Tensor => torch.amax(torch.abs(x) as Tensor, -1, true) as Tensor;

const flat = (x: unknown): Tensor => views.reshape(x as Tensor, [-1]);

/** The whole numbers of rows that have a factor each, which may be wider than what they stand for. */
const coarse = (x: Tensor, scales: Tensor, zeros: Tensor | null, low: number, high: number, dtype: DType): Tensor => {
  const code = torch.add(torch.mul(x, torch.reciprocal(scales) as Tensor), zeros as Tensor) as Tensor;
  return cast(torch.clamp(torch.round(code) as Tensor, low, high) as Tensor, dtype);
};

/** What such numbers stand for. */
const fine = (x: Tensor, scales: Tensor, zeros: Tensor | null, dtype: DType | null | undefined): Tensor =>
  cast(torch.mul(torch.sub(x, zeros ?? 0), scales) as Tensor, dtype ?? "float32");

const column = (x: Tensor): Tensor => views.reshape(x, [-1, 1]);

/** Rows of the elements that have a factor together: `size`, or all of a row that has but one. */
const grouped = (x: Tensor, size: number): Tensor => views.reshape(x, [-1, Math.min(size, x.shape.at(-1)!)]);

type Rows = [x: Tensor, scales: Tensor, zeros: Tensor | null, low: number, high: number];
type ByTensor = [x: Tensor, scale: Parameter, zero: Parameter, low: number, high: number];
type ByChannel = [x: Tensor, scales: Tensor, zeros: Tensor, axis: number, low: number, high: number];

const byTensor: Operator = ({ args }) => {
  const [x, scale, zero, low, high] = args as ByTensor;
  return fake(x, single(scale), single(zero), low, high);
};

const byChannel: Operator = ({ args }) => fake_quantize_per_channel_affine(...(args as ByChannel));

// --- steps that follow the range of what comes by, and steps that are learned ---------------------------

// eslint-disable-next-line @typescript-eslint/no-explicit-any
const t = torch as unknown as Readonly<Record<string, (...args: any[]) => Tensor>>;
const add = t["add"]!;
const sub = t["sub"]!;
const mul = t["mul"]!;
const div = t["div"]!;
const where = t["where"]!;

/** Steps narrower than this PyTorch makes as wide. */
const NARROWEST = 6.1e-5;

/** Steps, and the codes of 0, that numbers from `least` to `most` need for codes from `low` to `high`. */
function stepsFor(least: Tensor, most: Tensor, low: number, high: number, symmetric: boolean): [Tensor, Tensor] {
  const half = Math.floor((high - low) / 2),
    across = t["logical_and"]!(t["lt"]!(least, 0), t["gt"]!(most, 0)),
    even = symmetric ? across : t["ne"]!(across, across),
    reach = t["maximum"]!(div(least, -half - 1), div(most, half)),
    from = t["clamp"]!(where(even, mul(reach, -half - 1), least), null, 0),
    until = t["clamp"]!(where(even, mul(reach, half), most), 0),
    width = div(sub(until, from), high - low),
    some = where(t["eq"]!(width, 0), 0.1, width),
    wider = t["clamp"]!(div(NARROWEST, some), 1),
    step = mul(some, wider),
    [down, up] = [from, until].map((end) => div(mul(end, wider), step)) as [Tensor, Tensor],
    // by the end of the range that rounding 0 moves less
    byLow = t["lt"]!(sub(Math.abs(low), t["abs"]!(down)), sub(Math.abs(high), t["abs"]!(up))),
    zero = where(even, (low + high) / 2, where(byLow, sub(low, down), sub(high, up)));
  return [step, t["clamp"]!(t["round"]!(zero), low, high)];
}

type Observed = [
  ...tensors: [x: Tensor, watching: Tensor, rounding: Tensor, least: Tensor, most: Tensor, scale: Tensor, zero: Tensor],
  ...how: [share: number, low: number, high: number, axis: number, byRow?: boolean, symmetric?: boolean],
];

/** The range of all that came by, with `x`, and the steps that follow from it. */
function following(args: Observed): Tensor[] {
  const [x, watching, rounding, least, most, scale, zero, share, low, high, axis, byRow, symmetric] = args,
    on = (flag: Tensor): Tensor => t["ne"]!(views.reshape(flag, []), 0),
    seen = byRow ? views.flatten(views.movedim(x, axis, 0), 1) : views.reshape(x, [1, -1]),
    ends = [t["amin"]!(seen, 1), t["amax"]!(seen, 1)].map((now, i) => {
      const before = [least, most][i]!,
        end = views.reshape(now, before.shape),
        next = add(before, mul(sub(end, before), share));
      return where(on(watching), where(t["isinf"]!(before), end, next), before);
    }),
    // PyTorch reckons with doubles here
    wide = ends.map((end) => (end.device === "cpu" ? (to(end, ["float64"]) as Tensor) : end)) as [Tensor, Tensor],
    steps = stepsFor(...wide, low, high, symmetric ?? false).map((made, i) => {
      const before = [scale, zero][i]!;
      return where(on(rounding), views.reshape(to(made, [before.dtype]) as Tensor, before.shape), before);
    });
  return [...ends, ...steps];
}

/** What `x` becomes, which of its elements were not cut off, and what the range and the steps become. */
function observed(call: Call): Tensor[] {
  const args = call.args as Observed,
    [x, , rounding, , , , , , low, high, axis, byRow] = args,
    next = no_grad(() => following(args)),
    [scale, zero] = next.slice(2) as [Tensor, Tensor],
    on = t["ne"]!(views.reshape(rounding, []), 0),
    out = (byRow ? byChannel : byTensor)({
      ...call,
      args: byRow ? [x, scale, zero, axis, low, high] : [x, scale, zero, low, high],
    }) as Tensor,
    part = (values: Tensor): Tensor => (byRow ? (along(x, values, axis) as Tensor) : views.reshape(values, []));
  const mask = t["logical_or"]!(kept(x, part(scale), part(zero), low, high), t["logical_not"]!(on));
  return [where(on, out, x), mask, ...next];
}

/** Steps and their zeros that have gradients, which `factor` weighs. */
function learned(x: Tensor, scale: Tensor, zero: Tensor, low: number, high: number, factor: number): Tensor {
  const [value, within, slope] = no_grad(() => {
    const at = t["clamp"]!(t["round"]!(zero), low, high),
      all = coded(x, scale, at),
      cut = sub(t["clamp"]!(all, low, high), at),
      rounded = mul(cut, scale),
      inside = t["eq"]!(t["clamp"]!(all, low, high), all);
    return [rounded, inside, where(inside, div(sub(rounded, x), scale), cut)] as const;
  });
  const moved = add(
    where(within, x, 0),
    mul(add(mul(scale, slope), mul(zero, where(within, 0, t["neg"]!(scale.detach())))), factor),
  );
  return add(value, sub(moved, moved.detach()));
}

const OBSERVED: Readonly<Record<string, Operator>> = {
  fused_moving_avg_obs_fake_quant: (call) => {
    const [out, , ...next] = observed(call) as [Tensor, Tensor, ...Tensor[]];
    no_grad(() => next.forEach((value, i) => copy_(call.args[3 + i] as Tensor, value)));
    return out;
  },
  _fused_moving_avg_obs_fq_helper_functional: observed,
  _fake_quantize_learnable_per_tensor_affine: ({ args }) => {
    const [x, scale, zero, low, high, factor] = args as [Tensor, Tensor, Tensor, number, number, number?];
    return learned(x, views.reshape(scale, []), views.reshape(zero, []), low, high, factor ?? 1);
  },
  _fake_quantize_learnable_per_channel_affine: ({ args }) => {
    const [x, scale, zero, axis, low, high, factor] = args as [Tensor, Tensor, Tensor, number, number, number, number?],
      [steps, zeros] = [along(x, scale, axis), along(x, zero, axis)] as [Tensor, Tensor];
    return learned(x, steps, zeros, low, high, factor ?? 1);
  },
};

export const QUANTISED: Readonly<Record<string, Operator>> = {
  ...OBSERVED,
  _int_mm: ({ args: [a, b] }) => torch.matmul(cast(a as Tensor, "int32"), cast(b as Tensor, "int32")),
  // rows of 8 bits, each with a factor
  _weight_int8pack_mm: ({ args }) => {
    const [x, weight, scales] = args as [Tensor, Tensor, Tensor];
    return torch.mul(F.linear(x, cast(weight, x.dtype)), scales);
  },
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
  fake_quantize_per_channel_affine: byChannel,
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
  "quantized_decomposed::choose_qparams": ({ args }) => {
    const [x, low, high, eps] = args as [Tensor, number, number, number],
      [least, most] = range(flat(x)),
      scale = steps(least, most, low, high, eps),
      zero = torch.sub(low, torch.round(torch.div(least, scale) as Tensor) as Tensor) as Tensor;
    return parameters(scale, torch.clamp(zero, low, high) as Tensor);
  },
  "quantized_decomposed::choose_qparams_symmetric": ({ args }) => {
    const [x, low, high, eps, dtype] = args as [Tensor, number, number, number, DType],
      most = farthest(flat(x)),
      scale = steps(torch.neg(most) as Tensor, most, low, high, eps);
    return parameters(scale, full_like(scale, dtype === "uint8" ? 128 : 0));
  },
  "quantized_decomposed::choose_qparams_per_token": ({ args: [x] }) => {
    const scale = torch.div(torch.clamp(farthest(cast(x as Tensor, "float32")), 1e-5) as Tensor, 127) as Tensor;
    return [scale, full_like(scale, 0)];
  },
  "quantized_decomposed::choose_qparams_per_token_asymmetric": ({ args: [x] }) => {
    const [least, most] = range(x as Tensor),
      scale = steps(least, most, -128, 127, 2 ** -23),
      [down, up] = [least, most].map((end) => torch.div(end, scale) as Tensor) as [Tensor, Tensor],
      // by the end of the range that the rounding of the other moves less
      zero = torch.where(torch.gt(torch.add(down, up), 1) as Tensor, torch.sub(-128, down), torch.sub(127, up));
    return parameters(scale, torch.round(torch.clamp(zero as Tensor, -128, 127) as Tensor) as Tensor);
  },
  "quantized_decomposed::quantize_per_token": ({ args }) => coarse(...(args as [...Rows, DType])),
  "quantized_decomposed::dequantize_per_token": ({ args }) => {
    const [x, scales, zeros, , , , dtype] = args as [...Rows, DType, DType];
    return fine(x, scales, zeros, dtype);
  },
  "quantized_decomposed::quantize_per_channel_group": ({ args }) => {
    const [x, scales, zeros, low, high, dtype, size] = args as [...Rows, DType, number],
      code = coarse(grouped(x, size), column(scales), column(zeros as Tensor), low, high, dtype);
    return views.reshape(code, x.shape);
  },
  "quantized_decomposed::dequantize_per_channel_group": ({ args }) => {
    const [x, scales, zeros, , , , size, dtype] = args as [...Rows, DType, number, DType],
      value = fine(grouped(x, size), column(scales), zeros && column(zeros), dtype);
    return views.reshape(value, x.shape);
  },
  "quantized_decomposed::fake_quant_per_channel": byChannel,
  "quantized_decomposed::convert_element_type": ({ args: [x, dtype] }) => cast(x as Tensor, dtype as DType),
};
