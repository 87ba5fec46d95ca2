// A file behind an address on its way into a cache, in pieces that are kept: what broke off goes on where it stopped,
// if the server still has the same file.

import { ask } from "../files/download.js";
import { FileError, bytes } from "../files/error.js";
import type { OpenOptions } from "../files/source.js";

/** A file of which the beginning is there. */
export interface PartialFile {
  /** Bytes that are kept. */
  readonly size: number;
  /** By what the server tells this state of the file from others; null: it cannot be gone on with. */
  readonly validator: string | null;
  /** Throws away what is kept: another file begins. */
  restart(validator: string | null): Promise<void>;
  append(piece: Uint8Array): Promise<void>;
  /** Keeps what was appended, whatever becomes of the program. */
  save(): Promise<void>;
}

/** How often a download that breaks off is taken up again at once, as long as bytes come. */
const TRIES = 5;

/** What tells one state of a file from another. */
function validatorOf({ headers }: Response): string | null {
  const etag = headers.get("etag");
  return etag?.startsWith('"') ? etag : headers.get("last-modified");
}

const isOwn = (url: string): boolean => {
  const { location } = globalThis as { location?: { origin: string } };
  return !location || new URL(url, location.origin).origin === location.origin;
};

/** The rest of a file that `file` has the beginning of, or all of it. */
async function respond(url: string, file: PartialFile, options: OpenOptions): Promise<[Response, number | null]> {
  const { size, validator } = file;
  if (size > 0 && validator) {
    // A server of another origin must consent to `If-Range`: what it answers is compared instead.
    const condition: Record<string, string> = isOwn(url) ? { "If-Range": validator } : {},
      response = await ask(url, url, options, { Range: `bytes=${size}-`, ...condition }).catch((error) => {
        if (error instanceof FileError && /answered 416/.test(error.message)) return null;
        throw error;
      }),
      [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response?.headers.get("content-range") ?? "") ?? [],
      now = response && validatorOf(response);
    if (response?.status === 206 && Number(from) === size && (now === null || now === validator))
      return [response, Number(total)];
    if (response?.status === 200) return begin(response, file);
    await response?.body?.cancel();
  }
  return begin(await ask(url, url, options), file);
}

async function begin(response: Response, file: PartialFile): Promise<[Response, number | null]> {
  await file.restart(validatorOf(response));
  const length = response.headers.get("content-length");
  return [response, length && !response.headers.get("content-encoding") ? Number(length) : null];
}

/** Brings a file into `file`, all of it. */
export async function fetchInto(url: string, file: PartialFile, options: OpenOptions): Promise<void> {
  for (let tries = 1; ; tries++) {
    const [response, total] = await respond(url, file, options),
      before = file.size;
    let broken: unknown = null;
    try {
      const reader = response.body!.getReader();
      for (let came = await reader.read(); !came.done; came = await reader.read()) {
        await file.append(came.value);
        options.progress?.({ loaded: file.size, total });
      }
    } catch (error) {
      broken = error;
    }
    await file.save();
    if (broken && (options.signal?.aborted || !(broken instanceof TypeError))) throw broken;
    if (!broken && (total === null || file.size === total)) return;
    if (total !== null && file.size > total)
      throw new FileError(url, `${bytes(file.size)} came, where ${total} were announced`);
    if (file.size > before && file.validator && tries < TRIES) continue;
    const kept = file.validator ? "; what came is kept, and the next call goes on from there" : "";
    throw new FileError(
      url,
      `the download broke off after ${bytes(file.size)}${total === null ? "" : ` of ${total}`}${kept}`,
    );
  }
}
