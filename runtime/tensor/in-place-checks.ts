// What may be changed in place, and what may not.

import { AutogradError, OpError } from "../base/errors.js";
import { overlaps, showShape } from "../base/shape.js";
import { isRecording, is_inference_mode_enabled } from "../tape/grad-mode.js";
import type { Tensor } from "./tensor.js";

/** Throws if `x` must not be changed in place now.  `alike`: all its elements become the same number. */
export function beforeInPlace(x: Tensor, op: string, alike = false): void {
  if (!alike && overlaps(x.shape, x.strides)) {
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
  if ((x.base ?? x).viewRule === "copied")
    throw new OpError(
      `${op}: what a tensor picked as an index on a GPU is a copy, not the view that PyTorch would change: use ` +
        "x.select(axis, await i.item()) for a view, or clone() for another tensor",
    );
  beforeRecorded(x, op);
}

/** Throws if the tape cannot record that `x` is another tensor from now on. */
export function beforeRecorded(x: Tensor, op: string): void {
  if (!isRecording()) return;
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
  if (x.base?.is_leaf && x.requires_grad) {
    throw new AutogradError(
      `${op}: a view of a leaf Variable that requires grad is being used in an in-place operation.`,
    );
  }
  if (x.viewRule === "several" && x.requires_grad) {
    throw new AutogradError(
      `${op}: Output ${x.outputNumber} of ${x.grad_fn?.label ?? "a split"} is a view and is being modified inplace. This view is the output of a ` +
        "function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the " +
        "inplace operation by an out-of-place one.",
    );
  }
}
