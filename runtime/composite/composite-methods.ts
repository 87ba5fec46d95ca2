// The composite functions as methods of tensors.  Importing this module installs them.

import { copy_ } from "../views/transfer.js";
import { takeComplex } from "../complex/calls.js";
import { cast } from "../tensor/copy.js";
import { conj, conj_physical, imag, real } from "../functions/complex-parts.js";
import { argwhere } from "../functions/data-dependent.js";
import { positive } from "../functions/tensor-functions.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { sameShape, showShape } from "../base/shape.js";
import { type Layout, Tensor, type TensorOrNumber } from "../tensor/tensor.js";
import * as composite from "./index.js";

declare module "../tensor/tensor.js" {
  interface Tensor {
    /** Every element times all of `other`: the Kronecker product. */
    kron(other: Tensor): Tensor;
    /** The elements at these places of the tensor seen as one row. */
    take(index: Tensor): Tensor;
    /** A copy with the elements of `source` at these places of the tensor seen as one row, or with them added there. */
    put(index: Tensor, source: Tensor, accumulate?: boolean | { accumulate?: boolean }): Tensor;
    /** Picks elements along `dim`, position by position; apart from `dim` the shapes broadcast. */
    take_along_dim(indices: Tensor, dim?: number | null | { dim?: number }): Tensor;
    /** The tensor with the elements of `source`, one after the other, where `mask` holds. */
    masked_scatter(mask: Tensor, source: Tensor): Tensor;
    /** The tensor turned by `k` quarters from the first of two axes towards the second. */
    rot90(k?: number | { k?: number; dims?: readonly number[] }, dims?: readonly number[]): Tensor;
    /** The p-norm of the difference from `other`. */
    dist(other: Tensor, p?: number | { p?: number }): Tensor;
    /** The tensor to the power `exponent`, in float64 on the CPU. */
    float_power(exponent: Tensor | number): Tensor;
    /** In place; refused where the result has another type, as of float32 on the CPU, where powers are float64. */
    float_power_(exponent: Tensor | number): this;
    /** The vector product along the first axis of length 3, or along `dim`. */
    cross(other: Tensor, dim?: number | null | { dim?: number | null }): Tensor;
    /** The norm of order `p` along `dim`. */
    norm(
      p?: composite.Order | null | composite.PNormOptions,
      dim?: number | readonly number[] | null,
      keepdim?: boolean,
    ): Tensor;
    /** Square matrices multiplied by themselves `n` times. */
    matrix_power(n: number | { n: number }): Tensor;
    /** How the rows vary together: their covariances. */
    cov(options?: composite.CovOptions): Tensor;
    /** How the rows vary together, from -1 to 1. */
    corrcoef(): Tensor;
    /** The next number after each element towards `other`. */
    nextafter(other: Tensor): Tensor;
    /** The spectra of windows of `n_fft` points, as pairs. */
    stft(n_fft: number | (composite.StftOptions & { n_fft: number }), options?: composite.StftOptions): Tensor;
    /** The signal whose `stft` this is. */
    istft(n_fft: number | (composite.IstftOptions & { n_fft: number }), options?: composite.IstftOptions): Tensor;
    /** The same as `put`, `masked_scatter` and `nextafter`, in place. */
    put_(index: Tensor, source: Tensor, accumulate?: boolean | { accumulate?: boolean }): this;
    /** Replaces the elements under the mask by those of `source`, in order. */
    masked_scatter_(mask: Tensor, source: Tensor): this;
    /** Each element becomes the next number towards that of `other`. */
    nextafter_(other: Tensor): this;
    /**
     * The real parts: of real numbers the tensor itself. What is assigned is written there.
     *
     * @example
     * torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4])).real  // [1, 2]
     */
    get real(): Tensor;
    set real(value: TensorOrNumber);
    /**
     * The imaginary parts, as a view. What is assigned is written there.
     *
     * @example
     * const z = torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4]));
     * z.imag = 5;
     * z.imag  // [5, 5]
     */
    get imag(): Tensor;
    set imag(value: TensorOrNumber);
    /**
     * The same numbers as complex64.
     *
     * @example
     * torch.tensor([1, 2]).cfloat().dtype  // "complex64"
     */
    cfloat(options?: Layout): Tensor;
    conj(): Tensor;
    conj_physical(): Tensor;
    conj_physical_(): this;
    /** The tensor itself: nothing is conjugated or negated later. */
    resolve_conj(): Tensor;
    resolve_neg(): Tensor;
    /** The tensor itself, as Python's `+x`. */
    positive(): Tensor;
    /** The places of the elements that are not 0, a row for each. */
    argwhere(): Promise<Tensor>;
  }
}

function install(name: string, value: (this: Tensor, ...args: unknown[]) => unknown): void {
  Object.defineProperty(Tensor.prototype, name, { value, writable: true, configurable: true });
}

for (const name of [
  "kron",
  "take",
  "put",
  "take_along_dim",
  "masked_scatter",
  "rot90",
  "dist",
  "float_power",
  "cross",
  "norm",
  "cov",
  "corrcoef",
  "nextafter",
  "stft",
  "istft",
  "matrix_power",
] as const) {
  const apply = composite[name] as (x: Tensor, ...rest: unknown[]) => Tensor;
  install(name, function (...args) {
    return apply(this, ...args);
  });
}
for (const name of ["put", "masked_scatter", "nextafter"] as const) {
  const apply = composite[name] as (x: Tensor, ...rest: unknown[]) => Tensor,
    op = `${name}_`;
  install(op, function (...args) {
    return copy_(this, inShape(this, apply(this, ...args), op), op);
  });
}
for (const [name, f] of Object.entries({ conj, conj_physical }))
  install(name, function (...args) {
    taken(name, args);
    return f(this);
  });
takeComplex();
install("cfloat", function (...args) {
  taken("cfloat * memory_format?", args);
  return cast(this, "complex64", "cfloat");
});
install("conj_physical_", function (...args) {
  taken("conj_physical_", args);
  return copy_(this, conj(this), "conj_physical_");
});
for (const name of ["resolve_conj", "resolve_neg"]) {
  install(name, function (...args) {
    taken(name, args);
    return this;
  });
}
install("float_power_", function (...args) {
  const [exponent] = taken("float_power_ exponent", args) as [Tensor | number],
    made = composite.float_power(this, exponent);
  if (made.dtype !== this.dtype)
    throw new OpError(
      `the base given to float_power_ has dtype ${this.dtype} but the operation's result requires dtype ${made.dtype}`,
    );
  return copy_(this, inShape(this, made, "float_power_"), "float_power_");
});
install("positive", function (...args) {
  taken("positive", args);
  return positive(this);
});
install("argwhere", function (...args) {
  return (argwhere as (...args: unknown[]) => unknown)(this, ...args);
});
for (const [name, look] of Object.entries({ real, imag }))
  Object.defineProperty(Tensor.prototype, name, {
    get(this: Tensor) {
      return look(this);
    },
    set(this: Tensor, value: TensorOrNumber) {
      copy_(look(this), value, name);
    },
    configurable: true,
  });

/** The result of a method in place, which has the shape of the tensor. */
function inShape(x: Tensor, result: Tensor, op: string): Tensor {
  if (sameShape(x.shape, result.shape)) return result;
  throw new OpError(
    `${op}: output with shape ${showShape(x.shape)} doesn't match the broadcast shape ${showShape(result.shape)}`,
  );
}
