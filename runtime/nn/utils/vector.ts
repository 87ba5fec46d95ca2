// Parameters as one vector, and back.

import { copy_ } from "../../views/transfer.js";
import { capturing } from "../../base/capturing.js";
import { OpError } from "../../base/errors.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { cat } from "../../functions/join.js";
import { taken } from "../../base/named-arguments.js";
import { check, tensorsOf } from "../../tensor/tensor-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";

/**
 * All elements of all parameters in a row; gradients flow back.
 *
 * @param parameters tensors on one device
 *
 * @example
 * torch.nn.utils.parameters_to_vector([torch.tensor([[1, 2]]), torch.tensor([3])])  // [1, 2, 3]
 */
export function parameters_to_vector(parameters: Iterable<Tensor>): Tensor {
  [parameters] = taken("parameters_to_vector parameters", arguments);
  return cat(tensorsOf(parameters, "parameters_to_vector", "parameters").map((p) => views.reshape(p, [-1])));
}

/**
 * The parameters are the elements of a vector from now on, in their order and on its memory; what saw their own before
 * keeps it.  Captured programs copy: their parameters stay where they are.
 *
 * @param vec as many elements as the parameters have together
 * @param parameters those that get them
 *
 * @example
 * const layer = torch.nn.Linear(2, 1);
 * torch.nn.utils.vector_to_parameters(torch.tensor([1, 2, 3]), layer.parameters());
 * [layer.weight, layer.bias]  // [[[1, 2]], [3]]
 */
export function vector_to_parameters(vec: Tensor, parameters: Iterable<Tensor>): void {
  [vec, parameters] = taken("vector_to_parameters vec parameters", arguments);
  check(vec, "vector_to_parameters", "vec");
  const params = tensorsOf(parameters, "vector_to_parameters", "parameters");
  unrecorded(() => {
    let at = 0;
    for (const p of params) {
      const n = p.numel();
      if (at + n > vec.numel())
        throw new OpError(`vector_to_parameters: the vector has ${vec.numel()} elements, the parameters have more`);
      const own = views.reshape(views.narrow(vec, 0, at, n), p.shape);
      if (capturing) copy_(p, own);
      else p.set_data(own);
      at += n;
    }
  });
}
