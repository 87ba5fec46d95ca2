// Fractional max pooling as modules.

import { OpError } from "../../base/errors.js";
import { number } from "../../base/argument-kinds.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  fractional_max_pool2d,
  fractional_max_pool3d,
  type FractionalPoolOptions,
} from "../../composite/fractional-pool.js";
import { callable, type Callable } from "../../base/callable.js";
import { Module } from "../module.js";
import { axes, construct, required, type Arguments } from "../options.js";

type Size = number | readonly number[];
type PoolArguments = Arguments<
  [kernel_size: Size],
  [output_size: Size | null, output_ratio: Size | null, return_indices: boolean, _random_samples: Tensor | null],
  FractionalPoolOptions,
  { kernel_size: Size }
>;
interface FractionalPool extends Module {
  forward(input: Tensor): Tensor | [values: Tensor, indices: Tensor];
}

function fractionalPool(
  name: string,
  rank: number,
  apply: typeof fractional_max_pool2d,
): Callable<new (...args: PoolArguments) => FractionalPool> {
  class Pool extends Module {
    readonly kernel_size: readonly number[];
    readonly output_size: readonly number[] | null;
    readonly output_ratio: readonly number[] | null;
    readonly return_indices: boolean;
    declare _random_samples: Tensor | null;

    constructor(...args: PoolArguments) {
      super();
      const o = construct(
        name,
        {
          kernel_size: required<Size>(),
          output_size: null as Size | null,
          output_ratio: null as Size | null,
          return_indices: false,
          _random_samples: null as Tensor | null,
        },
        args,
      );
      if (o.output_size === null && o.output_ratio === null)
        throw new OpError(`${name} requires specifying either an output size, or a pooling ratio`);
      if (o.output_size !== null && o.output_ratio !== null)
        throw new OpError("only one of output_size and output_ratio may be specified");
      this.kernel_size = axes(name, "kernel_size", o.kernel_size, rank);
      this.output_size = o.output_size === null ? null : axes(name, "output_size", o.output_size, rank);
      this.output_ratio = o.output_ratio === null ? null : axes(name, "output_ratio", o.output_ratio, rank, number);
      if (this.output_ratio?.some((r) => !(r > 0 && r < 1)))
        throw new OpError(`output_ratio must be between 0 and 1 (got ${String(o.output_ratio)})`);
      this.return_indices = o.return_indices;
      this.register_buffer("_random_samples", o._random_samples);
    }
    override forward(input: Tensor): Tensor | [values: Tensor, indices: Tensor] {
      return apply(
        input,
        this.kernel_size,
        this.output_size,
        this.output_ratio,
        this.return_indices,
        this._random_samples,
      );
    }
  }
  return callable(Pool, name, "forward input");
}
/**
 * The largest elements of windows that overlap unevenly, over two axes.
 *
 * @param return_indices whether the places of the largest elements are answered, too
 *
 * @example
 * torch.nn.FractionalMaxPool2d(2, { output_size: 2 })(torch.ones([1, 1, 5, 5]))  // [[[[1, 1], [1, 1]]]]
 */
export const FractionalMaxPool2d = /* @__PURE__ */ fractionalPool("FractionalMaxPool2d", 2, fractional_max_pool2d);
/**
 * The largest elements of windows that overlap unevenly, over three axes.
 *
 * @param return_indices whether the places of the largest elements are answered, too
 *
 * @example
 * torch.nn.FractionalMaxPool3d(2, { output_size: 2 })(torch.ones([1, 1, 5, 5, 5])).shape  // [1, 1, 2, 2, 2]
 */
export const FractionalMaxPool3d = /* @__PURE__ */ fractionalPool("FractionalMaxPool3d", 3, fractional_max_pool3d);
