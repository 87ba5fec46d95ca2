// Modules within modules: by path, all of them, and the tensors that they hold.

import { text } from "../base/argument-kinds.js";
import { nameOf } from "../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { type Named, entriesOf, isModule, memberOf, place, properties } from "./members.js";
import type { Module } from "./module.js";

/** What named_parameters and named_buffers take by name. */
export interface Walk {
  prefix?: string;
  recurse?: boolean;
  remove_duplicate?: boolean;
}

/** A module and all within by path, each `once`. */
export function* walk(module: Module, prefix: string, once: boolean, seen: Set<Module>): Generator<Named<Module>> {
  if (once && seen.has(module)) return;
  seen.add(module);
  yield [prefix, module];
  for (const [name, value] of entriesOf(module)) {
    if (isModule(value)) yield* walk(value, prefix ? `${prefix}.${name}` : name, once, seen);
  }
}

/** The tensors that `of` finds in a module and, with `recurse`, in all within. */
export function* tensorsWithin(
  root: Module,
  op: string,
  args: unknown[],
  of: (module: Module) => Iterable<[string, unknown]>,
): Generator<[string, unknown]> {
  const [prefix = "", recurse = true, once = true] = taken(`${op} prefix? recurse? remove_duplicate?`, args) as [
    string?,
    boolean?,
    boolean?,
  ];
  const seen = new Set<unknown>();
  for (const [path, module] of recurse ? walk(root, prefix, once, new Set()) : [[prefix, root] as Named<Module>]) {
    for (const [name, value] of of(module)) {
      if (!(value instanceof Tensor) || (once && seen.has(value))) continue;
      seen.add(value);
      yield [path ? `${path}.${name}` : name, value];
    }
  }
}

/** Throws unless `value` is a module. */
export function checkModule(value: unknown, where: string): Module {
  if (isModule(value)) return value;
  const name = typeof value === "function" && "named_modules" in Object(value.prototype) && value.name;
  throw new TypeMismatchError(
    name
      ? `${where}: ${name} is a class, not a module: ${name}(...) makes one`
      : `${where}: ${describe(value)} is not a Module subclass`,
  );
}

/** The module at a path. */
export function submoduleOf(root: Module, target: string): Module {
  let module = root;
  text(target, "get_submodule", "target");
  for (const name of target ? target.split(".") : []) {
    if (!(name in module)) throw new OpError(`${nameOf(module)} has no attribute \`${name}\``);
    const next = properties(module)[name];
    if (!isModule(next)) throw new OpError(`\`${name}\` is not an nn.Module`);
    module = next;
  }
  return module;
}

/** Puts what `made` gives at a path; with `strict` only where something is. */
export function setSubmodule(root: Module, target: string, made: () => Module, strict: boolean): void {
  text(target, "set_submodule", "target");
  if (target === "") throw new OpError("Cannot set the submodule without a target name!");
  const at = target.lastIndexOf("."),
    owner = root.get_submodule(target.slice(0, Math.max(at, 0))),
    name = target.slice(at + 1);
  const module = made();
  const there = memberOf(owner, name);
  if (strict && there === undefined) throw new OpError(`${nameOf(owner)} has no attribute \`${name}\``);
  if (there !== undefined && !isModule(there)) throw new OpError(`\`${name}\` is not an nn.Module`);
  place(owner, name, module);
}

/** What a path names: the tensor, module or other property. */
export function attributeOf(root: Module, target: string): unknown {
  text(target, "get_parameter", "target");
  const at = target.lastIndexOf("."),
    module = root.get_submodule(target.slice(0, Math.max(at, 0))),
    name = target.slice(at + 1);
  if (!(name in module)) throw new OpError(`${nameOf(module)} has no attribute \`${name}\``);
  return properties(module)[name];
}

/** Throws where a module contains itself, so that what goes through all within would not end. */
export function acyclic(
  module: Module,
  op: string,
  above: Set<Module> = new Set(),
  done: Set<Module> = new Set(),
): void {
  if (above.has(module)) throw new OpError(`${op}: a ${nameOf(module)} contains itself`);
  if (done.has(module)) return;
  above.add(module);
  for (const child of module.children()) acyclic(child, op, above, done);
  above.delete(module);
  done.add(module);
}
