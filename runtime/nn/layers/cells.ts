// One step of a recurrent network as a module.

import { zeros } from "../../creation/create.js";
import { nameOf } from "../../base/class-name.js";
import { OpError } from "../../base/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import * as views from "../../views/views.js";
import { callable } from "../../base/callable.js";
import { uniform_ } from "../init.js";
import { Module } from "../module.js";
import {
  DEVICE_AND_TYPE,
  construct,
  parameter,
  size,
  type Arguments,
  type Factory,
  type DeviceAndType,
} from "../options.js";
import type { Parameter } from "../parameter.js";
import { flag } from "../shown.js";
import { gruStep, lstmStep, rnnStep } from "./recurrent-steps.js";

export interface CellOptions extends Factory {
  /** Whether learned vectors are added. */
  bias?: boolean;
}
type Sizes = {
  /** How many features each input has. */
  input_size: number;
  /** How many numbers a state has. */
  hidden_size: number;
};

/** What the cells keep. */
abstract class CellModule extends Module {
  readonly input_size: number;
  readonly hidden_size: number;
  weight_ih: Parameter;
  weight_hh: Parameter;
  bias_ih: Parameter | null;
  bias_hh: Parameter | null;

  protected constructor(o: Sizes & { bias: boolean } & Factory, gates: number) {
    super();
    this.input_size = o.input_size;
    this.hidden_size = o.hidden_size;
    this.weight_ih = parameter([gates * o.hidden_size, o.input_size], o);
    this.weight_hh = parameter([gates * o.hidden_size, o.hidden_size], o);
    this.bias_ih = o.bias ? parameter([gates * o.hidden_size], o) : null;
    this.bias_hh = o.bias ? parameter([gates * o.hidden_size], o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    const bound = this.hidden_size > 0 ? 1 / Math.sqrt(this.hidden_size) : 0;
    for (const p of this.parameters()) uniform_(p, -bound, bound);
  }
  /**
   * The products with the input and with the hidden state, and the states, missing ones as zeros; results lose the
   * batch again.
   */
  protected run(
    input: Tensor,
    given: readonly (Tensor | null)[] | null | undefined,
    states: number,
    step: (input: Tensor, hidden: Tensor, states: readonly Tensor[]) => Tensor[],
  ): Tensor[] {
    const name = nameOf(this);
    if (input.ndim !== 1 && input.ndim !== 2)
      throw new OpError(`${name}: Expected input to be 1D or 2D, got ${input.ndim}D instead`);
    const batched = input.ndim === 2,
      x = batched ? input : views.unsqueeze(input, 0);
    const before = Array.from({ length: states }, (_, i) => {
      const own = given?.[i];
      if (!own) return zeros([x.shape[0]!, this.hidden_size], { dtype: input.dtype, device: input.storage.device });
      if (own.ndim !== 1 && own.ndim !== 2)
        throw new OpError(
          `${name}: Expected ${states > 1 ? `hx[${i}]` : "hidden"} to be 1D or 2D, got ${own.ndim}D instead`,
        );
      return batched ? own : views.unsqueeze(own, 0);
    });
    const after = step(
      F.linear(x, this.weight_ih, this.bias_ih),
      F.linear(before[0]!, this.weight_hh, this.bias_hh),
      before,
    );
    return batched ? after : after.map((s) => views.squeeze(s, 0));
  }
  override extra_repr(): string {
    return `${this.input_size}, ${this.hidden_size}${this.bias_ih ? "" : `, bias=${flag(false)}`}`;
  }
}
const SIZES = { input_size: /* @__PURE__ */ size(), hidden_size: /* @__PURE__ */ size() };

export interface RNNCellOptions extends CellOptions {
  /** What bends the sum of both products. */
  nonlinearity?: "tanh" | "relu";
}
class RNNCellClass extends CellModule {
  readonly nonlinearity: "tanh" | "relu";

  /** `h' = tanh(W x + b + W' h + b')`. */
  constructor(
    ...args: Arguments<
      [input_size: number, hidden_size: number],
      [bias: boolean, nonlinearity: "tanh" | "relu", ...DeviceAndType],
      RNNCellOptions,
      Sizes
    >
  ) {
    const o = construct(
      "RNNCell",
      { ...SIZES, bias: true, nonlinearity: "tanh" as "tanh" | "relu", ...DEVICE_AND_TYPE },
      args,
    );
    super(o, 1);
    this.nonlinearity = o.nonlinearity;
  }
  override forward(input: Tensor, hx?: Tensor | null): Tensor {
    if (this.nonlinearity !== "tanh" && this.nonlinearity !== "relu")
      throw new OpError(`Unknown nonlinearity: ${String(this.nonlinearity)}`);
    return this.run(input, [hx ?? null], 1, (x, h) => [rnnStep(x, h, this.nonlinearity)])[0]!;
  }
  override extra_repr(): string {
    return super.extra_repr() + (this.nonlinearity === "tanh" ? "" : `, nonlinearity=${this.nonlinearity}`);
  }
}
/**
 * @example
 * torch.nn.RNNCell(3, 4)(torch.ones([2, 3])).shape  // [2, 4]
 */
export const RNNCell = /* @__PURE__ */ callable(RNNCellClass, "RNNCell", "forward input hx?");
export type RNNCell = RNNCellClass;

class GRUCellClass extends CellModule {
  constructor(
    ...args: Arguments<[input_size: number, hidden_size: number], [bias: boolean, ...DeviceAndType], CellOptions, Sizes>
  ) {
    super(construct("GRUCell", { ...SIZES, bias: true, ...DEVICE_AND_TYPE }, args), 3);
  }
  override forward(input: Tensor, hx?: Tensor | null): Tensor {
    return this.run(input, [hx ?? null], 1, (x, h, [before]) => [gruStep(x, h, before!)])[0]!;
  }
}
/**
 * One step of a gated recurrent unit.
 *
 * @example
 * torch.nn.GRUCell(3, 4)(torch.ones([2, 3])).shape  // [2, 4]
 */
export const GRUCell = /* @__PURE__ */ callable(GRUCellClass, "GRUCell", "forward input hx?");
export type GRUCell = GRUCellClass;

class LSTMCellClass extends CellModule {
  constructor(
    ...args: Arguments<[input_size: number, hidden_size: number], [bias: boolean, ...DeviceAndType], CellOptions, Sizes>
  ) {
    super(construct("LSTMCell", { ...SIZES, bias: true, ...DEVICE_AND_TYPE }, args), 4);
  }
  /** The states after the step, from those before. */
  override forward(input: Tensor, hx?: readonly [h_0: Tensor, c_0: Tensor] | null): [h_1: Tensor, c_1: Tensor] {
    return this.run(input, hx, 2, (x, h, [, cell]) => lstmStep(x, h, cell!)) as [Tensor, Tensor];
  }
}
/**
 * One step of a long short-term memory.
 *
 * @example
 * torch.nn.LSTMCell(3, 4)(torch.ones([2, 3]))[0].shape  // [2, 4]
 */
export const LSTMCell = /* @__PURE__ */ callable(LSTMCellClass, "LSTMCell", "forward input hx?");
export type LSTMCell = LSTMCellClass;
