// torch.load: PyTorch's checkpoints, safetensors and JSON of tensors are read.

import { tensor, type TensorData } from "../creation/create.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { readCheckpoint } from "./checkpoint.js";
import { FileError, bytes } from "./error.js";
import { OLD, readOldCheckpoint } from "./old-checkpoint.js";
import { isParts, ofParts, parseJson } from "./parts.js";
import { LOADING, type LoadOptions, type Destination, destination } from "./destination.js";
import { byName, readTensors } from "./safetensors.js";
import { Loading } from "./progress.js";
import { type FileLike, type Source, inOrder, openSource } from "./source.js";

export interface TorchLoadOptions extends LoadOptions {
  /** As in PyTorch; only `true` is possible, for nothing in a file is ever run. */
  weights_only?: boolean;
  /** Whether the file is to be mapped into memory, which Node cannot: it is read instead, default false. */
  mmap?: boolean;
  /** Python's, not taken, default null. */
  pickle_module?: unknown;
}

/**
 * What a file holds: the object of a checkpoint of PyTorch (`.pt`, `.pth`), or the tensors of a
 * safetensors file by name.  The content decides, not the name.  Dictionaries become objects, tuples lists, arrays of
 * NumPy tensors; tensors that share memory in the file share it here.  They are
 * on the CPU unless `map_location` says otherwise.  What there is not here (other classes, whole
 * numbers that do not fit) is left out, and `console.warn` names it; a file of nothing else is refused.  In TypeScript
 * `load<{epoch: number}>(f)` says what is expected; nothing checks it.
 *
 * @example
 * const bytes = await torch.save({ epoch: 3, weight: torch.tensor([1, 2]) });
 * await torch.load(bytes)  // { epoch: 3, weight: [1, 2] }
 */
export async function load<T = unknown>(f: FileLike, options?: TorchLoadOptions): Promise<T>;
export async function load(...args: unknown[]): Promise<unknown> {
  const [f, map_location, , given] = taken(`load f map_location? pickle_module? | weights_only mmap ${LOADING}`, args);
  return contentOf(f as FileLike, { map_location, ...given }, "load");
}

/** The same for `op`, which was called. */
export async function contentOf(f: FileLike, options: TorchLoadOptions, op: string): Promise<unknown> {
  if (options.weights_only === false)
    throw new OpError(
      `${op}: weights_only=False is not possible: only tensors and plain containers are read, and nothing in a file is ever run`,
    );
  const place = destination(options, op),
    bar = new Loading(options.progress),
    source = await openSource(f, { ...options, progress: bar.file() }, op);
  try {
    const content = await read(source, place);
    bar.done(source.size);
    return content;
  } finally {
    await source.close();
  }
}

async function read(source: Source, place: Destination): Promise<unknown> {
  const first = await source.read(0, Math.min(10, source.size)),
    start = String.fromCharCode(...first);
  if (start.startsWith("PK")) return readCheckpoint(source, place);
  if (start[7] === "\0" && start[8] === "{") {
    // the length of a header is short of five bytes, and JSON has no zeros
    return byName(readTensors(inOrder(source), place));
  }
  if (start.startsWith("{")) return readJson(source, place);
  if (start.startsWith(OLD)) return readOldCheckpoint(source, place);
  const shown = Array.from(first, (b) => b.toString(16).padStart(2, "0")).join(" ");
  throw new FileError(
    source.name,
    `it is neither a checkpoint of PyTorch (a zip archive) nor a safetensors file: its ${bytes(source.size)} begin with ${shown || "nothing"}`,
  );
}

/** How deep JSON may be nested: the axes of a tensor, its name and its parts. */
const DEEPEST = 66;

/** JSON of tensors by name: nested arrays, or {shape, data}. */
async function readJson(source: Source, place: Destination): Promise<Record<string, Tensor>> {
  const text = await source.read(0, source.size),
    { device, dtype } = place;
  const toTensor = (value: unknown): Tensor => {
    if (isParts(value, "load")) return ofParts(value, { device, dtype: dtype ?? "float32" });
    if (!Array.isArray(value) && typeof value !== "number" && typeof value !== "boolean")
      throw new TypeMismatchError(`load: expected {shape, data} or lists of numbers, got ${describe(value)}`);
    return tensor(value as TensorData, { device, dtype });
  };
  try {
    return Object.fromEntries(
      Object.entries(parseJson(text, DEEPEST) as object).map(([name, value]) => [name, toTensor(value)]),
    );
  } catch (error) {
    throw new FileError(source.name, `it begins as JSON, but holds no tensors by name: ${(error as Error).message}`);
  }
}
