// GGML's blocks of weights of few bits, taken apart into the words and numbers that ops/quantised.op reads.  The bits stay
// as they are; only their order changes where a kernel would have to compute it.

import { fromHalfBits } from "../elements/dtype.js";
import type { QuantizedFormat } from "../quantization/quantized-weight.js";

/** Parts of `count` blocks: numbers and words, in axes for each block. */
export interface Blocks {
  readonly format: QuantizedFormat;
  readonly parts: Readonly<
    Record<string, { readonly data: Int32Array | Float32Array; readonly each: readonly number[] }>
  >;
}

const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

/** Q4_0: a scale, then sixteen bytes, each with a weight of the first half of the block and one of the second. */
export function int4(data: Uint8Array<ArrayBuffer>, count: number): Blocks {
  const view = viewOf(data),
    codes = new Int32Array(4 * count),
    scale = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const at = 18 * i;
    scale[i] = fromHalfBits(view.getUint16(at, true));
    for (let w = 0; w < 2; w++) {
      const first = view.getUint32(at + 2 + 8 * w, true),
        second = view.getUint32(at + 6 + 8 * w, true);
      codes[4 * i + w] = nibbles(first) | (nibbles(second) << 16);
      codes[4 * i + 2 + w] = nibbles(first >>> 4) | (nibbles(second >>> 4) << 16);
    }
  }
  return { format: "int4", parts: { codes: { data: codes, each: [4] }, scale: { data: scale, each: [] } } };
}

/** The lower 4 bits of each of four bytes, side by side. */
const nibbles = (word: number): number =>
  (word & 15) | ((word >>> 4) & 0xf0) | ((word >>> 8) & 0xf00) | ((word >>> 12) & 0xf000);

/** Q8_0: a scale, then thirty-two bytes. */
export function int8(data: Uint8Array<ArrayBuffer>, count: number): Blocks {
  const view = viewOf(data),
    codes = new Int32Array(8 * count),
    scale = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    scale[i] = fromHalfBits(view.getUint16(34 * i, true));
    words(view, 34 * i + 2, codes, 8 * i, 8);
  }
  return { format: "int8", parts: { codes: { data: codes, each: [8] }, scale: { data: scale, each: [] } } };
}

function words(view: DataView, from: number, out: Int32Array, at: number, count: number): void {
  for (let w = 0; w < count; w++) out[at + w] = view.getInt32(from + 4 * w, true);
}

/** Q4_K: the scale of scales and that of least values, eight of each in 6 bits, then 128 bytes with two weights each. */
export function q4k(data: Uint8Array<ArrayBuffer>, count: number): Blocks {
  const view = viewOf(data),
    codes = new Int32Array(32 * count),
    parts = new Int32Array(4 * count),
    six = new Uint8Array(parts.buffer),
    scale = new Float32Array(count),
    least = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const at = 144 * i;
    scale[i] = fromHalfBits(view.getUint16(at, true));
    least[i] = fromHalfBits(view.getUint16(at + 2, true));
    for (let k = 0; k < 4; k++) {
      const a = data[at + 4 + k]!,
        b = data[at + 8 + k]!,
        c = data[at + 12 + k]!;
      six[16 * i + k] = a & 63;
      six[16 * i + 8 + k] = b & 63;
      six[16 * i + 4 + k] = (c & 15) | ((a >> 6) << 4);
      six[16 * i + 12 + k] = (c >> 4) | ((b >> 6) << 4);
    }
    words(view, at + 16, codes, 32 * i, 32);
  }
  return {
    format: "q4_k",
    parts: {
      codes: { data: codes, each: [4, 8] },
      parts: { data: parts, each: [4] },
      scale: { data: scale, each: [] },
      least: { data: least, each: [] },
    },
  };
}

/** Q6_K: 128 bytes with the lower bits, 64 with the upper ones, sixteen scales, and the scale of these. */
export function q6k(data: Uint8Array<ArrayBuffer>, count: number): Blocks {
  const view = viewOf(data),
    low = new Int32Array(32 * count),
    high = new Int32Array(16 * count),
    parts = new Int32Array(4 * count),
    scale = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const at = 210 * i;
    words(view, at, low, 32 * i, 32);
    words(view, at + 128, high, 16 * i, 16);
    words(view, at + 192, parts, 4 * i, 4);
    scale[i] = fromHalfBits(view.getUint16(at + 208, true));
  }
  return {
    format: "q6_k",
    parts: {
      low: { data: low, each: [2, 2, 8] },
      high: { data: high, each: [2, 8] },
      parts: { data: parts, each: [4] },
      scale: { data: scale, each: [] },
    },
  };
}
