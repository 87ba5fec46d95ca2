// The bounds of numbers in a row, which may be tensors without axes.

import { number } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";

/** A bound as a number, or a promise of it where only the GPU knows it. */
export function bound(value: unknown, op: string, name: string): number | Promise<number> {
  if (!(value instanceof Tensor)) return finite(number(value, op, name), op, name);
  value.check(op);
  if (value.ndim !== 0)
    throw new OpError(
      `${op} only supports 0-dimensional start and end tensors, but got ${name} with ${value.ndim} dimension(s).`,
    );
  if (value.storage.device.type === "cpu") return Number(value.storage.as(value.dtype)[value.offset]);
  return value.item() as Promise<number>;
}
function finite(value: number, op: string, name: string): number {
  if (!Number.isFinite(value)) throw new OpError(`${op}: argument '${name}' must be finite, got ${value}`);
  return value;
}
