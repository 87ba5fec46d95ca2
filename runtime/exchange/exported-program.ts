// torch.export's programs: what torch.export.save wrote in PyTorch, as something to call, train and keep.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { titled } from "../base/class-name.js";
import { isOptions, taken } from "../base/named-arguments.js";
import type { DType } from "../elements/dtype.js";
import { LOADING, type LoadOptions, destination } from "../files/destination.js";
import { FileError } from "../files/error.js";
import { openRanges } from "../files/ranges.js";
import { Loading } from "../files/progress.js";
import type { FileLike } from "../files/source.js";
import { Module } from "../nn/module.js";
import { Parameter } from "../nn/parameter.js";
import { unrecorded } from "../tape/grad-mode.js";
import { keep } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { copy_ } from "../views/transfer.js";
import { readArchive } from "./archive.js";
import { Graph } from "./graph.js";
import { type GraphJson, GraphReader } from "./graph-json.js";
import { type Guard, type SizeRange, checkGuards, checkInput, guardsOf } from "./input-checks.js";
import { findOperator } from "./operators.js";
import { type OutputSpec, type Signature, readSignature } from "./signature.js";
import { readable } from "./size-expressions.js";
import { type TreeSpec, flattened, leavesOf, unflattened } from "./tree-spec.js";

/** What a program takes as one of its arguments. */
export interface InputMeta {
  readonly name: string;
  /** null for what is no tensor. */
  readonly dtype: DType | null;
  readonly shape: readonly (number | string)[];
  readonly value: unknown;
}

export interface ExportLoadOptions extends LoadOptions {
  /** Which of several models in the archive; null: "model", or the only one, default null. */
  model?: string;
}

/** Parts that one program and its modules share. */
interface Program {
  readonly graph: Graph;
  readonly json: GraphJson;
  readonly signature: Signature;
  readonly ranges: ReadonlyMap<string, SizeRange>;
  /** Conditions among sizes of its arguments. */
  readonly guards: readonly Guard[];
  readonly file: string;
  /** Where it runs if neither an argument nor a weight is there to say it. */
  readonly device?: string;
}

/** A program that torch.export.save wrote. */
export class ExportedProgram {
  /** What its inputs and outputs are: arguments, parameters, buffers. */
  readonly graph_signature: Signature;
  /** How large sizes may be that are no constants, by their symbols. */
  readonly range_constraints: Readonly<Record<string, SizeRange>>;
  /** Parameters and buffers by name, as in the model that was exported. */
  readonly state_dict: Readonly<Record<string, Tensor>>;
  /** Tensors that are neither: they are never trained, and belong to no state. */
  readonly constants: Readonly<Record<string, Tensor>>;
  /** The version of PyTorch that wrote it. */
  readonly torch_version: string;
  readonly #program: Program;

  constructor(program: Program, tensors: ReadonlyMap<string, Tensor>, torchVersion: string) {
    const { inputs } = program.signature,
      names = new Set(
        inputs.map((spec) =>
          spec.kind === "parameter" || (spec.kind === "buffer" && spec.persistent) ? spec.target : null,
        ),
      );
    this.#program = program;
    this.graph_signature = program.signature;
    this.range_constraints = Object.fromEntries(program.ranges);
    this.torch_version = torchVersion;
    this.state_dict = Object.fromEntries([...tensors].filter(([name]) => names.has(name)));
    this.constants = Object.fromEntries([...tensors].filter(([name]) => !names.has(name)));
  }

  /** What it takes, in order: names, types and sizes, of which those that vary are texts; what must be a value says it. */
  get input_specs(): readonly InputMeta[] {
    const { signature, json } = this.#program;
    return signature.inputs.flatMap((spec): InputMeta[] => {
      if (spec.kind === "value")
        return spec.given ? [{ name: spec.name, dtype: null, shape: [], value: spec.value }] : [];
      if (spec.kind !== "user") return [];
      const meta = json.tensors.get(spec.name);
      return [{ name: spec.name, dtype: meta?.dtype ?? null, shape: meta?.shape ?? [], value: null }];
    });
  }

  /** A module that computes it, with parameters and buffers under their names; each call makes one on the same tensors. */
  module(): ExportedModule {
    return new ExportedModule(this.#program, { ...this.constants, ...this.state_dict });
  }
}
titled(ExportedProgram, "ExportedProgram");

/** A name of a module's part, in the tree of modules above it. */
function place(root: Module, path: string): readonly [owner: Module, name: string] {
  const parts = path.split("."),
    name = parts.pop()!;
  let owner = root;
  for (const part of parts) {
    const inner = Object.hasOwn(owner, part) && (owner as unknown as Record<string, unknown>)[part];
    if (!(inner instanceof Module)) owner.add_module(part, new Module());
    owner = (owner as unknown as Record<string, Module>)[part]!;
  }
  return [owner, name];
}

/** The parameter or buffer of this name. */
function tensorAt(module: Module, path: string): Tensor {
  let value: unknown = module;
  for (const part of path.split(".")) value = (value as Record<string, unknown>)[part];
  return value as Tensor;
}

/** A module that runs a program that was exported. */
export class ExportedModule extends Module {
  readonly #program: Program;
  /** What the graph takes beside arguments; a name stands for a parameter or a buffer of the module. */
  readonly #fixed: ReadonlyMap<number, Tensor | string>;

  constructor(program: Program, tensors: Readonly<Record<string, Tensor>>) {
    super();
    const fixed = new Map<number, Tensor | string>(),
      parameters = new Map<Tensor, Parameter>();
    program.signature.inputs.forEach((spec, i) => {
      if (spec.kind === "user" || spec.kind === "value") return;
      const tensor = tensors[spec.target];
      if (!tensor) throw new FileError(program.file, `the ${spec.kind} ${spec.target} is missing`);
      if (spec.kind === "constant") {
        fixed.set(i, keep(tensor));
        return;
      }
      fixed.set(i, spec.target);
      const [owner, name] = place(this, spec.target);
      if (spec.kind === "parameter") {
        const { requiresGrad } = program.json.tensors.get(spec.name) ?? { requiresGrad: true };
        if (!parameters.has(tensor)) parameters.set(tensor, new Parameter(tensor, requiresGrad));
        owner.register_parameter(name, parameters.get(tensor)!);
      } else if (spec.kind === "buffer") owner.register_buffer(name, tensor, spec.persistent);
    });
    this.#program = program;
    this.#fixed = fixed;
  }

  /** The program's results for its arguments: by place, the last ones by name in one object.  A promise of them where
   *  values of a GPU decide what the program does. */
  override forward(...args: unknown[]): unknown {
    const { graph, json, signature, ranges, guards, device: home } = this.#program,
      given = arranged(signature, args),
      sizes = new Map<string, number>(),
      values: unknown[] = [];
    let device: string | null = null,
      next = 0;
    signature.inputs.forEach((spec, i) => {
      if (spec.kind === "value") {
        const value = spec.given ? given[next++] : spec.value;
        if (spec.given && value !== spec.value && (value ?? null) !== spec.value)
          throw new TypeMismatchError(
            `forward: '${spec.name}' was exported as ${String(spec.value)}, and is nothing else; got ${describe(value)}`,
          );
        values.push(spec.value);
      } else if (spec.kind === "user") {
        const value = given[next++];
        checkInput(spec.name, value, json, sizes, ranges);
        if (value instanceof Tensor) device ??= value.device;
        values.push(value);
      } else {
        const held = this.#fixed.get(i)!,
          tensor = typeof held === "string" ? tensorAt(this, held) : held;
        if (tensor.dtype !== "float64") device ??= tensor.device; // such a constant is on the CPU beside a GPU
        values.push(tensor);
      }
    });
    checkGuards(guards, given);
    const results = graph.run(values, device ?? home ?? "cpu", this.changed(signature.outputs, json)),
      answer = (all: unknown[]) => unflattened(this.settled(signature.outputs, all, values), signature.results);
    return results instanceof Promise ? results.then(answer) : answer(results);
  }

  /** The parameters that the program changes, by the names of what they become. */
  private changed(specs: readonly OutputSpec[], json: GraphJson): ReadonlyMap<string, Tensor> {
    const out = new Map<string, Tensor>();
    specs.forEach((spec, i) => {
      const output = json.outputs[i]!;
      if (spec.kind !== "state" || output.kind !== "name") return;
      const tensor = tensorAt(this, spec.target);
      if (tensor instanceof Parameter) out.set(output.name, tensor);
    });
    return out;
  }

  /** What the caller gets; other results are what a buffer or an input becomes. */
  private settled(specs: readonly OutputSpec[], results: readonly unknown[], inputs: readonly unknown[]): unknown[] {
    const out: unknown[] = [];
    specs.forEach((spec, i) => {
      if (spec.kind === "user") out.push(results[i]);
      else if (spec.kind !== "token") {
        const target =
            spec.kind === "state"
              ? tensorAt(this, spec.target)
              : inputs[this.#program.signature.inputs.findIndex((input) => input.name === spec.target)],
          became = results[i];
        if (!(target instanceof Tensor && became instanceof Tensor))
          throw new OpError(
            `the graph of the exported program is damaged: ${spec.target}, ${describe(target)}, becomes ${describe(became)}, not a tensor`,
          );
        if (target !== became) unrecorded(() => copy_(target, became));
      }
    });
    return out;
  }
}
titled(ExportedModule, "ExportedModule");

/**
 * The arguments in the order of the graph's inputs; an object at the end gives some by name.  What was fixed when the
 * program was exported may be left out, and tensors alone may come one by one, however they nested.
 */
function arranged({ inputs, args, kwargs, names }: Signature, given: readonly unknown[]): unknown[] {
  const specs = inputs.filter((spec) => spec.kind === "user" || (spec.kind === "value" && spec.given)),
    tensors = specs.filter((spec) => spec.kind === "user").length;
  if (given.length === tensors && given.every((value) => value instanceof Tensor)) {
    const rest = [...given];
    return specs.map((spec) => (spec.kind === "value" ? spec.value : rest.shift()));
  }
  let leaf = 0;
  /** Of the parts of a tree, one after the other: null, or what all of it was fixed as. */
  const fixed = (tree: TreeSpec): { readonly value: unknown } | null => {
    const own = specs.slice(leaf, (leaf += leavesOf(tree)));
    return own.every((spec) => spec.kind === "value")
      ? {
          value: unflattened(
            own.map((spec) => spec.value),
            tree,
          ),
        }
      : null;
  };
  const positions = args.parts!,
    last = given.at(-1),
    // an object may be what is expected in that place
    byName = isOptions(last) && (given.length > positions.length || !positions[given.length - 1]!.keys),
    options: Record<string, unknown> = byName ? { ...last } : {},
    list = byName ? given.slice(0, -1) : given;
  const values = positions.map((tree, i) => {
    const name = names[i] ?? `argument ${i + 1}`,
      otherwise = fixed(tree);
    if (i < list.length) return list[i];
    if (!Object.hasOwn(options, name)) {
      if (otherwise) return otherwise.value;
      throw new TypeMismatchError(`forward: missing required argument '${name}'; it takes ${names.join(", ")}`);
    }
    const value = options[name];
    delete options[name];
    return value;
  });
  // what was given by name when it was exported may come by place as well, in that order
  list.slice(positions.length).forEach((value, i) => {
    const name = kwargs.keys![i];
    if (name === undefined || Object.hasOwn(options, name))
      throw new TypeMismatchError(
        `forward: takes ${positions.length + kwargs.keys!.length} arguments (${names.join(", ")}), got ${list.length}`,
      );
    options[name] = value;
  });
  kwargs.keys!.forEach((name, i) => {
    const otherwise = fixed(kwargs.parts![i]!);
    if (otherwise && !Object.hasOwn(options, name)) options[name] = otherwise.value;
  });
  return [
    ...positions.flatMap((spec, i) => flattened(values[i], spec, "forward", `'${names[i] ?? `argument ${i + 1}`}'`)),
    ...flattened(options, kwargs, "forward", "what is given by name"),
  ];
}

/**
 * The program in a file of torch.export.save (PyTorch 2.5 and later): a path, an address, bytes or a Blob.  Weights are
 * read one after the other, by ranges where the file's server has them, to `map_location`.  Throws FileError for what is
 * no such file, for another version of the format, and for operators that there are not here.
 */
export async function load(f: FileLike, options?: ExportLoadOptions): Promise<ExportedProgram>;
export async function load(...args: unknown[]): Promise<ExportedProgram> {
  const [f, map_location, given] = taken(`load f map_location? | model ${LOADING}`, args),
    options = { map_location, ...(given as object) } as ExportLoadOptions,
    where = destination(options, "export.load"),
    bar = new Loading(options.progress),
    source = await openRanges(f as FileLike, { ...options, progress: bar.file() }, "export.load");
  try {
    const { program, torchVersion, tensors } = await readArchive(source, where, options.model),
      reader = new GraphReader(source.name, where.dtype);
    checkVersion(reader, program["schema_version"]);
    const module = reader.object(program["graph_module"], "graph_module"),
      json = reader.graph(module["graph"], "the graph"),
      signature = readSignature(reader, module, json, source.name),
      shared: Program = {
        graph: new Graph(json, source.name, { find: findOperator }),
        json,
        signature,
        ranges: rangesOf(reader, program["range_constraints"]),
        guards: guardsOf(program["guards_code"], signature),
        file: source.name,
        device: where.device.type,
      };
    bar.done(source.size);
    return new ExportedProgram(shared, tensors, torchVersion);
  } finally {
    await source.close();
  }
}

/** The versions of the format that are read: of PyTorch 2.5, and of 2.6 to 2.13. */
const VERSIONS = [7, 8];

function checkVersion(reader: GraphReader, value: unknown): void {
  const { major, minor } = reader.object(value, "schema_version");
  if (!VERSIONS.includes(major as number))
    throw reader.fail(
      "schema_version",
      `the format is ${String(major)}.${String(minor)}; ${VERSIONS.join(".x and ")}.x are read`,
    );
}

function rangesOf(reader: GraphReader, value: unknown): Map<string, SizeRange> {
  const limit = (x: unknown, otherwise: number) => (typeof x === "number" && Math.abs(x) < 2 ** 53 ? x : otherwise);
  return new Map(
    Object.entries(reader.object(value ?? {}, "range_constraints")).map(([symbol, range]) => {
      const { min_val, max_val } = reader.object(range, symbol);
      return [readable(symbol), { min: limit(min_val, 0), max: limit(max_val, Infinity) }];
    }),
  );
}
