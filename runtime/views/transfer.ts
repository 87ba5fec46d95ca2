// Copies as programs ask for them: `to` another type or device, and into a tensor that is changed.

import { fitting } from "../../host/dtypes.js";
import { AutogradError, DeviceError, describe, OpError, TypeMismatchError } from "../base/errors.js";
import { atMost, given, isOptions, taken } from "../base/named-arguments.js";
import { broadcastShapes, contiguousStrides, frozen, sameShape, showShape } from "../base/shape.js";
import { type Device, isDeviceName, toDevice } from "../devices/device.js";
import { type DType, differentiable, isDType, toDType } from "../elements/dtype.js";
import { attach, FunctionNode, JoinNode, recording } from "../tape/node.js";
import { Complex, inMemory } from "../elements/complex-number.js";
import { emptyOn, filledOn, scalar } from "../tensor/allocate.js";
import { intoComplex } from "../tensor/pairs.js";
import { cast, clone, copyInto, uploaded } from "../tensor/copy.js";
import { readStored } from "../tensor/read.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { Tensor, type TensorOrNumber } from "../tensor/tensor.js";
import { beforeInPlace } from "../tensor/in-place-checks.js";
import { recordInPlace } from "./in-place.js";
import { sumTo } from "./view-adjoints.js";
import { expand } from "./views.js";

export interface ToOptions {
  dtype?: DType;
  device?: string | Device;
  /** Whether also a tensor that is of this type and there already is copied, default false. */
  copy?: boolean;
}

/** x.to(dtype), x.to(device), x.to(device, dtype), x.to(other), x.to({dtype, device, copy}). */
export function to(x: Tensor, args: readonly unknown[]): Tensor | Promise<Tensor> {
  atMost("to", args, 5);
  let dtype = x.dtype,
    device = x.storage.device,
    copy = false;
  for (const arg of args.slice(0, 5)) {
    given("to", "dtype", arg);
    if (arg === null || typeof arg === "boolean") continue;
    if (arg instanceof Tensor) {
      dtype = arg.dtype;
      device = arg.storage.device;
    } else if (isDType(arg)) dtype = toDType(arg, "to");
    else if (isDeviceName(arg)) device = toDevice(arg, "to");
    else if (isOptions(arg)) {
      // As the last argument by position, too: `x.to("cpu", { copy: true })`.
      const [otherOne, toType, toPlace, , again] = taken(
        "to other? dtype? device? non_blocking? copy? memory_format?",
        [arg],
      ) as [Tensor?, DType?, Device?, boolean?, boolean?];
      if (otherOne) return to(x, [tensorOf(otherOne, "to", "other")]);
      if (toType) dtype = toDType(toType, "to");
      if (toPlace) device = toDevice(toPlace, "to");
      copy = again ?? false;
    } else if (typeof arg === "object") device = toDevice(arg, "to");
    else throw new TypeMismatchError(`to: expected a dtype, a device, a tensor or options, got ${describe(arg)}`);
  }
  x.check("to");
  if (device !== x.storage.device) return move(x, device, dtype);
  return dtype !== x.dtype ? cast(x, dtype, "to") : copy ? clone(x) : x;
}

function move(x: Tensor, device: Device, dtype: DType): Tensor | Promise<Tensor> {
  if (x.device === "meta")
    throw new DeviceError(
      "to: Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of " +
        "torch.nn.Module.to() when moving module from meta to a different device.",
    );
  if (device.type === "meta") return emptyOn(device, x.shape, dtype, "to");
  if (device.type === "cpu") return downloaded(x, device).then((out) => cast(out, dtype, "to"));
  const small = dtype === x.dtype ? x : cast(x, dtype, "to"),
    out = uploaded(small, device);
  return recording(small) ? attach(out, new FunctionNode("ToDeviceBackward", small, refuseWayBack)) : out;
}

function refuseWayBack(): Tensor {
  throw new AutogradError(
    "to: a gradient cannot flow from a GPU back to a tensor on the CPU; " +
      "make the leaf on the GPU: x.detach().to(device).requires_grad_()",
  );
}

async function downloaded(x: Tensor, device: Device): Promise<Tensor> {
  const recorded = recording(x),
    elements = await readStored(x, "to");
  const { dtype, shape } = inMemory(x),
    whole = new Tensor(device.upload(elements, dtype, "to"), dtype, frozen(shape), contiguousStrides(shape), 0),
    out = x.dtype === dtype ? whole : intoComplex(whole);
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
  return expand(source, target.shape);
}

export function copy_<T extends Tensor>(x: T, other: TensorOrNumber, op = "copy_"): T {
  const source =
    other instanceof Tensor
      ? other
      : typeof other === "bigint"
        ? filledOn(x.storage.device, [], other, "int64", op)
        : other instanceof Complex
          ? filledOn(x.storage.device, [], other, x.dtype, op)
          : scalar(
              typeof other === "number" && x.dtype !== "complex64" ? fitting(op, x.dtype, other) : other,
              x.storage.device,
            );
  x.check(op);
  source.check(op);
  beforeInPlace(x, op, op === "fill_" && source.ndim === 0);
  const wide = fitted(x, source, op),
    records = differentiable(x.dtype) && recording(x, source),
    { shape, dtype } = source;
  // A source that shares the target's memory is read before anything is written.
  const apart = wide.storage === x.storage ? clone(wide.detach()) : wide;
  x.storage.change();
  copyInto(x, apart);
  if (records) {
    const device = source.storage.device;
    recordInPlace(
      x,
      new JoinNode("CopyBackwards", [x, source], ([grad], wanted) => [
        grad && wanted[0] ? filledOn(grad.storage.device, grad.shape, 0, grad.dtype, "zeros") : null,
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
