// What went wrong with a GPU itself, until a reading answers it.

import { DeviceError } from "../../base/errors.js";

export class Failures {
  /** Once a reading has answered it, `last` is the number of the last that was under way then. */
  private failure: { readonly error: Error; last: number } | null = null;
  /** What the failures that follow from another one come from. */
  private cause: Error | null = null;

  /** The first failure since the last reading is what the next reading answers, and all that are under way then. */
  private fail(error: Error, first = false): void {
    if (first || !this.failure || this.failure.last > 0) this.failure = { error, last: 0 };
  }

  /** What a missing buffer or a refused kernel brings with it (an invalid pass) may be told before its own message. */
  fatal(error: Error): void {
    if (this.failure?.last === 0 && this.failure.error === this.cause) return;
    this.cause = error;
    this.fail(error, true);
  }

  /** An error that the device tells; `recent`: what it was given last. */
  told(message: string, recent: string): void {
    this.fail((/invalid/i.test(message) && this.cause) || new DeviceError(`${recent}: ${message}`));
  }

  /** Throws what the reading of this number has to answer; `last`: the number of the last that began. */
  answer(reading: number, last: number): void {
    const { failure } = this;
    if (failure?.last === 0) failure.last = last;
    if (!failure) return;
    if (reading <= failure.last) throw failure.error;
    this.failure = null;
  }
}
