// Batch norm in evaluation taken into the weights of the layer before it: one layer instead of two.

import { add, mul, rsqrt, sub } from "../../../names/torch.js";
import { text, refuse } from "../../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import { zeros_like } from "../../creation/like.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { check } from "../../tensor/tensor-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import { Module } from "../module.js";
import { Parameter } from "../parameter.js";

type Layer = Module & { weight: Tensor; bias: Tensor | null; transposed?: boolean };
type Norm = Module & {
  weight: Tensor | null;
  bias: Tensor | null;
  running_mean: Tensor | null;
  running_var: Tensor | null;
  eps: number;
};
type Maybe = Tensor | null;

/** Weight and bias of the layer that a norm of its channels, those of the weight's axis `channels`, has gone into. */
function fused(
  op: string,
  [weight, bias, mean, variance, eps, scale, shift]: [Tensor, Maybe, Tensor, Tensor, number, Maybe, Maybe],
  channels: number,
): [Parameter, Parameter] {
  for (const [name, x] of Object.entries({ weight, bn_rm: mean, bn_rv: variance })) check(x, op, name);
  const wants = weight.requires_grad,
    wantsBias = bias?.requires_grad ?? false;
  return unrecorded(() => {
    const spread = rsqrt(add(variance, eps) as Tensor),
      factor = scale ? (mul(scale, spread) as Tensor) : spread,
      along = weight.shape.map((_, i) => (i === channels ? factor.shape[0]! : 1)),
      centred = sub(bias ?? (zeros_like(mean) as Tensor), mean) as Tensor,
      moved = mul(centred, factor) as Tensor;
    return [
      new Parameter(mul(weight, views.reshape(factor, along)) as Tensor, wants),
      new Parameter(shift ? (add(moved, shift) as Tensor) : moved, wantsBias),
    ];
  });
}

/**
 * A convolution's weight and bias with what a batch norm with these statistics makes of its result.
 *
 * @param conv_w the convolution's weight
 * @param conv_b its bias, or null
 * @param bn_rm the norm's running mean
 * @param bn_rv its running variance
 * @param bn_eps what it adds to the variance
 * @param bn_w its factor, or null: ones
 * @param bn_b its shift, or null: zeros
 * @param transpose whether the convolution is a transposed one
 *
 * @example
 * const [weight, bias] = torch.nn.utils.fuse_conv_bn_weights(
 *   torch.ones([1, 1, 1]), null, torch.tensor([2]), torch.tensor([4]), 0, torch.tensor([10]), torch.tensor([1]));
 * [weight, bias]  // [[[[5]]], [-9]]
 */
export function fuse_conv_bn_weights(
  conv_w: Tensor,
  conv_b: Tensor | null,
  bn_rm: Tensor,
  bn_rv: Tensor,
  bn_eps: number,
  bn_w: Tensor | null,
  bn_b: Tensor | null,
  transpose?: boolean | { transpose?: boolean },
): [Parameter, Parameter] {
  const op = "fuse_conv_bn_weights",
    given = taken(`${op} conv_w conv_b bn_rm bn_rv bn_eps bn_w bn_b transpose?`, arguments);
  return fused(op, given.slice(0, 7) as never, given[7] ? 1 : 0);
}
/**
 * The same of a linear layer.
 *
 * @param linear_w the layer's weight
 * @param linear_b its bias, or null
 * @param bn_rm the norm's running mean
 * @param bn_rv its running variance
 * @param bn_eps what it adds to the variance
 * @param bn_w its factor
 * @param bn_b its shift
 *
 * @example
 * const [weight, bias] = torch.nn.utils.fuse_linear_bn_weights(
 *   torch.ones([1, 2]), null, torch.tensor([2]), torch.tensor([4]), 0, torch.tensor([10]), torch.tensor([1]));
 * [weight, bias]  // [[[5, 5]], [-9]]
 */
export function fuse_linear_bn_weights(
  linear_w: Tensor,
  linear_b: Tensor | null,
  bn_rm: Tensor,
  bn_rv: Tensor,
  bn_eps: number,
  bn_w: Tensor | null,
  bn_b: Tensor | null,
): [Parameter, Parameter] {
  const op = "fuse_linear_bn_weights",
    given = taken(`${op} linear_w linear_b bn_rm bn_rv bn_eps bn_w bn_b`, arguments);
  return fused(op, given as never, 0);
}

/** A copy of `layer` that does what it and `norm` do one after the other; both are to be in evaluation. */
function both<L extends Layer>(op: string, layer: L, norm: Norm, channels: number): L {
  if (!(layer instanceof Module) || !(norm instanceof Module))
    throw new TypeMismatchError(`${op}: expected two modules, got ${describe(layer)} and ${describe(norm)}`);
  if (layer.training || norm.training) throw new OpError(`${op}: Fusion only for eval!`);
  const { running_mean, running_var } = norm;
  if (!running_mean || !running_var) throw new OpError(`${op}: the batch norm has no running statistics`);
  const out = layer.deepcopy(),
    { weight, bias } = out as Layer;
  [out.weight, out.bias] = fused(
    op,
    [weight, bias, running_mean, running_var, norm.eps, norm.weight, norm.bias],
    channels,
  );
  return out;
}
/**
 * A convolution that does what `conv` and then the batch norm `bn` do; both are to be in evaluation.
 *
 * @param conv the convolution, which stays as it is
 * @param bn the batch norm behind it
 * @param transpose whether the convolution is a transposed one
 *
 * @example
 * const conv = torch.nn.Conv1d(1, 2, 3).eval(), norm = torch.nn.BatchNorm1d(2).eval();
 * const both = torch.nn.utils.fuse_conv_bn_eval(conv, norm), x = torch.rand([4, 1, 8]);
 * torch.allclose(both(x), norm(conv(x)), { atol: 1e-6 })  // true
 */
export function fuse_conv_bn_eval<L extends Layer>(
  conv: L,
  bn: Norm,
  transpose?: boolean | { transpose?: boolean },
): L {
  [conv, bn, transpose = false] = taken("fuse_conv_bn_eval conv bn transpose?", arguments);
  return both("fuse_conv_bn_eval", conv, bn, transpose ? 1 : 0);
}
/**
 * The same of a linear layer.
 *
 * @param linear the layer, which stays as it is
 * @param bn the batch norm behind it
 *
 * @example
 * const linear = torch.nn.Linear(3, 2).eval(), norm = torch.nn.BatchNorm1d(2).eval();
 * const both = torch.nn.utils.fuse_linear_bn_eval(linear, norm), x = torch.rand([4, 3]);
 * torch.allclose(both(x), norm(linear(x)), { atol: 1e-6 })  // true
 */
export function fuse_linear_bn_eval<L extends Layer>(linear: L, bn: Norm): L {
  [linear, bn] = taken("fuse_linear_bn_eval linear bn", arguments);
  if (linear instanceof Module && linear.bias !== undefined && bn instanceof Module) {
    const features = linear.weight.shape[0],
      norms = bn.running_mean?.shape[0];
    if (norms !== undefined && norms !== 1 && norms !== features)
      throw new OpError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1");
  }
  return both("fuse_linear_bn_eval", linear, bn, 0);
}

/**
 * The module itself: a weight lies in one way here, which is nobody's business.
 *
 * @param module any module
 * @param memory_format "channels_last", without effect
 *
 * @example
 * const conv = torch.nn.Conv2d(1, 2, 3);
 * torch.nn.utils.convert_conv2d_weight_memory_format(conv, "channels_last") === conv  // true
 */
export function convert_conv2d_weight_memory_format<M extends Module>(module: M, memory_format: string): M {
  return itself("convert_conv2d_weight_memory_format", arguments);
}
/**
 * The module itself: there is one order of memory here.
 *
 * @param module any module
 * @param memory_format "channels_last_3d", without effect
 *
 * @example
 * const conv = torch.nn.Conv3d(1, 2, 3);
 * torch.nn.utils.convert_conv3d_weight_memory_format(conv, "channels_last_3d") === conv  // true
 */
export function convert_conv3d_weight_memory_format<M extends Module>(module: M, memory_format: string): M {
  return itself("convert_conv3d_weight_memory_format", arguments);
}
function itself<M extends Module>(op: string, args: IArguments): M {
  const [module, format] = taken(`${op} module memory_format`, args) as [M, unknown];
  text(format, op, "memory_format");
  if (!(module instanceof Module)) refuse(op, "module", "a module", module);
  return module;
}
