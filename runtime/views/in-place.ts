// How a tensor changed in place, or the base of a changed view, gets its node.

import { type Grad, Node, attach, gradientEdge } from "../tape/node.js";
import { extent } from "../base/shape.js";
import type { DType } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Geometry, laid, parts, whole } from "./parts-of-numbers.js";
import { as_strided, refreshNode } from "./views.js";
import { filledOn } from "../tensor/allocate.js";
import { beforeRecorded } from "../tensor/in-place-checks.js";
import { copy_, fill_ } from "./transfer.js";
import { clone, copyInto } from "../tensor/copy.js";

/** Makes `x` what `look` shows of it: its shape, strides and offset, and on the tape the view's place. */
export function become<T extends Tensor>(x: T, op: string, look: (x: Tensor) => Tensor): T {
  x.check(op);
  beforeRecorded(x, op);
  const shown = look(x);
  x.lay(shown.shape, shown.strides, shown.offset);
  if (shown.node) attach(x, shown.node, shown.outputNumber);
  shown.dispose();
  return x;
}

/** Makes `x`, just changed in place, the output of `node`, whose first input is what x was. */
export function recordInPlace(x: Tensor, node: Node): void {
  const base = x.base;
  if (!base) {
    attach(x, node);
    return;
  }
  attach(base, new CopySlices(base, x, node));
  if (base.base) base.nodeVersion = base.storage.version;
  refreshNode(x);
}

/** The base of a view that `inner` changed: inside the view gradients go through `inner`, outside of it they pass. */
class CopySlices extends Node {
  readonly label = "CopySlices";
  private readonly inner: Node;
  private readonly shape: readonly number[];
  private readonly strides: readonly number[];
  private readonly length: number;
  private readonly view: Geometry;
  /** The types of both, and whether they are two: complex numbers, and their parts. */
  private readonly dtypes: readonly [base: DType, view: DType];
  private readonly apart: boolean;

  constructor(base: Tensor, changed: Tensor, inner: Node) {
    super();
    this.inner = inner;
    this.dtypes = [base.dtype, changed.dtype];
    this.apart = base.dtype !== changed.dtype;
    const { shape, strides, offset } = laid(base, this.apart),
      view = laid(changed, this.apart);
    this.shape = shape;
    this.strides = strides;
    this.view = { shape: view.shape, strides: view.strides, offset: view.offset - offset };
    this.length = Math.max(extent(shape, strides), this.view.offset + extent(view.shape, view.strides));
    const edge = gradientEdge(base);
    this.next.push(edge, ...inner.next.slice(1));
    this.nextOutput.push(edge && base.node ? base.outputNumber : 0, ...inner.nextOutput.slice(1));
  }

  apply([given]: readonly Grad[], wanted: readonly boolean[]): Grad[] {
    if (!given) return wanted.map(() => null);
    const { shape, strides, offset } = this.view,
      [base, view] = this.dtypes,
      grad = parts(given, this.apart);
    const flat = filledOn(grad.storage.device, [this.length], 0, grad.dtype, "zeros");
    const all = as_strided(flat, this.shape, this.strides, 0);
    if (grad.requires_grad) copy_(all, grad);
    else copyInto(all, grad);
    const part = whole(clone(as_strided(flat, shape, strides, offset)), view);
    const made = this.inner.apply([part], wanted);
    if (!wanted[0]) return made;
    const inside = as_strided(flat, shape, strides, offset);
    if (made[0]) copy_(inside, parts(made[0], this.apart));
    else fill_(inside, 0);
    return [whole(as_strided(flat, this.shape, this.strides, 0), base), ...made.slice(1)];
  }

  override release(): void {
    this.inner.release();
  }
}
