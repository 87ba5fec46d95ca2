// Short-time Fourier transforms: a signal in windows that overlap, and its way back by adding them up.

import { refuse } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { arange, full, zeros } from "../creation/create.js";
import { taken } from "../base/named-arguments.js";
import { cat } from "../functions/join.js";
import { differentiable } from "../elements/dtype.js";
import { pairsOf } from "../tensor/recorded-pairs.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { narrow, unfold } from "../views/views.js";
import { add, div, index_add, mul } from "../../names/torch.js";
import { pad } from "../../names/functional.js";
import * as views from "../views/views.js";
import { fft, ifft, irfft, rfft } from "./fft.js";

type PadMode = "constant" | "reflect" | "replicate" | "circular";

export interface StftOptions {
  hop_length?: number | null;
  win_length?: number | null;
  window?: Tensor | null;
  center?: boolean;
  pad_mode?: PadMode;
  normalized?: boolean;
  onesided?: boolean | null;
  return_complex?: boolean | null;
}

export interface IstftOptions {
  hop_length?: number | null;
  win_length?: number | null;
  window?: Tensor | null;
  center?: boolean;
  normalized?: boolean;
  onesided?: boolean | null;
  length?: number | null;
  return_complex?: boolean;
}

/** A window of `length` in the middle of `n_fft` points; null is one of ones. */
function windowOf(window: unknown, length: number, n_fft: number, like: Tensor, op: string): Tensor {
  if (window !== undefined && window !== null && !(window instanceof Tensor)) refuse(op, "window", "a tensor", window);
  const own =
    window ?? full([length], 1, { dtype: like.dtype === "complex64" ? "float32" : like.dtype, device: like.device });
  if (own.ndim !== 1 || own.shape[0] !== length)
    throw new OpError(
      `${op}: expected a 1D window tensor of size equal to win_length=${length}, but got window with size [${own.shape.join(", ")}]`,
    );
  const left = Math.floor((n_fft - length) / 2);
  return length === n_fft ? own : (pad(own, [left, n_fft - length - left]) as Tensor);
}

function checkSizes(op: string, n_fft: number, hop: number, length: number): void {
  for (const [name, value] of Object.entries({ n_fft, hop_length: hop, win_length: length })) {
    if (!Number.isInteger(value)) refuse(op, name, "an integer", value);
  }
  if (!(hop > 0)) throw new OpError(`${op}: expected hop_length > 0, but got hop_length=${hop}`);
  if (!(length > 0 && length <= n_fft))
    throw new OpError(`${op}: expected 0 < win_length <= n_fft, but got win_length=${length}`);
}

/**
 * The spectra of windows of `n_fft` points, `hop_length` apart: `[*B, frequencies, windows]`, complex, or as pairs
 * without `return_complex`.  Of complex input all frequencies are there.
 *
 * @param input tensor [samples] or [batch, samples], real or complex
 * @param n_fft how many points each transform has
 * @param hop_length how many samples there are from one window to the next; n_fft / 4, rounded down, unless given
 * @param win_length how long the window is, at most n_fft; n_fft unless given
 * @param window tensor [win_length], by which samples are multiplied; ones unless given
 * @param center pads the signal so that window t is about sample t * hop_length
 * @param pad_mode what it is padded with
 * @param normalized divides by the root of n_fft; false unless given
 * @param onesided only the frequencies from 0 to the highest; by default where input and window are real
 * @param return_complex false: pairs of real numbers in a last axis of length 2
 *
 * @example
 * const tone = torch.cos(torch.arange(8).mul(Math.PI / 2));
 * torch.stft(tone, 4, { hop_length: 4, center: false, return_complex: true }).abs().round()  // [[0, 0], [2, 2], [0, 0]]
 */
export function stft(input: Tensor, n_fft: number, options: StftOptions): Tensor;
export function stft(input: Tensor, options: StftOptions & { n_fft: number }): Tensor;
export function stft(
  input: Tensor,
  n_fft: number,
  hop_length?: number | null | StftOptions,
  win_length?: number | null | StftOptions,
  window?: Tensor | null | StftOptions,
  center?: boolean | StftOptions,
  pad_mode?: PadMode | StftOptions,
  normalized?: boolean | StftOptions,
  onesided?: boolean | null | StftOptions,
  return_complex?: boolean | null,
): Tensor;
export function stft(...args: unknown[]): Tensor {
  const [input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex] = taken(
    "stft input n_fft hop_length? win_length? window? center? pad_mode? normalized? onesided? return_complex?",
    args,
  );
  const x = tensorOf(input, "stft"),
    rank = x.ndim,
    size = n_fft as number,
    complex = x.dtype === "complex64" || (window as Tensor | null)?.dtype === "complex64";
  if (!complex && (return_complex === undefined || return_complex === null)) {
    throw new OpError("stft: stft requires the return_complex parameter be given for real inputs");
  }
  if (!differentiable(x.dtype))
    throw new TypeMismatchError(`stft: expected a tensor of floating point or complex values, but got ${x.dtype}`);
  if (rank !== 1 && rank !== 2) throw new OpError(`stft: expected a 1D or 2D tensor, but got ${rank}D`);
  const hop = (hop_length ?? Math.floor(size / 4)) as number,
    length = (win_length ?? size) as number;
  const half = (onesided ?? !complex) as boolean;
  if (complex && half) throw new OpError("stft: Cannot have onesided output if window or input is complex");
  let rows = views.reshape(x, [-1, 1, x.shape[rank - 1]!]);
  if (center ?? true)
    rows = pad(rows, [Math.floor(size / 2), Math.floor(size / 2)], (pad_mode ?? "reflect") as "reflect") as Tensor;
  const points = rows.shape[2]!;
  if (!(size > 0 && size <= points)) throw new OpError(`stft: expected 0 < n_fft <= ${points}, but got n_fft=${size}`);
  checkSizes("stft", size, hop, length);
  const frames = mul(unfold(rows, 2, size, hop), windowOf(window, length, size, x, "stft")) as Tensor;
  const norm = normalized ? ("ortho" as const) : ("backward" as const);
  const spectra = (half ? rfft : fft)(views.select(frames, 1, 0), { norm });
  const swapped = views.transpose(spectra, 1, 2),
    out = rank === 1 ? views.select(swapped, 0, 0) : swapped;
  return (return_complex ?? true) ? out : pairsOf(out);
}

/** Windows `[B, T, n]`, each `hop` after the one before it, added up to a signal. */
function overlapped(frames: Tensor, hop: number): Tensor {
  const [rows, windows, n] = frames.shape as [number, number, number];
  const places = add(
    views.reshape(mul(arange(windows, { device: frames.device }), hop) as Tensor, [windows, 1]),
    arange(n, { device: frames.device }),
  ) as Tensor;
  const signal = zeros([rows, (windows - 1) * hop + n], { dtype: frames.dtype, device: frames.device });
  return index_add(signal, 1, views.reshape(places, [-1]), views.reshape(frames, [rows, windows * n])) as Tensor;
}

/**
 * The signal whose `stft` this is: complex numbers `[*B, frequencies, windows]`.
 *
 * Where no window reaches, the result is infinite or NaN; PyTorch refuses such windows.
 *
 * @param input complex tensor [frequencies, windows] or [batch, frequencies, windows]
 * @param n_fft how many points each transform has
 * @param hop_length how many samples there are from one window to the next; n_fft / 4, rounded down, unless given
 * @param win_length how long the window is, at most n_fft; n_fft unless given
 * @param window tensor [win_length], as it was for `stft`; ones unless given
 * @param center whether `stft` padded the signal
 * @param normalized whether `stft` divided by the root of n_fft; false unless given
 * @param onesided whether only the frequencies from 0 to the highest are there; what their number says unless given
 * @param length how many samples the signal has
 * @param return_complex whether the signal is complex; false unless given
 *
 * @example
 * const signal = torch.arange(16).float(), window = torch.hann_window(8);
 * const spectra = torch.stft(signal, 8, { window, return_complex: true });
 * torch.istft(spectra, 8, { window, length: 16 }).sub(signal).abs().max().lt(1e-4)  // true
 */
export function istft(input: Tensor, n_fft: number, options?: IstftOptions): Tensor;
export function istft(input: Tensor, options: IstftOptions & { n_fft: number }): Tensor;
export function istft(
  input: Tensor,
  n_fft: number,
  hop_length?: number | null | IstftOptions,
  win_length?: number | null | IstftOptions,
  window?: Tensor | null | IstftOptions,
  center?: boolean | IstftOptions,
  normalized?: boolean | IstftOptions,
  onesided?: boolean | null | IstftOptions,
  length?: number | null | IstftOptions,
  return_complex?: boolean,
): Tensor;
export function istft(...args: unknown[]): Tensor {
  const [input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex] = taken(
    "istft input n_fft hop_length? win_length? window? center? normalized? onesided? length? return_complex?",
    args,
  );
  const x = tensorOf(input, "istft"),
    size = n_fft as number;
  if (x.dtype !== "complex64" || x.ndim < 2 || x.ndim > 3) {
    throw new OpError(
      "istft: istft requires a complex-valued input tensor of 2 or 3 dimensions matching the output from stft with " +
        `return_complex=True, but got ${x.dtype} of [${x.shape.join(", ")}]`,
    );
  }
  const width = (win_length ?? size) as number,
    hop = (hop_length ?? Math.floor(width / 4)) as number;
  checkSizes("istft", size, hop, width);
  const spectra = views.transpose(x.ndim === 2 ? views.unsqueeze(x, 0) : x, 1, 2),
    [, windows, count] = spectra.shape as [number, number, number];
  const half = (onesided ?? count !== size) as boolean,
    wanted = half ? Math.floor(size / 2) + 1 : size;
  if (windows === 0 || x.numel() === 0) throw new OpError("istft: input tensor cannot be empty.");
  if (count !== wanted)
    throw new OpError(
      `istft: expected the frequency dimension (3rd to the last) of the input tensor to match ${half ? "n_fft / 2 + 1" : "n_fft"} when onesided=${half}, but got ${count}`,
    );
  if (half && return_complex) throw new OpError("istft: cannot have onesided input with return_complex=True");
  const weights = windowOf(window, width, size, x, "istft"),
    norm = normalized ? ("ortho" as const) : ("backward" as const);
  // Without `return_complex` the signal is taken for real, so that half of the frequencies says all.
  const frames = return_complex
    ? ifft(spectra, { norm })
    : irfft(narrow(spectra, 2, 0, Math.floor(size / 2) + 1), { n: size, norm });
  const reach = overlapped(views.expand(mul(weights, weights) as Tensor, [1, windows, size]), hop);
  const start = (center ?? true) ? Math.floor(size / 2) : 0,
    total = reach.shape[1]!;
  const end =
    length !== undefined && length !== null
      ? start + (length as number)
      : (center ?? true)
        ? total - Math.floor(size / 2)
        : total;
  const kept = Math.max(Math.min(end, total) - start, 0);
  const sum = div(
    narrow(overlapped(mul(frames, weights) as Tensor, hop), 1, start, kept),
    narrow(reach, 1, start, kept),
  ) as Tensor;
  const long =
    end - start > kept
      ? cat([sum, zeros([sum.shape[0]!, end - start - kept], { dtype: sum.dtype, device: sum.device })], 1)
      : sum;
  return x.ndim === 2 ? views.select(long, 0, 0) : long;
}
