// torch.onnx.load: an ONNX model as a program of the kind that torch.export.load gives.

import { taken } from "../base/named-arguments.js";
import { ExportedProgram } from "../exchange/exported-program.js";
import { Graph } from "../exchange/graph.js";
import type { SizeRange } from "../exchange/input-checks.js";
import type { InputSpec, Signature } from "../exchange/signature.js";
import { type Destination, LOADING, type LoadOptions, destination } from "../files/destination.js";
import { FileError } from "../files/error.js";
import { openRanges } from "../files/ranges.js";
import { Loading } from "../files/progress.js";
import type { FileLike, Source } from "../files/source.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Weight, convert } from "./convert.js";
import { readModel } from "./model-proto.js";
import type { ModelProto } from "./model-proto.js";
import { pathsOf } from "./names.js";
import { operators } from "./operators.js";
import { type Beside, type Stored, read, stored } from "./tensors.js";
import { constant } from "./values.js";

export interface OnnxLoadOptions extends LoadOptions {
  /** Files beside the model that hold its weights, by the names that it has for them, default null. */
  external?: Readonly<Record<string, FileLike>> | null;
}

type Role = "parameter" | "buffer" | "constant";
/** Whole numbers that say sizes and places; they stay on the CPU up to so many. */
const SIZES = new Set(["int64", "int32", "bool"]),
  MOST_SIZES = 4096;
/** Inputs that are no weights, although they are floating: running statistics, and what says how numbers are packed. */
const STATISTICS: Readonly<Record<string, readonly number[]>> = {
  BatchNormalization: [3, 4],
  QuantizeLinear: [1],
  DequantizeLinear: [1],
  QLinearConv: [1, 4, 6],
  QLinearMatMul: [1, 4, 6],
  MatMulNBits: [2],
};

/** What a tensor of the file is in the module. */
function roleOf({ uses, written }: Weight, { type, floating, numel, shape }: Stored): Role {
  if (!floating) return SIZES.has(type) && numel <= MOST_SIZES ? "constant" : "buffer";
  // sizes may be computed of a single number, or of one that an operator reads: it must be where they are
  if (shape.length === 0 || (written && numel === 1) || uses.some(({ read }) => read)) return "constant";
  return uses.some(({ op, at }) => Object.hasOwn(STATISTICS, op) && STATISTICS[op]!.includes(at))
    ? "buffer"
    : "parameter";
}

/** Bytes with weights of 4 bits as words of 32, which is what the product that is all they are for decodes. */
function inWords({ id, uses, proto }: Weight, found: Stored, outputs: readonly string[]): Stored {
  const [rows, groups, bytes = 1] = found.shape,
    only =
      !outputs.includes(id) &&
      uses.length > 0 &&
      uses.every(({ op, at, bits }) => op === "MatMulNBits" && at === 1 && bits === 4);
  if (
    !only ||
    found.type !== "uint8" ||
    found.shape.length !== 3 ||
    bytes % 4 ||
    (!proto.raw_data && !proto.data_location)
  )
    return found;
  return { ...found, type: "int32", shape: [rows!, groups!, bytes / 4], numel: found.numel / 4 };
}

/** Opens files beside the model; only below its own folder. */
function besideOf(
  f: FileLike,
  options: OnnxLoadOptions,
  bar: Loading,
  opened: Map<string, Source>,
  file: string,
): Beside {
  return async (location) => {
    const before = opened.get(location);
    if (before) return before;
    const given = options.external && Object.hasOwn(options.external, location) ? options.external[location] : null,
      address = typeof f === "string" || f instanceof URL ? String(f) : null;
    if (/^([a-z]+:|[/\\])/i.test(location) || location.split(/[/\\]/).includes(".."))
      throw new FileError(file, `its weights are said to lie in ${location}, which is not below its own folder`);
    if (!given && address === null)
      throw new FileError(
        file,
        `its weights lie in ${location}; give that file, too: {external: {${JSON.stringify(location)}: file}}`,
      );
    const source = await openRanges(
      given ?? address!.replace(/[^/\\]*$/, "") + location,
      { ...options, progress: bar.file() },
      "onnx.load",
    );
    opened.set(location, source);
    return source;
  };
}

function parsed(bytes: Uint8Array, file: string): ModelProto {
  try {
    return readModel(bytes);
  } catch (error) {
    throw new FileError(file, `it is no model of ONNX: ${(error as Error).message}`);
  }
}

const ORDER: readonly Role[] = ["parameter", "buffer", "constant"];

/** Everything of the file on its device, and the program over it. */
async function programOf(
  model: ModelProto,
  file: string,
  place: Destination,
  beside: Beside,
): Promise<ExportedProgram> {
  const { json, inputs, outputs, weights, held, symbols } = convert(model, file, place.dtype),
    here = await cpu(place),
    paths = pathsOf(weights.map(({ id }) => id)),
    kinds = weights.map((weight) => {
      const found = inWords(weight, stored(weight.proto, file, weight.id), outputs);
      return { weight, found, role: roleOf(weight, found) };
    }),
    sorted = ORDER.flatMap((role) => kinds.filter((k) => k.role === role)),
    table = operators(place.dtype),
    whole = { ...json, inputs: [...json.inputs, ...sorted.map((k) => ({ kind: "name" as const, name: k.weight.id }))] },
    // throws for what there is not, before anything is fetched
    graph = new Graph(whole, file, table),
    tensors = new Map<string, Tensor>(),
    specs: InputSpec[] = inputs.map((name) => ({ kind: "user", name }));
  for (const { proto, operand, what } of held)
    operand.value = constant(await read(stored(proto, file, what), here, file, beside));
  for (const { weight, found, role } of sorted) {
    const target = paths.get(weight.id)!,
      tensor = await read(found, role === "constant" ? here : place, file, beside);
    tensors.set(target, role === "constant" ? constant(tensor) : tensor);
    specs.push(
      role === "buffer"
        ? { kind: role, name: weight.id, target, persistent: true }
        : { kind: role, name: weight.id, target },
    );
  }
  const leaf = { keys: null, parts: null },
    signature: Signature = {
      inputs: specs,
      outputs: outputs.map((name) => ({ kind: "user", name })),
      args: { keys: null, parts: inputs.map(() => leaf) },
      kwargs: { keys: [], parts: [] },
      results: outputs.length === 1 ? leaf : { keys: null, parts: outputs.map(() => leaf) },
      names: inputs,
    },
    ranges = new Map<string, SizeRange>([...symbols].map((symbol) => [symbol, { min: 0, max: Infinity }]));
  return new ExportedProgram(
    { graph, json: whole, signature, ranges, guards: [], file },
    tensors,
    `${model.producer_name} ${model.producer_version}`.trim(),
  );
}

/** The CPU, for what must be read at once. */
const cpu = async ({ dtype }: Destination): Promise<Destination> => ({
  ...destination({ device: "cpu" }, "onnx.load"),
  dtype,
});

/**
 * The program of an ONNX model (operators of version 7 to 28): a path, an address, bytes or a Blob.  Weights that lie
 * beside it are read one after the other, by ranges where their server has them, to `map_location`.  Throws FileError for
 * what is no model, and for operators and types that there are not here.
 */
export async function load(f: FileLike, options?: OnnxLoadOptions): Promise<ExportedProgram>;
export async function load(...args: unknown[]): Promise<ExportedProgram> {
  const [f, map_location, given] = taken(`load f map_location? | external ${LOADING}`, args),
    options = { map_location, ...(given as object) } as OnnxLoadOptions,
    place = destination(options, "onnx.load"),
    bar = new Loading(options.progress),
    source = await openRanges(f as FileLike, { ...options, progress: bar.file() }, "onnx.load"),
    opened = new Map<string, Source>();
  try {
    const model = parsed(await source.read(0, source.size), source.name),
      beside = besideOf(f as FileLike, options, bar, opened, source.name),
      program = await programOf(model, source.name, place, beside);
    bar.done([...opened.values()].reduce((n, { size }) => n + size, source.size));
    return program;
  } finally {
    await source.close();
    for (const other of opened.values()) await other.close();
  }
}
