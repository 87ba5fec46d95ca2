// The header of a safetensors file: what it may say, and what is written.  The format is Hugging Face's: eight bytes
// with the header's length, the header in JSON, then the numbers of all tensors without gaps.  Its rules are those of
// their own reader.

import { MAX_NUMEL } from "../base/shape.js";
import { FILE_TYPES, type FileType } from "./number-formats.js";
import { FileError, bytes } from "./error.js";
import { parseJson } from "./parts.js";

/** One tensor: its bytes are those from `start` up to `end`, counted from the end of the header. */
export interface Entry {
  readonly name: string;
  readonly type: FileType;
  readonly shape: readonly number[];
  readonly start: number;
  readonly end: number;
}

export interface Header {
  /** In the order of their bytes. */
  readonly entries: readonly Entry[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Names of types in headers; their order there is that of the bytes in files this package writes. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  BOOL: "bool",
  U8: "uint8",
  I8: "int8",
  I16: "int16",
  U16: "uint16",
  F16: "float16",
  BF16: "bfloat16",
  I32: "int32",
  U32: "uint32",
  F32: "float32",
  F64: "float64",
  I64: "int64",
  U64: "uint64",
  C64: "complex64",
};

/** The most that a header may take, as in the format's own reader. */
const MOST = 100_000_000;

/** How deep a header may be nested: names, what is said of one, and a list in it, with some to spare. */
const DEEPEST = 16;

/** The length of the header.  `first`: the file's first eight bytes; `size`: the file's, null where unknown. */
export function headerLength(first: Uint8Array, size: number | null, file: string): number {
  const length = new DataView(first.buffer, first.byteOffset).getBigUint64(0, true);
  if (length > MOST || (size !== null && 8 + Number(length) > size)) {
    const room = size === null ? "" : `, the file ${bytes(size)}`;
    throw new FileError(
      file,
      `it is no safetensors file, or it is cut off: its header would take ${length} bytes (at most ${MOST} are allowed)${room}`,
    );
  }
  return Number(length);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

/** Reads a header.  `size`: how many bytes follow it, null where unknown. */
export function parseHeader(text: Uint8Array, size: number | null, file: string): Header {
  const fail = (problem: string): FileError => new FileError(file, problem);
  let parsed: unknown;
  try {
    parsed = parseJson(text, DEEPEST);
  } catch (error) {
    throw fail(`its safetensors header is no JSON: ${(error as Error).message}`);
  }
  if (!isRecord(parsed)) throw fail(`its safetensors header must be an object, and is ${shown(parsed)}`);
  const entries: Entry[] = [];
  let metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (name === "__metadata__") {
      if (!isRecord(value) || !Object.values(value).every((v) => typeof v === "string"))
        throw fail(`__metadata__ must be an object of texts, and is ${shown(value)}`);
      metadata = value as Record<string, string>;
    } else entries.push(parseEntry(name, value, fail));
  }
  entries.sort((a, b) => a.start - b.start || a.end - b.end);
  let at = 0;
  for (const { name, start, end } of entries) {
    if (start !== at)
      throw fail(
        `tensor ${shown(name)} begins at ${start}, where ${at} is expected: tensors must neither overlap nor leave gaps`,
      );
    at = end;
  }
  if (size !== null && at !== size) throw fail(`its tensors take ${bytes(at)}, but ${size} follow the header`);
  return { entries, metadata };
}

function parseEntry(name: string, value: unknown, fail: (problem: string) => FileError): Entry {
  const where = `tensor ${shown(name)}`;
  if (!isRecord(value))
    throw fail(`${where} must be an object with dtype, shape and data_offsets, and is ${shown(value)}`);
  const { dtype, shape, data_offsets: offsets } = value;
  const type =
    typeof dtype === "string" && Object.hasOwn(TYPE_NAMES, dtype) ? FILE_TYPES[TYPE_NAMES[dtype]!] : undefined;
  if (!type) throw fail(`${where} has the dtype ${shown(dtype)}; supported are ${Object.keys(TYPE_NAMES).join(", ")}`);
  if (!Array.isArray(shape) || shape.length > 64 || !shape.every(isCount))
    throw fail(`${where} has the shape ${shown(shape)}, expected at most 64 whole numbers`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount) || offsets[0] > offsets[1]) {
    throw fail(`${where} has the data_offsets ${shown(offsets)}, expected where its bytes begin and end`);
  }
  const numel = (shape as number[]).reduce((n, m) => n * m, 1),
    [start, end] = offsets as [number, number];
  if (numel > MAX_NUMEL)
    throw fail(`${where} has the shape ${shown(shape)}: at most ${MAX_NUMEL} elements are supported`);
  if (numel * type.bytes !== end - start) {
    throw fail(
      `${where} of shape ${shown(shape)} and dtype ${String(dtype)} takes ${bytes(numel * type.bytes)}, but its data_offsets ${shown(offsets)} hold ${end - start}`,
    );
  }
  return { name, type, shape: shape as number[], start, end };
}

/** The first bytes of a file with these tensors, which must be in the order of their bytes. */
export function writeHeader(
  entries: readonly { name: string; dtype: string; shape: readonly number[]; bytes: number }[],
  metadata: Readonly<Record<string, string>> | null,
): Uint8Array {
  let at = 0;
  const head: [string, unknown][] = metadata ? [["__metadata__", metadata]] : [];
  for (const { name, dtype, shape, bytes: length } of entries)
    head.push([name, { dtype, shape, data_offsets: [at, (at += length)] }]);
  const text = new TextEncoder().encode(
    `{${head.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(",")}}`,
  );
  // Numbers begin at a multiple of eight.
  const out = new Uint8Array(8 + Math.ceil(text.length / 8) * 8).fill(0x20);
  new DataView(out.buffer).setBigUint64(0, BigInt(out.length - 8), true);
  out.set(text, 8);
  return out;
}
