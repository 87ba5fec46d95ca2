// A reader of pickles that only builds: numbers, texts, lists, tuples, dictionaries, sets, and what a few named
// functions make. Which names stand for what is the caller's table; what a name that is not in it would make is only
// noted as left out, and nothing in a file is ever run.

import { OpError } from "../base/errors.js";
import { FileError } from "./error.js";

/** What a name in a pickle may stand for. */
export interface Known {
  /** What `name(...args)` makes; absent for names that are not called. */
  call?(args: readonly unknown[]): unknown;
  /** What `object.__setstate__(state)` does to what it made; absent: refused. */
  set?(object: unknown, state: unknown): void;
}

/** A name of the pickle, with what the caller says it stands for. */
export class Name {
  readonly text: string;
  readonly known: Known;

  constructor(text: string, known: Known) {
    this.text = text;
    this.known = known;
  }
}

/** What stands for an object that cannot be had here. */
export class LeftOut {
  /** What it is, and why it is left out. */
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

export interface PickleContext {
  /** What a name stands for; what it would make, where it stands for nothing here. */
  find(module: string, name: string): Known | LeftOut;
  /** What a persistent id stands for. */
  persistent(id: unknown): unknown;
}

/**
 * The most that a pickle may put on the stack, and the most objects it may make or keep: one byte can stand for a
 * dictionary.
 */
const MOST_VALUES = 2 ** 24,
  MOST_OBJECTS = 2 ** 21;

const MARK = Symbol("mark");
const made = new WeakMap<object, Name>();

/**
 * The object that a pickle (protocol 2 to 5) describes, and the byte after it: dictionaries are Maps, lists and tuples
 * arrays, bytes Uint8Arrays. What is built is no larger than the pickle, but for what the functions in the table make.
 */
export function unpickle(data: Uint8Array, context: PickleContext, file: string, at = 0): [unknown, end: number] {
  try {
    const reader = new Reader(data, context, file, at);
    return [reader.run(), reader.at];
  } catch (error) {
    if (error instanceof OpError) throw error;
    throw new FileError(file, `its pickle cannot be read: ${(error as Error).message}`); // a limit of the engine
  }
}

class Reader {
  private readonly words: DataView;
  private values = 0;
  private objects = 0;
  private readonly stack: unknown[] = [];
  private readonly memo = new Map<number, unknown>();
  private readonly names = new Map<string, Name | LeftOut>();

  constructor(
    private readonly data: Uint8Array,
    private readonly context: PickleContext,
    private readonly file: string,
    public at: number,
  ) {
    this.words = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  private fail(problem: string): FileError {
    return new FileError(this.file, `its pickle is damaged at byte ${this.at}: ${problem}`);
  }

  private skip(n: number): number {
    const start = this.at;
    if (!(start + n <= this.data.length))
      throw this.fail(`${n} bytes are announced, ${this.data.length - start} are left`);
    this.at += n;
    return start;
  }
  private u8(): number {
    return this.words.getUint8(this.skip(1));
  }
  private u32(): number {
    return this.words.getUint32(this.skip(4), true);
  }
  private u64(): number {
    return Number(this.words.getBigUint64(this.skip(8), true));
  }
  private take(n: number): Uint8Array {
    const start = this.skip(n);
    return this.data.slice(start, start + n);
  }
  private text(n: number): string {
    const start = this.skip(n);
    return new TextDecoder().decode(this.data.subarray(start, start + n));
  }
  private line(): string {
    const end = this.data.indexOf(10, this.at);
    if (end < 0) throw this.fail("a line does not end");
    const start = this.at;
    this.at = end + 1;
    return new TextDecoder().decode(this.data.subarray(start, end));
  }
  /** A whole number in two's complement. */
  private long(n: number): number | bigint {
    const start = this.skip(n);
    if (n > 1024) throw this.fail(`a whole number of ${n} bytes`);
    let value = 0n;
    for (let i = n - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.data[start + i]!);
    if (n && this.data[start + n - 1]! & 0x80) value -= 1n << BigInt(8 * n);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  private push(value: unknown): void {
    if (++this.values > MOST_VALUES) throw this.fail(`it has more than ${MOST_VALUES} values, the most that are read`);
    if (typeof value === "object" && value !== null) this.count();
    this.stack.push(value);
  }
  private count(): void {
    if (++this.objects > MOST_OBJECTS)
      throw this.fail(`it has more than ${MOST_OBJECTS} objects, the most that are read`);
  }
  private keep(key: number): void {
    this.count();
    this.memo.set(key, this.top());
  }
  private pop(): unknown {
    if (!this.stack.length || this.stack[this.stack.length - 1] === MARK) throw this.fail("a value is missing");
    return this.stack.pop();
  }
  private top(): unknown {
    const value = this.pop();
    this.stack.push(value);
    return value;
  }
  /** All above the last mark, which goes too. */
  private popMark(): unknown[] {
    const mark = this.stack.lastIndexOf(MARK);
    if (mark < 0) throw this.fail("a mark is missing");
    const items = this.stack.splice(mark);
    items.shift();
    return items;
  }
  private popMany(n: number): unknown[] {
    return Array.from({ length: n }, () => this.pop()).reverse();
  }
  private recall(key: number): void {
    if (!this.memo.has(key)) throw this.fail(`nothing was kept as ${key}`);
    this.push(this.memo.get(key));
  }

  private name(module: string, name: string): Name | LeftOut {
    const text = `${module}.${name}`;
    let found = this.names.get(text);
    if (!found) {
      const known = this.context.find(module, name);
      this.names.set(text, (found = known instanceof LeftOut ? known : new Name(text, known)));
    }
    return found;
  }
  private reduce(): void {
    const args = this.pop(),
      name = this.pop();
    if (name instanceof LeftOut) return this.push(name);
    if (!(name instanceof Name) || !Array.isArray(args)) throw this.fail("something is called that is no function");
    if (!name.known.call) throw new FileError(this.file, `${name.text} is called in its pickle, which is refused`);
    const value = name.known.call(args);
    if (typeof value === "object" && value !== null) made.set(value, name);
    this.push(value);
  }
  private build(): void {
    const state = this.pop(),
      object = this.top();
    if (object instanceof LeftOut) return;
    const name = typeof object === "object" && object !== null ? made.get(object) : undefined;
    if (!name?.known.set)
      throw new FileError(
        this.file,
        `its pickle gives a state to ${name ? `a ${name.text}` : "a plain value"}, which is refused`,
      );
    name.known.set(object, state);
  }
  private setItems(items: readonly unknown[]): void {
    const target = this.top();
    if (target instanceof LeftOut) return;
    if (!(target instanceof Map) || items.length % 2)
      throw this.fail("items are given to something that is no dictionary");
    for (let i = 0; i < items.length; i += 2) target.set(items[i], items[i + 1]);
  }
  private append(items: readonly unknown[]): void {
    const target = this.top();
    if (target instanceof LeftOut) return;
    if (!Array.isArray(target)) throw this.fail("items are given to something that is no list");
    for (const item of items) target.push(item);
  }
  private addAll(items: readonly unknown[]): void {
    const target = this.top();
    if (target instanceof LeftOut) return;
    if (!(target instanceof Set)) throw this.fail("items are given to something that is no set");
    for (const item of items) target.add(item);
  }

  run(): unknown {
    for (;;) {
      const code = this.u8();
      if (code === 0x2e) return this.pop(); // STOP
      this.step(code);
    }
  }

  private step(code: number): void {
    switch (code) {
      case 0x80: {
        const protocol = this.u8();
        if (protocol < 2 || protocol > 5) throw this.fail(`protocol ${protocol}; 2 to 5 are read`);
        break;
      }
      case 0x95:
        this.skip(8);
        break; // FRAME: only its length
      case 0x28:
        this.push(MARK);
        break;
      case 0x30:
        this.stack.pop();
        break; // POP
      case 0x31:
        this.popMark();
        break;
      case 0x32:
        this.push(this.top());
        break; // DUP
      case 0x4e:
        this.push(null);
        break;
      case 0x88:
        this.push(true);
        break;
      case 0x89:
        this.push(false);
        break;
      case 0x4a:
        this.push(this.words.getInt32(this.skip(4), true));
        break; // BININT
      case 0x4b:
        this.push(this.u8());
        break;
      case 0x4d:
        this.push(this.words.getUint16(this.skip(2), true));
        break;
      case 0x8a:
        this.push(this.long(this.u8()));
        break; // LONG1
      case 0x8b:
        this.push(this.long(this.u32()));
        break;
      case 0x47:
        this.push(this.words.getFloat64(this.skip(8)));
        break; // BINFLOAT, the one number that is big-endian
      case 0x58:
        this.push(this.text(this.u32()));
        break; // BINUNICODE
      case 0x8c:
        this.push(this.text(this.u8()));
        break;
      case 0x8d:
        this.push(this.text(this.u64()));
        break;
      case 0x42:
        this.push(this.take(this.u32()));
        break; // BINBYTES
      case 0x43:
        this.push(this.take(this.u8()));
        break;
      case 0x8e:
      case 0x96:
        this.push(this.take(this.u64()));
        break; // BINBYTES8, BYTEARRAY8
      case 0x5d:
        this.push([]);
        break; // lists and tuples
      case 0x29:
        this.push([]);
        break;
      case 0x61: {
        const item = this.pop();
        this.append([item]);
        break;
      }
      case 0x65:
        this.append(this.popMark());
        break;
      case 0x6c:
      case 0x74:
        this.push(this.popMark());
        break;
      case 0x85:
        this.push(this.popMany(1));
        break;
      case 0x86:
        this.push(this.popMany(2));
        break;
      case 0x87:
        this.push(this.popMany(3));
        break;
      case 0x7d:
        this.push(new Map());
        break; // dictionaries
      case 0x64: {
        const items = this.popMark();
        this.push(new Map());
        this.setItems(items);
        break;
      }
      case 0x73: {
        const items = this.popMany(2);
        this.setItems(items);
        break;
      }
      case 0x75:
        this.setItems(this.popMark());
        break;
      case 0x8f:
        this.push(new Set());
        break; // sets
      case 0x90:
        this.addAll(this.popMark());
        break;
      case 0x91:
        this.push(new Set(this.popMark()));
        break;
      case 0x71:
        this.keep(this.u8());
        break; // BINPUT
      case 0x72:
        this.keep(this.u32());
        break;
      case 0x94:
        this.keep(this.memo.size);
        break; // MEMOIZE
      case 0x68:
        this.recall(this.u8());
        break;
      case 0x6a:
        this.recall(this.u32());
        break;
      case 0x63: {
        const module = this.line();
        this.push(this.name(module, this.line()));
        break;
      } // GLOBAL
      case 0x93: {
        // STACK_GLOBAL
        const [module, name] = this.popMany(2);
        if (typeof module !== "string" || typeof name !== "string") throw this.fail("a name is no text");
        this.push(this.name(module, name));
        break;
      }
      case 0x52:
      case 0x81:
        this.reduce();
        break; // REDUCE, NEWOBJ
      case 0x92: {
        // NEWOBJ_EX: arguments by name, which nothing known takes
        const [type] = this.popMany(3);
        if (!(type instanceof LeftOut)) throw this.fail("arguments by name");
        this.push(type);
        break;
      }
      case 0x62:
        this.build();
        break;
      case 0x51:
        this.push(this.context.persistent(this.pop()));
        break; // BINPERSID
      default:
        this.at--;
        throw this.fail(`the instruction 0x${code.toString(16).padStart(2, "0")}, which is not read`);
    }
  }
}
