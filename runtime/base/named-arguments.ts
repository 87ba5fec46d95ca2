// Arguments by position and by name: a line of text says what a function takes, and everything that is called binds here,
// the generated ops too (dispatch/op-arguments.ts keeps their names apart).

import { TypeMismatchError } from "./errors.js";
import { flag, living, unknownOption } from "./argument-kinds.js";
import { LEGACY, hasLegacy, legacyReduction, withoutLegacy } from "./legacy-reduction.js";

/** Whether a value is an object of options: a plain object, no tensor, array or typed array. */
export function isOptions(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The error for more arguments by position than there are. */
export const tooMany = (op: string, most: number, given: number): TypeMismatchError =>
  new TypeMismatchError(`${op}: takes at most ${most} positional argument${most === 1 ? "" : "s"}, but got ${given}`);

/** Refuses `undefined` where a value was given, for what was meant is not known, and arrays whose memory is gone. */
export function given(op: string, name: string, value: unknown): unknown {
  if (value === undefined) throw new TypeMismatchError(`${op}: argument '${name}' is undefined`);
  return living(value, op);
}
export const missing = (op: string, name: string): TypeMismatchError =>
  new TypeMismatchError(`${op}: missing required argument '${name}'${name === "body" ? " (Python's `with`)" : ""}`);

const camel = (name: string): string =>
  name.replace(/(?<=\w)_+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
/** NumPy's names, and some documented ones, for parameters' names, as PyTorch has them; others may be added. */
export const otherNames = [
  "axis=dim",
  "keepdims=keepdim",
  "x=input",
  "x1=input",
  "a=input",
  "x2=other",
  "input=A",
  "A=input",
];

/** Where the option `name` stands among `names`, which may be written in camelCase or otherwise; -1: nowhere. */
export function placeOf(names: readonly string[], name: string): number {
  const at = names.indexOf(name);
  if (at >= 0) return at;
  return names.findIndex((n) => camel(n) === name || otherNames.includes(`${name}=${n}`));
}

/**
 * Puts options where their names stand; into `rest` those that `others` names, but for null, which is none.  Throws for
 * one given twice.
 */
export function putOptions(
  op: string,
  names: readonly string[],
  options: Readonly<Record<string, unknown>>,
  values: unknown[],
  others: readonly string[] = [],
  rest: Record<string, unknown> = {},
): void {
  const reduced = names.indexOf("reduction"),
    legacy: Record<string, unknown> = {};
  for (const name of Object.keys(options)) {
    const at = placeOf(names, name),
      other = at < 0 ? others[placeOf(others, name)] : names[at],
      old = at < 0 && reduced >= 0 && hasLegacy(op, names) ? LEGACY[placeOf(LEGACY, name)] : undefined;
    if (other === undefined && old !== undefined) {
      const value = given(op, name, options[name]);
      if (value !== null) legacy[old] = flag(value, op, name);
      continue;
    }
    if (other === undefined) throw unknownOption(op, name, [...names, ...others]);
    const value = given(op, name, options[name]);
    if (at < 0) {
      if (value !== null) rest[other] = value;
    } else if (values[at] !== undefined)
      throw new TypeMismatchError(`${op}: got multiple values for argument '${name}'`);
    else values[at] = value;
  }
  if (Object.keys(legacy).length) values[reduced] = legacyReduction(legacy["size_average"], legacy["reduce"]);
}

/** An object of options by the names that a function has for them, alone. */
export function optionsIn<O>(op: string, options: object, names: readonly string[]): O {
  const out: Record<string, unknown> = {};
  putOptions(op, [], options as Record<string, unknown>, [], names, out);
  return out as O;
}

/**
 * Positional arguments and a trailing object of options, as one list in the order of `names`.
 * Throws for options that are no names, for what is given twice or `undefined`, and for more than `most` arguments by
 * place.
 */
export function named(
  op: string,
  names: readonly string[],
  args: ArrayLike<unknown>,
  most = names.length,
  others?: readonly string[],
  rest?: Record<string, unknown>,
): unknown[] {
  const last = args[args.length - 1],
    byName = isOptions(last) ? last : null;
  let values: unknown[] = Array.prototype.slice.call(args);
  if (byName) values.pop();
  const end = values[values.length - 1];
  if (values.length && (typeof end !== "object" || end === null) && hasLegacy(op, names)) {
    const now = withoutLegacy(op, names, values);
    if (now !== values) most = Math.max(most, (values = now).length);
  }
  atMost(op, values, most);
  if (values.length > most) values.length = most;
  for (let i = 0; i < values.length; i++) given(op, names[i] ?? names[names.length - 1]!, values[i]);
  if (byName) putOptions(op, names, byName, values, others, rest);
  return values;
}

/** Refuses more arguments by position than there are; `undefined` and null are none. */
export function atMost(op: string, values: ArrayLike<unknown>, most: number): void {
  for (let i = most; i < values.length; i++) {
    if (values[i] !== undefined && values[i] !== null) throw tooMany(op, most, values.length);
  }
}

/** What a line says: the function's name, its parameters, their names, how many come by position, and other options. */
type Signature = readonly [op: string, words: string[], names: string[], most: number, others?: string[]];
const signatures = new Map<string, Signature>();

/**
 * `"clip_grad_value_ parameters clip_value foreach?"`: a name and parameters, of which `x?` may be left out, `*x` takes
 * all that follow, `x{}` may be a plain object, those after `*` alone are given by name, and those after `|` come as
 * one object.
 */
function read(line: string): Signature {
  const [head, tail] = line.split(" | ") as [string, string?],
    [op, ...all] = head.split(" ") as [string, ...string[]],
    words = all.filter((word) => word !== "*"),
    star = all.findIndex((word) => word[0] === "*"),
    names = words.map((word) => /\w+/.exec(word)![0]);
  return [op, words, names, star < 0 ? words.length : all[star] === "*" ? star : Infinity, tail?.split(" ")];
}

/** The arguments of a call in the order of the parameters that `line` names; see `read`. */
export function taken(line: string, args: ArrayLike<unknown>, prefix = "", options?: readonly string[]): any[] {
  let signature = signatures.get(line);
  if (!signature) signatures.set(line, (signature = read(line)));
  const [own, words, names, most, others = options] = signature,
    op = prefix + own,
    last = args[args.length - 1],
    rest = {},
    // A plain object that is meant as one: no options.
    whole = words[args.length - 1]?.includes("{") && isOptions(last) && !names.some((n) => n in last),
    values = named(op, names, whole ? [...Array.from(args), {}] : args, most, others, rest);
  words.forEach((word, i) => {
    if (values[i] === undefined && !/[*?]/.test(word)) throw missing(op, names[i]!);
  });
  if (others) values[most === Infinity ? values.length : names.length] = rest;
  return values;
}

/** Arguments whose one function is the body: it may come before options or after them, and those by place as well. */
export function withBody(args: ArrayLike<unknown>): unknown[] {
  const list = Array.from(args),
    at = list.findIndex((arg) => typeof arg === "function");
  if (at < 0) return list;
  const [body] = list.splice(at, 1),
    options = list[list.length - 1];
  if (!isOptions(options) || "body" in options) return [...list, { body }];
  return [...list.slice(0, -1), { ...options, body }];
}

type Method = (...args: unknown[]) => unknown;

/**
 * Lets the methods of a class, the static ones too, bind their arguments as `lines` says: signatures with commas
 * between them; one with `!` binds its own, or is asked for at each call.  What is not named there takes none.
 */
export function limited<C extends abstract new (...args: never[]) => unknown>(
  target: C,
  prefix: string,
  lines = "",
): C {
  const own = new Map(lines.split(", ").map((line) => [line.split(" ", 1)[0]!, line]));
  for (const at of [target, target.prototype as object]) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)) as [
      string,
      { value?: unknown },
    ][]) {
      const line = own.get(name) ?? name;
      if (typeof value !== "function" || name === "constructor" || line.endsWith(" !")) continue;
      Object.defineProperty(at, name, {
        value(...args: unknown[]) {
          return (value as Method).apply(this, line === name && args.length === 0 ? args : taken(line, args, prefix));
        },
      });
    }
  }
  return target;
}
