// Modules: trees of parameters, buffers and modules that can be called.  A property that holds a parameter or a module
// belongs to the module; buffers are registered.

import type { Device } from "../device.js";
import { isDType, isFloat, toDType, type DType } from "../dtype.js";
import { OpError, TypeMismatchError, describe } from "../errors.js";
import { no_grad } from "../grad-mode.js";
import { keep } from "../memory.js";
import { sameShape, showShape } from "../shape.js";
import { Tensor } from "../tensor.js";
import { callable } from "./callable.js";
import { Parameter } from "./parameter.js";
import { type StateSource, fetchState, toTensor } from "./state.js";

type Named<T> = [string, T];
type ForwardHook = (module: ModuleClass, args: unknown[], output: unknown) => unknown;
type PreHook = (module: ModuleClass, args: unknown[]) => unknown;

interface Hidden {
  buffers: Map<string, Tensor | null>;
  transient: Set<string>;
  hooks: Set<ForwardHook>;
  preHooks: Set<PreHook>;
}
const hidden = new WeakMap<object, Hidden>();

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
interface ModuleClass {
  /** As forward, with hooks. */
  (...args: unknown[]): Tensor;
}

class ModuleClass {
  /** Whether dropout and batch statistics are on. */
  training = true;

  constructor() {
    // An instance is a function that has the class as its prototype, so that it can be called.
    const self = ((...args: unknown[]) => invoke(self, args)) as unknown as ModuleClass;
    Object.setPrototypeOf(self, new.target.prototype as object);
    delete (self as { name?: unknown }).name;
    delete (self as { length?: unknown }).length;
    hidden.set(self, { buffers: new Map(), transient: new Set(), hooks: new Set(), preHooks: new Set() });
    Object.defineProperty(self, "training", { value: true, writable: true, enumerable: false, configurable: true });
    return self;
  }

  forward(..._args: unknown[]): unknown {
    throw new TypeMismatchError(`Module [${this.constructor.name}] is missing the required "forward" function`);
  }

  // --- What belongs to it ---------------------------------------------------------------------------

  register_buffer(name: string, tensor: Tensor | null, options: boolean | { persistent?: boolean } = true): void {
    const state = hidden.get(this)!;
    state.buffers.set(name, tensor && keep(tensor));
    if (!(typeof options === "boolean" ? options : options.persistent ?? true)) state.transient.add(name);
    Object.defineProperty(this, name, {
      get: () => state.buffers.get(name), set: (value: Tensor | null) => { state.buffers.set(name, value && keep(value)); },
      enumerable: false, configurable: true,
    });
  }
  register_parameter(name: string, parameter: Tensor | null): void {
    (this as unknown as Record<string, unknown>)[name] = parameter;
  }
  register_module(name: string, module: ModuleClass | null): void {
    (this as unknown as Record<string, unknown>)[name] = module;
  }
  add_module(name: string, module: ModuleClass | null): void { this.register_module(name, module); }

  *named_children(): Generator<Named<ModuleClass>> {
    for (const [name, value] of Object.entries(this)) if (value instanceof ModuleClass) yield [name, value];
  }
  *children(): Generator<ModuleClass> { for (const [, module] of this.named_children()) yield module; }

  /** This module and all within, each once. */
  *named_modules(prefix = "", seen = new Set<ModuleClass>()): Generator<Named<ModuleClass>> {
    if (seen.has(this)) return;
    seen.add(this);
    yield [prefix, this];
    for (const [name, module] of this.named_children()) yield* module.named_modules(prefix ? `${prefix}.${name}` : name, seen);
  }
  *modules(): Generator<ModuleClass> { for (const [, module] of this.named_modules()) yield module; }

  *named_parameters(prefix = "", recurse = true): Generator<Named<Parameter>> {
    const seen = new Set<Tensor>();
    for (const [path, module] of recurse ? this.named_modules(prefix) : [[prefix, this] as Named<ModuleClass>]) {
      for (const [name, value] of Object.entries(module)) {
        if (!(value instanceof Parameter) || seen.has(value)) continue;
        seen.add(value);
        yield [path ? `${path}.${name}` : name, value];
      }
    }
  }
  /** The parameters, each once, in the order they were made. */
  parameters(recurse = true): Parameter[] { return Array.from(this.named_parameters("", recurse), ([, p]) => p); }

  *named_buffers(prefix = ""): Generator<Named<Tensor>> {
    for (const [path, module] of this.named_modules(prefix)) {
      for (const [name, value] of hidden.get(module)!.buffers) if (value) yield [path ? `${path}.${name}` : name, value];
    }
  }
  buffers(): Tensor[] { return Array.from(this.named_buffers(), ([, b]) => b); }
  get_submodule(target: string): ModuleClass {
    let module: ModuleClass = this;
    for (const name of target ? target.split(".") : []) {
      const next = (module as unknown as Record<string, unknown>)[name];
      if (!(next instanceof ModuleClass)) throw new OpError(`${module.constructor.name} has no attribute \`${name}\``);
      module = next;
    }
    return module;
  }

  // --- State ----------------------------------------------------------------------------------------

  /** The values of all parameters and buffers, by path; the tensors share the module's memory. */
  state_dict(): Record<string, Tensor> {
    const out: Record<string, Tensor> = {};
    for (const [path, module] of this.named_modules()) {
      const at = (name: string) => (path ? `${path}.${name}` : name), state = hidden.get(module)!;
      for (const [name, value] of Object.entries(module)) if (value instanceof Parameter) out[at(name)] = value.detach();
      for (const [name, value] of state.buffers) if (value && !state.transient.has(name)) out[at(name)] = value;
    }
    return out;
  }

  /** Copies values into the parameters and buffers.  `source`: tensors or arrays by path; or a URL, and then a promise. */
  load_state_dict(source: string | URL, options?: boolean | { strict?: boolean }): Promise<LoadReport>;
  load_state_dict(source: StateSource, options?: boolean | { strict?: boolean }): LoadReport;
  load_state_dict(source: StateSource | string | URL, options: boolean | { strict?: boolean } = true): LoadReport | Promise<LoadReport> {
    const strict = typeof options === "boolean" ? options : options.strict ?? true;
    if (typeof source === "string" || source instanceof URL) return fetchState(source).then((state) => this.load_state_dict(state, strict));
    const entries = source instanceof Map ? Object.fromEntries(source) as StateSource : source;
    const own = this.state_dict(), given = entries as Record<string, unknown>;
    const missing_keys = Object.keys(own).filter((k) => !(k in given)), unexpected_keys = Object.keys(given).filter((k) => !(k in own));
    const wrong: string[] = [];
    if (strict && unexpected_keys.length) wrong.push(`Unexpected key(s) in state_dict: ${unexpected_keys.map((k) => `"${k}"`).join(", ")}.`);
    if (strict && missing_keys.length) wrong.push(`Missing key(s) in state_dict: ${missing_keys.map((k) => `"${k}"`).join(", ")}.`);
    const pairs = Object.entries(own).filter(([k]) => k in given).map(([k, target]) => {
      const value = toTensor(given[k], target);
      if (!sameShape(value.shape, target.shape)) {
        wrong.push(`size mismatch for ${k}: copying a param with shape ${showShape(value.shape)} from checkpoint, the shape in current model is ${showShape(target.shape)}.`);
      }
      return [target, value] as const;
    });
    if (wrong.length) throw new OpError(`Error(s) in loading state_dict for ${this.constructor.name}:\n\t${wrong.join("\n\t")}`);
    no_grad(() => { for (const [target, value] of pairs) target.copy_(value); });
    return { missing_keys, unexpected_keys };
  }

  // --- Modes ----------------------------------------------------------------------------------------

  train(mode = true): this {
    for (const module of this.modules()) module.training = mode;
    return this;
  }
  eval(): this { return this.train(false); }
  requires_grad_(value = true): this {
    for (const p of this.parameters()) p.requires_grad_(value);
    return this;
  }
  zero_grad(): void { for (const p of this.parameters()) p.grad = null; }
  /** Calls `f` with every module within, then with this one. */
  apply(f: (module: ModuleClass) => void): this {
    for (const child of this.children()) child.apply(f);
    f(this);
    return this;
  }

  /** Moves all parameters and buffers to a device or (the floating ones) to a type.  From a GPU to the CPU: a promise. */
  to(target: string | Device | { device?: string | Device; dtype?: DType }, dtype?: DType): this | Promise<this> {
    const named = typeof target === "object" && !("execute" in target) ? target : {};
    const type = named.dtype ?? (isDType(target) ? toDType(target) : dtype);
    const device = named.device ?? (isDType(target) || target === named ? undefined : (target as string | Device));
    const waits: Promise<void>[] = [];
    no_grad(() => {
      for (const x of [...this.parameters(), ...this.buffers()]) {
        const options = { ...(type && isFloat(x.dtype) ? { dtype: toDType(type) } : {}), ...(device ? { device } : {}) };
        for (const part of x.grad ? [x, x.grad] : [x]) {
          const moved = part.detach().to(options);
          if (moved instanceof Promise) waits.push(moved.then((m) => { part.set_data(m); }));
          else part.set_data(moved);
        }
      }
    });
    return waits.length ? Promise.all(waits).then(() => this) : this;
  }
  cpu(): this | Promise<this> { return this.to("cpu"); }
  float(): this { return this.to("float32") as this; }
  double(): this { return this.to("float64") as this; }
  half(): this { return this.to("float16") as this; }

  // --- Hooks ----------------------------------------------------------------------------------------

  /** Calls `hook(module, args, output)` after forward; what it answers replaces the output. */
  register_forward_hook(hook: ForwardHook): { remove(): void } {
    const { hooks } = hidden.get(this)!;
    hooks.add(hook);
    return { remove: () => { hooks.delete(hook); } };
  }
  /** Calls `hook(module, args)` before forward; what it answers replaces the arguments. */
  register_forward_pre_hook(hook: PreHook): { remove(): void } {
    const { preHooks } = hidden.get(this)!;
    preHooks.add(hook);
    return { remove: () => { preHooks.delete(hook); } };
  }

  /** What stands between the parentheses when the module is printed. */
  extra_repr(): string { return ""; }
  toString(): string {
    const lines = Array.from(this.named_children(), ([name, m]) => `  (${name}): ${String(m).replaceAll("\n", "\n  ")}`);
    const name = this.constructor.name.replace(/(Class|_)$/, "");
    return lines.length ? `${name}(\n${lines.join("\n")}\n)` : `${name}(${this.extra_repr()})`;
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string { return this.toString(); }
}

export interface LoadReport {
  missing_keys: string[];
  unexpected_keys: string[];
}

function invoke(module: ModuleClass, args: unknown[]): unknown {
  const { hooks, preHooks } = hidden.get(module)!;
  let input = args;
  for (const hook of preHooks) {
    const answer = hook(module, input);
    if (answer !== undefined && answer !== null) input = Array.isArray(answer) ? answer : [answer];
  }
  let output = module.forward(...input);
  for (const hook of hooks) {
    const answer = hook(module, input, output);
    if (answer !== undefined && answer !== null) output = answer;
  }
  return output;
}

/** Throws unless `value` is a module. */
export function checkModule(value: unknown, where: string): ModuleClass {
  if (value instanceof ModuleClass) return value;
  throw new TypeMismatchError(`${where}: ${describe(value)} is not a Module subclass`);
}

export const Module = callable(ModuleClass);
export type Module = ModuleClass;
