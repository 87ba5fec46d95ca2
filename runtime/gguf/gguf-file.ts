// Reads GGUF files: weights that stay as small as they are in the file.

import { taken } from "../base/named-arguments.js";
import { frozen, contiguousStrides } from "../base/shape.js";
import { type Destination, LOADING, type LoadOptions, destination, makeTensor, upload } from "../files/destination.js";
import { decode, FILE_TYPES } from "../files/number-formats.js";
import { openRanges } from "../files/ranges.js";
import { Loading } from "../files/progress.js";
import type { FileLike, Source } from "../files/source.js";
import { QuantizedWeight } from "../quantization/quantized-weight.js";
import { Tensor } from "../tensor/tensor.js";
import { type Entry, type GgufValue, readHeader } from "./header.js";

export interface GgufFile {
  /** By key: numbers, texts, booleans, arrays of them. */
  readonly metadata: Readonly<Record<string, GgufValue>>;
  /** By name, in the order of the file.  What has few bits in the file is a QuantizedWeight. */
  readonly tensors: Readonly<Record<string, Tensor | QuantizedWeight>>;
}

/**
 * The metadata and tensors of a GGUF file (types F16, BF16, F32, F64, whole numbers, Q4_0, Q8_0, Q4_K, Q6_K): a path, an
 * address, bytes or a Blob.  Tensors are read one after the other, by ranges where their server has them, to
 * `map_location`; `dtype` is what floating tensors and the scales of quantised ones become.  Throws FileError for what is no
 * such file, and for other types.
 */
export async function load(f: FileLike, options?: LoadOptions): Promise<GgufFile>;
export async function load(...args: unknown[]): Promise<GgufFile> {
  const [f, map_location, given] = taken(`load f map_location? | ${LOADING}`, args),
    options = { map_location, ...(given as object) } as LoadOptions,
    place = destination(options, "gguf.load"),
    bar = new Loading(options.progress),
    source = await openRanges(f as FileLike, { ...options, progress: bar.file() }, "gguf.load");
  try {
    const { metadata, entries } = await readHeader(source),
      tensors: [string, Tensor | QuantizedWeight][] = [];
    for (const entry of entries) tensors.push([entry.name, await tensorOf(entry, source, place)]);
    bar.done(source.size);
    return { metadata, tensors: Object.freeze(Object.fromEntries(tensors)) };
  } finally {
    await source.close();
  }
}

async function tensorOf(entry: Entry, source: Source, place: Destination): Promise<Tensor | QuantizedWeight> {
  const { name, type, shape, start, nbytes } = entry,
    data = await source.read(start, start + nbytes),
    what = `tensor ${JSON.stringify(name)}`;
  if (type.plain)
    return makeTensor(
      { data, type: type.plain, shape, strides: contiguousStrides(shape), offset: 0 },
      place,
      source.name,
      what,
    );
  const { format, parts } = type.blocks!(data, nbytes / type.bytes),
    groups = shape[shape.length - 1]! / type.elements,
    rows = shape.slice(0, -1).reduce((a, b) => a * b, 1);
  return new QuantizedWeight(
    format,
    shape,
    Object.fromEntries(
      Object.entries(parts).map(([part, { data: numbers, each }]) => [
        part,
        held(numbers, [rows, groups, ...each], place, source.name, what),
      ]),
    ),
  );
}

/** Words, or scales in the type that is asked for. */
function held(
  numbers: Int32Array | Float32Array,
  shape: readonly number[],
  place: Destination,
  file: string,
  what: string,
): Tensor {
  const bytes = new Uint8Array(numbers.buffer as ArrayBuffer),
    type = FILE_TYPES[numbers instanceof Int32Array ? "int32" : "float32"]!,
    { elements, dtype } = decode(bytes, type, place.dtype, file, what);
  return new Tensor(
    upload(elements, dtype, place, file, what),
    dtype,
    frozen(shape),
    frozen(contiguousStrides(shape)),
    0,
  );
}
