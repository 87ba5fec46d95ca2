// What a device's end must not take: weights, buffers and optimizers' state, kept in the program's own memory.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { contiguousStrides } from "../base/shape.js";
import { cpu } from "../devices/cpu/cpu-device.js";
import { defaultDevice, toDevice } from "../devices/device.js";
import { Module } from "../nn/module.js";
import { Optimizer } from "../optim/optimizer.js";
import { unrecorded } from "../tape/grad-mode.js";
import { keep } from "../tensor/memory.js";
import { inMemory } from "../elements/complex-number.js";
import { readStored } from "../tensor/read.js";
import { Tensor } from "../tensor/tensor.js";
import { uploaded } from "../tensor/copy.js";

/** What a snapshot can be taken of. */
export type Kept = Module | Optimizer<never> | Tensor | { readonly [name: string]: Kept } | readonly Kept[];

export interface Snapshot {
  /**
   * Puts back what was kept, on the default device unless `device` says another.  Tensors and parameters stay the
   * objects that they are and get new memory; their gradients are none.
   */
  restore(device?: string | null): Promise<void>;
}

/**
 * Copies the tensors of modules, optimizers' state and tensors to the program's memory, for the day their device is
 * lost: `await snapshot({ model, optimizer })` now and then, `restore()` on the new device.
 *
 * @param kept by name or in a list what is to be saved
 *
 * @example
 * const model = torch.nn.Linear(2, 1);
 * const saved = await torch.webgpu.snapshot({ model });
 * typeof saved.restore  // "function"
 */
export async function snapshot(kept: Kept): Promise<Snapshot>;
export async function snapshot(...args: unknown[]): Promise<Snapshot> {
  const op = "snapshot",
    [kept] = taken(`${op} kept{}`, args),
    tensors = new Map<Tensor, Tensor>(),
    optimizers = new Map<Optimizer<never>, unknown>();
  const found = { tensors: new Set<Tensor>(), optimizers: new Set<Optimizer<never>>() };
  collect(kept, found, op);
  if (!found.tensors.size && !found.optimizers.size)
    throw new OpError(`${op}: there is no module, optimizer or tensor in it`);
  const states = [...found.optimizers].map((one) => [one, one.state_dict()] as const),
    copies = [...found.tensors].map(async (x) => [x, await onCpu(x, op)] as const);
  for (const [one, state] of states) optimizers.set(one, await eachTensor(await state, (x) => onCpu(x, op)));
  for (const [x, copy] of await Promise.all(copies)) tensors.set(x, copy);
  return {
    async restore(where?: string | null) {
      const device = where == null ? defaultDevice() : toDevice(where, "restore", "where"),
        placed = (x: Tensor): Tensor => uploaded(x, device);
      unrecorded(() => {
        for (const [x, copy] of tensors) {
          x.grad = null;
          const made = placed(copy);
          x.set_data(made);
          made.dispose();
        }
      });
      for (const [one, state] of optimizers)
        await one.load_state_dict((await eachTensor(state, async (x) => placed(x))) as never);
    },
  };
}

function collect(value: unknown, found: { tensors: Set<Tensor>; optimizers: Set<Optimizer<never>> }, op: string): void {
  if (value instanceof Tensor) found.tensors.add(value);
  else if (value instanceof Optimizer) found.optimizers.add(value as Optimizer<never>);
  else if (value instanceof Module) {
    for (const x of value.parameters()) found.tensors.add(x);
    for (const x of value.buffers()) found.tensors.add(x);
  } else if (Array.isArray(value)) for (const one of value) collect(one, found, op);
  else if (isOptions(value)) for (const one of Object.values(value)) collect(one, found, op);
  else
    throw new TypeMismatchError(
      `${op}: expected modules, optimizers and tensors, or an object or list of those, got ${describe(value)}`,
    );
}

/** A copy on the CPU, which outlives tidy scopes. */
async function onCpu(x: Tensor, op: string): Promise<Tensor> {
  const { dtype, shape } = x,
    elements = await readStored(x, op),
    stored = inMemory(x).dtype,
    plain = stored === dtype;
  if (!plain) throw new OpError(`${op}: tensors of ${dtype} cannot be kept; keep torch.view_as_real(x)`);
  return keep(
    new Tensor(
      cpu.upload(elements.slice() as typeof elements, dtype, op),
      dtype,
      shape,
      contiguousStrides(shape),
      0,
      false,
    ),
  );
}

/** A state with each tensor in it replaced. */
async function eachTensor(value: unknown, change: (x: Tensor) => Promise<Tensor>): Promise<unknown> {
  if (value instanceof Tensor) return change(value);
  if (Array.isArray(value)) return Promise.all(value.map((one) => eachTensor(one, change)));
  if (!isOptions(value)) return value;
  const pairs = Object.entries(value).map(async ([name, one]) => [name, await eachTensor(one, change)] as const);
  return Object.fromEntries(await Promise.all(pairs));
}
