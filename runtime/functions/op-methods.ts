// Methods on tensors that the generated modules make, each of the ops of one name.

import { binds, run } from "../dispatch/call.js";
import { choose } from "../dispatch/op-arguments.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { Tensor } from "../tensor/tensor.js";
import { inPlace } from "../views/run-in-place.js";

/** Puts methods on Tensor: each name runs the op that accepts the tensor and the arguments. */
export function installMethods(table: Readonly<Record<string, readonly CompiledOp[]>>): void {
  for (const [name, ops] of Object.entries(table)) {
    define(name, function (this: Tensor, ...args: unknown[]) {
      const all = [this, ...inOrder(ops, args)];
      return run(choose(ops, all, binds), all);
    });
  }
}

/** Puts in-place methods on Tensor: they replace the tensor's elements and answer the tensor. */
export function installInPlace(table: Readonly<Record<string, readonly CompiledOp[]>>): void {
  for (const [name, ops] of Object.entries(table)) {
    const run = inPlace(...ops);
    define(name, function (this: Tensor, ...args: unknown[]) {
      return run(this, ...inOrder(ops, args));
    });
  }
}

/**
 * Arguments in the order of today.  Until PyTorch 1.5 a factor stood before the tensors that it multiplies, which it
 * still may there: `x.add_(-lr, grad)`, `x.addmm_(1, -2, a, b)`.
 */
function inOrder([{ op }]: readonly CompiledOp[], args: unknown[]): unknown[] {
  if (typeof args[0] !== "number") return args;
  const factors = op.params.filter((p) => p.keyword && p.kind === "num"),
    numbers = args.filter((x) => typeof x === "number"),
    tensors = args.filter((x) => x instanceof Tensor),
    most = factors.length;
  return tensors.length === args.length - numbers.length &&
    tensors.length + 1 === op.params.length - most &&
    numbers.length <= most
    ? [...tensors, Object.fromEntries(numbers.map((x, i) => [factors[i]!.name, x]))]
    : args;
}

function define(name: string, value: (this: Tensor, ...args: unknown[]) => unknown): void {
  Object.defineProperty(Tensor.prototype, name, { value, writable: true, configurable: true });
}
