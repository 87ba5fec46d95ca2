// Names of classes, as messages and printed models show them: written out, for minifiers shorten those in the text.

const ours = /* @__PURE__ */ new WeakSet();

/** Whether an object is of a class of this package, and of none that somebody derived from one. */
export const isOurs = (object: object): boolean => ours.has(classOf(object));

/** The class, or the function that stands for one, whose `name` is `name` from now on. */
export function titled<C extends object>(target: C, name: string): C {
  ours.add(target);
  return Object.defineProperty(target, "name", { value: name });
}

/**
 * What PyTorch calls the way back of an op: "MseLossBackward0" of `mse_loss`, with a word more for each derivative before.
 * As there, a letter after a digit is a capital, too: "AvgPool2DBackward0".
 */
export const wayBackOf = (op: string, derivatives = 1): string =>
  `${op.replace(/(^|_|\d)([a-z])/g, (_, before: string, letter: string) => before.replace("_", "") + letter.toUpperCase())}${"Backward".repeat(derivatives)}0`;

/** The class of a module, of which a member may be called `constructor`. */
export const classOf = (module: object): { new (): object; readonly name: string } =>
  (Object.getPrototypeOf(module) as { constructor: { new (): object; readonly name: string } }).constructor;

/** The name of an object's class; of a class without one, the name of the first that it extends. */
export function nameOf(object: object): string {
  let named = classOf(object);
  while (!named.name) named = Object.getPrototypeOf(named) as typeof named;
  return named.name;
}
