// state_dict: the values of a module's parameters and buffers, by path.

import { refuse } from "../base/argument-kinds.js";
import { isOptions } from "../base/named-arguments.js";
import { nameOf } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Named, entriesOf, hidden } from "./members.js";
import type { Module } from "./module.js";
import { Parameter } from "./parameter.js";
import { acyclic } from "./tree.js";

/** The name of what a module keeps in its state beside tensors. */
export const EXTRA = "_extra_state";

export const noExtraState = (module: Module): OpError =>
  new OpError(`${nameOf(module)}: there is no extra state; override get_extra_state and set_extra_state`);

/** The tensors that a module itself has in its state. */
export function* ownState(module: Module): Generator<Named<Tensor>> {
  const { buffers, transient } = hidden.get(module)!;
  for (const [name, value] of entriesOf(module)) if (value instanceof Parameter) yield [name, value];
  for (const [name, value] of buffers) if (value && !transient.has(name)) yield [name, value];
}

/** Puts what a module itself has into a state; `none`: the method of modules that keep nothing else. */
export function saveOwn(
  module: Module,
  into: Record<string, unknown>,
  prefix: string,
  keepVars: boolean,
  none: Module["get_extra_state"],
): void {
  const put = (name: string, value: unknown) =>
    Object.defineProperty(into, prefix + name, { value, writable: true, enumerable: true, configurable: true });
  for (const [name, value] of ownState(module))
    put(name, value instanceof Parameter && !keepVars ? value.detach() : value);
  if (module.get_extra_state !== none) put(EXTRA, module.get_extra_state());
}

export interface SavingOptions {
  /** What stands before each path. */
  prefix?: string;
  /** Whether parameters are kept as they are, with their gradients. */
  keep_vars?: boolean;
  /** The object that the state is put into, and that is answered. */
  destination?: object | null;
}

/** The state of a module and all within; `before` stands before each path. */
export function stateOf(
  root: Module,
  before: string,
  keepVars: boolean,
  destination?: object | null,
): Record<string, Tensor> {
  acyclic(root, "state_dict");
  if (destination != null && !isOptions(destination)) refuse("state_dict", "destination", "an object", destination);
  const out = (destination ?? {}) as Record<string, Tensor>,
    ends: (() => void)[] = [];
  for (const [path, module] of root.named_modules({ remove_duplicate: false })) {
    const prefix = before + (path && `${path}.`),
      { hooks } = hidden.get(module)!;
    for (const { run } of hooks.saving) run(module, prefix, keepVars);
    for (const { run } of hooks.saved)
      ends.unshift(() => {
        if (((run(module, out, prefix, {}) as unknown) ?? null) !== null)
          throw new OpError("state_dict post-hook must return None");
      });
    module._save_to_state_dict(out, prefix, keepVars);
  }
  for (const end of ends) end();
  return out;
}
