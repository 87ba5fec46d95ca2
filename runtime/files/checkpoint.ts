// PyTorch's checkpoints: zip archives with a pickle of containers and, beside it, the memory of their tensors.  What a
// pickle may name is checkpoint-names.ts; entries that cannot be had here are left out, with a warning.

import { Complex } from "../elements/complex-number.js";
import type { DType } from "../elements/dtype.js";
import { frozen } from "../base/shape.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { Context, Pending } from "./checkpoint-names.js";
import { rememberKeys } from "./keys.js";
import { type FileType, Misfit, decode } from "./number-formats.js";
import { FileError, bytes } from "./error.js";
import { NumpyArray } from "./numpy.js";
import { LeftOut, Name, unpickle } from "./pickle.js";
import { type Destination, makeTensor, upload } from "./destination.js";
import type { Source } from "./source.js";
import { type ZipEntry, readContent, readDirectory } from "./zip.js";

/** The most that a deflated pickle may have; torch.save deflates none. */
const MOST_PICKLE = 2 ** 26;

/** The object that a checkpoint holds; `entries` are the archive's. */
export async function readCheckpoint(source: Source, place: Destination): Promise<unknown> {
  const entries = await readDirectory(source),
    root = findRoot(entries, source.name);
  const order = entries.get(`${root}byteorder`);
  if (order) {
    const text = new TextDecoder().decode(await readContent(source, order));
    if (text !== "little")
      throw new FileError(
        source.name,
        `its numbers are in the byte order "${text.slice(0, 20)}"; only "little" is read`,
      );
  }
  const entry = entries.get(`${root}data.pkl`)!;
  if (entry.method !== 0 && entry.size > MOST_PICKLE)
    throw new FileError(
      source.name,
      `its pickle would have ${bytes(entry.size)} inflated, at most ${MOST_PICKLE} are read`,
    );
  const pickle = await readContent(source, entry);
  const [value] = unpickle(pickle, new Context(source.name, 2 * pickle.length), source.name);
  return build(value, source, place, {
    named: (key) => `the entry ${root}data/${key}`,
    size: (key) => entries.get(`${root}data/${key}`)?.size,
    read: (key) => readContent(source, entries.get(`${root}data/${key}`)!),
  });
}

/** Where a file has the memory of its tensors, by the keys that its pickle gives them. */
export interface Memories {
  /** What messages call it. */
  named(key: string): string;
  /** Its bytes; undefined where there is none. */
  size(key: string): number | undefined;
  read(key: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** What a pickle describes, with tensors in the place of what waits for their memory. */
export const build = (value: unknown, source: Source, place: Destination, memories: Memories): Promise<unknown> =>
  new Builder(source, place, memories).build(value);

/** The one folder of the archive, with its slash. */
function findRoot(entries: ReadonlyMap<string, ZipEntry>, file: string): string {
  for (const name of entries.keys()) {
    if (/^[^/]+\/(constants\.pkl|code\/.*)$/.test(name))
      throw new FileError(
        file,
        "it is a TorchScript archive (torch.jit.save), which holds a program; save model.state_dict() with torch.save instead",
      );
  }
  for (const name of entries.keys()) if (/^[^/]+\/data\.pkl$/.test(name)) return name.slice(0, -"data.pkl".length);
  const some = [...entries.keys()].slice(0, 3).join(", ");
  throw new FileError(
    file,
    `it is a zip archive, but no checkpoint of PyTorch: it has no FOLDER/data.pkl among its ${entries.size} entries${some ? ` (${some}${entries.size > 3 ? ", ..." : ""})` : ""}`,
  );
}

// --- What the program gets ------------------------------------------------------------------------

const DEEPEST = 500;

/** What `make` makes, or that numbers do not fit into the type that they have here. */
function unlessMisfit<T>(make: () => T): T | LeftOut {
  try {
    return make();
  } catch (error) {
    if (error instanceof Misfit) return new LeftOut(error.message.slice(error.file.length + 2));
    throw error;
  }
}

interface Read {
  readonly storage: Storage;
  readonly dtype: DType;
  readonly type: FileType;
}

class Builder {
  private readonly source: Source;
  private readonly place: Destination;
  private readonly memories: Memories;
  private readonly pending = new Set<Pending>();
  private readonly arrays = new Set<NumpyArray>();
  private readonly tensors = new Map<unknown, Tensor | LeftOut>();
  /** What is left out, with its places. */
  private readonly lost: { place: string; what: string }[] = [];
  private kept = 0;
  private readonly done = new Map<unknown, unknown>();

  constructor(source: Source, place: Destination, memories: Memories) {
    this.source = source;
    this.place = place;
    this.memories = memories;
  }

  async build(value: unknown): Promise<unknown> {
    this.collect(value, new Set(), 0);
    const memories = new Map<string, Read | LeftOut>();
    for (const wait of this.pending) {
      let memory = memories.get(wait.memory.key);
      if (!memory) memories.set(wait.memory.key, (memory = await this.read(wait)));
      if (memory instanceof LeftOut) {
        this.tensors.set(wait, memory);
        continue;
      }
      if (memory.type !== wait.type)
        throw new FileError(
          this.source.name,
          `its storage ${wait.memory.key} holds tensors of ${memory.type.name} and of ${wait.type.name}, which cannot share memory here`,
        );
      const tensor = new Tensor(memory.storage, memory.dtype, frozen(wait.shape), frozen(wait.strides), wait.offset);
      this.tensors.set(wait, wait.requiresGrad ? tensor.requires_grad_() : tensor);
    }
    for (const array of this.arrays) this.tensors.set(array, this.fromNumpy(array));
    const out = this.plain(value, "");
    this.tell();
    return out;
  }

  /** Throws where nothing is left; else says what is not there. */
  private tell(): void {
    const { name } = this.source,
      [first] = this.lost;
    if (!first) return;
    if (this.kept === 0) throw new FileError(name, first.what);
    const most = 20,
      shown = this.lost.slice(0, most).map(({ place, what }) => `\n  ${place}: ${what.slice(0, 300)}`);
    console.warn(
      `load: ${name}: left out, as it cannot be had here:${shown.join("")}${this.lost.length > most ? `\n  and ${this.lost.length - most} more` : ""}`,
    );
  }
  private fromNumpy({ type, shape, strides, data }: NumpyArray): Tensor | LeftOut {
    if (!type) return new LeftOut("it holds an array of NumPy of a type that tensors do not have");
    return unlessMisfit(() =>
      makeTensor(
        { data: data.slice(), type, shape, strides, offset: 0 },
        this.place,
        this.source.name,
        "an array of NumPy",
      ),
    );
  }
  /** Finds the tensors, each once. */
  private collect(value: unknown, seen: Set<unknown>, depth: number): void {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    if (depth > DEEPEST) throw new FileError(this.source.name, `its containers are nested more than ${DEEPEST} deep`);
    seen.add(value);
    if (value instanceof Pending) this.pending.add(value);
    else if (value instanceof NumpyArray) this.arrays.add(value);
    else if (value instanceof Map) {
      for (const [key, item] of value) {
        this.collect(key, seen, depth + 1);
        this.collect(item, seen, depth + 1);
      }
    } else if (Array.isArray(value) || value instanceof Set)
      for (const item of value as Iterable<unknown>) this.collect(item, seen, depth + 1);
  }

  private async read({ memory, type }: Pending): Promise<Read | LeftOut> {
    const { key } = memory,
      name = this.memories.named(key),
      held = this.memories.size(key),
      size = memory.type ? memory.numel * memory.type.bytes : memory.numel;
    if (held === undefined) throw new FileError(this.source.name, `${name} is missing, which its pickle names`);
    const what = memory.type ? `${memory.numel} elements of ${type.name}` : "its storage";
    if (held !== size || size % type.bytes)
      throw new FileError(this.source.name, `${name} holds ${bytes(held)}, but ${what} take ${size}`);
    const content = await this.memories.read(key);
    return unlessMisfit(() => {
      const { elements, dtype } = decode(content, type, this.place.dtype, this.source.name, name);
      return { storage: upload(elements, dtype, this.place, this.source.name, name), dtype, type };
    });
  }

  /**
   * Dictionaries of texts and whole numbers become objects, others Maps; what occurs twice is made once.  A LeftOut is
   * noted, with its place, by whoever has one.
   */
  private plain(value: unknown, place: string): unknown {
    if (value instanceof Name) return value.text.replace(/^torch\./, "");
    if (value instanceof Pending || value instanceof NumpyArray) value = this.tensors.get(value);
    if (value instanceof LeftOut) {
      this.lost.push({ place: place || "all of it", what: value.what });
      return value;
    }
    const single = value instanceof Uint8Array || value instanceof Tensor || value instanceof Complex;
    if (typeof value !== "object" || value === null || single) {
      this.kept++;
      return value;
    }
    if (this.done.has(value)) return this.done.get(value);
    if (value instanceof Map) return this.dictionary(value, place);
    const out: unknown[] = [];
    if (value instanceof Set) {
      const set = new Set<unknown>();
      this.done.set(value, set);
      for (const item of value) {
        const made = this.plain(item, `${place}{}`);
        if (!(made instanceof LeftOut)) set.add(made);
      }
      return set;
    }
    if (!Array.isArray(value))
      throw new FileError(this.source.name, "its pickle is damaged: it holds a storage outside of a tensor");
    this.done.set(value, out);
    (value as unknown[]).forEach((item, i) => {
      const made = this.plain(item, `${place}[${i}]`);
      out.push(made instanceof LeftOut ? null : made); // those after it keep their places
    });
    return out;
  }

  private dictionary(from: Map<unknown, unknown>, place: string): unknown {
    const keys = [...from.keys()];
    const simple =
      keys.every((k) => typeof k === "string" || (typeof k === "number" && Number.isInteger(k))) &&
      new Set(keys.map(String)).size === keys.length;
    const out: object = simple ? {} : new Map<unknown, unknown>();
    this.done.set(from, out);
    if (simple && keys.length && keys.every((k) => typeof k === typeof keys[0]))
      rememberKeys(out, typeof keys[0] === "number" ? "numbers" : "texts");
    for (const [key, item] of from) {
      // The key first, as `collect` goes, which counted how deep this will get.
      const made = out instanceof Map ? this.plain(key, `${place}{}`) : key,
        where = typeof key === "string" || typeof key === "number" ? String(key) : "{}",
        value = this.plain(item, place ? `${place}.${where}` : where);
      if (made instanceof LeftOut || value instanceof LeftOut) continue;
      if (out instanceof Map) out.set(made, value);
      // Defined, not assigned: a key "__proto__" is one like any other.
      else Object.defineProperty(out, key as string, { value, writable: true, enumerable: true, configurable: true });
    }
    return out;
  }
}
