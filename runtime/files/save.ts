// torch.save: PyTorch's checkpoints, zip archives with a pickle and, beside it, the memory of tensors, which
// torch.load(f, weights_only=True) reads in Python; and safetensors, where the file is called so.

import { type DType, isFloat } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { contiguousStrides, sameShape } from "../base/shape.js";
import { readStored } from "../tensor/read.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { STORAGES } from "./checkpoint-names.js";
import { Counter } from "./counter.js";
import { keysOf } from "./keys.js";
import { FILE_TYPES, encode } from "./number-formats.js";
import { Call, Global, Reference, Tuple, pickle } from "./pickle-writer.js";
import { type SaveOptions, floatType, pieces } from "./safetensors.js";
import { type Target, bytesOf, writeTo } from "./target.js";
import { zipped } from "./zip-writer.js";

/**
 * Writes tensors, numbers, texts, bytes, lists and dictionaries of them, such as
 * `{ model: model.state_dict(), optimizer: optimizer.state_dict(), epoch }`, as PyTorch writes them:
 * `torch.load(f)` reads the file in Python, and `torch.load` here.  Tensors that share memory share it in the file.
 * A file whose name ends in `.safetensors`, or for which `metadata` is given, is a safetensors file instead, and `obj`
 * a dictionary of tensors.  What is written are the values at the call: training may go on before the promise settles.
 * A file that exists keeps its content until all is written, and its mode.  `f`: a path in Node, a WritableStream, or
 * the handle of a file in a page; without it the answer is the file's bytes, which `torch.load` takes.
 *
 * @param obj tensors, numbers, texts, bytes, null, and lists and dictionaries of them
 *
 * @example
 * const model = torch.nn.Linear(2, 1), bytes = await torch.save(model.state_dict());
 * Object.keys(await torch.load(bytes))  // ["weight", "bias"]
 */
export function save(obj: unknown, f: Target, options?: SaveOptions): Promise<void>;
export function save(obj: unknown, options?: SaveOptions): Promise<Uint8Array<ArrayBuffer>>;
export async function save(...args: unknown[]): Promise<void | Uint8Array<ArrayBuffer>> {
  const [obj, f, options] = taken("save obj{} f? | metadata dtype", args) as [unknown, Target | null, SaveOptions];
  const write = (parts: AsyncIterable<Uint8Array>) =>
    (f ?? null) === null ? bytesOf(parts) : writeTo(f!, parts, "save");
  const named: unknown = typeof f === "object" && f !== null && "name" in f ? f.name : f,
    plain = typeof named === "string" || named instanceof URL ? String(named) : "";
  if (options.metadata || plain.endsWith(".safetensors")) return write(pieces(dictionary(obj), options, "save"));
  if (typeof obj === "function" && !(obj instanceof Tensor)) dictionary(obj);
  const folder = /([^/\\]*?)(\.[^./\\]*)?$/.exec(plain)![1] || "archive";
  return write(checkpoint(obj, folder, options));
}

function dictionary(given: unknown): Readonly<Record<string, Tensor>> {
  if (given instanceof Tensor || typeof given !== "object" || given === null || Array.isArray(given)) {
    const hint =
      typeof given === "function" && "state_dict" in given
        ? "; save model.state_dict()"
        : given instanceof Tensor
          ? "; save({name: tensor}, f)"
          : "";
    throw new TypeMismatchError(
      `save: expected a dictionary of tensors, got ${typeof given === "function" && !(given instanceof Tensor) ? "a module or function" : describe(given)}${hint}`,
    );
  }
  return given as Record<string, Tensor>;
}

const STORAGE_OF: ReadonlyMap<string, string> = new Map(Object.entries(STORAGES).map(([name, dtype]) => [dtype, name]));
const ORDERED = new Global("collections", "OrderedDict"),
  COUNTER = new Global("collections", "Counter"),
  TYPED = new Global("torch._utils", "_rebuild_tensor_v2"),
  UNTYPED = new Global("torch._utils", "_rebuild_tensor_v3");

/** The memory of some tensors, as the file will hold it. */
interface Memory {
  readonly dtype: DType;
  readonly reference: Reference;
  /** The type that the reference does not say. */
  readonly type: Global | null;
  readonly data: Promise<Uint8Array>;
}

/** The pieces of a checkpoint with this object as it is now. */
function checkpoint(obj: unknown, folder: string, options: SaveOptions): AsyncIterable<Uint8Array> {
  const wanted = floatType(options.dtype, "save"),
    // of a storage as real numbers, and as complex ones
    memories = [new Map<Storage, Memory>(), new Map<Storage, Memory>()] as const,
    written: Memory[] = [];
  const memoryOf = (x: Tensor): Memory => {
    const complex = Number(x.dtype === "complex64"),
      found = memories[complex]!.get(x.storage);
    if (found) {
      if (found.dtype === x.dtype) return found;
      throw new OpError(
        `save: tensors of ${found.dtype} and of ${x.dtype} share memory; a file holds memory as one type: clone one of them`,
      );
    }
    const { dtype, storage } = x,
      length = storage.length / (complex + 1),
      as = wanted && isFloat(dtype) ? wanted : dtype,
      // every element of the memory, in its order
      alone = x.offset === 0 && x.numel() === length && sameShape(x.strides, contiguousStrides(x.shape)),
      elements = readStored(alone ? x : new Tensor(storage, dtype, [length], [1], 0), "save"),
      typed = STORAGE_OF.get(as),
      kind = typed ? new Global("torch", typed) : new Global("torch.storage", "UntypedStorage"),
      size = typed ? length : length * FILE_TYPES[as]!.bytes,
      memory = {
        dtype,
        reference: new Reference(new Tuple("storage", kind, String(written.length), "cpu", size)),
        type: typed ? null : new Global("torch", as),
        data: elements.then((values) => encode(values, dtype, as)),
      };
    memory.data.catch(() => undefined); // whoever takes the pieces reports it
    memories[complex]!.set(storage, memory);
    written.push(memory);
    return memory;
  };
  const replaced = (value: object, path: string): unknown => {
    if (!(value instanceof Tensor)) {
      if (typeof value === "function" && "state_dict" in value)
        throw new TypeMismatchError(`save: obj${path} is a module; save its state_dict()`);
      if (!(value instanceof Counter)) return undefined;
      return new Call(COUNTER, new Map(Object.entries(value).map(([n, times]) => [Number(n), times])));
    }
    value.check("save");
    const { offset, shape, strides } = value,
      { reference, type } = memoryOf(value);
    return new Call(
      type ? UNTYPED : TYPED,
      ...[reference, offset, new Tuple(...shape), new Tuple(...strides), value.requires_grad, new Call(ORDERED)],
      ...(type ? [type] : []),
    );
  };
  const data = pickle(obj, "save", replaced, (value) => keysOf(value) === "numbers"),
    utf8 = new TextEncoder();
  return zipped(
    (async function* (): AsyncGenerator<readonly [string, Uint8Array]> {
      yield [`${folder}/data.pkl`, data];
      yield [`${folder}/byteorder`, utf8.encode("little")];
      let key = 0;
      for (const one of memories) one.clear(); // so that no more than one is held
      for (let memory = written.shift(); memory; memory = written.shift())
        yield [`${folder}/data/${key++}`, await memory.data];
      yield [`${folder}/version`, utf8.encode("3\n")];
    })(),
  );
}
