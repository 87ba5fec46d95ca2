// torch.autograd.function: what a Function of one's own is made with.

import { callable } from "../base/argument-kinds.js";
import { AutogradError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { unrecorded } from "../tape/grad-mode.js";
import { JoinNode, attach, recording } from "../tape/node.js";
import { Tensor, alias } from "../tensor/tensor.js";

export { Function, type FunctionContext } from "./custom-function.js";

/**
 * A `backward` whose gradients cannot be differentiated again: doing so is an error, where it else would answer as if
 * they were constants.
 *
 * @param fn the backward: of a context and the gradients of the results, those of the arguments
 *
 * @example
 * class Doubled extends torch.autograd.Function {
 *   static forward(ctx, x) {
 *     return x.mul(2);
 *   }
 *   static backward = torch.autograd.function.once_differentiable((ctx, gradient) => gradient.mul(2));
 * };
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * Doubled.apply(x).sum().backward();
 * x.grad  // [2, 2]
 */
export function once_differentiable<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
  [fn] = taken("once_differentiable fn", arguments);
  callable(fn, "once_differentiable", "fn");
  return function (this: unknown, ...args: A): R {
    const made = unrecorded(() => fn.apply(this, args)),
      given = args.filter((arg): arg is A[number] & Tensor => arg instanceof Tensor);
    if (!recording(...given)) return made;
    const refused = new JoinNode("Error", given, () => {
      throw new AutogradError("trying to differentiate twice a function that was marked with once_differentiable");
    });
    let count = 0;
    const marked = (x: unknown): unknown => (x instanceof Tensor ? attach(alias(x, true), refused, count++) : x);
    return (Array.isArray(made) ? made.map(marked) : marked(made)) as R;
  };
}
