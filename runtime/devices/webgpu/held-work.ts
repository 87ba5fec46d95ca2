// Work that waits for pipelines: what a device is asked for while some are being made, in its order.  So the pipelines of
// a program's first run are made side by side, in the driver's threads, and nothing blocks the page for them.

import type { Kernel, Pipelines } from "./pipelines.js";

interface Held {
  /** Whose pipeline must be there; null: nothing. */
  readonly kernel: Kernel | null;
  readonly run: () => void;
}

export class HeldWork {
  private work: Held[] = [];
  private waiting = false;
  private running = false;

  /** `released`: called after the last that waited has run. */
  constructor(
    private readonly pipelines: Pipelines,
    private readonly released: () => void,
  ) {}

  /** Whether whatever comes must wait behind other work: not what waited itself, when its turn has come. */
  get holding(): boolean {
    return this.waiting && !this.running;
  }

  add(run: () => void, kernel: Kernel | null = null): void {
    this.work.push({ kernel, run });
    if (this.waiting) return;
    this.waiting = true;
    void this.release();
  }

  /** Resolves when what waits now has run. */
  done(): Promise<void> {
    return new Promise((resolve) => this.add(resolve));
  }

  private async release(): Promise<void> {
    let at = 0;
    while (at < this.work.length) {
      const { kernel, run } = this.work[at++]!;
      if (kernel && !kernel.pipeline) await this.pipelines.begun(kernel);
      this.running = true;
      try {
        run();
      } catch (error) {
        // What follows is to run all the same.
        queueMicrotask(() => {
          throw error;
        });
      } finally {
        this.running = false;
      }
    }
    this.work = [];
    this.waiting = false;
    this.released();
  }
}
