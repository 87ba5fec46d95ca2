// When memory is freed: by the garbage collector, by dispose(), or at the end of a tidy scope.  And how much there is,
// made by what.  How a device takes memory back is its own matter (devices/webgpu/pool.ts); tools/memory-history.ts
// finds the lines of programs.

import { refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { Scoped, runIn } from "../base/scoped.js";
import type { Cell, Storage } from "./storage.js";

interface Disposable {
  dispose(): void;
}

/** What made some of the live buffers of a device, and how much they hold. */
export interface Origin {
  /** The op, or the function that makes tensors; that of a gradient is called "… backward". */
  readonly op: string;
  /** The lines of the program that called it, the innermost first; null unless `record_memory_history` is on. */
  readonly where: string | null;
  bytes: number;
  buffers: number;
}

interface Usage {
  bytes: number;
  buffers: number;
  readonly origins: Map<string, Origin>;
}

/** What live tensors hold on a device. */
export interface DeviceMemory {
  bytes: number;
  /** Blocks of memory; a tensor and its views share one. */
  buffers: number;
  /** On a GPU: bytes of buffers that wait to be used again, and of all buffers. */
  poolBytes?: number;
  deviceBytes?: number;
  /** What made the buffers, those that hold the most bytes first. */
  origins: Origin[];
}

const usage: Record<string, Usage> = {};
let whereabouts: (() => string | null) | null = null;

/** How the line of the running program is found for each new buffer; null: it is not. */
export function lookForLines(find: (() => string | null) | null): void {
  whereabouts = find;
}

const registry = new FinalizationRegistry<Cell>((cell) => {
  count(cell);
  cell.device.reclaim?.(cell);
});

function use(device: string): Usage {
  return (usage[device] ??= { bytes: 0, buffers: 0, origins: new Map() });
}

/** Where what `op` makes on a device is counted. */
export function originOf(device: string, op: string): Origin {
  const where = whereabouts?.() ?? null,
    key = where === null ? op : `${op}\n${where}`,
    { origins } = use(device);
  let origin = origins.get(key);
  if (!origin) origins.set(key, (origin = { op, where, bytes: 0, buffers: 0 }));
  return origin;
}

function add(cell: Cell, sign: 1 | -1): void {
  for (const count of [use(cell.device.type), cell.origin]) {
    count.bytes += sign * cell.bytes;
    count.buffers += sign;
  }
}

/** Sees to it that a storage's memory goes back when the last tensor on it is collected. */
export function watch(storage: Storage, cell: Cell): void {
  add(cell, 1);
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
  add(cell, -1);
}

const reports = new Map<string, () => Record<string, number>>();

/** Adds a device's own figures (its pool) to memory(). */
export function onReport(device: string, report: () => Record<string, number>): void {
  reports.set(device, report);
}

/**
 * What live tensors hold on each device: bytes and buffers, in all and by origin, and what pools keep besides.  Two
 * answers some steps apart show what a loop keeps; `record_memory_history` adds the lines of the program.
 *
 * @example
 * const before = torch.memory().cpu.bytes, x = torch.ones([1000]);
 * torch.memory().cpu.bytes - before  // 4000
 */
export function memory(): Record<string, DeviceMemory> {
  taken("memory", arguments);
  const out: Record<string, DeviceMemory> = {};
  for (const [device, { bytes, buffers, origins }] of Object.entries(usage)) {
    const held = Array.from(origins.values())
      .filter((origin) => origin.buffers > 0)
      .map((origin) => ({ ...origin }));
    out[device] = {
      bytes,
      buffers,
      ...reports.get(device)?.(),
      origins: held.sort((a, b) => b.bytes - a.bytes || b.buffers - a.buffers),
    };
  }
  return out;
}

// --- Scopes ---------------------------------------------------------------------------------------

interface Scope {
  readonly tensors: Set<Disposable>;
  readonly outer: Scope | null;
  open: boolean;
}
const scopes = /* @__PURE__ */ new Scoped<Scope | null>(null, () => false);

/** The innermost tidy scope that is open, if there is one. */
function current(): Scope | null {
  let scope = scopes.value;
  while (scope && !scope.open) scope = scope.outer;
  return scope;
}

/** Puts a new tensor into the innermost tidy scope, if there is one. */
export function enroll(tensor: Disposable): void {
  current()?.tensors.add(tensor);
}

const kept = new WeakSet<object>();

/**
 * Exempts a tensor from the tidy scope it was made in.
 *
 * @param tensor the tensor, which is answered; its memory is freed by hand or when it is collected
 *
 * @example
 * let kept;
 * torch.tidy(() => { kept = torch.keep(torch.ones([2]).mul(3)); });
 * kept  // [3, 3]
 */
export function keep<T extends object>(tensor: T): T {
  if (tensor === null || typeof tensor !== "object") refuse("keep", "tensor", "a tensor", tensor);
  kept.add(tensor);
  return tensor;
}

function survivors(value: unknown, found: Set<unknown>): void {
  if (value === null || (typeof value !== "object" && typeof value !== "function") || found.has(value)) return;
  found.add(value);
  if ("dispose" in value) return;
  if (Symbol.iterator in value && typeof value !== "string") {
    for (const item of value as Iterable<unknown>) survivors(item, found);
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    for (const item of Object.values(value)) survivors(item, found);
  }
}

function close(mine: Scope, result: unknown): void {
  const stay = new Set<unknown>(),
    { tensors } = mine;
  let { outer } = mine;
  survivors(result, stay);
  mine.open = false;
  while (outer && !outer.open) outer = outer.outer;
  for (const tensor of tensors) {
    if (kept.has(tensor)) continue;
    if (!stay.has(tensor)) tensor.dispose();
    else outer?.tensors.add(tensor);
  }
  tensors.clear();
}

/**
 * Runs `body` and frees every tensor made in it, but those it answers (also in arrays and plain objects), gradients in
 * `.grad` and those given to `keep`.  For an async function the scope lasts until its promise settles.
 *
 * @param body what runs; its answer is answered
 *
 * @example
 * let between;
 * const result = torch.tidy(() => { between = torch.ones([2]).mul(3); return between.add(1); });
 * [result, between.is_disposed]  // [[4, 4], true]
 */
export function tidy<T>(body: () => T): T {
  const mine: Scope = { tensors: new Set(), outer: current(), open: true };
  return runIn(scopes, mine, body, "tidy", (result) => {
    close(mine, result);
  });
}
