// safetensors files, under the names of the Python package `safetensors.torch`: load_file, save_file, load, save and
// safe_open; and `stream`, which hands out tensors as they arrive.  The header is safetensors-header.ts.

import { contiguousStrides } from "../base/shape.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { type DType, elementBytes, isFloat } from "../elements/dtype.js";
import { taken } from "../base/named-arguments.js";
import { readStored } from "../tensor/read.js";
import { Tensor } from "../tensor/tensor.js";
import { encode } from "./number-formats.js";
import { LOADING, type LoadOptions, type Destination, makeTensor, destination } from "./destination.js";
import { type Entry, type Header, TYPE_NAMES, headerLength, parseHeader, writeHeader } from "./safetensors-header.js";
import { openRanges } from "./ranges.js";
import { Loading } from "./progress.js";
import { type FileLike, type Source, type Stream, inOrder, openStream } from "./source.js";
import { type Target, bytesOf, writeTo } from "./target.js";

const label = (entry: Entry): string => `tensor "${entry.name}"`;

async function readHeader(stream: Stream): Promise<Header> {
  const length = headerLength(await stream.take(8, "the length of a safetensors header"), stream.size, stream.name);
  const text = await stream.take(length, "the header");
  return parseHeader(text, stream.size === null ? null : stream.size - stream.at, stream.name);
}

function build(entry: Entry, data: Uint8Array<ArrayBuffer>, place: Destination, file: string): Tensor {
  return makeTensor(
    { data, type: entry.type, shape: entry.shape, strides: contiguousStrides(entry.shape), offset: 0 },
    place,
    file,
    label(entry),
  );
}

/** The tensors of an opened file in the order of their bytes. */
export async function* readTensors(file: Stream, place: Destination): AsyncGenerator<[string, Tensor], void> {
  for (const entry of (await readHeader(file)).entries) {
    yield [entry.name, build(entry, await file.take(entry.end - entry.start, label(entry)), place, file.name)];
  }
  await file.end();
}

/**
 * The tensors of a safetensors file one by one, in the order of their bytes, each as soon as it has come: no more than
 * one is held beside those handed out.  `for await (const [name, tensor] of stream(url)) …`
 *
 * @example
 * const bytes = await torch.safetensors.save({ a: torch.tensor([1, 2]), b: torch.tensor([3]) }), found = {};
 * for await (const [name, tensor] of torch.safetensors.stream(bytes)) found[name] = tensor;
 * found  // { a: [1, 2], b: [3] }
 */
export async function* stream(file: FileLike, options: LoadOptions = {}): AsyncGenerator<[string, Tensor], void> {
  [file, options] = taken(`stream file | ${LOADING}`, arguments);
  yield* streamed(file, options, "stream");
}

/** The same for `op`, which was called. */
async function* streamed(file: FileLike, options: LoadOptions, op: string): AsyncGenerator<[string, Tensor], void> {
  const place = destination(options, op),
    bar = new Loading(options.progress),
    opened = await openStream(file, { ...options, progress: bar.file() }, op);
  try {
    yield* readTensors(opened, place);
    bar.done(opened.at);
  } finally {
    await opened.close();
  }
}

/**
 * All tensors of a safetensors file by name.
 *
 * @example
 * const file = new Blob([await torch.safetensors.save({ a: torch.tensor([1, 2]) })]);
 * await torch.safetensors.load_file(file)  // { a: [1, 2] }
 */
export async function load_file(file: FileLike, options: LoadOptions = {}): Promise<Record<string, Tensor>> {
  [file, options] = taken(`load_file filename | ${LOADING}`, arguments);
  return byName(streamed(file, options, "load_file"));
}

/** Tensors one by one, by name. */
export async function byName(pairs: AsyncIterable<[string, Tensor]>): Promise<Record<string, Tensor>> {
  const out: [string, Tensor][] = [];
  for await (const pair of pairs) out.push(pair);
  return Object.fromEntries(out);
}

/**
 * As load_file, of the bytes of a file.
 *
 * @param data the bytes of a file
 *
 * @example
 * const bytes = await torch.safetensors.save({ a: torch.tensor([1, 2]) });
 * await torch.safetensors.load(bytes)  // { a: [1, 2] }
 */
export async function load(
  data: ArrayBuffer | ArrayBufferView | Blob,
  options: LoadOptions = {},
): Promise<Record<string, Tensor>> {
  [data, options] = taken(`load data | ${LOADING}`, arguments);
  return byName(streamed(data, options, "load"));
}

// --- Reading some of it ---------------------------------------------------------------------------

/**
 * A part of one tensor of an opened file: `rows(start, end)` reads only those along the first axis.
 *
 * @example
 * const bytes = await torch.safetensors.save({ table: torch.tensor([[1, 2], [3, 4], [5, 6]]) });
 * const file = await torch.safetensors.safe_open(bytes), slice = file.get_slice("table");
 * [slice.get_shape(), await slice.rows(1, 3)]  // [[3, 2], [[3, 4], [5, 6]]]
 */
export class SafeSlice {
  private readonly file: SafeFile;
  private readonly entry: Entry;

  /** @internal */
  constructor(file: SafeFile, entry: Entry) {
    this.file = file;
    this.entry = entry;
  }
  get_shape(): readonly number[] {
    return this.entry.shape;
  }
  /** The type in the file, as safetensors writes it: "F32", "BF16". */
  get_dtype(): string {
    return Object.keys(TYPE_NAMES).find((k) => TYPE_NAMES[k] === this.entry.type.name)!;
  }
  /** The rows from `start` up to `end`; negative ones count from the end. */
  async rows(start = 0, end?: number): Promise<Tensor> {
    const { name, type, shape, start: first } = this.entry,
      n = shape[0];
    if (n === undefined) throw new OpError(`rows: tensor "${name}" has no axes`);
    const from = clamp(start, n),
      to = Math.max(clamp(end ?? n, n), from);
    const row = shape.slice(1).reduce((a, b) => a * b, type.bytes);
    return this.file.part({
      name,
      type,
      shape: [to - from, ...shape.slice(1)],
      start: first + from * row,
      end: first + to * row,
    });
  }
}

function clamp(at: number, n: number): number {
  if (!Number.isInteger(at)) throw new TypeMismatchError(`rows: expected whole numbers, got ${describe(at)}`);
  return Math.min(Math.max(at < 0 ? at + n : at, 0), n);
}

/**
 * An opened file, of which only the header has been read; see safe_open.
 *
 * @example
 * const bytes = await torch.safetensors.save({ a: torch.tensor([1, 2]), b: torch.tensor([3]) });
 * const file = await torch.safetensors.safe_open(bytes);
 * [file.keys(), await file.get_tensor("b")]  // [["a", "b"], [3]]
 */
export class SafeFile {
  private readonly source: Source;
  private readonly header: Header;
  private readonly begin: number;
  private readonly place: Destination;
  private readonly byName: ReadonlyMap<string, Entry>;

  /** @internal */
  constructor(source: Source, header: Header, begin: number, place: Destination) {
    this.source = source;
    this.header = header;
    this.begin = begin;
    this.place = place;
    this.byName = new Map(header.entries.map((e) => [e.name, e]));
  }
  /** The names of its tensors, in the order of their bytes. */
  keys(): string[] {
    return [...this.byName.keys()];
  }
  metadata(): Readonly<Record<string, string>> {
    return this.header.metadata;
  }
  get_tensor(name: string): Promise<Tensor> {
    return this.part(this.find(name));
  }
  get_slice(name: string): SafeSlice {
    return new SafeSlice(this, this.find(name));
  }
  close(): Promise<void> {
    return this.source.close();
  }

  private find(name: string): Entry {
    const entry = this.byName.get(name);
    if (!entry)
      throw new OpError(
        `safe_open: File does not contain tensor ${name}; it has ${this.byName.size}: ${this.keys().slice(0, 5).join(", ")}${this.byName.size > 5 ? ", ..." : ""}`,
      );
    return entry;
  }
  /** @internal */
  async part(entry: Entry): Promise<Tensor> {
    return build(
      entry,
      await this.source.read(this.begin + entry.start, this.begin + entry.end),
      this.place,
      this.source.name,
    );
  }
}
const asyncDispose: symbol | undefined = (Symbol as { asyncDispose?: symbol }).asyncDispose;

/**
 * Opens a safetensors file and reads its header alone; tensors are then read one by one, from a path by position and
 * from an address by ranges where its server has them.  `close()` it in the end.
 *
 * @example
 * const bytes = await torch.safetensors.save({ a: torch.tensor([1, 2]), b: torch.tensor([3]) });
 * const file = await torch.safetensors.safe_open(bytes), b = await file.get_tensor("b");
 * await file.close();
 * b  // [3]
 */
export async function safe_open(file: FileLike, options: LoadOptions = {}): Promise<SafeFile> {
  [file, options] = taken(`safe_open filename | ${LOADING}`, arguments);
  const place = destination(options, "safe_open"),
    source = await openRanges(file, options, "safe_open");
  try {
    const start = inOrder(source),
      header = await readHeader(start);
    const opened = new SafeFile(source, header, start.at, place);
    if (asyncDispose) Object.defineProperty(opened, asyncDispose, { value: () => opened.close() });
    return opened;
  } catch (error) {
    await source.close();
    throw error;
  }
}

// --- Writing --------------------------------------------------------------------------------------

export interface SaveOptions {
  /** Texts by name, for the header: transformers wants {format: "pt"}, default null. */
  metadata?: Readonly<Record<string, string>> | null;
  /** What floating tensors are written as: "float16", "bfloat16", "float32", "float64". */
  dtype?: string | null;
}

const FLOATS = ["float16", "bfloat16", "float32", "float64"];

/** What the option `dtype` says that floating tensors are written as; null: as what they are. */
export function floatType(given: string | null | undefined, op: string): string | null {
  const wanted = given?.replace(/^torch\./, "") ?? null;
  if (wanted !== null && !FLOATS.includes(wanted))
    throw new TypeMismatchError(`${op}: dtype must be one of ${FLOATS.join(", ")}, got ${describe(given)}`);
  return wanted;
}

/**
 * The pieces of a file with these tensors: first the header, then one tensor after the other.  Their values are those
 * at the call, whatever happens to the tensors while the pieces are taken: each is copied, or a GPU told to copy it,
 * before this returns.
 */
export function pieces(
  tensors: Readonly<Record<string, Tensor>> | ReadonlyMap<string, Tensor>,
  options: SaveOptions,
  op: string,
): AsyncIterable<Uint8Array> {
  const wanted = floatType(options.dtype, op);
  const names = Object.keys(TYPE_NAMES);
  const list = [...(tensors instanceof Map ? tensors : Object.entries(tensors))].map(([name, x]: [string, unknown]) => {
    if (!(x instanceof Tensor)) throw new TypeMismatchError(`${op}: "${name}" must be a tensor, got ${describe(x)}`);
    if (name === "__metadata__")
      throw new OpError(`${op}: "__metadata__" cannot be a tensor's name in a safetensors file`);
    x.check(op);
    const { dtype: own, shape } = x,
      as = wanted && isFloat(own) ? wanted : own,
      rank = names.findIndex((n) => TYPE_NAMES[n] === as);
    return { name, x, own, as, rank, dtype: names[rank]!, shape, bytes: elementBytes(as as DType) * x.numel() };
  });
  // The widest types first, so that all numbers are aligned; as the format's own writer does it.
  list.sort((a, b) => b.rank - a.rank || (a.name < b.name ? -1 : 1));
  const header = writeHeader(list, options.metadata ?? null),
    copies = list.map(({ x, own, as }) => ({ data: readStored(x, op), own, as }));
  // whoever takes the pieces reports the first to fail
  for (const { data } of copies) data.catch(() => undefined);
  return (async function* () {
    yield header;
    for (let copy = copies.shift(); copy; copy = copies.shift()) yield encode(await copy.data, copy.own, copy.as);
  })();
}

/**
 * Writes tensors as they are at the call to a safetensors file: a path in Node, a WritableStream, or the handle of a
 * file that a user chose in a page.
 *
 * @param tensors tensors by their names in the file
 *
 * @example
 * const pieces = [], file = new WritableStream({ write: (piece) => void pieces.push(piece) });
 * await torch.safetensors.save_file({ a: torch.tensor([1, 2]) }, file);
 * await torch.safetensors.load_file(new Blob(pieces))  // { a: [1, 2] }
 */
export async function save_file(
  tensors: Readonly<Record<string, Tensor>> | ReadonlyMap<string, Tensor>,
  file: Target,
  options: SaveOptions = {},
): Promise<void> {
  [tensors, file, options] = taken("save_file tensors{} filename | metadata dtype", arguments);
  return writeTo(file, pieces(tensors, options, "save_file"), "save_file");
}

/**
 * The bytes of a safetensors file with the tensors as they are at the call.
 *
 * @param tensors tensors by their names in the file
 *
 * @example
 * const bytes = await torch.safetensors.save({ a: torch.tensor([1, 2]) });
 * new TextDecoder().decode(bytes.slice(8, 13))  // "{\"a\":"
 */
export async function save(
  tensors: Readonly<Record<string, Tensor>> | ReadonlyMap<string, Tensor>,
  options: SaveOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  [tensors, options] = taken("save tensors{} | metadata dtype", arguments);
  return bytesOf(pieces(tensors, options, "save"));
}
