// torch.nn.functional.embedding_bag: sums, means and maxima of rows of a table, whose norms can be limited before.

import {
  embedding_bagOp,
  embedding_bag_maxOp,
  embedding_bag_rowsOp,
  embedding_bag_rows_maxOp,
} from "../../../ops/embedding_bag.js";
import { named } from "../../base/named-arguments.js";
import { binds, run } from "../../dispatch/call.js";
import { choose } from "../../dispatch/op-arguments.js";
import { unrecorded } from "../../tape/grad-mode.js";
import { tensorOf } from "../../tensor/tensor-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { embedding_renorm_ } from "./root-functions.js";

const OPS = [embedding_bagOp, embedding_bag_maxOp, embedding_bag_rowsOp, embedding_bag_rows_maxOp];
const NAMES = embedding_bagOp.op.params.map(({ name }) => name);

export interface BagOptions {
  /** Where each bag begins in `input`; null where its rows are bags. */
  offsets?: Tensor | null;
  /** Rows that are looked up and longer than this are made that long, in place. */
  max_norm?: number | null;
  norm_type?: number;
  scale_grad_by_freq?: boolean;
  mode?: "mean" | "sum" | "max";
  sparse?: boolean;
  per_sample_weights?: Tensor | null;
  include_last_offset?: boolean;
  padding_idx?: number | null;
}

/**
 * The sum, the mean or the largest of the rows that each bag names; `offsets` says where bags begin, with
 * `include_last_offset` also where the last one ends, or each row of `input` is one.
 *
 * @example
 * const rows = torch.tensor([[1], [3]]), bags = torch.tensor([[0, 1], [1, 1]], { dtype: torch.long });
 * torch.nn.functional.embedding_bag(bags, rows)  // [[2], [3]]
 */
export function embedding_bag(
  input: Tensor,
  weight: Tensor,
  offsets?: Tensor | null | BagOptions,
  options?: BagOptions,
): Tensor;
export function embedding_bag(...args: unknown[]): Tensor {
  const op = "embedding_bag",
    values = named(op, NAMES, args),
    options: Record<string, unknown> = {};
  NAMES.forEach((name, i) => {
    if (values[i] !== undefined) options[name] = values[i];
  });
  const { max_norm, norm_type, ...others } = options,
    chosen = choose(OPS, [others], binds);
  // Of a call that is refused, no row is made shorter.
  if (max_norm !== undefined && max_norm !== null && binds(chosen, [others])) {
    const [input, weight] = [tensorOf(values[0], op), tensorOf(values[1], op, "weight")];
    unrecorded(() => embedding_renorm_(weight.detach(), input, max_norm as number, (norm_type ?? 2) as number));
  }
  return run(chosen, [others]) as Tensor;
}
