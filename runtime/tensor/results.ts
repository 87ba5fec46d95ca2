// Several results of one call: iterable in order, and by name.

import type { Tensor } from "./tensor.js";
import { titled } from "../base/class-name.js";

/** The results of an op with several outputs, as `const {values, indices} = ...` and as `const [v, i] = ...`. */
export class Results implements Iterable<Tensor> {
  readonly length: number;
  [name: string]: unknown;
  [index: number]: Tensor;

  constructor(names: readonly string[], tensors: readonly Tensor[]) {
    this.length = names.length;
    names.forEach((name, i) => {
      this[i] = tensors[i]!;
      this[name] = tensors[i];
    });
  }

  *[Symbol.iterator](): Iterator<Tensor> {
    for (let i = 0; i < this.length; i++) yield this[i]!;
  }
}
titled(Results, "Results");
