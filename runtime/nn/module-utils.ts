// torch.nn.modules.utils, of which programs use what takes a prefix off the names of a state.

import { text } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";

/**
 * Takes `prefix` off the names in a state that begin with it, in place: "module." of models that ran in parallel.
 *
 * @param state_dict tensors by name, which is changed
 * @param prefix what names may begin with
 *
 * @example
 * const state = { "module.weight": torch.tensor([1]), "module.bias": torch.tensor([2]) };
 * torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.");
 * state  // { weight: [1], bias: [2] }
 */
export function consume_prefix_in_state_dict_if_present(state_dict: Record<string, unknown>, prefix: string): void;
export function consume_prefix_in_state_dict_if_present(...args: unknown[]): void {
  const op = "consume_prefix_in_state_dict_if_present",
    [state, prefix] = taken(`${op} state_dict{} prefix`, args) as [Record<string, unknown>, string];
  text(prefix, op, "prefix");
  for (const key of Object.keys(state)) {
    if (!key.startsWith(prefix)) continue;
    state[key.slice(prefix.length)] = state[key];
    delete state[key];
  }
}
