// What turns the arguments of ops into other types before they run: torch.autocast (runtime/amp), which programs that use
// it import.

import type { Tensor } from "../tensor/tensor.js";
import type { Op } from "../program/compiled-op.js";

export interface Casting {
  /** The values, one for each parameter, in the types that the op is to compute in. */
  cast(op: Op, values: readonly unknown[]): readonly unknown[];
  /** Tensors in the types that what runs as many ops computes in. */
  lowered(what: string, tensors: readonly Tensor[]): readonly Tensor[];
  /** What decides of that now, as a text: where it is the same, the same happens. */
  readonly state: string;
  /** Runs `body` as if nothing were to be cast. */
  without<T>(body: () => T): T;
  /** What runs a body as it would run now, later. */
  again(): <T>(body: () => T) => T;
}

export let casting: Casting | null = null;

export function castBy(by: Casting): void {
  casting = by;
}
