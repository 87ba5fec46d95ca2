// Tensors as ONNX's files hold them: in the model, or in files beside it, of which only what is needed is read.

import type { Elements } from "../program/compiled-op.js";
import { type DType, newElements } from "../elements/dtype.js";
import { frozen } from "../base/shape.js";
import { contiguousStrides } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { type Destination, upload } from "../files/destination.js";
import { FileError, bytes } from "../files/error.js";
import { FILE_TYPES, decode } from "../files/number-formats.js";
import type { Source } from "../files/source.js";
import type { TensorProto } from "./model-proto.js";
import { elementType, typeName } from "./types.js";

/** Opens the file of that name beside the model. */
export type Beside = (location: string) => Promise<Source>;

/** What a tensor is before it is anywhere: its shape, and where its numbers are. */
export interface Stored {
  readonly proto: TensorProto;
  readonly shape: readonly number[];
  /** The type's name, as ONNX has it. */
  readonly type: string;
  readonly floating: boolean;
  readonly numel: number;
  readonly what: string;
}

const FLOATS = new Set(["float16", "bfloat16", "float32", "float64"]);

/** Checks what a file says of a tensor; throws for types that there are not, and for shapes that are none. */
export function stored(proto: TensorProto, file: string, what: string): Stored {
  const found = elementType(proto.data_type);
  if (!found?.dtype)
    throw new FileError(file, `${what} is of the type ${typeName(proto.data_type)}, which there is not here`);
  const shape = proto.dims;
  if (shape.some((n) => !Number.isSafeInteger(n) || n < 0))
    throw new FileError(file, `${what} has the shape [${shape.join(", ")}]`);
  const numel = shape.reduce((a, b) => a * b, 1);
  if (!Number.isSafeInteger(numel)) throw new FileError(file, `${what} has the shape [${shape.join(", ")}]`);
  return { proto, shape: frozen(shape), type: found.name, floating: FLOATS.has(found.name), numel, what };
}

/** How many bytes its numbers have in a file. */
const size = ({ type, numel }: Stored): number => Math.ceil((numel * elementTypeBits(type)) / 8);
const BITS: Readonly<Record<string, number>> = { uint4: 4, int4: 4, uint2: 2, int2: 2 };
const elementTypeBits = (type: string): number => BITS[type] ?? FILE_TYPES[type]!.bytes * 8;

/** The tensor, on the device. */
export async function read(from: Stored, place: Destination, file: string, beside: Beside): Promise<Tensor> {
  const { shape, what } = from,
    data = await content(from, file, beside),
    { elements, dtype } = BITS[from.type]
      ? unpacked(data, from)
      : decode(from.type === "int64" ? ended(data) : data, FILE_TYPES[from.type]!, place.dtype, file, what);
  return new Tensor(upload(elements, dtype, place, file, what), dtype, shape, frozen(contiguousStrides(shape)), 0);
}

/** The numbers' bytes as `raw_data` has them, in memory of their own. */
async function content(from: Stored, file: string, beside: Beside): Promise<Uint8Array<ArrayBuffer>> {
  const { proto, what, numel } = from,
    wanted = size(from),
    wrong = (length: number, unit: string) =>
      new FileError(file, `${what} has ${length} ${unit}, but the shape [${from.shape.join(", ")}] of ${from.type}`);
  if (proto.data_location === 1) return external(from, wanted, file, beside);
  if (proto.raw_data) {
    if (proto.raw_data.length !== wanted) throw wrong(proto.raw_data.length, "bytes");
    return proto.raw_data.slice();
  }
  const numbers = LISTS[from.type] ?? "int32_data",
    values = proto[numbers];
  // two values of 4 bits, or four of 2, share one number of the list
  const listed = BITS[from.type] ? wanted : numel;
  if (values.length !== listed) throw wrong(values.length, "numbers");
  return packed(values, from.type);
}

const LISTS: Readonly<Record<string, "float_data" | "double_data" | "int64_data" | "uint64_data">> = {
  float32: "float_data",
  float64: "double_data",
  int64: "int64_data",
  uint32: "uint64_data",
  uint64: "uint64_data",
};

/** The bytes of numbers that a message lists. */
function packed(values: readonly number[], type: string): Uint8Array<ArrayBuffer> {
  const words = BigInt64Array.from(type === "int64" || type === "uint64" ? values : [], bigintOf);
  const array =
    type === "float32"
      ? Float32Array.from(values)
      : type === "float64"
        ? Float64Array.from(values)
        : type === "int64" || type === "uint64"
          ? words
          : type === "int32" || type === "uint32"
            ? Int32Array.from(values)
            : FILE_TYPES[type]?.bytes === 2
              ? Uint16Array.from(values)
              : Uint8Array.from(values);
  return new Uint8Array(array.buffer);
}

const MOST = 2n ** 63n - 1n;
/** A number that a message's reader may have rounded: its ends are those of 64 bits. */
function bigintOf(value: number): bigint {
  const exact = BigInt(value);
  return exact > MOST ? MOST : exact;
}

async function external(from: Stored, wanted: number, file: string, beside: Beside): Promise<Uint8Array<ArrayBuffer>> {
  const { proto, what } = from,
    told = new Map(proto.external_data.map(({ key, value }) => [key, value])),
    location = told.get("location"),
    offset = Number(told.get("offset") ?? 0),
    length = told.has("length") ? Number(told.get("length")) : wanted;
  if (location === undefined) throw new FileError(file, `${what} is said to lie in another file, but not in which`);
  if (length !== wanted)
    throw new FileError(
      file,
      `${what} is said to have ${told.get("length")!} bytes in ${location}, but needs ${wanted}`,
    );
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new FileError(file, `${what} is said to begin at ${told.get("offset")!} in ${location}`);
  const source = await beside(location);
  if (offset + length > source.size)
    throw new FileError(
      file,
      `${what} would end at ${offset + length} of ${location}, which has ${bytes(source.size)}`,
    );
  return source.read(offset, offset + length);
}

/** Ends of ranges that mean "as far as there is" are those of 64 bits, where whole numbers may have 32 here. */
function ended(data: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (FILE_TYPES["int64"]!.dtype !== "int32") return data;
  const values = new BigInt64Array(data.buffer, data.byteOffset, data.length / 8);
  values.forEach((value, i) => {
    if (value >= FAR) values[i] = 2n ** 31n - 1n;
    else if (value <= -FAR) values[i] = -(2n ** 31n);
  });
  return data;
}
const FAR = 2n ** 62n;

/** Numbers of 4 or 2 bits, the lowest first, each in a byte of its own. */
function unpacked(data: Uint8Array, { type, numel }: Stored): { elements: Elements; dtype: DType } {
  const bits = BITS[type]!,
    each = 8 / bits,
    signed = type.startsWith("int"),
    dtype = signed ? "int8" : "uint8",
    elements = newElements(dtype, numel),
    shift = 32 - bits;
  for (let i = 0; i < numel; i++) {
    const value = (data[Math.floor(i / each)]! >> ((i % each) * bits)) & (2 ** bits - 1);
    elements[i] = signed ? (value << shift) >> shift : value;
  }
  return { elements, dtype };
}
