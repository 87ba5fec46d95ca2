// Where files come from: bytes, blobs, paths in Node, addresses and their responses.  Either by position (Source) or in
// order, as it arrives (Stream).  What the bytes mean is not here.

import { TypeMismatchError, describe } from "../base/errors.js";
import { Download, ask } from "./download.js";
import { FileError, bytes, tooShort } from "./error.js";
import { hasPaths, openPath } from "./node-files.js";
import { type Report, counting } from "./progress.js";

export type { Progress } from "./progress.js";

/** What a file may be given as.  A text is an address, in Node also a path. */
export type FileLike = string | URL | Blob | Response | ArrayBuffer | ArrayBufferView;

export interface OpenOptions {
  /** Called whenever bytes have come. */
  progress?: Report;
  /** Stops a download. */
  signal?: AbortSignal | null;
}

/** A file that is read by position. */
export interface Source {
  readonly name: string;
  readonly size: number;
  /** The bytes from `start` up to `end`, both within the file, in memory of the caller's own. */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

/** A file that is read from its beginning to its end. */
export interface Stream {
  readonly name: string;
  /** Bytes in all; null where only the end will tell. */
  readonly size: number | null;
  /** How many have been taken. */
  readonly at: number;
  /** The next `n` bytes, in memory of the caller's own; FileError where the file ends before. */
  take(n: number, what: string): Promise<Uint8Array<ArrayBuffer>>;
  /** All that is left. */
  rest(): Promise<Uint8Array<ArrayBuffer>>;
  /** Throws unless nothing is left. */
  end(): Promise<void>;
  close(): Promise<void>;
}

const ADDRESS = /^(https?|data|blob|file):/i;

type Place = { url: string | URL; name: string } | { path: string | URL } | null;

/** What a text or URL means here; null for neither. */
function placeOf(from: FileLike): Place {
  if (typeof from !== "string" && !(from instanceof URL)) return null;
  const text = String(from),
    local = hasPaths();
  if (local && /^file:/i.test(text)) return { path: new URL(text) };
  if (local && !ADDRESS.test(text)) return { path: text };
  return { url: from, name: text.length > 100 ? `${text.slice(0, 97)}...` : text };
}

/** Opens a file for reading by position; what lies behind an address is fetched whole. */
export async function openSource(from: FileLike, options: OpenOptions, op: string): Promise<Source> {
  const place = placeOf(from);
  if (place && "path" in place) return openPath(place.path, options.progress);
  if (place || isResponse(from)) {
    const arriving = await download(from as string | URL | Response, options);
    return fromBytes(await arriving.rest(), arriving.name);
  }
  if (isBlob(from)) return fromBlob(from, options);
  return fromBytes(bytesOf(from, op), "the given bytes", true);
}

/** Opens a file for reading in order. */
export async function openStream(from: FileLike, options: OpenOptions, op: string): Promise<Stream> {
  const place = placeOf(from);
  if ((place && "url" in place) || isResponse(from)) return download(from as string | URL | Response, options);
  return inOrder(await openSource(from, options, op));
}

/** A source from its beginning to its end. */
export function inOrder(source: Source): Stream {
  let at = 0;
  return {
    name: source.name,
    size: source.size,
    get at() {
      return at;
    },
    async take(n, what) {
      if (at + n > source.size) throw tooShort(source.name, what, n, at, source.size);
      at += n;
      return source.read(at - n, at);
    },
    rest: () => source.read(at, (at = source.size)),
    end: async () => {
      if (at < source.size)
        throw new FileError(
          source.name,
          `it has ${bytes(source.size - at)} too many: its content ends at ${at}, the file at ${source.size}`,
        );
    },
    close: () => source.close(),
  };
}

const isResponse = (value: unknown): value is Response => typeof Response === "function" && value instanceof Response;
const isBlob = (value: unknown): value is Blob => typeof Blob === "function" && value instanceof Blob;
/** Whether a value is what a file may be given as. */
export const isFile = (value: unknown): value is FileLike =>
  typeof value === "string" ||
  value instanceof URL ||
  isBlob(value) ||
  isResponse(value) ||
  value instanceof ArrayBuffer ||
  ArrayBuffer.isView(value);

const nameOf = (from: FileLike): string =>
  isResponse(from)
    ? from.url || "the response"
    : isBlob(from)
      ? ((from as { name?: string }).name ?? "the blob")
      : (placeOf(from) as { name: string }).name;

const download = async (from: string | URL | Response, options: OpenOptions): Promise<Stream> =>
  new Download(isResponse(from) ? from : await ask(from, nameOf(from), options), nameOf(from), options);

function bytesOf(from: unknown, op: string): Uint8Array<ArrayBuffer> {
  try {
    if (ArrayBuffer.isView(from)) return new Uint8Array(from.buffer as ArrayBuffer, from.byteOffset, from.byteLength);
    if (from instanceof ArrayBuffer) return new Uint8Array(from);
  } catch {
    throw new TypeMismatchError(`${op}: the memory of the bytes is gone: it was handed to another thread`);
  }
  throw new TypeMismatchError(
    `${op}: expected a path, an address, a Blob, a Response, an ArrayBuffer or a typed array, got ${describe(from)}`,
  );
}

/** Bytes in memory.  `shared`: they are the caller's, so what is read is copied out of them. */
function fromBytes(data: Uint8Array<ArrayBuffer>, name: string, shared = false): Source {
  return {
    name,
    size: data.length,
    read: async (start, end) => (!shared && start === 0 && end === data.length ? data : data.slice(start, end)),
    close: async () => undefined,
  };
}

function fromBlob(blob: Blob, { progress }: OpenOptions): Source {
  const count = counting(blob.size, progress);
  return {
    name: nameOf(blob),
    size: blob.size,
    async read(start, end) {
      const out = new Uint8Array(await blob.slice(start, end).arrayBuffer());
      count(out.length);
      return out;
    },
    close: async () => undefined,
  };
}
