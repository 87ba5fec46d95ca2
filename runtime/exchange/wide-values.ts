// float64 in a program on a GPU, which has none: what has such values is computed on the CPU, and so is what leads to
// them alone without an argument of the program.  PyTorch decomposes logspace so, and tables of angles are often made so.

import { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import type { GraphJson, NodeJson, Operand } from "./graph-json.js";
import { type Steps, settled } from "./waiting.js";

/** The nodes that run on the CPU, wherever the program runs; and the names of values that are there. */
export function withWideValues(
  json: GraphJson,
  names: (operand: Operand) => Iterable<string>,
): { readonly onCpu: ReadonlySet<NodeJson>; readonly away: ReadonlySet<string | null> } {
  const inputs = new Set(json.inputs.flatMap((input) => [...names(input)])),
    wide = (name: string | null): boolean => name !== null && json.tensors.get(name)?.dtype === "float64",
    // one number beside tensors takes their type
    alone = (name: string): boolean => inputs.has(name) && json.tensors.get(name)!.shape.length === 0,
    taken = (node: NodeJson): string[] => node.inputs.flatMap(({ operand }) => [...names(operand)]),
    within = ({ inputs }: NodeJson): boolean => inputs.some(({ operand }) => operand.kind === "graph"),
    found = new Set(
      json.nodes.filter(
        (node) => !within(node) && (node.outputs.some(wide) || taken(node).some((name) => wide(name) && !alone(name))),
      ),
    );
  const given = new Set(inputs), // and what depends on it
    wanted = new Set([...found].flatMap(taken));
  for (const node of json.nodes)
    if (within(node) || taken(node).some((name) => given.has(name)))
      for (const name of node.outputs) if (name !== null) given.add(name);
  for (const node of [...json.nodes].reverse()) {
    if (!node.outputs.some((name) => name !== null && wanted.has(name) && !given.has(name))) continue;
    found.add(node);
    for (const name of taken(node)) wanted.add(name);
  }
  const made = [...found].flatMap(({ outputs }) => outputs);
  return { onCpu: found, away: new Set([...made, ...[...inputs].filter(wide)]) };
}

/** A value, or each of a list, on a device, where a GPU has float32 of float64; reading a GPU takes a wait. */
export function* onDevice(value: unknown, device: string): Steps<unknown> {
  if (Array.isArray(value)) {
    const all: unknown[] = [];
    for (const item of value) all.push(yield* onDevice(item, device));
    return all;
  }
  if (!(value instanceof Tensor) || value.device === device) return value;
  return yield* settled(to(value, value.dtype === "float64" ? [device, "float32"] : [device]));
}
