// state_dict() and load_state_dict() of optimizers: parameters stand as numbers, in the order of the groups.

import * as copying from "../views/transfer.js";
import { tensor } from "../creation/create.js";
import type { NumberArray } from "../elements/nested-data.js";
import { unrecorded } from "../tape/grad-mode.js";
import { isFloat } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { keep } from "../tensor/memory.js";
import { isParts } from "../files/parts.js";
import { toTensor } from "../nn/state.js";
import { numelOf, sameShape, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
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
  // What programs keep under another name than a parameter's goes with it, as it is.
  for (const [p, own] of state as ReadonlyMap<unknown, State>)
    out.state[String(p instanceof Tensor ? numbers.get(p)! : p)] = p instanceof Tensor ? { ...own } : own;
  out.param_groups = groups.map((group) => ({ ...group, params: group.params.map((p) => numbers.get(p)!) }));
  return out;
}

/** The shape of a tensor that is kept; in a list, that of each in a list of them; null for anything. */
export type StateShape = readonly number[] | readonly [readonly number[]] | null;

/**
 * What a state dict says of these groups: new groups, and the state of their parameters, copied to each one's device
 * and type. `isNumber(key)`: whether that entry is a number here although PyTorch keeps a tensor; `shapeOf(key, group,
 * parameter)`: the shape of the tensor that is kept.  A promise where values come from a GPU.  Throws for what does not
 * fit, and changes nothing.
 */
export function loaded<O>(
  source: OptimizerState,
  groups: readonly Group<O>[],
  isNumber: (key: string) => boolean,
  shapeOf: (key: string, group: Group<O>, param: Tensor) => StateShape,
): [Group<O>[], Map<Tensor, State>] | Promise<[Group<O>[], Map<Tensor, State>]> {
  if (!isObject(source) || !Array.isArray(source.param_groups) || !isObject(source.state)) {
    throw new TypeMismatchError(`load_state_dict: expected {state, param_groups}, got ${describe(source)}`);
  }
  const given = source.param_groups;
  if (given.length !== groups.length) throw new OpError("loaded state dict has a different number of parameter groups");
  const merged = groups.map((group, i) => ({ ...group, ...given[i], params: group.params }) as Group<O>),
    byNumber = new Map<string, [Tensor, Group<O>, string]>();
  groups.forEach(({ params, param_names }, i) => {
    const numbers: unknown = isObject(given[i]) ? given[i].params : undefined;
    if (!Array.isArray(numbers))
      throw new TypeMismatchError(
        `load_state_dict: expected numbers as the params of group ${i}, got ${describe(numbers)}`,
      );
    if (numbers.length !== params.length)
      throw new OpError(
        "loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
      );
    params.forEach((p, k) =>
      byNumber.set(String(numbers[k]), [p, merged[i]!, param_names ? ` ("${param_names[k]!}")` : ""]),
    );
  });
  const state = new Map<Tensor, State>(),
    waits: Promise<void>[] = [];
  unrecorded(() => {
    for (const [number, values] of Object.entries(source.state)) {
      const found = byNumber.get(number),
        own: State = {};
      if (!found && !/^\d+$/.test(number)) {
        (state as Map<unknown, State>).set(number, values);
        continue;
      }
      if (!found) throw new OpError(`loaded state dict has a state for parameter ${number}, which no group has`);
      const [p, group, name] = found;
      state.set(p, own);
      if (!isObject(values))
        throw new TypeMismatchError(
          `load_state_dict: expected an object as the state of parameter ${number}${name}, got ${describe(values)}`,
        );
      for (const [key, value] of Object.entries(values)) {
        const what = `load_state_dict: ${key} of parameter ${number}${name}`;
        const mine = isNumber(key)
          ? oneNumber(value, what)
          : value === null
            ? null
            : copied(value, p, shapeOf(key, group, p), what);
        if (mine instanceof Promise)
          waits.push(
            mine.then((settled) => {
              own[key] = settled;
            }),
          );
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

const isObject = (value: unknown): value is Record<string, never> => typeof value === "object" && value !== null;

function oneNumber(value: unknown, what: string): number | Promise<number> {
  if (value instanceof Tensor ? value.numel() === 1 : !Number.isNaN(Number(Array.isArray(value) ? value[0] : value)))
    return numberOf(value);
  throw new TypeMismatchError(
    `${what}: expected a number, got ${value instanceof Tensor ? `a tensor of size ${showShape(value.shape)}` : describe(value)}`,
  );
}

/** A copy that lives where the parameter does, typed as it where both are floats. */
function copied(value: unknown, p: Tensor, wanted: StateShape, what: string): unknown {
  const list = wanted !== null && Array.isArray(wanted[0]) ? (wanted[0] as readonly number[]) : null;
  if (list || (!wanted && Array.isArray(value) && value.some((x) => x instanceof Tensor))) {
    if (!Array.isArray(value))
      throw new TypeMismatchError(`${what}: expected a list of tensors, got ${describe(value)}`);
    const all = value.map((x) => copied(x, p, list, what));
    return all.some((x) => x instanceof Promise) ? Promise.all(all) : all;
  }
  const shape = wanted as readonly number[] | null,
    flat = ArrayBuffer.isView(value) && "length" in value;
  if (!(value instanceof Tensor || flat || (shape && Array.isArray(value)) || isParts(value, what))) {
    // An optimizer's own, too: what another goes on changing.
    if (!shape) return Array.isArray(value) ? [...(value as unknown[])] : value;
    throw new TypeMismatchError(`${what}: expected a tensor of size ${showShape(shape)}, got ${describe(value)}`);
  }
  if (value instanceof Tensor) value.check(what);
  const x =
    flat && value.length !== numelOf(shape ?? p.shape)
      ? tensor(value as NumberArray)
      : toTensor(value, flat ? { ...like(p), shape: shape ?? p.shape } : p);
  if (shape && !sameShape(x.shape, shape))
    throw new OpError(`${what} has the size ${showShape(x.shape)}, expected ${showShape(shape)}`);
  const moved = copying.to(x.detach(), [
    { device: p.device, ...(isFloat(p.dtype) && isFloat(x.dtype) ? { dtype: p.dtype } : {}) },
  ]);
  return moved instanceof Promise
    ? moved.then((there) => keep(there))
    : keep(moved.storage === x.storage ? moved.clone() : moved);
}

const like = ({ dtype, device }: Tensor) => ({ dtype, device });
