// What kernels note as faults, places off their axis and requirements that do not hold, and whose error that is: of the
// buffers that were computed from it, however late, and of no others.  A GPU is not waited for: a reading brings along
// what was noted.

import type { CompiledOp } from "../../program/compiled-op.js";
import { DeviceError, IndexError, OpError, refused } from "../../base/errors.js";

/**
 * Runs that may fault between two looks; each has four words: how often, the place, the length, and one that is free.
 */
export const MOST_RUNS = 256,
  WORDS = 4;
const MOST_JOINS = 4096;

/** What the elements of a buffer come from: a run that may fault, or several such. */
export class FaultOrigin {
  error: Error | null = null;
  /** Whether it is known if anything was noted, and `error` is what. */
  known = false;

  /** `number`: that of the last run behind it. */
  constructor(
    readonly number: number,
    public parents: readonly FaultOrigin[],
    readonly op: CompiledOp | null,
  ) {}
}

const NONE: readonly FaultOrigin[] = [];

/** A copy of what was noted on its way from the GPU: that of `runs`, in their order. */
export interface Look {
  readonly runs: readonly FaultOrigin[];
  done: boolean;
}

/** A buffer whose elements have an origin. */
export interface Traced {
  faultOrigin: FaultOrigin | null;
}

export class Faults {
  /** Whether any run may ever have noted a fault: until then nobody looks for origins. */
  used = false;
  private last = 0;
  /** The last run of which everything is known up to it. */
  private seen = 0;
  private runs: FaultOrigin[] = [];
  private joins = 0;
  private readonly looks: Look[] = [];

  /** The number of the words of the next run. */
  get next(): number {
    return this.runs.length;
  }
  /** Whether a look is due: there is no room for another run, or much is remembered of them. */
  get full(): boolean {
    return this.runs.length >= MOST_RUNS || this.joins > MOST_JOINS;
  }

  /** Where a buffer's elements come from, as far as anything may be wrong with it. */
  of(buffer: Traced): FaultOrigin | null {
    const { faultOrigin: origin } = buffer;
    if (!origin || origin.number > this.seen) return origin;
    if (!origin.known) settle(origin);
    return origin.error ? origin : (buffer.faultOrigin = null);
  }

  /** The origin of what is computed from both. */
  both(a: FaultOrigin | null, b: FaultOrigin | null): FaultOrigin | null {
    if (!b || a === b || a?.error || a?.parents.includes(b)) return a;
    if (!a || b.error || b.parents.includes(a)) return b;
    this.joins++;
    return new FaultOrigin(Math.max(a.number, b.number), [a, b], null);
  }

  /** The origin of what a run of `op` computes that may fault. */
  run(op: CompiledOp, from: FaultOrigin | null): FaultOrigin {
    const origin = new FaultOrigin(++this.last, from ? [from] : NONE, op);
    this.used = true;
    this.runs.push(origin);
    return origin;
  }

  /** What a copy of the words, made now, will say; null: nothing was noted since the last. */
  look(): Look | null {
    if (!this.runs.length) return null;
    const look: Look = { runs: this.runs, done: false };
    this.looks.push(look);
    this.runs = [];
    this.joins = 0;
    return look;
  }

  /** Takes what a look has brought; null: it failed. */
  take(look: Look, words: Int32Array | null): void {
    look.runs.forEach((run, i) => {
      if (!words)
        run.error = new DeviceError(
          `${run.op!.op.name}: a reading failed that would have told whether its indices and elements were right`,
        );
      else if (words[WORDS * i]) run.error = errorOf(run.op!, words[WORDS * i + 1]!, words[WORDS * i + 2]!);
    });
    look.done = true;
    while (this.looks[0]?.done) this.seen = this.looks.shift()!.runs.at(-1)!.number;
  }

  /** What is wrong with the elements of an origin, all of whose runs were looked at. */
  error(origin: FaultOrigin): Error | null {
    return this.of({ faultOrigin: origin })?.error ?? null;
  }
}

function errorOf({ op, refusals }: CompiledOp, place: number, length: number): Error {
  if (length === -2) return new OpError(`${op.name}: the result does not fit into int32`);
  return length < 0
    ? refused(refusals![place]!)
    : new IndexError(`${op.name}: index ${place} is out of bounds for an axis of length ${length}`);
}

/** Looks for what was noted behind an origin, all of whose runs are known. */
function settle(origin: FaultOrigin): void {
  const open = [origin];
  while (open.length) {
    const one = open[open.length - 1]!,
      unknown = one.error ? undefined : one.parents.find(({ known }) => !known);
    if (unknown) {
      open.push(unknown);
      continue;
    }
    one.error ??= one.parents.find(({ error }) => error)?.error ?? null;
    one.known = true;
    one.parents = NONE;
    open.pop();
  }
}
