// Running the tape backwards: `backward`, `grad`.  Each node runs once, after all that feed it; nothing recurses, so
// neither deep graphs nor graphs with many shared parts are trouble.

import { AutogradError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded, record } from "../tape/grad-mode.js";
import { deriving } from "../dispatch/derive.js";
import { accumulateInto, addGradients, held, letGo } from "./accumulate.js";
import { taken } from "../base/named-arguments.js";
import { type Grad, type Node, callHook, gradientEdge, watcher } from "../tape/node.js";
import { listOf } from "../base/argument-kinds.js";
import { sameShape, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { cast, clone } from "../tensor/copy.js";
import { filledOn } from "../tensor/allocate.js";
import { zeros_like } from "../creation/like.js";
import { stack } from "../functions/join.js";
import { select } from "../views/views.js";

interface Place {
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
function run(
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

function place(tensor: Tensor, what: string): Place {
  const node = gradientEdge(tensor);
  if (!node) throw new AutogradError(`${what} does not require grad and does not have a grad_fn`);
  return { node, output: tensor.node ? tensor.outputNumber : 0 };
}

let warned = false;

function startingGradient(output: Tensor, given: Tensor | null | undefined, implicit: "ones" | "scalar"): Tensor {
  if (given) {
    if (!sameShape(given.shape, output.shape)) {
      throw new AutogradError(
        `Mismatch in shape: grad_output[0] has a shape of ${showShape(given.shape)} and output[0] has a ` +
          `shape of ${showShape(output.shape)}.`,
      );
    }
    return cast(given, output.dtype, "backward");
  }
  if (output.numel() !== 1) {
    if (implicit === "scalar") throw new AutogradError("grad can be implicitly created only for scalar outputs");
    if (!warned) {
      warned = true;
      console.warn(
        "backward() on a tensor that is no scalar counts as a gradient of ones; PyTorch asks for the gradient",
      );
    }
  }
  if (output.dtype === "complex64")
    throw new AutogradError("grad can be implicitly created only for real scalar outputs but got torch.complex64");
  return filledOn(output.storage.device, output.shape, 1, output.dtype, "ones_like");
}

export interface BackwardOptions {
  /** In the place of `gradient`. */
  grad_tensors?: Tensor | readonly (Tensor | null)[] | null;
  retain_graph?: boolean | null;
  create_graph?: boolean;
  inputs?: Tensor | readonly Tensor[] | null;
  retainGraph?: boolean | null;
  createGraph?: boolean;
}

/** A list of tensors, of one where only that is given.  Throws if anything else is in it. */
function listed(given: unknown, what: string, absent = false): Tensor[] {
  const list: unknown[] = Array.isArray(given) ? given : [given];
  for (const x of list) {
    if (!(x instanceof Tensor) && !(absent && (x === null || x === undefined)))
      throw new TypeMismatchError(`${what} must be tensors, got ${describe(x)}`);
  }
  return list as Tensor[];
}

/**
 * Adds the gradients of one or several tensors to `.grad` of every leaf they were made from, or of `inputs` only.
 * `gradient`: for each
 *  of them a tensor that weighs its elements, or null for ones. */
export function backward(
  tensors: Tensor | readonly Tensor[],
  gradient?: Tensor | null | readonly (Tensor | null)[] | BackwardOptions,
  options?: BackwardOptions,
): void;
export function backward(...args: unknown[]): void {
  const given = taken(
    "backward tensors grad_tensors? retain_graph? create_graph? grad_variables? inputs?",
    args,
  ) as Parameters<typeof backwardFrom>;
  given.splice(4, 1);
  backwardFrom(...given);
}

/** The same with its arguments bound. */
export function backwardFrom(
  tensors: Tensor | readonly Tensor[],
  gradient?: Tensor | null | readonly (Tensor | null)[],
  retainGraph?: boolean | null,
  createGraph?: boolean,
  wanted?: Tensor | readonly Tensor[] | null,
): void {
  const create = createGraph ?? false,
    retain = retainGraph ?? create;
  const from = listed(tensors, "backward: tensors"),
    given = gradient ? listed(gradient, "backward: gradients", true) : [];
  if (given.length && given.length !== from.length)
    throw new AutogradError(`backward: got ${from.length} tensors and ${given.length} gradients`);
  const roots = from.map((t, i) => place(t, `element ${i} of tensors`)),
    starts = from.map((t, i) => startingGradient(t, given[i], "ones"));
  from.forEach((tensor, i) => {
    if (!tensor.node) return;
    if (create) tensor.grad = clone(starts[i]!);
    else tensor.adoptGradient(unrecorded(() => clone(starts[i]!)));
  });
  if (wanted) {
    const inputs = listed(wanted, "backward: inputs");
    if (!inputs.length) throw new AutogradError("backward: `inputs` argument to `backward()` cannot be empty.");
    const found = run(
      roots,
      starts,
      inputs.map((t) => place(t, "one of the inputs")),
      { retain, create },
    );
    found.forEach((grad, i) => {
      if (grad) accumulateInto(inputs[i]!, grad);
    });
  } else run(roots, starts, null, { retain, create });
}

/** What comes back for each of the weights along their first axis, stacked. */
function inBatches(
  from: readonly Tensor[],
  starts: readonly (Tensor | null)[],
  back: (weights: readonly (Tensor | null)[], last: boolean) => Grad[],
): Grad[] {
  const n = starts[0]?.shape[0] ?? 0;
  from.forEach((t, i) => {
    const shape = starts[i]?.shape ?? [];
    if (!n || shape[0] !== n || !sameShape(shape.slice(1), t.shape))
      throw new AutogradError(
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes " +
          `of the remaining dimensions are expected to match the shape of corresponding output, but got grad_output[${i}] ` +
          `of ${showShape(shape)} for output[${i}] of ${showShape(t.shape)}.`,
      );
  });
  const rows = Array.from({ length: n }, (_, k) =>
    back(
      starts.map((s) => select(s!, 0, k)),
      k === n - 1,
    ),
  );
  return rows[0]!.map((first, i) => first && stack(rows.map((row) => row[i]!)));
}

type OneOrMore = Tensor | readonly Tensor[];
export interface GradOptions {
  grad_outputs?: Tensor | readonly (Tensor | null)[] | null;
  retain_graph?: boolean | null;
  create_graph?: boolean;
  /** Means nothing, as in PyTorch. */
  only_inputs?: boolean;
  allow_unused?: boolean;
  /** Whether each of `grad_outputs` holds several along an axis before its output's: so do the answers. */
  is_grads_batched?: boolean;
  materialize_grads?: boolean;
  gradOutputs?: Tensor | readonly (Tensor | null)[] | null;
  retainGraph?: boolean | null;
  createGraph?: boolean;
  allowUnused?: boolean;
}

/**
 * Gradients of the outputs' sum, each weighted by its `grad_outputs`, with respect to `inputs`; changes no `.grad`.
 * Answers one for each input: null for an input that the outputs do not depend on, if `allow_unused`.
 */
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: Tensor | readonly Tensor[],
  options?: GradOptions & { allow_unused?: false; allowUnused?: false },
): Tensor[];
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: Tensor | readonly Tensor[],
  options?: GradOptions,
): Grad[];
export function grad(options: GradOptions & { outputs: OneOrMore; inputs: OneOrMore }): Grad[];
export function grad(..._: unknown[]): Grad[] {
  deriving();
  const [outputs_, inputs_, given = null, retain_graph, create = false, , allow, batched, materialize = false] = taken(
    "grad outputs inputs grad_outputs? retain_graph? create_graph? only_inputs? allow_unused? is_grads_batched? materialize_grads?",
    arguments,
  );
  const from = listed(outputs_, "grad: outputs"),
    to = listed(inputs_, "grad: inputs");
  if (!to.length) throw new AutogradError("grad requires non-empty inputs.");
  const starts = given instanceof Tensor ? [given] : given ? listOf<Tensor>(given, "grad", "grad_outputs") : [];
  const unused = allow ?? materialize;
  if (materialize && !unused)
    throw new AutogradError(
      "Expected allow_unused to be True or not passed when materialize_grads=True, but got: false",
    );
  const roots = from.map((t, i) => place(t, `element ${i} of tensors`)),
    targets = to.map((t) => place(t, "One of the differentiated Tensors")),
    retain = (retain_graph ?? create) as boolean;
  const back = (weights: readonly (Tensor | null)[], last = true): Grad[] =>
    run(
      roots,
      from.map((t, i) => startingGradient(t, weights[i], "scalar")),
      targets,
      { retain: retain || !last, create: create as boolean },
    );
  const found = batched ? inBatches(from, starts, back) : back(starts);
  return found.map((g, i) => {
    if (g) return g;
    if (materialize) return create ? zeros_like(to[i]!).requires_grad_() : zeros_like(to[i]!);
    if (unused) return null;
    throw new AutogradError(
      `The differentiated Tensor at index ${i} appears to not have been used in the graph. ` +
        "Set allow_unused=True if this is the desired behavior.",
    );
  });
}
