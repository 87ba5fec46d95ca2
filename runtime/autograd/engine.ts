// Running the tape backwards.  Each node runs once, after all that feed it; nothing recurses, so neither deep graphs nor
// graphs with many shared parts are trouble.

import { AutogradError, TypeMismatchError, describe } from "../base/errors.js";
import { record } from "../tape/grad-mode.js";
import { addGradients, held, letGo } from "./accumulate.js";
import { type Grad, type Node, callHook, watcher } from "../tape/node.js";
import { sameShape, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";

export interface Place {
  node: Node;
  output: number;
}

interface Plan {
  /** How many edges from nodes that will run lead to each node. */
  waiting: Map<Node, number>;
  /** The nodes on a way to what is asked for; null: all. */
  needed: Set<Node> | null;
}

/** Counts edges, and finds the nodes from which `targets` can be reached; iterative depth-first search. */
function survey(roots: readonly Node[], targets: ReadonlySet<Node> | null): Plan {
  const waiting = new Map<Node, number>(),
    needed = targets ? new Set<Node>() : null;
  const stack: { node: Node; at: number }[] = [];
  for (const root of roots) {
    if (waiting.has(root)) continue;
    waiting.set(root, 0);
    stack.push({ node: root, at: 0 });
    while (stack.length) {
      const top = stack[stack.length - 1]!;
      if (top.at < top.node.next.length) {
        const next = top.node.next[top.at++];
        if (!next) continue;
        const count = waiting.get(next);
        waiting.set(next, (count ?? 0) + 1);
        if (count === undefined) stack.push({ node: next, at: 0 });
      } else {
        stack.pop();
        if (needed && (targets!.has(top.node) || top.node.next.some((n) => n !== null && needed.has(n))))
          needed.add(top.node);
      }
    }
  }
  return { waiting, needed };
}

/** A way back that is under way, and which nodes it reaches. */
export interface WayBack {
  reaches(node: Node): boolean;
}
let underWay: WayBack | null = null;
export const wayBack = (): WayBack | null => underWay;

export interface RunOptions {
  retain: boolean;
  create: boolean;
}

/** Sends gradients from `roots` back; answers what arrived at `targets`, or null for those nothing reached. */
export function run(
  roots: readonly Place[],
  grads: readonly Tensor[],
  targets: readonly Place[] | null,
  options: RunOptions,
): Grad[] {
  const captured: Grad[] = targets ? targets.map(() => null) : [];
  const { waiting, needed } = survey(
    roots.map((r) => r.node),
    targets && new Set(targets.map((t) => t.node)),
  );
  const arrived = new Map<Node, Grad[]>();
  const ready: Node[] = [];
  const asked = new Map<Node, number[]>();
  targets?.forEach((t, i) => asked.set(t.node, [...(asked.get(t.node) ?? []), i]));

  const deliver = (node: Node, output: number, grad: Tensor) => {
    let list = arrived.get(node);
    if (!list) arrived.set(node, (list = []));
    const before = list[output];
    if (before) {
      const sum = addGradients(before, grad);
      if (!options.create) {
        letGo(before);
        letGo(grad);
        held.set(sum, 1);
      }
      list[output] = sum;
    } else list[output] = grad;
  };
  roots.forEach((root, i) => deliver(root.node, root.output, grads[i]!));
  for (const node of new Set(roots.map((r) => r.node))) if (waiting.get(node) === 0) ready.push(node);

  const outer = underWay;
  underWay = { reaches: (node) => waiting.has(node) && (needed === null || needed.has(node)) };
  const recordedBefore = record(options.create);
  try {
    while (ready.length) {
      const node = ready.pop()!;
      const list = Array.from(arrived.get(node) ?? [], (g) => g ?? null);
      arrived.delete(node);
      runHooks(node, list);
      for (const i of asked.get(node) ?? []) {
        captured[i] = list[targets![i]!.output] ?? null;
        if (captured[i]) held.delete(captured[i]);
      }
      const wanted = node.next.map((n) => n !== null && (needed === null || needed.has(n)));
      const runs = needed === null || wanted.includes(true);
      let made: Grad[] = [];
      if (runs && list.some((g) => g !== null)) {
        // What user code is shown may be kept by it, and goes on through the next node; leaves have none.
        if (node.keepsGradients && node.next.length) for (const grad of list) if (grad) held.delete(grad);
        made = node.apply(list, wanted);
        watcher?.inspect(node, made);
        if (!options.create && !node.keepsGradients) {
          // A node that hands its gradient on, once or more, hands on what it was: made by the engine or not.
          for (const grad of made) {
            if (grad && (held.has(grad) || !list.includes(grad))) held.set(grad, (held.get(grad) ?? 0) + 1);
          }
          for (const grad of list) if (grad) letGo(grad);
        }
      }
      if (!options.retain && runs) node.release();
      for (let i = 0; i < node.next.length; i++) {
        const next = node.next[i];
        if (!next) continue;
        if (made[i] && wanted[i]) deliver(next, node.nextOutput[i]!, made[i]!);
        const left = waiting.get(next)! - 1;
        waiting.set(next, left);
        if (left === 0) ready.push(next);
      }
    }
  } finally {
    recordedBefore();
    underWay = outer;
  }
  return captured;
}

function runHooks(node: Node, grads: Grad[]): void {
  if (node.hooks) {
    for (const [output, hooks] of node.hooks) {
      for (const hook of hooks) {
        const grad = grads[output];
        if (!grad) continue;
        held.delete(grad);
        const answer = callHook(hook, grad);
        if (answer instanceof Tensor) {
          if (!sameShape(grad.shape, answer.shape) || grad.dtype !== answer.dtype)
            throw new AutogradError(
              `a gradient hook has changed the size or type of value (was ${kindOf(grad)}, got ${kindOf(answer)})`,
            );
          grads[output] = answer;
        } else if (answer !== null && answer !== undefined) {
          throw new TypeMismatchError(`a gradient hook must answer a tensor or nothing, got ${describe(answer)}`);
        }
      }
    }
  }
  if (node.retained) {
    for (const [output, reference] of node.retained) {
      const tensor = reference.deref(),
        grad = grads[output];
      if (!tensor || !grad) continue;
      held.delete(grad);
      tensor.grad = grad;
    }
  }
}

const kindOf = (x: Tensor): string => x.dtype + showShape(x.shape);
