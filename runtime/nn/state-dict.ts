// state_dict: the values of a module's parameters and buffers, by path.

import { OpError } from "../base/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { EXTRA } from "./load-state.js";
import { entriesOf, hidden } from "./members.js";
import type { Module } from "./module.js";
import { Parameter } from "./parameter.js";
import { acyclic } from "./tree.js";

/** `before` stands before each path; `none`: the method of modules that keep nothing else. */
export function stateOf(
  root: Module,
  before: string,
  keepVars: boolean,
  none: Module["get_extra_state"],
): Record<string, Tensor> {
  acyclic(root, "state_dict");
  const found: [string, Tensor][] = [],
    ends: (() => void)[] = [];
  for (const [path, module] of root.named_modules({ remove_duplicate: false })) {
    const at = (name: string) => before + (path ? `${path}.${name}` : name),
      { buffers, transient, hooks } = hidden.get(module)!;
    for (const { run } of hooks.saving) run(module, at(""), keepVars);
    for (const { run } of hooks.saved)
      ends.unshift(() => {
        if (((run(module, out, at(""), {}) as unknown) ?? null) !== null)
          throw new OpError("state_dict post-hook must return None");
      });
    for (const [name, value] of entriesOf(module))
      if (value instanceof Parameter) found.push([at(name), keepVars ? value : value.detach()]);
    for (const [name, value] of buffers) if (value && !transient.has(name)) found.push([at(name), value]);
    if (module.get_extra_state !== none) found.push([at(EXTRA), module.get_extra_state() as Tensor]);
  }
  const out = Object.fromEntries(found);
  for (const end of ends) end();
  return out;
}
