// The beginning of a file as numbers and texts in order, of which only so much is fetched as is read.

import { FileError, tooShort } from "../files/error.js";
import type { Source } from "../files/source.js";

/** Bytes fetched at first; each time more are needed, as many as there are already. */
const FIRST = 2 ** 16;

const text = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });

export class Cursor {
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  constructor(readonly source: Source) {}

  get at(): number {
    return this.#at;
  }
  /** Bytes of the file that were not read yet. */
  get left(): number {
    return this.source.size - this.#at;
  }

  fail(problem: string): FileError {
    return new FileError(this.source.name, problem);
  }

  /** Goes on by `n` bytes, which are there then; answers where they begin. */
  private async next(n: number, what: string): Promise<number> {
    const at = this.#at,
      { name, size } = this.source;
    if (n > size - at) throw tooShort(name, what, n, at, size);
    if (at + n > this.#bytes.length) {
      const end = Math.min(size, Math.max(at + n, 2 * this.#bytes.length, FIRST)),
        more = await this.source.read(this.#bytes.length, end),
        all = new Uint8Array(end);
      all.set(this.#bytes);
      all.set(more, this.#bytes.length);
      this.#bytes = all;
      this.#view = new DataView(all.buffer);
    }
    this.#at = at + n;
    return at;
  }

  async uint32(what: string): Promise<number> {
    const at = await this.next(4, what);
    return this.#view.getUint32(at, true);
  }
  /** A count or place, of 64 bits. */
  async count(what: string): Promise<number> {
    const at = await this.next(8, what),
      value = this.#view.getBigUint64(at, true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw this.fail(`${what} at ${at} is ${value}`);
    return Number(value);
  }
  async text(what: string): Promise<string> {
    const length = await this.count(`the length of ${what}`),
      at = await this.next(length, what);
    try {
      return text.decode(this.#bytes.subarray(at, at + length));
    } catch {
      throw this.fail(`${what} at ${at} is no UTF-8`);
    }
  }
  /** `n` bytes, in memory of their own. */
  async bytes(n: number, what: string): Promise<ArrayBuffer> {
    const at = await this.next(n, what);
    return this.#bytes.slice(at, at + n).buffer;
  }
}
