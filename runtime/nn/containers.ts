// Modules of modules.

import type { Tensor } from "../tensor.js";
import { callable } from "./callable.js";
import { Module, checkModule } from "./module.js";

class SequentialClass extends Module {
  /** Modules that run one after another; one array of them is taken too. */
  constructor(...modules: Module[] | [readonly Module[]]) {
    super();
    const list = (modules.length === 1 && Array.isArray(modules[0]) ? modules[0] : modules) as readonly Module[];
    list.forEach((module, i) => { this.add_module(String(i), checkModule(module, "Sequential")); });
  }
  override forward(input: unknown): Tensor {
    let value = input;
    for (const module of this.children()) value = module(value);
    return value as Tensor;
  }
  append(module: Module): this {
    this.add_module(String([...this.children()].length), checkModule(module, "Sequential.append"));
    return this;
  }
  [Symbol.iterator](): Iterator<Module> { return this.children(); }
}
export const Sequential = callable(SequentialClass);
export type Sequential = SequentialClass;

class ModuleListClass extends Module {
  /** A list of modules that belong to the one it is in; it has no forward of its own. */
  constructor(modules: Iterable<Module> = []) {
    super();
    for (const module of modules) this.append(module);
  }
  append(module: Module): this {
    this.add_module(String(this.size), checkModule(module, "ModuleList.append"));
    return this;
  }
  get size(): number { return [...this.children()].length; }
  at(index: number): Module | undefined { return [...this.children()].at(index); }
  [Symbol.iterator](): Iterator<Module> { return this.children(); }
}
export const ModuleList = callable(ModuleListClass);
export type ModuleList = ModuleListClass;
