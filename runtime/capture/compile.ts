// torch.compile: a function that is recorded, and replayed once two calls have said the same.

import { nameOf } from "../base/class-name.js";
import { flag, refuse } from "../base/argument-kinds.js";
import { capturing, original } from "../base/capturing.js";
import { TypeMismatchError, OpError, describe } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { registeredDevices } from "../devices/device.js";
import { difference } from "./agree.js";
import { type Recording, recorded, withWayBack } from "./capture.js";
import { type Candidate, Entries, Entry } from "./entry.js";
import { showProgram } from "./explain.js";
import { drawPrograms } from "./picture.js";
import { type Arguments, argumentsOf } from "./guards.js";
import { MISSED } from "./replay.js";
import { verified } from "./verify.js";
import { warmed } from "./warmup.js";

const MODES = ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "verify"] as const;

export interface CompileOptions {
  /** Throws where a call cannot be captured, instead of running it as it is. */
  fullgraph?: boolean;
  /**
   * Whether sizes vary from call to call: null (the default) finds out, false keeps to few sizes and `true` goes on
   * however seldom one comes again.
   */
  dynamic?: boolean | null;
  /** "verify": the function runs beside each tenth replay, and results are compared. */
  mode?: (typeof MODES)[number] | null;
  backend?: string;
  options?: Record<string, unknown> | null;
  disable?: boolean;
}

/** Programs of a function: where sizes are not dynamic, and where they are. */
const MOST_PROGRAMS = 8,
  MOST_SIZES = 64;
/** Calls in a row that were recorded and are like none of the same sizes before. */
const MOST_RECORDINGS = 8;
/** With "verify" the function runs beside the first replay and each so many after it. */
const EACH = 10;

type Callable = (this: unknown, ...args: unknown[]) => unknown;

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
  private entries: Entries;
  private candidates: Candidate[] = [];
  private alone = 0;
  /** Calls in a row that no program stood for. */
  private missed = 0;
  private why: string | null = null;
  private said = false;
  private failure: Error | null = null;
  readonly counts: CompileCounts = { recordings: 0, replays: 0, programs: 0, eager: 0 };

  constructor(
    readonly name: string,
    private readonly f: Callable,
    private readonly fullgraph: boolean,
    private readonly verify: boolean,
    private readonly dynamic: boolean | null,
  ) {
    this.entries = this.none();
    all.add(new WeakRef(this));
  }

  private none(): Entries {
    return new Entries(this.dynamic === false ? MOST_PROGRAMS : MOST_SIZES);
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
    for (const entry of this.entries.of(given)) {
      this.missed = 0;
      if (this.verify && entry.replay.count % EACH === 0)
        return verified(this.name, entry.replay, given, run, (error) => {
          this.failure = error;
        });
      const result = entry.replay.run(given.tensors);
      if (result === MISSED) {
        entry.missed++;
        continue;
      }
      entry.missed = 0;
      this.counts.replays++;
      return entry.async ? settled(result) : result;
    }
    if (this.why !== null) {
      this.counts.eager++;
      return run();
    }
    return this.record(given, run);
  }

  /** Compiles what calls like this one need, which it does not make. */
  async warm(self: unknown, args: readonly unknown[]): Promise<void> {
    if (capturing) throw new OpError(`${this.name}.warmup: a call is being captured`);
    const given = argumentsOf(args);
    if (this.why !== null) return;
    for (const _ of this.entries.of(given)) return;
    const run = (words: readonly unknown[]): unknown => Reflect.apply(this.f, self, words);
    const entry = await warmed(this.name, args, run, this.entries.blocks);
    if (entry && (this.dynamic !== false || this.entries.length < MOST_PROGRAMS)) this.keep(entry);
  }

  private keep(entry: Entry): void {
    this.entries.add(entry);
    this.counts.programs++;
  }

  private record(given: Arguments, run: () => unknown): unknown {
    this.counts.recordings++;
    // A call like this one that was recorded last, whatever it did.
    const last = this.latest(({ guards }) => guards.broken(given, false) === null);
    return recorded(this.name, given, run, (recording) => {
      this.take(recording, last);
    });
  }

  private latest(is: (candidate: Candidate) => boolean): Candidate | null {
    for (let i = this.candidates.length - 1; i >= 0; i--) if (is(this.candidates[i]!)) return this.candidates[i]!;
    return null;
  }

  private take(recording: Recording, last: Candidate | null): void {
    if (recording.trouble !== null) return this.giveUp(recording.trouble);
    const { program, guards, async, roots } = recording,
      mine: Candidate = { program, guards, async, open: roots.length > 0 },
      known = this.entries.same(program, guards);
    if (known) {
      guards.meets(known.guards);
      known.learn(guards);
      known.program.hosts = program.hosts;
      return;
    }
    if (this.dynamic === null && !this.fullgraph && ++this.missed > MOST_SIZES)
      return this.giveUp(`${MOST_SIZES} calls in a row had other sizes than those before; { dynamic: true } goes on`);
    let why = last && difference(last.program, program);
    // Nothing that is known of them tells apart two calls that did something else.
    const other = why === null ? this.latest((candidate) => difference(candidate.program, program) === null) : null;
    if (other) return this.accept(recording, other);
    why ??= this.candidates.length ? difference(this.candidates.at(-1)!.program, program) : null;
    const like = (x: Candidate | Entry): boolean => x.guards.sameSizes(guards),
      again = this.candidates.some(like);
    // Sizes are the reason for whatever is not the same only where they are not those of another call.
    const sized = again || this.dynamic === false || [...this.entries].some(like) ? null : this.entries.alike(program);
    if (sized) return this.accept(recording, sized);
    // Sizes that come for the first time say nothing about what changes from call to call.
    if ((again || this.dynamic === false) && ++this.alone >= MOST_RECORDINGS)
      return this.giveUp(`each call does something else: ${why ?? "by turns"}`);
    this.candidates.push(mine);
    if (this.candidates.length > this.entries.most) this.candidates.shift();
  }

  /** From now on a recording's program stands for calls like it; `like` says the same. */
  private accept(recording: Recording, like: Candidate | Entry): void {
    const { program, guards, async } = recording;
    if (this.dynamic === false && this.entries.length >= MOST_PROGRAMS)
      return this.giveUp(`there are ${MOST_PROGRAMS} programs of it for other arguments already`);
    const trouble = withWayBack(recording);
    if (trouble !== null) return this.giveUp(trouble);
    guards.meets(like.guards);
    this.alone = 0;
    this.keep(new Entry(guards, program, async, this.entries.blocks));
    this.candidates = this.candidates.filter((candidate) => {
      if (candidate === like) return false;
      // What a call of other sizes said before is confirmed by this one.
      if (this.dynamic === false || candidate.open || candidate.guards.sameSizes(guards)) return true;
      if (difference(candidate.program, program, true) !== null) return true;
      candidate.guards.meets(guards);
      this.keep(new Entry(candidate.guards, candidate.program, candidate.async, this.entries.blocks));
      return false;
    });
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
    this.entries = this.none();
    this.candidates = [];
    this.alone = this.missed = 0;
    this.why = this.failure = null;
    this.said = false;
    Object.assign(this.counts, { recordings: 0, replays: 0, programs: 0, eager: 0 });
  }

  explain(format: "text" | "svg"): string {
    const { recordings, replays, eager } = this.counts,
      head = `${this.name}: ${this.entries.length} programs, ${recordings} calls recorded, ${replays} replayed, ${eager} run as they are`,
      planned = [...this.entries].map(({ replay }) => replay);
    if (format === "svg") return drawPrograms(head, planned);
    return [head, ...(this.why === null ? [] : [`runs as it is: ${this.why}`]), ...planned.map(showProgram)].join(
      "\n\n",
    );
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
    { mode = null } = options,
    dynamic = options.dynamic ?? null;
  if (mode !== null && !MODES.includes(mode))
    throw new TypeMismatchError(
      `compile: argument 'mode' must be one of ${MODES.map((m) => `"${m}"`).join(", ")}, got ${describe(mode)}`,
    );
  if (dynamic !== null) flag(dynamic, "compile", "dynamic");
  return new Compiled(name, model as Callable, fullgraph, mode === "verify", dynamic);
}

/** What a compiled function can do beside being called. */
export interface Warmed<F extends (...args: never[]) => unknown> {
  /**
   * Captures a call with arguments like these, and compiles its kernels, all at a time, without making the call: nothing
   * runs on the device, and parameters, gradients, optimizers, schedulers and random numbers stay as they are.  Other calls go on
   * meanwhile.  The function's own code runs a few times on tensors without values, which are disposed of.  Rejects
   * where it cannot be captured.
   */
  warmup(...args: Parameters<F>): Promise<void>;
}

/**
 * A function, or module, that does what `model` does with less work: its first two calls are recorded, and later ones
 * with like arguments repeat what they did on the device, without running its code.
 *
 * @param model function of tensors, or module
 * @param backend means nothing: there is one
 * @param options means nothing here
 * @param disable gives `model` back as it is
 *
 * @example
 * const f = torch.compile((x) => x.mul(2).add(1));
 * [1, 2, 3, 4].map((n) => f(torch.tensor([n])))  // [[3], [5], [7], [9]]
 */
export function compile<F extends (...args: never[]) => unknown>(model: F, options?: CompileOptions): F & Warmed<F>;
export function compile(options?: CompileOptions): <F extends (...args: never[]) => unknown>(model: F) => F & Warmed<F>;
export function compile(...args: unknown[]): unknown {
  const [model, fullgraph, dynamic, backend, mode, options, disable] = taken(
    "compile model? fullgraph? dynamic? backend? mode? options? disable?",
    args,
  ) as [unknown, boolean?, boolean?, string?, CompileOptions["mode"]?, Record<string, unknown>?, boolean?];
  const given: CompileOptions = { fullgraph, dynamic, backend, mode, options, disable } as CompileOptions;
  if (model === undefined || model === null)
    return (f: Callable) =>
      compile(f as never, Object.fromEntries(Object.entries(given).filter(([, x]) => x !== undefined)));
  if (typeof model !== "function" || isOptions(model)) refuse("compile", "model", "a function or a module", model);
  if (disable) return model;
  const named = typeof (model as { forward?: unknown }).forward === "function" ? nameOf(model) : model.name,
    compiled = compiledOf(model, given, named || "a function");
  const out: object = new Proxy(model, {
    apply: (_, self, given: unknown[]) => compiled.call(self, given),
    get: (target, key, self) =>
      key === original
        ? target
        : key === "warmup" && !(key in target)
          ? (...given: unknown[]) => compiled.warm(undefined, given)
          : (Reflect.get(target, key, self) as unknown),
  });
  known.set(out, compiled);
  return out;
}

// --- torch.compiler -----------------------------------------------------------------------------------

/**
 * Forgets what all compiled functions have recorded.
 *
 * @example
 * const f = torch.compile((x) => x.exp());
 * for (let i = 0; i < 5; i++) f(torch.tensor([i]));
 * torch.compiler.reset();
 * torch.compiler.counts(f).programs  // 0
 */
export function reset(): void {
  taken("reset", arguments);
  for (const reference of all) {
    const compiled = reference.deref();
    if (compiled) compiled.reset();
    else all.delete(reference);
  }
}

/**
 * A function that is never recorded: a compiled one that calls it runs as it is.
 *
 * @param fn any function
 *
 * @example
 * const f = torch.compile(torch.compiler.disable((x) => x.mul(2)));
 * for (let i = 0; i < 5; i++) f(torch.tensor([i]));
 * torch.compiler.counts(f)  // { recordings: 1, replays: 0, programs: 0, eager: 4 }
 */
export function disable<F extends (...args: never[]) => unknown>(
  fn: F,
  _options?: { recursive?: boolean; reason?: string | null },
): F;
export function disable(...args: unknown[]): unknown {
  const [fn] = taken("disable fn recursive? reason?", args) as [Callable];
  if (typeof fn !== "function") refuse("disable", "fn", "a function", fn);
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

/** What is kept of a function that `compile` made. */
export function compiledFrom(f: unknown, op: string): Compiled {
  const found = typeof f === "function" ? known.get(f) : undefined;
  if (!found) refuse(op, "f", "what torch.compile answered", f);
  return found;
}
