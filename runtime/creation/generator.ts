// torch.Generator: random numbers on the host, the very ones that PyTorch's generator of the CPU draws (the Mersenne
// twister MT19937 of Matsumoto and Nishimura), so that shuffled data come in the same order there and here.  An op
// takes two of them as the key of its own (elements/random.ts), which are the same on every device.

import { tensor } from "./create.js";
import { newElements } from "../elements/dtype.js";
import { OpError } from "../base/errors.js";
import { count } from "../base/argument-kinds.js";
import { callable } from "../base/callable.js";
import { type Device, toDevice } from "../devices/device.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { RandomSource, nextCall, seedOf } from "../elements/random.js";
import { uniform } from "../elements/philox.js";
import type { Tensor } from "../tensor/tensor.js";

const N = 624,
  M = 397;
/** Bytes of a state as PyTorch keeps it, and where the counters and the words lie in it. */
const STATE = 5056,
  LEFT = 8,
  NEXT = 16,
  WORDS = 24;

class GeneratorClass extends RandomSource {
  private readonly state = new Uint32Array(N);
  private at = N;
  private seeded = 0;

  /** Whose ops it serves: one draws the same numbers on every device. */
  readonly device: string;

  /** With PyTorch's seed for all that get none. */
  constructor(device?: string | Device | null) {
    super();
    this.device = toDevice(device ?? "cpu", "Generator").type;
    this.manual_seed(67280421310721);
  }

  /** Starts the sequence anew.  `seed`: a whole number; as in PyTorch its lower 32 bits count. */
  manual_seed(seed: number): this {
    this.seeded = seedOf(seed);
    this.state[0] = seed % 2 ** 32;
    for (let i = 1; i < N; i++) {
      const before = this.state[i - 1]!;
      this.state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
    this.at = N;
    return this;
  }
  /** Starts anew with a seed from the clock, and answers it. */
  seed(): number {
    this.manual_seed(Math.floor(Math.random() * 2 ** 52));
    return this.seeded;
  }
  initial_seed(): number {
    return this.seeded;
  }

  /** Where the sequence is, as a tensor of bytes: what PyTorch's generator of the CPU answers, and takes. */
  get_state(): Tensor {
    const bytes = new Uint8Array(STATE),
      view = new DataView(bytes.buffer);
    view.setBigInt64(0, BigInt(this.seeded), true);
    view.setInt32(LEFT, this.at === N ? 1 : N + 1 - this.at, true);
    view.setInt32(LEFT + 4, 1, true);
    view.setInt32(NEXT, this.at % N, true);
    this.state.forEach((word, i) => view.setUint32(WORDS + 8 * i, word, true));
    return tensor(bytes, { device: "cpu" });
  }
  /** Goes on where the generator was that answered this state. */
  set_state(state: Tensor): this {
    const { dtype, storage, offset } = tensorOf(state, "set_state", "new_state");
    if (dtype !== "uint8" || storage.device.type !== "cpu" || state.numel() !== STATE) {
      throw new OpError(
        `set_state: expected ${STATE} bytes (uint8) on the cpu, as get_state answers them, got ${state.numel()} of ${dtype} on ${state.device}`,
      );
    }
    const bytes = Uint8Array.from(storage.elements.subarray(offset, offset + STATE)),
      view = new DataView(bytes.buffer);
    const left = view.getInt32(LEFT, true),
      next = view.getInt32(NEXT, true);
    if (!(left >= 1 && left <= N && next >= 0 && next <= N))
      throw new OpError("set_state: these bytes are no generator's state");
    this.seeded = Number(view.getBigInt64(0, true));
    this.state.forEach((_, i) => {
      this.state[i] = view.getUint32(WORDS + 8 * i, true);
    });
    this.at = left === 1 ? N : next;
    return this;
  }

  /** Another generator, where this one is. */
  clone_state(): GeneratorClass {
    return new GeneratorClass(this.device).set_state(this.get_state());
  }

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
    const high = this.bits() & 0x1fffff,
      low = this.bits();
    return (high * 2 ** 32 + low) * 2 ** -53;
  }
  /** A whole number from 0 up to, but without, `n`. */
  below(n: number): number {
    return this.bits() % count(n, "below", "n", 1);
  }
  /** The numbers from 0 up to n in random order. */
  permutation(n: number): Int32Array {
    n = count(n, "permutation", "n");
    const order = newElements("int32", n, "randperm").map((_, i) => i) as Int32Array;
    for (let i = 0; i < n - 1; i++) {
      const j = i + this.below(n - i),
        kept = order[i]!;
      order[i] = order[j]!;
      order[j] = kept;
    }
    return order;
  }
}
/**
 * Random numbers from a seed of their own: for whatever takes a `generator`.
 *
 * @example
 * const generator = torch.Generator().manual_seed(0);
 * torch.randperm(5, { generator })  // [4, 0, 1, 3, 2]
 */
export const Generator = /* @__PURE__ */ callable(
  GeneratorClass,
  "Generator",
  "constructor device?, manual_seed seed, set_state new_state, below n, permutation n",
);
export type Generator = GeneratorClass;

/** A generator seeded from the package's own random numbers, so by `torch.manual_seed`. */
export function drawnGenerator(): Generator {
  const { seedLow, seedHigh, call } = nextCall(),
    draw = (place: number): number => Math.floor(uniform(seedLow, seedHigh, call, 0, place) * 2 ** 16);
  return new Generator().manual_seed(draw(0) * 2 ** 16 + draw(1));
}
