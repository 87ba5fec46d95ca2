// Files behind addresses by position, where their server answers ranges; whatever else there is as source.ts opens it.

import { ask } from "./download.js";
import { FileError, bytes } from "./error.js";
import { hasPaths } from "./node-files.js";
import { type FileLike, type OpenOptions, type Source, openSource } from "./source.js";

/** Opens a file for reading a few of its parts. */
export async function openRanges(from: FileLike, options: OpenOptions, op: string): Promise<Source> {
  const text = typeof from === "string" || from instanceof URL ? String(from) : null;
  if (text === null || (hasPaths() ? !/^https?:/i.test(text) : /^(data|blob):/i.test(text))) return openSource(from, options, op);
  const first = await ask(text, text, options, { Range: "bytes=0-7" });
  const total = /^bytes \d+-\d+\/(\d+)$/.exec(first.headers.get("content-range") ?? "")?.[1];
  if (first.status !== 206) return openSource(first, options, op);
  if (total === undefined) {  // a server of another origin may not let us see the size
    await first.body?.cancel();
    return openSource(text, options, op);
  }
  await first.body?.cancel();
  return ranged(text, Number(total), options);
}

function ranged(url: string, size: number, options: OpenOptions): Source {
  let loaded = 0;
  return {
    name: url, size,
    async read(start, end) {
      if (end > size) throw new FileError(url, `it is cut off: it has ${bytes(size)}, and ${end} are asked for`);
      if (start === end) return new Uint8Array(0);
      const response = await ask(url, url, options, { Range: `bytes=${start}-${end - 1}` });
      const data = response.status === 206 ? new Uint8Array(await response.arrayBuffer()) : null;
      if (data?.length !== end - start) {
        await response.body?.cancel().catch(() => undefined);
        throw new FileError(url, `the server answered ${data ? bytes(data.length) : response.status} for the ${end - start} bytes from ${start} on`);
      }
      loaded += data.length;
      options.progress?.({ loaded, total: size });
      return data;
    },
    close: async () => undefined,
  };
}
