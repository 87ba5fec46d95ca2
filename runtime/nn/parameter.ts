// Parameters: the tensors of a module that are trained; and buffers, which are only kept.

import { flag } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { check, tensorOf } from "../tensor/tensor-arguments.js";
import { keep } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import { unassigned } from "./members.js";

class ParameterClass extends Tensor {
  /** A leaf on the memory of `data`; it requires a gradient unless told otherwise. */
  constructor(data: Tensor, requires_grad?: boolean | { requires_grad?: boolean }) {
    check(data, "Parameter", "data");
    super(data.storage, data.dtype, data.shape, data.strides, data.offset, false);
    keep(this);
    const wants = flag(requires_grad ?? true, "Parameter", "requires_grad");
    if (wants) this.requires_grad_();
    Object.defineProperty(this, "heading", { value: "Parameter containing:\n" });
  }
}

/**
 * @example
 * torch.nn.Parameter(torch.tensor([1, 2])).requires_grad  // true
 */
export const Parameter = /* @__PURE__ */ callable(ParameterClass, "Parameter", "constructor data requires_grad?");
export type Parameter = ParameterClass;

class BufferClass extends Tensor {
  declare readonly persistent: boolean;
  /** A tensor on the memory of `data` that a module to which it is assigned keeps as a buffer, and in its state unless told otherwise. */
  constructor(data: Tensor, options?: boolean | { persistent?: boolean }) {
    check(data, "Buffer", "data");
    super(data.storage, data.dtype, data.shape, data.strides, data.offset, false);
    keep(this);
    const persistent = flag((options as boolean | undefined) ?? true, "Buffer", "persistent");
    Object.defineProperty(this, "persistent", { value: persistent });
    if (data.requires_grad) this.requires_grad_();
    unassigned.buffers.set(this, persistent);
    unassigned.count++;
  }
}
/**
 * A tensor that becomes a buffer of the module to which it is assigned: `this.scale = nn.Buffer(torch.ones([3]))`.
 *
 * @example
 * class Scaled extends torch.nn.Module {
 *   scale = torch.nn.Buffer(torch.tensor([2, 3]));
 *   forward(x) { return x.mul(this.scale); }
 * }
 * const scaled = new Scaled();
 * [scaled.state_dict(), scaled(torch.tensor([1, 1]))]  // [{ scale: [2, 3] }, [2, 3]]
 */
export const Buffer = /* @__PURE__ */ callable(BufferClass, "Buffer", "constructor data * persistent?");
export type Buffer = BufferClass;

/**
 * Whether a parameter or a buffer waits for the input that says how large it is: of a lazy module.
 *
 * @param param a module's parameter or buffer
 *
 * @example
 * const layer = torch.nn.LazyLinear(2), before = torch.nn.parameter.is_lazy(layer.weight);
 * layer(torch.ones([1, 3]));
 * [before, torch.nn.parameter.is_lazy(layer.weight)]  // [true, false]
 */
export function is_lazy(param: Tensor): boolean {
  return "stand_in" in tensorOf(taken("is_lazy param", arguments)[0], "is_lazy", "param");
}
