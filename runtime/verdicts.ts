// Errors that are seen only in values which a GPU still has to hand out: the next read waits for them and throws the first.

import { checkReads } from "./read.js";

/** In the order in which they were asked for; those that came to nothing are gone. */
const pending = new Set<Promise<Error | null>>();

/** The next read throws what `verdict` comes to, if that is an error. */
export function settleLater(verdict: Promise<Error | null>): void {
  pending.add(verdict);
  verdict.then((error) => { if (!error) pending.delete(verdict); }, () => undefined); // it is thrown there, not before
  checkReads(settle);
}

/** Throws what a GPU has found since the last read. */
async function settle(): Promise<void> {
  const verdicts = [...pending];
  pending.clear();
  for (const verdict of await Promise.all(verdicts)) if (verdict) throw verdict;
}
