// Whether arguments are of the kinds that a function takes.  Each check answers the value, and its error says which
// function, which argument, what came and what was expected.  Tensors are in tensor/tensor-arguments.ts: modules that
// tensors stand on import this one.

import { OpError, TypeMismatchError, describe } from "./errors.js";

export function refuse(op: string, name: string, wanted: string, got: unknown): never {
  throw new TypeMismatchError(`${op}: argument '${name}' must be ${wanted}, got ${describe(got)}`);
}

/** What stands for the value of this property's owner where a number is wanted: of a tensor without axes its element. */
export const instead: unique symbol = /* @__PURE__ */ Symbol("number");
interface Instead {
  [instead]?: (op: string, name: string, whole: boolean) => unknown;
}
const asNumber = (value: unknown, op: string, name: string, whole: boolean): unknown =>
  (value as Instead | null | undefined)?.[instead]?.(op, name, whole) ?? value;

/** A whole number that JavaScript counts exactly, as a number or a bigint. */
export function integer(value: unknown, op: string, name: string, wanted = "a whole number"): number {
  if (typeof value !== "number") value = asNumber(value, op, name, true);
  const n = typeof value === "bigint" ? Number(value) : value;
  if (!Number.isSafeInteger(n)) refuse(op, name, wanted, value);
  return n as number;
}

/** A whole number that is at least `least`. */
export function count(value: unknown, op: string, name: string, least = 0): number {
  const n = integer(value, op, name);
  if (n < least) {
    throw new OpError(
      `${op}: argument '${name}' must be ${least === 0 ? "non-negative" : `at least ${least}`}, got ${n}`,
    );
  }
  return n;
}

/** A number, or a boolean as 0 or 1. */
export function number(value: unknown, op: string, name: string): number {
  if (typeof value !== "number") value = asNumber(value, op, name, false);
  if (typeof value !== "number" && typeof value !== "boolean") refuse(op, name, "a number", value);
  return Number(value);
}

export function flag(value: unknown, op: string, name: string): boolean {
  if (typeof value !== "boolean") refuse(op, name, "true or false", value);
  return value;
}

export function text(value: unknown, op: string, name: string): string {
  if (typeof value !== "string") refuse(op, name, "a text", value);
  return value;
}

export function callable<F extends (...args: never[]) => unknown>(value: F, op: string, name: string): F {
  if (typeof value !== "function") refuse(op, name, "a function", value);
  return value;
}

/** Refuses a typed array or a buffer whose memory was handed to another thread: nothing is left of it but an empty one. */
export function living<T>(value: T, op: string): T {
  const buffer: unknown = ArrayBuffer.isView(value) ? value.buffer : value;
  try {
    if (buffer instanceof ArrayBuffer && !buffer.byteLength) new Uint8Array(buffer);
  } catch {
    throw new TypeMismatchError(`${op}: the memory of the typed array is gone: another thread has it`);
  }
  return value;
}

/** The elements of a list or of a typed array. */
export const elementsOf = <T>(list: ArrayLike<T>): T[] => Array.from({ length: list.length }, (_, i) => list[i]!);

/** A list, or whatever else can be gone through except a text, as an array. */
export function listOf<T = unknown>(value: unknown, op: string, name: string, wanted = "a list"): T[] {
  if (Array.isArray(value)) return Array.from(value as T[]);
  if (ArrayBuffer.isView(value)) return elementsOf(living(value, op) as unknown as ArrayLike<T>);
  // A list of modules is a function, as all modules are.
  if (typeof value === "string" || typeof (value as Partial<Iterable<T>> | null)?.[Symbol.iterator] !== "function")
    refuse(op, name, wanted, value);
  return [...(value as Iterable<T>)];
}

/** The error for an option that a function has not, with the name that was probably meant. */
export function unknownOption(op: string, name: string, names: Iterable<string>): TypeMismatchError {
  const short = initials(name),
    asked = plain(name),
    far = (known: string): number => {
      const n = plain(known);
      return known === short || (Math.min(n.length, asked.length) > 2 && (n.includes(asked) || asked.includes(n)))
        ? 1
        : Math.min(distance(asked, n), asked.length > 4 ? distance(asked, n.slice(0, asked.length)) + 1 : 9);
    },
    near = [...names].sort(
      (a, b) => far(a) - far(b) || Math.abs(a.length - name.length) - Math.abs(b.length - name.length),
    )[0],
    meant = near && far(near) <= Math.max(near.length > 4 ? 2 : 1, name.length / 4) ? near : null;
  return new TypeMismatchError(
    `${op}: got an unexpected keyword argument '${name}'${meant ? `; did you mean '${meant}'?` : ""}`,
  );
}

const plain = (name: string): string => name.slice(0, 40).toLowerCase().replaceAll("_", "");

/** The first letters of words: `lr` of `learning_rate`. */
const initials = (name: string): string => name.replace(/(?<=[a-z])[a-z]+_?/g, "");

/** How many letters have to be put in, left out or exchanged to make one word of another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + +(a[i - 1] !== b[j - 1]));
    row = next;
  }
  return row[b.length]!;
}
