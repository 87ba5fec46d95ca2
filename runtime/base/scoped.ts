// What holds while a body runs: a mode, a tidy scope.  A body is over when it returns, an async one when its promise
// settles, and each takes back only its own.  In Node what an async body set belongs to its call, whatever else runs
// meanwhile.  A page cannot tell whose code goes on after an `await`: there it is that of the innermost open body for
// all code.

import { OpError } from "./errors.js";
import { callable } from "./argument-kinds.js";

/** Node's AsyncLocalStorage. */
interface Calls<T> {
  run<R>(store: T, body: () => R): R;
  getStore(): T | undefined;
}
interface Holder {
  process?: { getBuiltinModule?: (name: string) => { AsyncLocalStorage: new () => Calls<never> } | undefined };
}

interface Open<T> {
  value: T;
  /** The how-manieth of all it was to begin. */
  readonly number: number;
}

export class Scoped<T extends object | null> {
  /**
   * What holds outside of all bodies; in the running synchronous one, and whose first part that is; the async ones that
   * are open, in the
   *  order in which they began. */
  private outside: T;
  private inner: T | undefined = undefined;
  private body: Open<T> | null = null;
  readonly open: Open<T>[] = [];
  calls: Calls<Open<T>> | null | undefined = undefined;
  begun = 0;

  /** `agree`: whether two values can hold at once where nobody can tell which. */
  constructor(
    outside: T,
    readonly agree: (a: T, b: T) => boolean,
  ) {
    this.outside = outside;
  }

  /** What holds now. */
  get value(): T {
    return this.inner !== undefined
      ? this.inner
      : this.open.length === 0
        ? this.outside
        : (this.running()?.value ?? this.outside);
  }

  /** Lets another value hold for the rest of the running body, or outside of all from now on. */
  set value(value: T) {
    const running = this.inner === undefined && this.open.length ? this.running() : undefined;
    if (this.inner !== undefined) {
      this.inner = value;
      if (this.body) this.body.value = value;
    } else if (running) running.value = value;
    else this.outside = value;
  }

  private running(): Open<T> | undefined {
    return this.calls ? this.calls.getStore() : this.open[this.open.length - 1];
  }

  /** Lets a value hold while `body` runs, which is synchronous. */
  during<R>(value: T, body: () => R, of: Open<T> | null = null): R {
    const { inner, body: outer } = this;
    this.inner = value;
    this.body = of;
    try {
      return body();
    } finally {
      this.inner = inner;
      this.body = outer;
    }
  }
}

/**
 * Lets a value hold while any body runs; `over` is called when it is.  OpError where a page cannot tell it from another
 * that is open.
 *  No method, so that bundles without such bodies do not hold it. */
export function runIn<T extends object | null, R>(
  scope: Scoped<T>,
  value: T,
  body: () => R,
  op: string,
  over?: (result: unknown) => void,
): R {
  callable(body, op, "body");
  const { open } = scope,
    calls = (scope.calls ??= callsOfNode<Open<T>>());
  const mine: Open<T> = { value, number: ++scope.begun };
  let result: R;
  try {
    result = scope.during(value, calls ? () => calls.run(mine, body) : body, mine);
  } catch (error) {
    over?.(null);
    throw error;
  }
  if (!(result instanceof Promise)) {
    over?.(result);
    return result;
  }
  const close = (settled: unknown): void => {
    const at = open.indexOf(mine);
    if (at >= 0) open.splice(at, 1);
    over?.(settled);
  };
  const done = result.then(
    (settled: unknown) => (close(settled), settled),
    (error: unknown) => {
      close(null);
      throw error;
    },
  );
  // One that began within this one's body is inside of it.
  const after = open.findIndex(({ number }) => number > mine.number),
    before = after < 0 ? open : open.slice(0, after);
  if (!calls && before.some((other) => !scope.agree(other.value, value))) {
    done.catch(() => undefined);
    throw new OpError(
      `${op}: another async scope is open, and a page cannot tell whose code goes on; await it first, or use no async function`,
    );
  }
  open.splice(before.length, 0, mine);
  return done as R;
}

/** Found without an import, which bundlers for pages would follow. */
function callsOfNode<T>(): Calls<T> | null {
  const found = (globalThis as Holder).process?.getBuiltinModule?.("node:async_hooks")?.AsyncLocalStorage;
  return found ? (new found() as unknown as Calls<T>) : null;
}
