// What lies in a .pt2 file: the graph as JSON, and its weights and constants as tensors.  Of PyTorch 2.9 and later each
// tensor is an entry of its own; before, they were checkpoints within the archive.

import { frozen, sameShape } from "../base/shape.js";
import { toDevice } from "../devices/device.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { readCheckpoint } from "../files/checkpoint.js";
import { type Destination, upload } from "../files/destination.js";
import { FileError, bytes } from "../files/error.js";
import { FILE_TYPES, decode } from "../files/number-formats.js";
import { parseJson } from "../files/parts.js";
import { type Source, openSource } from "../files/source.js";
import { type ZipEntry, readContent, readDirectory } from "../files/zip.js";
import { GraphReader, typeName } from "./graph-json.js";

/** How deep its JSON may be nested: graphs within graphs. */
const DEEPEST = 400;
/** The most that its JSON may have. */
const MOST_JSON = 2 ** 28;

export interface Archive {
  /** The program's JSON: graph_module, range_constraints, … */
  readonly program: Readonly<Record<string, unknown>>;
  readonly torchVersion: string;
  /** Parameters, buffers and constants by name. */
  readonly tensors: ReadonlyMap<string, Tensor>;
}

type Entries = ReadonlyMap<string, ZipEntry>;
type Json = Readonly<Record<string, unknown>>;

/** Texts, and numbers that Python writes though JSON has none of them, as PyTorch did before 2.7. */
const NO_JSON = /"(?:[^"\\]+|\\.)*"?|-?\b(?:NaN|Infinity)\b/gs;

/** The JSON of a file; infinities and NaN are texts in it. */
function parsed(content: Uint8Array): unknown {
  try {
    return parseJson(content, DEEPEST);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const text = new TextDecoder().decode(content);
    return JSON.parse(text.replace(NO_JSON, (token) => (token.startsWith('"') ? token : `"${token}"`)));
  }
}

async function json(source: Source, entry: ZipEntry): Promise<Json> {
  if (!(entry.size <= MOST_JSON))
    throw new FileError(
      source.name,
      `its ${entry.name} would have ${bytes(entry.size)}, at most ${MOST_JSON} are read`,
    );
  const value = await readContent(source, entry);
  try {
    return new GraphReader(source.name).object(parsed(value), entry.name);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(source.name, `its ${entry.name} is no JSON: ${(error as Error).message}`);
  }
}

/** Reads an archive; `model` is the name of one of several models within it. */
export async function readArchive(source: Source, place: Destination, model = "model"): Promise<Archive> {
  const entries = await readDirectory(source),
    old = entries.get("serialized_exported_program.json");
  if (old) return readOld(source, entries, old, place);
  const found = [...entries.keys()]
      .map((name) => /^(?:[^/]+\/)?models\/([^/]+)\.json$/.exec(name))
      .filter((m) => m !== null),
    match = found.find((m) => m[1] === model) ?? (found.length === 1 ? found[0] : undefined);
  if (!match) {
    if ([...entries.keys()].some((name) => /(^|\/)data\.pkl$/.test(name)))
      throw new FileError(
        source.name,
        "it is a checkpoint of torch.save, not of torch.export.save; torch.load reads it",
      );
    throw new FileError(
      source.name,
      found.length > 0
        ? `it holds no model "${model}", but ${found.map((m) => m[1]).join(", ")}`
        : "it is a zip archive, but none of torch.export.save: it has no models/NAME.json",
    );
  }
  const root = match[0].slice(0, match[0].length - `models/${match[1]}.json`.length),
    program = await json(source, entries.get(match[0])!),
    tensors = new Map<string, Tensor>();
  for (const kind of ["weights", "constants"]) {
    const folder = `${root}data/${kind}/`,
      config = `${folder}${match[1]}_${kind}_config.json`,
      entry = entries.get(config),
      checkpoint = entries.get(`${folder}${match[1]}.pt`); // of PyTorch 2.8
    if (entry)
      await readTensors(source, entries, await json(source, entry), folder, place, tensors, kind === "constants");
    else if (checkpoint) await readInner(source, checkpoint, place, tensors);
    else throw new FileError(source.name, `its ${config} is missing`);
  }
  return { program, torchVersion: String(program["torch_version"] ?? "unknown"), tensors };
}

/** The tensors that a list names; those of one entry share its memory.  `fixed`: they are constants, of which those of
 *  float64 stay on the CPU where a GPU is asked for, as what is computed of them does (wide-values.ts). */
async function readTensors(
  source: Source,
  entries: Entries,
  config: Json,
  folder: string,
  place: Destination,
  into: Map<string, Tensor>,
  fixed: boolean,
): Promise<void> {
  const reader = new GraphReader(source.name),
    memories = new Map<string, { storage: Storage; dtype: Tensor["dtype"]; type: string }>();
  for (const [name, value] of Object.entries(reader.object(config["config"], folder))) {
    const item = reader.object(value, name),
      path = folder + reader.text(item["path_name"], name);
    if (item["use_pickle"] === true || item["tensor_meta"] === null || item["tensor_meta"] === undefined)
      throw new FileError(source.name, `${name} is kept as a pickle (${path}), which is not read`);
    const meta = reader.object(item["tensor_meta"], name),
      type = typeName(meta["dtype"]),
      kind = FILE_TYPES[type];
    if (!kind) throw new FileError(source.name, `${name} is of the type ${type}, which there is not here`);
    const entry = entries.get(path);
    if (!entry) throw new FileError(source.name, `${name} is said to lie in ${path}, which is missing`);
    let memory = memories.get(path);
    if (!memory) {
      const data = await readContent(source, entry);
      if (data.length % kind.bytes !== 0)
        throw new FileError(source.name, `${path} has ${bytes(data.length)}, no whole number of ${type}`);
      const { elements, dtype } = decode(data, kind, place.dtype, source.name, name);
      const where = fixed && dtype === "float64" ? { ...place, device: toDevice("cpu", "load") } : place;
      memories.set(path, (memory = { storage: upload(elements, dtype, where, source.name, name), dtype, type }));
    }
    if (memory.type !== type)
      throw new FileError(
        source.name,
        `${path} holds tensors of ${memory.type} and of ${type}, which cannot share memory`,
      );
    // tied weights are one tensor
    const tensor = laid(memory.storage, memory.dtype, meta, reader, name),
      same = [...into.values()].find((t) => t.storage === tensor.storage && sameLayout(t, tensor));
    into.set(name, same ?? tensor);
  }
}

const sameLayout = (a: Tensor, b: Tensor): boolean =>
  a.offset === b.offset && sameShape(a.shape, b.shape) && sameShape(a.strides, b.strides);

function laid(storage: Storage, dtype: Tensor["dtype"], meta: Json, reader: GraphReader, name: string): Tensor {
  const ints = (key: string): number[] =>
      reader.list(meta[key], name).map((size) => natural(reader.union(size, name)[1], reader, name)),
    shape = ints("sizes"),
    strides = ints("strides"),
    offset = natural(reader.union(meta["storage_offset"], name)[1], reader, name);
  if (strides.length !== shape.length) throw reader.fail(name, "it has not as many strides as axes");
  const reach = shape.includes(0) ? 0 : offset + shape.reduce((n, size, i) => n + (size - 1) * strides[i]!, 1);
  if (!(reach <= storage.length))
    throw reader.fail(name, `it would reach over ${reach} elements, but its memory has ${storage.length}`);
  return new Tensor(storage, dtype, frozen(shape), frozen(strides), offset);
}

function natural(value: unknown, reader: GraphReader, name: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw reader.fail(name, `${String(value)} is no size`);
  return value as number;
}

/** The layout of PyTorch 2.5 to 2.7. */
async function readOld(source: Source, entries: Entries, entry: ZipEntry, place: Destination): Promise<Archive> {
  const program = await json(source, entry),
    tensors = new Map<string, Tensor>();
  for (const name of ["serialized_state_dict.pt", "serialized_constants.pt"]) {
    const inner = entries.get(name);
    if (!inner) throw new FileError(source.name, `its ${name} is missing`);
    if (inner.size > 0) await readInner(source, inner, place, tensors);
  }
  return { program, torchVersion: String(program["torch_version"] ?? "before 2.8"), tensors };
}

/** The tensors of a checkpoint within the archive. */
async function readInner(
  source: Source,
  entry: ZipEntry,
  place: Destination,
  into: Map<string, Tensor>,
): Promise<void> {
  const checkpoint = await openSource(await readContent(source, entry), {}, "export.load"),
    value = await readCheckpoint({ ...checkpoint, name: `${source.name}, ${entry.name}` }, place);
  for (const [key, tensor] of Object.entries(value as object)) if (tensor instanceof Tensor) into.set(key, tensor);
}
