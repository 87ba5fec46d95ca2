// What a GGUF file says of itself: metadata, and the name, type, shape and place of each tensor.  The format is GGML's
// (versions 2 and 3): https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.

import { MAX_NUMEL } from "../base/shape.js";
import { bytes } from "../files/error.js";
import type { Source } from "../files/source.js";
import { Cursor } from "./cursor.js";
import { type BlockType, blockType } from "./types.js";

/** A value of the metadata; whole numbers of 64 bits are bigints where a number cannot say them. */
export type GgufValue = number | bigint | boolean | string | readonly GgufValue[] | NumberArray;
type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

/** A tensor: `start` is where its bytes begin in the file. */
export interface Entry {
  readonly name: string;
  readonly type: BlockType;
  /** As PyTorch has it: the axis along which elements are neighbours is the last. */
  readonly shape: readonly number[];
  readonly start: number;
  readonly nbytes: number;
}

export interface Header {
  readonly metadata: Readonly<Record<string, GgufValue>>;
  readonly entries: readonly Entry[];
}

const MAGIC = 0x46554747; // GGUF
const VERSIONS = [2, 3];
const ALIGNMENT = "general.alignment";
/** The least that a tensor, or a value of the metadata, takes in the file: a claim of more of them is wrong. */
const LEAST_TENSOR = 24,
  LEAST_VALUE = 13;
const MOST_AXES = 4;
/** How deep lists may stand in lists. */
const DEEPEST = 4;

export async function readHeader(source: Source): Promise<Header> {
  const c = new Cursor(source),
    magic = await c.uint32("the first word");
  if (magic !== MAGIC) throw c.fail(`it is no GGUF file: it begins with 0x${magic.toString(16)}, not with "GGUF"`);
  const version = await c.uint32("the version");
  if (!VERSIONS.includes(version)) throw c.fail(`it is GGUF of version ${version}; ${VERSIONS.join(" and ")} are read`);
  const tensors = await atMost(c, "tensors", LEAST_TENSOR),
    values = await atMost(c, "values of metadata", LEAST_VALUE),
    metadata = new Map<string, GgufValue>();
  for (let i = 0; i < values; i++) {
    const key = await c.text(`the key of value ${i} of the metadata`);
    if (metadata.has(key)) throw c.fail(`its metadata has two values called ${shown(key)}`);
    metadata.set(key, await value(c, await c.uint32(`the type of ${shown(key)}`), shown(key), 0));
  }
  const alignment = metadata.get(ALIGNMENT) ?? 32;
  if (typeof alignment !== "number" || alignment < 8 || alignment > 2 ** 20 || alignment % 8)
    throw c.fail(`${ALIGNMENT} is ${String(alignment)}, expected a multiple of 8`);
  const found: Entry[] = [];
  for (let i = 0; i < tensors; i++) found.push(await entry(c, i));
  const start = Math.ceil(c.at / alignment) * alignment;
  return {
    metadata: Object.freeze(Object.fromEntries(metadata)),
    entries: placed(c, found, start, alignment),
  };
}

/** How many there are of something that takes `least` bytes each. */
async function atMost(c: Cursor, what: string, least: number): Promise<number> {
  const n = await c.count(`the number of ${what}`);
  if (n * least > c.left) throw c.fail(`it is said to have ${n} ${what}, for which ${bytes(c.left)} are too few`);
  return n;
}

const shown = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);

// --- Metadata -------------------------------------------------------------------------------------

interface NumberType {
  readonly bytes: number;
  readonly list: (data: ArrayBuffer) => NumberArray | readonly GgufValue[];
}
const safe = (value: bigint): number | bigint =>
  BigInt(Number(value)) === value && Math.abs(Number(value)) < 2 ** 53 ? Number(value) : value;
/** The types of numbers, by the format's own numbers for them. */
const NUMBERS: ReadonlyMap<number, NumberType> = new Map<number, NumberType>([
  [0, { bytes: 1, list: (data) => new Uint8Array(data) }],
  [1, { bytes: 1, list: (data) => new Int8Array(data) }],
  [2, { bytes: 2, list: (data) => new Uint16Array(data) }],
  [3, { bytes: 2, list: (data) => new Int16Array(data) }],
  [4, { bytes: 4, list: (data) => new Uint32Array(data) }],
  [5, { bytes: 4, list: (data) => new Int32Array(data) }],
  [6, { bytes: 4, list: (data) => new Float32Array(data) }],
  [7, { bytes: 1, list: (data) => Array.from(new Uint8Array(data), (byte) => byte !== 0) }],
  [10, { bytes: 8, list: (data) => Array.from(new BigUint64Array(data), safe) }],
  [11, { bytes: 8, list: (data) => Array.from(new BigInt64Array(data), safe) }],
  [12, { bytes: 8, list: (data) => new Float64Array(data) }],
]);
const TEXT = 8,
  LIST = 9;

async function value(c: Cursor, type: number, what: string, depth: number): Promise<GgufValue> {
  if (type === TEXT) return c.text(what);
  if (type === LIST) {
    const inner = await c.uint32(`the type of the elements of ${what}`),
      numbers = NUMBERS.get(inner),
      length = await c.count(`the length of ${what}`);
    // a text has its length before it, a list its type, too
    if (length * (numbers?.bytes ?? (inner === TEXT ? 8 : 12)) > c.left)
      throw c.fail(`${what} is said to have ${length} elements, for which ${bytes(c.left)} are too few`);
    if (numbers) return numbers.list(await c.bytes(length * numbers.bytes, what));
    if (depth === DEEPEST) throw c.fail(`${what} has lists in lists more than ${DEEPEST} deep`);
    const out: GgufValue[] = [];
    for (let i = 0; i < length; i++) out.push(await value(c, inner, what, depth + 1));
    return out;
  }
  const number = NUMBERS.get(type);
  if (!number) throw c.fail(`${what} is of the type ${type}, which GGUF does not have`);
  return number.list(await c.bytes(number.bytes, what))[0]!;
}

// --- Tensors --------------------------------------------------------------------------------------

/** An entry whose place counts from where the tensors begin. */
async function entry(c: Cursor, i: number): Promise<Entry> {
  const name = await c.text(`the name of tensor ${i}`),
    what = `tensor ${shown(name)}`,
    axes = await c.uint32(`the number of axes of ${what}`);
  if (axes > MOST_AXES) throw c.fail(`${what} has ${axes} axes; there are at most ${MOST_AXES}`);
  const shape: number[] = [];
  for (let d = 0; d < axes; d++) shape.unshift(await c.count(`a size of ${what}`));
  const number = await c.uint32(`the type of ${what}`),
    type = blockType(number);
  if (typeof type === "string") throw c.fail(`${what} is of the type ${type}, which is not read`);
  const numel = shape.reduce((a, b) => a * b, 1),
    text = `the shape [${shape.join(", ")}]`;
  if (numel > MAX_NUMEL) throw c.fail(`${what} has ${text}: at most ${MAX_NUMEL} elements are supported`);
  const row = shape[shape.length - 1] ?? 1;
  if (row % type.elements)
    throw c.fail(`${what} has ${text}, whose rows are no blocks of ${type.elements}, as ${type.name} has them`);
  const start = await c.count(`the place of ${what}`);
  return { name, type, shape, start, nbytes: (numel / type.elements) * type.bytes };
}

/** Entries with their places in the file.  Each byte of the file belongs to one tensor, so that none is read twice. */
function placed(c: Cursor, entries: readonly Entry[], start: number, alignment: number): Entry[] {
  const names = new Set<string>(),
    { size } = c.source;
  let end = start;
  const out = entries.map((e) => ({ ...e, start: start + e.start }));
  for (const e of [...out].sort((a, b) => a.start - b.start || a.nbytes - b.nbytes)) {
    const what = `tensor ${shown(e.name)}`;
    if (names.has(e.name)) throw c.fail(`it has two tensors called ${shown(e.name)}`);
    names.add(e.name);
    if ((e.start - start) % alignment) throw c.fail(`${what} begins at ${e.start}, not at a multiple of ${alignment}`);
    if (e.start < end) throw c.fail(`${what} begins at ${e.start}, where another one goes on until ${end}`);
    end = e.start + e.nbytes;
    if (end > size) throw c.fail(`${what} would end at ${end}, but the file has ${bytes(size)}`);
  }
  return out;
}
