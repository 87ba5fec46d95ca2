// The bits of a tensor's elements seen as elements of another type, on the same memory.  Only for types that the device
// keeps in PyTorch's bytes: not for floats of 16 bits, which lie as float32 on the CPU, nor on a GPU for whole numbers
// that take a word there whatever their size.

import { OpError, TypeMismatchError } from "../base/errors.js";
import { type DType, bytesOn, elementBytes, toDType } from "../elements/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { view } from "./views.js";

/** A view of `x`'s memory as `dtype`; to another type no gradient passes, as in PyTorch. */
export function viewDtype(x: Tensor, dtype: unknown): Tensor {
  const to = toDType(dtype, "view"),
    from = x.dtype;
  x.check("view");
  if (from === to) return view(x, x.shape);
  checkBits(from, to, x.device);
  return new Tensor(x.storage, to, x.shape, x.strides, x.offset);
}

/** Whether both types have PyTorch's bytes on the device, and as many. */
export const sharesBits = (from: DType, to: DType, device: Tensor["device"]): boolean =>
  from !== "complex64" &&
  to !== "complex64" &&
  elementBytes(from) === elementBytes(to) &&
  [from, to].every((one) => bytesOn(device, one) === elementBytes(one));

function checkBits(from: DType, to: DType, device: Tensor["device"]): void {
  const pair = `view: cannot view ${from} as ${to}`;
  for (const [one, other] of [
    [from, "view_as_real(x)"],
    [to, "view_as_complex(x)"],
  ] as const)
    if (one === "complex64") throw new TypeMismatchError(`${pair}: complex numbers are pairs, use torch.${other}`);
  for (const one of [from, to]) {
    const stored = bytesOn(device, one);
    if (stored !== elementBytes(one))
      throw new TypeMismatchError(
        `${pair} on ${device}, where an element of ${one} takes ${stored} bytes and not ${elementBytes(one)}`,
      );
  }
  if (elementBytes(from) !== elementBytes(to))
    throw new OpError(
      `${pair}: elements of ${elementBytes(from)} and of ${elementBytes(to)} bytes; only types of one size share memory here`,
    );
}
