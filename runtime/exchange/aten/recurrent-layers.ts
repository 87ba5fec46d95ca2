// aten::lstm, gru, rnn_tanh and rnn_relu: whole recurrent layers, with the modules that have them here; and what pads
// their sequences.

import { meta } from "../../devices/meta-device.js";
import { functional_call } from "../../nn/functional-call.js";
import { GRU, LSTM, RNN } from "../../nn/layers/recurrent.js";
import type { Module } from "../../nn/module.js";
import { pad_sequence } from "../../nn/utils/padded.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Operator } from "../operators.js";

/** The module of these sizes, whose own weights are never used: they are of no memory. */
type Make = (input: number, hidden: number, options: Record<string, unknown>) => Module;

const layer =
  (make: Make, gates: number): Operator =>
  ({ args }) => {
    const [x, state, weights, biases, layers, dropout, train, bidirectional, batchFirst] = args as [
      Tensor,
      Tensor | Tensor[],
      Tensor[],
      boolean,
      number,
      number,
      boolean,
      boolean,
      boolean,
    ];
    const hidden = weights[0]!.shape[0]! / gates,
      projected = weights.length % (biases ? 5 : 3) === 0 && gates === 4 && weights[1]!.shape[1] !== hidden,
      names = [
        "weight_ih",
        "weight_hh",
        ...(biases ? ["bias_ih", "bias_hh"] : []),
        ...(projected ? ["weight_hr"] : []),
      ],
      ends = Array.from({ length: layers }, (_, k) => [`_l${k}`, ...(bidirectional ? [`_l${k}_reverse`] : [])]).flat();
    const module = make(weights[0]!.shape[1]!, hidden, {
      num_layers: layers,
      bias: biases,
      batch_first: batchFirst,
      dropout,
      bidirectional,
      device: meta,
      ...(projected ? { proj_size: weights[1]!.shape[1]! } : {}),
    });
    module.train(train);
    const given = Object.fromEntries(
      ends.flatMap((end, k) => names.map((n, i) => [n + end, weights[k * names.length + i]!])),
    );
    const [out, last] = functional_call(module, given, [x, state]) as [Tensor, Tensor | Tensor[]];
    return [out, ...(Array.isArray(last) ? last : [last])];
  };

export const RECURRENT: Readonly<Record<string, Operator>> = {
  "lstm.input": layer((i, h, o) => new LSTM(i, h, o), 4),
  "gru.input": layer((i, h, o) => new GRU(i, h, o), 3),
  "rnn_tanh.input": layer((i, h, o) => new RNN(i, h, { ...o, nonlinearity: "tanh" }), 1),
  "rnn_relu.input": layer((i, h, o) => new RNN(i, h, { ...o, nonlinearity: "relu" }), 1),
  pad_sequence: ({ args: [sequences, first = false, value = 0, side = "right"] }) =>
    pad_sequence(sequences as Tensor[], first as boolean, value as number, side as "left" | "right"),
};
