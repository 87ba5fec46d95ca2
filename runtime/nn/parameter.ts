// Parameters: the tensors of a module that are trained.

import { flag } from "../base/argument-kinds.js";
import { check } from "../tensor/tensor-arguments.js";
import { keep } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { printSync } from "../tensor/print.js";
import { callable } from "../base/callable.js";

class ParameterClass extends Tensor {
  /** A leaf on the memory of `data`; it requires a gradient unless told otherwise. */
  constructor(data: Tensor, requires_grad?: boolean | { requires_grad?: boolean }) {
    check(data, "Parameter", "data");
    super(data.storage, data.dtype, data.shape, data.strides, data.offset, false);
    keep(this);
    const wants = flag(requires_grad ?? true, "Parameter", "requires_grad");
    if (wants) this.requires_grad_();
  }

  override toString(): string {
    return `Parameter containing:\n${printSync(this)}`;
  }
}

export const Parameter = /* @__PURE__ */ callable(ParameterClass, "Parameter", "constructor data requires_grad?");
export type Parameter = ParameterClass;
