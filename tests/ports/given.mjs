// Numbers that Python and JavaScript compute alike, for weights and inputs; given.py is the same.
import * as torch from "../../dist/in-node/index.js";

const number = (k) => ((k * k * 7919 + k * 104729 + 12345) % 65521) / 32760.5 - 1;
const size = (shape) => shape.reduce((n, s) => n * s, 1);

/** Between -1 and 1; another `first`, others. */
export const numbers = (shape, first = 0) =>
  torch.tensor(Array.from({ length: size(shape) }, (_, j) => number(first + j))).reshape(shape);

export const integers = (below, shape, first = 0) =>
  torch
    .tensor(
      Array.from({ length: size(shape) }, (_, j) => Math.floor(((number(first + j) + 1) / 2) * below) % below),
      { dtype: torch.long },
    )
    .reshape(shape);

/** The module with such numbers for weights: matrices by their fan-in, scales near 1, biases near 0. */
export function filled(module) {
  let first = 0;
  torch.no_grad(() => {
    for (const [name, p] of module.named_parameters()) {
      const x = numbers(p.shape, first);
      const fanIn = p.dim() > 1 ? p.numel() / p.size(0) : 1;
      if (p.dim() > 1) p.copy_(x.mul(Math.sqrt(3 / fanIn)));
      else p.copy_(name.endsWith("weight") ? x.mul(0.1).add(1) : x.mul(0.1));
      first += p.numel();
    }
  });
  return module;
}
