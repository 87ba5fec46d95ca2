// torch.autograd.graph: what the tape keeps for the way back.

import { callable, refuse, text, integer } from "../base/argument-kinds.js";
import { titled } from "../base/class-name.js";
import { AutogradError, OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { runIn, Scoped } from "../base/scoped.js";
import { Node, type SavedHooks, gradientEdge, keepSaved } from "../tape/node.js";
import { tensorOf, tensorsOf } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { wayBack } from "./engine.js";
import { withSavedHooks } from "./saved-hooks.js";

/** Why no hooks on saved tensors may be set now; null: they may. */
const refusal = /* @__PURE__ */ new Scoped<{ readonly message: string } | null>(null, (a, b) => a === b);

/**
 * While `body` runs, whatever a node saves for the way back is given to `pack_hook`, and what that answers to
 * `unpack_hook` when it is needed: `with torch.autograd.graph.saved_tensors_hooks(pack, unpack)` in Python.
 *
 * @param pack_hook of a saved tensor, anything that stands for it
 * @param unpack_hook of that, the tensor
 * @param body what runs so
 *
 * @example
 * const x = torch.tensor([3], { requires_grad: true });
 * const kept = [];
 * const { saved_tensors_hooks } = torch.autograd.graph;
 * const y = saved_tensors_hooks((saved) => kept.push(saved) - 1, (at) => kept[at], () => x.square());
 * y.backward();
 * [x.grad, kept.length]  // [[6], 1]
 */
export function saved_tensors_hooks<P, T>(
  pack_hook: (tensor: Tensor) => P,
  unpack_hook: (packed: P) => Tensor,
  body: () => T,
): T {
  [pack_hook, unpack_hook, body] = taken("saved_tensors_hooks pack_hook unpack_hook body", arguments);
  if (refusal.value) throw new AutogradError(refusal.value.message);
  callable(pack_hook, "saved_tensors_hooks", "pack_hook");
  callable(unpack_hook, "saved_tensors_hooks", "unpack_hook");
  return withSavedHooks("saved_tensors_hooks", { pack: pack_hook, unpack: unpack_hook as SavedHooks["unpack"] }, body);
}

/**
 * While `body` runs, setting hooks on saved tensors throws `error_message`.
 *
 * @param error_message what the error says
 * @param body what runs so
 *
 * @example
 * const { disable_saved_tensors_hooks } = torch.autograd.graph;
 * disable_saved_tensors_hooks("no hooks here", () => torch.tensor([1, 2]).sum())  // 3
 */
export function disable_saved_tensors_hooks<T>(error_message: string, body: () => T): T {
  [error_message, body] = taken("disable_saved_tensors_hooks error_message body", arguments);
  const message = text(error_message, "disable_saved_tensors_hooks", "error_message");
  return runIn(refusal, { message }, body, "disable_saved_tensors_hooks");
}

export { Node };
/**
 * A node of the tape, and which of its outputs a tensor is.
 *
 * @param node the node
 * @param output_nr which of its outputs, from 0 on
 *
 * @example
 * const x = torch.tensor([1], { requires_grad: true });
 * const { node, output_nr } = torch.autograd.graph.get_gradient_edge(x.exp());
 * [node.name(), output_nr]  // ["ExpBackward0", 0]
 */
export class GradientEdge {
  readonly node: Node;
  readonly output_nr: number;
  constructor(...edge: [node: Node, output_nr: number] | [{ node: Node; output_nr: number }]) {
    const [node, output_nr] = taken("GradientEdge node output_nr", edge);
    if (!(node instanceof Node)) refuse("GradientEdge", "node", "a node of the tape", node);
    this.node = node;
    this.output_nr = integer(output_nr, "GradientEdge", "output_nr");
  }
}
titled(GradientEdge, "GradientEdge");

/**
 * Where the gradient of a tensor goes: to the node that made it, or of a leaf to the one that adds it up.
 *
 * @param tensor one that requires a gradient
 *
 * @example
 * const x = torch.tensor([1], { requires_grad: true });
 * torch.autograd.graph.get_gradient_edge(x.mul(2)).node.name()  // "MulBackward0"
 */
export function get_gradient_edge(tensor: Tensor): GradientEdge {
  const x = tensorOf(taken("get_gradient_edge tensor", arguments)[0], "get_gradient_edge", "tensor"),
    node = gradientEdge(x);
  if (!node) throw new AutogradError("get_gradient_edge: the tensor does not require gradients");
  return new GradientEdge(node, x.node ? x.outputNumber : 0);
}

/**
 * While `body` runs, tensors that are saved for the way back may be changed in place: it uses what they were, of which a
 * copy is made at the first change. `with torch.autograd.graph.allow_mutation_on_saved_tensors()` in Python.
 *
 * @param body what runs so
 *
 * @example
 * const x = torch.tensor([2], { requires_grad: true });
 * torch.autograd.graph.allow_mutation_on_saved_tensors(() => {
 *   const y = x.clone();
 *   const z = y.square().sum();
 *   y.zero_();
 *   z.backward();
 * });
 * x.grad  // [4]
 */
export function allow_mutation_on_saved_tensors<T>(body: () => T): T {
  const op = "allow_mutation_on_saved_tensors";
  [body] = taken(`${op} body`, arguments);
  callable(body, op, "body");
  const before = keepSaved(true);
  let result: T;
  try {
    result = body();
  } finally {
    keepSaved(before);
  }
  if (result instanceof Promise)
    throw new OpError(
      `${op}: the function must not be async: what it says holds while it runs, and not after an await`,
    );
  return result;
}

/**
 * Calls `fn` on each way back that reaches any of these tensors: in the mode "all" once all that it reaches have their
 * gradients, with the gradients of all in order, null for those that it does not reach; in the mode "any" with the first
 * gradient.
 *
 * @param tensors those that the hook watches
 * @param fn of a list of gradients, or in the mode "any" of one
 * @param mode "all" or "any"
 *
 * @example
 * const a = torch.tensor([1], { requires_grad: true }), b = torch.tensor([2], { requires_grad: true });
 * const seen = [];
 * torch.autograd.graph.register_multi_grad_hook([a, b], (gradients) => seen.push(...gradients));
 * a.mul(b).backward();
 * seen  // [[2], [1]]
 */
export function register_multi_grad_hook(
  tensors: readonly Tensor[],
  fn: (grads: (Tensor | null)[]) => void,
  options?: { mode?: "all" },
): RemovableHandle;
export function register_multi_grad_hook(
  tensors: readonly Tensor[],
  fn: (grad: Tensor) => void,
  options: { mode: "any" },
): RemovableHandle;
export function register_multi_grad_hook(...args: unknown[]): RemovableHandle {
  const op = "register_multi_grad_hook",
    [given, fn, mode = "all"] = taken(`${op} tensors fn * mode?`, args),
    tensors = tensorsOf(given as Tensor[], op, "tensors");
  callable(fn, op, "fn");
  if (mode !== "all" && mode !== "any")
    throw new OpError(`Expects mode to be one of ('all', 'any') but got ${String(mode)}`);
  const call = fn as (grads: Tensor | (Tensor | null)[]) => void,
    nodes = tensors.map(gradientEdge),
    // What has arrived on the way back that is under way.
    arrived = new WeakMap<object, { grads: (Tensor | null)[]; left: number }>();
  const hook =
    (at: number) =>
    (grad: Tensor): void => {
      const way = wayBack()!;
      let seen = arrived.get(way);
      if (!seen) {
        const left = mode === "any" ? 1 : nodes.filter((node) => node && way.reaches(node)).length;
        arrived.set(way, (seen = { grads: tensors.map(() => null), left }));
      }
      seen.grads[at] = grad;
      if (--seen.left === 0) call(mode === "any" ? grad : seen.grads);
    };
  const removers = tensors.flatMap((tensor, at) =>
    mode === "any" && !tensor.requires_grad ? [] : [tensor.register_hook(hook(at))],
  );
  return {
    remove() {
      for (const handle of removers) handle.remove();
    },
  };
}
interface RemovableHandle {
  remove(): void;
}

/**
 * Counts a change of these tensors that was made where autograd does not see it.
 *
 * @param tensor one or several
 *
 * @example
 * const x = torch.tensor([1, 2]);
 * torch.autograd.graph.increment_version(x);
 * x._version  // 1
 */
export function increment_version(tensor: Tensor | readonly Tensor[]): void {
  const [given] = taken("increment_version tensor", arguments),
    op = "increment_version";
  for (const { storage } of Array.isArray(given) ? tensorsOf(given, op, "tensor") : [tensorOf(given, op, "tensor")])
    storage.version++;
}
