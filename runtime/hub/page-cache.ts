// Downloaded files in a page: in the browser's Cache Storage of this origin, which its tabs and workers share.  A lock
// lets one of them at a time bring a file; the others find it there.  A file lies in pieces, so that one that broke off
// is gone on with.

import { FileError } from "../files/error.js";
import type { OpenOptions } from "../files/source.js";
import { type PartialFile, fetchInto } from "./resumed-download.js";

/** Bytes of a piece. */
const PIECE = 2 ** 23;

interface Description {
  url: string;
  validator: string | null;
  /** Bytes of each piece. */
  pieces: number[];
  complete: boolean;
}

/** The addresses under which a file's parts lie: none that a server has. */
const addressOf = (name: string, part: number | "description"): string =>
  `${(globalThis as { location?: { origin: string } }).location!.origin}/.tensorloom-hub/${encodeURIComponent(name)}/${part}`;

/** A file in pieces of a cache. */
class CachedFile implements PartialFile {
  private rest: Uint8Array[] = [];
  private restSize = 0;

  private constructor(
    private readonly cache: Cache,
    private readonly name: string,
    private described: Description,
  ) {}

  /** What there is of a file; of one from another address nothing. */
  static async open(cache: Cache, name: string, url: string): Promise<CachedFile> {
    const found = await cache.match(addressOf(name, "description")),
      described = found ? ((await found.json()) as Description) : null;
    if (described?.url === url) return new CachedFile(cache, name, described);
    const file = new CachedFile(cache, name, described ?? { url, validator: null, pieces: [], complete: false });
    await file.drop();
    file.described = { url, validator: null, pieces: [], complete: false };
    return file;
  }

  get size(): number {
    return this.described.pieces.reduce((a, b) => a + b, this.restSize);
  }
  get validator(): string | null {
    return this.described.validator;
  }
  get complete(): boolean {
    return this.described.complete;
  }

  async restart(validator: string | null): Promise<void> {
    await this.drop();
    this.rest = [];
    this.restSize = 0;
    this.described = { ...this.described, validator, pieces: [], complete: false };
  }

  async append(piece: Uint8Array): Promise<void> {
    this.rest.push(piece);
    this.restSize += piece.length;
    if (this.restSize >= PIECE) await this.save();
  }

  async save(complete = false): Promise<void> {
    const { pieces } = this.described;
    if (this.restSize) {
      await this.cache.put(addressOf(this.name, pieces.length), new Response(new Blob(this.rest as BlobPart[])));
      pieces.push(this.restSize);
      this.rest = [];
      this.restSize = 0;
    }
    this.described.complete = complete;
    await this.cache.put(addressOf(this.name, "description"), new Response(JSON.stringify(this.described)));
  }

  /** Takes it out of the cache. */
  async drop(): Promise<void> {
    await this.cache.delete(addressOf(this.name, "description"));
    await Promise.all(this.described.pieces.map((_, i) => this.cache.delete(addressOf(this.name, i))));
  }

  /** Its bytes, which stay where they are until they are read; null where a piece is gone. */
  async blob(): Promise<Blob | null> {
    const { pieces } = this.described,
      found = await Promise.all(pieces.map((_, i) => this.cache.match(addressOf(this.name, i)))),
      blobs = await Promise.all(found.map((response) => response?.blob()));
    return blobs.every((blob, i) => blob?.size === pieces[i]) ? new File(blobs as Blob[], this.name) : null;
  }
}

/** Downloads that this program has under way, where the browser has no locks. */
const underWay = new Map<string, Promise<unknown>>();

/** Runs `body` while nobody else has the lock `name`, in any tab or worker. */
async function locked<T>(name: string, body: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as unknown as {
    navigator?: { locks?: { request<U>(name: string, body: () => Promise<U>): Promise<U> } };
  };
  if (navigator?.locks) return navigator.locks.request(name, body);
  const turn = (underWay.get(name) ?? Promise.resolve()).then(body, body);
  underWay.set(name, turn);
  return turn;
}

/**
 * A file from the cache called `folder`, brought there if it is not yet; `check` throws for one that is not as it should
 * be, which is taken out again.  Null where the browser has no cache for this page, or no room in it.
 */
export async function fromPageCache(
  url: string,
  folder: string,
  name: string,
  options: OpenOptions,
  check: (file: Blob) => Promise<void>,
): Promise<Blob | null> {
  const { caches } = globalThis as { caches?: CacheStorage };
  let cache: Cache;
  try {
    cache = await caches!.open(folder);
  } catch {
    return null; // a page without an origin of its own, or over plain http
  }
  return locked(`${folder}/${name}`, async () => {
    const file = await CachedFile.open(cache, name, url);
    try {
      if (!file.complete) {
        await fetchInto(url, file, options);
        await file.save(true);
      }
      const blob = await file.blob();
      if (!blob) {
        await file.drop();
        throw new FileError(name, "the browser has thrown away a part of it; call again to bring it anew");
      }
      await check(blob);
      return blob;
    } catch (error) {
      if ((error as Error).name === "QuotaExceededError") {
        await file.drop();
        return null;
      }
      if (file.complete) await file.drop();
      throw error;
    }
  });
}
