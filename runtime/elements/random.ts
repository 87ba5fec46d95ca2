// The seed, and the counter that gives every call its own random numbers (Philox 4x32-10, philox.ts).

import { refuse } from "../base/argument-kinds.js";
import { capturing } from "../base/capturing.js";
import type { RandomWords } from "../devices/device.js";
import { newElements } from "./dtype.js";
import { TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { uniform } from "./philox.js";

let seedLow = 0x2545f491,
  seedHigh = 0;
let calls = 0;

/** Random bits that a program seeds by itself: what `generator` options take. */
export abstract class RandomSource {
  /** 32 random bits. */
  abstract bits(): number;
  /** The numbers from 0 up to n in random order. */
  abstract permutation(n: number): Int32Array;
  /** Whether its numbers are those that calls without a generator draw. */
  get isDefault(): boolean {
    return false;
  }
}

/** What an option `generator` holds; null for the package's own numbers. */
export function sourceOf(generator: unknown, op: string): RandomSource | null {
  if (generator === undefined || generator === null) return null;
  if (generator instanceof RandomSource) return generator.isDefault ? null : generator;
  refuse(op, "generator", "a torch.Generator", generator);
}

/** A seed: a whole number up to 2^53 in size. */
export function seedOf(seed: unknown): number {
  if (Number.isSafeInteger(seed)) return seed as number;
  refuse("manual_seed", "seed", "a whole number up to 2^53 in size", seed);
}

/**
 * Starts the sequence of random numbers anew.
 *
 * @param seed whole number, up to 2^53 in size
 *
 * @example
 * torch.manual_seed(0);
 * const first = torch.rand([2]);
 * torch.manual_seed(0);
 * torch.equal(first, torch.rand([2]))  // true
 */
export function manual_seed(seed: number): void {
  [seed] = taken("manual_seed seed", arguments);
  const size = Math.abs(seedOf(seed));
  seedLow = (size % 2 ** 32) >>> 0;
  seedHigh = (Math.floor(size / 2 ** 32) | (seed < 0 ? 0x80000000 : 0)) >>> 0;
  calls = 0;
}

/**
 * A new seed from the clock; answers it.
 *
 * @example
 * const seed = torch.seed();
 * seed === torch.initial_seed()  // true
 */
export function seed(): number {
  taken("seed", arguments);
  const value = Math.floor(Math.random() * 2 ** 52);
  manual_seed(value);
  return value;
}

/**
 * The seed that the random numbers began with.
 *
 * @example
 * torch.manual_seed(42);
 * torch.initial_seed()  // 42
 */
export function initial_seed(): number {
  taken("initial_seed", arguments);
  return (seedHigh & 0x7fffffff) * 2 ** 32 + seedLow;
}

/**
 * The words for one call that draws random numbers; of a source: two numbers of its sequence, so that devices agree on
 * what follows.
 */
export function nextCall(source: RandomSource | null = null): RandomWords {
  if (source) capturing?.drawing(source);
  const words = source
    ? { seedLow: source.bits(), seedHigh: source.bits(), call: 0 }
    : { seedLow, seedHigh, call: calls++ };
  capturing?.drew(words, source);
  return words;
}

export interface RandomState {
  readonly seedLow: number;
  readonly seedHigh: number;
  readonly calls: number;
}
/**
 * The state of the random numbers.
 *
 * @example
 * torch.manual_seed(7);
 * const state = torch.random.get_rng_state();
 * const first = torch.rand([2]);
 * torch.random.set_rng_state(state);
 * torch.equal(first, torch.rand([2]))  // true
 */
export function get_rng_state(): RandomState {
  taken("get_rng_state", arguments);
  return { seedLow, seedHigh, calls };
}
/**
 * Brings back a state of the random numbers.
 *
 * @param state what `get_rng_state` answered
 *
 * @example
 * const state = torch.random.get_rng_state();
 * const first = torch.randperm(5);
 * torch.random.set_rng_state(state);
 * torch.equal(first, torch.randperm(5))  // true
 */
export function set_rng_state(state: RandomState): void {
  [state] = taken("set_rng_state new_state{}", arguments);
  for (const name of ["seedLow", "seedHigh", "calls"] as const) {
    if (!Number.isSafeInteger(state?.[name]))
      throw new TypeMismatchError(`set_rng_state: expected what get_rng_state answered, got ${describe(state)}`);
  }
  ({ seedLow, seedHigh, calls } = state);
}

/** The numbers from 0 up to n in random order (Fisher and Yates); of a source: in its order. */
export function randomPermutation(n: number, source: RandomSource | null = null): Int32Array {
  if (source) return source.permutation(n);
  const order = newElements("int32", n, "randperm").map((_, i) => i) as Int32Array,
    words = nextCall();
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(uniform(words.seedLow, words.seedHigh, words.call, 0, i) * (i + 1)),
      kept = order[i]!;
    order[i] = order[j]!;
    order[j] = kept;
  }
  return order;
}
