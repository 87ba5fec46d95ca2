// Functions and methods that the generated modules make: a name for several ops, methods on Tensor.

import { choose } from "./op-arguments.js";
import { binds, run, runInPlace } from "./call.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { Tensor } from "../tensor/tensor.js";

/** A function that runs the first of several ops whose parameters accept the arguments. */
export function overload(...ops: readonly CompiledOp[]): (...args: unknown[]) => unknown {
  return (...args) => run(choose(ops, args, binds), args);
}

/** Puts methods on Tensor: each name runs the op that accepts the tensor and the arguments. */
export function installMethods(table: Readonly<Record<string, readonly CompiledOp[]>>): void {
  for (const [name, ops] of Object.entries(table)) {
    define(name, function (this: Tensor, ...args: unknown[]) {
      const all = [this, ...args];
      return run(choose(ops, all, binds), all);
    });
  }
}

/** Puts in-place methods on Tensor: they replace the tensor's elements and answer the tensor. */
export function installInPlace(table: Readonly<Record<string, readonly CompiledOp[]>>): void {
  for (const [name, ops] of Object.entries(table)) {
    define(name, function (this: Tensor, ...args: unknown[]) {
      const all = [this, ...args];
      return runInPlace(choose(ops, all, binds), all);
    });
  }
}

function define(name: string, value: (this: Tensor, ...args: unknown[]) => unknown): void {
  Object.defineProperty(Tensor.prototype, name, { value, writable: true, configurable: true });
}
