// Complex numbers and their parts: views of each other, and what is made of them.

import { takeComplex } from "../complex/calls.js";
import { complex_ofOp } from "../../ops/complex.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { conjugate, run } from "../dispatch/call.js";
import { Complex } from "../elements/complex-number.js";
import { complexOf, pairsOf } from "../tensor/recorded-pairs.js";
import { isRecording } from "../tape/grad-mode.js";
import { tidy } from "../tensor/memory.js";
import { sideBySide } from "../tensor/pairs.js";
import { check, tensorOf } from "../tensor/tensor-arguments.js";
import { clone } from "../tensor/copy.js";
import type { Tensor } from "../tensor/tensor.js";
import { refreshNode, select } from "../views/views.js";

/**
 * Complex numbers of their real and imaginary parts; of two numbers the one number, as Python's own `complex`.
 *
 * @example
 * const z = torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4]));
 * torch.view_as_real(z)  // [[1, 3], [2, 4]]
 */
export function complex(real: Tensor, imag: Tensor): Tensor;
export function complex(real: number, imag: number): Complex;
export function complex(...args: unknown[]): Tensor | Complex {
  const [real, imag] = taken("complex real imag", args);
  takeComplex();
  if (typeof real === "number" && typeof imag === "number") return new Complex(real, imag);
  const parts = [tensorOf(real, "complex", "real"), tensorOf(imag, "complex", "imag")];
  return tidy(() => complexOf(run(complex_ofOp, parts) as Tensor));
}

/**
 * Pairs of float32 along a last axis of length 2, which must lie side by side, seen as complex numbers.
 *
 * @example
 * torch.view_as_complex(torch.tensor([[3.5, 4]])).imag  // [4]
 */
export function view_as_complex(input: Tensor): Tensor {
  [input] = taken("view_as_complex input", arguments);
  const op = "view_as_complex",
    { dtype, shape, strides } = tensorOf(input, op);
  if (dtype !== "float32")
    throw new TypeMismatchError(`${op}: ${op} is only supported for tensors of float32 here, but got ${dtype}`);
  if (input.ndim === 0) throw new OpError(`${op}: Input tensor must have one or more dimensions`);
  if (shape[shape.length - 1] !== 2) throw new OpError(`${op}: Tensor must have a last dimension of size 2`);
  if (strides[strides.length - 1] !== 1) throw new OpError(`${op}: Tensor must have a last dimension with stride 1`);
  if (!sideBySide(input))
    throw new OpError(`${op}: Tensor must have a stride divisible by 2 for all but last dimension, and such an offset`);
  takeComplex();
  return seen(complexOf(input), input);
}

/**
 * Complex numbers as pairs along a last axis of length 2, on the same memory.
 *
 * @example
 * torch.view_as_real(torch.polar(torch.tensor([2.5]), torch.tensor([0.0])))  // [[2.5, 0]]
 */
export function view_as_real(input: Tensor): Tensor {
  [input] = taken("view_as_real input", arguments);
  check(input, "view_as_real", "input");
  if (input.dtype !== "complex64")
    throw new TypeMismatchError("view_as_real: view_as_real is only supported for complex tensors");
  return seen(pairsOf(input), input);
}

/** `view_as_complex` as a copy. */
export function view_as_complex_copy(input: Tensor): Tensor {
  [input] = taken("view_as_complex_copy input", arguments);
  return clone(view_as_complex(input));
}
/** `view_as_real` as a copy. */
export function view_as_real_copy(input: Tensor): Tensor {
  [input] = taken("view_as_real_copy input", arguments);
  return clone(view_as_real(input));
}

/** A view of another type, which the tape knows as one. */
function seen(view: Tensor, of: Tensor): Tensor {
  if (isRecording()) {
    view.base = of.base ?? of;
    view.nodeVersion = of.storage.version;
    view.refresh = refreshNode;
  } else if (of.requires_grad) view.viewRule = "unrecorded";
  return view;
}

/**
 * The real parts, a view; of real numbers the tensor itself.
 *
 * @example
 * torch.real(torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4])))  // [1, 2]
 */
export function real(input: Tensor): Tensor {
  [input] = taken("real input", arguments);
  check(input, "real", "input");
  return input.dtype === "complex64" ? select(seen(pairsOf(input), input), -1, 0, "real") : input;
}

/**
 * The imaginary parts, a view.
 *
 * @example
 * torch.imag(torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4])))  // [3, 4]
 */
export function imag(input: Tensor): Tensor {
  [input] = taken("imag input", arguments);
  check(input, "imag", "input");
  if (input.dtype !== "complex64")
    throw new OpError("imag: imag is not implemented for tensors with non-complex dtypes.");
  return select(seen(pairsOf(input), input), -1, 1, "imag");
}

const conjugated = (op: string) =>
  function (input: Tensor): Tensor {
    [input] = taken(`${op} input`, arguments);
    check(input, op, "input");
    return conjugate(input);
  };
/**
 * The same numbers with negated imaginary parts; real ones are the tensor itself.
 *
 * @example
 * torch.conj(torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4]))).imag  // [-3, -4]
 */
export const conj = /* @__PURE__ */ conjugated("conj");
/**
 * The conjugate.
 *
 * @example
 * torch.conj_physical(torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4]))).imag  // [-3, -4]
 */
export const conj_physical = /* @__PURE__ */ conjugated("conj_physical");
