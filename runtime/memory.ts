// When memory is freed: by the garbage collector, by dispose(), or at the end of a tidy scope.  And how much there is.
// How a device takes memory back is its own matter (webgpu/pool.ts).

import type { Cell, Storage } from "./storage.js";

interface Disposable {
  dispose(): void;
}

interface Usage {
  bytes: number;
  storages: number;
}

const usage: Record<string, Usage> = {};

const registry = new FinalizationRegistry<Cell>((cell) => {
  if (!cell.freed) reclaim(cell);
});

function use(device: string): Usage {
  return (usage[device] ??= { bytes: 0, storages: 0 });
}

/** Sees to it that a storage's memory goes back when the last tensor on it is collected. */
export function watch(storage: Storage, cell: Cell): void {
  const now = use(cell.device.type);
  now.bytes += cell.bytes;
  now.storages++;
  registry.register(storage, cell, cell);
}

/** Called by devices when they free a storage by hand. */
export function unwatch(cell: Cell): void {
  if (cell.freed) return;
  registry.unregister(cell);
  count(cell);
}

function count(cell: Cell): void {
  cell.freed = true;
  const now = use(cell.device.type);
  now.bytes -= cell.bytes;
  now.storages--;
}

function reclaim(cell: Cell): void {
  count(cell);
  reclaimers.get(cell.device.type)?.(cell);
}

const reclaimers = new Map<string, (cell: Cell) => void>();

/** How a device takes back memory whose storage was collected. */
export function onReclaim(device: string, take: (cell: Cell) => void): void {
  reclaimers.set(device, take);
}

const reports = new Map<string, () => Record<string, number>>();

/** Adds a device's own figures (its pool) to memory(). */
export function onReport(device: string, report: () => Record<string, number>): void {
  reports.set(device, report);
}

/** Bytes and storages that live tensors hold on each device, and what pools keep besides. */
export function memory(): Record<string, Record<string, number>> {
  const out: Record<string, Record<string, number>> = {};
  for (const [device, now] of Object.entries(usage)) out[device] = { ...now, ...reports.get(device)?.() };
  return out;
}

// --- Scopes ---------------------------------------------------------------------------------------

type Scope = Disposable[];
let scope: Scope | null = null;

/** Puts a new tensor into the innermost tidy scope, if there is one. */
export function enroll(tensor: Disposable): void {
  if (scope) scope.push(tensor);
}

const kept = new WeakSet<object>();

/** Exempts a tensor from the tidy scope it was made in. */
export function keep<T extends object>(tensor: T): T {
  kept.add(tensor);
  return tensor;
}

function survivors(value: unknown, found: Set<unknown>): void {
  if (value === null || typeof value !== "object" && typeof value !== "function" || found.has(value)) return;
  found.add(value);
  if ("dispose" in value) return;
  if (Symbol.iterator in value && typeof value !== "string") {
    for (const item of value as Iterable<unknown>) survivors(item, found);
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    for (const item of Object.values(value)) survivors(item, found);
  }
}

function close(mine: Scope, outer: Scope | null, result: unknown): void {
  const stay = new Set<unknown>();
  survivors(result, stay);
  for (const tensor of mine) {
    if (kept.has(tensor)) continue;
    if (!stay.has(tensor)) tensor.dispose();
    else if (outer) outer.push(tensor);
  }
}

/**
 * Runs `body` and frees every tensor made in it, but those it answers (also in arrays and plain objects), gradients in
 * `.grad` and those given to `keep`.  For an async function the scope lasts until its promise settles.
 */
export function tidy<T>(body: () => T): T {
  const outer = scope, mine: Scope = [];
  scope = mine;
  let result: T;
  try {
    result = body();
  } catch (error) {
    scope = outer;
    close(mine, outer, null);
    throw error;
  }
  if (result instanceof Promise) {
    return result.then(
      (value) => {
        if (scope === mine) scope = outer;
        close(mine, outer, value);
        return value;
      },
      (error) => {
        if (scope === mine) scope = outer;
        close(mine, outer, null);
        throw error;
      },
    ) as T;
  }
  scope = outer;
  close(mine, outer, result);
  return result;
}
