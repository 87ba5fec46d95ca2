// Who records what a function does while torch.compile captures it (capture/recorder.ts).  The runtime tells it of what
// no device sees: which memory is made, exchanged, or looked at by the program; while nobody records, nobody is asked.

import type { CompiledOp } from "../program/compiled-op.js";
import type { RandomWords } from "../devices/device.js";
import type { RandomSource } from "../elements/random.js";
import type { Storage } from "../tensor/storage.js";
import type { Tensor } from "../tensor/tensor.js";

/** Numbers by the names of an op's options. */
export type Numbers = Readonly<Record<string, unknown>>;

/** What the program itself does between two calls of devices, and does again when they are replayed. */
export interface HostStep {
  readonly name: string;
  /** Whether it reads options that a `late` one changes, which must come after it. */
  readonly late: boolean;
  /**
   * The numbers of its launches the next time, and what else it does then; null where it would launch something else.
   * `pending`: what steps before it will have changed of the numbers that they keep.
   */
  next(pending: Map<object, object>): { readonly numbers: readonly Numbers[]; commit(): void } | null;
}

/** What a step of an optimizer depends on and changes. */
export interface Stepping {
  readonly state: Map<Tensor, Record<string, unknown>>;
  readonly param_groups: readonly ({ readonly params: readonly Tensor[] } & object)[];
  stepCount: number;
}

/** What a module keeps beside its own properties: hooks, and buffers by name. */
export interface KeptByModule {
  readonly hooks: object;
  readonly buffers: ReadonlyMap<string, unknown>;
}

/** One launch of a step, for parameters with the same numbers. */
export interface Launched {
  readonly op: CompiledOp;
  readonly words: Record<string, number | boolean>;
  readonly params: readonly Tensor[];
}
/** The launches of an optimizer's step for one group, and how a replay computes their numbers anew. */
export interface Launching {
  readonly state: ReadonlyMap<Tensor, Record<string, unknown>>;
  readonly moved: readonly Tensor[];
  readonly before: readonly Launched[];
  group(): Record<string, unknown> | undefined;
  /** Whether nothing is missing of what is kept for a parameter. */
  isComplete(param: Tensor, options: Record<string, unknown>): boolean;
  /** Counts a step, of the states that `stateOf` answers. */
  cohorts(options: Record<string, unknown>, stateOf: (param: Tensor) => object): readonly Launched[];
  numbersOf(launched: Launched, options: Record<string, unknown>): Numbers;
}

export interface Capturing {
  made(storage: Storage): void;
  /** A tensor is made, on whatever memory. */
  formed(tensor: Tensor): void;
  changed(storage: Storage): void;
  /** Whether the memory is to be exchanged. */
  swapped(a: Storage, b: Storage): boolean;
  /** The program reads elements. */
  read(storage: Storage): void;
  /** A tensor's gradient is asked for, or about to be set. */
  gradient(of: Tensor, set: boolean): void;
  /** An op is about to run on these. */
  uses(tensors: readonly (Tensor | null)[]): void;
  drew(words: RandomWords, source: RandomSource | null): void;
  /** A module is called; `kept` is what it keeps beside its properties. */
  reached(module: object, kept: KeptByModule): void;
  /** How often memory, a gradient or what an optimizer keeps was changed until now. */
  readonly changes: number;
  /** A hook answers nothing: it may keep what it sees, which a replay would not. */
  sideEffect(): void;
  /** An element is asked for that must not be zero; what is wrong else. */
  asked(storage: Storage, offset: number, refusal: string): void;
  /** What kernels tell of `by` concerns `storage`. */
  blamed(storage: Storage, by: Storage): void;
  /**
   * An optimizer is about to take the step `update`; `fed`: a replay computes the numbers of its launches anew from its
   * options.
   */
  stepping(optimizer: Stepping, hooks: readonly ReadonlySet<unknown>[], fed: boolean, update: () => void): void;
  /** Answers the number of the step that an optimizer takes for one group. */
  launching(name: string, how: Launching): number;
  /** Answers the step's number. */
  host(step: HostStep): number;
  /** Does what a replay does again, which launches nothing. */
  again(name: string, action: () => void): void;
  /** From now on launches have the numbers of list `list` of a host step; of none where that is -1. */
  feed(step: number, list: number): void;
  /** A generator is about to draw. */
  drawing(source: RandomSource): void;
  /** Takes what brings the program's own numbers back, where nothing shall be left of a call; null: all of it is meant. */
  readonly undo: ((action: () => void) => void) | null;
  /** Does what a replay need not do again, as it depends on nothing that changes; nothing of it is recorded. */
  apart<T>(work: () => T): T;
  /** Something happens that no replay can do. */
  refuse(why: string): void;
}

/** Makes what calls a module in its place, once torch.compile is there; `options` in the order of its own. */
export type Compiler = (
  name: string,
  call: (...args: unknown[]) => unknown,
  options: readonly unknown[],
) => ((...args: unknown[]) => unknown) & {
  /** Compiles what a call with such arguments needs, which it does not make. */
  warmup(...args: unknown[]): Promise<void>;
};
export let compiler: Compiler | null = null;
export function compileWith(by: Compiler): void {
  compiler = by;
}
/** The module that a compiled one stands for. */
export const original: unique symbol = /* @__PURE__ */ Symbol("original");

export let capturing: Capturing | null = null;

export function captureInto(by: Capturing | null): void {
  capturing = by;
}
