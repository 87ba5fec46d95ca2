// Those who look on while programs run: the profiler, and the checks of torch.set_debug.  While there are any, each
// device's `execute` is one that tells them; while there are none it is the device's own, and a call asks nobody.

import { wayBackOf } from "../base/class-name.js";
import { capturing } from "../base/capturing.js";
import type { Device, Prepared, RandomWords } from "./device.js";
import { registeredDevices } from "./device.js";
import type { Storage } from "../tensor/storage.js";

/** A program about to run on a device; `storages[slot]` is the memory of each slot that is given or fresh. */
export interface Run {
  readonly device: Device;
  readonly prepared: Prepared;
  readonly storages: readonly (Storage | null)[];
  readonly random: RandomWords | null;
}

export interface Observer {
  /** Whether it wants to see every tensor's work by itself, none done together with others'. */
  readonly each?: boolean;
  /** Calls `execute` once, which queues or does the work. */
  around(run: Run, execute: () => void): void;
}

type Execute = Device["execute"];
const observers: Observer[] = [];
const own = new Map<Device, Execute>();

/** From now on `observer` is executeUnder of each program on the devices that there are now. */
export function observe(observer: Observer): void {
  if (!observers.includes(observer)) observers.push(observer);
  for (const device of registeredDevices()) {
    if (own.has(device)) continue;
    const execute = device.execute.bind(device);
    own.set(device, device.execute);
    device.execute = (prepared, storages, random) =>
      executeUnder(observers.length, { device, prepared, storages, random }, execute);
  }
}

export function stopObserving(observer: Observer): void {
  const at = observers.indexOf(observer);
  if (at >= 0) observers.splice(at, 1);
  if (observers.length) return;
  for (const [device, execute] of own) device.execute = execute;
  own.clear();
}

/** Whether anybody wants to see every tensor's work by itself. */
export const wantsEach = (): boolean => capturing !== null || observers.some(({ each }) => each);

/** The last of the first `n` observers is the outermost. */
function executeUnder(n: number, run: Run, execute: Execute): void {
  if (n === 0) execute(run.prepared, run.storages, run.random);
  else observers[n - 1]!.around(run, () => executeUnder(n - 1, run, execute));
}

/** What a program is called: its op, or as its node on the tape. */
export function nameOf({
  prepared: {
    op: { op },
    program,
  },
}: Run): string {
  return program === 0 ? op.name : wayBackOf(op.name, program);
}

/** The slots that a program reads: those of its inputs that have memory. */
export function inputsOf({
  prepared: {
    op: { op },
    program,
  },
  storages,
}: Run): number[] {
  return op.programs[program]!.inputs.filter((slot) => storages[slot]);
}

/** The slots that it writes: results, gradients, and what it changes in place. */
export function outputsOf({
  prepared: {
    op: { op },
    program,
    changes,
  },
  storages,
}: Run): number[] {
  const made = program === 0 ? op.outputs : op.programs[program]!.outputs;
  return [...new Set([...made, ...changes])].filter((slot) => storages[slot]);
}
