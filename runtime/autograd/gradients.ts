// Gradients by the tape: `backward`, `grad`.

import { AutogradError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { deriving } from "../dispatch/derive.js";
import { accumulateInto } from "./accumulate.js";
import { taken } from "../base/named-arguments.js";
import { type Grad, gradientEdge } from "../tape/node.js";
import { listOf } from "../base/argument-kinds.js";
import { sameShape, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { cast, clone } from "../tensor/copy.js";
import { filledOn } from "../tensor/allocate.js";
import { zeros_like } from "../creation/like.js";
import { stack } from "../functions/join.js";
import { select } from "../views/views.js";
import { type Place, run } from "./engine.js";

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
  /** In the place of `gradient`, default null. */
  grad_tensors?: Tensor | readonly (Tensor | null)[] | null;
  retain_graph?: boolean | null;
  create_graph?: boolean;
  inputs?: Tensor | readonly Tensor[] | null;
  retainGraph?: boolean | null;
  createGraph?: boolean;
}

/** A list of tensors, of one where only that is given.  Throws if anything else is in it. */
function listed(given: unknown, what: string, absent = false): Tensor[] {
  const several = !(given instanceof Tensor) && Symbol.iterator in Object(given),
    list = several ? [...(given as Iterable<unknown>)] : [given];
  for (const x of list) {
    if (!(x instanceof Tensor) && !(absent && (x === null || x === undefined)))
      throw new TypeMismatchError(`${what} must be tensors, got ${describe(x)}`);
  }
  return list as Tensor[];
}

/**
 * Adds the gradients of one or several tensors to `.grad` of every leaf they were made from, or of `inputs` only.
 * `gradient`: for each of them a tensor that weighs its elements, or null for ones.
 *
 * @param tensors what is differentiated: of one element, or with a `gradient`
 * @param gradient for each a tensor of its shape that weighs its elements, or null for ones, default null
 * @param retain_graph whether the graph stays for another way back; as `create_graph` unless given
 * @param create_graph whether gradients have a graph of their own, for derivatives of them; false unless given
 * @param inputs the leaves that get gradients; all unless given
 *
 * @example
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * torch.autograd.backward([x.sum(), x.square().sum()]);
 * x.grad  // [3, 5]
 */
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
 *
 * @param outputs what is differentiated: of one element, or with `grad_outputs`
 * @param inputs with respect to what
 * @param grad_outputs for each output a tensor of its shape that weighs its elements, or null for ones
 * @param retain_graph whether the graph stays for another way back; as `create_graph` unless given
 * @param create_graph whether gradients have a graph of their own, for derivatives of them
 * @param allow_unused whether an input that the outputs do not depend on is no error
 * @param materialize_grads whether zeros stand in the place of null
 *
 * @example
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * torch.autograd.grad(x.pow(3).sum(), [x])  // [[3, 12]]
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
