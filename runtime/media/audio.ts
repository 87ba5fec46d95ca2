// Sound: the web's audio buffers as tensors, and tensors as audio buffers.

import { number } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { showShape } from "../base/shape.js";
import { type Options, tensor } from "../creation/create.js";
import { isFloat } from "../elements/dtype.js";
import { readElements } from "../tensor/read.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";

/** Samples of each channel: an AudioBuffer, an AudioData, or what an AudioWorklet's `process` is given. */
export type AudioSource = AudioBuffer | AudioData | readonly Float32Array[];

interface BufferLike {
  readonly numberOfChannels: number;
  readonly length: number;
  getChannelData(channel: number): Float32Array;
}
interface DataLike {
  readonly numberOfChannels: number;
  readonly numberOfFrames: number;
  copyTo(into: Float32Array, options: { planeIndex: number; format: "f32-planar" }): void;
}

/**
 * The samples of an AudioBuffer, an AudioData (WebCodecs) or a list of channels as a tensor [channels, frames] of floats
 * from -1 to 1.  How many samples a second has stays with the source (`buffer.sampleRate`).
 *
 * @example
 * torch.from_audio([new Float32Array([0, 0.5]), new Float32Array([-1, 1])])  // [[0, 0.5], [-1, 1]]
 */
export function from_audio(source: AudioSource, options?: Options): Tensor;
export function from_audio(...args: unknown[]): Tensor {
  const op = "from_audio",
    [source, dtype, device, requires_grad] = taken(`${op} source dtype? device? requires_grad?`, args),
    channels = channelsOf(source, op),
    frames = channels[0]!.length,
    all = new Float32Array(channels.length * frames);
  channels.forEach((samples, i) => {
    if (samples.length !== frames)
      throw new OpError(`${op}: channel 0 has ${frames} samples, channel ${i} has ${samples.length}`);
    all.set(samples, i * frames);
  });
  return tensor(all, {
    shape: [channels.length, frames],
    dtype: dtype ?? "float32",
    ...(device == null ? {} : { device }),
    ...(requires_grad == null ? {} : { requires_grad }),
  });
}

function channelsOf(source: unknown, op: string): Float32Array[] {
  const wanted = (): TypeMismatchError =>
    new TypeMismatchError(
      `${op}: argument 'source' must be an AudioBuffer, an AudioData or a list of Float32Arrays, one for each channel, got ${describe(source)}`,
    );
  if (Array.isArray(source)) {
    if (!source.length || !source.every((x) => x instanceof Float32Array)) throw wanted();
    return source as Float32Array[];
  }
  if (typeof source !== "object" || source === null) throw wanted();
  const { numberOfChannels: n } = source as BufferLike;
  if ("getChannelData" in source) return Array.from({ length: n }, (_, i) => (source as BufferLike).getChannelData(i));
  if (!("numberOfFrames" in source)) throw wanted();
  const data = source as DataLike;
  if (!n) throw new OpError(`${op}: the AudioData has no samples: it was closed`);
  return Array.from({ length: n }, (_, planeIndex) => {
    const samples = new Float32Array(data.numberOfFrames);
    data.copyTo(samples, { planeIndex, format: "f32-planar" });
    return samples;
  });
}

interface ToAudioOptions {
  /** Samples of a second. */
  sample_rate: number;
}
interface Audible {
  copyToChannel(samples: Float32Array, channel: number): void;
}
type Constructor = new (options: { numberOfChannels: number; length: number; sampleRate: number }) => Audible;

/**
 * A tensor [channels, frames], or of one axis, as an AudioBuffer, to be played by an AudioBufferSourceNode.  Pages have
 * those, workers and Node do not: `await waveform.data()` is the samples there.
 *
 * @param waveform float tensor [channels, frames] or [frames], from -1 to 1
 */
export async function to_audio(waveform: Tensor, options: ToAudioOptions): Promise<AudioBuffer>;
export async function to_audio(...args: unknown[]): Promise<AudioBuffer> {
  const op = "to_audio",
    [waveform, rate] = taken(`${op} waveform sample_rate`, args);
  check(waveform, op, "waveform");
  const sampleRate = number(rate, op, "sample_rate"),
    [channels, frames] = waveform.ndim === 1 ? [1, waveform.shape[0]!] : (waveform.shape as [number, number]);
  if (waveform.ndim < 1 || waveform.ndim > 2 || !channels || !frames)
    throw new OpError(`${op}: expected the shape [channels, frames] or [frames], got ${showShape(waveform.shape)}`);
  if (!isFloat(waveform.dtype))
    throw new TypeMismatchError(`${op}: samples are floats, got a tensor of ${waveform.dtype}`);
  const { AudioBuffer: Made } = globalThis as unknown as { AudioBuffer?: Constructor };
  if (!Made)
    throw new OpError(`${op}: there is no AudioBuffer here, only in pages; await waveform.data() is the samples`);
  const samples = Float32Array.from((await readElements(waveform, op)) as Float32Array),
    made = new Made({ numberOfChannels: channels, length: frames, sampleRate });
  for (let i = 0; i < channels; i++) made.copyToChannel(samples.subarray(i * frames, (i + 1) * frames), i);
  return made as unknown as AudioBuffer;
}
