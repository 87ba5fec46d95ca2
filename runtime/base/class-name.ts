// Names of classes, as messages and printed models show them: written out, for minifiers shorten those in the text.

/** The class, or the function that stands for one, whose `name` is `name` from now on. */
export function titled<C extends object>(target: C, name: string): C {
  return Object.defineProperty(target, "name", { value: name });
}
