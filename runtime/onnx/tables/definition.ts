// What an operator of ONNX is here: a function of its inputs and attributes, and where its inputs lie.

import type { DType } from "../../elements/dtype.js";

/** What else an operator may need to know. */
export interface Context {
  /** Its name. */
  readonly op: string;
  /** The version of the set of operators that the model, or its function, is written in. */
  readonly version: number;
  /** Where it runs. */
  readonly device: string;
  /** Which of its outputs something uses. */
  readonly used: readonly boolean[];
  /** What is kept of an element type of this number; throws where there is none. */
  dtype(number: number): DType;
}

// Inputs in their order, null for those that are left out, and attributes by name: what they are, each operator says.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Inputs = any[];
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Attributes = any;
/** One output, or a list of all; an output that is a sequence is a list within that. */
export type Compute = (inputs: Inputs, attributes: Attributes, context: Context) => unknown;

export interface Definition {
  readonly compute: Compute;
  /** Which inputs are read as numbers: they stay where they are. */
  readonly host: readonly number[];
  readonly kind:
    | "values"
    /** The values of the first input alone count. */
    | "like"
    /** It says something of sizes alone. */
    | "sizes"
    /** Each time something else. */
    | "drawn"
    /** It runs graphs, or hands on what it gets: its inputs are left as they are. */
    | "as given";
}
export type Table = Readonly<Record<string, Compute | Definition>>;

const define =
  (kind: Definition["kind"]) =>
  (compute: Compute): Definition => ({ compute, host: [], kind });
export const sizes = define("sizes");
export const drawn = define("drawn");
export const asGiven = define("as given");
export const like = define("like");
/** `host`: which inputs are read as numbers. */
export const reading = (host: readonly number[], compute: Compute): Definition => ({ compute, host, kind: "values" });

/** The axis counted from the first. */
export const axisOf = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);
export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
