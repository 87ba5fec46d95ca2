// state_dict() and load_state_dict() of optimizers: parameters stand as numbers, in the order of the groups.

import * as copying from "../copy.js";
import { no_grad } from "../grad-mode.js";
import { isFloat } from "../dtype.js";
import { OpError, TypeMismatchError, describe } from "../errors.js";
import { keep } from "../memory.js";
import { toTensor } from "../nn/state.js";
import { Tensor } from "../tensor.js";
import type { Group, Options } from "./groups.js";

/** What an optimizer keeps for a parameter: tensors, and numbers such as `step`. */
export type State = Record<string, unknown>;

export interface OptimizerState {
  state: Record<string, State>;
  param_groups: (Options & { params: number[] })[];
}

/** The state with a number for each parameter; its tensors are the optimizer's own. */
export function stateDict(groups: readonly Group<object>[], state: ReadonlyMap<Tensor, State>): OptimizerState {
  const numbers = new Map<Tensor, number>();
  for (const { params } of groups) for (const p of params) if (!numbers.has(p)) numbers.set(p, numbers.size);
  const out: OptimizerState = { state: {}, param_groups: [] };
  for (const [p, own] of state) out.state[String(numbers.get(p)!)] = { ...own };
  out.param_groups = groups.map((group) => ({ ...group, params: group.params.map((p) => numbers.get(p)!) }));
  return out;
}

/**
 * What a state dict says of these groups: new groups, and the state of their parameters, copied to each one's device and type.
 * `isNumber(key)`: whether that entry is a number here although PyTorch keeps a tensor.  A promise where values come from a GPU.
 */
export function loaded<O>(source: OptimizerState, groups: readonly Group<O>[], isNumber: (key: string) => boolean):
  [Group<O>[], Map<Tensor, State>] | Promise<[Group<O>[], Map<Tensor, State>]> {
  if (source === null || typeof source !== "object" || !Array.isArray(source.param_groups) || typeof source.state !== "object") {
    throw new TypeMismatchError(`load_state_dict: expected {state, param_groups}, got ${describe(source)}`);
  }
  const given = source.param_groups;
  if (given.length !== groups.length) throw new OpError("loaded state dict has a different number of parameter groups");
  const byNumber = new Map<string, Tensor>();
  groups.forEach(({ params }, i) => {
    const numbers = given[i]!.params;
    if (numbers.length !== params.length) throw new OpError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group");
    params.forEach((p, k) => byNumber.set(String(numbers[k]), p));
  });
  const merged = groups.map((group, i) => ({ ...group, ...given[i], params: group.params }) as Group<O>);
  const state = new Map<Tensor, State>(), waits: Promise<void>[] = [];
  no_grad(() => {
    for (const [number, values] of Object.entries(source.state)) {
      const p = byNumber.get(number), own: State = {};
      if (!p) throw new OpError(`loaded state dict has a state for parameter ${number}, which no group has`);
      state.set(p, own);
      for (const [key, value] of Object.entries(values)) {
        const mine = isNumber(key) ? numberOf(value) : copied(value, p);
        if (mine instanceof Promise) waits.push(mine.then((settled) => { own[key] = settled; }));
        own[key] = mine;
      }
    }
  });
  return waits.length ? Promise.all(waits).then(() => [merged, state]) : [merged, state];
}

/** A number, or the element of a tensor that holds one. */
export function numberOf(value: unknown): number | Promise<number> {
  if (!(value instanceof Tensor)) return Array.isArray(value) ? numberOf(value[0]) : Number(value);
  return value.storage.device.type === "cpu" ? Number(value.storage.elements[value.offset]) : value.item().then(Number);
}

/** A copy that lives where the parameter does, typed as it where both are floats. */
function copied(value: unknown, p: Tensor): unknown {
  if (Array.isArray(value) && value.some((x) => x instanceof Tensor)) {
    const all = value.map((x) => copied(x, p));
    return all.some((x) => x instanceof Promise) ? Promise.all(all) : all;
  }
  const isTensor = value instanceof Tensor || ArrayBuffer.isView(value) || (value !== null && typeof value === "object" && "data" in value && "shape" in value);
  if (!isTensor) return value;
  const x = toTensor(value, p), moved = copying.to(x.detach(), [{ device: p.device, ...(isFloat(p.dtype) && isFloat(x.dtype) ? { dtype: p.dtype } : {}) }]);
  return moved instanceof Promise ? moved.then((there) => keep(there)) : keep(moved.storage === x.storage ? moved.clone() : moved);
}
