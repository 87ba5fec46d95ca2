// New tensors where a call needs them: on a device, of a shape and a type, empty or with one value.  Nothing is recorded.

import { describe, OpError, TypeMismatchError } from "../base/errors.js";
import { Complex } from "../elements/complex-number.js";
import { contiguousStrides, frozen, numelOf } from "../base/shape.js";
import type { Device } from "../devices/device.js";
import { converter, type DType, dtypeNumber, entry, newElements } from "../elements/dtype.js";
import { keep } from "./memory.js";
import { asPairs, intoComplex } from "./pairs.js";
import { Tensor } from "./tensor.js";

/** A contiguous tensor with undefined elements on a device. */
export function emptyOn(device: Device, shape: readonly number[], dtype: DType, op: string): Tensor {
  if (dtype === "complex64") return intoComplex(emptyOn(device, [...shape, 2], "float32", op));
  return new Tensor(device.allocate(dtype, numelOf(shape), op), dtype, frozen(shape), contiguousStrides(shape), 0);
}

/** A contiguous tensor with one value everywhere on a device. */
export function filledOn(
  device: Device,
  shape: readonly number[],
  value: number | bigint | Complex,
  dtype: DType,
  op: string,
): Tensor {
  const out = emptyOn(device, shape, dtype, op);
  if (dtype === "complex64") {
    const { re, im } = value instanceof Complex ? value : { re: Number(value), im: 0 },
      pairs = asPairs(out);
    if (re === im) device.fill(out.storage, re);
    else {
      const storage = device.upload(Float32Array.of(re, im), "float32", op),
        strides = pairs.shape.map((_, i) => +(i === shape.length)),
        one = new Tensor(storage, "float32", pairs.shape, strides, 0);
      device.copy(pairs, one);
      one.dispose();
    }
    pairs.dispose();
    return out;
  }
  if (value instanceof Complex) throw new OpError(`${op}: ${value} does not fit into ${dtype}`);
  device.fill(out.storage, entry(dtype, op)(value));
  return out;
}

const scalars = new Map<number, Map<number, Tensor>>();
const MOST_SCALARS = 4096,
  NO_AXES: readonly number[] = /* @__PURE__ */ Object.freeze([]);

/**
 * A tensor without axes for a number given where a tensor is expected; made once for each number, type and device.
 * Without `dtype`: whole numbers are int32, others float32, booleans bool.
 */
export function scalar(value: number | boolean, device: Device, dtype?: DType): Tensor {
  if (typeof value !== "number" && typeof value !== "boolean")
    throw new TypeMismatchError(`expected a tensor or a number, got ${describe(value)}`);
  const number = Number(value);
  const type: DType = dtype ?? (typeof value === "boolean" ? "bool" : number === (number | 0) ? "int32" : "float32");
  const group = device.number * 16 + dtypeNumber(type);
  let cache = scalars.get(group);
  if (!cache) scalars.set(group, (cache = new Map<number, Tensor>()));
  let found = Object.is(number, -0) ? undefined : cache.get(number);
  if (!found || found.storage.disposed) {
    const elements = newElements(type, 1);
    elements[0] = converter(type)(number);
    found = keep(new Tensor(device.upload(elements, type, "scalar"), type, NO_AXES, NO_AXES, 0, false));
    found.weak = true;
    if (cache.size >= MOST_SCALARS) cache.clear();
    if (!Object.is(number, -0)) cache.set(number, found);
  }
  return found;
}
