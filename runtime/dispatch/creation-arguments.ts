// What calls take for some ops only: those that make tensors from numbers alone, windows for example, say where the
// result shall be and whether it wants a gradient; and tensors may be given as lists, or in any shape.

import { given, isOptions } from "../base/named-arguments.js";
import { contiguousStrides, frozen } from "../base/shape.js";
import { fromNested } from "../elements/nested-data.js";
import { attach, FunctionNode, recording } from "../tape/node.js";
import { contiguous } from "../tensor/copy.js";
import { type Device, toDevice } from "../devices/device.js";
import type { DType } from "../elements/dtype.js";
import { OpError, describe } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";

/** What such a call may ask for besides its op's own options. */
const NAMES = new Set(["device", "requires_grad", "requiresGrad", "layout", "pin_memory"]);

export interface Creation {
  readonly args: readonly unknown[];
  readonly device: Device | null;
  readonly requiresGrad: boolean;
}

/** The call without these options, or null where a tensor or none of them was given. */
function creationOf(args: readonly unknown[], op: string): Creation | null {
  const last = args[args.length - 1];
  if (!isOptions(last) || !Object.keys(last).some((name) => NAMES.has(name))) return null;
  if (args.some((value) => value instanceof Tensor) || Object.values(last).some((value) => value instanceof Tensor))
    return null;
  for (const name of NAMES) if (name in last) given(op, name, last[name]);
  const { device, layout, requires_grad, requiresGrad } = last;
  if (layout !== undefined && layout !== null && !/(^|\.)strided$/.test(String(layout))) {
    throw new OpError(
      `${op} is implemented for strided tensors only, got: torch.${String(layout).replace(/^torch\./, "")}`,
    );
  }
  const rest = Object.fromEntries(Object.entries(last).filter(([name]) => !NAMES.has(name)));
  return {
    args: [...args.slice(0, -1), rest],
    device: device ? toDevice(device as string, op) : null,
    requiresGrad: (requires_grad ?? requiresGrad) === true,
  };
}

/** A list of numbers, given where such a call expects a tensor, as one. */
function listed(value: unknown, name: string, op: string, device: Device, dtype: DType): Tensor {
  if (!Array.isArray(value) || !value.every((v) => typeof v === "number"))
    throw new OpError(`${op}: argument '${name}' must be a tensor or a list of numbers, got ${describe(value)}`);
  const { elements, shape } = fromNested(value, dtype);
  return new Tensor(device.upload(elements, dtype, op), dtype, frozen(shape), contiguousStrides(shape), 0);
}

/** The elements in order in another shape: no view to autograd, for nobody sees it but the op. */
function relaid(x: Tensor, shape: readonly number[]): Tensor {
  const plain = contiguous(x),
    out = new Tensor(plain.storage, plain.dtype, frozen(shape), contiguousStrides(shape), plain.offset);
  return recording(plain)
    ? attach(out, new FunctionNode("ViewBackward0", plain, (grad) => relaid(grad, plain.shape)))
    : out;
}

/** A tensor as a row of its elements. */
const row = (x: Tensor): Tensor => (x.ndim === 1 ? x : relaid(x, [x.numel()]));

/** See the functions. */
export interface Calls {
  readonly creationOf: typeof creationOf;
  readonly listed: typeof listed;
  /** A tensor as a row of its elements. */
  readonly row: typeof row;
}

/** A function, for modules that make ops may run before this one. */
export function calls(): Calls {
  return { creationOf, listed, row };
}
