// Zip archives: their directory and their entries, stored or deflated, zip64 as well.  Only reading; nothing is
// believed before it is compared with the file's size.

import { FileError, bytes } from "./error.js";
import type { Source } from "./source.js";

export interface ZipEntry {
  readonly name: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly crc: number;
  /** Bytes in the archive, and of the content. */
  readonly packed: number;
  readonly size: number;
  /** Where its local header begins. */
  readonly at: number;
}

const END = 0x06054b50,
  END_64 = 0x06064b50,
  LOCATOR_64 = 0x07064b50,
  CENTRAL = 0x02014b50,
  LOCAL = 0x04034b50;
const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);
/** 64 bits; numbers too large to be exact are larger than any file. */
const long = (data: DataView, at: number): number => Number(data.getBigUint64(at, true));

/** The archive's entries by name. */
export async function readDirectory(source: Source): Promise<Map<string, ZipEntry>> {
  const fail = (problem: string): FileError => new FileError(source.name, problem);
  const { count, start, length } = await findDirectory(source, fail);
  if (!(start + length <= source.size))
    throw fail(`its directory would lie from ${start} to ${start + length}, but the file has ${bytes(source.size)}`);
  if (!(count * 46 <= length)) throw fail(`its directory of ${bytes(length)} cannot hold ${count} entries`);
  const data = await source.read(start, start + length),
    words = view(data),
    entries = new Map<string, ZipEntry>();
  let at = 0,
    packed = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > length || words.getUint32(at, true) !== CENTRAL) throw fail(`entry ${i} of its directory is not one`);
    const nameLength = words.getUint16(at + 28, true),
      extraLength = words.getUint16(at + 30, true),
      next = at + 46 + nameLength + extraLength + words.getUint16(at + 32, true);
    if (next > length) throw fail(`entry ${i} of its directory is cut off`);
    const name = new TextDecoder().decode(data.subarray(at + 46, at + 46 + nameLength));
    const entry = readEntryRecord(words, at, name, at + 46 + nameLength, extraLength, fail);
    if (entries.has(name)) throw fail(`the entry ${name} occurs twice`);
    // Together they fit into the file, so that no part of it is read more than once.
    packed += entry.packed;
    if (!(packed <= source.size && entry.at + entry.packed <= source.size)) {
      throw fail(
        `the entry ${name} with ${bytes(entry.packed)} from ${entry.at} on does not fit into the ${bytes(source.size)} of the file`,
      );
    }
    entries.set(name, entry);
    at = next;
  }
  checkTogether([...entries.values()], source.size, fail);
  return entries;
}

/** What deflated entries may hold together: so much, and so many times the file's size. */
const DEFLATED = 2 ** 28,
  TIMES = 64;

/**
 * Throws for entries that lie over one another, and for deflated ones that hold much more than the file could be
 * thought to.
 */
function checkTogether(entries: readonly ZipEntry[], size: number, fail: (problem: string) => FileError): void {
  const deflated = entries.reduce((n, e) => n + (e.method === 0 ? 0 : e.size), 0),
    most = DEFLATED + TIMES * size;
  if (!(deflated <= most))
    throw fail(
      `its deflated entries would have ${bytes(deflated)} inflated, at most ${most} are read of a file of ${bytes(size)}`,
    );
  const order = [...entries].sort((a, b) => a.at - b.at);
  order.forEach(({ name, at, packed }, i) => {
    const next = order[i + 1];
    if (next && at + 30 + packed > next.at)
      throw fail(
        `the entries ${name} and ${next.name} overlap: ${bytes(packed)} from ${at} on, and from ${next.at} on`,
      );
  });
}

async function findDirectory(
  source: Source,
  fail: (problem: string) => FileError,
): Promise<{ count: number; start: number; length: number }> {
  // The end record is followed by nothing but a comment, whose length it holds.
  const from = Math.max(0, source.size - 22 - 65535),
    tail = await source.read(from, source.size),
    words = view(tail);
  let at = tail.length - 22;
  while (at >= 0 && !(words.getUint32(at, true) === END && at + 22 + words.getUint16(at + 20, true) === tail.length))
    at--;
  if (at < 0)
    throw fail(`it is cut off, or no zip archive: no end of its directory is found in its ${bytes(source.size)}`);
  const found = {
    count: words.getUint16(at + 10, true),
    length: words.getUint32(at + 12, true),
    start: words.getUint32(at + 16, true),
  };
  if (at < 20 || words.getUint32(at - 20, true) !== LOCATOR_64) return found;
  const place = long(words, at - 12);
  if (!(place + 56 <= source.size))
    throw fail(`its zip64 record would begin at ${place}, but the file has ${bytes(source.size)}`);
  const record = view(await source.read(place, place + 56));
  if (record.getUint32(0, true) !== END_64) throw fail(`no zip64 record is found at ${place}`);
  return { count: long(record, 32), length: long(record, 40), start: long(record, 48) };
}

function readEntryRecord(
  words: DataView,
  at: number,
  name: string,
  extra: number,
  extraLength: number,
  fail: (problem: string) => FileError,
): ZipEntry {
  if (words.getUint16(at + 8, true) & 1) throw fail(`the entry ${name} is encrypted`);
  const entry = {
    name,
    method: words.getUint16(at + 10, true),
    crc: words.getUint32(at + 16, true),
    packed: words.getUint32(at + 20, true),
    size: words.getUint32(at + 24, true),
    at: words.getUint32(at + 42, true),
  };
  for (let place = extra; place + 4 <= extra + extraLength; ) {
    const kind = words.getUint16(place, true),
      end = place + 4 + words.getUint16(place + 2, true);
    if (end > extra + extraLength) break;
    if (kind === 1) {
      // zip64: those of the numbers that are all ones above
      let field = place + 4;
      for (const key of ["size", "packed", "at"] as const) {
        if (entry[key] !== 0xffffffff) continue;
        if (field + 8 > end) throw fail(`the entry ${name} lacks numbers that zip64 asks for`);
        entry[key] = long(words, field);
        field += 8;
      }
    }
    place = end;
  }
  return entry;
}

/** The most that one byte of deflate can stand for. */
const MOST_DEFLATED = 1032;

/** The content of an entry. */
export async function readContent(source: Source, entry: ZipEntry): Promise<Uint8Array<ArrayBuffer>> {
  const fail = (problem: string): FileError => new FileError(source.name, `the entry ${entry.name} ${problem}`);
  if (!(entry.at + 30 <= source.size)) throw fail(`would begin at ${entry.at}, but the file has ${bytes(source.size)}`);
  const local = view(await source.read(entry.at, entry.at + 30));
  if (local.getUint32(0, true) !== LOCAL) throw fail(`does not begin at ${entry.at}, as the directory says`);
  const start = entry.at + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  if (!(start + entry.packed <= source.size))
    throw fail(`takes ${bytes(entry.packed)} from ${start} on, but the file has ${bytes(source.size)}`);
  if (entry.method === 0) {
    if (entry.size !== entry.packed)
      throw fail(`is stored, but has ${bytes(entry.packed)} where ${entry.size} are announced`);
    return source.read(start, start + entry.size);
  }
  if (entry.method !== 8)
    throw fail(`is compressed by method ${entry.method}; only stored (0) and deflated (8) ones are read`);
  if (!(entry.size <= entry.packed * MOST_DEFLATED))
    throw fail(`is said to hold ${bytes(entry.size)}, more than its ${entry.packed} can`);
  return inflate(await source.read(start, start + entry.packed), entry, fail);
}

/** Inflates; as a gzip file, which every engine's DecompressionStream reads and whose checksum it compares. */
async function inflate(
  packed: Uint8Array<ArrayBuffer>,
  entry: ZipEntry,
  fail: (problem: string) => FileError,
): Promise<Uint8Array<ArrayBuffer>> {
  const trailer = new Uint8Array(8);
  view(trailer).setUint32(0, entry.crc, true);
  view(trailer).setUint32(4, entry.size % 2 ** 32, true);
  const gzip = new Blob([Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff), packed, trailer]);
  const reader = (gzip.stream().pipeThrough(new DecompressionStream("gzip")) as ReadableStream<Uint8Array>).getReader(),
    parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let came = await reader.read(); !came.done; came = await reader.read()) {
      parts.push(came.value);
      length += came.value.length;
      if (length > entry.size) break;
    }
  } catch (error) {
    throw fail(`cannot be inflated: ${(error as Error).message || "its data are damaged"}`);
  }
  if (length !== entry.size) {
    await reader.cancel().catch(() => undefined);
    throw fail(`inflates to ${length > entry.size ? "more" : bytes(length)}, where ${bytes(entry.size)} are announced`);
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
