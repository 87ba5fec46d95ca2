// tensorloom/bundle: a model as one module that needs nothing else: its kernels, planned, and what launches them; beside it
// its weights, typings, and a page that runs it.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { limited } from "../base/named-arguments.js";
import { taken } from "../base/named-arguments.js";
import { capturedModel } from "../exchange/captured-model.js";
import type { Found } from "../exchange/captured-model.js";
import { ExportedProgram } from "../exchange/exported-program.js";
import { sizeOf, symbolsOf } from "../exchange/input-checks.js";
import { unflattened } from "../exchange/tree-spec.js";
import { hasPaths } from "../files/node-files.js";
import { encode } from "../files/number-formats.js";
import { zeros } from "../creation/create.js";
import { Tensor } from "../tensor/tensor.js";
import { cpuPlan } from "./cpu-plan.js";
import { gpuPlan } from "./gpu-plan.js";
import { pageOf, typingsOf } from "./page.js";
import type { ModelPlan, TensorSpec } from "./plan.js";
import { type Runs, type Unnamed, runsOf } from "./runs.js";

export interface BundleOptions {
  /** What the page and comments call the model; "model" unless told otherwise. */
  name?: string | null;
  /** Names of the inputs and outputs, in order. */
  input_names?: readonly string[] | null;
  output_names?: readonly string[] | null;
  /** For an exported program without `args`: sizes that vary, by their symbols. */
  sizes?: Readonly<Record<string, number>> | null;
}

/** The types that a bundle knows, as files of weights call them. */
const TYPES: Readonly<Record<string, string>> = {
  float32: "F32",
  float64: "F64",
  int64: "I64",
  int32: "I32",
  int16: "I16",
  int8: "I8",
  uint8: "U8",
  bool: "BOOL",
};

/** A bundled model: its files by name. */
export class Bundle {
  constructor(readonly files: ReadonlyMap<string, Uint8Array>) {}

  /** Writes the files into a folder, which is made where there is none; in Node. */
  async save(folder: string | URL): Promise<void> {
    if (!hasPaths())
      throw new OpError("Bundle.save: there are no paths here to write to; `files` has the contents by name");
    const { mkdir, writeFile } = (await (await import("../platform/node.js")).fileSystem()) as {
        mkdir(folder: string, options: { recursive: boolean }): Promise<unknown>;
        writeFile(file: string, bytes: Uint8Array): Promise<void>;
      },
      { fileURLToPath } = (await (await import("../platform/node.js")).paths()) as { fileURLToPath(url: URL): string },
      path = folder instanceof URL ? fileURLToPath(folder) : folder;
    await mkdir(path, { recursive: true });
    for (const [name, bytes] of this.files) await writeFile(`${path.replace(/[/\\]$/, "")}/${name}`, bytes);
  }
}
limited(Bundle, "Bundle.", "save folder");

/** Arguments for a program: zeros in the sizes for which it was exported. */
function exampleOf(program: ExportedProgram, sizes: Readonly<Record<string, number>>): unknown[] {
  const { args, kwargs } = program.graph_signature,
    leaves = program.input_specs.map(({ name, dtype, shape, value }) => {
      if (!dtype) return value;
      const known = shape.map((extent) => {
        const size = sizeOf(extent, sizes);
        if (size === undefined) {
          const names = symbolsOf(extent as string);
          throw new OpError(
            `bundle: '${name}' has the shape [${shape.join(", ")}]; say how large ${names.join(" and ")} is: sizes: {${names.map((symbol) => `${symbol}: 1`).join(", ")}}`,
          );
        }
        return size;
      });
      return zeros(known, { dtype } as never);
    }),
    given = unflattened(leaves, { keys: null, parts: [...(args.parts ?? []), ...(kwargs.parts ?? [])] }) as unknown[],
    count = args.parts?.length ?? 0,
    named = given.slice(count);
  return named.length === 0
    ? given
    : [...given.slice(0, count), Object.fromEntries(named.map((x, i) => [kwargs.keys![i]!, x]))];
}

/** A safetensors file of these tensors. */
function weightsFile(tensors: ReadonlyMap<string, Found & { readonly dtype: string }>): Uint8Array {
  const header: Record<string, unknown> = {},
    parts: Uint8Array[] = [];
  let end = 0;
  for (const [name, { elements, tensor, dtype }] of tensors) {
    const bytes = encode(elements, dtype as never, dtype as never),
      shape = tensor && tensor.numel() === elements.length ? [...tensor.shape] : [elements.length];
    header[name] = { dtype: TYPES[dtype], shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    parts.push(bytes);
  }
  let text = JSON.stringify(header);
  text += " ".repeat(-text.length & 7);
  const head = new TextEncoder().encode(text),
    out = new Uint8Array(8 + head.length + end);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, 8);
  let at = 8 + head.length;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** What runs a plan, as text. */
async function playerText({ cpu: { modules } }: ModelPlan): Promise<string> {
  const plain = modules.every(([, given]) => given.length === 0),
    address = plain
      ? new URL("./player.script.js", import.meta.url)
      : new URL("./player-functions.script.js", import.meta.url);
  if (address.protocol === "file:" && hasPaths()) {
    const { readFile } = (await (await import("../platform/node.js")).fileSystem()) as {
      readFile(file: URL, encoding: string): Promise<string>;
    };
    return readFile(address, "utf8");
  }
  return (await fetch(address)).text();
}

/**
 * A model as one module that needs nothing else, for arguments of the sizes and types of `args`: a module, a function,
 * what torch.compile answered, or a program of torch.export or torch.onnx.load, for which `args` may be left out.  Throws
 * OpError for what depends on values, draws random numbers, or has types of 16 bits.
 */
export async function bundle(
  model: unknown,
  args?: Tensor | readonly unknown[] | null,
  options?: BundleOptions,
): Promise<Bundle>;
export async function bundle(...given: unknown[]): Promise<Bundle> {
  const [model, args, name, inputNames, outputNames, sizes] = taken(
    "bundle model args? * name? input_names? output_names? sizes?",
    given,
  ) as [
    unknown,
    (Tensor | readonly unknown[] | null)?,
    (string | null)?,
    (readonly string[] | null)?,
    (readonly string[] | null)?,
    (Record<string, number> | null)?,
  ];
  if ((args ?? null) === null && !(model instanceof ExportedProgram))
    throw new TypeMismatchError(`bundle: argument 'args' is missing, the arguments of a call, for ${describe(model)}`);
  const list = !args
      ? exampleOf(model as ExportedProgram, sizes ?? {})
      : args instanceof Tensor
        ? [args]
        : [...(args as readonly unknown[])],
    captured = await capturedModel("bundle", model, list),
    named = inputNames ?? (model instanceof ExportedProgram ? tensorNames(model) : []),
    specs = (all: readonly { dtype: string; shape: readonly number[] }[], names: readonly string[], kind: string) =>
      all.map(
        ({ dtype, shape }, i): TensorSpec => ({
          name: names[i] ?? (all.length === 1 ? kind : `${kind}_${i}`),
          dtype,
          shape: [...shape],
        }),
      ),
    cpu = runsOf(captured, "cpu"),
    gpu = runsOf(captured, "webgpu");
  for (const { dtype } of cpu.values)
    if (!Object.hasOwn(TYPES, dtype)) throw new OpError(`bundle: tensors of ${dtype} cannot be bundled`);
  const tensors = new Map<string, Found & { dtype: string }>(),
    names = new Map<Found, string>();
  const saved = <Plan>(plan: Unnamed<Plan>, runs: Runs): Plan =>
    ({
      ...plan,
      weights: plan.weights.map(([at, value]) => {
        const found = runs.found.get(value)!;
        let own = names.get(found);
        if (own === undefined) {
          own = found.name;
          for (let n = 1; tensors.has(own); n++) own = `${found.name}.${n}`;
          names.set(found, own);
          tensors.set(own, { ...found, dtype: runs.values[value]!.dtype });
        }
        return [at, own];
      }),
    }) as Plan;
  const gpuPart = gpuPlan(gpu),
    plan: ModelPlan = {
      inputs: specs(captured.given, named, "input"),
      outputs: specs(cpu.results, outputNames ?? [], "output"),
      gpu: gpuPart && saved(gpuPart, gpu),
      cpu: saved(await cpuPlan(cpu), cpu),
    },
    title = name ?? "model",
    player = await playerText(plan),
    module = `// ${title.replace(/\s+/g, " ")}, bundled by tensorloom.
${player.trim()}
export const { load, inputs, outputs } = player.modelOf(${JSON.stringify(plan)}, import.meta.url);
`,
    utf8 = new TextEncoder();
  return new Bundle(
    new Map([
      ["model.mjs", utf8.encode(module)],
      ["model.d.mts", utf8.encode(typingsOf(title, plan.inputs, plan.outputs))],
      ["weights.safetensors", weightsFile(tensors)],
      ["index.html", utf8.encode(pageOf(title.replace(/[<>&]/g, " ")))],
    ]),
  );
}

const tensorNames = (program: ExportedProgram): string[] =>
  program.input_specs.flatMap(({ name, dtype }) => (dtype ? [name] : []));
