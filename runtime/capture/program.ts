// A captured program: what a function told devices to do, as data.  Nothing of it is code or belongs to a device; what
// plans and rewrites programs reads and makes these types, and capture/replay.ts runs them.

import type { Work } from "../../fusion/work.js";
import type { AutogradError } from "../base/errors.js";
import type { HostStep } from "../base/capturing.js";
import type { Device, Prepared } from "../devices/device.js";
import type { DType } from "../elements/dtype.js";
import type { RandomSource } from "../elements/random.js";
import type { Elements } from "../program/compiled-op.js";
import type { Storage } from "../tensor/storage.js";
import type { Tensor } from "../tensor/tensor.js";

/** A leaf of the tape: the index-th tensor given to the function, or one that was there before. */
export type Leaf = number | Tensor;

/** Where the memory of a value is. */
export type Source =
  /** That of the index-th tensor given to the function, or of the index-th gradient that comes back to its results. */
  | { readonly kind: "input" | "cotangent"; readonly index: number }
  /** What was there before: parameters, buffers, what optimizers keep. */
  | { readonly kind: "captured"; readonly storage: Storage; readonly departures: number }
  /** That of the gradient that a leaf has when the function is called. */
  | { readonly kind: "gradient"; readonly of: Leaf }
  /** Elements that the program brings; `storage`: where they were first. */
  | { readonly kind: "constant"; readonly elements: Elements; readonly storage: Storage }
  /** Made inside. */
  | { readonly kind: "made" };

/** A block of memory that steps read and write, of one type; which tensors see of it stands in the steps. */
export interface Value {
  readonly number: number;
  source: Source;
  readonly device: Device;
  readonly dtype: DType;
  /** Elements. */
  readonly length: number;
}

/** Elements of a value as a tensor sees them. */
export interface View {
  readonly value: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

/** A launch of one program of an op: 0 forward, 1 its gradients, 2 theirs. */
export interface RunStep {
  readonly kind: "run";
  readonly prepared: Prepared;
  /** The value of each slot of the op; -1: none. */
  readonly slots: readonly number[];
  /** Which draw of random numbers it takes; -1: none. */
  readonly draw: number;
  /** The host step, and which of its lists, that says its numbers. */
  readonly fed: { readonly host: number; readonly list: number } | null;
  /** What it does in one; null: it is one step. */
  readonly joined: Joined | null;
}

/** Several steps as one, as the compiler has made it; `parts[n]` is the step of `work.parts[n]`. */
export interface Joined {
  readonly work: Work;
  readonly parts: readonly Step[];
}

export type Step =
  | RunStep
  | { readonly kind: "fill"; readonly value: number; readonly number: number }
  | { readonly kind: "copy"; readonly target: View; readonly source: View }
  /** The value, which is none of the program's own, counts a change. */
  | { readonly kind: "change"; readonly value: number }
  /** The element must not be zero. */
  | { readonly kind: "check"; readonly value: number; readonly offset: number; readonly refusal: string }
  /** What a GPU will tell of `by` concerns `value`. */
  | { readonly kind: "blame"; readonly value: number; readonly by: number };

/** What a result of the function is. */
export type Result =
  /** `root`: which of the roots of the way back, -1 for none.  `gradient`: what it has in `.grad`. */
  | {
      readonly kind: "tensor";
      readonly view: View;
      readonly number: number;
      readonly root: number;
      readonly gradient: View | null;
    }
  /** The tensor of that number, another time. */
  | { readonly kind: "again"; readonly number: number }
  | { readonly kind: "input"; readonly index: number }
  | { readonly kind: "same"; readonly value: unknown }
  | { readonly kind: "list"; readonly items: readonly Result[] }
  | { readonly kind: "named"; readonly items: Readonly<Record<string, Result>>; readonly like: object };

/** The gradient with which a leaf is left. */
export interface GradientLeft {
  readonly of: Leaf;
  readonly view: View | null;
}

/** The way back from results to what they depend on, as steps on values of the same program. */
export interface WayBack {
  readonly steps: readonly Step[];
  /** The results that gradients come to, by their numbers among those that a way leads back from. */
  readonly roots: readonly (readonly [root: number, view: View])[];
  /** Where they go, and the gradient there, null for none. */
  readonly targets: readonly { readonly to: Leaf; readonly gradient: View | null }[];
}

export interface Program {
  readonly name: string;
  readonly values: readonly Value[];
  readonly steps: readonly Step[];
  hosts: readonly HostStep[];
  /** Where each draw of random numbers comes from: null for the package's own. */
  readonly draws: readonly (RandomSource | null)[];
  readonly result: Result;
  readonly gradients: readonly GradientLeft[];
  /** Which of the tensors given require gradients afterwards, or no longer do. */
  readonly marked: readonly (readonly [index: number, requires_grad: boolean])[];
  /** How many of the values the way forward has; those after them are the way back's. */
  readonly ahead: number;
  /** Of each result that requires gradients: which root of the way back it is, or why there is none. */
  roots: readonly (number | AutogradError)[];
  /** From all of them. */
  back: WayBack | null;
  /** From each by itself, where there are several: what others depend on has no gradient then. */
  apart: readonly WayBack[];
}

/** A leaf of a call with these tensors. */
export const leafIn = (leaf: Leaf, given: readonly Tensor[]): Tensor =>
  typeof leaf === "number" ? given[leaf]! : leaf;

/** The values that steps read so that others are written. */
export function neededFor(written: ReadonlySet<number>, steps: readonly Step[]): Set<number> {
  const needed = new Set(written);
  for (let i = steps.length - 1; i >= 0; i--) {
    const { reads, writes } = touched(steps[i]!);
    if (writes.some((value) => needed.has(value))) for (const value of [...reads, ...writes]) needed.add(value);
  }
  return needed;
}

/** The values that a step reads, and those that it writes (in part, or whole). */
export function touched(step: Step): { readonly reads: readonly number[]; readonly writes: readonly number[] } {
  switch (step.kind) {
    case "run": {
      const {
          prepared: {
            op: { op },
            program,
            changes,
          },
          slots,
        } = step,
        of = (list: readonly number[]): number[] => list.map((slot) => slots[slot]!).filter((value) => value >= 0),
        written = of([...(program === 0 ? op.outputs : op.programs[program]!.outputs), ...changes]);
      return {
        reads: slots.filter((value) => value >= 0 && !written.includes(value)).concat(of(changes)),
        writes: written,
      };
    }
    case "fill":
      return { reads: [], writes: [step.value] };
    case "copy":
      return { reads: [step.source.value], writes: [step.target.value] };
    case "change":
      return { reads: [], writes: [step.value] };
    case "check":
      return { reads: [step.value], writes: [] };
    case "blame":
      return { reads: [step.by, step.value], writes: [] };
  }
}
