// Modules of modules: in a row, in lists, by name; and what those of parameters (parameter-containers.ts) have in
// common with them.

import { classOf, nameOf } from "../base/class-name.js";
import { IndexError, OpError, describe } from "../base/errors.js";
import { listOf, refuse, text, integer } from "../base/argument-kinds.js";
import { limited } from "../base/named-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import { Module } from "./module.js";
import { checkModule, acyclic } from "./tree.js";
import { entriesOf, forgetOrder, properties } from "./members.js";
import { showTree } from "./shown.js";

export type Entries<T> =
  | KeyedClass<T>
  | Readonly<Record<string, T>>
  | ReadonlyMap<string, T>
  | Iterable<readonly [string, T]>;
const WANTED = "an object, a Map, or a list of pairs of names and values";
export function pairs<T>(given: Entries<T>, op: string, name: string): (readonly [string, T])[] {
  if (given instanceof KeyedClass) return given.items() as [string, T][];
  if (typeof given !== "object" || given === null) refuse(op, name, WANTED, given);
  if (!(Symbol.iterator in given)) return Object.entries(given);
  const list = listOf<readonly [string, T]>(given, op, name, WANTED);
  for (const pair of list) if (!Array.isArray(pair) || pair.length !== 2) refuse(op, name, WANTED, pair);
  return list;
}
/** The ends of a slice, where there are some. */
export const ends = (op: string, start?: number, end?: number): (number | undefined)[] =>
  [start, end].map((at, i) => (at === undefined ? at : integer(at, `${op}.slice`, i === 0 ? "start" : "end")));

const isModule = (value: unknown): value is Module => value instanceof Module;
/** The properties that are of a kind, by name, in the order in which they were given. */
export const membersOf = <T>(module: Module, is: (value: unknown) => value is T): [string, T][] =>
  entriesOf(module).flatMap(([name, value]): [string, T][] => (is(value) ? [[name, value]] : []));

/** How far `[-1]` and its kin reach: what is farther has `at`. */
const BACK = 32;

/** Members by number; what is behind a negative one counts from the end. */
export abstract class Listed<T> extends Module {
  constructor() {
    super();
    // Python's `layers[-1]` would be undefined here, and `layers[-1] = layer` one member more.
    for (let n = -BACK; n < 0; n++) numbered(Listed.prototype, n);
  }
  /** All members in order, with their names. */
  protected abstract named(): [string, T][];
  protected members(): T[] {
    return this.named().map(([, member]) => member);
  }
  override get length(): number {
    return this.members().length;
  }
  get size(): number {
    return this.length;
  }
  at(index: number): T | undefined {
    return this.members().at(integer(index, `${nameOf(this)}.at`, "index"));
  }
  [Symbol.iterator](): Iterator<T> {
    return this.members()[Symbol.iterator]();
  }
  /** Members with their places, as an array has them: Python's `enumerate(layers)`. */
  entries(): IterableIterator<[number, T]> {
    return this.members().entries();
  }
  [index: number]: T;

  /** Puts these members in the place of all that are there. */
  protected replace(members: readonly T[]): void {
    const own = properties(this);
    for (const name of [...this.named().map(([name]) => name), ...members.keys()]) delete own[name];
    forgetOrder(this);
    members.forEach((member, i) => {
      own[i] = member;
    });
  }
  /** The number of a place, counted from the front. */
  protected place(index: number, length?: number): number {
    length ??= this.length;
    integer(index, nameOf(this), "index");
    const at = index < 0 ? index + length : index;
    if (at < 0 || at >= length) throw new IndexError(`index ${index} is out of range`);
    return at;
  }
}

/** A member that has a name of its own, or is counted from the end, is found by its place, too, and replaced there. */
function numbered(list: object, i: number): void {
  if (Object.hasOwn(list, i)) return;
  Object.defineProperty(list, i, {
    configurable: true,
    get(this: Places) {
      return this.named()[this.place(i)]![1];
    },
    set(this: Places, member: unknown) {
      properties(this)[this.named()[this.place(i)]![0]] = member;
    },
  });
}
/** What a row has for its own. */
interface Places extends Module {
  named(): [string, unknown][];
  place(index: number): number;
}

abstract class Modules extends Listed<Module> {
  protected override named(): [string, Module][] {
    return membersOf(this, isModule);
  }
  override add_module(name: string, module: Module | null): void {
    if (Object.getOwnPropertyDescriptor(this, name)?.get) delete properties(this)[name];
    super.add_module(name, module);
    if (name !== String(this.length - 1)) this.named().forEach(([own], i) => own !== String(i) && numbered(this, i));
  }
  append(module: Module): this {
    this.add_module(String(this.length), checkModule(module, `${nameOf(this)}.append`));
    return this;
  }
  extend(modules: Iterable<Module>): this {
    for (const module of listOf<Module>(modules, nameOf(this), "modules", "a list of modules")) this.append(module);
    return this;
  }
  insert(index: number, module: Module): this {
    const all = this.members(),
      given = integer(index, `${nameOf(this)}.insert`, "index"),
      at = given < 0 ? given + all.length : given;
    if (at < 0 || at > all.length) throw new IndexError(`Index out of range: ${index}`);
    all.splice(at, 0, checkModule(module, `${nameOf(this)}.insert`));
    this.replace(all);
    return this;
  }
  /** Takes a member out, the last one by default, and answers it. */
  pop(index?: number): Module {
    const all = this.members(),
      [gone] = all.splice(this.place(index ?? -1), 1);
    this.replace(all);
    return gone!;
  }
}

limited(Listed, "", "at index, entries, replace !, place !");
limited(Modules, "", "add_module name module, append module, extend modules, insert index module, pop key?");

class SequentialClass extends Modules {
  /**
   * Modules that run one after another.
   *
   * @param modules each gets what the one before gave; one array of them, or an object by names, is taken too
   */
  constructor(
    ...modules: Module[] | [readonly Module[]] | [Readonly<Record<string, Module>> | ReadonlyMap<string, Module>]
  ) {
    super();
    const [first] = modules,
      list = modules.length === 1 && typeof first !== "function" ? first : modules;
    const named = Array.isArray(list)
      ? (list as unknown as Module[]).map((module, i): [string, Module] => [String(i), module])
      : pairs(list as unknown as Entries<Module>, "Sequential", "modules");
    for (const [name, module] of named) this.add_module(name, checkModule(module, "Sequential"));
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  override forward(...inputs: any[]): Tensor {
    const [first, ...others] = this.members();
    if (!first) return inputs[0] as Tensor;
    return others.reduce<unknown>((value, module) => module(value), first(...inputs)) as Tensor;
  }
  /** Those from `start` up to `end` as one that runs them, with their names: `model[:-1]` is `model.slice(0, -1)`. */
  slice(start?: number, end?: number): Sequential {
    return new (classOf(this) as unknown as typeof SequentialClass)(
      new Map(this.named().slice(...ends("Sequential", start, end))),
    );
  }
}
/**
 * @param modules each gets what the one before gave; one array of them, or an object by names, is taken too
 *
 * @example
 * torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 3))(torch.ones([2, 2, 2])).shape  // [2, 3]
 */
export const Sequential = /* @__PURE__ */ callable(SequentialClass, "Sequential", "forward !, slice start? end?");
export type Sequential = SequentialClass;

class ModuleListClass extends Modules {
  /**
   * A list of modules that belong to the one it is in; it has no forward of its own.
   *
   * @param modules what it begins with
   */
  constructor(modules?: Iterable<Module> | null) {
    super();
    if (modules != null) this.extend(modules);
  }
  /** A list of those from `start` up to `end`. */
  slice(start?: number, end?: number): ModuleList {
    return new (classOf(this) as unknown as typeof ModuleListClass)(
      this.members().slice(...ends("ModuleList", start, end)),
    );
  }
  /** Equal neighbours are shown once. */
  override toString(): string {
    acyclic(this, "toString");
    const rows: { text: string; from: number; to: number }[] = [];
    this.members().forEach((module, i) => {
      const text = String(module),
        last = rows[rows.length - 1];
      if (last?.text === text) last.to = i;
      else rows.push({ text, from: i, to: i });
    });
    const shown = rows.map(({ text, from, to }): [string, string] =>
      from === to ? [`${from}`, text] : [`${from}-${to}`, `${to - from + 1} x ${text}`],
    );
    return showTree(nameOf(this), "", shown);
  }
}
/**
 * @example
 * torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()]).length  // 2
 */
export const ModuleList = /* @__PURE__ */ callable(
  ModuleListClass,
  "ModuleList",
  "constructor modules?, slice start? end?",
);
export type ModuleList = ModuleListClass;

/** What dictionaries of modules and of parameters have in common; members are properties, too. */
abstract class KeyedClass<T> extends Module {
  protected abstract members(): [string, T][];
  protected abstract put(name: string, value: T): void;
  override get length(): number {
    return this.members().length;
  }
  get size(): number {
    return this.length;
  }
  has(name: string): boolean {
    text(name, `${nameOf(this)}.has`, "key");
    return this.members().some(([key]) => key === name);
  }
  /** The member of this name; where there is none, the default. */
  get<D = null>(name: string, otherwise: D | null = null): T | D | null {
    text(name, `${nameOf(this)}.get`, "key");
    const found = this.members().find(([key]) => key === name);
    return found ? found[1] : otherwise;
  }
  set(name: string, value: T): this {
    this.put(name, value);
    return this;
  }
  keys(): string[] {
    return this.members().map(([key]) => key);
  }
  values(): T[] {
    return this.members().map(([, value]) => value);
  }
  items(): [string, T][] {
    return this.members();
  }
  entries(): [string, T][] {
    return this.members();
  }
  update(given: Entries<T>): this {
    for (const [name, value] of pairs(given, nameOf(this), "update")) this.put(name, value);
    return this;
  }
  /** Takes a member out and answers it. */
  pop(name: string): T {
    const value = this.get(name);
    if (value === null) throw new OpError(`${nameOf(this)}: no member is called ${describe(name)}`);
    delete (this as unknown as Record<string, unknown>)[name];
    return value;
  }
  clear(): void {
    for (const name of this.keys()) this.pop(name);
  }
  [Symbol.iterator](): Iterator<string> {
    return this.keys()[Symbol.iterator]();
  }
}

// A bundle without dictionaries leaves it out.
export const Keyed = /* @__PURE__ */ limited(
  KeyedClass,
  "",
  "has key, get key default?, set key value, update modules{}, pop key",
);

class ModuleDictClass<M extends Module = Module> extends Keyed<M> {
  /** Modules by name; it has no forward of its own. */
  constructor(modules?: Entries<M> | null) {
    super();
    if (modules != null) this.update(modules);
  }
  protected override members(): [string, M][] {
    return membersOf(this, isModule) as [string, M][];
  }
  protected override put(name: string, module: M): void {
    this.add_module(name, checkModule(module, "ModuleDict"));
  }
}
/** An object's members, which the dictionary made of it has as properties, too, where their names are known. */
export type Members<R, T> = string extends keyof R ? unknown : R extends Readonly<Record<string, T>> ? R : unknown;
interface ModuleDictMaker {
  /** @param modules an object, a Map, or a list of pairs of names and modules */
  new <M extends Module = Module, R = unknown>(
    modules?: (R & Readonly<Record<string, M>>) | Entries<M> | null,
  ): ModuleDictClass<M> & Members<R, Module>;
  <M extends Module = Module, R = unknown>(
    modules?: (R & Readonly<Record<string, M>>) | Entries<M> | null,
  ): ModuleDictClass<M> & Members<R, Module>;
}
/**
 * Modules by name.
 *
 * @example
 * [...torch.nn.ModuleDict({ act: torch.nn.ReLU() }).keys()]  // ["act"]
 */
export const ModuleDict = /* @__PURE__ */ callable(
  ModuleDictClass,
  "ModuleDict",
  "constructor modules{}?, put !",
) as unknown as ModuleDictMaker;
export type ModuleDict<M extends Module = Module> = ModuleDictClass<M>;
