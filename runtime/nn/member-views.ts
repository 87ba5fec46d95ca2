// Modules' members as PyTorch keeps them, in dictionaries: `model._modules`, `_parameters` and `_buffers`, which programs
// walk through and replace members in.  Importing this module installs them.

import { entriesOf, forget, hidden, isModule, properties } from "./members.js";
import { Module } from "./module.js";
import { Parameter } from "./parameter.js";

type Entries = Iterable<readonly [string, unknown]>;

/** An object that has what `entries` finds in a module, and changes that. */
function view(module: Module, entries: () => Entries, put: (name: string, value: never) => void): object {
  const now = () => new Map(entries());
  return new Proxy(
    {},
    {
      get: (_, name) => now().get(name as string),
      has: (_, name) => now().has(name as string),
      ownKeys: () => [...now().keys()],
      getOwnPropertyDescriptor: (_, name) =>
        now().has(name as string)
          ? { value: now().get(name as string), writable: true, enumerable: true, configurable: true }
          : undefined,
      set(_, name, value) {
        put(String(name), value as never);
        return true;
      },
      deleteProperty(_, name) {
        if (now().has(name as string)) forget(module, name as string);
        return true;
      },
    },
  );
}

const VIEWS: Record<string, (module: Module) => object> = {
  _modules: (module) =>
    view(
      module,
      () => entriesOf(module).filter(([, value]) => isModule(value)),
      (name, value) => {
        module.add_module(name, value);
      },
    ),
  _parameters: (module) =>
    view(
      module,
      () => entriesOf(module).filter(([, value]) => value instanceof Parameter),
      (name, value) => {
        module.register_parameter(name, value);
      },
    ),
  _buffers: (module) =>
    view(
      module,
      () => hidden.get(module)!.buffers,
      (name, value) => {
        if (hidden.get(module)!.buffers.has(name)) properties(module)[name] = value;
        else module.register_buffer(name, value);
      },
    ),
};
for (const [name, make] of Object.entries(VIEWS))
  Object.defineProperty(Module.prototype, name, {
    get(this: Module) {
      return make(this);
    },
    configurable: true,
  });
