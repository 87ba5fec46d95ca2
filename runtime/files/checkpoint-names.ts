// What the pickle of a checkpoint may name: what torch.save makes of tensors, plain containers, and NumPy's numbers and
// arrays.  Anything else is left out by name.

import { MAX_NUMEL, extent, showShape } from "../base/shape.js";
import { Complex } from "../elements/complex-number.js";
import { FileError } from "./error.js";
import { numpyNames } from "./numpy.js";
import { FILE_TYPES, type FileType } from "./number-formats.js";
import { type Known, LeftOut, Name, type PickleContext } from "./pickle.js";

export const STORAGES: Readonly<Record<string, string>> = {
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
  ComplexFloatStorage: "complex64",
};

/** Types of tensors that there are not here. */
const UNSUPPORTED = /^torch\.(\w+Storage|complex\w+|float8\w+|q\w+|bits\w+|u?int\d)$/;
const unsupported = (full: string): LeftOut =>
  new LeftOut(`it holds ${full}: tensors of this type are not supported, but ${Object.keys(FILE_TYPES).join(", ")}`);

/** Memory that tensors of a checkpoint share: a record of the archive. */
export interface Memory {
  readonly key: string;
  /** What it is, where it cannot be had. */
  readonly leftOut: LeftOut | null;
  /** Null for untyped memory, whose size counts bytes; its tensors say what they hold. */
  readonly type: FileType | null;
  readonly numel: number;
}

/** A tensor before its memory has been read. */
export class Pending {
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

const isCount = (v: unknown): v is number => typeof v === "number" && Number.isSafeInteger(v) && v >= 0;
const isCounts = (v: unknown): v is number[] => Array.isArray(v) && v.length <= 64 && v.every(isCount);

export class Context implements PickleContext {
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
    const items: Known = {
      call: ([given]) => (Array.isArray(given) && this.spend(given.length) ? new Set(given) : this.wrong("set")),
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
      ["builtins.complex", { call: ([re, im]) => new Complex(Number(re), Number(im)) }],
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
      ["collections.OrderedDict", { call: (args) => this.dictionary(args[0], "collections.OrderedDict"), set: ignore }],
      ["collections.Counter", { call: (args) => this.dictionary(args[0], "collections.Counter") }],
      // What makes its missing entries is a name, which is never called.
      ["collections.defaultdict", { call: () => new Map() }],
      ["builtins.set", items],
      ["builtins.frozenset", items],
      ["builtins.bytearray", { call: ([data, code]) => (data instanceof Uint8Array ? data : this.latin(data, code)) }],
      ...numpyNames(
        (name) => this.wrong(name),
        (n) => this.spend(n),
      ),
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

  find(module: string, name: string): Known | LeftOut {
    const full = `${module === "__builtin__" ? "builtins" : module}.${name}`,
      found = this.known.get(full);
    if (found) return found;
    if (UNSUPPORTED.test(full)) return unsupported(full);
    const hint = /^torch\.nn\.|^__main__\./.test(full) ? "; save model.state_dict() rather than the model" : "";
    return new LeftOut(
      `it holds ${full}, which is refused: only tensors and plain containers are read, and nothing in a file is ever run${hint}`,
    );
  }

  /**
   * ('storage', class, key, location, size), and before 1.6 a view, which none of its tensors had any more: memory is
   * a record of the archive, read once however often it is named.
   */
  persistent(id: unknown): Memory {
    const [kind, named, key, , numel, view] = Array.isArray(id) ? (id as unknown[]) : [];
    const leftOut = named instanceof LeftOut && /^it holds torch\.\w+Storage:/.test(named.what) ? named : null;
    const type =
      named instanceof Name && /^torch\.(storage\.Untyped|[A-Za-z0-9]+)Storage$/.test(named.text)
        ? named.text
        : leftOut && leftOut.what;
    if (kind !== "storage" || type === null || typeof key !== "string" || !isCount(numel) || (view ?? null) !== null)
      throw new FileError(this.file, "its pickle is damaged: a reference to a storage is none");
    const name = STORAGES[type.slice("torch.".length)],
      found = this.memories.get(key),
      memory = { key, leftOut, type: name ? FILE_TYPES[name]! : null, numel };
    if (found && (found.type !== memory.type || found.numel !== numel))
      throw new FileError(this.file, `its storage ${key} is described in two ways`);
    if (!found) this.memories.set(key, memory);
    return found ?? memory;
  }

  /** The memory that was asked for by a key. */
  memory(key: string): Memory | undefined {
    return this.memories.get(key);
  }

  private tensor(
    memory: unknown,
    named: unknown,
    offset: unknown,
    shape: unknown,
    strides: unknown,
    grad: unknown,
  ): Pending | LeftOut {
    if (named instanceof LeftOut) return named;
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
    const { key, leftOut, type: own, numel } = memory as Memory,
      type = own ?? typed;
    if (leftOut) return leftOut;
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
  private parameter(tensor: unknown, grad: unknown): Pending | LeftOut {
    if (tensor instanceof LeftOut) return tensor;
    if (!(tensor instanceof Pending)) return this.wrong("torch._utils._rebuild_parameter");
    return new Pending(tensor.memory, tensor.type, tensor.offset, tensor.shape, tensor.strides, grad === true);
  }
  private dictionary(entries: unknown, name: string): Map<unknown, unknown> {
    if (entries === undefined) return new Map();
    // pairs, in a list, are how Python 2 wrote them
    if (Array.isArray(entries) && this.spend(entries.length) && entries.every((e) => Array.isArray(e)))
      return new Map(entries as [unknown, unknown][]);
    return entries instanceof Map ? entries : this.wrong(name);
  }
  /** How protocol 2 writes bytes. */
  private latin(text: unknown, code: unknown): Uint8Array {
    if (typeof text !== "string" || !/^latin-?1$/.test(String(code)) || !this.spend(text.length))
      return this.wrong("_codecs.encode");
    return Uint8Array.from(text, (c) => (c.charCodeAt(0) < 256 ? c.charCodeAt(0) : this.wrong("_codecs.encode")));
  }
}
