// Which of PyTorch's kernels compute attention.  Here the planner chooses for each call.

import { flag } from "../../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { taken, withBody } from "../../base/named-arguments.js";

/**
 * PyTorch's kernels of attention, by their numbers.
 *
 * @example
 * torch.nn.attention.SDPBackend.MATH  // 0
 */
export const SDPBackend = /* @__PURE__ */ Object.freeze({
  ERROR: -1,
  MATH: 0,
  FLASH_ATTENTION: 1,
  EFFICIENT_ATTENTION: 2,
  CUDNN_ATTENTION: 3,
  OVERRIDEABLE: 4,
});
export type SDPBackend = (typeof SDPBackend)[keyof typeof SDPBackend];

/**
 * Runs `body`.  In PyTorch its attention is computed by one of these kernels; here every kernel gives the same result
 * but for rounding, and the planner chooses.
 *
 * @param backends one of SDPBackend, or a list of them
 * @param set_priority whether the list's order counts
 * @param body what runs so
 *
 * @example
 * const { SDPBackend, sdpa_kernel } = torch.nn.attention, x = torch.ones([1, 2, 1]);
 * sdpa_kernel(SDPBackend.MATH, () => torch.nn.functional.scaled_dot_product_attention(x, x, x))  // [[[1], [1]]]
 */
export function sdpa_kernel<T>(backends: SDPBackend | readonly SDPBackend[], body: () => T): T;
export function sdpa_kernel<T>(
  backends: SDPBackend | readonly SDPBackend[],
  set_priority: boolean | { set_priority?: boolean },
  body: () => T,
): T;
export function sdpa_kernel<T>(...args: unknown[]): T {
  const op = "sdpa_kernel",
    [backends, set_priority = false, body] = taken("sdpa_kernel backends set_priority? body", withBody(args)),
    known: unknown[] = Object.values(SDPBackend);
  for (const backend of [backends].flat())
    if (!known.includes(backend))
      throw new TypeMismatchError(
        `${op}: Backend must be an instance of SDPBackend or a list of SDPBackend instances, got ${describe(backend)}`,
      );
  flag(set_priority, op, "set_priority");
  if (typeof body !== "function") throw new OpError(`${op}: argument 'body' must be a function, got ${describe(body)}`);
  return body() as T;
}
