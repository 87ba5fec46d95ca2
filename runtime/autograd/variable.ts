// torch.autograd.Variable: what tensors with gradients were called, which older programs still write.

import { flag } from "../base/argument-kinds.js";
import { titled } from "../base/class-name.js";
import { taken } from "../base/named-arguments.js";
import { check } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";

interface Variables {
  (data: Tensor, requires_grad?: boolean | { requires_grad?: boolean }): Tensor;
  new (data: Tensor, requires_grad?: boolean | { requires_grad?: boolean }): Tensor;
  readonly prototype: Tensor;
}

/**
 * A tensor on the memory of `data` that begins a graph of its own: all tensors are variables since PyTorch 0.4.
 *
 * @param data tensor
 * @param requires_grad whether gradients are wanted for it, default false
 *
 * @example
 * const x = torch.autograd.Variable(torch.tensor([1, 2]), { requires_grad: true });
 * x.square().sum().backward();
 * x.grad  // [2, 4]
 */
export const Variable = /* @__PURE__ */ (() => {
  function Variable(...args: unknown[]): Tensor {
    const [data, requires_grad = false] = taken("Variable data requires_grad?", args);
    check(data, "Variable", "data");
    return data.detach().requires_grad_(flag(requires_grad, "Variable", "requires_grad"));
  }
  Variable.prototype = Tensor.prototype; // `x instanceof Variable`, as isinstance says there
  return titled(Variable, "Variable") as unknown as Variables;
})();
