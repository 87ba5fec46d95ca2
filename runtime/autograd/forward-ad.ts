// torch.autograd.forward_ad: numbers with tangents.  Within a level the tape is recorded from each dual tensor on; the
// tangent of a result is the derivative, by weights of that result, of what the way back gives for the duals.  So each
// op that has second derivatives has tangents.

import { AutogradError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { Scoped, runIn } from "../base/scoped.js";
import { sameShape, showShape } from "../base/shape.js";
import { zeros_like } from "../creation/like.js";
import { isFloat } from "../elements/dtype.js";
import { enable_grad, setTangents, withTangents } from "../tape/grad-mode.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import { grad } from "./gradients.js";
import { weightsFor } from "./weights.js";

interface Dual {
  readonly at: Tensor;
  readonly tangent: Tensor;
  /** Whether derivatives of tangents may be asked for. */
  readonly outer: boolean;
}
/** The dual tensors of an open level. */
type Level = Dual[];

const levels = /* @__PURE__ */ new Scoped<Level | null>(null, (a, b) => a === b);

/** A tensor and its tangent, null where it has none: `const { primal, tangent } = unpack_dual(y)`. */
export interface UnpackedDualTensor extends Iterable<Tensor | null> {
  readonly primal: Tensor;
  readonly tangent: Tensor | null;
}

function opened(): Level {
  if (levels.value) throw new AutogradError("enter_dual_level: Nested forward mode AD is not supported at the moment");
  return [];
}

/**
 * Runs `body` in a level: the dual tensors that are made in it have their tangents until it ends.
 *
 * @param body what runs in the level
 *
 * @example
 * const { dual_level, make_dual, unpack_dual } = torch.autograd.forward_ad;
 * dual_level(() => unpack_dual(make_dual(torch.tensor([3]), torch.tensor([1])).square()).tangent)  // [6]
 */
export function dual_level<T>(body: () => T): T {
  [body] = taken("dual_level body", arguments);
  return runIn(levels, opened(), () => withTangents(body, "dual_level"), "dual_level");
}

/**
 * Begins a level, which `exit_dual_level` ends; answers its number.
 *
 * @example
 * const { enter_dual_level, exit_dual_level, make_dual, unpack_dual } = torch.autograd.forward_ad;
 * enter_dual_level();
 * const { tangent } = unpack_dual(make_dual(torch.tensor([0]), torch.tensor([2])).exp());
 * exit_dual_level();
 * tangent  // [2]
 */
export function enter_dual_level(): number {
  taken("enter_dual_level", arguments);
  levels.value = opened();
  setTangents(true);
  return 0;
}

/**
 * Ends the level.
 *
 * @param level its number; the innermost unless given
 *
 * @example
 * const { enter_dual_level, exit_dual_level } = torch.autograd.forward_ad;
 * const level = enter_dual_level();
 * exit_dual_level();
 * level  // 0
 */
export function exit_dual_level(options?: { level?: number | null }): void;
export function exit_dual_level(): void {
  taken("exit_dual_level * level?", arguments);
  if (!levels.value) throw new AutogradError("exit_dual_level: Dual level must be a positive number.");
  levels.value = null;
  setTangents(false);
}

/**
 * `tensor` with a tangent: what is computed from it has one, too.  Throws AutogradError outside of a level.
 *
 * @param tensor float tensor
 * @param tangent tensor of the same shape: how it changes
 * @param level a level's number; the innermost unless given
 *
 * @example
 * const { dual_level, make_dual, unpack_dual } = torch.autograd.forward_ad;
 * dual_level(() => unpack_dual(make_dual(torch.tensor([1, 2]), torch.tensor([1, 0])).mul(5)).tangent)  // [5, 0]
 */
export function make_dual(tensor: Tensor, tangent: Tensor, options?: { level?: number | null }): Tensor;
export function make_dual(...args: unknown[]): Tensor {
  const op = "make_dual",
    [first, second] = taken(`${op} tensor tangent * level?`, args),
    tensor = tensorOf(first, op, "tensor"),
    tangent = tensorOf(second, op, "tangent");
  if (!levels.value)
    throw new AutogradError(
      `${op}: Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.`,
    );
  for (const [name, x] of [
    ["primal", tensor],
    ["tangent", tangent],
  ] as const)
    if (!isFloat(x.dtype) && x.dtype !== "complex64")
      throw new TypeMismatchError(`${op}: Expected ${name} to be floating point or complex, but got: torch.${x.dtype}`);
  if (!sameShape(tensor.shape, tangent.shape))
    throw new AutogradError(
      `${op}: Trying to set a forward gradient that has a different size than that of the original Tensor, this is not ` +
        `supported. Tensor is of size ${showShape(tensor.shape)} while the given forward gradient is of size ${showShape(tangent.shape)}.`,
    );
  const outer = tensor.requires_grad || tangent.requires_grad,
    at = tensor.requires_grad ? enable_grad(() => views.view(tensor, tensor.shape)) : tensor.detach().requires_grad_();
  levels.value.push({ at, tangent, outer });
  return at;
}

/**
 * A tensor's value and its tangent, which is null outside of a level and for what no dual tensor led to.
 *
 * @param tensor any tensor
 * @param level a level's number; the innermost unless given
 *
 * @example
 * const { dual_level, make_dual, unpack_dual } = torch.autograd.forward_ad;
 * dual_level(() => unpack_dual(make_dual(torch.tensor([3]), torch.tensor([1])).square()).primal)  // [9]
 */
export function unpack_dual(tensor: Tensor, options?: { level?: number | null }): UnpackedDualTensor;
export function unpack_dual(...args: unknown[]): UnpackedDualTensor {
  const [given] = taken("unpack_dual tensor * level?", args),
    x = tensorOf(given, "unpack_dual", "tensor"),
    duals = levels.value ?? [],
    outer = duals.some((dual) => dual.outer),
    tangent = tangentOf(x, duals, outer),
    primal = outer || !tangent ? x : x.detach();
  return {
    primal,
    tangent,
    *[Symbol.iterator]() {
      yield primal;
      yield tangent;
    },
  };
}

function tangentOf(x: Tensor, duals: Level, outer: boolean): Tensor | null {
  const own = duals.find(({ at }) => at === x);
  if (own) return own.tangent;
  if (!x.requires_grad || !duals.length) return null;
  const weights = weightsFor(x),
    back = grad(
      [x],
      duals.map(({ at }) => at),
      { grad_outputs: [weights], create_graph: true, allow_unused: true },
    );
  if (back.every((g) => g === null)) return null;
  const used = duals.flatMap(({ tangent }, i) => (back[i]?.requires_grad ? [{ way: back[i], tangent }] : []));
  if (!used.length) return zeros_like(x);
  return grad(
    used.map(({ way }) => way),
    [weights],
    {
      grad_outputs: used.map(({ tangent }) => tangent),
      create_graph: outer,
      retain_graph: true,
      materialize_grads: true,
    },
  )[0]!;
}
