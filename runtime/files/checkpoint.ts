// PyTorch's checkpoints: zip archives with a pickle of containers and, beside it, the memory of their tensors.  What a
// pickle may name is the table below, which is what torch.save makes of tensors and plain containers; everything else
// is refused by name.

import type { Elements } from "../program/compiled-op.js";
import type { DType } from "../elements/dtype.js";
import { MAX_NUMEL, extent, frozen, showShape } from "../base/shape.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { FILE_TYPES, type FileType, decode } from "./number-formats.js";
import { FileError, bytes } from "./error.js";
import { type Known, Name, type PickleContext, unpickle } from "./pickle.js";
import { type Placing, upload } from "./destination.js";
import type { Source } from "./source.js";
import { type ZipEntry, readContent, readDirectory } from "./zip.js";

const STORAGES: Readonly<Record<string, string>> = {
  DoubleStorage: "float64",
  FloatStorage: "float32",
  HalfStorage: "float16",
  BFloat16Storage: "bfloat16",
  LongStorage: "int64",
  IntStorage: "int32",
  ShortStorage: "int16",
  CharStorage: "int8",
  ByteStorage: "uint8",
  BoolStorage: "bool",
};

/** The most that a deflated pickle may have; torch.save deflates none. */
const MOST_PICKLE = 2 ** 26;

/** Memory that tensors of a checkpoint share: a record of the archive. */
interface Memory {
  readonly key: string;
  /** Null for untyped memory, whose size counts bytes; its tensors say what they hold. */
  readonly type: FileType | null;
  readonly numel: number;
}

/** A tensor before its memory has been read. */
class Pending {
  readonly memory: Memory;
  readonly type: FileType;
  readonly offset: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly requiresGrad: boolean;

  constructor(
    memory: Memory,
    type: FileType,
    offset: number,
    shape: readonly number[],
    strides: readonly number[],
    requiresGrad: boolean,
  ) {
    this.memory = memory;
    this.type = type;
    this.offset = offset;
    this.shape = shape;
    this.strides = strides;
    this.requiresGrad = requiresGrad;
  }
}

/** The object that a checkpoint holds; `entries` are the archive's. */
export async function readCheckpoint(source: Source, place: Placing): Promise<unknown> {
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
  const value = unpickle(pickle, new Context(source.name, pickle.length), source.name);
  return new Builder(source, place, entries, root).build(value);
}

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

// --- What a pickle may name -----------------------------------------------------------------------

const isCount = (v: unknown): v is number => typeof v === "number" && Number.isSafeInteger(v) && v >= 0;
const isCounts = (v: unknown): v is number[] => Array.isArray(v) && v.length <= 64 && v.every(isCount);

class Context implements PickleContext {
  private readonly file: string;
  /** How many more bytes and items the functions of the table may make: as many as the pickle has. */
  private room: number;
  private readonly known: ReadonlyMap<string, Known>;
  private readonly memories = new Map<string, Memory>();

  constructor(file: string, room: number) {
    this.file = file;
    this.room = room;
    const ignore = (): void => undefined;
    const tensorV2: Known = {
      call: ([memory, offset, shape, strides, grad]) => this.tensor(memory, null, offset, shape, strides, grad),
    };
    const parameter: Known = { call: ([tensor, grad]) => this.parameter(tensor, grad) };
    const types = Object.keys(FILE_TYPES).map((name): [string, Known] => [`torch.${name}`, {}]);
    const storages = Object.keys(STORAGES).map((name): [string, Known] => [`torch.${name}`, {}]);
    this.known = new Map<string, Known>([
      ...types,
      ...storages,
      ["torch.storage.UntypedStorage", {}],
      ["torch._utils._rebuild_tensor_v2", tensorV2],
      [
        "torch._utils._rebuild_tensor_v3",
        {
          call: ([memory, offset, shape, strides, grad, , type]) =>
            this.tensor(memory, type, offset, shape, strides, grad),
        },
      ],
      ["torch._utils._rebuild_parameter", parameter],
      ["torch._utils._rebuild_parameter_with_state", parameter],
      ["torch.Size", { call: ([sizes]) => (isCounts(sizes) ? sizes : this.wrong("torch.Size")) }],
      [
        "torch.device",
        {
          call: ([type, index]) =>
            typeof type === "string" ? (isCount(index) ? `${type}:${index}` : type) : this.wrong("torch.device"),
        },
      ],
      // state_dict() hangs its versions on the dictionary.
      [
        "collections.OrderedDict",
        { call: (args) => (args.length ? this.wrong("collections.OrderedDict") : new Map()), set: ignore },
      ],
      [
        "builtins.set",
        { call: ([items]) => (Array.isArray(items) && this.spend(items.length) ? new Set(items) : this.wrong("set")) },
      ],
      ["_codecs.encode", { call: ([text, code]) => this.latin(text, code) }],
    ]);
  }

  private wrong(name: string): never {
    throw new FileError(
      this.file,
      `its pickle is damaged: ${name} is called with other arguments than torch.save writes`,
    );
  }
  private spend(n: number): true {
    this.room -= n;
    if (this.room < 0) throw new FileError(this.file, "its pickle is damaged: it makes more than it holds");
    return true;
  }

  find(module: string, name: string): Known {
    const full = `${module === "__builtin__" ? "builtins" : module}.${name}`,
      found = this.known.get(full);
    if (found) return found;
    if (/^torch\.(\w+Storage|complex\w+|float8\w+|q\w+|bits\w+|u?int\d)$/.test(full)) {
      throw new FileError(
        this.file,
        `it holds ${full}: tensors of this type are not supported, but ${Object.keys(FILE_TYPES).join(", ")}`,
      );
    }
    const hint = /^torch\.nn\.|^__main__\./.test(full) ? "; save model.state_dict() rather than the model" : "";
    throw new FileError(
      this.file,
      `it holds ${full}, which is refused: only tensors and plain containers are read, and nothing in a file is ever run${hint}`,
    );
  }

  /**
   * ('storage', class, key, location, size): memory is a record of the archive, read once however often it is named.
   */
  persistent(id: unknown): Memory {
    const [kind, named, key, , numel] = Array.isArray(id) ? (id as unknown[]) : [];
    const type =
      named instanceof Name && /^torch\.(storage\.Untyped|[A-Za-z0-9]+)Storage$/.test(named.text) ? named.text : null;
    if (kind !== "storage" || type === null || typeof key !== "string" || !isCount(numel))
      throw new FileError(this.file, "its pickle is damaged: a reference to a storage is none");
    const name = STORAGES[type.slice("torch.".length)],
      found = this.memories.get(key),
      memory = { key, type: name ? FILE_TYPES[name]! : null, numel };
    if (found && (found.type !== memory.type || found.numel !== numel))
      throw new FileError(this.file, `its storage ${key} is described in two ways`);
    if (!found) this.memories.set(key, memory);
    return found ?? memory;
  }

  private tensor(
    memory: unknown,
    named: unknown,
    offset: unknown,
    shape: unknown,
    strides: unknown,
    grad: unknown,
  ): Pending {
    const typed =
      named instanceof Name && named.text.startsWith("torch.")
        ? FILE_TYPES[named.text.slice("torch.".length)]
        : undefined;
    if (
      memory === null ||
      typeof memory !== "object" ||
      !("numel" in memory) ||
      !isCount(offset) ||
      !isCounts(shape) ||
      !isCounts(strides) ||
      shape.length !== strides.length
    ) {
      return this.wrong("a tensor's constructor");
    }
    const { key, type: own, numel } = memory as Memory,
      type = own ?? typed;
    if (!type || (own && typed && own !== typed)) return this.wrong("a tensor's constructor");
    const length = own ? numel : Math.floor(numel / type.bytes),
      count = shape.reduce((n, m) => n * m, 1),
      needed = count === 0 ? 0 : offset + extent(shape, strides);
    if (!(needed <= length)) {
      throw new FileError(
        this.file,
        `a tensor of size ${showShape(shape)}, strides ${showShape(strides)} and offset ${offset} takes ${needed} elements, but its storage ${key} has ${length}`,
      );
    }
    if (!(count <= MAX_NUMEL && length <= MAX_NUMEL))
      throw new FileError(
        this.file,
        `a tensor of size ${showShape(shape)} in a storage of ${length} elements: at most ${MAX_NUMEL} are supported`,
      );
    return new Pending(memory as Memory, type, count === 0 ? 0 : offset, shape, strides, grad === true);
  }
  private parameter(tensor: unknown, grad: unknown): Pending {
    if (!(tensor instanceof Pending)) return this.wrong("torch._utils._rebuild_parameter");
    return new Pending(tensor.memory, tensor.type, tensor.offset, tensor.shape, tensor.strides, grad === true);
  }
  /** How protocol 2 writes bytes. */
  private latin(text: unknown, code: unknown): Uint8Array {
    if (typeof text !== "string" || code !== "latin1" || !this.spend(text.length)) return this.wrong("_codecs.encode");
    return Uint8Array.from(text, (c) => (c.charCodeAt(0) < 256 ? c.charCodeAt(0) : this.wrong("_codecs.encode")));
  }
}

// --- What the program gets ------------------------------------------------------------------------

const DEEPEST = 500;

class Builder {
  private readonly source: Source;
  private readonly place: Placing;
  private readonly entries: ReadonlyMap<string, ZipEntry>;
  private readonly root: string;
  private readonly pending = new Set<Pending>();
  private readonly tensors = new Map<Pending, Tensor>();
  private readonly done = new Map<unknown, unknown>();

  constructor(source: Source, place: Placing, entries: ReadonlyMap<string, ZipEntry>, root: string) {
    this.source = source;
    this.place = place;
    this.entries = entries;
    this.root = root;
  }

  async build(value: unknown): Promise<unknown> {
    this.collect(value, new Set(), 0);
    const memories = new Map<string, { storage: Storage; dtype: DType; type: FileType }>();
    for (const wait of this.pending) {
      let memory = memories.get(wait.memory.key);
      if (!memory) memories.set(wait.memory.key, (memory = await this.read(wait)));
      if (memory.type !== wait.type)
        throw new FileError(
          this.source.name,
          `its storage ${wait.memory.key} holds tensors of ${memory.type.name} and of ${wait.type.name}, which cannot share memory here`,
        );
      const tensor = new Tensor(memory.storage, memory.dtype, frozen(wait.shape), frozen(wait.strides), wait.offset);
      this.tensors.set(wait, wait.requiresGrad ? tensor.requires_grad_() : tensor);
    }
    return this.plain(value);
  }

  /** Finds the tensors, each once. */
  private collect(value: unknown, seen: Set<unknown>, depth: number): void {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    if (depth > DEEPEST) throw new FileError(this.source.name, `its containers are nested more than ${DEEPEST} deep`);
    seen.add(value);
    if (value instanceof Pending) this.pending.add(value);
    else if (value instanceof Map) {
      for (const [key, item] of value) {
        this.collect(key, seen, depth + 1);
        this.collect(item, seen, depth + 1);
      }
    } else if (Array.isArray(value) || value instanceof Set)
      for (const item of value as Iterable<unknown>) this.collect(item, seen, depth + 1);
  }

  private async read({ memory, type }: Pending): Promise<{ storage: Storage; dtype: DType; type: FileType }> {
    const name = `${this.root}data/${memory.key}`,
      entry = this.entries.get(name),
      size = memory.type ? memory.numel * memory.type.bytes : memory.numel;
    if (!entry) throw new FileError(this.source.name, `the entry ${name} is missing, which its pickle names`);
    const what = memory.type ? `${memory.numel} elements of ${type.name}` : "its storage";
    if (entry.size !== size || size % type.bytes)
      throw new FileError(this.source.name, `the entry ${name} holds ${bytes(entry.size)}, but ${what} take ${size}`);
    const { elements, dtype }: { elements: Elements; dtype: DType } = decode(
      await readContent(this.source, entry),
      type,
      this.place.dtype,
      this.source.name,
      name,
    );
    return { storage: upload(elements, dtype, this.place, this.source.name, name), dtype, type };
  }

  /** Dictionaries of texts and whole numbers become objects, others Maps; what occurs twice is made once. */
  private plain(value: unknown): unknown {
    if (value instanceof Name) return value.text.replace(/^torch\./, "");
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
    if (value instanceof Pending) return this.tensors.get(value);
    if (this.done.has(value)) return this.done.get(value);
    if (value instanceof Map) return this.dictionary(value);
    const out: unknown[] = [];
    if (value instanceof Set) {
      const set = new Set<unknown>();
      this.done.set(value, set);
      for (const item of value) set.add(this.plain(item));
      return set;
    }
    if (!Array.isArray(value))
      throw new FileError(this.source.name, "its pickle is damaged: it holds a storage outside of a tensor");
    this.done.set(value, out);
    for (const item of value as unknown[]) out.push(this.plain(item));
    return out;
  }

  private dictionary(from: Map<unknown, unknown>): unknown {
    const keys = [...from.keys()];
    const simple =
      keys.every((k) => typeof k === "string" || (typeof k === "number" && Number.isInteger(k))) &&
      new Set(keys.map(String)).size === keys.length;
    const out: object = simple ? {} : new Map<unknown, unknown>();
    this.done.set(from, out);
    for (const [key, item] of from) {
      // The key first, as `collect` goes, which counted how deep this will get.
      const made = out instanceof Map ? this.plain(key) : key,
        value = this.plain(item);
      if (out instanceof Map) out.set(made, value);
      // Defined, not assigned: a key "__proto__" is one like any other.
      else Object.defineProperty(out, key as string, { value, writable: true, enumerable: true, configurable: true });
    }
    return out;
  }
}
