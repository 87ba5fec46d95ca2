// ATen's operators that are the gradient of another: that one is run again, and what is asked for is derived from it.

import { grad } from "../autograd/engine.js";
import { zeros } from "../creation/create.js";
import { enable_grad } from "../tape/grad-mode.js";
import * as F from "../../names/functional.js";
import * as torch from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import type { Operator } from "./operators.js";

type Sizes = number[];
type Maybe<T> = T | null | undefined;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const named = F as unknown as Readonly<Record<string, (...args: any[]) => Tensor>>;

/** The gradients of `f` with regard to `inputs`, those that are wanted and there; null for the others. */
function pullback(
  f: (...inputs: (Tensor | null)[]) => Tensor,
  inputs: readonly Maybe<Tensor>[],
  cotangent: Tensor,
  wanted: readonly boolean[] = inputs.map(() => true),
): (Tensor | null)[] {
  return enable_grad(() => {
    const leaves = inputs.map((x, i) => (x ? (wanted[i] ? x.detach().requires_grad_() : x.detach()) : null)),
      asked = leaves.filter((x, i): x is Tensor => x !== null && wanted[i]!),
      found = asked.length > 0 ? grad(f(...leaves), asked, { grad_outputs: cotangent }) : [];
    return leaves.map((x, i) => (x && wanted[i] ? ((found as Tensor[])[asked.indexOf(x)] ?? null) : null));
  });
}

/** Of an operator of `self` alone, whose further arguments come behind it. */
const ofOne =
  (f: (x: Tensor, ...rest: never[]) => Tensor): Operator =>
  ({ args: [cotangent, self, ...rest] }) =>
    pullback((x) => f(x!, ...(rest as never[])), [self as Tensor], cotangent as Tensor)[0];

/** The gradients of `normal * weight + bias`, where `normal` has the mean 0 and the variance 1 along `inner` by the
 *  factor `rstd`; `outer` are the axes that weights do not have. */
function normBackward(
  cotangent: Tensor,
  normal: Tensor,
  rstd: Tensor,
  weight: Tensor | null,
  inner: Sizes,
  outer: Sizes,
  [ofInput, ofWeight, ofBias]: readonly boolean[],
): (Tensor | null)[] {
  const summed = (x: Tensor): Tensor => (outer.length > 0 ? torch.sum(x, outer) : x),
    mean = (x: Tensor): Tensor => torch.mean(x, inner, true),
    g = weight ? torch.mul(cotangent, weight) : cotangent,
    centred = () => torch.sub(torch.sub(g, mean(g)), torch.mul(normal, mean(torch.mul(g, normal))));
  return [
    ofInput ? torch.mul(centred(), rstd) : null,
    ofWeight ? summed(torch.mul(cotangent, normal)) : null,
    ofBias ? summed(cotangent) : null,
  ];
}

export const PULLBACKS: Readonly<Record<string, Operator>> = {
  // by the result, which is all that such a program keeps
  _softmax_backward_data: ({ args: [cotangent, y, dim] }) => {
    const scaled = torch.mul(cotangent as Tensor, y as Tensor) as Tensor;
    return torch.sub(scaled, torch.mul(y as Tensor, torch.sum(scaled, [dim as number], true) as Tensor));
  },
  _log_softmax_backward_data: ({ args: [cotangent, y, dim] }) => {
    const sum = torch.sum(cotangent as Tensor, [dim as number], true) as Tensor;
    return torch.sub(cotangent as Tensor, torch.mul(torch.exp(y as Tensor) as Tensor, sum));
  },
  native_dropout_backward: ({ args: [cotangent, mask, scale] }) =>
    torch.mul(torch.mul(cotangent as Tensor, mask as Tensor) as Tensor, scale as number),
  _adaptive_avg_pool2d_backward: ({ args: [cotangent, self] }) =>
    pullback(
      (x) => F.adaptive_avg_pool2d(x!, (cotangent as Tensor).shape.slice(-2)),
      [self as Tensor],
      cotangent as Tensor,
    )[0],
  avg_pool2d_backward: ofOne(
    (x, size: Sizes, stride: Sizes, padding: Sizes, ceil: boolean, include: boolean, by: Maybe<number>) =>
      F.avg_pool2d(x, size, {
        ...(stride.length > 0 ? { stride } : {}),
        padding,
        ceil_mode: ceil,
        count_include_pad: include,
        ...(by ? { divisor_override: by } : {}),
      } as never),
  ),
  max_pool2d_with_indices_backward: ofOne(
    (x, size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil: boolean) =>
      named["max_pool2d"]!(x, size, { ...(stride.length > 0 ? { stride } : {}), padding, dilation, ceil_mode: ceil }),
  ),
  embedding_dense_backward: ({ args }) => {
    const [cotangent, indices, count, padding, scale_grad_by_freq] = args as [Tensor, Tensor, number, number, boolean],
      weight = zeros([count, cotangent.shape.at(-1)!], { dtype: cotangent.dtype, device: cotangent.device });
    return pullback(
      (w) => F.embedding(indices, w!, { ...(padding >= 0 ? { padding_idx: padding } : {}), scale_grad_by_freq }),
      [weight],
      cotangent,
    )[0];
  },
  convolution_backward: ({ args }) => {
    const [cotangent, x, weight, biasSizes, stride, padding, dilation, transposed, output_padding, groups, mask] =
      args as [Tensor, Tensor, Tensor, Maybe<Sizes>, Sizes, Sizes, Sizes, boolean, Sizes, number, boolean[]];
    const bias = biasSizes ? zeros(biasSizes, { dtype: weight.dtype, device: weight.device }) : null,
      name = `${transposed ? "conv_transpose" : "conv"}${weight.ndim - 2}d`;
    return pullback(
      (a, w, b) =>
        named[name]!(a, w, {
          ...(b ? { bias: b } : {}),
          stride,
          padding,
          dilation,
          groups,
          ...(transposed ? { output_padding } : {}),
        }),
      [x, weight, bias],
      cotangent,
      mask,
    );
  },
  native_layer_norm_backward: ({ args }) => {
    const [cotangent, x, shape, mean, rstd, weight, , mask] = args as [
        Tensor,
        Tensor,
        Sizes,
        Tensor,
        Tensor,
        Maybe<Tensor>,
        Maybe<Tensor>,
        boolean[],
      ],
      rows = x.shape.slice(0, x.ndim - shape.length).map((_, i) => i),
      inner = shape.map((_, i) => i - shape.length),
      normal = torch.mul(torch.sub(x, mean), rstd);
    return normBackward(cotangent, normal, rstd, weight ?? null, inner, rows, mask);
  },
  native_group_norm_backward: ({ args }) => {
    const [cotangent, x, mean, rstd, weight, n, channels, size, groups, mask] = args as [
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Maybe<Tensor>,
        number,
        number,
        number,
        number,
        boolean[],
      ],
      grouped = (tensor: Tensor, ...sizes: number[]): Tensor => views.reshape(tensor, sizes),
      each = channels / groups,
      scale = grouped(rstd, n, groups, 1, 1),
      normal = torch.mul(torch.sub(grouped(x, n, groups, each, size), grouped(mean, n, groups, 1, 1)), scale),
      [d_x, d_weight, d_bias] = normBackward(
        grouped(cotangent, n, groups, each, size),
        normal,
        scale,
        weight ? grouped(weight, groups, each, 1) : null,
        [-2, -1],
        [0, -1],
        mask,
      );
    return [
      d_x && views.reshape(d_x, x.shape),
      d_weight && views.reshape(d_weight, [channels]),
      d_bias && views.reshape(d_bias, [channels]),
    ];
  },
};
