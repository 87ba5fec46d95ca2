// Files behind addresses by position, where their server answers ranges; whatever else there is as source.ts opens it.

import { ask } from "./download.js";
import { FileError, bytes } from "./error.js";
import { hasPaths } from "./node-files.js";
import { counting } from "./progress.js";
import { type FileLike, type OpenOptions, type Source, openSource } from "./source.js";

/** Opens a file for reading a few of its parts. */
export async function openRanges(from: FileLike, options: OpenOptions, op: string): Promise<Source> {
  const text = typeof from === "string" || from instanceof URL ? String(from) : null;
  if (text === null || (hasPaths() ? !/^https?:/i.test(text) : /^(data|blob):/i.test(text)))
    return openSource(from, options, op);
  const first = await ask(text, text, options, { Range: "bytes=0-7" });
  if (first.status !== 206) return openSource(first, options, op);
  await first.body?.cancel();
  const { from: start, to, size } = rangeOf(first);
  // A server of another origin may not let us see what it sent; one that sends something else is asked for the whole.
  if (start !== 0 || !(size > 0) || to !== Math.min(7, size - 1) || first.headers.get("content-encoding"))
    return openSource(text, options, op);
  return ranged(text, size, first.headers, options);
}

/** What a response says it is a part of; NaN for what it does not say. */
function rangeOf(response: Response): Record<"from" | "to" | "size", number> {
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(response.headers.get("content-range") ?? "") ?? [];
  return { from: Number(from), to: Number(to), size: Number(size) };
}

/** By what one state of a file is told from another. */
const VALIDATORS = ["ETag", "Last-Modified"];

/** Every part must be of the file whose beginning was answered with `first`. */
function ranged(url: string, size: number, first: Headers, options: OpenOptions): Source {
  const etag = first.get("etag"),
    state = etag?.startsWith('"') ? etag : null;
  // In a page, a header that is not among the simple ones needs the other server's consent.
  const condition: Record<string, string> = state && hasPaths() ? { "If-Range": state } : {};
  const count = counting(size, options.progress);
  return {
    name: url,
    size,
    async read(start, end) {
      if (end > size) throw new FileError(url, `it is cut off: it has ${bytes(size)}, and ${end} are asked for`);
      if (start === end) return new Uint8Array(0);
      const response = await ask(url, url, options, { Range: `bytes=${start}-${end - 1}`, ...condition }),
        part = rangeOf(response);
      const asked = `the ${bytes(end - start)} from ${start} on of ${size}`,
        wrong =
          problem(response, first) ??
          (response.status !== 206
            ? `the server answered ${response.status} for ${asked}: it no longer sends parts, or the file has changed`
            : null) ??
          (part.from !== start || part.to !== end - 1 || part.size !== size
            ? `the server answered "${response.headers.get("content-range") ?? "no Content-Range"}" for ${asked}`
            : null);
      if (wrong) {
        await response.body?.cancel().catch(() => undefined);
        throw new FileError(url, wrong);
      }
      const data = await body(response, url, options);
      if (data.length !== end - start) throw new FileError(url, `the server sent ${bytes(data.length)} for ${asked}`);
      count(data.length);
      return data;
    },
    close: async () => undefined,
  };
}

/** How a response shows that the file is no longer what it was; null where it does not. */
function problem(response: Response, first: Headers): string | null {
  for (const name of VALIDATORS) {
    const before = first.get(name),
      now = response.headers.get(name);
    if (before !== null && now !== null && before !== now)
      return `it changed while it was read: its ${name} was ${before} and is now ${now}`;
  }
  return null;
}

async function body(response: Response, url: string, { signal }: OpenOptions): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new FileError(url, `the download broke off: ${(error as Error).message}`);
  }
}
