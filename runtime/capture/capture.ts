// One call of a function that is recorded: the program of what it did, and when that stands for another call.

import { Tensor } from "../tensor/tensor.js";
import { get_rng_state } from "../elements/random.js";
import type { GradientLeft, Program, Result } from "./program.js";
import { type Arguments, Guards } from "./guards.js";
import { Recorder } from "./recorder.js";
import { recordWayBack } from "./way-back.js";

/** A recorded call.  `roots`: its results that require gradients, as long as the way back is not recorded. */
export interface Recording {
  readonly program: Program;
  readonly guards: Guards;
  readonly recorder: Recorder;
  readonly given: readonly Tensor[];
  readonly roots: readonly Tensor[];
  /** Whether the function answers a promise. */
  readonly async: boolean;
  /** Why it cannot be replayed; null: it can. */
  trouble: string | null;
}

/**
 * Listens while `body` runs, which may be asynchronous; `over` gets the recording before the caller gets the result.
 * `rehearsing`: devices do nothing, and what brings all else back is put there; `purpose`: what errors call that.
 */
export function recorded<T>(
  name: string,
  args: Arguments,
  body: () => T,
  over: (recording: Recording, result: unknown) => void,
  rehearsing: (() => void)[] | null = null,
  purpose?: string,
): T {
  const guards = new Guards(args),
    recorder = new Recorder(args.tensors, rehearsing, purpose),
    nodes = args.tensors.map((x) => x.currentNode()),
    { calls } = get_rng_state();
  const done = (result: unknown, async: boolean): void => {
    recorder.stop();
    const now = args.tensors.findIndex((x, i) => x.currentNode() !== nodes[i] && x.requires_grad);
    if (now >= 0) recorder.refuse(`tensor ${now} of the arguments is changed in place, and gradients go through that`);
    const own = recorder.draws.flatMap((source, i) => (source ? [] : [recorder.words[i]!]));
    if (own.some((words, i) => words.call !== calls + i)) recorder.refuse("the random numbers are seeded");
    over(finished(name, args, guards, recorder, result, async), result);
  };
  recorder.listen();
  let result: T;
  try {
    result = body();
  } catch (error) {
    recorder.stop();
    throw error;
  }
  if (!(result instanceof Promise)) {
    done(result, false);
    return result;
  }
  return result.then(
    (settled: unknown) => {
      done(settled, true);
      return settled;
    },
    (error: unknown) => {
      recorder.stop();
      throw error;
    },
  ) as T;
}

function finished(
  name: string,
  args: Arguments,
  guards: Guards,
  recorder: Recorder,
  answer: unknown,
  async: boolean,
): Recording {
  recorder.settle();
  const { tensors } = args,
    roots: Tensor[] = [],
    result = resultOf(answer, recorder, tensors, roots);
  const gradients: GradientLeft[] = [];
  for (const [of] of recorder.leaves) {
    if (recorder.forms(of)) continue;
    const now = of.ownGradient();
    if (now === recorder.leaves.get(of)!.before) continue;
    if (now && (!recorder.forms(now) || recorder.gives(now.storage)))
      recorder.refuse("a gradient becomes a tensor from outside");
    else if (now?.requires_grad) recorder.refuse("gradients can be differentiated again (create_graph)");
    gradients.push({ of: recorder.leaf(of), view: now && recorder.viewOf(now) });
  }
  guards.found(recorder, tensors);
  const disturbed = guards.disturbed(args);
  const { values, steps, hosts, draws } = recorder,
    marked = tensors.flatMap(({ requires_grad }, i) =>
      requires_grad === guards.inputs[i]!.requires_grad ? [] : [[i, requires_grad] as const],
    ),
    ahead = values.length;
  return {
    program: { name, values, steps, hosts, draws, result, gradients, marked, ahead, roots: [], back: null, apart: [] },
    guards,
    recorder,
    given: tensors,
    roots,
    async,
    trouble: recorder.trouble ?? disturbed ?? recorder.sideEffects,
  };
}

/** Records the way back of a call's results, where they require gradients. */
export function withWayBack({ program, recorder, roots, given }: Recording): string | null {
  if (roots.length) Object.assign(program, recordWayBack(recorder, roots, given));
  return recorder.trouble ?? recorder.sideEffects;
}

/** How a result is made of what a program computes; what gradients go through is put into `roots`. */
function resultOf(answer: unknown, recorder: Recorder, given: readonly Tensor[], roots: Tensor[]): Result {
  const known: Tensor[] = [];
  const of = (value: unknown): Result => {
    if (value instanceof Tensor) {
      const index = given.indexOf(value),
        number = known.indexOf(value);
      if (index >= 0) return { kind: "input", index };
      if (number >= 0) return { kind: "again", number };
      if (!recorder.forms(value)) return { kind: "same", value };
      if (recorder.gives(value.storage)) recorder.refuse("a result is a view of a tensor from outside");
      let root = -1;
      if (value.requires_grad) {
        if (value.currentNode()) root = roots.push(value) - 1;
        else recorder.refuse("a result is a leaf that requires gradients");
      }
      known.push(value);
      const gradient = value.ownGradient();
      return {
        kind: "tensor",
        view: recorder.viewOf(value),
        number: known.length - 1,
        root,
        gradient: gradient && recorder.viewOf(gradient),
      };
    }
    if (Array.isArray(value)) return { kind: "list", items: value.map(of) };
    if (typeof value === "object" && value !== null) {
      const items = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, of(item)]));
      if (Object.getPrototypeOf(value) === Object.prototype || value.constructor.name === "Results")
        return { kind: "named", items, like: value };
      recorder.refuse(`a result is a ${value.constructor.name}`);
    } else if (typeof value === "function") recorder.refuse("a result is a function");
    return { kind: "same", value };
  };
  return of(answer);
}
