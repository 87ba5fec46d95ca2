// torch.fft: which axes are transformed, to which lengths, with which scale.  The transform along one axis is an op.
//
// Ops transform pairs of float32, a last axis of length 2, which is what complex64 is in memory.

import { roll } from "../functions/along-axes.js";
import { run } from "../dispatch/call.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { IndexError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { axesOf, axisOf, checkShape, integers } from "../base/shape.js";
import { check } from "../tensor/tensor-arguments.js";
import { tidy } from "../tensor/memory.js";
import type { Tensor } from "../tensor/tensor.js";
import { takeComplex } from "../complex/calls.js";
import { complex_of_realOp } from "../../ops/complex.js";
import { fft_alongOp, fft_real_alongOp } from "../../ops/fft.js";
import { complexOf, pairsOf as pairsIn } from "../tensor/recorded-pairs.js";

export type Norm = "forward" | "backward" | "ortho";
type List = number | readonly number[];

/** What a transform makes: complex numbers, the half of them that says all where the input is real, or real numbers. */
interface Kind {
  readonly to: "complex" | "half" | "real";
  readonly inverse: boolean;
}

interface OneAxis<I> {
  /**
   * @param input tensor with one axis or more, real or complex
   * @param n how many points are transformed: the axis is cut or filled up with zeros; its length unless given
   * @param dim the axis
   * @param norm which way divides: "backward", the inverse by n, "forward", the transform by n, "ortho", both by its root
   */
  (input: I, n?: number | null, dim?: number, norm?: Norm | null): Tensor;
  (input: I, options: { n?: number | null; dim?: number; norm?: Norm | null }): Tensor;
}

interface SomeAxes<I> {
  /**
   * @param input tensor with as many axes or more, real or complex
   * @param s the length along each axis, to which it is cut or filled up with zeros, -1 as it is; all as they are unless
   *   given
   * @param dim the axes
   * @param norm which way divides: "backward", the inverse by the number of points, "forward", the transform by it,
   *   "ortho", both by its root
   */
  (input: I, s?: List | null, dim?: List | null, norm?: Norm | null): Tensor;
  (input: I, options: { s?: List | null; dim?: List | null; norm?: Norm | null }): Tensor;
}

const call = (op: CompiledOp, ...args: unknown[]): Tensor => run(op, args) as Tensor;

function scaleOf(norm: unknown, count: number, inverse: boolean, op: string): number {
  switch (norm ?? "backward") {
    case "backward":
      return inverse ? 1 / count : 1;
    case "forward":
      return inverse ? 1 : 1 / count;
    case "ortho":
      return 1 / Math.sqrt(count);
    default:
      throw new OpError(`${op}: Invalid normalization mode: ${describe(norm)}`);
  }
}

function pairsOf(input: unknown, kind: Kind, op: string): Tensor {
  check(input, op, "input");
  takeComplex();
  if (input.dtype === "complex64") {
    if (kind.to === "half") throw new TypeMismatchError(`${op}: expects a real input tensor, but got complex64`);
    return pairsIn(input);
  }
  if (input.dtype === "float64")
    throw new TypeMismatchError(`${op}: of float64 the transform is complex128, which there is not`);
  return call(complex_of_realOp, input);
}

/** The transform of pairs along `axes` to `lengths`, null: as long as they are. */
function transform(
  op: string,
  kind: Kind,
  pairs: Tensor,
  axes: readonly number[],
  lengths: readonly (number | null)[],
  norm: unknown,
): Tensor {
  const last = axes.length - 1,
    { inverse } = kind;
  const sizes = axes.map(
    (axis, i) => lengths[i] ?? (kind.to === "real" && i === last ? 2 * (pairs.shape[axis]! - 1) : pairs.shape[axis]!),
  );
  for (const n of sizes) if (n < 1) throw new OpError(`${op}: Invalid number of data points (${n}) specified`);
  const shape = pairs.shape.slice(0, -1);
  axes.forEach((axis, i) => (shape[axis] = sizes[i]!));
  checkShape(shape, op, "n");
  const scale = scaleOf(
    norm,
    sizes.reduce((a, b) => a * b, 1),
    inverse,
    op,
  );
  if (axes.length === 0) return kind.to === "real" ? pairs : complexOf(pairs);
  let x = pairs;
  if (kind.to === "half") x = call(fft_alongOp, x, sizes[last], axes[last], inverse, scale, true);
  for (let i = 0; i < last; i++) x = call(fft_alongOp, x, sizes[i], axes[i], inverse, 1, false);
  if (kind.to === "complex") x = call(fft_alongOp, x, sizes[last], axes[last], inverse, scale, false);
  return kind.to === "real" ? call(fft_real_alongOp, x, sizes[last], axes[last], inverse, scale) : complexOf(x);
}

/** Leaves none of the tensors in between, which would hold memory until they are collected. */
const alone =
  (f: (...args: unknown[]) => Tensor) =>
  (...args: unknown[]): Tensor =>
    tidy(() => f(...args));

function oneAxis<I>(op: string, kind: Kind): OneAxis<I> {
  return alone((...args: unknown[]) => {
    const [input, n, dim, norm] = taken(`${op} input n? dim? norm?`, args);
    const pairs = pairsOf(input, kind, op),
      rank = pairs.ndim - 1,
      at = (dim ?? -1) as number;
    if (rank === 0) throw new IndexError(`${op}: Dimension specified as ${at} but tensor has no dimensions`);
    return transform(
      op,
      kind,
      pairs,
      [axisOf(at, rank, op)],
      [n === undefined || n === null ? null : integers([n], op, "n")[0]!],
      norm,
    );
  }) as OneAxis<I>;
}

/** `usual`: the axes that are meant where neither they nor lengths are given; null: all. */
function someAxes<I>(op: string, kind: Kind, usual: readonly number[] | null): SomeAxes<I> {
  return alone((...args: unknown[]) => {
    const [input, s, dim, norm] = taken(`${op} input s? dim? norm?`, args);
    const pairs = pairsOf(input, kind, op),
      rank = pairs.ndim - 1;
    const lengths = s === undefined || s === null ? null : integers([[s].flat()], op, "s");
    const chosen = dim === undefined ? usual : dim === null ? null : integers([[dim].flat()], op, "dim");
    if (lengths && chosen && lengths.length !== chosen.length)
      throw new OpError(`${op}: When given, dim and shape arguments must have the same length`);
    if (lengths && lengths.length > rank)
      throw new OpError(`${op}: Got shape with ${lengths.length} values but input tensor only has ${rank} dimensions.`);
    const first = lengths ? rank - lengths.length : 0;
    const wanted = chosen ?? Array.from({ length: rank - first }, (_, i) => first + i);
    if (rank === 0 && wanted.length > 0)
      throw new IndexError(`${op}: Dimension specified as ${wanted[0]} but tensor has no dimensions`);
    const axes = rank === 0 ? [] : axesOf(wanted, rank, op);
    if (axes.length === 0 && kind.to !== "complex") throw new OpError(`${op}: must transform at least one axis`);
    return transform(
      op,
      kind,
      pairs,
      axes,
      axes.map((_, i) => (lengths && lengths[i] !== -1 ? lengths[i]! : null)),
      norm,
    );
  }) as SomeAxes<I>;
}

const FORWARD: Kind = { to: "complex", inverse: false },
  BACK: Kind = { to: "complex", inverse: true };
const HALF: Kind = { to: "half", inverse: false },
  HALF_BACK: Kind = { to: "half", inverse: true };
const REAL: Kind = { to: "real", inverse: false },
  REAL_BACK: Kind = { to: "real", inverse: true };
const PLANE = [-2, -1];
type Any = Tensor;

/**
 * The discrete Fourier transform along `dim`, of `n` points: the input is cut or filled up with zeros.
 *
 * @example
 * torch.view_as_real(torch.fft.fft(torch.tensor([1, 2, 3, 4])))  // [[10, 0], [-2, 2], [-2, 0], [-2, -2]]
 * torch.fft.fft(torch.cos(torch.arange(8).mul(Math.PI / 2))).abs().round()  // [0, 0, 4, 0, 0, 0, 4, 0]
 */
export const fft = oneAxis<Any>("fft", FORWARD);
/**
 * The inverse of `fft`.
 *
 * @example
 * torch.fft.ifft(torch.tensor([4, 0, 0, 0])).real  // [1, 1, 1, 1]
 */
export const ifft = oneAxis<Any>("ifft", BACK);
/**
 * The transform of real numbers: the first `n // 2 + 1` numbers of `fft`, whose mirror images the others are.
 *
 * @example
 * torch.view_as_real(torch.fft.rfft(torch.tensor([1, 2, 3, 4])))  // [[10, 0], [-2, 2], [-2, 0]]
 */
export const rfft = oneAxis<Tensor>("rfft", HALF);
/**
 * The inverse of `rfft`: real numbers, `n` of them, by default an even number.
 *
 * @example
 * torch.fft.irfft(torch.fft.rfft(torch.tensor([1, 2, 3, 4])))  // [1, 2, 3, 4]
 * torch.fft.irfft(torch.fft.rfft(torch.tensor([1, 2, 3])), 3)  // [1, 2, 3]
 */
export const irfft = oneAxis<Any>("irfft", REAL_BACK);
/**
 * The transform of numbers of which half are given and the others their mirror images; so the result is real.
 *
 * @example
 * torch.fft.hfft(torch.tensor([1, 2, 3]))  // [8, -2, 0, -2]
 */
export const hfft = oneAxis<Any>("hfft", REAL);
/**
 * The inverse of `hfft`.
 *
 * @example
 * torch.view_as_real(torch.fft.ihfft(torch.tensor([1, 2, 3, 2])))  // [[2, 0], [-0.5, 0], [0, 0]]
 */
export const ihfft = oneAxis<Tensor>("ihfft", HALF_BACK);

/**
 * `fft` along two axes.
 *
 * @example
 * torch.fft.fft2(torch.tensor([[1, 2], [3, 4]])).real  // [[10, -2], [-4, 0]]
 */
export const fft2 = someAxes<Any>("fft2", FORWARD, PLANE);
/**
 * `ifft` along two axes.
 *
 * @example
 * torch.fft.ifft2(torch.tensor([[4, 0], [0, 0]])).real  // [[1, 1], [1, 1]]
 */
export const ifft2 = someAxes<Any>("ifft2", BACK, PLANE);
/**
 * `rfft` along the last of two axes, `fft` along the other.
 *
 * @example
 * torch.fft.rfft2(torch.ones([4, 4])).shape  // [4, 3]
 */
export const rfft2 = someAxes<Tensor>("rfft2", HALF, PLANE);
/**
 * The inverse of `rfft2`.
 *
 * @example
 * torch.fft.irfft2(torch.fft.rfft2(torch.tensor([[1, 2], [3, 4]])))  // [[1, 2], [3, 4]]
 */
export const irfft2 = someAxes<Any>("irfft2", REAL_BACK, PLANE);
/**
 * `hfft` along the last of two axes, `fft` along the other.
 *
 * @example
 * torch.fft.hfft2(torch.tensor([[1, 2], [3, 4]]))  // [[10, -2], [-4, 0]]
 */
export const hfft2 = someAxes<Any>("hfft2", REAL, PLANE);
/**
 * The inverse of `hfft2`.
 *
 * @example
 * torch.fft.ihfft2(torch.tensor([[10, -2], [-4, 0]])).real  // [[1, 2], [3, 4]]
 */
export const ihfft2 = someAxes<Tensor>("ihfft2", HALF_BACK, PLANE);

/**
 * `fft` along several axes: `dim`, or the last ones that `s` has lengths for, or all.
 *
 * @example
 * torch.fft.fftn(torch.ones([2, 2, 2])).abs().flatten()  // [8, 0, 0, 0, 0, 0, 0, 0]
 */
export const fftn = someAxes<Any>("fftn", FORWARD, null);
/**
 * The inverse of `fftn`.
 *
 * @example
 * torch.fft.ifftn(torch.fft.fftn(torch.tensor([[1, 2], [3, 4]]))).real  // [[1, 2], [3, 4]]
 */
export const ifftn = someAxes<Any>("ifftn", BACK, null);
/**
 * `rfft` along the last of several axes, `fft` along the others.
 *
 * @example
 * torch.fft.rfftn(torch.ones([2, 4, 6])).shape  // [2, 4, 4]
 */
export const rfftn = someAxes<Tensor>("rfftn", HALF, null);
/**
 * The inverse of `rfftn`.
 *
 * @example
 * torch.fft.irfftn(torch.fft.rfftn(torch.ones([2, 3])), [2, 3])  // [[1, 1, 1], [1, 1, 1]]
 */
export const irfftn = someAxes<Any>("irfftn", REAL_BACK, null);
/**
 * `hfft` along the last of several axes, `fft` along the others.
 *
 * @example
 * torch.fft.hfftn(torch.ones([2, 3, 4])).shape  // [2, 3, 6]
 */
export const hfftn = someAxes<Any>("hfftn", REAL, null);
/**
 * The inverse of `hfftn`.
 *
 * @example
 * torch.fft.ihfftn(torch.ones([2, 3, 6])).shape  // [2, 3, 4]
 */
export const ihfftn = someAxes<Tensor>("ihfftn", HALF_BACK, null);

interface Shift {
  (input: Any, dim?: List | null): Tensor;
  (input: Any, options: { dim?: List | null }): Tensor;
}

function shifted(op: string, by: (n: number) => number): Shift {
  return ((...args: unknown[]) => {
    const [input, dim] = taken(`${op} input dim?`, args);
    check(input, op, "input");
    const x = input,
      rank = x.ndim;
    const axes =
      dim === undefined || dim === null
        ? x.shape.map((_, i) => i)
        : axesOf(integers([[dim].flat()], op, "dim"), rank, op);
    return roll(
      x,
      axes.map((axis) => by(x.shape[axis]!)),
      axes,
    );
  }) as Shift;
}

/**
 * The frequency 0, which comes first, moved to the middle of each axis of `dim`, or of all.
 *
 * @param input tensor of any shape
 * @param dim an axis or several; all unless given
 *
 * @example
 * torch.fft.fftshift(torch.fft.fftfreq(5))  // [-0.4, -0.2, 0, 0.2, 0.4]
 */
export const fftshift = shifted("fftshift", (n) => Math.floor(n / 2));
/**
 * The inverse of `fftshift`.
 *
 * @param input tensor of any shape
 * @param dim an axis or several; all unless given
 *
 * @example
 * torch.fft.ifftshift(torch.tensor([-2, -1, 0, 1, 2]))  // [0, 1, 2, -2, -1]
 */
export const ifftshift = shifted("ifftshift", (n) => -Math.floor(n / 2));
