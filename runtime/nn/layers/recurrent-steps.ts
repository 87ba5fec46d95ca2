// One step of each kind of recurrent network, after the matrix products; the formulas are in ops/recurrent.op.

import { run } from "../../dispatch/call.js";
import type { Tensor } from "../../tensor/tensor.js";
import { add } from "../../../names/torch.js";
import { gru_stepOp, lstm_stepOp, rnn_stepOp } from "../../../ops/recurrent.js";

export type Nonlinearity = "tanh" | "relu";

export const rnnStep = (input: Tensor, hidden: Tensor, nonlinearity: Nonlinearity): Tensor =>
  run(rnn_stepOp, [input, hidden, nonlinearity]) as Tensor;
export const gruStep = (input: Tensor, hidden: Tensor, before: Tensor): Tensor =>
  run(gru_stepOp, [input, hidden, before]) as Tensor;
/** The hidden state and the cell.  Both products have one gradient, which the sum hands on. */
export function lstmStep(input: Tensor, hidden: Tensor, cell: Tensor): [hidden: Tensor, cell: Tensor] {
  return [...(run(lstm_stepOp, [add(input, hidden), cell]) as unknown as Iterable<Tensor>)] as [Tensor, Tensor];
}
