"""The few operations of Python that JavaScript lacks, in TypeScript: what translated modules may import."""

import re

PYTHON_TS = """\
// Operations of Python that JavaScript lacks, for the translated host code.

/** Python's `a % b`: the result has the sign of b. */
export function mod(a: number, b: number): number {
  return a - Math.floor(a / b) * b;
}

/** The value of a key that a dict has: `constructor` is none that every object has. */
export function own<V>(dict: { readonly [key: string]: V }, key: string): V | undefined {
  return Object.hasOwn(dict, key) ? dict[key] : undefined;
}

/** The whole numbers from start to below stop. */
export function range(start: number, stop: number): number[] {
  const out: number[] = [];
  for (let i = start; i < stop; i++) out.push(i);
  return out;
}

/** Pairs of the items of two lists, as many as the shorter has. */
export function zip<A, B>(a: readonly A[], b: readonly B[]): [A, B][] {
  const out: [A, B][] = [];
  for (let i = 0; i < a.length && i < b.length; i++) out.push([a[i] as A, b[i] as B]);
  return out;
}

/** A number of the size of a, and the sign of b, which a zero has, too. */
export function copySign(a: number, b: number): number {
  return b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a);
}

/** The eight bytes of a float, the lowest first. */
export function bytesOf(x: number): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x, true);
  return [...new Uint8Array(view.buffer)];
}

/** A float as Python writes it. */
export function shownFloat(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return x.toExponential().replace(/e([+-])(\\d)$/, "e$10$2");
  return Number.isInteger(x) ? `${Object.is(x, -0) ? "-0" : x}.0` : String(x);
}

/** Of what a test says that it is something, if the test says nothing where it fails. */
export interface Guarded {
  readonly guarded: true;
}

/** What is equal to itself alone. */
export class Unique {
  declare serial_: number | undefined;
}

const instances = new Map<unknown, Map<string, Unique>>();
let serial = 0;

/** The one instance of its class with the same fields. */
export function internedOne<T extends Unique>(made: T): T {
  const table = setDefault(instances, made.constructor, new Map<string, Unique>());
  const found = setDefault(table, keyOf(Object.values(made)), made);
  found.serial_ ??= serial++;
  return found as T;
}

/** A text for a value, the same for equal ones. */
function keyOf(value: unknown): string {
  if (value instanceof Unique) return `#${(value.serial_ ??= serial++)}`;
  if (Array.isArray(value)) return `[${value.map(keyOf)}]`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  return `{${fields(value).map((key) => keyOf(value[key as keyof object]))}}`;
}

/** Python's `==` of tuples, lists, dicts, sets and dataclasses. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || a instanceof Unique) return false;
  if (a.constructor !== b.constructor) return false;
  if (a instanceof Set) return a.size === (b as Set<unknown>).size && [...a].every((x) => (b as Set<unknown>).has(x));
  if (a instanceof Map) {
    const other = b as Map<unknown, unknown>;
    return a.size === other.size && [...a].every(([key, x]) => other.has(key) && isEqual(x, other.get(key)));
  }
  if (Array.isArray(a)) {
    const other = b as unknown[];
    return a.length === other.length && a.every((x, i) => isEqual(x, other[i]));
  }
  const keys = fields(a) as (keyof object)[];
  return keys.length === fields(b).length && keys.every((key) => isEqual(a[key], b[key]));
}

/** The keys of a dict, or the fields of a dataclass without what it remembers. */
function fields(of: object): string[] {
  return of.constructor === Object ? Object.keys(of) : Object.keys(of).filter((key) => !key.endsWith("_"));
}

/** Below 0, 0 or above 0, as a comes before b, is equal or comes after it: numbers, texts, booleans, lists of them. */
export function compareValues(a: unknown, b: unknown): number {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < a.length && i < b.length; i++) {
      const found = compareValues(a[i], b[i]);
      if (found !== 0) return found;
    }
    return a.length - b.length;
  }
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

/** The first of the items that no other comes before; `none` if there are no items. */
export function leastOf<T, N = T>(items: readonly T[], compare: (a: T, b: T) => number, none?: N): T | N {
  return items.length === 0 ? (none as N) : items.reduce((a, b) => (compare(b, a) < 0 ? b : a));
}

/** Whether all of a is in b. */
export function isSubset<T>(a: Set<T>, b: Set<T>): boolean {
  for (const x of a) if (!b.has(x)) return false;
  return true;
}

/** Whether no item is in a. */
export function isDisjoint<T>(a: Set<T>, items: Iterable<T>): boolean {
  for (const x of items) if (a.has(x)) return false;
  return true;
}

export function intersectionOf<T>(a: Set<T>, b: Set<T>): Set<T> {
  return new Set([...a].filter((x) => b.has(x)));
}

export function differenceOf<T>(a: Set<T>, b: Set<T>): Set<T> {
  return new Set([...a].filter((x) => !b.has(x)));
}

export function addAll<T>(a: Set<T>, items: Iterable<T>): void {
  for (const x of items) a.add(x);
}

/** What a key has, which is `value` if it had nothing. */
export function setDefault<K, V>(map: Map<K, V>, key: K, value: V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  map.set(key, value);
  return value;
}

/** Takes an entry out. */
export function popKey<V>(of: Record<string, V>, key: string): V {
  const found = of[key] as V;
  delete of[key];
  return found;
}

/** The object with other values in some fields. */
export function withChanges<T extends object>(of: T, changes: object): T {
  const made = Object.assign(Object.create(Object.getPrototypeOf(of) as object) as T, of, changes);
  if (made instanceof Unique) made.serial_ = undefined; // it is equal to itself alone, too
  return made;
}

export function assertTrue(condition: boolean): asserts condition {}
"""

HELPERS = frozenset(re.findall(r"^export (?:function|class|interface) (\w+)", PYTHON_TS, re.MULTILINE))
