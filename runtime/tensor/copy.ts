// Copies of elements between tensors, types and devices, with their gradients.

import { capturing } from "../base/capturing.js";
import { OpError } from "../base/errors.js";
import { contiguousStrides, extent, isContiguous } from "../base/shape.js";
import type { Device } from "../devices/device.js";
import { type DType, differentiable } from "../elements/dtype.js";
import { attach, FunctionNode, recording } from "../tape/node.js";
import { emptyOn } from "./allocate.js";
import { asPairs, intoComplex } from "./pairs.js";
import { arrange } from "./read.js";
import { Tensor } from "./tensor.js";

type Copy = (target: Tensor, source: Tensor) => void;
let copyComplex: Copy | null = null;

/** From now on this copies elements of which some are complex: runtime/complex/calls.ts. */
export function useComplexCopy(copy: Copy): void {
  copyComplex = copy;
}

/** Writes the elements of `source` to those of `target`: same shape, any strides and types.  Not recorded. */
export function copyInto(target: Tensor, source: Tensor): void {
  const from = target.storage.device,
    here = source.storage.device;
  capturing?.uses([target, source]);
  if (target.numel() === 0) return;
  if (from.type === "meta") return;
  if (target.dtype === "complex64" || source.dtype === "complex64") {
    copyComplex!(target, source);
    return;
  }
  if (here !== from) {
    if (here.type !== "cpu")
      throw new OpError("copy: elements of a GPU can be copied to the CPU only by a promise: await x.to('cpu')");
    const moved = uploaded(source.dtype === target.dtype ? source : cast(source, target.dtype, "copy"), from);
    copyInto(target, moved);
    moved.dispose();
  } else from.copy(target, source);
}

function fresh(x: Tensor, dtype: DType, op: string): Tensor {
  x.check(op);
  const out = emptyOn(x.storage.device, x.shape, dtype, op);
  copyInto(out, x);
  return out;
}

/** The same numbers in another type; itself if it is of that type. */
export function cast(x: Tensor, dtype: DType, op: string): Tensor {
  x.check(op);
  if (x.dtype === dtype) return x;
  const out = fresh(x, dtype, op),
    before = x.dtype;
  return recording(x) && differentiable(dtype)
    ? attach(out, new FunctionNode("ToCopyBackward0", x, (grad) => cast(grad, before, op)))
    : out;
}

export function clone(x: Tensor): Tensor {
  const out = fresh(x, x.dtype, "clone");
  return recording(x) ? attach(out, new FunctionNode("CloneBackward0", x, (grad) => grad)) : out;
}

/** Whether the elements lie in order from the start of their memory, as results do. */
export const isPlain = (x: Tensor): boolean => x.offset === 0 && isContiguous(x.shape, x.strides);

export const contiguous = (x: Tensor): Tensor => (isContiguous(x.shape, x.strides) ? x : clone(x));

/** A tensor on the CPU, copied to another device.  Not recorded. */
export function uploaded(x: Tensor, device: Device): Tensor {
  if (x.dtype === "complex64") {
    const pairs = asPairs(x),
      out = intoComplex(uploaded(pairs, device));
    pairs.dispose();
    return out;
  }
  const { shape, strides, offset, dtype } = x,
    span = extent(shape, strides);
  const elements = arrange(x.storage.as(dtype).subarray(offset, offset + span), dtype, shape, strides, 0);
  return new Tensor(device.upload(elements, dtype, "to"), dtype, shape, contiguousStrides(shape), 0);
}

/** Replaces the content of `x` by that of `result` (same shape), which is used up. */
export function replaceContent(x: Tensor, result: Tensor): void {
  x.storage.change();
  const whole =
    x.storage.length === x.numel() && isContiguous(x.shape, x.strides) && isContiguous(result.shape, result.strides);
  if (
    whole &&
    result.dtype === x.dtype &&
    result.storage.dtype === x.storage.dtype &&
    result.storage.length === x.storage.length
  )
    x.storage.swap(result.storage);
  else copyInto(x, result);
}
