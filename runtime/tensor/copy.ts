// Copies: of elements between tensors, types and devices, with their gradients.

import { held } from "../../host/dtypes.js";
import { type Device, isDeviceName, toDevice } from "../devices/device.js";
import { type DType, isDType, isFloat, toDType } from "../elements/dtype.js";
import { AutogradError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { emptyOn, scalar, zeros_like } from "../creation/create.js";
import { beforeInPlace, recordInPlace } from "../views/in-place.js";
import { atMost } from "../base/named-arguments.js";
import { FunctionNode, JoinNode, attach, recording } from "../tape/node.js";
import { sumTo } from "../views/view-adjoints.js";
import { arrange } from "./read.js";
import { broadcastShapes, contiguousStrides, extent, isContiguous, sameShape, showShape } from "../base/shape.js";
import { Tensor, type TensorOrNumber, alias } from "./tensor.js";
import * as views from "../views/views.js";

/** Writes the elements of `source` to those of `target`: same shape, any strides and types.  Not recorded. */
export function copyInto(target: Tensor, source: Tensor): void {
  const from = target.storage.device,
    here = source.storage.device;
  if (target.numel() === 0) return;
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
  return recording(x) && isFloat(dtype)
    ? attach(out, new FunctionNode("ToCopyBackward", x, (grad) => cast(grad, before, op)))
    : out;
}

export function clone(x: Tensor): Tensor {
  const out = fresh(x, x.dtype, "clone");
  return recording(x) ? attach(out, new FunctionNode("CloneBackward", x, (grad) => grad)) : out;
}

/** Whether the elements lie in order from the start of their memory, as results do. */
export const isPlain = (x: Tensor): boolean => x.offset === 0 && isContiguous(x.shape, x.strides);

export const contiguous = (x: Tensor): Tensor => (isContiguous(x.shape, x.strides) ? x : clone(x));

export interface ToOptions {
  dtype?: DType;
  device?: string | Device;
  copy?: boolean;
}

/** x.to(dtype), x.to(device), x.to(device, dtype), x.to(other), x.to({dtype, device, copy}). */
export function to(x: Tensor, args: readonly unknown[]): Tensor | Promise<Tensor> {
  atMost("to", args, 5);
  let dtype = x.dtype,
    device = x.storage.device,
    copy = false;
  for (const arg of args) {
    if (arg === undefined || arg === null || typeof arg === "boolean") continue;
    if (arg instanceof Tensor) {
      dtype = arg.dtype;
      device = arg.storage.device;
    } else if (isDType(arg)) dtype = toDType(arg);
    else if (isDeviceName(arg)) device = toDevice(arg);
    else if (typeof arg === "object" && !("execute" in arg)) {
      const options = arg as ToOptions;
      if (options.dtype !== undefined) dtype = toDType(options.dtype);
      if (options.device !== undefined) device = toDevice(options.device);
      copy = options.copy ?? false;
    } else if (typeof arg === "object") device = toDevice(arg);
    else throw new TypeMismatchError(`to: expected a dtype, a device, a tensor or options, got ${describe(arg)}`);
  }
  x.check("to");
  if (device !== x.storage.device) return move(x, device, dtype);
  return dtype !== x.dtype ? cast(x, dtype, "to") : copy ? clone(x) : x;
}

function move(x: Tensor, device: Device, dtype: DType): Tensor | Promise<Tensor> {
  if (device.type === "cpu") return downloaded(x, device).then((out) => cast(out, dtype, "to"));
  const small = dtype === x.dtype ? x : cast(x, dtype, "to"),
    out = uploaded(small, device);
  return recording(small) ? attach(out, new FunctionNode("ToDeviceBackward", small, refuseWayBack)) : out;
}

function refuseWayBack(): Tensor {
  throw new AutogradError(
    "to: a gradient cannot flow from a GPU back to a tensor on the CPU, because reading a GPU takes a promise; " +
      "make the leaf on the GPU: x.detach().to(device).requires_grad_()",
  );
}

/** A tensor on the CPU, copied to another device.  Not recorded. */
export function uploaded(x: Tensor, device: Device): Tensor {
  const { shape, strides, offset, dtype } = x,
    span = extent(shape, strides);
  const elements = arrange(x.storage.elements.subarray(offset, offset + span), dtype, shape, strides, 0);
  return new Tensor(device.upload(elements, dtype, "to"), dtype, shape, contiguousStrides(shape), 0);
}

async function downloaded(x: Tensor, device: Device): Promise<Tensor> {
  const recorded = recording(x),
    elements = await x.data();
  const out = new Tensor(device.upload(elements, x.dtype, "to"), x.dtype, x.shape, contiguousStrides(x.shape), 0);
  const back = x.storage.device;
  return recorded ? attach(out, new FunctionNode("ToDeviceBackward", x, (grad) => to(grad, [back]) as Tensor)) : out;
}

/** Fits `source` to the shape of `target`, which it may broadcast to. */
function fitted(target: Tensor, source: Tensor, op: string): Tensor {
  if (sameShape(target.shape, source.shape)) return source;
  const shape = broadcastShapes(target.shape, source.shape);
  if (!shape || !sameShape(shape, target.shape)) {
    throw new OpError(
      `${op}: output with shape ${showShape(target.shape)} doesn't match the broadcast shape ${showShape(source.shape)}`,
    );
  }
  return views.expand(source, target.shape);
}

export function copy_<T extends Tensor>(x: T, other: TensorOrNumber, op = "copy_"): T {
  const source =
    other instanceof Tensor
      ? other
      : scalar(typeof other === "number" ? held(op, x.dtype, other) : other, x.storage.device);
  x.check(op);
  source.check(op);
  beforeInPlace(x, op);
  const wide = fitted(x, source, op),
    records = isFloat(x.dtype) && recording(x, source),
    { shape, dtype } = source;
  // A source that shares the target's memory is read before anything is written.
  const apart = wide.storage === x.storage ? clone(wide.detach()) : wide;
  x.storage.change();
  copyInto(x, apart);
  if (records) {
    const device = source.storage.device;
    recordInPlace(
      x,
      new JoinNode("CopyBackward", [x, source], ([grad], wanted) => [
        grad && wanted[0] ? zeros_like(grad) : null,
        grad && wanted[1] ? (to(cast(sumTo(grad, shape), dtype, op), [device]) as Tensor) : null,
      ]),
    );
  }
  return x;
}

export function fill_<T extends Tensor>(x: T, value: TensorOrNumber): T {
  if (value instanceof Tensor && value.ndim > 0) {
    throw new OpError(
      `fill_: fill_ only supports 0-dimension value tensor but got tensor with ${value.ndim} dimensions.`,
    );
  }
  return copy_(x, value, "fill_");
}

/** Replaces the content of `x` by that of `result` (same shape), which is used up. */
export function replaceContent(x: Tensor, result: Tensor): void {
  x.storage.change();
  const whole =
    x.storage.length === x.numel() && isContiguous(x.shape, x.strides) && isContiguous(result.shape, result.strides);
  if (whole && result.dtype === x.dtype && result.storage.length === x.storage.length) x.storage.swap(result.storage);
  else copyInto(x, result);
}

export { alias };
