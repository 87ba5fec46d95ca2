// Tensors of bytes that are there already.  They are copied: what a GPU or a kernel computes with is its own memory.

import { IndexError, TypeMismatchError, OpError } from "../base/errors.js";
import { count, integer, refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { is_rounded } from "../../dsl/dtypes.js";
import { type DType, elementBytes, newElements, toDType } from "../elements/dtype.js";
import type { NumberArray } from "../elements/nested-data.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Options, tensor } from "./create.js";

/**
 * A tensor of a typed array's elements and type, on the CPU.
 *
 * @example
 * torch.from_numpy(new Int16Array([1, 2])).dtype  // "int16"
 */
export function from_numpy(ndarray: NumberArray): Tensor;
export function from_numpy(...args: unknown[]): Tensor {
  const [array] = taken("from_numpy ndarray", args);
  if (!ArrayBuffer.isView(array) || array instanceof DataView) refuse("from_numpy", "ndarray", "a typed array", array);
  return tensor(array as NumberArray, { device: "cpu" });
}

interface BufferOptions extends Options {
  dtype: DType;
  count?: number;
  offset?: number;
}
/**
 * A tensor of `count` numbers (-1: all) of the bytes of a buffer from `offset` on, on the CPU.
 *
 * @example
 * const bytes = new Uint8Array([1, 0, 2, 0]);
 * torch.frombuffer(bytes.buffer, { dtype: torch.int16 })  // [1, 2]
 */
export function frombuffer(buffer: ArrayBufferLike | ArrayBufferView, options: BufferOptions): Tensor;
export function frombuffer(...args: unknown[]): Tensor {
  const op = "frombuffer",
    [buffer, type, most, from, requires_grad = false] = taken(
      `${op} buffer * dtype count? offset? requires_grad?`,
      args,
    );
  const isView = ArrayBuffer.isView(buffer);
  if (
    !isView &&
    !(buffer instanceof ArrayBuffer || (globalThis.SharedArrayBuffer && buffer instanceof SharedArrayBuffer))
  )
    refuse(op, "buffer", "a buffer or a typed array", buffer);
  const dtype = toDType(type, op),
    own = newElements(dtype, 1).constructor as { new (bytes: ArrayBuffer): NumberArray };
  if (is_rounded(dtype)) throw new TypeMismatchError(`${op}: ${dtype} has no typed array to read it by`);
  const size = elementBytes(dtype),
    length = buffer.byteLength as number,
    offset = count(from ?? 0, op, "offset"),
    all = Math.floor((length - offset) / size),
    wanted = integer(most ?? -1, op, "count"),
    n = wanted < 0 ? all : wanted;
  if (length === 0 || wanted === 0)
    throw new OpError(`${op}: both buffer length (${length}) and count (${wanted}) must not be 0`);
  if (offset >= length)
    throw new IndexError(
      `${op}: offset (${offset} bytes) must be non-negative and no greater than buffer length (${length} bytes) minus 1`,
    );
  if (n > all)
    throw new OpError(
      `${op}: requested buffer length (${n} * ${size} bytes) after offset (${offset} bytes) must not be greater than actual ` +
        `buffer length (${length} bytes)`,
    );
  const bytes = new Uint8Array(isView ? buffer.buffer : buffer, isView ? buffer.byteOffset : 0, length);
  return tensor(new own(bytes.slice(offset, offset + n * size).buffer), { dtype, device: "cpu", requires_grad });
}
