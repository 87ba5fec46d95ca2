// An ONNX model's graph as the graphs of torch.export are: functions of the model inlined, constants and initialisers taken
// out of every graph within it, and what a graph within takes from around it told.

import { FileError } from "../files/error.js";
import type { Extent, GraphJson, NodeJson, Operand, TensorMeta } from "../exchange/graph-json.js";
import type { AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto } from "./model-proto.js";
import { type DType, isFloat } from "../elements/dtype.js";
import { definitionOf, targetOf } from "./operators.js";
import { dtypeOf } from "./types.js";

/** The versions of the standard's operators that are known. */
const OLDEST = 1,
  NEWEST = 28;
/** What operators said in versions before 7, and say otherwise since. */
const OLD_ATTRIBUTES = new Set(["broadcast", "consumed_inputs", "is_test", "spatial"]);
/** Types that are kept in wider ones, so that a tensor does not show them. */
const NARROW = new Set([21, 22, 25, 26]);
/** How deep functions may call each other. */
const DEEPEST = 100;
/** How many nodes inlining may make. */
const MOST_NODES = 2 ** 16;

/** A tensor that the file holds. */
export interface Weight {
  /** The name that the graph has for it. */
  readonly id: string;
  readonly proto: TensorProto;
  /** Whether it is a constant of the program, and not among its initialisers. */
  readonly written: boolean;
  /** As which input of which operators it is used. */
  readonly uses: { readonly op: string; readonly at: number; readonly read: boolean; readonly bits: number }[];
}

/** A tensor among a node's attributes, which is read when everything else is known. */
export interface Held {
  readonly proto: TensorProto;
  readonly operand: { kind: "value"; value: unknown };
  readonly what: string;
}

export interface Converted {
  readonly json: GraphJson;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly weights: readonly Weight[];
  readonly held: readonly Held[];
  /** Sizes that are no constants. */
  readonly symbols: ReadonlySet<string>;
}

/** What names mean: those of a graph or function, and around it. */
class Scope {
  readonly names = new Map<string, string | null>();
  constructor(
    private readonly outer: Scope | null,
    /** By domain. */
    readonly versions: ReadonlyMap<string, number>,
    readonly attributes: ReadonlyMap<string, AttributeProto>,
    readonly path: string,
    readonly depth: number,
  ) {}

  /** The id of a name; undefined where nothing has it, null where it was left out. */
  find(name: string): string | null | undefined {
    const found = this.names.get(name);
    return found === undefined ? this.outer?.find(name) : found;
  }
  within(path: string): Scope {
    return new Scope(this, this.versions, this.attributes, path, this.depth);
  }
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const NOTHING: Operand = { kind: "value", value: null };

/** Of a node with weights of few bits, how many they have. */
const bitsOf = (node: NodeProto): number => Number(node.attribute.find(({ name }) => name === "bits")?.i ?? 4);

class Converter {
  readonly weights = new Map<string, Weight>();
  readonly held: Held[] = [];
  /** Element types, where they are told. */
  private readonly types = new Map<string, number>();
  /** The names there are, and how many others were made of each. */
  private readonly taken = new Map<string, number>();
  private readonly functions = new Map<string, FunctionProto>();
  private nodes = 0;

  constructor(
    model: ModelProto,
    private readonly file: string,
  ) {
    for (const f of model.functions) this.functions.set(`${f.domain}:${f.name}:${f.overload}`, f);
  }

  /** A name that no other value has. */
  private unique(name: string): string {
    let id = name,
      n = this.taken.get(name) ?? 0;
    while (this.taken.has(id)) id = `${name} (${++n + 1})`;
    this.taken.set(name, n).set(id, 0);
    return id;
  }

  /** Throws where a graph gives a name twice: which value is meant is not to be known. */
  private unheld(scope: Scope, name: string): void {
    if (scope.names.has(name)) throw new FileError(this.file, `the name ${scope.path}${name} stands for two values`);
  }

  private define(scope: Scope, name: string): string {
    this.unheld(scope, name);
    const id = this.unique(scope.path + name);
    scope.names.set(name, id);
    return id;
  }

  weight(scope: Scope, name: string, proto: TensorProto, written = false): void {
    const id = this.define(scope, name);
    this.weights.set(id, { id, proto, written, uses: [] });
    this.types.set(id, proto.data_type);
  }

  /** The nodes of a graph or function, in its order. */
  nodesOf(nodes: readonly NodeProto[], scope: Scope): NodeJson[] {
    return nodes.flatMap((node, i) => this.node(node, i, scope));
  }

  private node(node: NodeProto, index: number, scope: Scope): NodeJson[] {
    if (++this.nodes > MOST_NODES)
      throw new FileError(this.file, `with its functions inlined it has more than ${MOST_NODES} nodes`);
    const domain = node.domain === "ai.onnx" ? "" : node.domain,
      label = scope.path + (node.name || node.output.find((o) => o) || `node ${index}`),
      place = `${label} (${node.op_type})`,
      ids = node.input.map((name) => {
        if (name === "") return null;
        const id = scope.find(name);
        if (id === undefined) throw new FileError(this.file, `${place} uses ${name}, which nothing before it makes`);
        return id;
      });
    const own = this.functions.get(`${node.domain}:${node.op_type}:${node.overload}`);
    if (own) return this.inlined(node, own, ids, scope, label);
    if (domain === "" && node.op_type === "Constant" && this.constant(node, scope, place)) return [];
    const version = scope.versions.get(domain) ?? 1,
      target = targetOf(domain, node.op_type, version),
      host = definitionOf(domain, node.op_type)?.host ?? [];
    ids.forEach((id, at) => {
      if (id !== null)
        this.weights.get(id)?.uses.push({ op: node.op_type, at, read: host.includes(at), bits: bitsOf(node) });
    });
    const attributes = node.attribute.flatMap((attribute) => {
      const given = this.resolved(attribute, scope);
      return given && attribute.name !== "__proto__"
        ? [{ name: attribute.name, operand: this.attribute(given, scope, label), keyword: true }]
        : [];
    });
    if (version < 7 && domain === "" && attributes.some(({ name }) => OLD_ATTRIBUTES.has(name)))
      throw new FileError(this.file, `${place} is of version ${version}, and says what later ones do not`);
    const narrow = this.narrowed(node, ids);
    if (narrow)
      attributes.push({ name: narrow.attribute, operand: { kind: "value", value: narrow.type }, keyword: true });
    return [
      {
        name: label,
        target: narrow && node.op_type === "CastLike" ? targetOf("", "Cast", version) : target,
        inputs: [
          ...ids.map((id) => ({
            name: "",
            operand: id === null ? NOTHING : ({ kind: "name", name: id } as const),
            keyword: false,
          })),
          ...attributes,
        ],
        outputs: node.output.map((name) => (name === "" ? null : this.define(scope, name))),
        single: false,
      },
    ];
  }

  /** The type of 2 or 4 bits that an operator takes from a tensor's, as the attribute that would say it. */
  private narrowed(node: NodeProto, ids: readonly (string | null)[]): { attribute: string; type: number } | null {
    const from = node.op_type === "CastLike" ? ids[1] : node.op_type === "QuantizeLinear" ? ids[2] : null,
      type = from ? this.types.get(from) : undefined;
    if (type === undefined || !NARROW.has(type)) return null;
    return { attribute: node.op_type === "CastLike" ? "to" : "output_dtype", type };
  }

  /** What a reference to an attribute of the function around it stands for. */
  private resolved(attribute: AttributeProto, scope: Scope): AttributeProto | undefined {
    return attribute.ref_attr_name ? scope.attributes.get(attribute.ref_attr_name) : attribute;
  }

  private inlined(
    node: NodeProto,
    own: FunctionProto,
    ids: readonly (string | null)[],
    outer: Scope,
    label: string,
  ): NodeJson[] {
    if (outer.depth >= DEEPEST)
      throw new FileError(this.file, `${label}: functions call each other more than ${DEEPEST} deep`);
    const given = new Map(own.attribute_proto.map((a) => [a.name, a] as const));
    for (const attribute of node.attribute) {
      const found = this.resolved(attribute, outer);
      if (found) given.set(attribute.name, found);
    }
    const inner = new Scope(null, versionsOf(own.opset_import, this.file), given, `${label}/`, outer.depth + 1);
    own.input.forEach((name, i) => inner.names.set(name, ids[i] ?? null));
    const nodes = this.nodesOf(own.node, inner);
    node.output.forEach((name, i) => {
      if (name === "") return;
      const made = inner.find(own.output[i] ?? "");
      if (made === undefined)
        throw new FileError(this.file, `${label}: the function ${own.name} makes no output ${i + 1}`);
      this.unheld(outer, name);
      outer.names.set(name, made);
    });
    return nodes;
  }

  /** Takes a constant out of the graph; false where it is none that can be. */
  private constant(node: NodeProto, scope: Scope, place: string): boolean {
    const [attribute] = node.attribute,
      [output] = node.output,
      given = attribute && this.resolved(attribute, scope);
    if (!given || !output) throw new FileError(this.file, `${place} says not what it is`);
    const proto = tensorOf(attribute.name, given);
    if (!proto) throw new FileError(this.file, `${place}: constants that are ${attribute.name} cannot be had here`);
    this.weight(scope, output, proto, true);
    return true;
  }

  private attribute(given: AttributeProto, scope: Scope, label: string): Operand {
    switch (given.type) {
      case 1:
        return { kind: "value", value: given.f };
      case 2:
        return { kind: "value", value: given.i };
      case 3:
        return { kind: "value", value: text(given.s) };
      case 4: {
        const operand = { kind: "value" as const, value: null };
        if (given.t) this.held.push({ proto: given.t, operand, what: `${label}, attribute '${given.name}'` });
        return operand;
      }
      case 5:
        if (!given.g) break;
        return this.body(given.g, scope.within(`${label}/`));
      case 6:
        return { kind: "value", value: given.floats };
      case 7:
        return { kind: "value", value: given.ints };
      case 8:
        return { kind: "value", value: given.strings.map(text) };
      case 13:
        return { kind: "value", value: given.tp };
      default:
    }
    throw new FileError(this.file, `${label}: its attribute '${given.name}' is of a kind that cannot be had here`);
  }

  /** A graph within another. */
  private body(graph: GraphProto, scope: Scope): Operand {
    const json = this.graph(graph, scope),
      own = new Set<string>(),
      captured = new Set<string>();
    for (const input of json.inputs) if (input.kind === "name") own.add(input.name);
    for (const node of json.nodes) for (const name of node.outputs) if (name !== null) own.add(name);
    const use = (operand: Operand) => {
      if (operand.kind === "name" && !own.has(operand.name)) captured.add(operand.name);
      if (operand.kind === "graph") for (const name of operand.captured) if (!own.has(name)) captured.add(name);
    };
    for (const node of json.nodes) for (const { operand } of node.inputs) use(operand);
    json.outputs.forEach(use);
    const names = [...captured];
    return {
      kind: "graph",
      graph: { ...json, inputs: [...json.inputs, ...names.map((name) => ({ kind: "name" as const, name }))] },
      captured: names,
    };
  }

  graph(graph: GraphProto, scope: Scope): GraphJson {
    for (const proto of graph.initializer) this.weight(scope, proto.name, proto);
    if (graph.sparse_initializer.length > 0)
      throw new FileError(this.file, "it holds sparse tensors, which are not read");
    const held = new Set(graph.initializer.map(({ name }) => name)),
      inputs = graph.input
        .filter(({ name }) => !held.has(name))
        .map(({ name, type }) => {
          const id = this.define(scope, name);
          if (type?.tensor_type) this.types.set(id, type.tensor_type.elem_type);
          return { kind: "name" as const, name: id };
        }),
      nodes = this.nodesOf(graph.node, scope),
      outputs = graph.output.map(({ name }): Operand => {
        const id = scope.find(name);
        if (id === undefined) throw new FileError(this.file, `nothing makes the output ${name}`);
        return id === null ? NOTHING : { kind: "name", name: id };
      });
    return { inputs, outputs, nodes, tensors: new Map(), integers: new Map(), single: false };
  }
}

/** The tensor that a Constant's attribute means; null for text and for what is sparse. */
function tensorOf(name: string, given: AttributeProto): TensorProto | null {
  const made = (data_type: number, dims: number[], data: Partial<TensorProto>): TensorProto => ({
    dims,
    data_type,
    float_data: [],
    int32_data: [],
    string_data: [],
    int64_data: [],
    double_data: [],
    uint64_data: [],
    name: "",
    raw_data: undefined,
    external_data: [],
    data_location: 0,
    ...data,
  });
  switch (name) {
    case "value":
      return given.t ?? null;
    case "value_float":
      return made(1, [], { float_data: [given.f] });
    case "value_floats":
      return made(1, [given.floats.length], { float_data: given.floats });
    case "value_int":
      return made(7, [], { int64_data: [given.i] });
    case "value_ints":
      return made(7, [given.ints.length], { int64_data: given.ints });
    default:
      return null;
  }
}

function versionsOf(sets: ModelProto["opset_import"], file: string): Map<string, number> {
  const versions = new Map(sets.map(({ domain, version }) => [domain === "ai.onnx" ? "" : domain, version]));
  const own = versions.get("");
  if (own !== undefined && !(own >= OLDEST && own <= NEWEST))
    throw new FileError(file, `its operators are of version ${own}; ${OLDEST} to ${NEWEST} are known`);
  return versions;
}

/** What is said of an input's type and sizes; null where nothing is. */
function metaOf(
  { type }: GraphProto["input"][number],
  symbols: Set<string>,
  floating: DType | null,
): TensorMeta | null {
  const told = type?.tensor_type;
  if (!told?.shape) return null;
  const found = dtypeOf(told.elem_type),
    shape = told.shape.dim.map((dim): Extent => {
      if (dim.value === "dim_value") return dim.dim_value;
      if (dim.value === undefined || dim.dim_param === "") return "?";
      if (/^\w+$/.test(dim.dim_param)) symbols.add(dim.dim_param);
      return dim.dim_param;
    });
  return { dtype: found && floating && isFloat(found) ? floating : found, shape, requiresGrad: false };
}

/** Throws FileError for what is no model, or names what nothing makes. */
export function convert(model: ModelProto, file: string, floating: DType | null): Converted {
  const { graph } = model;
  if (!graph || model.ir_version === 0) throw new FileError(file, "it is no model of ONNX: it has no graph");
  const converter = new Converter(model, file),
    scope = new Scope(null, versionsOf(model.opset_import, file), new Map(), "", 0),
    json = converter.graph(graph, scope),
    symbols = new Set<string>(),
    held = new Set(graph.initializer.map(({ name }) => name)),
    tensors = new Map<string, TensorMeta>(),
    inputs: string[] = [];
  for (const input of graph.input) {
    if (held.has(input.name)) continue;
    inputs.push(input.name);
    const meta = metaOf(input, symbols, floating);
    if (meta) tensors.set(input.name, meta);
  }
  return {
    json: { ...json, tensors },
    inputs,
    outputs: graph.output.map(({ name }) => name),
    weights: [...converter.weights.values()],
    held: converter.held,
    symbols,
  };
}
