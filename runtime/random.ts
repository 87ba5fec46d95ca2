// The seed, and the counter that gives every call its own random numbers (Philox 4x32-10, random-bits.ts).

import type { RandomWords } from "./device.js";
import { uniform } from "./random-bits.js";

let seedLow = 0x2545f491, seedHigh = 0;
let calls = 0;

/** Starts the sequence of random numbers anew.  `seed`: a whole number, up to 2^53 in size. */
export function manual_seed(seed: number): void {
  const size = Math.abs(Math.trunc(seed));
  seedLow = size % 2 ** 32 >>> 0;
  seedHigh = (Math.floor(size / 2 ** 32) | (seed < 0 ? 0x80000000 : 0)) >>> 0;
  calls = 0;
}

/** A new seed from the clock; answers it. */
export function seed(): number {
  const value = Math.floor(Math.random() * 2 ** 52);
  manual_seed(value);
  return value;
}

export const initial_seed = (): number => (seedHigh & 0x7fffffff) * 2 ** 32 + seedLow;

/** The words for one call that draws random numbers. */
export function nextCall(): RandomWords {
  return { seedLow, seedHigh, call: calls++ };
}

export interface RandomState {
  readonly seedLow: number;
  readonly seedHigh: number;
  readonly calls: number;
}
export const get_rng_state = (): RandomState => ({ seedLow, seedHigh, calls });
export function set_rng_state(state: RandomState): void {
  ({ seedLow, seedHigh, calls } = state);
}

/** The numbers from 0 up to n in random order (Fisher and Yates). */
export function randomPermutation(n: number): Int32Array {
  const order = Int32Array.from({ length: n }, (_, i) => i), words = nextCall();
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(uniform(words.seedLow, words.seedHigh, words.call, 0, i) * (i + 1)), kept = order[i]!;
    order[i] = order[j]!;
    order[j] = kept;
  }
  return order;
}
