// What load_state_dict accepts: objects of tensors or arrays, and files of them.

import { type Options, tensor, type TensorData } from "../creation/create.js";
import type { NumberArray } from "../elements/nested-data.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { isParts, ofParts } from "../files/parts.js";
import type { LoadOptions } from "../files/destination.js";
import { type FileLike, isFile } from "../files/source.js";
import { Tensor } from "../tensor/tensor.js";

/** A tensor, nested arrays, a typed array, or its parts. */
export type StateValue = Tensor | TensorData | { shape: readonly number[]; data: NumberArray | readonly number[] };
export type StateSource = Readonly<Record<string, StateValue>> | ReadonlyMap<string, StateValue>;

export interface StateOptions extends LoadOptions {
  /** Whether the names of both sides must be the same. */
  strict?: boolean;
  /** Whether the tensors given take the places of the module's own, as they are, instead of being copied. */
  assign?: boolean;
}

export { type FileLike, isFile };

type Reader = (file: FileLike, options: LoadOptions) => Promise<unknown>;
/** What reads files: put in by state-files.ts, so that a bundle may leave it out. */
let read: Reader | null = null;

export function setReader(reader: Reader): void {
  read = reader;
}

/** The shape of a tensor or of parts that have one; undefined where there is none. */
export function shapeOf(value: unknown): readonly number[] | undefined {
  try {
    return value instanceof Tensor || isParts(value, "load_state_dict") ? value.shape : undefined;
  } catch {
    return undefined; // whoever makes a tensor of it says what is wrong
  }
}

/** The value as a tensor on the device of `like`, typed as it. */
export function toTensor(value: unknown, like: Pick<Tensor, "dtype" | "device" | "shape">): Tensor {
  if (value instanceof Tensor) return value;
  const options: Options = { dtype: like.dtype, device: like.device };
  if (ArrayBuffer.isView(value)) return tensor(value as NumberArray, { ...options, shape: like.shape });
  if (Array.isArray(value) || typeof value === "number") return tensor(value as TensorData, options);
  if (isParts(value, "load_state_dict")) return ofParts(value, options);
  throw new TypeMismatchError(`load_state_dict: expected tensors or arrays, got ${describe(value)}`);
}

/**
 * The state in a file: safetensors, a checkpoint of PyTorch, or JSON of `{name: {shape, data}}` or of nested arrays.
 */
export async function readState(file: FileLike, options: LoadOptions): Promise<unknown> {
  if (!read)
    throw new OpError(
      "load_state_dict: nothing here reads files; give it what torch.load makes of one: load_state_dict(await load(file))",
    );
  return read(file, options);
}
