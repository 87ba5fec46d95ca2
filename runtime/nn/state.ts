// What load_state_dict accepts: objects of tensors or arrays, JSON and safetensors files behind a URL.

import { tensor, type TensorData } from "../create.js";
import type { NumberArray } from "../data.js";
import type { DType } from "../dtype.js";
import { OpError, TypeMismatchError, describe } from "../errors.js";
import { Tensor } from "../tensor.js";

/** A tensor, nested arrays, a typed array, or its parts. */
export type StateValue = Tensor | TensorData | { shape: readonly number[]; data: NumberArray | readonly number[] };
export type StateSource = Readonly<Record<string, StateValue>> | ReadonlyMap<string, StateValue>;

/** The value as a tensor on the device of `like`, typed as it. */
export function toTensor(value: unknown, like: Tensor): Tensor {
  if (value instanceof Tensor) return value;
  const options = { dtype: like.dtype, device: like.device };
  if (ArrayBuffer.isView(value)) return tensor(value as NumberArray, { ...options, shape: like.shape });
  if (Array.isArray(value) || typeof value === "number") return tensor(value as TensorData, options);
  if (value !== null && typeof value === "object" && "data" in value && "shape" in value) {
    const { data, shape } = value as { data: ArrayLike<number>; shape: readonly number[] };
    return tensor(Float64Array.from(data), { ...options, shape });
  }
  throw new TypeMismatchError(`load_state_dict: expected tensors or arrays, got ${describe(value)}`);
}

/** Fetches a state: safetensors, or JSON of `{name: {shape, data}}` or of nested arrays. */
export async function fetchState(url: string | URL): Promise<StateSource> {
  const response = await fetch(url);
  if (!response.ok) throw new OpError(`load_state_dict: ${String(url)} answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  const first = new Uint8Array(bytes)[0];
  return first === 0x7b ? (JSON.parse(new TextDecoder().decode(bytes)) as StateSource) : readSafetensors(bytes);
}

const TYPES: Readonly<Record<string, [DType, (b: ArrayBuffer) => NumberArray]>> = {
  F32: ["float32", (b) => new Float32Array(b)], F64: ["float64", (b) => new Float64Array(b)], F16: ["float16", (b) => new Uint16Array(b)],
  I64: ["int32", (b) => new BigInt64Array(b)], I32: ["int32", (b) => new Int32Array(b)], I8: ["int8", (b) => new Int8Array(b)],
  U8: ["uint8", (b) => new Uint8Array(b)], BOOL: ["bool", (b) => new Uint8Array(b)],
};

/** The tensors of a safetensors file. */
export function readSafetensors(bytes: ArrayBuffer): Record<string, Tensor> {
  const size = Number(new DataView(bytes).getBigUint64(0, true)), start = 8 + size;
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, size))) as
    Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;
  const out: Record<string, Tensor> = {};
  for (const [name, entry] of Object.entries(head)) {
    if (name === "__metadata__") continue;
    const type = TYPES[entry.dtype];
    if (!type) throw new TypeMismatchError(`load_state_dict: ${name} has the type ${entry.dtype}, which is not supported`);
    const [from, to] = entry.data_offsets;
    out[name] = tensor(type[1](bytes.slice(start + from, start + to)), { shape: entry.shape, dtype: type[0], device: "cpu" });
  }
  return out;
}
