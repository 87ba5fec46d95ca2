// How samples become a batch: PyTorch's default_collate.

import { tensor } from "../creation/create.js";
import type { NumberArray } from "../elements/nested-data.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { stack } from "../functions/join.js";
import { refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { Tensor } from "../tensor/tensor.js";

type Fields = Readonly<Record<string, unknown>>;
const isNumbers = (value: unknown): value is NumberArray => ArrayBuffer.isView(value) && !(value instanceof DataView);
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);

/**
 * One batch of samples: tensors and typed arrays are stacked, numbers and booleans become a tensor (of int64 where all
 * of them are whole numbers, else of float32), texts a list; lists and objects are collated field by field.
 *
 * @param batch samples of one kind
 *
 * @example
 * const samples = [{ x: torch.tensor([1, 2]), y: 0 }, { x: torch.tensor([3, 4]), y: 1 }];
 * torch.utils.data.default_collate(samples)  // { x: [[1, 2], [3, 4]], y: [0, 1] }
 */
export function default_collate(batch: readonly unknown[]): unknown {
  [batch] = taken("default_collate batch", arguments);
  if (!Array.isArray(batch)) refuse("default_collate", "batch", "a list of samples", batch);
  const first: unknown = batch[0];
  if (first instanceof Tensor) return stack(batch as Tensor[]);
  if (isNumbers(first)) return stack((batch as NumberArray[]).map((numbers) => tensor(numbers)));
  const kind = typeof first;
  if (kind === "number" || kind === "boolean" || kind === "bigint") {
    const odd = batch.find((v) => typeof v !== kind);
    if (odd !== undefined)
      throw new TypeMismatchError(`default_collate: a batch of ${kind}s has ${describe(odd)} among them`);
    return tensor(batch as number[], kind === "number" && batch.every(Number.isInteger) ? { dtype: "int64" } : {});
  }
  if (kind === "string") return [...batch];
  if (Array.isArray(first)) {
    if (!batch.every((sample) => Array.isArray(sample) && sample.length === first.length))
      throw new OpError("default_collate: each element in list of batch should be of equal size");
    return first.map((_, i) => default_collate((batch as unknown[][]).map((sample) => sample[i])));
  }
  if (first instanceof Map) {
    return new Map(
      Array.from(first.keys(), (key: unknown) => [
        key,
        default_collate(
          (batch as ReadonlyMap<unknown, unknown>[]).map((sample) => field(sample.has(key), sample.get(key), key)),
        ),
      ]),
    );
  }
  if (isFields(first)) {
    return Object.fromEntries(
      Object.keys(first).map((key) => [
        key,
        default_collate((batch as Fields[]).map((sample) => field(Object.hasOwn(sample, key), sample[key], key))),
      ]),
    );
  }
  throw new TypeMismatchError(
    `default_collate: batch must contain tensors, typed arrays, numbers, texts, objects or lists; found ${describe(first)}`,
  );
}

function field(there: boolean, value: unknown, key: unknown): unknown {
  if (!there) throw new OpError(`default_collate: a sample lacks ${describe(key)}, which the first one has`);
  return value;
}

/**
 * A sample that is not batched: typed arrays become tensors, all else stays.
 *
 * @param sample a tensor, number, text, typed array, or a list or an object of such
 *
 * @example
 * torch.utils.data.default_convert({ x: new Float32Array([1, 2]), name: "first" })  // { x: [1, 2], name: "first" }
 */
export function default_convert(sample: unknown): unknown {
  if (isNumbers(sample)) return tensor(sample);
  if (Array.isArray(sample)) return sample.map(default_convert);
  if (sample instanceof Map)
    return new Map(
      Array.from(sample as ReadonlyMap<unknown, unknown>, ([key, value]) => [key, default_convert(value)]),
    );
  if (isFields(sample))
    return Object.fromEntries(Object.entries(sample).map(([key, value]) => [key, default_convert(value)]));
  return sample;
}
