// An ONNX graph under construction.  Every value has a type and a shape that are known; equal operations are made once.

import { FileError } from "../../files/error.js";
import type { AttributeProto, NodeProto, TensorProto } from "../model-proto.js";
import type { Message } from "../model-writer.js";

/** ONNX's numbers of types, by the names that they have here. */
export const TYPES: Readonly<Record<string, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  bfloat16: 16,
};
export const FLOAT = 1,
  INT64 = 7,
  BOOL = 9,
  DOUBLE = 11;

/** A value of the graph. */
export interface Value {
  readonly name: string;
  /** ONNX's number of its type. */
  readonly type: number;
  readonly shape: readonly number[];
}

/** What a node says beside its inputs: whole numbers, floating ones (`{ f: 0.5 }`), or texts. */
export type Attribute = number | readonly number[] | string | { readonly f: number };

/** The most elements that a table of constants may have: what would need more has no place in a file. */
const MOST_CONSTANTS = 2 ** 24;

export const numel = (shape: readonly number[]): number => shape.reduce((n, size) => n * size, 1);

/** The shape of what two shapes are broadcast to. */
export function broadcast(...shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(0, ...shapes.map((s) => s.length));
  return Array.from({ length: rank }, (_, d) =>
    shapes.reduce((size, shape) => {
      const own = shape[d - rank + shape.length] ?? 1;
      return own === 1 ? size : own;
    }, 1),
  );
}

function attributeProto(name: string, given: Attribute): Message<AttributeProto> {
  if (typeof given === "number") return { name, type: 2, i: given };
  if (typeof given === "string") return { name, type: 3, s: new TextEncoder().encode(given) };
  if ("f" in given) return { name, type: 1, f: given.f };
  return { name, type: 7, ints: [...given] };
}

export class GraphBuilder {
  readonly nodes: Message<NodeProto>[] = [];
  readonly initializers: Message<TensorProto>[] = [];
  /** What is being written, for names and errors. */
  place = "";
  private readonly known = new Map<string, Value>();
  private readonly names = new Set<string>();
  /** What was reshaped, by the name of what came of it. */
  private readonly reshaped = new Map<string, Value>();

  /** `opset`: the version of the standard that it is written in. */
  constructor(readonly opset: number) {}

  /** A name that nothing else has. */
  unique(wanted: string): string {
    let name = wanted;
    for (let n = 1; this.names.has(name); n++) name = `${wanted}_${n}`;
    this.names.add(name);
    return name;
  }

  /** A node of one output of this type and shape. */
  op(
    kind: string,
    inputs: readonly (Value | null)[],
    shape: readonly number[],
    type: number = inputs[0]!.type,
    attributes: Readonly<Record<string, Attribute>> = {},
  ): Value {
    return this.ops(kind, inputs, [{ shape, type }], attributes)[0]!;
  }

  /** A node of several outputs. */
  ops(
    kind: string,
    inputs: readonly (Value | null)[],
    outputs: readonly { readonly shape: readonly number[]; readonly type: number }[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): Value[] {
    const given = inputs.map((x) => x?.name ?? "");
    while (given.at(-1) === "") given.pop();
    const key = JSON.stringify([kind, given, attributes, outputs.map(({ type }) => type)]);
    return outputs.map(({ shape, type }, n) => {
      const before = this.known.get(`${key}${n}`);
      if (before) return before;
      const made = { name: this.unique(`${this.place}_${kind}`.toLowerCase()), type, shape: [...shape] };
      this.known.set(`${key}${n}`, made);
      if (n === 0)
        this.nodes.push({
          input: given,
          output: [made.name],
          name: made.name,
          op_type: kind,
          attribute: Object.entries(attributes).map(([name, attribute]) => attributeProto(name, attribute)),
        });
      else this.nodes.at(-1)!.output!.push(made.name);
      return made;
    });
  }

  /** A node of what its inputs are broadcast to. */
  each(kind: string, inputs: readonly Value[], type?: number, attributes?: Readonly<Record<string, Attribute>>): Value {
    return this.op(kind, inputs, broadcast(...inputs.map((x) => x.shape)), type, attributes);
  }

  /** A tensor that the file holds, with the name that it has outside. */
  weight(name: string, bytes: Uint8Array, type: number, shape: readonly number[]): Value {
    const value = { name: this.unique(name), type, shape };
    this.initializers.push({
      dims: [...shape],
      data_type: type,
      name: value.name,
      raw_data: bytes as Uint8Array<ArrayBuffer>,
    });
    return value;
  }

  /** Numbers that stand in the file; of type INT64, FLOAT, DOUBLE or BOOL. */
  constant(numbers: ArrayLike<number | bigint>, shape: readonly number[], type: number): Value {
    if (numbers.length > MOST_CONSTANTS)
      throw new FileError(
        "the ONNX model",
        `${this.place} has no operator in ONNX, and would need a table of ${numbers.length} numbers`,
      );
    const bytes = new Uint8Array(bytesOf(numbers, type)),
      key = `constant ${type} [${shape.join(", ")}] ${numbers.length <= 64 ? Array.from(numbers, signed).join(" ") : hashOf(bytes)}`,
      before = this.known.get(key);
    if (before) return before;
    const made = this.weight("constant", bytes, type, shape);
    this.known.set(key, made);
    return made;
  }

  sizes(numbers: readonly number[]): Value {
    return this.constant(numbers, [numbers.length], INT64);
  }

  number(value: number | bigint, type: number): Value {
    return this.constant([value], [], type);
  }

  /** Leaves out what no output needs. */
  prune(outputs: readonly Value[]): void {
    const needed = new Set(outputs.map(({ name }) => name));
    for (const node of [...this.nodes].reverse())
      if (node.output!.some((name) => needed.has(name))) for (const name of node.input!) needed.add(name);
    const kept = (names: readonly string[]): boolean => names.some((name) => needed.has(name));
    this.nodes.splice(0, Infinity, ...this.nodes.filter(({ output }) => kept(output!)));
    this.initializers.splice(0, Infinity, ...this.initializers.filter(({ name }) => kept([name!])));
  }

  reshape(x: Value, shape: readonly number[]): Value {
    if (x.shape.length === shape.length && x.shape.every((size, i) => size === shape[i])) return x;
    const from = this.reshaped.get(x.name) ?? x;
    if (from.shape.length === shape.length && from.shape.every((size, i) => size === shape[i])) return from;
    // 0 stands for the size that was there, unless told otherwise
    const made = this.op(
      "Reshape",
      [from, this.sizes(shape)],
      shape,
      x.type,
      shape.includes(0) ? { allowzero: 1 } : {},
    );
    this.reshaped.set(made.name, from);
    return made;
  }

  transpose(x: Value, perm: readonly number[]): Value {
    if (perm.every((from, to) => from === to)) return x;
    return this.op(
      "Transpose",
      [x],
      perm.map((d) => x.shape[d]!),
      x.type,
      { perm },
    );
  }

  slice(x: Value, axis: number, from: number, to: number): Value {
    if (from === 0 && to === x.shape[axis]) return x;
    return this.op(
      "Slice",
      [x, this.sizes([from]), this.sizes([to]), this.sizes([axis])],
      x.shape.map((size, d) => (d === axis ? to - from : size)),
    );
  }

  concat(parts: readonly Value[], axis: number): Value {
    if (parts.length === 1) return parts[0]!;
    const size = parts.reduce((n, { shape }) => n + shape[axis]!, 0);
    return this.op(
      "Concat",
      parts,
      parts[0]!.shape.map((own, d) => (d === axis ? size : own)),
      parts[0]!.type,
      { axis },
    );
  }

  expand(x: Value, shape: readonly number[]): Value {
    if (x.shape.length === shape.length && x.shape.every((size, i) => size === shape[i])) return x;
    return this.op("Expand", [x, this.sizes(shape)], shape);
  }

  cast(x: Value, type: number): Value {
    return x.type === type ? x : this.op("Cast", [x], x.shape, type, { to: type });
  }
}

const signed = (x: number | bigint): string => (Object.is(x, -0) ? "-0" : String(x));

function bytesOf(given: ArrayLike<number | bigint>, type: number): ArrayBufferLike {
  if (type === INT64) return BigInt64Array.from(Array.from(given, bigintOf)).buffer;
  const numbers = Array.from(given, Number);
  switch (type) {
    case BOOL:
      return Uint8Array.from(numbers, (x) => Number(x !== 0)).buffer;
    case DOUBLE:
      return Float64Array.from(numbers).buffer;
    default:
      return Float32Array.from(numbers).buffer;
  }
}

/** A whole number of 64 bits: infinities are its ends. */
function bigintOf(x: number | bigint): bigint {
  if (typeof x === "bigint") return x;
  if (Math.abs(x) >= 2 ** 63) return x > 0 ? 2n ** 63n - 1n : -(2n ** 63n);
  return BigInt(Math.trunc(x));
}

/** Two sums over bytes, by which tables are told apart. */
function hashOf(bytes: Uint8Array): string {
  let a = 0x811c9dc5,
    b = 0;
  for (let i = 0; i < bytes.length; i++) {
    a = Math.imul(a ^ bytes[i]!, 0x01000193);
    b = (Math.imul(b, 31) + bytes[i]!) | 0;
  }
  return `#${a} ${b}`;
}
