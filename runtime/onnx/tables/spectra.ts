// ONNX's windows and spectra.

import { fft, ifft, irfft, rfft } from "../../composite/fft.js";
import { complexOf, pairsOf } from "../../tensor/recorded-pairs.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Table, axisOf, reading } from "./definition.js";
import { T, cast, create, views } from "./library.js";
import { number } from "../values.js";

/** Sums of cosines: a window by their weights. */
const window = (weights: readonly number[]) =>
  reading([0], ([size], { periodic = 1, output_datatype = 1 }, { op, dtype, device }) => {
    const n = number(size, op),
      period = periodic ? n : n - 1,
      at = create.arange(0, n, 1, { dtype: dtype(output_datatype), device }),
      terms = weights.map((w, k) => T.mul(T.cos(T.mul(at, (2 * Math.PI * k) / period)), w));
    return terms.reduce((a, b) => T.add(a, b) as Tensor);
  });

type Transform = (input: unknown, n: number | null, dim: number) => Tensor;

const dft: Compute = ([x, length, at], attributes, { op, version }) => {
  const { inverse = 0, onesided = 0 } = attributes,
    axis = axisOf(at ? number(at, op) : (attributes.axis ?? (version < 20 ? 1 : -2)), x.ndim),
    n = length ? number(length, op) : null,
    real = x.shape.at(-1) === 1,
    input = real ? views.squeeze(x, -1) : complexOf(x);
  if (onesided && inverse) return views.unsqueeze((irfft as Transform)(input, n, axis), -1);
  if (onesided) return pairsOf((rfft as unknown as Transform)(real ? input : views.select(x, -1, 0), n, axis));
  return pairsOf(((inverse ? ifft : fft) as Transform)(input, n, axis));
};

export const SPECTRA: Table = {
  HannWindow: window([0.5, -0.5]),
  HammingWindow: window([25 / 46, -21 / 46]),
  BlackmanWindow: window([0.42, -0.5, 0.08]),
  DFT: reading([1, 2], dft),
  STFT: reading([1, 3], ([signal, step, shape, length], { onesided = 1 }, { op }) => {
    const n = length ? number(length, op) : (shape.shape[0] as number),
      paired = signal.ndim === 3 && signal.shape[2] === 2,
      plain = signal.ndim === 3 && !paired ? views.squeeze(signal, 2) : signal,
      // (batch, frames, [2,] n)
      frames = views.unfold(plain, 1, n, number(step, op)),
      shaped = shape ? T.mul(frames, shape) : frames;
    if (paired) return pairsOf((fft as Transform)(complexOf(views.transpose(shaped, -1, -2)), null, 2));
    return pairsOf(((onesided ? rfft : fft) as Transform)(shaped, null, 2));
  }),
  MelWeightMatrix: reading([0, 1, 2, 3, 4], (inputs, { output_datatype = 1 }, { op, dtype, device }) => {
    const [bins, length, rate, lower, upper] = inputs.map((x) => number(x, op)) as [
        number,
        number,
        number,
        number,
        number,
      ],
      mel = (hertz: number) => 2595 * Math.log10(1 + hertz / 700),
      hertz = (m: number) => 700 * (10 ** (m / 2595) - 1),
      spectrum = Math.floor(length / 2) + 1,
      from = mel(lower),
      step = (mel(upper) - from) / (bins + 2),
      edges = Array.from({ length: bins + 2 }, (_, i) => Math.floor(((length + 1) * hertz(from + i * step)) / rate)),
      out = new Float32Array(spectrum * bins);
    for (let i = 0; i < bins; i++) {
      const [low, middle, high] = edges.slice(i, i + 3) as [number, number, number];
      if (low === middle) out[middle * bins + i] = 1;
      else for (let j = low; j <= middle; j++) out[j * bins + i] = (j - low) / (middle - low);
      if (high > middle) for (let j = middle; j < high; j++) out[j * bins + i] = (high - j) / (high - middle);
    }
    const weights = create.tensor(out, { shape: [spectrum, bins], device }) as Tensor;
    return cast(weights, dtype(output_datatype));
  }),
};
