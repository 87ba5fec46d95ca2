// The methods of every tensor that need the tape's engine or a copy.  Each entry of the package imports this module, which
// installs them: the tensor itself knows nothing of what stands on it.

import * as copying from "../tensor/copy.js";
import { type Layout, Tensor } from "../tensor/tensor.js";
import { named } from "../base/named-arguments.js";
import { accumulateInto, letGo } from "./accumulate.js";
import { type BackwardOptions, backwardFrom } from "./gradients.js";

declare module "../tensor/tensor.js" {
  interface Tensor extends GradientMethods {}
}

class GradientMethods {
  /**
   * The elements in row-major order: the tensor itself where they are, else a copy.
   *
   * @example
   * const turned = torch.tensor([[1, 2], [3, 4]]).t();
   * [turned.stride(), turned.contiguous().stride()]  // [[1, 2], [2, 1]]
   */
  contiguous(options?: Layout): Tensor;
  contiguous(this: Tensor): Tensor {
    named("contiguous", ["memory_format"], arguments, 0);
    return copying.contiguous(this);
  }
  clone(options?: Layout): Tensor;
  clone(this: Tensor): Tensor {
    named("clone", ["memory_format"], arguments, 0);
    return copying.clone(this);
  }
  /** @internal Adds to the gradient. */
  receive(this: Tensor, grad: Tensor): void {
    if (this.requires_grad) accumulateInto(this, grad);
    else letGo(grad); // a leaf that was frozen after the call
  }
  /**
   * Adds d(this)/d(leaf) to every leaf's `.grad`; `gradient` weighs the elements of this tensor.
   *
   * @param gradient tensor of this one's shape; ones unless given
   * @param retain_graph whether the graph stays for another way back; as `create_graph` unless given
   * @param create_graph whether gradients have a graph of their own, for derivatives of them; false unless given
   * @param inputs the leaves that get gradients; all unless given
   *
   * @example
   * const x = torch.tensor([1, 2, 3], { requires_grad: true });
   * x.square().sum().backward();
   * x.grad  // [2, 4, 6]
   */
  backward(this: Tensor, gradient?: Tensor | null | BackwardOptions, options?: BackwardOptions): void {
    backwardFrom(this, ...(named("backward", ["gradient", "retain_graph", "create_graph", "inputs"], arguments) as []));
  }
}

for (const name of ["contiguous", "clone", "receive", "backward"] as const) {
  Object.defineProperty(Tensor.prototype, name, Object.getOwnPropertyDescriptor(GradientMethods.prototype, name)!);
}
