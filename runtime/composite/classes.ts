// one_hot, which may count the classes itself.

import { run } from "../dispatch/call.js";
import { integer } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { one_hotOp } from "../../ops/index.js";
import { amax } from "../../names/torch.js";

/**
 * 1 at the place that each element names, 0 elsewhere.  Without `num_classes` they are counted: a promise where the
 * tensor is on a GPU.
 *
 * @param input tensor of whole numbers of any shape, from 0 on; the result has one axis more
 * @param num_classes how many classes there are, the length of the last axis; -1: as many as the largest says
 *
 * @example
 * torch.nn.functional.one_hot(torch.LongTensor([0, 2, 1]))  // [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
 * torch.nn.functional.one_hot(torch.LongTensor([1, 0]), 4)  // [[0, 1, 0, 0], [1, 0, 0, 0]]
 */
export function one_hot(input: Tensor, num_classes: number | { num_classes: number }): Tensor;
export function one_hot(input: Tensor, num_classes?: -1 | { num_classes?: -1 }): Tensor | Promise<Tensor>;
export function one_hot(...args: unknown[]): Tensor | Promise<Tensor> {
  const [input, given] = taken("one_hot tensor num_classes?", args),
    count = integer(given ?? -1, "one_hot", "num_classes");
  check(input, "one_hot", "input");
  const known = (classes: number) => run(one_hotOp, [input, classes]) as Tensor;
  if (count !== -1 && (count > 0 || input.numel() > 0)) return known(count);
  if (input.numel() === 0) throw new OpError("one_hot: Can not infer total number of classes from empty tensor.");
  const most = amax(input) as Tensor;
  if (input.device !== "cpu") return most.item().then((n) => known(Number(n) + 1));
  return known(Number(most.storage.elements[most.offset]) + 1);
}
