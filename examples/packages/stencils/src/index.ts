// What the package offers: its ops, and a simulation made of them.

import type { Tensor } from "tensorloom";
import { diffuse } from "./ops/index.js";

export * from "./ops/index.js";

/** The field after so many steps of the heat equation.  `rate`: how well each cell conducts, [H, W]. */
export function heated(field: Tensor, rate: Tensor, steps: number): Tensor {
  for (let n = 0; n < steps; n++) field = diffuse(field, rate);
  return field;
}
