// ATen's operators of complex numbers and Fourier transforms, as torch.export leaves them in programs.

import { fftn, ifftn, irfftn, rfftn, type Norm } from "../../composite/fft.js";
import { stft } from "../../composite/stft.js";
import { conj } from "../../functions/complex-parts.js";
import { neg } from "../../../names/torch.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Operator } from "../operators.js";

/** Options but for those that are null. */
const given = (options: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => (value ?? null) !== null));

type Sizes = readonly number[];

/** What a transform without a scale, with that of the root and with the whole one are called, of one with each sign. */
const FORWARD: readonly Norm[] = ["backward", "ortho", "forward"],
  INVERSE: readonly Norm[] = ["forward", "ortho", "backward"];

export const COMPLEX: Readonly<Record<string, Operator>> = {
  // its margins are operators of their own
  "stft.default": ({ args: [x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex] }) =>
    stft(
      x as Tensor,
      n_fft as number,
      given({ hop_length, win_length, window, center: false, normalized, onesided, return_complex }) as never,
    ),
  _conj: ({ args: [x] }) => conj(x as Tensor),
  _neg_view: ({ args: [x] }) => neg(x as Tensor),
  _conj_physical: ({ args: [x] }) => conj(x as Tensor),
  _fft_r2c: ({ args }) => {
    const [x, dim, scale, onesided] = args as [Tensor, Sizes, number, boolean];
    return (onesided ? rfftn : fftn)(x, { dim, norm: FORWARD[scale]! });
  },
  _fft_c2c: ({ args }) => {
    const [x, dim, scale, forward] = args as [Tensor, Sizes, number, boolean];
    return forward ? fftn(x, { dim, norm: FORWARD[scale]! }) : ifftn(x, { dim, norm: INVERSE[scale]! });
  },
  _fft_c2r: ({ args }) => {
    const [x, dim, scale, last] = args as [Tensor, Sizes, number, number],
      s = dim.map((axis, i) => (i === dim.length - 1 ? last : x.shape.at(axis)!));
    return irfftn(x, { s, dim, norm: INVERSE[scale]! });
  },
};
