// What runs routines and bodies without WebAssembly; set by the data of ops that have some, so that other bundles leave
// it out.

import type { Kernel, Op } from "../../host/model.js";
import type { Elements } from "./compiled-op.js";

export type Scalar = (...numbers: number[]) => number;
export type Functions = Readonly<Record<string, Scalar>>;

/** Runs a body.  arrays: for each access the elements of its tensor; uniforms: the numbers that the body uses. */
export type RunBody = (arrays: readonly Elements[], uniforms: Readonly<Record<string, number>>) => void;

export interface Evaluator {
  /** Functions that an op's formulas may call besides `common`. */
  functions(op: Op, common: Functions): Functions;
  body(kernel: Kernel, op: Op, common: Functions): RunBody;
}

export const PROCEDURES: { evaluator: Evaluator | null } = { evaluator: null };
