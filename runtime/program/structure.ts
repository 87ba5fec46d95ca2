// What a run of a program needs beside its call: which calls that differ in numbers only (a learning rate, the count of
// steps) share work, and which slots live only during the run.

import type { CompiledOp } from "./compiled-op.js";
import type { Call, Op } from "../../host/model.js";
import { sameShape } from "../base/shape.js";

/**
 * Whether two calls of one structure take the same course through a program: the same kernels over as many points, the
 * same constants in texts.  A number may decide a size (`scale_factor`).
 */
export function sameCourse(op: Op, program: number, a: Call, b: Call): boolean {
  if (a.dtype !== b.dtype || !a.slots.every((slot, i) => sameShape(slot.shape, b.slots[i]!.shape))) return false;
  for (const kernel of op.programs[program]!.kernels) {
    if (kernel.when && (kernel.when(a.env) !== 0) !== (kernel.when(b.env) !== 0)) return false;
    for (const loop of [...kernel.loops, ...kernel.rloops]) {
      if (loop.extent && loop.extent(a.env) !== loop.extent(b.env)) return false;
    }
  }
  for (const { name, kind } of op.params)
    if (/^(?:bool|choice)$/.test(kind) && a.env[name] !== b.env[name]) return false;
  return op.schedules.length === 0;
}

/**
 * Whether a slot lives only during a run: a temporary, or a gradient that others are computed from and nobody asked
 * for.
 */
export function passes(op: CompiledOp, slot: number, wanted: readonly number[]): boolean {
  const { role } = op.op.slots[slot]!;
  return role === "temp" || (role === "gradient" && !wanted.includes(slot));
}
