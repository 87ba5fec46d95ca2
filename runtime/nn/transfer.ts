// Modules elsewhere: on another device, in another type, as a copy.

import { refuse } from "../base/argument-kinds.js";
import * as copying from "../views/transfer.js";
import { type Device, toDevice } from "../devices/device.js";
import { type DType, isDType, isFloat, toDType } from "../elements/dtype.js";
import { TypeMismatchError } from "../base/errors.js";
import { atMost, given, isOptions, optionsIn } from "../base/named-arguments.js";
import { keep } from "../tensor/memory.js";
import { unrecorded } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { hidden, isModule } from "./members.js";
import type { Module } from "./module.js";
import { Parameter } from "./parameter.js";

/** What `to` takes by name. */
export interface Destination {
  device?: string | Device;
  dtype?: DType;
  tensor?: Tensor;
}
const DESTINATION = ["device", "dtype", "tensor", "non_blocking", "memory_format"];

/** Module.to: `args` are all that it was given. */
export function moved<M extends Module>(
  module: M,
  args: ArrayLike<unknown>,
  target: string | Device | Tensor | Destination,
  dtype?: DType,
): M | Promise<M> {
  if (target instanceof Tensor) return module.to({ device: target.storage.device, dtype: target.dtype });
  atMost("to", args, 4);
  given("to", "device", target);
  const options = isOptions(target) ? optionsIn<Destination>("to", target, DESTINATION) : {};
  if (options.tensor) return module.to(options.tensor);
  const wanted = options.dtype ?? (isDType(target) ? target : dtype),
    type = wanted && toDType(wanted, "to");
  if (type && !isFloat(type))
    throw new TypeMismatchError(`nn.Module.to only accepts floating point dtypes, but got desired dtype=torch.${type}`);
  const device = options.device ?? (isDType(target) || isOptions(target) ? undefined : (target as string | Device));
  if (device) toDevice(device, "to");
  const waits: Promise<void>[] = [];
  unrecorded(() => {
    for (const x of [...module.parameters(), ...module.buffers()]) {
      const how = { ...(type && isFloat(x.dtype) ? { dtype: type } : {}), ...(device ? { device } : {}) };
      for (const part of x.grad ? [x, x.grad] : [x]) {
        const moved = copying.to(part.detach(), [how]);
        if (moved instanceof Promise)
          waits.push(
            moved.then((m) => {
              part.set_data(m);
            }),
          );
        else part.set_data(moved);
      }
    }
  });
  return waits.length ? Promise.all(waits).then(() => module) : module;
}

/** The copies that `deepcopy` goes on from; throws for what is no map of them. */
export function memoOf(memo: unknown): Map<unknown, unknown> {
  if (memo != null && !(memo instanceof Map)) refuse("deepcopy", "memo", "a Map of what was copied to its copy", memo);
  return (memo as Map<unknown, unknown> | null | undefined) ?? new Map();
}

/** A copy of a tensor, a module, or of lists, maps and plain objects of them; what was copied already is found in `made`. */
export function copied<T>(value: T, made: Map<unknown, unknown>): T {
  return copyOf(value, made) as T;
}

function copyOf(value: unknown, made: Map<unknown, unknown>): unknown {
  if (made.has(value)) return made.get(value);
  if (value instanceof Tensor) {
    const own = unrecorded(() => value.detach().clone()),
      copy = value instanceof Parameter ? new Parameter(own, value.requires_grad) : own;
    if (value.leafRequiresGrad) copy.requires_grad_();
    // A parameter that waits for its sizes.
    for (const own of ["stand_in", "shape"]) {
      const property = Object.getOwnPropertyDescriptor(value, own);
      if (property) Object.defineProperty(copy, own, property);
    }
    made.set(value, keep(copy));
    return copy;
  }
  if (isModule(value)) return value.deepcopy(made);
  if (Array.isArray(value)) return value.map((item) => copyOf(item, made));
  if (value instanceof Map)
    return new Map(Array.from(value, (pair) => pair.map((x) => copyOf(x, made)) as [unknown, unknown]));
  if (isOptions(value)) return Object.fromEntries(Object.entries(value).map(([key, x]) => [key, copyOf(x, made)]));
  return value;
}

/** A copy of a module, of whose class `fresh` makes one that has nothing in it. */
export function copyInto<M extends Module>(fresh: () => M, value: M, made: Map<unknown, unknown>): M {
  if (made.has(value)) return made.get(value) as M;
  const copy = fresh(),
    { buffers, transient, order } = hidden.get(value)!;
  made.set(value, copy);
  for (const name of order) hidden.get(copy)!.order.add(name);
  for (const [name, tensor] of buffers) copy.register_buffer(name, copied(tensor, made), !transient.has(name));
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!buffers.has(name))
      Object.defineProperty(copy, name, property.get ? property : { ...property, value: copyOf(property.value, made) });
  }
  return copy;
}
