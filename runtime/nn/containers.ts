// Modules of modules and of parameters: in a row, in lists, by name.

import { classOf, nameOf } from "../base/class-name.js";
import { IndexError, OpError, describe } from "../base/errors.js";
import { listOf, refuse, text, integer } from "../base/argument-kinds.js";
import { isOptions, limited } from "../base/named-arguments.js";
import { TYPE_NAMES } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import { Module } from "./module.js";
import { checkModule, acyclic } from "./tree.js";
import { entriesOf, forgetOrder } from "./members.js";
import { Parameter } from "./parameter.js";
import { indented, showTree } from "./shown.js";

type Entries<T> = KeyedClass<T> | Readonly<Record<string, T>> | ReadonlyMap<string, T> | Iterable<readonly [string, T]>;
const WANTED = "an object, a Map, or a list of pairs of names and values";
function pairs<T>(given: Entries<T>, op: string, name: string): (readonly [string, T])[] {
  if (given instanceof KeyedClass) return given.items() as [string, T][];
  if (typeof given !== "object" || given === null) refuse(op, name, WANTED, given);
  if (!(Symbol.iterator in given)) return Object.entries(given);
  const list = listOf<readonly [string, T]>(given, op, name, WANTED);
  for (const pair of list) if (!Array.isArray(pair) || pair.length !== 2) refuse(op, name, WANTED, pair);
  return list;
}
/** The ends of a slice, where there are some. */
const ends = (op: string, start?: number, end?: number): (number | undefined)[] =>
  [start, end].map((at, i) => (at === undefined ? at : integer(at, `${op}.slice`, i === 0 ? "start" : "end")));

const isModule = (value: unknown): value is Module => value instanceof Module;
const isParameter = (value: unknown): value is Parameter => value instanceof Parameter;
/** The properties that are of a kind, by name, in the order in which they were given. */
const membersOf = <T>(module: Module, is: (value: unknown) => value is T): [string, T][] =>
  entriesOf(module).flatMap(([name, value]): [string, T][] => (is(value) ? [[name, value]] : []));

/** Members by number; what is behind a negative one counts from the end. */
abstract class Listed<T> extends Module {
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
    const own = this as unknown as Record<string, unknown>;
    for (const [name] of this.named()) delete own[name];
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
    if (!Number.isInteger(index) || at < 0 || at >= length) throw new IndexError(`index ${index} is out of range`);
    return at;
  }
}

abstract class Modules extends Listed<Module> {
  protected override named(): [string, Module][] {
    return membersOf(this, isModule);
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
limited(Modules, "", "append module, extend modules, insert index module, pop key?");

class SequentialClass extends Modules {
  /** Modules that run one after another; one array of them, or an object by names, is taken too. */
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
 * @example
 * torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 3))(torch.ones([2, 2, 2])).shape  // [2, 3]
 */
export const Sequential = /* @__PURE__ */ callable(SequentialClass, "Sequential", "forward !, slice start? end?");
export type Sequential = SequentialClass;

class ModuleListClass extends Modules {
  /** A list of modules that belong to the one it is in; it has no forward of its own. */
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
  get(name: string): T | undefined {
    text(name, `${nameOf(this)}.get`, "key");
    return this.members().find(([key]) => key === name)?.[1];
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
    if (value === undefined) throw new OpError(`${nameOf(this)}: no member is called ${describe(name)}`);
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
const Keyed = /* @__PURE__ */ limited(KeyedClass, "", "has key, get key, set key value, update modules{}, pop key");

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
type Members<R, T> = string extends keyof R ? unknown : R extends Readonly<Record<string, T>> ? R : unknown;
interface ModuleDictMaker {
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

const asParameter = (value: Tensor): Parameter => (value instanceof Parameter ? value : new Parameter(value));
/**
 * A list's or dictionary's parameters as PyTorch prints them: several on lines of their own; `type`: how it calls a
 * type there.
 */
function showParameters(
  name: string,
  parameters: readonly (readonly [string, Parameter])[],
  type: (p: Parameter) => string,
): string {
  const lines = parameters
    .map(([key, p]) => `  (${key}): Parameter containing: [${type(p)} of size ${p.shape.join("x")}]`)
    .join("\n");
  return parameters.length > 1 ? `${name}(${indented(`\n${lines}`)}\n)` : `${name}(${lines})`;
}

class ParameterListClass extends Listed<Parameter> {
  /** A list of parameters that belong to the module it is in; other tensors become parameters. */
  constructor(values?: Iterable<Tensor> | null) {
    super();
    if (values != null) this.extend(values);
  }
  protected override named(): [string, Parameter][] {
    return membersOf(this, isParameter);
  }
  append(value: Tensor): this {
    this.register_parameter(String(this.length), asParameter(value));
    return this;
  }
  extend(values: Iterable<Tensor>): this {
    for (const value of listOf<Tensor>(values, nameOf(this), "parameters", "a list of tensors")) this.append(value);
    return this;
  }
  pop(index?: number): Parameter {
    const all = this.members(),
      [gone] = all.splice(this.place(index ?? -1), 1);
    this.replace(all);
    return gone!;
  }
  /** A list of those from `start` up to `end`. */
  slice(start?: number, end?: number): ParameterList {
    return new (classOf(this) as unknown as typeof ParameterListClass)(
      this.members().slice(...ends("ParameterList", start, end)),
    );
  }
  override toString(): string {
    return showParameters("ParameterList", this.named(), ({ dtype }) => `torch.${dtype}`);
  }
}
/**
 * @example
 * torch.nn.ParameterList([torch.nn.Parameter(torch.ones([2]))]).length  // 1
 */
export const ParameterList = /* @__PURE__ */ callable(
  ParameterListClass,
  "ParameterList",
  "constructor values?, append value, extend values, pop idx?, slice start? end?",
);
export type ParameterList = ParameterListClass;

/** As in PyTorch, those of an object come by their names; a list of pairs, a Map and a ParameterDict keep their order. */
function inOrder<T extends Tensor>(given: Entries<T>, name: string): (readonly [string, T])[] {
  const found = pairs(given, "ParameterDict", name);
  return isOptions(given) ? [...found].sort(([a], [b]) => (a < b ? -1 : 1)) : found;
}

class ParameterDictClass extends Keyed<Parameter> {
  /** Parameters by name; other tensors become parameters. */
  constructor(parameters?: Entries<Tensor> | null) {
    super();
    for (const [name, value] of inOrder(parameters ?? {}, "parameters")) this.put(name, value);
  }
  override update(given: Entries<Parameter>): this {
    return super.update(inOrder(given, "update"));
  }
  protected override members(): [string, Parameter][] {
    return membersOf(this, isParameter);
  }
  protected override put(name: string, value: Tensor): void {
    this.register_parameter(name, asParameter(value));
  }
  /** The parameter of this name, which the default becomes where there is none. */
  setdefault(key: string, value?: Tensor | null): Parameter | null {
    if (!this.has(key)) this.register_parameter(key, value == null ? null : asParameter(value));
    return this.get(key) ?? null;
  }
  /** Takes out the last one, and answers its name and itself. */
  popitem(): [string, Parameter] {
    const last = this.keys().pop();
    if (last === undefined) throw new OpError("popitem: the ParameterDict is empty");
    return [last, this.pop(last)];
  }
  copy(): ParameterDictClass {
    return new ParameterDict(this.items());
  }
  /** One where all these names have one parameter. */
  fromkeys(keys: Iterable<string>, value: Tensor): ParameterDictClass {
    return new ParameterDict([...keys].map((key) => [key, value] as const));
  }
  override toString(): string {
    return showParameters("ParameterDict", this.members(), ({ dtype }) => `torch.${TYPE_NAMES[dtype]}Tensor`);
  }
}
type Parameters<R> = Members<R, Tensor> extends R ? { [K in keyof R]: Parameter } : unknown;
interface ParameterDictMaker {
  new <R = unknown>(
    parameters?: (R & Readonly<Record<string, Tensor>>) | Entries<Tensor> | null,
  ): ParameterDictClass & Parameters<R>;
  <R = unknown>(
    parameters?: (R & Readonly<Record<string, Tensor>>) | Entries<Tensor> | null,
  ): ParameterDictClass & Parameters<R>;
}
/**
 * Parameters by name.
 *
 * @example
 * [...torch.nn.ParameterDict({ scale: torch.nn.Parameter(torch.ones([2])) }).keys()]  // ["scale"]
 */
export const ParameterDict = /* @__PURE__ */ callable(
  ParameterDictClass,
  "ParameterDict",
  "constructor parameters{}?, put !, update parameters{}, setdefault key default?, fromkeys keys default",
) as unknown as ParameterDictMaker;
export type ParameterDict = ParameterDictClass;
