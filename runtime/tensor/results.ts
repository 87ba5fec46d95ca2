// Several results of one call: iterable in order, and by name.

import type { Tensor } from "./tensor.js";
import { titled } from "../base/class-name.js";

/**
 * The results of an op with several outputs, as `const {values, indices} = ...` and as `const [v, i] = ...`.
 *
 * @example
 * const found = torch.tensor([3, 1, 2]).sort(), [values, indices] = found;
 * [found.values, indices]  // [[1, 2, 3], [1, 2, 0]]
 */
export class Results implements Iterable<Tensor> {
  readonly length: number;
  readonly #op: string;
  [name: string]: unknown;
  [index: number]: Tensor;

  /** op: whose results they are, as PyTorch's text of them says. */
  constructor(names: readonly string[], tensors: readonly Tensor[], op: string) {
    this.length = names.length;
    this.#op = op;
    names.forEach((name, i) => {
      this[i] = tensors[i]!;
      this[name] = tensors[i];
    });
  }

  *[Symbol.iterator](): Iterator<Tensor> {
    for (let i = 0; i < this.length; i++) yield this[i]!;
  }

  toString(): string {
    const named = Object.entries(this).filter(([name, value]) => Number.isNaN(Number(name)) && value instanceof Object);
    return `torch.return_types.${this.#op}(\n${named.map(([name, value]) => `${name}=${value as Tensor}`).join(",\n")})`;
  }
}
titled(Results, "Results");
