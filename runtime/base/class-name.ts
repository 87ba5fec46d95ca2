// Names of classes, as messages and printed models show them: written out, for minifiers shorten those in the text.

/** The class, whose `name` is `name` from now on. */
export function titled<C extends abstract new (...args: never[]) => unknown>(target: C, name: string): C {
  return Object.defineProperty(target, "name", { value: name });
}
