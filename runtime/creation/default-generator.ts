// torch.default_generator: the package's own random numbers as a generator, which all calls draw from that name none.

import { limited } from "../base/named-arguments.js";
import {
  type RandomState,
  RandomSource,
  get_rng_state,
  initial_seed,
  manual_seed,
  nextCall,
  randomPermutation,
  seed,
  set_rng_state,
} from "../elements/random.js";
import { uniform } from "../elements/philox.js";

class DefaultGenerator extends RandomSource {
  override get isDefault(): boolean {
    return true;
  }
  manual_seed(value: number): this {
    manual_seed(value);
    return this;
  }
  seed(): number {
    return seed();
  }
  initial_seed(): number {
    return initial_seed();
  }
  get_state(): RandomState {
    return get_rng_state();
  }
  set_state(state: RandomState): this {
    set_rng_state(state);
    return this;
  }
  bits(): number {
    const { seedLow, seedHigh, call } = nextCall();
    return (
      Math.floor(uniform(seedLow, seedHigh, call, 0, 0) * 2 ** 16) * 2 ** 16 +
      Math.floor(uniform(seedLow, seedHigh, call, 0, 1) * 2 ** 16)
    );
  }
  permutation(n: number): Int32Array {
    return randomPermutation(n);
  }
}

/**
 * The generator of random numbers where none is given: that of `torch.manual_seed`.
 *
 * @example
 * torch.manual_seed(7);
 * torch.default_generator.initial_seed()  // 7
 */
export const default_generator = /* @__PURE__ */ new (limited(
  DefaultGenerator,
  "Generator.",
  "manual_seed seed, set_state new_state{}, permutation n",
))();
