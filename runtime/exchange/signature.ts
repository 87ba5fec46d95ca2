// What the inputs and outputs of an exported graph are.

import type { GraphJson, GraphReader, Operand } from "./graph-json.js";
import { type TreeSpec, leavesOf, readTreeSpec } from "./tree-spec.js";

export type InputSpec =
  /** An argument of the program. */
  | { readonly kind: "user"; readonly name: string }
  /** A number or text that was fixed when it was exported; `given`: an argument that must be it. */
  | { readonly kind: "value"; readonly name: string; readonly value: unknown; readonly given: boolean }
  | { readonly kind: "parameter"; readonly name: string; readonly target: string }
  | { readonly kind: "constant"; readonly name: string; readonly target: string }
  | { readonly kind: "buffer"; readonly name: string; readonly target: string; readonly persistent: boolean };

export type OutputSpec =
  | { readonly kind: "user"; readonly name?: string }
  /** What a parameter or buffer, or an argument, becomes. */
  | { readonly kind: "state" | "input"; readonly target: string }
  /** The order of effects, which is that of the graph here. */
  | { readonly kind: "token" };

export interface Signature {
  readonly inputs: readonly InputSpec[];
  readonly outputs: readonly OutputSpec[];
  /** How arguments by place and by name nest, and results. */
  readonly args: TreeSpec;
  readonly kwargs: TreeSpec;
  readonly results: TreeSpec;
  /** The arguments' names. */
  readonly names: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const nameOf = (operand: Operand): string => (operand.kind === "name" ? operand.name : "");

function inputSpec(reader: GraphReader, value: unknown, place: string): InputSpec {
  const [kind, inner] = reader.union(value, place),
    spec = reader.object(inner, place),
    text = (key: string) => reader.text(spec[key], place);
  if (kind === "constant_input") {
    const [, fixed] = reader.union(spec["value"], place);
    return {
      kind: "value",
      name: text("name"),
      value: "as_none" in (spec["value"] as object) ? null : fixed,
      given: true,
    };
  }
  if (kind === "user_input") {
    const operand = reader.operand(spec["arg"], place);
    return operand.kind === "value"
      ? { kind: "value", name: place, value: operand.value, given: true }
      : { kind: "user", name: nameOf(operand) };
  }
  // what puts effects in an order: nothing here, where they have that of the graph
  if (kind === "token")
    return { kind: "value", name: nameOf(reader.named(spec["arg"], place)), value: null, given: false };
  if (kind === "custom_obj") throw reader.fail(place, `inputs of the kind ${kind} cannot be had here`);
  const name = nameOf(reader.named(spec["arg"], place));
  if (kind === "parameter") return { kind, name, target: text("parameter_name") };
  if (kind === "tensor_constant") return { kind: "constant", name, target: text("tensor_constant_name") };
  if (kind === "buffer") return { kind, name, target: text("buffer_name"), persistent: spec["persistent"] !== false };
  throw reader.fail(place, `inputs of the kind ${kind} are not known`);
}

function outputSpec(reader: GraphReader, value: unknown, place: string): OutputSpec {
  const [kind, inner] = reader.union(value, place),
    spec = reader.object(inner, place),
    text = (key: string) => reader.text(spec[key], place);
  switch (kind) {
    case "user_output":
    case "loss_output":
      return { kind: "user" };
    case "buffer_mutation":
      return { kind: "state", target: text("buffer_name") };
    case "parameter_mutation":
      return { kind: "state", target: text("parameter_name") };
    case "token":
      return { kind: "token" };
    case "user_input_mutation":
      return { kind: "input", target: text("user_input_name") };
    default:
      throw reader.fail(place, `outputs of the kind ${kind} cannot be had here`);
  }
}

/** Reads it; throws where it does not fit the graph. */
export function readSignature(reader: GraphReader, module: Json, graph: GraphJson, file: string): Signature {
  const specs = reader.object(module["signature"], "signature"),
    inputs = reader.list(specs["input_specs"], "signature").map((s, i) => inputSpec(reader, s, `input ${i}`)),
    outputs = reader.list(specs["output_specs"], "signature").map((s, i) => outputSpec(reader, s, `output ${i}`));
  if (inputs.length !== graph.inputs.length || outputs.length !== graph.outputs.length)
    throw reader.fail("signature", "it has not as many inputs and outputs as the graph");
  const calls = reader.list(module["module_call_graph"], "module_call_graph"),
    root = calls.map((c) => reader.object(c, "module_call_graph")).find((c) => c["fqn"] === ""),
    call = reader.object(root?.["signature"], "the call of the whole module"),
    given = readTreeSpec(reader.text(call["in_spec"], "in_spec"), file),
    results = readTreeSpec(reader.text(call["out_spec"], "out_spec"), file),
    [args, kwargs] = given.parts ?? [];
  if (!args?.parts || !kwargs?.keys) throw reader.fail("in_spec", "arguments by place and by name are expected");
  const users = inputs.filter((s) => s.kind === "user" || (s.kind === "value" && s.given)),
    names = Array.isArray(call["forward_arg_names"]) ? call["forward_arg_names"].map(String) : [];
  if (leavesOf(given) !== users.length) throw reader.fail("in_spec", "it has not as many values as there are inputs");
  return {
    inputs,
    outputs,
    args,
    kwargs,
    results,
    names: names.length > 0 ? names : [...args.parts.map((_, i) => users[i]?.name ?? ""), ...kwargs.keys],
  };
}
