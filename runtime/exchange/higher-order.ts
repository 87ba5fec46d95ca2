// Operators over graphs: what switches gradients for a part of a program, its branches and loops, and parts for one
// sample that are run for many.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import type { Elements } from "../program/compiled-op.js";
import { autocast } from "../amp/modes.js";
import { zeros } from "../creation/create.js";
import { type DType, numbersOf } from "../elements/dtype.js";
import { stack } from "../functions/join.js";
import { set_grad_enabled } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { unbind } from "../views/splitting.js";
import type { GraphJson, NodeJson, Operand, TensorMeta } from "./graph-json.js";
import type { Call, Operator } from "./operators.js";
import { type Steps, completed, finished, here, settled } from "./waiting.js";

type Body = (...values: unknown[]) => unknown;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);

/** The one number of a tensor, or the number itself. */
export function numberOf(value: unknown, op: string): number {
  if (typeof value === "number" || typeof value === "boolean") return Number(value);
  if (!(value instanceof Tensor)) throw new TypeMismatchError(`${op}: expected a number, got ${describe(value)}`);
  value.check(op);
  if (value.numel() !== 1) throw new OpError(`${op}: a tensor with ${value.numel()} elements is no number`);
  const { storage, offset, dtype } = here(value),
    at = (storage as unknown as { elements: Elements }).elements.subarray(offset, offset + 1);
  return (dtype === "int64" ? numbersOf(at) : at)[0]!;
}

/** What a graph gives, as a list. */
function* resultsOf(body: unknown, ...values: unknown[]): Steps<unknown[]> {
  return list(yield* settled((body as Body)(...values)));
}

/** What no samples give: a tensor of the shape that the file says. */
function without(result: TensorMeta | null, device: string): Tensor {
  const sizes = result?.shape.filter((size) => typeof size === "number") ?? [];
  if (!result?.dtype || sizes.length < result.shape.length)
    throw new OpError("torch.vmap over no samples: the program does not say what their results are");
  return zeros(sizes, { dtype: result.dtype, device } as never);
}

const looped =
  (work: (call: Call) => Steps<unknown[]>): Operator =>
  (call) =>
    finished(work(call));

/** Effects that change nothing: they refuse what the function whose result they look at refuses here itself. */
const CHECKS = new Set(
  ["_linalg_check_errors.default", "_assert_async.msg", "_print.default"].map((op) => `torch.ops.aten.${op}`),
);

export const CONTROL: Readonly<Record<string, Operator>> = {
  wrap_with_set_grad_enabled: ({ args: [on, body, ...values] }) =>
    set_grad_enabled(on as boolean, () => (body as Body)(...values)),
  // Of another kind of device than the program's it changed nothing; and in a program of float32 throughout it shall not.
  wrap_with_autocast: ({ args: [kind, dtype, on, , body, ...values], device, origin }) => {
    const run = (): unknown => (body as Body)(...values);
    if (kind !== origin || (on && dtype === "float32")) return run();
    return autocast(device === "cpu" ? "cpu" : "webgpu", run, {
      dtype: on ? (dtype as DType) : null,
      enabled: on as boolean,
    });
  },
  // Only the order of effects is a value here.  Those that programs have check what their results are checked for anyway.
  with_effects: ({ args: [token, operator] }) => {
    if (!CHECKS.has(String(operator))) throw new OpError(`the effect ${String(operator)} cannot be had here`);
    return [token, null];
  },
  // what only says how gradients are to be computed, or what to compile as one
  tag_activation_checkpoint: ({ args: [body, ...values] }) => (body as Body)(...values),
  wrap: ({ args: [body, ...values] }) => (body as Body)(...values),
  invoke_subgraph: ({ args: [body, , ...values] }) => (body as Body)(...values),
  cond: ({ args: [condition, yes, no, values], target }) =>
    ((numberOf(condition, target) ? yes : no) as Body)(...list(values ?? [])),
  while_loop: looped(function* ({ args: [goOn, body, carried, more], target }) {
    const fixed = list(more ?? []);
    let values = list(carried);
    for (;;) {
      const [condition] = yield* resultsOf(goOn, ...values, ...fixed);
      if (!(yield* completed(() => numberOf(condition, target)))) return values;
      values = yield* resultsOf(body, ...values, ...fixed);
    }
  }),
  map_impl: looped(function* ({ args: [body, mapped, more] }) {
    const columns = list(mapped).map((x) => unbind(x as Tensor, 0)),
      rows: unknown[][] = [];
    for (let i = 0; i < columns[0]!.length; i++)
      rows.push(yield* resultsOf(body, ...columns.map((c) => c[i]), ...list(more ?? [])));
    return rows[0]!.map((_, k) => stack(rows.map((row) => row[k] as Tensor)));
  }),
  // a part that torch.vmap maps (below); of what all samples share there is one
  vmapped: looped(function* ({ args: [samples, body, axes, results], device }) {
    const rows: unknown[][] = [];
    for (let i = 0; i < (samples as number); i++) rows.push(yield* resultsOf(body, i));
    if (rows.length === 0) return list(results).map((result) => without(result as TensorMeta | null, device));
    return list(axes).map((axis, k) =>
      axis === null
        ? rows[0]![k]
        : stack(
            rows.map((row) => row[k] as Tensor),
            axis as number,
          ),
    );
  }),
  scan: looped(function* ({ args: [body, initial, scanned, more] }) {
    let carried = list(initial);
    const columns = list(scanned).map((x) => unbind(x as Tensor, 0)),
      outputs: unknown[][] = [];
    for (let i = 0; i < columns[0]!.length; i++) {
      const made = yield* resultsOf(body, ...carried, ...columns.map((c) => c[i]), ...list(more ?? []));
      outputs.push(made.slice(carried.length));
      carried = made.slice(0, carried.length);
    }
    return [...carried, ...outputs[0]!.map((_, k) => stack(outputs.map((row) => row[k] as Tensor)))];
  }),
};

// --- torch.vmap ---------------------------------------------------------------------------------------
// Programs that are not decomposed have calls before and after a part of a graph, between which tensors lack the axis
// that they are mapped over.  The part becomes a graph of its own, for one sample, and one node that runs it.

const PLACE = "torch._functorch.predispatch.";
const BEGIN = `${PLACE}_vmap_increment_nesting`;
const END = `${PLACE}_vmap_decrement_nesting`;
/** (tensor, axis, level) to what one sample has of it. */
const TAKEN = `${PLACE}_add_batch_dim`;
/** (tensor, level, samples, axis) to the tensor of all samples. */
const GIVEN = `${PLACE}_remove_batch_dim`;
const LOADED = `${PLACE}lazy_load_decompositions`;
/** The number of the sample. */
const SAMPLE = "the sample";

type Names = (operand: Operand) => Iterable<string>;

/** Where the part that begins at a node ends; -1: nowhere. */
function endOf(nodes: readonly NodeJson[], begin: number): number {
  let depth = 0;
  for (let i = begin; i < nodes.length; i++) {
    if (nodes[i]!.target === BEGIN) depth++;
    else if (nodes[i]!.target === END && --depth === 0) return i;
  }
  return -1;
}

/** How many arguments each has, which a file may say otherwise. */
const COUNTS: Readonly<Record<string, number>> = { [BEGIN]: 2, [TAKEN]: 3, [GIVEN]: 4 };
const isWhole = ({ target, inputs, outputs }: NodeJson): boolean =>
  inputs.length === (COUNTS[target] ?? inputs.length) && (target !== GIVEN || outputs.length === 1);

/** A part as a node: `torch.ops.higher_order.vmapped(samples, body, axes of the results)`; null where it maps nothing. */
function mapped(begin: NodeJson, part: readonly NodeJson[], json: GraphJson, later: ReadonlySet<string>, names: Names) {
  if (!part.some(({ target }) => target === TAKEN) || ![begin, ...part].every(isWhole)) return null;
  const given = part.filter(({ target }) => target === GIVEN),
    sample: Operand = { kind: "name", name: SAMPLE };
  const nodes = part
    .filter(({ target }) => target !== GIVEN)
    .map((node): NodeJson => {
      if (node.target !== TAKEN) return node;
      const [x, axis] = node.inputs;
      const index = { name: "index", operand: sample, keyword: false };
      return { ...node, target: "torch.ops.aten.select.int", inputs: [x!, axis!, index] };
    });
  const within = new Set(nodes.flatMap(({ outputs }) => outputs)),
    used = [...nodes, ...given].flatMap(({ inputs }) => inputs.flatMap(({ operand }) => [...names(operand)])),
    captured = [...new Set(used)].filter((name) => name !== SAMPLE && !within.has(name)),
    // what does not depend on the sample may be read behind the part
    shared = [...within].filter((name): name is string => name !== null && later.has(name)),
    named = (name: string): Operand => ({ kind: "name", name });
  const body: GraphJson = {
    inputs: [sample, ...captured.map(named)],
    outputs: [...given.map(({ inputs }) => inputs[0]!.operand), ...shared.map(named)],
    nodes,
    tensors: json.tensors,
    integers: json.integers,
    single: false,
  };
  const none: Operand = { kind: "value", value: null },
    axes: Operand = {
      kind: "list",
      items: [...given.map(({ inputs }) => inputs[3]!.operand), ...shared.map(() => none)],
    },
    results: Operand = {
      kind: "value",
      value: [...given.flatMap(({ outputs }) => outputs), ...shared].map(
        (name) => json.tensors.get(name ?? "") ?? null,
      ),
    },
    operands: Operand[] = [begin.inputs[0]!.operand, { kind: "graph", graph: body, captured }, axes, results];
  return {
    name: begin.name,
    target: "torch.ops.higher_order.vmapped",
    inputs: operands.map((operand) => ({ name: "", operand, keyword: false })),
    outputs: [...given.flatMap(({ outputs }) => outputs), ...shared],
    single: false,
  };
}

/** The nodes with each such part, and those within it, as one. */
function parted(nodes: readonly NodeJson[], json: GraphJson, names: Names): NodeJson[] {
  const out: NodeJson[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!,
      end = node.target === BEGIN ? endOf(nodes, i) : -1;
    if (node.target === LOADED) continue;
    if (end < 0) {
      out.push(node);
      continue;
    }
    const later = new Set(
      [...nodes.slice(end + 1).flatMap(({ inputs }) => inputs.map(({ operand }) => operand)), ...json.outputs].flatMap(
        (operand) => [...names(operand)],
      ),
    );
    const one = mapped(node, parted(nodes.slice(i + 1, end), json, names), json, later, names);
    out.push(...(one ? [one] : nodes.slice(i, end + 1)));
    i = end;
  }
  return out;
}

/** A graph without calls of torch.vmap's; `names` within an operand. */
export function withoutVmap(json: GraphJson, names: Names): GraphJson {
  if (!json.nodes.some(({ target }) => target === BEGIN)) return json;
  return { ...json, nodes: parted(json.nodes, json, names) };
}
