// The graph of a torch.export archive as its JSON has it (PyTorch's torch/_export/serde/schema.py), read once and
// checked: what is not there, or is something else, is told with its place.

import { Complex } from "../elements/complex-number.js";
import { type DType, toDType } from "../elements/dtype.js";
import { FileError } from "../files/error.js";
import { isByName } from "./aten/names.js";
import { readable } from "./size-expressions.js";

/** PyTorch's numbers of types, by the names that they have here. */
const TYPES: Readonly<Record<number, string>> = {
  1: "uint8",
  2: "int8",
  3: "int16",
  4: "int32",
  5: "int64",
  6: "float16",
  7: "float32",
  8: "float64",
  9: "complex32",
  10: "complex64",
  11: "complex128",
  12: "bool",
  13: "bfloat16",
  28: "uint16",
  34: "uint32",
  35: "uint64",
};

const FLOATING = new Set(["float16", "bfloat16", "float32", "float64"]);

/** The name that PyTorch has for one of its numbers of types. */
export const typeName = (number: unknown): string =>
  (Number.isInteger(number) && TYPES[number as number]) || `type number ${String(number)}`;

/** How large a size may be that is no constant: a text of symbols, such as "s77" or "2*s0". */
export type Extent = number | string;

/** What is known of a tensor before it is computed; the dtype is null where there is none such here. */
export interface TensorMeta {
  readonly dtype: DType | null;
  readonly shape: readonly Extent[];
  readonly requiresGrad: boolean;
  /** The kind of its device: "cpu", "cuda". */
  readonly device?: string;
}

/** What an argument is: a value, the name of one, a list of them, or a graph. */
export type Operand =
  /** `float`: a number that is one of Python's floats. */
  | { readonly kind: "value"; readonly value: unknown; readonly float?: boolean }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly Operand[] }
  /** `captured`: values of the graph around it, which are its last inputs. */
  | { readonly kind: "graph"; readonly graph: GraphJson; readonly captured: readonly string[] }
  | { readonly kind: "device" | "ignored" };

export interface NodeJson {
  readonly name: string;
  /** "torch.ops.aten.add.Tensor", "_operator.mul". */
  readonly target: string;
  readonly inputs: readonly { readonly name: string; readonly operand: Operand; readonly keyword: boolean }[];
  /** The names of what it gives, null for what nobody can use; `single`: one value, not a list of one. */
  readonly outputs: readonly (string | null)[];
  readonly single: boolean;
  /** Whether some of what it gives are lists, whose elements `outputs` has one after the other. */
  readonly lists?: boolean;
  /** Whether the model called it without gradients, of which decomposing a program leaves no more than this. */
  readonly apart?: boolean;
}

export interface GraphJson {
  readonly inputs: readonly Operand[];
  readonly outputs: readonly Operand[];
  readonly nodes: readonly NodeJson[];
  readonly tensors: ReadonlyMap<string, TensorMeta>;
  /** Whole numbers that are no constants, of which inputs may be some. */
  readonly integers: ReadonlyMap<string, Extent>;
  /** One value instead of a list of one. */
  readonly single: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** What a node says of its origin: the function and the method that the model called. */
const originOf = (metadata: unknown): string => String((metadata as Json | null | undefined)?.["torch_fn"] ?? "");

/** The operator that the model called.  Decomposing a program makes `alias` of `detach`, and of slices of everything, whose
 *  gradients go on; which it was is left in its origin. */
const meant = (target: string, origin: string): string =>
  target === "torch.ops.aten.alias.default" && origin.endsWith(".detach") ? "torch.ops.aten.detach.default" : target;

/** Reads the JSON of one file. */

export class GraphReader {
  constructor(
    private readonly file: string,
    /** What floating tensors of the program become; null: they stay what they are. */
    private readonly floating: DType | null = null,
  ) {}

  /** The name of a type, as the program shall have it. */
  private typeOf(number: unknown): string {
    const name = typeName(number);
    return this.floating && FLOATING.has(name) ? this.floating : name;
  }

  fail(place: string, problem: string): FileError {
    return new FileError(this.file, `${place}: ${problem}`);
  }

  object(value: unknown, place: string): Json {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw this.fail(place, "an object is expected in its JSON");
    return value as Json;
  }

  list(value: unknown, place: string): readonly unknown[] {
    if (!Array.isArray(value)) throw this.fail(place, "a list is expected in its JSON");
    return value;
  }

  text(value: unknown, place: string): string {
    if (typeof value !== "string") throw this.fail(place, "a text is expected in its JSON");
    return value;
  }

  /** The one key of `{as_tensor: …}` and its value. */
  union(value: unknown, place: string): readonly [kind: string, value: unknown] {
    const entries = Object.entries(this.object(value, place)).filter(([, v]) => v !== null && v !== undefined);
    if (entries.length !== 1) throw this.fail(place, "an object with one key is expected in its JSON");
    return entries[0]!;
  }

  named(value: unknown, place: string): Operand {
    return { kind: "name", name: this.text(this.object(value, place)["name"], place) };
  }

  /** `{as_name: "s0"}`, `{as_int: 3}`. */
  private symbol(value: unknown, place: string): Operand {
    const [kind, inner] = this.union(value, place);
    return kind === "as_name" ? { kind: "name", name: this.text(inner, place) } : { kind: "value", value: inner };
  }

  operand(value: unknown, place: string): Operand {
    const [kind, inner] = this.union(value, place),
      items = (read: (item: unknown) => Operand): Operand => ({
        kind: "list",
        items: this.list(inner, place).map(read),
      });
    switch (kind) {
      case "as_none":
        return { kind: "value", value: null };
      case "as_tensor":
        return this.named(inner, place);
      case "as_int":
        return { kind: "value", value: this.number(inner, place) };
      case "as_float":
        return { kind: "value", value: this.number(inner, place), float: true };
      case "as_bool":
      case "as_string":
      case "as_operator":
      case "as_ints":
      case "as_bools":
      case "as_strings":
      case "as_int_lists":
      case "as_float_lists":
        return { kind: "value", value: inner };
      case "as_floats":
        return { kind: "value", value: this.list(inner, place).map((item) => this.number(item, place)) };
      case "as_complex": {
        const { real, imag } = this.object(inner, place);
        return { kind: "value", value: new Complex(this.number(real, place), this.number(imag, place)) };
      }
      case "as_scalar_type":
        return { kind: "value", value: this.typeOf(inner) };
      case "as_tensors":
        return items((item) => this.named(item, place));
      case "as_nested_tensors":
        return items((item) => ({
          kind: "list",
          items: this.list(item, place).map((inside) => this.named(inside, place)),
        }));
      case "as_sym_int":
      case "as_sym_float":
      case "as_sym_bool":
        return this.symbol(inner, place);
      case "as_sym_ints":
      case "as_sym_floats":
      case "as_sym_bools":
        return items((item) => this.symbol(item, place));
      case "as_optional_tensor":
        return this.operand(inner, place);
      case "as_optional_tensors":
        return items((item) => this.operand(item, place));
      case "as_graph":
        return { kind: "graph", graph: this.graph(this.object(inner, place)["graph"], place), captured: [] };
      case "as_device":
        return { kind: "device" };
      case "as_memory_format":
      case "as_layout":
        return { kind: "ignored" };
      default:
        throw this.fail(place, `an argument of the kind ${kind} cannot be had here`);
    }
  }

  /** A number; infinities and NaN are texts in JSON. */
  private number(value: unknown, place: string): number {
    const number = typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value;
    if (typeof number !== "number") throw this.fail(place, "a number is expected in its JSON");
    return number;
  }

  private extent(value: unknown, place: string): Extent {
    const [kind, inner] = this.union(value, place);
    if (kind === "as_int") return inner as number;
    return readable(this.text(this.object(inner, place)["expr_str"], place));
  }

  /** A tensor's type and sizes, as a graph or a list of weights has them. */
  meta(value: unknown, place: string): TensorMeta {
    const meta = this.object(value, place),
      name = this.typeOf(meta["dtype"]);
    let dtype: DType | null = null;
    try {
      dtype = toDType(name, "load");
    } catch {
      // said where a tensor of it is made
    }
    return {
      dtype,
      shape: this.list(meta["sizes"], place).map((size) => this.extent(size, place)),
      requiresGrad: meta["requires_grad"] === true,
      device: String((meta["device"] as Json | null | undefined)?.["type"] ?? "cpu"),
    };
  }

  graph(value: unknown, place: string): GraphJson {
    const graph = this.object(value, place),
      operands = (list: unknown) => this.list(list, place).map((item) => this.operand(item, place));
    return {
      inputs: operands(graph["inputs"]),
      outputs: operands(graph["outputs"]),
      nodes: this.list(graph["nodes"], place).map((node, i) => this.node(node, i)),
      tensors: new Map(
        Object.entries(this.object(graph["tensor_values"], place)).map(([name, meta]) => [name, this.meta(meta, name)]),
      ),
      integers: new Map(
        Object.entries(this.object(graph["sym_int_values"] ?? {}, place)).map(([name, x]) => [
          name,
          this.extent(x, name),
        ]),
      ),
      single: graph["is_single_tensor_return"] === true,
    };
  }

  private node(value: unknown, index: number): NodeJson {
    const node = this.object(value, `node ${index}`),
      origin = originOf(node["metadata"]),
      target = meant(this.text(node["target"], `node ${index}`), origin),
      name = typeof node["name"] === "string" ? node["name"] : `node ${index}`,
      place = `${name} (${target})`;
    const inputs = this.list(node["inputs"], place).map((item) => {
      const input = this.object(item, place),
        label = typeof input["name"] === "string" ? input["name"] : "";
      return {
        name: label,
        operand: this.operand(input["arg"], `${place}, argument '${label}'`),
        keyword: input["kind"] === 2 || (input["kind"] !== 1 && isByName(target, label)),
      };
    });
    const given = this.list(node["outputs"], place).map((item) => this.operand(item, place)),
      [first] = given,
      outputs = given.flatMap((output) => (output.kind === "list" ? output.items : [output]));
    return {
      name,
      target,
      inputs,
      outputs: outputs.map((o) => (o.kind === "name" ? o.name : null)),
      single: given.length === 1 && first!.kind === "name" && node["is_hop_single_tensor_return"] !== false,
      lists: given.length > 1 && given.some((output) => output.kind === "list"),
      apart: target.startsWith("torch.ops.aten.") && origin.startsWith("wrap_with_set_grad_enabled"),
    };
  }
}
