// A writer of pickles, protocol 2, as torch.save makes them: numbers, texts, bytes, lists, dictionaries, sets, and the
// names, calls and references that tensors are written with.  What occurs twice is written once.

import { TypeMismatchError, describe } from "../base/errors.js";

/** A name in a module of Python: `collections.OrderedDict`. */
export class Global {
  readonly module: string;
  readonly name: string;

  constructor(module: string, name: string) {
    this.module = module;
    this.name = name;
  }
}
/** What calling a name makes. */
export class Call {
  readonly target: Global;
  readonly args: Tuple;

  constructor(target: Global, ...args: unknown[]) {
    this.target = target;
    this.args = new Tuple(...args);
  }
}
export class Tuple {
  readonly items: readonly unknown[];

  constructor(...items: unknown[]) {
    this.items = items;
  }
}
/** What is kept beside the pickle, found by what `id` says. */
export class Reference {
  readonly id: Tuple;

  constructor(id: Tuple) {
    this.id = id;
  }
}

/** The most that containers may be nested; Python's own reader ends at a depth like this. */
const DEEPEST = 500;

const SET = new Global("builtins", "set"),
  ENCODE = new Global("_codecs", "encode");
const utf8 = new TextEncoder();

/** Says where in the object that is saved something stands: `["optimizer"].state[0]`. */
const shown = (path: readonly (string | number)[]): string =>
  path.map((key) => (typeof key === "number" ? `[${key}]` : /^\w+$/.test(key) ? `.${key}` : `["${key}"]`)).join("");

/**
 * The bytes of a pickle of `value`.  `replaced(object, path)`: what stands for an object that is no plain one;
 * undefined where nothing does.  `integerKeys(object)`: whether its keys that are whole numbers are Python's ints.
 * Throws for what no file can hold, with its place.
 */
export function pickle(
  value: unknown,
  op: string,
  replaced: (value: object, path: string) => unknown,
  integerKeys: (value: object) => boolean,
): Uint8Array {
  const writer = new Writer(op, replaced, integerKeys);
  writer.byte(0x80, 2);
  writer.write(value, []);
  writer.byte(0x2e);
  return writer.bytes();
}

class Writer {
  private readonly op: string;
  private readonly replaced: (value: object, path: string) => unknown;
  private readonly integerKeys: (value: object) => boolean;
  private data = new Uint8Array(1024);
  private view = new DataView(this.data.buffer);
  private length = 0;
  private readonly memo = new Map<unknown, number>();

  constructor(op: string, replaced: (value: object, path: string) => unknown, integerKeys: (value: object) => boolean) {
    this.op = op;
    this.replaced = replaced;
    this.integerKeys = integerKeys;
  }

  bytes(): Uint8Array {
    return this.data.slice(0, this.length);
  }

  /** Where `n` more bytes go. */
  private room(n: number): number {
    const at = this.length;
    if (at + n > this.data.length) {
      const larger = new Uint8Array(2 * (at + n));
      larger.set(this.data);
      this.data = larger;
      this.view = new DataView(larger.buffer);
    }
    this.length = at + n;
    return at;
  }
  byte(...bytes: number[]): void {
    const at = this.room(bytes.length);
    this.data.set(bytes, at);
  }
  private put(bytes: Uint8Array): void {
    const at = this.room(bytes.length);
    this.data.set(bytes, at);
  }
  private u32(code: number, value: number): void {
    const at = this.room(5);
    this.data[at] = code;
    this.view.setUint32(at + 1, value, true);
  }

  private text(value: string): void {
    const bytes = utf8.encode(value);
    this.u32(0x58, bytes.length); // BINUNICODE
    this.put(bytes);
  }
  private integer(value: number): void {
    if (value >= 0 && value < 256) return this.byte(0x4b, value); // BININT1
    const at = this.room(5); // BININT
    this.data[at] = 0x4a;
    this.view.setInt32(at + 1, value, true);
  }
  private long(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (;;) {
      bytes.push(Number(rest & 0xffn));
      rest >>= 8n;
      if ((rest === 0n && bytes[bytes.length - 1]! < 0x80) || (rest === -1n && bytes[bytes.length - 1]! >= 0x80)) break;
    }
    if (bytes.length < 256)
      this.byte(0x8a, bytes.length); // LONG1
    else this.u32(0x8b, bytes.length); // LONG4
    this.put(Uint8Array.from(bytes));
  }
  private number(value: number): void {
    if (Number.isInteger(value) && !Object.is(value, -0)) {
      if (Math.abs(value) < 2 ** 31) return this.integer(value);
      if (Number.isSafeInteger(value)) return this.long(BigInt(value));
    }
    const at = this.room(9); // BINFLOAT, the one number that is big-endian
    this.data[at] = 0x47;
    this.view.setFloat64(at + 1, value);
  }

  /** Keeps what was just written, for `value` to be found again. */
  private keep(value: unknown): void {
    const place = this.memo.size;
    this.memo.set(value, place);
    if (place < 256)
      this.byte(0x71, place); // BINPUT
    else this.u32(0x72, place);
  }

  write(value: unknown, path: readonly (string | number)[]): void {
    switch (typeof value) {
      case "number":
        return this.number(value);
      case "string":
        return this.text(value);
      case "boolean":
        return this.byte(value ? 0x88 : 0x89);
      case "bigint":
        return this.long(value);
      case "object":
        return value === null ? this.byte(0x4e) : this.object(value, path);
      case "function": {
        // a tensor may be called, and modules too
        const other = this.replaced(value, shown(path));
        if (other !== undefined) return this.write(other, path);
      }
    }
    throw this.refused(value, path);
  }
  private refused(value: unknown, path: readonly (string | number)[]): TypeMismatchError {
    const what = path.length ? `obj${shown(path)}` : "obj";
    return new TypeMismatchError(
      `${this.op}: ${what} must be tensors, numbers, texts, bytes, lists and dictionaries of them, got ${typeof value === "function" ? "a function" : describe(value)}`,
    );
  }

  private object(value: object, path: readonly (string | number)[]): void {
    const kept = this.memo.get(value);
    if (kept !== undefined) {
      if (kept < 256)
        this.byte(0x68, kept); // BINGET
      else this.u32(0x6a, kept);
      return;
    }
    if (path.length > DEEPEST)
      throw new TypeMismatchError(
        `${this.op}: obj is nested more than ${DEEPEST} deep, at ${shown(path.slice(0, 8))}...`,
      );
    if (value instanceof Global) {
      this.byte(0x63);
      this.put(utf8.encode(`${value.module}\n${value.name}\n`));
      return this.keep(value);
    }
    if (value instanceof Tuple) return this.tuple(value, path);
    if (value instanceof Call) {
      this.write(value.target, path);
      this.write(value.args, path);
      this.byte(0x52); // REDUCE
      return this.keep(value);
    }
    if (value instanceof Reference) {
      this.write(value.id, path);
      return this.byte(0x51); // BINPERSID
    }
    const other = this.replaced(value, shown(path));
    if (other !== undefined) return this.replace(value, other, path);
    if (Array.isArray(value)) return this.list(value, path);
    if (value instanceof Map) return this.dictionary(value, value, path);
    if (value instanceof Set) return this.replace(value, new Call(SET, [...(value as Set<unknown>)]), path);
    if (value instanceof Uint8Array || value instanceof ArrayBuffer) {
      let text = "";
      for (const b of new Uint8Array(value as ArrayBuffer)) text += String.fromCharCode(b);
      return this.replace(value, new Call(ENCODE, text, "latin1"), path);
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) throw this.refused(value, path);
    const integers = this.integerKeys(value);
    this.dictionary(
      value,
      Object.entries(value).map(([key, item]): [unknown, unknown] => [
        integers && /^(0|-?[1-9]\d{0,14})$/.test(key) ? Number(key) : key,
        item,
      ]),
      path,
    );
  }
  /** Writes `other` for `value`, and lets it be found by either. */
  private replace(value: object, other: unknown, path: readonly (string | number)[]): void {
    this.write(other, path);
    const place = this.memo.get(other);
    if (place !== undefined) this.memo.set(value, place);
  }
  private tuple({ items }: Tuple, path: readonly (string | number)[]): void {
    if (items.length > 3 || items.length === 0) this.byte(0x28);
    items.forEach((item, i) => this.write(item, [...path, i]));
    this.byte(items.length > 3 || items.length === 0 ? 0x74 : 0x84 + items.length);
  }
  private list(items: readonly unknown[], path: readonly (string | number)[]): void {
    this.byte(0x5d);
    this.keep(items);
    if (!items.length) return;
    this.byte(0x28);
    for (let i = 0; i < items.length; i++) this.write(items[i], [...path, i]);
    this.byte(0x65); // APPENDS
  }
  private dictionary(
    value: object,
    entries: Iterable<readonly [unknown, unknown]>,
    path: readonly (string | number)[],
  ): void {
    this.byte(0x7d);
    this.keep(value);
    this.byte(0x28);
    for (const [key, item] of entries) {
      const place = [...path, typeof key === "number" ? key : String(key)];
      this.write(Array.isArray(key) ? new Tuple(...(key as unknown[])) : key, place);
      this.write(item, place);
    }
    this.byte(0x75); // SETITEMS
  }
}
