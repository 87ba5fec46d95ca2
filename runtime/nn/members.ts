// What modules keep beside their properties: buffers, hooks, the order of names; and which names members may have.

import { original } from "../base/capturing.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { Hooks } from "./hooks.js";
import type { Module } from "./module.js";

export type Named<T> = [name: string, value: T];

export class Hidden {
  readonly buffers = new Map<string, Tensor | null>();
  readonly transient = new Set<string>();
  readonly hooks = new Hooks();
  /** Names in the order in which they were given, where it is not that of the properties. */
  readonly order = new Set<string>();
}
/** Tensors of nn.Buffer that no module has registered yet, and how many: a module looks for its own when it is used. */
export const unassigned = { buffers: new WeakMap<object, boolean>(), count: 0 };

/** Registers the buffers that were assigned as properties. */
function adopt(module: Module): void {
  const own = Object.entries(module).filter(([, value]) => unassigned.buffers.has(value as object)),
    persistent = own.map(([, value]) => unassigned.buffers.get(value as object));
  for (const [, value] of own) unassigned.buffers.delete(value as object);
  unassigned.count -= own.length;
  own.forEach(([name, value], i) => {
    delete properties(module)[name];
    module.register_buffer(name, value as Tensor, persistent[i]);
  });
}

/** A compiled module (torch.compile) holds what the one does that it stands for. */
class Known extends WeakMap<object, Hidden> {
  override get(module: object): Hidden | undefined {
    const found = super.get(module) ?? super.get((module as { [original]?: object })[original]!);
    if (found && unassigned.count > 0) adopt(module as Module);
    return found;
  }
}
export const hidden = /* @__PURE__ */ new Known();

const isNumber = (name: string): boolean => /^(0|[1-9]\d*)$/.test(name);

/**
 * Called before a member gets a name: the properties of an object that are called by numbers come first, in their
 * order.
 */
export function remember(module: Module, name: string): void {
  if (!isNumber(name)) return;
  const names = Object.keys(module),
    last = names[names.length - 1],
    { order } = hidden.get(module)!;
  if (last === undefined || name in module || (isNumber(last) && Number(last) < Number(name))) return;
  for (const earlier of [...names, name]) order.add(earlier);
}

/** The properties of a module in the order in which they were given. */
export function entriesOf(module: Module): Named<unknown>[] {
  const all = Object.entries(module),
    { order } = hidden.get(module)!;
  if (order.size === 0) return all;
  const places = new Map([...order].map((name, i) => [name, i])),
    place = (name: string) => places.get(name) ?? order.size;
  return all.sort(([a], [b]) => place(a) - place(b));
}

/** Takes a parameter or a buffer away, so that something else can have its name. */
export function forget(module: Module, name: string): void {
  hidden.get(module)!.buffers.delete(name);
  delete properties(module)[name];
}

/** Forgets the order of names: all are given anew. */
export const forgetOrder = (module: Module): void => {
  hidden.get(module)!.order.clear();
};

/** What a module has of this name, if that is more than what every object of JavaScript has. */
export const memberOf = (module: Module, name: string): unknown =>
  Object.hasOwn(module, name) || !(name in Object.prototype) ? properties(module)[name] : undefined;

/** Gives a module a parameter or a module, whatever its name: `__proto__` stays its prototype's. */
export function place(module: Module, name: string, value: unknown): void {
  remember(module, name);
  if (Object.hasOwn(module, name) || !(name in Object.prototype)) properties(module)[name] = value;
  else Object.defineProperty(module, name, { value, writable: true, enumerable: true, configurable: true });
}

export const properties = (module: Module) => module as unknown as Record<string, unknown>;

/** Whether a value is a module: all are known from when they are made. */
export const isModule = (value: unknown): value is Module =>
  typeof value === "function" && hidden.get(value) !== undefined;

/** Throws unless a new parameter, buffer or module may have this name. */
export function checkName(what: string, module: Module, name: string): void {
  if (typeof name !== "string") throw new TypeMismatchError(`${what} name should be a string. Got ${describe(name)}`);
  if (name.includes(".")) throw new OpError(`${what} name can't contain ".", got: ${name}`);
  if (name === "") throw new OpError(`${what} name can't be empty string ""`);
  // A field declared by a class is there already, without a value.
  if ((memberOf(module, name) ?? null) !== null) throw new OpError(`attribute '${name}' already exists`);
}
