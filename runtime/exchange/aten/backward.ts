// ATen's operators that are the gradient of another: that one is run again, and what is asked for is derived from it.

import { grad } from "../../autograd/gradients.js";
import { zeros } from "../../creation/create.js";
import { enable_grad } from "../../tape/grad-mode.js";
import * as F from "../../../names/functional.js";
import * as torch from "../../../names/torch.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import type { Operator } from "../operators.js";

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

/** `x` with the mean 0 and the variance 1 along `inner`, and then weighted: what programs with gradients of it keep is the
 *  factor `rstd`, which says the eps that they do not. */
function normalised(x: Tensor, rstd: Tensor, inner: Sizes, weight: Maybe<Tensor>, bias: Maybe<Tensor>): Tensor {
  const centred = torch.sub(x, torch.mean(x, inner, true)),
    variance = torch.mean(torch.square(centred) as Tensor, inner, true),
    eps = torch.sub(torch.pow(rstd, -2), variance.detach()),
    y = torch.mul(centred, torch.rsqrt(torch.add(variance, eps) as Tensor) as Tensor);
  const scaled = weight ? torch.mul(y, weight) : y;
  return bias ? torch.add(scaled, bias) : scaled;
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
    const [cotangent, x, shape, , rstd, weight, bias, mask] = args as [
        Tensor,
        Tensor,
        Sizes,
        Tensor,
        Tensor,
        Maybe<Tensor>,
        Maybe<Tensor>,
        boolean[],
      ],
      inner = shape.map((_, i) => i - shape.length);
    return pullback((a, w, b) => normalised(a!, rstd, inner, w, b), [x, weight, bias], cotangent, mask);
  },
  native_group_norm_backward: ({ args }) => {
    const [cotangent, x, , rstd, weight, n, channels, size, groups, mask] = args as [
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
      grouped = (tensor: Maybe<Tensor>, ...sizes: Sizes) => tensor && views.reshape(tensor, sizes),
      each = channels / groups,
      // a program asks for the gradient of a bias that it does not give
      bias = mask[2] ? zeros([channels], { dtype: x.dtype, device: x.device }) : null;
    return pullback(
      (a, w, b) => {
        const y = normalised(
          grouped(a, n, groups, each, size)!,
          views.reshape(rstd, [n, groups, 1, 1]),
          [-2, -1],
          grouped(w, groups, each, 1),
          grouped(b, groups, each, 1),
        );
        return views.reshape(y, x.shape);
      },
      [x, weight, bias],
      cotangent,
      mask,
    );
  },
};
