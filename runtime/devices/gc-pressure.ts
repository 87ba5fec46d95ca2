// What lets the garbage collector feel memory that it does not see, a GPU's and the linear memory of WebAssembly: empty
// array buffers that stand for it, and a program that lets go waits for the collector now and then, so that how much is
// held at most does not depend on when it happens to come.

import { afterTask, collectorTurn } from "../base/tasks.js";

/**
 * The pressure is about as many bytes as live storages hold, so that growth is felt, and `each` for each storage: of small
 * ones there would be
 *  very many before the collector comes.  It comes in steps of at least STEP, once between two tasks, because only
 * there what the
 *  collector finds comes back; and goes only when it gave storages back and SLACK more than twice what is live is left:
 * a program that
 *  disposes moves none. */
const STEP = 1 << 23,
  SLACK = 1 << 25;
/**
 * When so much more is held than at the least, a program that lets go waits until the collector has come, PATIENCE
 * milliseconds at most.
 *  Where that is in vain, or takes more than SHARE of the time, it doubles. */
const ROOM = 14 * STEP,
  PATIENCE = 250,
  SHARE = 1 / 8;
/**
 * At half of the room the engine is pressed so much at once that it begins its search, which runs beside the program:
 * when the room
 *  is full there is little to wait for. */
const PUSH = 9 * STEP;

export class GcPressure {
  constructor(private readonly each: number) {}

  /** What live storages weigh, `each` included; what stands for them, and its bytes. */
  private held = 0;
  private readonly buffers: ArrayBuffer[] = [];
  private bytes = 0;
  /** Whether there is new pressure since the collector's findings last had a chance to be acted on. */
  private heavier = false;
  /** Whether pressure was added in the running task. */
  private weighed = false;
  /** Whether the engine got its push since the collector came. */
  private pushed = false;
  /** The least held since it was waited for in vain, how much more may be held, and when the last waiting ended. */
  private least = 0;
  private room = ROOM;
  private waited = performance.now();

  /** A storage of so many bytes was made. */
  add(bytes: number): void {
    this.held += bytes + this.each;
    if (this.weighed) return;
    if (this.held - this.bytes >= STEP) this.weigh(this.held - this.bytes);
    else if (!this.pushed && this.held > this.least + this.room / 2) {
      this.pushed = true;
      this.weigh(PUSH);
    }
  }

  /** One was given back by hand. */
  remove(bytes: number): void {
    this.held -= bytes + this.each;
  }

  /** The collector found one.  Pressure goes at once where the engine can. */
  found(bytes: number): void {
    this.remove(bytes);
    this.pushed = false;
    this.least = Math.min(this.least, this.held);
    while (this.bytes > 2 * this.held + SLACK) {
      const last = this.buffers.pop() as ArrayBuffer & { transfer?: (size: number) => ArrayBuffer };
      this.bytes -= last.byteLength;
      last.transfer?.(0);
    }
  }

  /** A chance for the collector: what it found unreachable comes back between two tasks, never within one. */
  relax(): Promise<void> | null {
    if (this.full()) return this.collected();
    if (!this.heavier) return null;
    this.heavier = false;
    return collectorTurn();
  }

  private full(): boolean {
    return this.held > this.least + this.room;
  }

  /** Waits until the collector has come; with each new buffer the engine does a part of its work. */
  private async collected(): Promise<void> {
    const began = performance.now();
    while (this.full() && performance.now() - began < PATIENCE) {
      this.weigh(STEP >> 3);
      await collectorTurn();
    }
    const now = performance.now(),
      vain = this.full();
    if (vain) this.least = this.held;
    if (vain || now - began > SHARE * (now - this.waited)) this.room *= 2;
    this.waited = now;
    this.heavier = false;
  }

  private weigh(bytes: number): void {
    this.weighed = true;
    afterTask(() => {
      this.weighed = false;
    });
    try {
      this.buffers.push(new ArrayBuffer(bytes));
      this.bytes += bytes;
      this.heavier = true;
    } catch {
      // An engine that cannot promise so much memory frees storages later, by dispose or its own schedule.
    }
  }
}
