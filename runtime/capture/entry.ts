// The programs of a compiled function, one for each kind of call: which stands for a call, and which go when there are
// too many.  A program is planned (fused, given memory) when it is first replayed: some sizes never come again.

import { Blocks } from "./memory-plan.js";
import { difference } from "./agree.js";
import type { Recording } from "./capture.js";
import type { Arguments, Guards } from "./guards.js";
import type { Program } from "./program.js";
import { Replay } from "./replay.js";

/** Kinds of calls that one program stands for: with other arguments that change nothing, say. */
const MOST_KINDS = 8;
/** After so many calls in a row that a program could not make, one that says the same but for numbers is kept, too. */
const MOST_MISSED = 2;

/** A program, and when it stands for a call. */
export class Entry {
  private planned: Replay | null = null;
  private readonly earlier: Guards[] = [];
  /** When it was last asked for, in calls. */
  used = 0;
  /** Calls in a row that it stands for but could not make, as an option of an optimizer chose other kernels. */
  missed = 0;

  /** `async`: whether the function answers a promise. */
  constructor(
    public guards: Guards,
    readonly program: Program,
    readonly async: boolean,
    private readonly blocks: Blocks,
  ) {}

  stands(given: Arguments): boolean {
    return this.guards.broken(given) === null || this.earlier.some((guards) => guards.broken(given) === null);
  }
  /** Lets it stand for calls of another kind, too. */
  learn(guards: Guards): void {
    this.earlier.unshift(this.guards);
    if (this.earlier.length === MOST_KINDS) this.earlier.pop();
    this.guards = guards;
  }

  get replay(): Replay {
    return (this.planned ??= new Replay(this.program, this.blocks));
  }
}

/** What is kept of a recorded call until another one says the same. */
export type Candidate = Pick<Recording, "program" | "guards" | "async"> & {
  /** Whether gradients flow back through its results, whose way back nobody recorded. */
  readonly open: boolean;
};

export class Entries {
  private all: Entry[] = [];
  private calls = 0;
  /** All programs of a function run one after another, in the same memory. */
  readonly blocks = new Blocks();

  /** `most`: how many there are at most; the one that was not asked for longest goes. */
  constructor(readonly most: number) {}

  get length(): number {
    return this.all.length;
  }
  [Symbol.iterator](): IterableIterator<Entry> {
    return this.all[Symbol.iterator]();
  }

  /** Those that stand for a call, one after another. */
  *of(given: Arguments): Iterable<Entry> {
    this.calls++;
    for (const entry of this.all) {
      if (!entry.stands(given)) continue;
      entry.used = this.calls;
      yield entry;
    }
  }

  add(entry: Entry): void {
    entry.used = this.calls;
    this.all.push(entry);
    if (this.all.length <= this.most) return;
    const oldest = this.all.reduce((a, b) => (a.used <= b.used ? a : b));
    this.all.splice(this.all.indexOf(oldest), 1);
  }

  /** One that does what a call did, whose gradients went the same ways. */
  same(program: Program, guards: Guards): Entry | null {
    return (
      this.all.find(
        (x) => x.missed < MOST_MISSED && x.guards.tracks(guards) && difference(x.program, program) === null,
      ) ?? null
    );
  }
  /** One whose program says the same but for sizes. */
  alike(program: Program): Entry | null {
    return this.all.find((entry) => difference(entry.program, program, true) === null) ?? null;
  }
}
