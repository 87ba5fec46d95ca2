// Hooks on nodes of the tape, which see the gradients of all results before a node runs, and those of all inputs after.
// A node without hooks knows nothing of them.  Importing this module installs them.

import { callable } from "../base/argument-kinds.js";
import { AutogradError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { sameShape, showShape } from "../base/shape.js";
import { isRecording } from "../tape/grad-mode.js";
import { type Grad, callHook, Node } from "../tape/node.js";

/** What a hook answers: gradients in the place of those that it saw, or nothing. */
type Answer = readonly Grad[] | null | undefined | void;
type PreHook = (grad_outputs: Grad[]) => Answer;
type PostHook = (grad_inputs: Grad[], grad_outputs: Grad[]) => Answer;

declare module "../tape/node.js" {
  interface Node {
    /** What a program keeps with the node. */
    readonly metadata: Record<string, unknown>;
    /** Calls `fn(grad_outputs)` before the node runs; what it answers takes their place. */
    register_prehook(fn: PreHook): { remove(): void };
    /** Calls `fn(grad_inputs, grad_outputs)` when it has run; what it answers takes the place of `grad_inputs`. */
    register_hook(fn: PostHook): { remove(): void };
  }
}

/** By a handle each: a function may be there twice. */
interface Hooks {
  readonly before: Map<object, PreHook>;
  readonly after: Map<object, PostHook>;
}
const hooksOf = /* @__PURE__ */ new WeakMap<Node, Hooks>();

/** What becomes of gradients where hooks see them. */
function through<F extends (...args: Grad[][]) => Answer>(
  hooks: ReadonlyMap<object, F>,
  grads: readonly Grad[],
  others: readonly Grad[][] = [],
): readonly Grad[] {
  for (const hook of hooks.values()) {
    const answer = callHook((seen: Grad[]) => hook(seen, ...others.map((list) => [...list])), [...grads]) as Answer;
    if (!answer) continue;
    if (!Array.isArray(answer))
      throw new TypeMismatchError(`a node's hook must answer a list of gradients or nothing, got ${describe(answer)}`);
    const list = answer as readonly Grad[];
    if (list.length !== grads.length)
      throw new AutogradError(
        `a node's hook has returned an incorrect number of values (got ${list.length}, but expected ${grads.length})`,
      );
    list.forEach((grad, i) => {
      const was = grads[i];
      if (grad && was && !sameShape(grad.shape, was.shape))
        throw new AutogradError(
          `a node's hook has changed the size of value (was ${showShape(was.shape)}, got ${showShape(grad.shape)})`,
        );
    });
    grads = list;
  }
  return grads;
}

/** The hooks of a node, which from now on runs between them. */
function hooksOn(node: Node): Hooks {
  const known = hooksOf.get(node);
  if (known) return known;
  const hooks: Hooks = { before: new Map(), after: new Map() },
    { apply } = node;
  hooksOf.set(node, hooks);
  // Hooks may keep what they see: the engine does not free it, and of what a leaf takes they see another tensor.
  Object.defineProperty(node, "keepsGradients", { value: true });
  node.apply = (grads, wanted) => {
    const shown = node.next.length || isRecording() ? grads : grads.map((grad) => grad?.alias() ?? null),
      given = through(hooks.before, shown),
      made = apply.call(node, given === shown ? grads : given, wanted);
    return [...through(hooks.after, made, [[...given]])];
  };
  return hooks;
}

function installed(name: "register_hook" | "register_prehook", place: keyof Hooks): void {
  Object.defineProperty(Node.prototype, name, {
    value(this: Node, ...args: unknown[]) {
      const [fn] = taken(`${name} fn`, args) as [PostHook],
        hooks = hooksOn(this)[place] as Map<object, PostHook>,
        handle = { remove: () => void hooks.delete(handle) };
      hooks.set(handle, callable(fn, name, "fn"));
      return handle;
    },
    writable: true,
    configurable: true,
  });
}
installed("register_prehook", "before");
installed("register_hook", "after");

const metadataOf = /* @__PURE__ */ new WeakMap<Node, Record<string, unknown>>();
Object.defineProperty(Node.prototype, "metadata", {
  get(this: Node) {
    const known = metadataOf.get(this) ?? {};
    metadataOf.set(this, known);
    return known;
  },
  configurable: true,
});
