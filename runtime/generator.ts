// torch.Generator: random numbers on the host, the very ones that PyTorch's generator of the CPU draws (the Mersenne twister
// MT19937 of Matsumoto and Nishimura), so that shuffled data come in the same order there and here.  Ops draw theirs from random.ts.

import { nextCall } from "./random.js";
import { uniform } from "./random-bits.js";
import { TypeMismatchError, describe } from "./errors.js";
import { titled } from "./titled.js";

const N = 624, M = 397;

export class Generator {
  private readonly state = new Uint32Array(N);
  private at = N;
  private seeded = 0;

  /** Seeded from the package's own random numbers, so by `torch.manual_seed`. */
  constructor() {
    const { seedLow, seedHigh, call } = nextCall();
    const draw = (place: number): number => Math.floor(uniform(seedLow, seedHigh, call, 0, place) * 2 ** 16);
    this.manual_seed(draw(0) * 2 ** 16 + draw(1));
  }

  /** Starts the sequence anew.  `seed`: a whole number; as in PyTorch its lower 32 bits count. */
  manual_seed(seed: number): this {
    if (!Number.isInteger(seed)) throw new TypeMismatchError(`manual_seed: expected a whole number, got ${describe(seed)}`);
    this.seeded = seed;
    this.state[0] = seed % 2 ** 32;
    for (let i = 1; i < N; i++) {
      const before = this.state[i - 1]!;
      this.state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
    this.at = N;
    return this;
  }
  initial_seed(): number { return this.seeded; }

  /** 32 random bits. */
  bits(): number {
    if (this.at === N) this.twist();
    let y = this.state[this.at++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }
  private twist(): void {
    const { state } = this;
    for (let i = 0; i < N; i++) {
      const y = (state[i]! & 0x80000000) | (state[(i + 1) % N]! & 0x7fffffff);
      state[i] = state[(i + M) % N]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.at = 0;
  }

  /** A number from 0 up to 1, in steps of 2**-53. */
  uniform(): number {
    const high = this.bits() & 0x1fffff, low = this.bits();
    return (high * 2 ** 32 + low) * 2 ** -53;
  }
  /** A whole number from 0 up to, but without, `n`. */
  below(n: number): number { return this.bits() % n; }
  /** The numbers from 0 up to n in random order. */
  permutation(n: number): Int32Array {
    const order = Int32Array.from({ length: n }, (_, i) => i);
    for (let i = 0; i < n - 1; i++) {
      const j = i + this.below(n - i), kept = order[i]!;
      order[i] = order[j]!;
      order[j] = kept;
    }
    return order;
  }
}
titled(Generator, "Generator");
