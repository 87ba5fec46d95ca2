// Runs a function with hooks on what the tape saves in place.

import { callable } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { type SavedHooks, useSavedHooks } from "../tape/node.js";

/** Runs `body`, which must not be async, with hooks in place. */
export function withSavedHooks<T>(op: string, hooks: SavedHooks, body: () => T): T {
  callable(body, op, "body");
  const before = useSavedHooks(hooks);
  let result: T;
  try {
    result = body();
  } finally {
    useSavedHooks(before);
  }
  if (result instanceof Promise)
    throw new OpError(`${op}: the function must not be async: hooks hold while it runs, and not after an await`);
  return result;
}
