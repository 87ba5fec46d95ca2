// torch.autograd.functional: derivatives of a function at given inputs (one tensor, or a list).

import { jacrev, jvp as forward, vjp as backward } from "./transforms.js";
import { addGradients } from "./accumulate.js";
import { OpError } from "../base/errors.js";
import { ones_like } from "../creation/like.js";
import { callable } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { tensorOf, tensorsOf } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";

type Inputs = Tensor | readonly Tensor[];
type Body = (...inputs: any[]) => Tensor;

const listOf = (x: Inputs, op: string, name = "inputs"): Tensor[] =>
  x instanceof Tensor ? [x] : tensorsOf(x, op, name);
const alike = (list: Tensor[], inputs: Inputs): Tensor | Tensor[] => (inputs instanceof Tensor ? list[0]! : list);

function weightOf(v: Tensor | null | undefined, out: Tensor, op: string): Tensor {
  if (v) return v;
  if (out.numel() !== 1)
    throw new OpError(
      `${op}: The vector v can only be None if the user-provided function returns a single Tensor with a single element.`,
    );
  return ones_like(out);
}

/** [func(inputs), the gradients of that weighted by v]. */
export function vjp(func: Body, inputs: Inputs, v?: Tensor | null): [Tensor, Tensor | Tensor[]] {
  [func, inputs, v] = taken("vjp func inputs v?", arguments);
  const [out, back] = backward(func, ...listOf(inputs, "vjp"));
  return [out, alike(back(weightOf(v, out, "vjp")), inputs)];
}

/** [func(inputs), how it changes along v]. */
export function jvp(func: Body, inputs: Inputs, v?: Inputs | null): [Tensor, Tensor] {
  [func, inputs, v] = taken("jvp func inputs v?", arguments);
  return forward(
    func,
    listOf(inputs, "jvp"),
    v ? listOf(v, "jvp", "v") : listOf(inputs, "jvp").map((x) => weightOf(null, x, "jvp")),
  );
}

/** The derivative of every element of func(inputs) with respect to every element of the inputs. */
export function jacobian(func: Body, inputs: Inputs): Tensor | Tensor[] {
  [func, inputs] = taken("jacobian func inputs", arguments);
  const list = listOf(inputs, "jacobian");
  return alike(
    jacrev(
      func,
      list.map((_, i) => i),
    )(...list) as Tensor[],
    inputs,
  );
}

/** The second derivatives of a function with one element: for a list of inputs, a list of lists. */
export function hessian(func: Body, inputs: Inputs): Tensor | Tensor[][] {
  [func, inputs] = taken("hessian func inputs", arguments);
  const list = listOf(inputs, "hessian"),
    places = list.map((_, i) => i);
  const rows = list.map(
    (_, i) => jacrev(((...args: never[]) => jacrev(func, i)(...args)) as Body, places)(...list) as Tensor[],
  );
  return inputs instanceof Tensor ? rows[0]![0]! : rows;
}

/** [func(inputs), the matrix of second derivatives times v].  The matrix is symmetric, so two ways back give it. */
export function hvp(func: Body, inputs: Inputs, v: Inputs): [Tensor, Tensor | Tensor[]] {
  [func, inputs, v] = taken("hvp func inputs v", arguments);
  const list = listOf(inputs, "hvp"),
    weights = listOf(v, "hvp", "v");
  callable(func, "hvp", "func");
  if (weights.length !== list.length)
    throw new OpError(`hvp: expected as many vectors as inputs, got ${weights.length} and ${list.length}`);
  const out = tensorOf(func(...(list.map((x) => x.detach()) as never[])), "hvp", "the function's result");
  const rows = list.map((_, i) =>
    backward(((...args: never[]) => jacrev(func, i)(...args)) as Body, ...list)[1](weights[i]!),
  );
  return [
    out.detach(),
    alike(
      list.map((_, k) => rows.map((row) => row[k]!).reduce(addGradients)),
      inputs,
    ),
  ];
}

/** As hvp: the matrix is symmetric. */
export const vhp = hvp;
