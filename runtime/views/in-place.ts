// In-place changes on the tape: what may be changed, and how a changed tensor, or the base of a changed view, gets its
// node.

import { AutogradError, OpError } from "../base/errors.js";
import { is_grad_enabled, is_inference_mode_enabled } from "../tape/grad-mode.js";
import { type Grad, Node, attach, gradientEdge } from "../tape/node.js";
import { extent, overlaps, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import { as_strided, refreshNode } from "./views.js";
import { zeros } from "../creation/create.js";
import { copyInto, copy_, fill_ } from "../tensor/copy.js";

/** Throws if `x` must not be changed in place now. */
export function beforeInPlace(x: Tensor, op: string): void {
  if (overlaps(x.shape, x.strides)) {
    throw new OpError(
      `${op}: unsupported operation: more than one element of the written-to tensor refers to a single memory location. ` +
        `Please clone() the tensor before performing the operation. The tensor has size ${showShape(x.shape)} and stride ${showShape(x.strides)}`,
    );
  }
  if (x.storage.inference && !is_inference_mode_enabled()) {
    throw new AutogradError(
      `${op}: Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal ` +
        "tensor before doing inplace update.",
    );
  }
  beforeRecorded(x, op);
}

/** Throws if the tape cannot record that `x` is another tensor from now on. */
function beforeRecorded(x: Tensor, op: string): void {
  if (!is_grad_enabled()) return;
  if (x.requires_grad && x.is_leaf) {
    throw new AutogradError(`${op}: a leaf Variable that requires grad is being used in an in-place operation.`);
  }
  if (x.viewRule === "unrecorded") {
    throw new AutogradError(
      `${op}: A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this ` +
        "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both " +
        "inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).",
    );
  }
  if (x.base && x.base.requires_grad && x.base.is_leaf) {
    throw new AutogradError(
      `${op}: a view of a leaf Variable that requires grad is being used in an in-place operation.`,
    );
  }
  if (x.viewRule === "several" && x.requires_grad) {
    throw new AutogradError(
      `${op}: Output ${x.outputNumber} of ${x.grad_fn?.name ?? "a split"} is a view and is being modified inplace. This view is the output of a ` +
        "function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the " +
        "inplace operation by an out-of-place one.",
    );
  }
}

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
  x.node = null;
  refreshNode(x);
}

/** The base of a view that `inner` changed: inside the view gradients go through `inner`, outside of it they pass. */
class CopySlices extends Node {
  readonly name = "CopySlices";
  private readonly inner: Node;
  private readonly shape: readonly number[];
  private readonly strides: readonly number[];
  private readonly length: number;
  private readonly view: { shape: readonly number[]; strides: readonly number[]; offset: number };

  constructor(base: Tensor, changed: Tensor, inner: Node) {
    super();
    this.inner = inner;
    this.shape = base.shape;
    this.strides = base.strides;
    this.view = { shape: changed.shape, strides: changed.strides, offset: changed.offset - base.offset };
    this.length = Math.max(extent(base.shape, base.strides), this.view.offset + extent(changed.shape, changed.strides));
    const edge = gradientEdge(base);
    this.next.push(edge, ...inner.next.slice(1));
    this.nextOutput.push(edge && base.node ? base.outputNumber : 0, ...inner.nextOutput.slice(1));
  }

  apply([grad]: readonly Grad[], wanted: readonly boolean[]): Grad[] {
    if (!grad) return wanted.map(() => null);
    const { shape, strides, offset } = this.view;
    const flat = zeros([this.length], { dtype: grad.dtype, device: grad.device });
    const whole = as_strided(flat, this.shape, this.strides, 0);
    if (grad.requires_grad) copy_(whole, grad);
    else copyInto(whole, grad);
    const part = as_strided(flat, shape, strides, offset).clone();
    const made = this.inner.apply([part], wanted);
    if (!wanted[0]) return made;
    const inside = as_strided(flat, shape, strides, offset);
    if (made[0]) copy_(inside, made[0]);
    else fill_(inside, 0);
    return [as_strided(flat, this.shape, this.strides, 0), ...made.slice(1)];
  }

  override release(): void {
    this.inner.release();
  }
}
