// What the keys of objects are in Python, where 0 and "0" differ.

import { Tensor } from "../tensor/tensor.js";

const known = new WeakMap<object, "numbers" | "texts">();

/** Remembers what the keys of an object were in the file that it comes from. */
export function rememberKeys(object: object, kind: "numbers" | "texts"): void {
  known.set(object, kind);
}

/**
 * What an object's keys that are whole numbers become in Python: what they were, in an object that comes from a file;
 * else numbers, as those of an optimizer's state are, but texts where they name tensors, as a state_dict's do.
 */
export const keysOf = (object: object): "numbers" | "texts" =>
  known.get(object) ?? (Object.values(object).some((x) => x instanceof Tensor) ? "texts" : "numbers");
