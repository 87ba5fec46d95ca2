// What lies behind an address, as it arrives.  Memory is taken for what has come, never for what was announced.

import { FileError, bytes, tooShort } from "./error.js";
import type { OpenOptions, Stream } from "./source.js";

/** Asks for what lies behind an address; FileError where the answer is not the file. */
export async function ask(
  url: string | URL,
  name: string,
  options: OpenOptions,
  headers: Record<string, string> = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { headers, ...(options.signal ? { signal: options.signal } : {}) });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new FileError(name, `it cannot be fetched: ${(error as Error).message}`);
  }
  if (!response.ok || (response.status === 206 && !headers["Range"])) {
    // a part was not asked for
    await response.body?.cancel();
    throw new FileError(
      name,
      `the server answered ${response.status}${response.statusText ? ` ${response.statusText}` : ""}`,
    );
  }
  return response;
}

/** A response's body in order. */
export class Download implements Stream {
  readonly name: string;
  /** Unknown: a server may announce the length of what it has compressed. */
  readonly size = null;
  at = 0;
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly options: OpenOptions;
  private readonly total: number | null;
  private chunks: Uint8Array[] = [];
  /** Bytes in `chunks`, and bytes that have come in all. */
  private held = 0;
  private loaded = 0;
  private done = false;

  constructor(response: Response, name: string, options: OpenOptions) {
    if (response.bodyUsed || !response.body)
      throw new FileError(name, "the response has no body, or it was read before");
    const announced = response.headers.get("content-length");
    this.total =
      announced !== null && !response.headers.get("content-encoding") && /^\d+$/.test(announced)
        ? Number(announced)
        : null;
    this.reader = response.body.getReader();
    this.name = name;
    this.options = options;
  }

  private async more(): Promise<void> {
    let came: ReadableStreamReadResult<Uint8Array>;
    try {
      came = await this.reader.read();
    } catch (error) {
      if (this.options.signal?.aborted) throw error;
      throw new FileError(this.name, `the download broke off after ${bytes(this.loaded)}: ${(error as Error).message}`);
    }
    this.done = came.done;
    if (came.done) return;
    this.chunks.push(came.value);
    this.held += came.value.length;
    this.loaded += came.value.length;
    this.options.progress?.({ loaded: this.loaded, total: this.total });
  }

  async take(n: number, what: string): Promise<Uint8Array<ArrayBuffer>> {
    while (this.held < n && !this.done) await this.more();
    if (this.held < n) throw tooShort(this.name, what, n, this.at, this.loaded);
    const out = new Uint8Array(n);
    let filled = 0,
      used = 0;
    while (filled < n) {
      const chunk = this.chunks[used]!,
        part = chunk.subarray(0, n - filled);
      out.set(part, filled);
      filled += part.length;
      if (part.length === chunk.length) used++;
      else this.chunks[used] = chunk.subarray(part.length);
    }
    this.chunks.splice(0, used);
    this.held -= n;
    this.at += n;
    return out;
  }

  async rest(): Promise<Uint8Array<ArrayBuffer>> {
    while (!this.done) await this.more();
    return this.take(this.held, "the rest");
  }

  async end(): Promise<void> {
    while (this.held === 0 && !this.done) await this.more();
    if (this.held > 0)
      throw new FileError(this.name, `it has bytes too many: its content ends at ${this.at}, but more comes`);
  }

  async close(): Promise<void> {
    if (!this.done) await this.reader.cancel().catch(() => undefined);
  }
}
