// Functions that take the option `inplace`, as some of torch.nn.functional do.

import { flag } from "../base/argument-kinds.js";
import { given as value, isOptions } from "../base/named-arguments.js";
import { binds, run } from "../dispatch/call.js";
import { choose } from "../dispatch/op-arguments.js";
import type { CompiledOp } from "../program/compiled-op.js";
import type { Tensor } from "../tensor/tensor.js";
import { runInPlace } from "./run-in-place.js";
import { copy_ } from "./transfer.js";

type InPlace = (
  input: Tensor,
  options: { inplace: boolean; [name: string]: number | boolean | null | undefined },
) => Tensor;

/**
 * A function of ops, which puts its result into the input with `inplace`, the last one by position, and answers that.
 * `copied`: whether the ops cannot write there themselves.
 */
export function orInPlace<F>(_function: F, copied: boolean, ...ops: readonly CompiledOp[]): F & InPlace {
  let most = 0;
  return ((...args: unknown[]): unknown => {
    const last = args[args.length - 1];
    most ||= Math.max(...ops.map(({ op }) => op.params.filter((p) => !p.keyword).length));
    let inplace: unknown = false;
    if (isOptions(last) && "inplace" in last) {
      const { inplace: given, ...rest } = last;
      args[args.length - 1] = rest;
      inplace = value("inplace", "inplace", given);
    } else if (args.length === most + 1 && typeof last === "boolean") inplace = args.pop();
    const op = choose(ops, args, binds);
    if (!flag(inplace, op.op.name, "inplace")) return run(op, args);
    if (!copied) return runInPlace(op, args);
    const made = run(op, args) as Tensor;
    return made === args[0] ? made : copy_(args[0] as Tensor, made);
  }) as F & InPlace;
}
