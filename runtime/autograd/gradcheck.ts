// torch.autograd.gradcheck and gradgradcheck: gradients against central differences, for functions and
// autograd.Functions of one's own.  Promises, since values are read.  On float32 steps of 1e-6 are lost in rounding:
// float64 on the CPU is the place for this.

import { grad } from "./gradients.js";
import { fill_ } from "../views/transfer.js";
import { tensor as newTensor, zeros } from "../creation/create.js";
import { randn } from "../creation/random-tensors.js";
import { isFloat, newElements } from "../elements/dtype.js";
import { AutogradError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { enable_grad } from "../tape/grad-mode.js";
import { callable, listOf } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { readElements } from "../tensor/read.js";
import { showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { titled } from "../base/class-name.js";
import * as views from "../views/views.js";

/**
 * What gradcheck throws where derivatives differ.
 *
 * @example
 * const x = torch.tensor([2], { dtype: torch.float64, requires_grad: true });
 * const wrong = (x) => x.square().add(x.detach());
 * await torch.autograd.gradcheck(wrong, [x]).catch((error) => error instanceof torch.autograd.GradcheckError)  // true
 */
export class GradcheckError extends AutogradError {}
titled(GradcheckError, "GradcheckError");

export interface GradcheckOptions {
  /** Half of the distance of the two values whose difference is taken. */
  eps?: number;
  atol?: number;
  rtol?: number;
  /** Whether a difference is an error (the default), or answers false. */
  raise_exception?: boolean;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = (...inputs: any[]) => unknown;

const RULES: Required<GradcheckOptions> = { eps: 1e-6, atol: 1e-5, rtol: 1e-3, raise_exception: true };

/** The floating tensors among a function's results. */
const floating = (result: unknown): Tensor[] =>
  (result instanceof Tensor
    ? [result]
    : Array.isArray(result)
      ? result
      : typeof result === "object" && result
        ? Object.values(result)
        : []
  ).filter((x): x is Tensor => x instanceof Tensor && isFloat(x.dtype));

const numbers = async (x: Tensor): Promise<number[]> => Array.from(await readElements(x, "gradcheck"));

/** The places of the inputs that derivatives are taken at. */
function places(inputs: readonly unknown[], op: string): number[] {
  const found = inputs.flatMap((x, i) => (x instanceof Tensor && x.requires_grad ? [i] : []));
  if (!found.length)
    throw new OpError(
      `${op}: expects at least one input tensor to require gradient, but none of the them have requires_grad=True.`,
    );
  return found;
}

/** For each output the matrix of its derivatives with respect to input `at`: rows are the input's elements. */
async function numerical(
  f: Body,
  inputs: readonly unknown[],
  at: number,
  outputs: number,
  eps: number,
): Promise<number[][][]> {
  const x = inputs[at] as Tensor,
    values = await readElements(x, "gradcheck"),
    matrices: number[][][] = Array.from({ length: outputs }, () => []);
  const there = async (i: number, value: number): Promise<number[][]> => {
    const moved = newElements(x.dtype, values.length);
    moved.set(values as never);
    moved[i] = value;
    const list = [...inputs];
    // Recorded, since the function may take gradients itself.
    list[at] = views.reshape(newTensor(moved, { dtype: x.dtype, device: x.device }), x.shape).requires_grad_();
    return Promise.all(floating(await enable_grad(() => f(...(list as never[])))).map(numbers));
  };
  for (let i = 0; i < values.length; i++) {
    const up = await there(i, values[i]! + eps),
      down = await there(i, values[i]! - eps);
    matrices.forEach((rows, k) => rows.push(up[k]!.map((v, j) => (v - down[k]![j]!) / (2 * eps))));
  }
  return matrices;
}

/** The same from the graph, for all inputs: [input][output][element of the input][element of the output]. */
async function analytical(outputs: readonly Tensor[], inputs: readonly Tensor[]): Promise<number[][][][]> {
  const all = inputs.map((x) =>
    outputs.map((out) => Array.from({ length: x.numel() }, () => new Array<number>(out.numel()).fill(0))),
  );
  for (const [k, out] of outputs.entries()) {
    if (!out.requires_grad) continue;
    for (let j = 0; j < out.numel(); j++) {
      const one = zeros([out.numel()], { dtype: out.dtype, device: out.device });
      fill_(views.select(one, 0, j), 1);
      const grads = grad(out, inputs, {
        grad_outputs: views.reshape(one, out.shape),
        retain_graph: true,
        allow_unused: true,
      });
      for (const [n, g] of grads.entries())
        if (g)
          (await numbers(g)).forEach((v, i) => {
            all[n]![k]![i]![j] = v;
          });
    }
  }
  return all;
}

/** The first rows and columns of a matrix. */
function shown(matrix: number[][]): string {
  const row = (list: number[]) =>
    `[${list
      .slice(0, 8)
      .map((v) => v.toPrecision(6))
      .join(", ")}${list.length > 8 ? ", ..." : ""}]`;
  return `[${matrix.slice(0, 8).map(row).join(",\n ")}${matrix.length > 8 ? ",\n ..." : ""}]`;
}

/**
 * Whether the gradients of `func` at `inputs` (those that require one) are its slopes, within atol + rtol * |slope|.  A
 * difference is a GradcheckError with both matrices.  `func` answers a tensor or several, may be async, and uses its
 * arguments.
 *
 * @param func of the inputs, a tensor or several
 * @param inputs its arguments; those that require gradients are float64, best
 * @param atol how far they may differ in itself
 * @param rtol how far as a share of the slope
 *
 * @example
 * const x = torch.tensor([0.5, 1], { dtype: torch.float64, requires_grad: true });
 * await torch.autograd.gradcheck((x) => x.sin(), [x])  // true
 */
export async function gradcheck(
  func: Body,
  inputs: Tensor | readonly unknown[],
  options: GradcheckOptions = {},
): Promise<boolean> {
  [func, inputs, options] = taken("gradcheck func inputs | eps atol rtol raise_exception", arguments);
  callable(func, "gradcheck", "func");
  const given = inputs instanceof Tensor ? [inputs] : listOf(inputs, "gradcheck", "inputs"),
    rules = { ...RULES, ...options };
  const at = places(given, "gradcheck"),
    leaves = [...given];
  for (const i of at) leaves[i] = (given[i] as Tensor).detach().clone().requires_grad_();
  const result = await enable_grad(() => func(...(leaves as never[]))),
    outputs = floating(result);
  if (!outputs.length)
    throw new TypeMismatchError(
      `gradcheck: expected the function to answer tensors of floating point numbers, got ${describe(result)}`,
    );
  const fromGraph = await analytical(
    outputs,
    at.map((i) => leaves[i] as Tensor),
  );
  for (const [n, i] of at.entries()) {
    const slopes = await numerical(
      func,
      given.map((x) => (x instanceof Tensor ? x.detach() : x)),
      i,
      outputs.length,
      rules.eps,
    );
    for (const [k, slope] of slopes.entries()) {
      const graph = fromGraph[n]![k]!;
      const alike = slope.every((row, r) =>
        row.every((v, c) => Math.abs(graph[r]![c]! - v) <= rules.atol + rules.rtol * Math.abs(v)),
      );
      if (alike) continue;
      if (!rules.raise_exception) return false;
      throw new GradcheckError(
        `Jacobian mismatch for output ${k} with respect to input ${i} of size ${showShape((given[i] as Tensor).shape)},\n` +
          `numerical:\n${shown(slope)}\nanalytical:\n${shown(graph)}`,
      );
    }
  }
  return true;
}

/**
 * gradcheck of the gradients of `func`, each output weighted by `grad_outputs` (random numbers, if none are given).
 *
 * @param func of the inputs, a tensor or several
 * @param inputs its arguments; those that require gradients are float64, best
 * @param grad_outputs tensors of the outputs' shapes
 * @param atol how far they may differ in itself
 * @param rtol how far as a share of the slope
 *
 * @example
 * const x = torch.tensor([0.5, 1], { dtype: torch.float64, requires_grad: true });
 * await torch.autograd.gradgradcheck((x) => x.pow(3), [x])  // true
 */
export async function gradgradcheck(
  func: Body,
  inputs: Tensor | readonly unknown[],
  grad_outputs?: Tensor | readonly Tensor[] | null,
  options: GradcheckOptions = {},
): Promise<boolean> {
  [func, inputs, grad_outputs, options] = taken(
    "gradgradcheck func inputs grad_outputs? | eps atol rtol raise_exception",
    arguments,
  );
  callable(func, "gradgradcheck", "func");
  const given = inputs instanceof Tensor ? [inputs] : listOf(inputs, "gradgradcheck", "inputs"),
    at = places(given, "gradgradcheck");
  const outputs = floating(await enable_grad(() => func(...(given as never[])))).filter((out) => out.requires_grad);
  const weights =
    grad_outputs instanceof Tensor
      ? [grad_outputs]
      : grad_outputs
        ? listOf<Tensor>(grad_outputs, "gradgradcheck", "grad_outputs")
        : outputs.map((out) => randn(out.shape, { dtype: out.dtype, device: out.device }));
  const gradients = async (...args: unknown[]): Promise<Tensor[]> => {
    const list = args.slice(0, given.length),
      leaves = [...list];
    return await enable_grad(async () => {
      for (const i of at)
        if (!(list[i] as Tensor).requires_grad) leaves[i] = (list[i] as Tensor).detach().requires_grad_();
      const outs = floating(await func(...(leaves as never[]))).filter((out) => out.requires_grad);
      const targets = at.map((i) => leaves[i] as Tensor);
      return grad(outs, targets, {
        grad_outputs: args.slice(given.length) as Tensor[],
        create_graph: true,
        materialize_grads: true,
      }) as Tensor[];
    });
  };
  return gradcheck(gradients, [...given, ...weights.map((w) => w.detach().requires_grad_())], options);
}
