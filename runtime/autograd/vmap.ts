// vmap: a function for one sample made one for many, which it is called for one after another.

import { tensor } from "../creation/create.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { stack } from "../functions/join.js";
import { callable, count, refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { flatten } from "../base/pytree.js";
import { axisOf } from "../base/shape.js";
import { Results } from "../tensor/results.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";

// Parameters without a type are any: a function that is written where it is given needs no annotations.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Body = (...args: any[]) => unknown;

export function checkTensor(x: unknown, op: string, what: string): Tensor {
  if (!(x instanceof Tensor)) throw new TypeMismatchError(`${op}: expected ${what} to be a tensor, got ${describe(x)}`);
  return x;
}

/** An axis, null for what is shared, or lists and objects of them for such arguments. */
export type Dims = number | null | readonly Dims[] | { readonly [name: string]: Dims };

/** What a function answers: results with names, as a list. */
export const answerOf = (out: unknown): unknown => (out instanceof Results ? [...out] : out);

/** For each leaf of a value the axis that `dims` says for it. */
function spread(dims: unknown, tree: unknown, op: string, what = "in_dims"): (number | null)[] {
  if (typeof dims === "number" || dims === null) {
    const whole = typeof dims === "number" && !Number.isInteger(dims);
    if (whole) throw new TypeMismatchError(`${op}: argument '${what}' must hold whole numbers, got ${describe(dims)}`);
    return flatten(tree)[0].map((x) => (x instanceof Tensor ? dims : null));
  }
  const within = dims as Record<string, unknown> | undefined,
    parts = tree as Record<string, unknown>;
  if (typeof dims !== "object" || typeof tree !== "object" || tree === null || tree instanceof Tensor)
    refuse(
      op,
      what,
      `whole numbers, null, or lists and objects of them as the ${what === "in_dims" ? "arguments" : "results"} are`,
      dims,
    );
  if (Array.isArray(dims) && !(Array.isArray(tree) && tree.length === dims.length))
    throw new OpError(
      `${op}: ${what} is not compatible with the structure of ${what === "in_dims" ? "the arguments" : "the result"}: it says ${dims.length} axes`,
    );
  return Object.keys(parts).flatMap((name) => spread(within![name] ?? null, parts[name], op, what));
}

/**
 * Runs f for each slice along `in_dims` (null: the argument is shared) and stacks the results along `out_dims`.
 *
 * @param f function of tensors without the axis that it is mapped over
 * @param in_dims the axis of each argument, or one for all
 * @param out_dims where the axis stands in each result
 *
 * @example
 * const rows = torch.tensor([[1, 2], [3, 4]]), weights = torch.tensor([1, 10]);
 * torch.func.vmap((row, weights) => row.dot(weights), [0, null])(rows, weights)  // [21, 43]
 * torch.func.vmap(torch.func.grad((x) => x.pow(3)))(torch.tensor([1, 2, 3]))  // [3, 12, 27]
 */
export function vmap<F extends Body>(
  f: F,
  in_dims?: Dims | { in_dims?: Dims; out_dims?: Dims; randomness?: string; chunk_size?: number | null },
  out_dims?: Dims,
): (...args: Parameters<F>) => ReturnType<F> extends readonly unknown[] ? Tensor[] : Tensor;
export function vmap(...given: unknown[]): (...args: unknown[]) => never {
  const [f, in_dims = 0, out_dims = 0, , chunk_size] = taken(
    "vmap func in_dims? out_dims? randomness? chunk_size?",
    given,
  );
  callable(f, "vmap", "func");
  if (chunk_size != null) count(chunk_size, "vmap", "chunk_size", 1);
  if (typeof in_dims !== "number" && !Array.isArray(in_dims)) spread(in_dims, 0, "vmap");
  return (...args: unknown[]): never => {
    const dims = spread(in_dims, args, "vmap"),
      [leaves, rebuild] = flatten(args);
    const sizes = new Set(
      leaves.flatMap((a, i) => (dims[i] === null ? [] : [checkTensor(a, "vmap", `argument ${i}`).size(dims[i]!)])),
    );
    if (sizes.size !== 1) {
      throw new OpError(
        `vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [${[...sizes].join(", ")}] for the mapped dimension`,
      );
    }
    const [n] = [...sizes] as [number];
    if (n === 0) throw new OpError("vmap: the mapped dimension has the size 0");
    const results = Array.from({ length: n }, (_, k): unknown =>
      answerOf(
        f(
          ...(rebuild(
            leaves.map((a, i) => (dims[i] === null ? a : views.select(a as Tensor, dims[i]!, k))),
          ) as unknown[]),
        ),
      ),
    ).map(flatten);
    const [first, answer] = results[0]!,
      whole = answer(first),
      // One result is as good as a list of one.
      shaped = Array.isArray(out_dims) && !Array.isArray(whole) ? [whole] : whole,
      to =
        typeof out_dims === "number" || out_dims === null
          ? first.map(() => out_dims)
          : spread(out_dims, shaped, "vmap", "out_dims");
    return answer(
      first.map((shared, i) => {
        if (to[i] === null) return shared;
        const tensors = results.map(([parts]) =>
          typeof parts[i] === "number" ? tensor(parts[i]) : checkTensor(parts[i], "vmap", "the function's result"),
        );
        return stack(tensors, axisOf(to[i]!, tensors[0]!.ndim + 1, "vmap"));
      }),
    ) as never;
  };
}
