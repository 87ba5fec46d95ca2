// A graph that can be run: every operator is found when it is made, and what is not needed any more is given up while
// it runs.

import { OpError } from "../base/errors.js";
import { to } from "../views/transfer.js";
import { is_grad_enabled } from "../tape/grad-mode.js";
import { FileError } from "../files/error.js";
import { Tensor } from "../tensor/tensor.js";
import type { GraphJson, NodeJson, Operand, TensorMeta } from "./graph-json.js";
import { type Call, type Operator, findOperator } from "./operators.js";

interface Step {
  readonly node: NodeJson;
  readonly operator: Operator;
  /** Which outputs something uses. */
  readonly used: readonly boolean[];
  readonly graphs: ReadonlyMap<Operand, Graph>;
  /** Values that nothing after it uses. */
  readonly last: readonly string[];
}

/** Values by name, and how many names each has. */
class Values {
  private readonly held = new Map<string, unknown>();
  private readonly counts = new Map<unknown, number>();

  get(name: string): unknown {
    return this.held.get(name);
  }
  set(name: string, value: unknown): void {
    this.held.set(name, value);
    this.counts.set(value, (this.counts.get(value) ?? 0) + 1);
  }
  /** Forgets a name; whether its value has no other one. */
  drop(name: string): boolean {
    const value = this.held.get(name),
      left = (this.counts.get(value) ?? 1) - 1;
    this.held.delete(name);
    this.counts.set(value, left);
    return left === 0;
  }
}

/** The names within an operand, those that graphs within it take from outside not among them: they take none. */
function* namesIn(operand: Operand): Generator<string> {
  if (operand.kind === "name") yield operand.name;
  else if (operand.kind === "list") for (const item of operand.items) yield* namesIn(item);
}

export class Graph {
  private readonly steps: readonly Step[];
  private readonly json: GraphJson;

  /** Throws for operators that there are not here, all of them with their places. */
  constructor(json: GraphJson, file: string, missing: Map<string, string[]> = new Map()) {
    const outermost = missing.size === 0;
    this.json = json;
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
    this.steps = json.nodes.map((node, i) => {
      const graphs = new Map<Operand, Graph>(),
        last = new Set<string>();
      for (const { operand } of node.inputs) {
        if (operand.kind === "graph") graphs.set(operand, new Graph(operand.graph, file, missing));
        for (const name of namesIn(operand)) if (lastUse.get(name) === i) last.add(name);
      }
      for (const name of node.outputs) if (name !== null && !lastUse.has(name)) last.add(name);
      const operator = findOperator(node.target);
      if (!operator) missing.set(node.target, [...(missing.get(node.target) ?? []), node.name]);
      return {
        node,
        operator: operator!,
        used: node.outputs.map((name) => name !== null && lastUse.has(name)),
        graphs,
        last: [...last],
      };
    });
    if (outermost && missing.size > 0)
      throw new FileError(
        file,
        `it uses operators that there are not here: ${[...missing]
          .map(([target, places]) => `${target} (${places.slice(0, 3).join(", ")}${places.length > 3 ? ", ..." : ""})`)
          .join(", ")}`,
      );
  }

  /** The outputs for these inputs, in the order of the graph's. */
  run(inputs: readonly unknown[], device: string): unknown[] {
    const values = new Values(),
      kept = new Set(inputs);
    this.json.inputs.forEach((input, i) => {
      if (input.kind === "name") values.set(input.name, inputs[i]);
    });
    for (const step of this.steps) {
      const made = this.made(step, values, device);
      step.node.outputs.forEach((name, i) => {
        if (name !== null) values.set(name, fitting(made[i], this.json.tensors.get(name)));
      });
      giveUp(step.last, values, kept);
    }
    return this.json.outputs.map((output) => valueOf(output, values, device));
  }

  private made({ node, operator, used, graphs }: Step, values: Values, device: string): unknown[] {
    const args: unknown[] = [],
      options: Record<string, unknown> = {};
    for (const { name, operand, keyword } of node.inputs) {
      if (operand.kind === "ignored") continue;
      const graph = graphs.get(operand),
        value = graph
          ? (...given: unknown[]) => {
              const found = graph.run(given, device);
              return graph.json.single ? found[0] : found;
            }
          : valueOf(operand, values, device);
      if (keyword) {
        if (value !== null) options[name] = value;
      } else args.push(value);
    }
    const call: Call = { args, options, used, device, target: node.target };
    let result: unknown;
    try {
      result = operator(call);
    } catch (error) {
      if (error instanceof Error && !error.message.includes(node.name))
        error.message = `${node.name} (${node.target}): ${error.message}`;
      throw error;
    }
    if (result instanceof Promise) {
      void result.catch(() => undefined);
      throw new OpError(
        `${node.name} (${node.target}): its result has a size that depends on values, which a program cannot wait for`,
      );
    }
    if (node.outputs.length === 0) return [];
    if (node.single) return [result];
    return Array.isArray(result)
      ? result
      : result instanceof Tensor
        ? [result]
        : Array.from(result as Iterable<unknown>);
  }
}

/** Frees what nothing uses any more, unless a gradient may; what was given in is not the graph's. */
function giveUp(names: readonly string[], values: Values, given: ReadonlySet<unknown>): void {
  const recording = is_grad_enabled();
  for (const name of names) {
    const value = values.get(name);
    if (values.drop(name) && !recording && value instanceof Tensor && !given.has(value)) value.dispose();
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

/** The value in the type that PyTorch had: a number's type decides there, and JavaScript has one type of numbers. */
function fitting(value: unknown, meta: TensorMeta | undefined): unknown {
  if (!(value instanceof Tensor) || !meta?.dtype || value.dtype === meta.dtype) return value;
  return to(value, [meta.dtype]) as Tensor;
}
