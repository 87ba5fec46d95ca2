// torch.random.

import { callable, flag, refuse } from "../base/argument-kinds.js";
import { taken, withBody } from "../base/named-arguments.js";
import { get_rng_state, set_rng_state } from "./random.js";

export { get_rng_state, initial_seed, manual_seed, seed, set_rng_state } from "./random.js";

/**
 * Runs `body`, and then lets random numbers go on as if it had drawn none: `with torch.random.fork_rng()` in Python. Of
 * an async function: until its promise settles.
 *
 * @param body what runs
 * @param enabled false: nothing is brought back
 * @param devices is not needed: there is one sequence for all devices
 *
 * @example
 * torch.manual_seed(1);
 * torch.random.fork_rng(() => torch.rand([3]));
 * const after = torch.rand([1]);
 * torch.manual_seed(1);
 * torch.equal(after, torch.rand([1]))  // true
 */
export function fork_rng<T>(body: () => T, options?: { enabled?: boolean; devices?: unknown }): T;
export function fork_rng<T>(options: { enabled?: boolean; devices?: unknown }, body: () => T): T;
export function fork_rng<T>(...args: unknown[]): T {
  const [devices, enabled = true, , body] = taken("fork_rng devices? enabled? device_type? body", withBody(args));
  if (devices != null && !Array.isArray(devices)) refuse("fork_rng", "devices", "a list of devices", devices);
  callable(body, "fork_rng", "body");
  const state = get_rng_state(),
    back = (): void => {
      if (flag(enabled, "fork_rng", "enabled")) set_rng_state(state);
    };
  let result: unknown;
  try {
    result = (body as () => unknown)();
  } finally {
    if (!(result instanceof Promise)) back();
  }
  return (result instanceof Promise ? result.finally(back) : result) as T;
}
