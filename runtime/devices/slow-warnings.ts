// Said once each, while a program runs: what makes it slow.  Few things, which are seen without looking for them.

import type { Elements } from "../program/compiled-op.js";

let silent = false;
const said = new Set<string>();

/**
 * Whether the console is told once of each thing that makes a program slow; it is unless this is called with false.
 *
 * @param mode whether the console is told
 *
 * @example
 * torch.set_slow_warnings(false);
 * torch.ones([2])  // [1, 1]
 */
export function set_slow_warnings(mode: boolean): void {
  silent = !mode;
}

/** Says `text` on the console, once for each `about`. */
export function advise(about: string, text: string): void {
  if (silent || said.has(about)) return;
  said.add(about);
  console.warn(`slow: ${text} (off: torch.set_slow_warnings(false))`);
}

let reads = 0,
  since = 0;

/** A single value was read from a GPU. */
export function oneRead(): void {
  const now = performance.now();
  if (now - since > 10_000) [reads, since] = [0, now];
  if (++reads < 100) return;
  reads = 0;
  advise("reads", "100 single values were read from the GPU in 10 s; read less often");
}

const copies = new WeakMap<object, number>();

/** Elements on the CPU are copied to a GPU. */
export function copied({ buffer }: Elements): void {
  const n = (copies.get(buffer) ?? 0) + 1;
  copies.set(buffer, n);
  if (n % 50 === 0) advise("copies", "a tensor was copied to the GPU 50 times; keep the copy");
}
