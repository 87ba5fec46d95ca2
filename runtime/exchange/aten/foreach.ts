// ATen's operators over lists of tensors, `_foreach_NAME`: the operator NAME for each tensor and what belongs to it.

import { vector_norm } from "../../../names/linalg.js";
import { abs, maximum, minimum, pow, sum } from "../../../names/torch.js";
import { full_like } from "../../creation/filled.js";
import type { DType } from "../../elements/dtype.js";
import { Tensor } from "../../tensor/tensor.js";
import type { Call, Operator } from "../operators.js";

/** With a number, where the function of that name takes two tensors. */
const beside =
  (of: (a: Tensor, b: Tensor) => unknown): Operator =>
  ({ args: [x, other] }) =>
    of(x as Tensor, other instanceof Tensor ? other : full_like(x as Tensor, other as number));

type Power = [x: Tensor, ord?: number, dtype?: DType | null];

/** What is another function for one tensor. */
const OWN = new Map<string, Operator>([
  ["maximum", beside(maximum)],
  ["minimum", beside(minimum)],
  [
    "norm",
    ({ args }) => {
      const [x, ord, dtype] = args as Power;
      return vector_norm(x, ord ?? 2, null, false, { dtype: dtype ?? null });
    },
  ],
  [
    "powsum",
    ({ args }) => {
      const [x, ord, dtype] = args as Power;
      return sum(pow(abs(x), ord ?? 2), null, false, { dtype: dtype ?? null });
    },
  ],
]);

/** The arguments for tensor number `i`: of each list its element, what is no list as it is. */
const elementsAt = (args: readonly unknown[], i: number): unknown[] =>
  args.map((value) => (Array.isArray(value) ? (value as unknown[])[i] : value));

/** Of what adds a product or a quotient: its factor has a name for one tensor, and a place for many. */
function factored(call: Call, i: number): Call {
  const [x, first, second, value = 1] = elementsAt(call.args, i);
  return { ...call, args: [x, first, second], options: { value, ...call.options } };
}

/**
 * The operator of lists; null where `name` is none, or there is no operator for one tensor: what `find` gives.
 * `changing`: an operator that writes its result into its first argument.
 */
export function foreach(
  name: string,
  find: (name: string) => Operator | null,
  changing: (operator: Operator) => Operator,
): Operator | null {
  const [, base, inPlace] = /^_foreach_(\w+?)(_?)$/.exec(name) ?? [];
  if (!base) return null;
  const found = OWN.get(base) ?? find(base),
    each = found && inPlace ? changing(found) : found,
    callAt = /^addc(mul|div)$/.test(base)
      ? factored
      : (call: Call, i: number) => ({ ...call, args: elementsAt(call.args, i) });
  return (
    each &&
    ((call) => {
      const list = call.args.find(Array.isArray) as unknown[];
      return list.map((_, i) => each(callAt(call, i)));
    })
  );
}
