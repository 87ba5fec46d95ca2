// Gradient clipping.  Norms stay on the device: nothing is read, unless somebody wants to hear of infinities.

import { clip_norm_stepOp, clip_value_stepOp } from "../../../ops/optim.js";
import { vector_norm } from "../../../names/linalg.js";
import * as copying from "../../views/transfer.js";
import { zeros } from "../../creation/create.js";
import { OpError } from "../../base/errors.js";
import { runForeach } from "../../functions/foreach.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { stack } from "../../functions/join.js";
import { number } from "../../base/argument-kinds.js";
import { tensorOf, tensorsOf } from "../../tensor/tensor-arguments.js";
import { tidy } from "../../tensor/memory.js";
import { taken } from "../../base/named-arguments.js";
import { Tensor } from "../../tensor/tensor.js";
import { float } from "../shown.js";

export type TensorOrTensors = Tensor | Iterable<Tensor>;

/** Which norm: "inf" is Infinity. */
type Order = number | "inf";
const orderOf = (value: unknown, op: string): number => (value === "inf" ? Infinity : number(value, op, "norm_type"));

export interface NormOptions {
  /** Which norm: 2, 1, any number, Infinity, which may be written "inf". */
  norm_type?: Order;
  /** Throws where the norm is not finite, which has to be read: then the answer is a promise. */
  error_if_nonfinite?: boolean;
}

function listOf(op: string, tensors: TensorOrTensors): Tensor[] {
  return tensors instanceof Tensor ? [tensors] : tensorsOf(tensors, op, "parameters");
}

const gradientsOf = (op: string, parameters: TensorOrTensors): Tensor[] =>
  listOf(op, parameters).flatMap((p) => p.ownGradient() ?? []);

function norm(tensors: readonly Tensor[], order: number): Tensor {
  if (!tensors.length) return zeros([]);
  // Gradients that lie apart meet on the first one's device.
  const { device } = tensors[0]!.storage;
  return unrecorded(() =>
    tidy(() =>
      vector_norm(stack(tensors.map((x) => copying.to(vector_norm(x, order), [{ device }]) as Tensor)), order),
    ),
  );
}

/** The answer, after a look whether it is finite where that is wanted. */
function checked(total: Tensor, order: number, wanted: boolean, then: () => void): Tensor | Promise<Tensor> {
  if (!wanted) {
    then();
    return total;
  }
  return total.item().then((value) => {
    if (!Number.isFinite(value)) {
      throw new OpError(
        `The total norm of order ${float(order)} for gradients from \`parameters\` is non-finite, so it cannot be clipped. To disable this ` +
          "error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`",
      );
    }
    then();
    return total;
  });
}

/**
 * The norm of all tensors together, as if they were one vector.
 *
 * @param tensors a tensor, or a list of them, such as gradients
 * @param norm_type which norm: 2 adds squares, Infinity takes the largest element
 * @param error_if_nonfinite whether an infinite or undefined norm is an error; the answer is a promise then
 *
 * @example
 * torch.nn.utils.get_total_norm([torch.tensor([3]), torch.tensor([4])])  // 5
 */
export function get_total_norm(
  tensors: TensorOrTensors,
  norm_type?: Order | (NormOptions & { error_if_nonfinite?: false }),
): Tensor;
export function get_total_norm(
  tensors: TensorOrTensors,
  norm_type?: Order | NormOptions,
  error_if_nonfinite?: boolean,
): Tensor | Promise<Tensor>;
export function get_total_norm(...args: unknown[]): Tensor | Promise<Tensor> {
  const [tensors, order = 2, wanted = false] = taken(
    "get_total_norm tensors norm_type? error_if_nonfinite? foreach?",
    args,
  );
  const p = orderOf(order, "get_total_norm");
  return checked(norm(listOf("get_total_norm", tensors as TensorOrTensors), p), p, wanted === true, () => {
    /* only looked at */
  });
}

/**
 * Scales all gradients alike so that their `total_norm` comes down to `max_norm`.
 *
 * @param parameters a tensor, or a list of them, whose gradients are scaled in place
 * @param max_norm the norm that they have at most afterwards
 * @param total_norm the norm that they have, as `get_total_norm` answers it
 *
 * @example
 * const w = torch.zeros([2], { requires_grad: true });
 * w.grad = torch.tensor([3, 4]);
 * torch.nn.utils.clip_grads_with_norm_(w, 1, torch.tensor(5));
 * w.grad  // [0.6, 0.8]
 */
export function clip_grads_with_norm_(parameters: TensorOrTensors, max_norm: number, total_norm: Tensor): void {
  [parameters, max_norm, total_norm] = taken(
    "clip_grads_with_norm_ parameters max_norm total_norm foreach?",
    arguments,
  );
  const op = "clip_grads_with_norm_",
    grads = gradientsOf(op, parameters);
  number(max_norm, op, "max_norm");
  tensorOf(total_norm, op, "total_norm");
  unrecorded(() => {
    runForeach(clip_norm_stepOp, [grads, grads.map(() => total_norm), { max_norm }]);
  });
}

/**
 * Scales all gradients alike where their norm, taken together, is more than `max_norm`.  Answers the norm there was: a
 * promise of it with `error_if_nonfinite`.
 *
 * @param parameters a tensor, or a list of them, whose gradients are scaled in place
 * @param max_norm the norm that they have at most afterwards
 * @param norm_type which norm: 2 adds squares, Infinity takes the largest element
 * @param error_if_nonfinite whether an infinite or undefined norm is an error; the answer is a promise then
 *
 * @example
 * const w = torch.zeros([2], { requires_grad: true });
 * w.grad = torch.tensor([3, 4]);
 * [torch.nn.utils.clip_grad_norm_([w], 1), w.grad]  // [5, [0.6, 0.8]]
 */
export function clip_grad_norm_(
  parameters: TensorOrTensors,
  max_norm: number | (NormOptions & { max_norm: number; error_if_nonfinite?: false }),
  norm_type?: Order | (NormOptions & { error_if_nonfinite?: false }),
): Tensor;
export function clip_grad_norm_(
  parameters: TensorOrTensors,
  max_norm: number,
  norm_type?: Order | NormOptions,
  error_if_nonfinite?: boolean,
): Tensor | Promise<Tensor>;
export function clip_grad_norm_(...args: unknown[]): Tensor | Promise<Tensor> {
  const [parameters, most, order = 2, wanted = false] = taken(
    "clip_grad_norm_ parameters max_norm norm_type? error_if_nonfinite? foreach?",
    args,
  ) as [TensorOrTensors, number, number?, boolean?];
  const params = listOf("clip_grad_norm_", parameters),
    max_norm = number(most, "clip_grad_norm_", "max_norm"),
    p = orderOf(order, "clip_grad_norm_");
  const total = norm(gradientsOf("clip_grad_norm_", params), p);
  return checked(total, p, wanted, () => {
    clip_grads_with_norm_(params, max_norm, total);
  });
}

/**
 * Limits every element of every gradient to the range from -clip_value to clip_value.
 *
 * @param parameters a tensor, or a list of them, whose gradients are changed in place
 * @param clip_value the largest size of an element
 *
 * @example
 * const w = torch.zeros([3], { requires_grad: true });
 * w.grad = torch.tensor([-3, 0.5, 4]);
 * torch.nn.utils.clip_grad_value_([w], 1);
 * w.grad  // [-1, 0.5, 1]
 */
export function clip_grad_value_(parameters: TensorOrTensors, clip_value: number): void {
  [parameters, clip_value] = taken("clip_grad_value_ parameters clip_value foreach?", arguments);
  const grads = gradientsOf("clip_grad_value_", parameters);
  unrecorded(() => {
    runForeach(clip_value_stepOp, [grads, { clip_value: number(clip_value, "clip_grad_value_", "clip_value") }]);
  });
}
