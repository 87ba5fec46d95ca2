// Ops that answer their first argument, and no copy of it, in calls that change nothing: dropout where nothing is left out.

import type { CompiledOp } from "../program/compiled-op.js";

/** The op, which answers its first argument in calls of which `when` holds. */
export const itself = (compiled: CompiledOp, when: NonNullable<CompiledOp["itself"]>): CompiledOp =>
  Object.assign(compiled, { itself: when });
