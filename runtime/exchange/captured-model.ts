// A call of a model as a captured program, for who writes it down in another form: what it computes, from which tensors,
// under which names.

import { refuse } from "../base/argument-kinds.js";
import { original } from "../base/capturing.js";
import { OpError } from "../base/errors.js";
import { isOptions } from "../base/named-arguments.js";
import { type Recording, recorded } from "../capture/capture.js";
import { argumentsOf } from "../capture/guards.js";
import { type Program, type Result, type Step, touched } from "../capture/program.js";
import { get_rng_state, set_rng_state } from "../elements/random.js";
import { Module } from "../nn/module.js";
import type { Elements } from "../program/compiled-op.js";
import { no_grad } from "../tape/grad-mode.js";
import { clone } from "../tensor/copy.js";
import { Results } from "../tensor/results.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import { ExportedProgram } from "./exported-program.js";

/** A tensor that the program finds: its name, and the elements of its memory. */
export interface Found {
  readonly name: string;
  /** The tensor of that name; null: the memory has none. */
  readonly tensor: Tensor | null;
  readonly elements: Elements;
}

export interface CapturedModel {
  /** With the steps that results depend on, and no others. */
  readonly program: Program;
  readonly given: readonly Tensor[];
  /** What values of the program were before it, by their numbers. */
  readonly found: ReadonlyMap<number, Found>;
}

/** A model as something to call, and the names of its tensors. */
function callableOf(
  op: string,
  model: unknown,
): { call: (...args: unknown[]) => unknown; names: Map<Storage, [string, Tensor]> } {
  const module = model instanceof ExportedProgram ? model.module() : model,
    // what torch.compile answered stands for what it was given
    whole = (typeof module === "function" && (module as { [original]?: unknown })[original]) || module,
    names = new Map<Storage, [string, Tensor]>();
  if (typeof whole !== "function") refuse(op, "model", "a module, a function or an exported program", model);
  if (whole instanceof Module)
    for (const [name, tensor] of [...whole.named_parameters(), ...whole.named_buffers()])
      if (!names.has(tensor.storage)) names.set(tensor.storage, [name, tensor]);
  return { call: whole as (...args: unknown[]) => unknown, names };
}

/** Results in memory of their own: what is a view of an argument is none of the program's. */
function owned(result: unknown): unknown {
  if (result instanceof Tensor) return clone(result);
  if (Array.isArray(result) || result instanceof Results) return [...(result as Iterable<unknown>)].map(owned);
  return isOptions(result) ? Object.fromEntries(Object.entries(result).map(([name, x]) => [name, owned(x)])) : result;
}

/** What a call would do, which is not made: nothing is left of it. */
function rehearsed(op: string, call: (...args: unknown[]) => unknown, args: readonly unknown[]): Recording {
  const undo: (() => void)[] = [],
    random = get_rng_state();
  let found: Recording | null = null;
  try {
    const result = no_grad(() =>
      recorded(
        "the model",
        argumentsOf(args),
        () => owned(call(...args)),
        (recording) => {
          found = recording;
        },
        undo,
        op,
      ),
    );
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new OpError(`${op}: the model answers a promise: what it does depends on values, or on others`);
    }
  } finally {
    for (const action of undo.reverse()) action();
    set_rng_state(random);
  }
  const { trouble } = found!.recorder;
  if (trouble !== null) throw new OpError(`${op}: the model cannot be captured: ${trouble}`);
  return found!;
}

/** The values that results hold. */
export function held(result: Result, into = new Set<number>()): Set<number> {
  if (result.kind === "tensor") into.add(result.view.value);
  else if (result.kind === "list") for (const item of result.items) held(item, into);
  else if (result.kind === "named") for (const item of Object.values(result.items)) held(item, into);
  return into;
}

/** The steps that results depend on. */
function needed({ steps, result }: Program): Step[] {
  const used = held(result),
    kept: Step[] = [];
  for (const step of [...steps].reverse()) {
    const { reads, writes } = touched(step);
    if (!writes.some((value) => used.has(value))) continue;
    for (const value of reads) used.add(value);
    kept.push(step);
  }
  return kept.reverse();
}

/** The values whose elements are asked for before a program is exported. */
function outside(program: Program): number[] {
  const used = held(program.result);
  for (const step of program.steps)
    for (const value of [...touched(step).reads, ...touched(step).writes]) used.add(value);
  return program.values.flatMap(({ number, source }) =>
    used.has(number) && (source.kind === "captured" || source.kind === "constant" || source.kind === "gradient")
      ? [number]
      : [],
  );
}

/**
 * What `model` computes for `args`, which it is not called with: a module, a function, what torch.compile answered, or an
 * exported program.  `op`: who asks.  Throws OpError where values decide what it does.
 */
export async function capturedModel(op: string, model: unknown, args: readonly unknown[]): Promise<CapturedModel> {
  const { call, names } = callableOf(op, model),
    recording = rehearsed(op, call, args),
    program = { ...recording.program, steps: needed(recording.program) },
    found = new Map<number, Found>();
  for (const number of outside(program)) {
    const { source, length } = program.values[number]!;
    if (source.kind === "constant") found.set(number, { name: "constant", tensor: null, elements: source.elements });
    else if (source.kind === "captured") {
      const [name, tensor] = names.get(source.storage) ?? ["weight", null],
        elements = await source.storage.device.download(source.storage, 0, length);
      found.set(number, { name, tensor, elements });
    } else throw new OpError(`${op}: the model uses a gradient, which no model holds`);
  }
  return { program, given: recording.given, found };
}
