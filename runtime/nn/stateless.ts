// Modules without parameters: a module that keeps options and calls an op with them.  The generated names/modules.ts
// declares them.

import { choose } from "../arguments.js";
import { binds, run, runInPlace } from "../call.js";
import type { CompiledOp } from "../compiled.js";
import { Tensor } from "../tensor.js";
import { callable } from "./callable.js";
import { Module, type Layer } from "./module.js";
import { construct } from "./options.js";
import { shown } from "./shown.js";

type Options = Record<string, unknown>;

/** A class of modules with options O: positional in the order P, or in an object at the end. */
export interface Stateless<O, P extends unknown[]> {
  (...args: P | [O] | [P[0], O]): Layer;
  new (...args: P | [O] | [P[0], O]): Layer;
}

interface Call {
  /** Options that the module's user does not choose. */
  readonly fixed?: Options;
  /** What the op calls an option that the module keeps under another name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Whether the op is told if the module is in training. */
  readonly training?: boolean;
}

/**
 * The class called `name`.  `defaults`: what it keeps, in order (undefined: it must be given); `inplace` among them
 * changes the input instead of making a result.
 */
export function stateless<O, P extends unknown[]>(name: string, defaults: Options, ops: readonly CompiledOp[],
  { fixed, renamed = {}, training = false }: Call = {}): Stateless<O, P> {
  class StatelessClass extends Module {
    constructor(...args: unknown[]) {
      super();
      for (const [key, value] of Object.entries(construct(name, defaults, args))) {
        // Tensors that are kept (a loss's weights) move with the module, as buffers.
        if (value instanceof Tensor) this.register_buffer(key, value, { persistent: true });
        else Object.defineProperty(this, key, { value, writable: true, enumerable: false, configurable: true });
      }
    }
    override forward(...inputs: Tensor[]): Tensor {
      const options: Options = { ...fixed };
      for (const key of Object.keys(defaults)) {
        const value = (this as unknown as Options)[key];
        if (key !== "inplace" && value !== null) options[renamed[key] ?? key] = value;
      }
      if (training) options.training = this.training;
      const all = Object.keys(options).length ? [...inputs, options] : inputs;
      return ((this as unknown as Options).inplace ? runInPlace : run)(choose(ops, all, binds), all) as Tensor;
    }
    override extra_repr(): string {
      if (name.endsWith("Loss")) return "";
      const kept = Object.keys(defaults).map((key) => [key, (this as unknown as Options)[key]] as const);
      return kept.filter(([key, value]) => key !== "inplace" || value).map(([key, value]) => `${key}=${shown(value)}`).join(", ");
    }
  }
  return callable(StatelessClass, name) as unknown as Stateless<O, P>;
}
