// torch.compile: a function that is recorded, and replayed once two calls have said the same.

import { flag } from "../base/argument-kinds.js";
import { capturing, original } from "../base/capturing.js";
import { TypeMismatchError, OpError, describe } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { registeredDevices } from "../devices/device.js";
import { difference } from "./agree.js";
import { type Recording, recorded, withWayBack } from "./capture.js";
import { showProgram } from "./explain.js";
import { type Arguments, type Guards, argumentsOf } from "./guards.js";
import { MISSED, Replay } from "./replay.js";
import { verified } from "./verify.js";

const MODES = ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "verify"] as const;

export interface CompileOptions {
  /** Throws where a call cannot be captured, instead of running it as it is. */
  fullgraph?: boolean;
  dynamic?: boolean | null;
  /** "verify": the function runs beside each tenth replay, and results are compared. */
  mode?: (typeof MODES)[number] | null;
  backend?: string;
  options?: Record<string, unknown> | null;
  disable?: boolean;
}

/** Programs of a function, and calls in a row that were recorded and are like none before. */
const MOST_PROGRAMS = 8,
  MOST_RECORDINGS = 8;
/** With "verify" the function runs beside the first replay and each so many after it. */
const EACH = 10;

type Callable = (this: unknown, ...args: unknown[]) => unknown;

interface Entry {
  guards: Guards;
  readonly replay: Replay;
  readonly async: boolean;
}

/** What was done with a compiled function's calls. */
export interface CompileCounts {
  recordings: number;
  replays: number;
  programs: number;
  /** Calls that ran as they are. */
  eager: number;
}

const all = new Set<WeakRef<Compiled>>();
let disabled = 0;

export class Compiled {
  private entries: Entry[] = [];
  private candidates: Recording[] = [];
  private alone = 0;
  private why: string | null = null;
  private said = false;
  private failure: Error | null = null;
  readonly counts: CompileCounts = { recordings: 0, replays: 0, programs: 0, eager: 0 };

  constructor(
    readonly name: string,
    private readonly f: Callable,
    private readonly fullgraph: boolean,
    private readonly verify: boolean,
  ) {
    all.add(new WeakRef(this));
  }

  call(self: unknown, args: unknown[]): unknown {
    const run = (): unknown => Reflect.apply(this.f, self, args);
    if (capturing || disabled) return run();
    if (this.failure) {
      const error = this.failure;
      this.failure = null;
      throw error;
    }
    const given = argumentsOf(args);
    for (const entry of this.entries) {
      if (entry.guards.broken(given) !== null) continue;
      if (this.verify && entry.replay.count % EACH === 0)
        return verified(this.name, entry.replay, given, run, (error) => {
          this.failure = error;
        });
      const result = entry.replay.run(given.tensors);
      if (result === MISSED) continue;
      this.counts.replays++;
      return entry.async ? settled(result) : result;
    }
    if (this.why !== null) {
      this.counts.eager++;
      return run();
    }
    return this.record(given, run);
  }

  private record(given: Arguments, run: () => unknown): unknown {
    this.counts.recordings++;
    return recorded(this.name, given, run, (recording) => {
      this.take(recording);
    });
  }

  private take(recording: Recording): void {
    if (recording.trouble !== null) return this.giveUp(recording.trouble);
    const { program, guards } = recording;
    for (const entry of this.entries) {
      if (difference(entry.replay.program, program) !== null) continue;
      guards.meets(entry.guards);
      entry.guards = guards;
      entry.replay.program.hosts = program.hosts;
      return;
    }
    let why = "";
    for (const other of this.candidates) {
      const found = difference(other.program, program);
      if (found !== null) {
        why = found;
        continue;
      }
      if (this.entries.length >= MOST_PROGRAMS)
        return this.giveUp(`there are ${MOST_PROGRAMS} programs of it for other arguments already`);
      const trouble = withWayBack(recording);
      if (trouble !== null) return this.giveUp(trouble);
      guards.meets(other.guards);
      this.candidates.splice(this.candidates.indexOf(other), 1);
      this.alone = 0;
      this.entries.push({ guards, replay: new Replay(program), async: recording.async });
      this.counts.programs++;
      return;
    }
    if (++this.alone >= MOST_RECORDINGS) return this.giveUp(`each call does something else: ${why}`);
    this.candidates.push(recording);
    if (this.candidates.length > MOST_RECORDINGS) this.candidates.shift();
  }

  /** From now on calls that no program stands for run as they are. */
  private giveUp(why: string): void {
    this.why = why;
    this.candidates = [];
    if (this.fullgraph) {
      this.why = null;
      throw new OpError(`torch.compile: ${this.name} cannot be captured: ${why}`);
    }
    if (this.said) return;
    this.said = true;
    console.warn(`torch.compile: ${this.name} runs as it is: ${why}`);
  }

  /** Forgets all programs. */
  reset(): void {
    // Their memory goes back with them: gradients may be on their way still.
    this.entries = [];
    this.candidates = [];
    this.alone = 0;
    this.why = this.failure = null;
    this.said = false;
    Object.assign(this.counts, { recordings: 0, replays: 0, programs: 0, eager: 0 });
  }

  explain(): string {
    const { recordings, replays, eager } = this.counts,
      head = `${this.name}: ${this.entries.length} programs, ${recordings} calls recorded, ${replays} replayed, ${eager} run as they are`;
    return [
      head,
      ...(this.why === null ? [] : [`runs as it is: ${this.why}`]),
      ...this.entries.map(({ replay }) => showProgram(replay)),
    ].join("\n\n");
  }
}

/** What an async function answers: when memory has piled up, after the collector had its turn. */
async function settled(result: unknown): Promise<unknown> {
  for (const device of registeredDevices()) await device.relax();
  return result;
}

const known = new WeakMap<object, Compiled>();

/** The compiled form of a function or of a module, which is called as it is. */
export function compiledOf(model: object, options: CompileOptions, name: string): Compiled {
  const fullgraph = flag(options.fullgraph ?? false, "compile", "fullgraph"),
    { mode = null } = options;
  if (mode !== null && !MODES.includes(mode))
    throw new TypeMismatchError(
      `compile: argument 'mode' must be one of ${MODES.map((m) => `"${m}"`).join(", ")}, got ${describe(mode)}`,
    );
  return new Compiled(name, model as Callable, fullgraph, mode === "verify");
}

/**
 * A function, or module, that does what `model` does with less work: its first two calls are recorded, and later ones
 * with like arguments repeat what they did on the device, without running its code.
 */
export function compile<F extends (...args: never[]) => unknown>(model: F, options?: CompileOptions): F;
export function compile(options?: CompileOptions): <F extends (...args: never[]) => unknown>(model: F) => F;
export function compile(...args: unknown[]): unknown {
  const [model, fullgraph, dynamic, backend, mode, options, disable] = taken(
    "compile model? fullgraph? dynamic? backend? mode? options? disable?",
    args,
  ) as [unknown, boolean?, boolean?, string?, CompileOptions["mode"]?, Record<string, unknown>?, boolean?];
  const given: CompileOptions = { fullgraph, dynamic, backend, mode, options, disable } as CompileOptions;
  if (model === undefined || model === null)
    return (f: Callable) =>
      compile(f as never, Object.fromEntries(Object.entries(given).filter(([, x]) => x !== undefined)));
  if (typeof model !== "function" || isOptions(model))
    throw new TypeMismatchError(`compile: argument 'model' must be a function or a module, got ${describe(model)}`);
  if (disable) return model;
  const named = typeof (model as { forward?: unknown }).forward === "function" ? model.constructor.name : model.name,
    compiled = compiledOf(model, given, named || "a function");
  const out: object = new Proxy(model, {
    apply: (_, self, given: unknown[]) => compiled.call(self, given),
    get: (target, key, self) => (key === original ? target : (Reflect.get(target, key, self) as unknown)),
  });
  known.set(out, compiled);
  return out;
}

// --- torch.compiler -----------------------------------------------------------------------------------

/** Forgets what all compiled functions have recorded. */
export function reset(): void {
  taken("reset", arguments);
  for (const reference of all) {
    const compiled = reference.deref();
    if (compiled) compiled.reset();
    else all.delete(reference);
  }
}

/** Whether a call is being recorded. */
export function is_compiling(): boolean {
  taken("is_compiling", arguments);
  return capturing !== null;
}

/** A function that is never recorded: a compiled one that calls it runs as it is. */
export function disable<F extends (...args: never[]) => unknown>(
  fn: F,
  _options?: { recursive?: boolean; reason?: string | null },
): F;
export function disable(...args: unknown[]): unknown {
  const [fn] = taken("disable fn recursive? reason?", args) as [Callable];
  if (typeof fn !== "function")
    throw new TypeMismatchError(`disable: argument 'fn' must be a function, got ${describe(fn)}`);
  return function (this: unknown, ...given: unknown[]): unknown {
    capturing?.refuse(`${fn.name || "a function"} is not to be compiled`);
    disabled++;
    try {
      return fn.apply(this, given);
    } finally {
      disabled--;
    }
  };
}

/** What became of a compiled function, as text: its programs with their steps, memory and launches. */
export function explain(f: unknown): string {
  [f] = taken("explain f", arguments);
  return compiledFrom(f, "explain").explain();
}

/** How many calls of a compiled function were recorded, replayed, or run as they are, and how many programs it has. */
export function counts(f: unknown): CompileCounts {
  [f] = taken("counts f", arguments);
  return { ...compiledFrom(f, "counts").counts };
}

function compiledFrom(f: unknown, op: string): Compiled {
  const found = typeof f === "function" ? known.get(f) : undefined;
  if (!found)
    throw new TypeMismatchError(`${op}: argument 'f' must be what torch.compile answered, got ${describe(f)}`);
  return found;
}
