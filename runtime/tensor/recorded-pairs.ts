// Complex numbers of pairs and pairs of complex numbers, with their gradients: what goes on the tape for ops, which know
// real numbers only.

import { attach, FunctionNode, recording } from "../tape/node.js";
import { clone } from "./copy.js";
import { asComplex, asPairs, sideBySide } from "./pairs.js";
import type { Tensor } from "./tensor.js";

/**
 * Pairs along a last axis as complex numbers; copied where they do not lie side by side.  `name`: what made them, as
 * programs shall see it.
 */
export function complexOf(pairs: Tensor, name = "ViewAsComplexBackward0"): Tensor {
  const near = sideBySide(pairs) ? pairs : clone(pairs),
    out = asComplex(near);
  return recording(pairs) ? attach(out, new FunctionNode(name, near, pairsOf)) : out;
}

/** Complex numbers as pairs along a last axis. */
export function pairsOf(x: Tensor): Tensor {
  const out = asPairs(x);
  return recording(x) ? attach(out, new FunctionNode("ViewAsRealBackward0", x, (grad) => complexOf(grad))) : out;
}
