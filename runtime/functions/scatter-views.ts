// Copies in which a part is replaced by other elements: the part is whatever a view of the copy shows.  Both gradients
// flow.

import { wayBackOf } from "../base/class-name.js";
import { fill_, to } from "../views/transfer.js";
import { clone, contiguous, copyInto } from "../tensor/copy.js";
import { full, zeros } from "../creation/create.js";
import { OpError } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { number, integer } from "../base/argument-kinds.js";
import { check } from "../tensor/tensor-arguments.js";
import { JoinNode, attach, recording } from "../tape/node.js";
import { place } from "../views/view-adjoints.js";
import { axisOf, checkShape, extent, integers, sameShape, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import { as_strided, diagonal as diagonalOf, narrow, select, sliceAxis } from "../views/views.js";
import * as views from "../views/views.js";

/**
 * A copy of `input` in which the elements that `look` shows are those of `src`.
 * `onlyReplaced`: the gradient of `input` is that of the replaced elements instead of that of the others.
 */
function replaced(
  op: string,
  input: Tensor,
  src: Tensor,
  look: (tensor: Tensor) => Tensor,
  onlyReplaced = false,
): Tensor {
  check(src, op, "src");
  const out = unrecorded(() => {
    const copy = clone(input),
      part = look(copy);
    if (!sameShape(part.shape, src.shape)) {
      throw new OpError(
        `${op}: expected src to have a size equal to the slice of self. src size = ${showShape(src.shape)}, slice size = ${showShape(part.shape)}`,
      );
    }
    copyInto(part, src);
    if (part !== copy) part.dispose();
    return copy;
  });
  if (!recording(input, src)) return out;
  return attach(
    out,
    new JoinNode(wayBackOf(op), [input, src], ([given], wanted) => {
      if (!given) return [null, null];
      const grad = contiguous(given),
        part = look(grad),
        nothing = (x: Tensor) => zeros(x.shape, { dtype: x.dtype, device: x.device });
      const before = () =>
        onlyReplaced ? replaced(op, nothing(grad), part, look, true) : replaced(op, grad, nothing(part), look);
      return [wanted[0] ? before() : null, wanted[1] ? (to(clone(part), [src.dtype]) as Tensor) : null];
    }),
  );
}

export const diagonal_scatter = (input: Tensor, src: Tensor, offset = 0, dim1 = 0, dim2 = 1): Tensor =>
  replaced("diagonal_scatter", input, src, (t) => diagonalOf(t, offset, dim1, dim2));

export const select_scatter = (input: Tensor, src: Tensor, dim: number, index: number): Tensor =>
  replaced("select_scatter", input, src, (t) => select(t, dim, index, "select_scatter"));

export function slice_scatter(
  input: Tensor,
  src: Tensor,
  dim = 0,
  start?: number | null,
  end?: number | null,
  step = 1,
): Tensor {
  const axis = axisOf(dim, input.ndim, "slice_scatter"),
    n = input.shape[axis] ?? 1;
  if (!(integer(step, "slice_scatter", "step") > 0))
    throw new OpError(`slice_scatter: slice step must be positive, got ${step}`);
  const clip = (at: number) => Math.min(Math.max(at < 0 ? at + n : at, 0), n);
  const first = clip(integer(start ?? 0, "slice_scatter", "start")),
    last = clip(integer(end ?? n, "slice_scatter", "end"));
  const length = Math.max(Math.ceil((last - first) / step), 0);
  return replaced("slice_scatter", input, src, (t) => sliceAxis(t, axis, first, length, step, "slice_scatter"));
}

/**
 * As in PyTorch, places are those of the memory in which `input` lies, gaps and all; the gradient of `input` is that of
 * the elements that
 *  are replaced, and 0 elsewhere. */
export function as_strided_scatter(
  input: Tensor,
  src: Tensor,
  size: readonly number[],
  stride: readonly number[],
  storage_offset?: number | null,
): Tensor {
  const { shape, strides, offset } = input,
    look = (t: Tensor) => as_strided(t, size, stride, storage_offset ?? offset);
  if (offset === 0 && input.is_contiguous()) return replaced("as_strided_scatter", input, src, look, true);
  return as_strided(
    replaced("as_strided_scatter", as_strided(input, [offset + extent(shape, strides)], [1], 0), src, look, true),
    shape,
    strides,
    offset,
  );
}

/**
 * Matrices with the vectors along the last axis of `x` on a diagonal, zeros elsewhere; `dim1` and `dim2` are the
 * matrices' axes.
 */
export function diag_embed(x: Tensor, offset = 0, dim1 = -2, dim2 = -1): Tensor {
  offset = integer(offset, "diag_embed", "offset");
  const rank = x.ndim + 1,
    a = axisOf(dim1, rank, "diag_embed"),
    b = axisOf(dim2, rank, "diag_embed");
  if (a === b) throw new OpError(`diag_embed: diagonal dimensions cannot be identical ${dim1}, ${dim2}`);
  if (x.ndim === 0) throw new OpError("diag_embed: input must have at least one dimension");
  const n = x.shape[x.ndim - 1]! + Math.abs(offset),
    rest = x.shape.slice(0, -1);
  const shape = Array.from({ length: rank }, (_, i) => (i === a || i === b ? n : rest.shift()!));
  checkShape(shape, "diag_embed");
  return place(x, shape, (t) => diagonalOf(t, offset, a, b));
}

/** The diagonal of a matrix, copied, or the matrix with a vector on its diagonal. */
export function diag(x: Tensor, diagonal = 0): Tensor {
  diagonal = integer(diagonal, "diag", "diagonal");
  if (x.ndim !== 1 && x.ndim !== 2) throw new OpError(`diag: diag(): Supports 1D or 2D tensors. Got ${x.ndim}D`);
  return x.ndim === 1 ? diag_embed(x, diagonal) : clone(diagonalOf(x, diagonal));
}

/**
 * Makes the elements on the main diagonal `value`; with `wrap` the diagonal of a tall matrix begins anew below its end,
 * a row apart.
 */
export function fill_diagonal_<T extends Tensor>(x: T, value: number | boolean | Tensor, wrap = false): T {
  const { ndim, shape, strides } = x,
    [rows, columns] = shape as [number, number];
  if (ndim < 2) throw new OpError(`fill_diagonal_: dimensions must larger than 1, got ${ndim}`);
  if (ndim > 2 && shape.some((n) => n !== rows))
    throw new OpError(`fill_diagonal_: all dimensions of input must be of equal length, got ${showShape(shape)}`);
  const step = strides.reduce((a, b) => a + b, 0),
    places = wrap && ndim === 2 ? rows : Math.min(...shape);
  let row = 0;
  do {
    // Also where there is no diagonal: what may not be changed is refused whatever its size.
    fill_(as_strided(x, [Math.min(places - row, ...shape.slice(1))], [step], x.offset + row * strides[0]!), value);
    row += columns + 1;
  } while (row < places);
  return x;
}

/** A matrix with all elements of `x` on its diagonal. */
export const diagflat = (x: Tensor, offset = 0): Tensor => diag_embed(views.reshape(x, [-1]), offset);

/**
 * A border of `value` around the last axes, whose widths `pad` gives in pairs from the last axis on; a negative one
 * takes away.
 */
export function constant_pad_nd(x: Tensor, pad: readonly number[], value: number | boolean = 0): Tensor {
  const widths = integers([pad], "constant_pad_nd", "pad");
  if (widths.length % 2 !== 0 || widths.length > 2 * x.ndim) {
    throw new OpError(
      `constant_pad_nd: Length of pad should be even and no more than twice the number of dimensions of the input, got ${widths.length}`,
    );
  }
  const shape = [...x.shape];
  let inner = x;
  const windows: [axis: number, start: number, length: number][] = [];
  for (let i = 0; i < widths.length / 2; i++) {
    const axis = x.ndim - 1 - i,
      before = widths[2 * i]!,
      after = widths[2 * i + 1]!,
      n = x.shape[axis]!;
    shape[axis] = n + before + after;
    if (shape[axis]! < 0) {
      throw new OpError(
        `constant_pad_nd: The input size ${n}, plus negative padding ${before} and ${after}, resulted in a negative output size, ` +
          "which is invalid.",
      );
    }
    const start = Math.min(Math.max(-before, 0), n),
      length = Math.max(n - start - Math.max(-after, 0), 0);
    inner = narrow(inner, axis, start, length, "constant_pad_nd");
    windows.push([axis, Math.max(before, 0), length]);
  }
  const border = full(shape, number(value, "constant_pad_nd", "value"), { dtype: x.dtype, device: x.device });
  const out = replaced("constant_pad_nd", border, inner, (t) =>
    windows.reduce((part, [axis, start, length]) => narrow(part, axis, start, length, "constant_pad_nd"), t),
  );
  border.dispose();
  return out;
}
