// Calls that differ in numbers only (a learning rate, the count of steps): the same work with other words.

import type { Call, Op } from "../host/model.js";

/** Whether two calls of one structure take the same course through a program: the same nests, the same constants in texts. */
export function sameCourse(op: Op, program: number, a: Call, b: Call): boolean {
  if (a.dtype !== b.dtype) return false;
  for (const nest of op.programs[program]!.nests) {
    if (nest.when && (nest.when(a.env) !== 0) !== (nest.when(b.env) !== 0)) return false;
    for (const name of nest.statics) if (a.env[name] !== b.env[name]) return false;
  }
  return op.schedules.length === 0;
}
