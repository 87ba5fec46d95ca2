// A graph that can be run: every operator is found when it is made, and what is not needed any more is given up while
// it runs.

import { OpError } from "../base/errors.js";
import { differentiable, isFloat } from "../elements/dtype.js";
import { copy_, to } from "../views/transfer.js";
import { capturing } from "../base/capturing.js";
import { isRecording, set_grad_enabled, unrecorded } from "../tape/grad-mode.js";
import { FileError } from "../files/error.js";
import { Tensor } from "../tensor/tensor.js";
import type { GraphJson, NodeJson, Operand, TensorMeta } from "./graph-json.js";
import type { Call, Operator } from "./operators.js";
import { type Floats, besideFloats, floatsOf } from "./python-floats.js";
import { type Steps, completed, finished, settled } from "./waiting.js";
import { withoutVmap } from "./higher-order.js";
import { onDevice, withWideValues } from "./wide-values.js";

interface Step {
  readonly node: NodeJson;
  readonly operator: Operator;
  /** Which outputs something uses. */
  readonly used: readonly boolean[];
  readonly graphs: ReadonlyMap<Operand, Graph>;
  readonly floats: Floats | null;
  /** Where its arguments have to be moved, if it has some of another device: to the CPU, or back to the program's. */
  readonly moves: "to the CPU" | "back" | null;
  /** Values that nothing after it uses. */
  readonly last: readonly string[];
}

/** Values by name, and how many names each has. */
class Values {
  private readonly values = new Map<string, unknown>();
  private readonly counts = new Map<unknown, number>();

  get(name: string): unknown {
    return this.values.get(name);
  }
  set(name: string, value: unknown): void {
    this.values.set(name, value);
    this.counts.set(value, (this.counts.get(value) ?? 0) + 1);
  }
  /** Forgets a name; whether its value has no other one. */
  drop(name: string): boolean {
    const value = this.values.get(name),
      left = (this.counts.get(value) ?? 1) - 1;
    this.values.delete(name);
    this.counts.set(value, left);
    return left === 0;
  }
}

type Leaves = ReadonlyMap<string, Tensor>;

/** Where a graph's operators come from. */
export interface Operators {
  /** The operator of a node's target; null where there is none. */
  find(target: string): Operator | null;
  /** Whether a value shall stay when the graph needs it no more. */
  keeps?(value: Tensor): boolean;
}

/** The names within an operand, those that a graph within it takes from outside among them. */
function* namesIn(operand: Operand): Generator<string> {
  if (operand.kind === "name") yield operand.name;
  else if (operand.kind === "graph") yield* operand.captured;
  else if (operand.kind === "list") for (const item of operand.items) yield* namesIn(item);
}

export class Graph {
  private readonly steps: readonly Step[];
  private readonly json: GraphJson;
  /** The kind of device that it was exported for; null: it has no tensors. */
  private readonly origin: string | null = null;
  /** Values that are on the CPU, wherever the program runs. */
  private readonly away: ReadonlySet<string | null>;

  /** Throws for operators that there are not here, all of them with their places; a graph within another adds its own
   *  to `missing`. */
  constructor(
    given: GraphJson,
    private readonly file: string,
    private readonly operators: Operators,
    missing?: Map<string, string[]>,
  ) {
    const outermost = missing === undefined,
      absent = missing ?? new Map<string, string[]>();
    const json = withoutVmap(given, namesIn);
    this.json = json;
    for (const { device } of json.tensors.values()) this.origin ??= device ?? null;
    const known = new Set(json.inputs.flatMap((input) => [...namesIn(input)])),
      lastUse = new Map<string, number>();
    const check = (operand: Operand, place: string) => {
      for (const name of namesIn(operand))
        if (!known.has(name)) throw new FileError(file, `${place} uses ${name}, which nothing before it makes`);
    };
    json.nodes.forEach((node, i) => {
      for (const { operand } of node.inputs) {
        check(operand, `${node.name} (${node.target})`);
        for (const name of namesIn(operand)) lastUse.set(name, i);
      }
      for (const name of node.outputs) if (name !== null) known.add(name);
    });
    for (const output of json.outputs) {
      check(output, "an output");
      for (const name of namesIn(output)) lastUse.set(name, Infinity);
    }
    const { onCpu, away } = withWideValues(json, namesIn);
    this.away = away;
    this.steps = json.nodes.map((node, i) => {
      const graphs = new Map<Operand, Graph>(),
        last = new Set<string>();
      for (const { operand } of node.inputs) {
        if (operand.kind === "graph") graphs.set(operand, new Graph(operand.graph, file, operators, absent));
        for (const name of namesIn(operand)) if (lastUse.get(name) === i) last.add(name);
      }
      for (const name of node.outputs) if (name !== null && !lastUse.has(name)) last.add(name);
      const operator = operators.find(node.target);
      if (!operator) absent.set(node.target, [...(absent.get(node.target) ?? []), node.name]);
      return {
        node,
        operator: operator!,
        used: node.outputs.map((name) => name !== null && lastUse.has(name)),
        graphs,
        floats: floatsOf(node),
        moves: onCpu.has(node)
          ? "to the CPU"
          : node.inputs.some(({ operand }) => [...namesIn(operand)].some((name) => away.has(name)))
            ? "back"
            : null,
        last: [...last],
      };
    });
    const others = [...absent.keys()].some((target) => /^torch\.ops\.(?!aten\.|higher_order\.)/.test(target));
    if (outermost && absent.size > 0)
      throw new FileError(
        file,
        `it uses operators that there are not here: ${[...absent]
          .map(([target, places]) => `${target} (${places.slice(0, 3).join(", ")}${places.length > 3 ? ", ..." : ""})`)
          .join(", ")}${others ? "; of other libraries than PyTorch few are read: docs/exported-programs.md" : ""}`,
      );
  }

  /** The outputs for these inputs, in the order of the graph's; a promise where values of a GPU decide what is done.
   *  `leaves`: what becomes of tensors, by name, that the model changes apart from gradients: they stay leaves. */
  run(inputs: readonly unknown[], device: string, leaves?: Leaves): unknown[] | Promise<unknown[]> {
    return finished(this.results(inputs, device, leaves));
  }

  private *results(inputs: readonly unknown[], device: string, leaves?: Leaves): Steps<unknown[]> {
    const values = new Values(),
      kept = new Set(inputs);
    this.json.inputs.forEach((input, i) => {
      if (input.kind === "name") values.set(input.name, inputs[i]);
    });
    for (const step of this.steps) {
      const made = yield* this.made(step, values, device);
      step.node.outputs.forEach((name, i) => {
        if (name === null) return;
        const value = fitting(made[i], this.json.tensors.get(name), step.node, values),
          leaf = step.node.apart ? leaves?.get(name) : undefined;
        values.set(name, leaf ? unrecorded(() => copy_(leaf, value as Tensor)) : value);
      });
      this.giveUp(step.last, values, kept);
    }
    const results: unknown[] = [];
    for (const output of this.json.outputs) {
      const value = valueOf(output, values, device),
        away = output.kind === "name" && this.away.has(output.name) && (value as Tensor).dtype !== "float64";
      results.push(away ? yield* onDevice(value, device) : value);
    }
    return results;
  }

  private *made(
    { node, operator, used, graphs, floats, moves }: Step,
    values: Values,
    device: string,
  ): Steps<unknown[]> {
    const args: unknown[] = [],
      options: Record<string, unknown> = {},
      place = moves === "to the CPU" ? "cpu" : device;
    for (const { name, operand, keyword } of node.inputs) {
      if (operand.kind === "ignored") continue;
      const graph = graphs.get(operand),
        outside: unknown[] = [];
      if (operand.kind === "graph")
        for (const inner of operand.captured) {
          const value = values.get(inner);
          outside.push(moves ? yield* onDevice(value, place) : value);
        }
      const given = graph
          ? (...taken: unknown[]) => {
              const found = graph.run([...taken, ...outside], device),
                result = (all: unknown[]) => (graph.json.single ? all[0] : all);
              return found instanceof Promise ? found.then(result) : result(found);
            }
          : valueOf(operand, values, place),
        value = moves ? yield* onDevice(given, place) : given;
      if (keyword) {
        if (value !== null) options[name] = value;
      } else args.push(value);
    }
    const like = this.json.tensors.get(node.outputs[0] ?? ""),
      joined = floats ? besideFloats(floats, args, options, like, place) : args;
    const call: Call = { args: [...joined], options, used, device: place, origin: this.origin, target: node.target };
    let result: unknown;
    try {
      const work = (): unknown => operator(call);
      const made = yield* completed(node.apart ? () => set_grad_enabled(false, work) : work),
        reads = args.find((x) => x instanceof Tensor);
      if (capturing && reads && made instanceof Promise) {
        made.catch(() => undefined);
        capturing.read(reads.storage); // may refuse what waits
      }
      result = yield* settled(made);
    } catch (error) {
      const { message } = error as Error,
        where = `${node.name} (${node.target})`;
      // an operator looks at what a well-formed program gives it, no closer
      if (!(error instanceof OpError))
        throw new FileError(this.file, `${where}: its arguments are not what it takes: ${message}`);
      if (!message.includes(node.name)) error.message = `${where}: ${message}`;
      throw error;
    }
    if (node.outputs.length === 0) return [];
    if (node.single) return [result];
    return Array.isArray(result)
      ? node.lists
        ? result.flat()
        : result
      : result instanceof Tensor
        ? [result]
        : Array.from(result as Iterable<unknown>);
  }

  /** Frees what nothing uses any more, unless a gradient may; what was given in is not the graph's. */
  private giveUp(names: readonly string[], values: Values, given: ReadonlySet<unknown>): void {
    const recording = isRecording();
    for (const name of names) {
      const value = values.get(name);
      if (!values.drop(name) || recording || !(value instanceof Tensor) || given.has(value)) continue;
      if (!this.operators.keeps?.(value)) value.dispose();
    }
  }
}

function valueOf(operand: Operand, values: Values, device: string): unknown {
  switch (operand.kind) {
    case "value":
      return operand.value;
    case "name":
      return values.get(operand.name);
    case "list":
      return operand.items.map((item) => valueOf(item, values, device));
    case "device":
      return device;
    default:
      return null;
  }
}

/** Quotients, which no whole numbers are. */
const QUOTIENTS = new Set(["torch.ops.aten.div.Tensor", "torch.ops.aten.div.Scalar"]);

/**
 * The value in the type that PyTorch had: a number's type decides there, and JavaScript has one type of numbers.  Before
 * 2.8 files call whole numbers divided by a size that varies whole, and what is computed of them.
 */
function fitting(value: unknown, meta: TensorMeta | undefined, node: NodeJson, values: Values): unknown {
  if (!(value instanceof Tensor) || !meta?.dtype || value.dtype === meta.dtype) return value;
  const floats = (x: unknown): boolean => x instanceof Tensor && isFloat(x.dtype),
    ofFloats = (): boolean =>
      node.inputs.some(({ operand }) => [...namesIn(operand)].some((name) => floats(values.get(name))));
  if (floats(value) && !differentiable(meta.dtype) && (QUOTIENTS.has(node.target) || ofFloats())) return value;
  return to(value, [meta.dtype]) as Tensor;
}
