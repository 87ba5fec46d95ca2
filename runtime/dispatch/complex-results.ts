// What ops give whose results are complex: kernels and the tape know pairs of float32.

import { wayBackOf } from "../base/class-name.js";
import { TypeMismatchError } from "../base/errors.js";
import type { CompiledOp, ComplexOp } from "../program/compiled-op.js";
import { complexOf } from "../tensor/recorded-pairs.js";
import { Results } from "../tensor/results.js";
import type { Tensor } from "../tensor/tensor.js";

/** A result as complex numbers; an op that was called with complex numbers has made them itself. */
function complexResult({ op: { name } }: CompiledOp, x: Tensor): Tensor {
  if (x.dtype === "complex64") return x;
  if (x.dtype !== "float32")
    throw new TypeMismatchError(
      `${name}: of ${x.dtype} the result is ${x.dtype === "float64" ? "complex128" : "complex32"}, which there is not`,
    );
  const out = complexOf(x, wayBackOf(name));
  x.dispose(); // nobody else has the pairs
  return out;
}

/** What a call has made: `which` has a 1 for each of its results that is complex. */
export function complexResults<T>(compiled: CompiledOp, made: T, which: string): T {
  const one = (x: Tensor, i: number): Tensor => (which[i] === "1" ? complexResult(compiled, x) : x);
  if (!(made instanceof Results)) return one(made as Tensor, 0) as T;
  return new Results(compiled.op.output_names, Array.from(made, one), compiled.op.name) as T;
}

/**
 * An op whose own parameters are complex: `takes` has a 1 for each of these, `gives` for each such result.  Among ops
 * of one name it is chosen by the ranks that complex tensors have, which is without the axis of the pairs.
 */
export function ofPairs(compiled: CompiledOp, takes: string, gives: string): CompiledOp {
  const { op } = compiled,
    complex = op.params.filter((_, i) => takes[i] === "1").map(({ slot }) => slot),
    slots = op.slots.map((slot, i) => (complex.includes(i) ? { ...slot, dims: slot.dims.slice(0, -1) } : slot)),
    pairs: ComplexOp = [compiled, takes, gives];
  return Object.create(compiled, { op: { value: { ...op, slots } }, pairs: { value: pairs } }) as CompiledOp;
}

/** An op that is linear in parameters, whose products are `terms`: complex numbers go through it by their parts. */
export const linear = (compiled: CompiledOp, terms: string): CompiledOp => Object.assign(compiled, { terms });

/** An op whose results are complex, with what complex numbers get in its place. */
export const instead = (compiled: CompiledOp, other: () => ComplexOp): CompiledOp =>
  Object.assign(compiled, { instead: other });
