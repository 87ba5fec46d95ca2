// Recurrent networks over sequences: RNN, LSTM and GRU with layers and directions.  One step of each is in cells.ts.

import { OpError } from "../../base/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { callable } from "../../base/callable.js";
import { DEVICE_AND_TYPE, construct, layers, size, type Arguments, type DeviceAndType } from "../options.js";
import type { PackedSequence } from "../utils/packed.js";
import { gruStep, lstmStep, rnnStep } from "./recurrent-steps.js";
import {
  type Places,
  RecurrentModule,
  type RecurrentOptions,
  SIZES,
  type Settings,
  type Sizes,
  type State,
  USUAL,
  start,
} from "./recurrent-module.js";

export interface RNNOptions extends RecurrentOptions {
  /** What bends the sum of both products. */
  nonlinearity?: "tanh" | "relu";
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
interface RNNClass {
  (input: PackedSequence, hx?: Tensor | null): [output: PackedSequence, h_n: Tensor];
}

class RNNClass extends RecurrentModule {
  readonly nonlinearity: "tanh" | "relu";

  /** Elman's network: `h' = tanh(W x + b + W' h + b')`. */
  constructor(
    ...args: Arguments<
      [input_size: number, hidden_size: number],
      [num_layers: number, nonlinearity: "tanh" | "relu", ...Places, ...DeviceAndType],
      RNNOptions,
      Sizes
    >
  ) {
    const o = construct(
      "RNN",
      {
        ...SIZES,
        num_layers: layers(1),
        nonlinearity: "tanh" as "tanh" | "relu",
        ...USUAL,
        ...DEVICE_AND_TYPE,
        proj_size: size(0),
      },
      args,
    );
    if (o.proj_size) throw new OpError("proj_size argument is only supported for LSTM, not RNN or GRU");
    if (o.nonlinearity !== "tanh" && o.nonlinearity !== "relu")
      throw new OpError(`Unknown nonlinearity '${String(o.nonlinearity)}'. Select from 'tanh' or 'relu'.`);
    super(o as Settings & typeof o, 1);
    this.nonlinearity = o.nonlinearity;
  }
  protected override step(input: Tensor, hidden: Tensor, _state: State): State {
    return [rnnStep(input, hidden, this.nonlinearity)];
  }
  /**
   * (time, batch, features) and (layers * directions, batch, hidden_size) to the outputs and the last state, of such
   * shapes.
   */
  override forward(
    input: PackedSequence,
    hx?: Tensor | { hx?: Tensor | null } | null,
  ): [output: PackedSequence, h_n: Tensor];
  override forward(input: Tensor, hx?: Tensor | { hx?: Tensor | null } | null): [output: Tensor, h_n: Tensor];
  override forward(
    input: Tensor | PackedSequence,
    hx?: Tensor | { hx?: Tensor | null } | null,
  ): [output: Tensor | PackedSequence, h_n: Tensor] {
    const h = start<Tensor>(hx),
      [out, [last]] = this.run(input, h && [h], [this.hidden_size]);
    return [out, last!];
  }
}

/**
 * @example
 * torch.nn.RNN(3, 4)(torch.ones([5, 2, 3]))[0].shape  // [5, 2, 4]
 */
export const RNN = /* @__PURE__ */ callable(RNNClass, "RNN", "step !, forward input hx?");

export type RNN = RNNClass;

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
interface GRUClass {
  (input: PackedSequence, hx?: Tensor | null): [output: PackedSequence, h_n: Tensor];
}

class GRUClass extends RecurrentModule {
  /** Gated recurrent units. */
  constructor(
    ...args: Arguments<
      [input_size: number, hidden_size: number],
      [num_layers: number, ...Places, ...DeviceAndType],
      RecurrentOptions,
      Sizes
    >
  ) {
    const o = construct(
      "GRU",
      { ...SIZES, num_layers: layers(1), ...USUAL, ...DEVICE_AND_TYPE, proj_size: size(0) },
      args,
    );
    if (o.proj_size) throw new OpError("proj_size argument is only supported for LSTM, not RNN or GRU");
    super(o as Settings & typeof o, 3);
  }
  protected override step(input: Tensor, hidden: Tensor, [before]: State): State {
    return [gruStep(input, hidden, before!)];
  }
  /**
   * (time, batch, features) and (layers * directions, batch, hidden_size) to the outputs and the last state, of such
   * shapes.
   */
  override forward(
    input: PackedSequence,
    hx?: Tensor | { hx?: Tensor | null } | null,
  ): [output: PackedSequence, h_n: Tensor];
  override forward(input: Tensor, hx?: Tensor | { hx?: Tensor | null } | null): [output: Tensor, h_n: Tensor];
  override forward(
    input: Tensor | PackedSequence,
    hx?: Tensor | { hx?: Tensor | null } | null,
  ): [output: Tensor | PackedSequence, h_n: Tensor] {
    const h = start<Tensor>(hx),
      [out, [last]] = this.run(input, h && [h], [this.hidden_size]);
    return [out, last!];
  }
}

/**
 * @example
 * torch.nn.GRU(3, 4)(torch.ones([5, 2, 3]))[0].shape  // [5, 2, 4]
 */
export const GRU = /* @__PURE__ */ callable(GRUClass, "GRU", "step !, forward input hx?");

export type GRU = GRUClass;

export interface LSTMOptions extends RecurrentOptions {
  /** Size that the hidden state is projected to; 0: it is not. */
  proj_size?: number;
}

type Pair = readonly [h_0: Tensor, c_0: Tensor];

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
interface LSTMClass {
  (input: PackedSequence, hx?: Pair | null): [output: PackedSequence, state: [h_n: Tensor, c_n: Tensor]];
}

class LSTMClass extends RecurrentModule {
  /** Long short-term memories. */
  constructor(
    ...args: Arguments<
      [input_size: number, hidden_size: number],
      [num_layers: number, ...Places, proj_size: number, ...DeviceAndType],
      LSTMOptions,
      Sizes
    >
  ) {
    super(
      construct(
        "LSTM",
        { ...SIZES, num_layers: layers(1), ...USUAL, proj_size: size(0), ...DEVICE_AND_TYPE },
        args,
      ) as Settings,
      4,
    );
  }
  protected override get castAs(): string {
    return "lstm";
  }
  protected override step(input: Tensor, hidden: Tensor, [, cell]: State): State {
    return lstmStep(input, hidden, cell!);
  }
  /**
   * (time, batch, features), and two states (layers * directions, batch, size), to the outputs and the last states, of
   * such shapes.
   */
  override forward(
    input: PackedSequence,
    hx?: Pair | { hx?: Pair | null } | null,
  ): [output: PackedSequence, state: [h_n: Tensor, c_n: Tensor]];
  override forward(
    input: Tensor,
    hx?: Pair | { hx?: Pair | null } | null,
  ): [output: Tensor, state: [h_n: Tensor, c_n: Tensor]];
  override forward(
    input: Tensor | PackedSequence,
    hx?: Pair | { hx?: Pair | null } | null,
  ): [output: Tensor | PackedSequence, state: [h_n: Tensor, c_n: Tensor]] {
    const [out, last] = this.run(input, start<Pair>(hx) as State | null, [
      this.proj_size || this.hidden_size,
      this.hidden_size,
    ]);
    return [out, last as [Tensor, Tensor]];
  }
}

/**
 * @example
 * torch.nn.LSTM(3, 4)(torch.ones([5, 2, 3]))[0].shape  // [5, 2, 4]
 */
export const LSTM = /* @__PURE__ */ callable(LSTMClass, "LSTM", "step !, forward input hx?");

export type LSTM = LSTMClass;
