// An op whose result takes the place of its first argument's elements, and what the tape makes of that.

import { wayBackOf } from "../base/class-name.js";
import { can_cast } from "../../host/dtypes.js";
import { describe, OpError, TypeMismatchError } from "../base/errors.js";
import { sameShape, showShape } from "../base/shape.js";
import { binds, complexOnes, deviceOf, forward, place, planFor } from "../dispatch/call.js";
import { arrange, choose } from "../dispatch/op-arguments.js";
import { makeNode } from "../dispatch/program-run.js";
import { differentiable } from "../elements/dtype.js";
import { nextCall, type RandomSource } from "../elements/random.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { isRecording, unrecorded } from "../tape/grad-mode.js";
import { JoinNode, recording } from "../tape/node.js";
import { filledOn } from "../tensor/allocate.js";
import { clone, isPlain, replaceContent } from "../tensor/copy.js";
import { beforeInPlace } from "../tensor/in-place-checks.js";
import { alias, Tensor } from "../tensor/tensor.js";
import { recordInPlace } from "./in-place.js";
import { within } from "./written-within.js";

/** A function that runs the op among these that accepts the arguments, in place. */
export const inPlace =
  (...ops: readonly CompiledOp[]) =>
  (...args: unknown[]): Tensor =>
    runInPlace(choose(ops, args, binds), args);

/** Lets the op change elements of `x` itself, where it can; false where it needs a copy. */
function changeWithin(
  compiled: CompiledOp,
  x: Tensor,
  values: unknown[],
  tensors: readonly (Tensor | null)[],
  dtype: string,
): boolean {
  const slot = compiled.op.params[0]!.slot,
    writer = dtype === x.dtype && tensors[slot] === x ? within(compiled) : null;
  // what it reads must not lie where it writes
  if (!writer || tensors.some((t, i) => t && i !== slot && t.storage === x.storage)) return false;
  const plan = planFor(writer, values, x.storage.device);
  forward(plan, values, place(plan, values), null);
  return true;
}

/** Runs an op and replaces the elements of its first argument by the result; answers that argument. */
export function runInPlace(compiled: CompiledOp, args: readonly unknown[]): Tensor {
  const { op } = compiled,
    name = op.name.endsWith("_") ? op.name : `${op.name}_`,
    values = arrange(op, args),
    x = values[0];
  if (!(x instanceof Tensor)) throw new TypeMismatchError(`${name}: expected a tensor, got ${describe(x)}`);
  const complex = complexOnes(compiled, values);
  if (complex) return complex.runInPlace(compiled, values);
  const device = deviceOf(compiled, values),
    plan = planFor(compiled, values, device);
  if (compiled.itself?.(plan.call.env)) return x;
  beforeInPlace(x, name);
  const tensors = place(plan, values),
    bound = plan.call.slots[op.outputs[0]!]!;
  if (!sameShape(bound.shape, x.shape)) {
    throw new OpError(
      `${name}: output with shape ${showShape(x.shape)} doesn't match the broadcast shape ${showShape(bound.shape)}`,
    );
  }
  if (!can_cast(bound.dtype, x.dtype)) {
    throw new TypeMismatchError(
      `${name}: result type ${bound.dtype} can't be cast to the desired output type ${x.dtype}`,
    );
  }
  const random = op.random ? nextCall(values[op.params.length] as RandomSource | undefined) : null;
  const records = isRecording() && plan.differentiable && tensors.some((t) => t?.requires_grad);
  if (!records) {
    if (!changeWithin(compiled, x, values, tensors, bound.dtype)) {
      const [result] = forward(plan, values, tensors, random);
      replaceContent(x, result!);
      result!.dispose();
    }
    // What was there is gone, and what is there now depends on nothing (comparisons): zeros flow back.
    const from = [x, ...tensors.filter((t) => t !== x && t?.requires_grad)] as Tensor[];
    if (differentiable(x.dtype) && recording(...from)) {
      const given = from.map(({ shape, dtype }) => ({ shape, dtype }));
      recordInPlace(
        x,
        new JoinNode(wayBackOf(op.name), from, ([grad], wanted) =>
          given.map(({ shape, dtype }, i) =>
            grad && wanted[i] ? filledOn(grad.storage.device, shape, 0, dtype, "zeros") : null,
          ),
        ),
      );
    }
    return x;
  }
  // The way back may need what x was; a copy of it takes x's place on the tape.
  const before = unrecorded(() => clone(x)),
    known = tensors.map((t) => (t === x ? before : t));
  before.node = x.currentNode();
  before.outputNumber = x.outputNumber;
  // Gradients read it as a plan of the copy says, which lies otherwise in memory than a view does.
  const past = isPlain(x)
    ? plan
    : planFor(
        compiled,
        values.map((v) => (v === x ? before : v)),
        device,
      );
  const node = makeNode(past, 0, known, op.outputs, random);
  const result = unrecorded(() => forward(plan, values, tensors, random))[0]!;
  replaceContent(x, result);
  result.dispose();
  if (node) {
    recordInPlace(x, node);
    node.remember([x]);
    node.saveOutputs([alias(x)]);
  }
  return x;
}
