// Einstein's sum: products of tensors whose axes are named by letters, added up over the letters that the result lacks.

import { integer, listOf, refuse } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { numelOf } from "../base/shape.js";
import { tidy } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { matmul, mul, sum } from "../../names/torch.js";
import * as views from "../views/views.js";

/** What names axes: letters, and "...0" (the last) and so on for those of an ellipsis. */
type Labels = readonly string[];

/** Labels of one operand's subscripts; the axes of an ellipsis are "...0" (the last) and so on. */
function labelsOf(text: string, operand: number, rank: number | null): string[] {
  const parts = text.split("...");
  if (parts.length > 2)
    throw new OpError(`einsum(): found '.' for operand ${operand} for which an ellipsis was already found`);
  const letters = parts.map((part) => [...part.replace(/ /g, "")]);
  for (const letter of letters.flat()) {
    if (letter === ".")
      throw new OpError(`einsum(): found '.' for operand ${operand} that is not part of any ellipsis`);
    if (!/^[A-Za-z]$/.test(letter))
      throw new OpError(
        `einsum(): invalid subscript given at index ${text.indexOf(letter)} in the equation string, subscripts must be in [a-zA-Z]`,
      );
  }
  const [before, after] = letters as [string[], string[] | undefined],
    named = letters.flat().length;
  if (rank !== null && (after ? named > rank : named !== rank)) {
    throw new OpError(
      `einsum(): the number of subscripts in the equation (${named}) ${after ? "is more than" : "does not match"} the number of dimensions (${rank}) ` +
        `for operand ${operand}${after ? "" : " and no ellipsis was given"}`,
    );
  }
  return after ? [...before, ...ellipsis(rank === null ? 0 : rank - named), ...after] : before;
}

const ellipsis = (n: number) => Array.from({ length: n }, (_, i) => `...${n - 1 - i}`);

/** The diagonal along labels that an operand has twice, and its labels once each. */
function withoutRepeats(x: Tensor, labels: string[], operand: number): [Tensor, string[]] {
  for (let i = 0; i < labels.length; i++) {
    const j = labels.indexOf(labels[i]!, i + 1);
    if (j < 0) continue;
    if (x.shape[i] !== x.shape[j]) {
      throw new OpError(
        `einsum(): subscript ${labels[i]} is repeated for operand ${operand} but the sizes don't match, ${x.shape[j]} != ${x.shape[i]}`,
      );
    }
    const rest = labels.filter((_, k) => k !== i && k !== j);
    return withoutRepeats(views.diagonal(x, 0, i, j), [...rest, labels[i]!], operand);
  }
  return [x, labels];
}

/** The operand with its axes in the order of `all`, of length 1 where it has no such label. */
function aligned(x: Tensor, labels: Labels, all: Labels): Tensor {
  const order = all.filter((l) => labels.includes(l)).map((l) => labels.indexOf(l));
  const turned = views.permute(x, order);
  let at = 0;
  return views.reshape(
    turned,
    all.map((l) => (labels.includes(l) ? turned.shape[at++]! : 1)),
  );
}

/** Adds up the product of two aligned tensors over the axes `dropped`, which keep length 1. */
function contracted(a: Tensor, b: Tensor, dropped: readonly number[]): Tensor {
  const one = (x: Tensor, d: number) => x.shape[d] === 1;
  const alone = (x: Tensor, other: Tensor) => dropped.filter((d) => !one(x, d) && one(other, d));
  const added = (x: Tensor, axes: readonly number[]) => (axes.length ? (sum(x, [...axes], true) as Tensor) : x);
  const left = added(a, alone(a, b)),
    right = added(b, alone(b, a));
  const inner = dropped.filter((d) => !one(left, d) && !one(right, d));
  if (inner.length === 0) return mul(left, right) as Tensor;
  const axes = left.shape.map((_, d) => d).filter((d) => !inner.includes(d));
  const batch = axes.filter((d) => !one(left, d) && !one(right, d));
  const rows = axes.filter((d) => !batch.includes(d) && !one(left, d)),
    columns = axes.filter((d) => !batch.includes(d) && one(left, d));
  const sizes = (x: Tensor, list: readonly number[]) => list.map((d) => x.shape[d]!);
  const count = (x: Tensor, list: readonly number[]) => numelOf(sizes(x, list));
  const l = views.reshape(views.permute(left, [...batch, ...rows, ...inner, ...columns]), [
    count(left, batch),
    count(left, rows),
    count(left, inner),
  ]);
  const r = views.reshape(views.permute(right, [...batch, ...inner, ...columns, ...rows]), [
    count(right, batch),
    count(right, inner),
    count(right, columns),
  ]);
  const order = [...batch, ...rows, ...columns, ...inner];
  const product = views.reshape(matmul(l, r) as Tensor, [
    ...sizes(left, batch),
    ...sizes(left, rows),
    ...sizes(right, columns),
    ...inner.map(() => 1),
  ]);
  return views.permute(
    product,
    order.map((_, d) => order.indexOf(d)),
  );
}

/** Axes as numbers, where equations have letters; "..." is Python's Ellipsis. */
export type Subscripts = readonly (number | "...")[];

function lettersOf(subscripts: Subscripts): string {
  const letter = (n: number | "..."): string => {
    if (n === "...") return n;
    if (!(n >= 0 && n < 52)) throw new OpError(`einsum(): subscript ${n} is not within the valid range [0, 52)`);
    return String.fromCharCode(integer(n, "einsum", "subscripts") + (n < 26 ? 65 : 71));
  };
  return listOf<number | "...">(subscripts, "einsum", "subscripts").map(letter).join("");
}

/** `einsum(a, [0, 1], b, [1, 2], [0, 2])` as an equation and its operands. */
function asEquation(given: readonly unknown[]): [string, ...Tensor[]] {
  const pairs = Math.floor(given.length / 2),
    terms = Array.from({ length: pairs }, (_, i) => lettersOf(given[2 * i + 1] as Subscripts)),
    result = given.length % 2 ? `->${lettersOf(given[2 * pairs] as Subscripts)}` : "";
  return [terms.join(",") + result, ...Array.from({ length: pairs }, (_, i) => given[2 * i] as Tensor)];
}

/**
 * The sum of products that an equation describes: `einsum("bij,bjk->bik", a, b)` multiplies matrices, and so does
 * `einsum(a, [0, 1, 2], b, [0, 2, 3], [0, 1, 3])`.
 *
 * Letters name axes, `...` any number of broadcast ones; a letter that the result lacks is added up.  Without `->` the
 * result has the axes of the ellipsis and then, in alphabetical order, the letters that stand once.
 *
 * @param operand the equation, or the first tensor
 * @param subscripts the first tensor's axes as numbers, where no equation comes first
 * @param more the other tensors, each followed by its axes where there is no equation; and at the end those of the result
 *
 * @example
 * const a = torch.tensor([[1, 2], [3, 4]]), b = torch.tensor([[1, 0], [1, 1]]);
 * torch.einsum("ij,jk->ik", a, b)  // [[3, 2], [7, 4]]
 * torch.einsum("ii", torch.tensor([[1, 2], [3, 4]]))  // 5
 * torch.einsum("i,j", torch.tensor([1, 2]), torch.tensor([10, 20, 30]))  // [[10, 20, 30], [20, 40, 60]]
 */
export function einsum(equation: string, ...operands: readonly (Tensor | readonly Tensor[])[]): Tensor;
export function einsum(operand: Tensor, subscripts: Subscripts, ...more: readonly (Tensor | Subscripts)[]): Tensor;
export function einsum(first: string | Tensor, ...rest: readonly unknown[]): Tensor {
  const [equation, ...operands] =
    first instanceof Tensor ? asEquation([first, ...rest]) : [first, ...(rest as (Tensor | readonly Tensor[])[])];
  if (typeof equation !== "string") refuse("einsum", "equation", "a string", equation);
  const tensors = operands.flat() as Tensor[];
  if (tensors.length === 0) throw new OpError("einsum(): must provide at least one operand");
  for (const x of tensors)
    if (!(x instanceof Tensor)) throw new TypeMismatchError(`einsum: the operands must be tensors, got ${describe(x)}`);
  const [inputs, result, ...more] = equation.split("->") as [string, string | undefined, ...string[]];
  if (more.length > 0 || /[->]/.test(inputs + (result ?? "")))
    throw new OpError("einsum(): found '-' or '>' that is not part of a single '->'");
  const terms = inputs.split(",");
  if (terms.length !== tensors.length) {
    throw new OpError(
      `einsum(): ${terms.length > tensors.length ? "fewer" : "more"} operands were provided than specified in the equation`,
    );
  }
  const parts = tensors.map((x, i) => withoutRepeats(x, labelsOf(terms[i]!, i, x.ndim), i));
  const stands = terms.flatMap((term) => [...term.replace(/[ .]/g, "")]);
  const deepest = Math.max(...parts.map(([, labels]) => labels.filter((l) => l.startsWith("...")).length));
  const out =
    result === undefined
      ? [...ellipsis(deepest), ...[...new Set(stands)].filter((l) => stands.filter((s) => s === l).length === 1).sort()]
      : resultLabels(result, deepest, stands);
  const all = [...out, ...new Set([...ellipsis(deepest), ...stands])].filter((l, i, list) => list.indexOf(l) === i);
  const sizes = new Map<string, number>();
  parts.forEach(([x, labels], operand) =>
    labels.forEach((l, d) => {
      const n = x.shape[d]!,
        known = sizes.get(l) ?? 1;
      if (n !== known && n !== 1 && known !== 1) {
        throw new OpError(
          `einsum(): subscript ${l} has size ${n} for operand ${operand} which does not broadcast with previously seen size ${known}`,
        );
      }
      if (known === 1) sizes.set(l, n);
    }),
  );
  const last = new Map<string, number>();
  parts.forEach(([, labels], i) => labels.forEach((l) => last.set(l, i)));
  /** Axes that no operand after this one has, nor the result. */
  const done = (i: number) => all.map((_, d) => d).filter((d) => d >= out.length && last.get(all[d]!) === i);
  return tidy(() => {
    const whole = parts.map(([x, labels]) => aligned(x, labels, all));
    let product = done(0).length ? (sum(whole[0]!, done(0), true) as Tensor) : whole[0]!;
    for (let i = 1; i < whole.length; i++)
      product = contracted(
        product,
        whole[i]!,
        all.map((_, d) => d).filter((d) => d >= out.length && last.get(all[d]!)! <= i),
      );
    return views.reshape(
      product,
      out.map((_, d) => product.shape[d]!),
    );
  });
}

function resultLabels(text: string, deepest: number, stands: Labels): string[] {
  const parts = text.split("..."),
    letters = parts.map((part) => [...part.replace(/ /g, "")]);
  if (parts.length > 2 || letters.flat().includes("."))
    throw new OpError("einsum(): found '.' for output that is not part of a single ellipsis");
  for (const [i, l] of letters.flat().entries()) {
    if (!/^[A-Za-z]$/.test(l))
      throw new OpError(
        `einsum(): invalid subscript given at index ${i} in the output, subscripts must be in [a-zA-Z]`,
      );
    if (letters.flat().indexOf(l) !== i)
      throw new OpError(`einsum(): output subscript ${l} appears more than once in the output`);
    if (!stands.includes(l))
      throw new OpError(`einsum(): output subscript ${l} does not appear in the equation for any input operand`);
  }
  return parts.length === 2 ? [...letters[0]!, ...ellipsis(deepest), ...letters[1]!] : letters[0]!;
}
