// Modules: trees of parameters, buffers and modules that can be called.  A property that holds a parameter or a module
// belongs to the module; buffers are registered.  Hooks are in hooks.ts, loading of state in load-state.ts.

import { fill_ } from "../views/transfer.js";
import * as copying from "../views/transfer.js";
import { compiler, original } from "../base/capturing.js";
import { type Device, type GpuName, toDevice } from "../devices/device.js";
import { isDType, isFloat, toDType, type DType } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { callable as callableOf, flag, text } from "../base/argument-kinds.js";
import { keep } from "../tensor/memory.js";
import { atMost, given, isOptions, optionsIn, taken } from "../base/named-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import {
  Hooks,
  hookInto,
  forwarded,
  invoke,
  type BackwardHook,
  type BackwardPreHook,
  type Gradients,
  type StateHooks,
  type ForwardHook,
  type ForwardPreHook,
  type RemovableHandle,
} from "./hooks.js";
import { LOADING } from "../files/destination.js";
import { EXTRA, loadState, type LoadReport } from "./load-state.js";
import { empty } from "../creation/create.js";
import { Parameter } from "./parameter.js";
import { showTree } from "./shown.js";
import { type FileLike, type StateOptions, type StateSource, isFile, readState } from "./state.js";

/** What `to` takes by name. */
interface Destination {
  device?: string | Device;
  dtype?: DType;
  tensor?: Tensor;
}
const DESTINATION = ["device", "dtype", "tensor", "non_blocking", "memory_format"];

type Named<T> = [name: string, value: T];

class Hidden {
  readonly buffers = new Map<string, Tensor | null>();
  readonly transient = new Set<string>();
  readonly hooks = new Hooks();
  /** Names in the order in which they were given, where it is not that of the properties. */
  readonly order = new Set<string>();
}
/** A compiled module (torch.compile) holds what the one does that it stands for. */
class Known extends WeakMap<object, Hidden> {
  override get(module: object): Hidden | undefined {
    return super.get(module) ?? super.get((module as { [original]?: object })[original]!);
  }
}
const hidden = /* @__PURE__ */ new Known();

const isNumber = (name: string): boolean => /^(0|[1-9]\d*)$/.test(name);

/**
 * Called before a member gets a name: the properties of an object that are called by numbers come first, in their
 * order.
 */
function remember(module: ModuleClass, name: string): void {
  if (!isNumber(name)) return;
  const names = Object.keys(module),
    last = names[names.length - 1],
    { order } = hidden.get(module)!;
  if (last === undefined || name in module || (isNumber(last) && Number(last) < Number(name))) return;
  for (const earlier of [...names, name]) order.add(earlier);
}

/** The properties of a module in the order in which they were given. */
export function entriesOf(module: ModuleClass): Named<unknown>[] {
  const all = Object.entries(module),
    { order } = hidden.get(module)!;
  if (order.size === 0) return all;
  const places = new Map([...order].map((name, i) => [name, i])),
    place = (name: string) => places.get(name) ?? order.size;
  return all.sort(([a], [b]) => place(a) - place(b));
}

/** Takes a parameter or a buffer away, so that something else can have its name. */
export function forget(module: ModuleClass, name: string): void {
  hidden.get(module)!.buffers.delete(name);
  delete properties(module)[name];
}

/** Forgets the order of names: all are given anew. */
export const forgetOrder = (module: ModuleClass): void => {
  hidden.get(module)!.order.clear();
};

export interface Walk {
  prefix?: string;
  recurse?: boolean;
  remove_duplicate?: boolean;
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
interface ModuleClass {
  /** As forward, with hooks. */
  (...args: Parameters<this["forward"]>): ReturnType<this["forward"]>;
}

/**
 * What a module did to itself so that a state can be compared with it: `settle` once all fits, `undo` where it does
 * not.
 */
export interface Loading {
  settle(): void;
  undo(): void;
}

class ModuleClass {
  /** Whether dropout and batch statistics are on. */
  declare training: boolean;

  constructor() {
    // An instance is a function that has the class as its prototype, so that it can be called.
    const self = ((...args: unknown[]) => invoke(self, hidden.get(self)!.hooks, args)) as unknown as ModuleClass;
    Object.setPrototypeOf(self, new.target.prototype as object);
    delete (self as { name?: unknown }).name;
    delete (self as { length?: unknown }).length;
    hidden.set(self, new Hidden());
    Object.defineProperty(self, "training", { value: true, writable: true, enumerable: false, configurable: true });
    return self;
  }

  // Subclasses say what they take and give, and are typed by it when called.
  forward(..._args: any[]): any {
    throw new TypeMismatchError(`Module [${this.constructor.name}] is missing the required "forward" function`);
  }

  // --- What belongs to it ---------------------------------------------------------------------------

  /** Adds a tensor that is no parameter but part of the state, unless `persistent` is false. */
  register_buffer(name: string, tensor: Tensor | null, persistent?: boolean | { persistent?: boolean }): void {
    const { buffers, transient } = hidden.get(this)!;
    if (!buffers.has(name)) checkName("buffer", this, name);
    if (tensor !== null && !(tensor instanceof Tensor)) {
      throw new TypeMismatchError(
        `cannot assign '${describe(tensor)}' object to buffer '${name}' (torch Tensor or None required)`,
      );
    }
    buffers.set(name, tensor && keep(tensor));
    if (flag(persistent ?? true, "register_buffer", "persistent")) transient.delete(name);
    else transient.add(name);
    Object.defineProperty(this, name, {
      get: () => buffers.get(name),
      set: (value: Tensor | null) => {
        buffers.set(name, value && keep(value));
      },
      enumerable: false,
      configurable: true,
    });
  }
  /** Adds a parameter; null says that there is none of this name. */
  register_parameter(name: string, parameter: Parameter | null): void {
    text(name, "register_parameter", "name");
    if (!(properties(this)[name] instanceof Parameter)) checkName("parameter", this, name);
    if (parameter !== null && !(parameter instanceof Parameter)) {
      throw new TypeMismatchError(
        `cannot assign '${describe(parameter)}' object to parameter '${name}' (torch.nn.Parameter or None required)`,
      );
    }
    remember(this, name);
    properties(this)[name] = parameter;
  }
  register_module(name: string, module: ModuleClass | null): void {
    this.add_module(name, module);
  }
  add_module(name: string, module: ModuleClass | null): void {
    if (module !== null) checkModule(module, "add_module");
    text(name, "add_module", "name");
    // `__proto__` of a subclass is a module, too
    if (!Object.hasOwn(this, name) || !(properties(this)[name] instanceof ModuleClass)) checkName("module", this, name);
    remember(this, name);
    properties(this)[name] = module;
  }

  /** The modules directly within, each once, by name. */
  *named_children(): Generator<Named<ModuleClass>> {
    const seen = new Set<unknown>();
    for (const [name, value] of entriesOf(this)) {
      if (!(value instanceof ModuleClass) || seen.has(value)) continue;
      seen.add(value);
      yield [name, value];
    }
  }
  *children(): Generator<ModuleClass> {
    for (const [, module] of this.named_children()) yield module;
  }

  /** This module and all within by path, each once. */
  *named_modules(
    ...args:
      | [options?: { memo?: Set<ModuleClass>; prefix?: string; remove_duplicate?: boolean }]
      | [memo?: Set<ModuleClass> | null, prefix?: string, remove_duplicate?: boolean]
  ): Generator<Named<ModuleClass>> {
    const [memo, prefix = "", once = true] = taken("named_modules memo? prefix? remove_duplicate?", args) as [
      Set<ModuleClass>?,
      string?,
      boolean?,
    ];
    yield* walk(this, prefix, once, memo ?? new Set());
  }
  *modules(): Generator<ModuleClass> {
    for (const [, module] of this.named_modules()) yield module;
  }

  /** The parameters by path, each once, in the order they were made. */
  *named_parameters(
    ...args: [Walk?] | [prefix?: string, recurse?: boolean, remove_duplicate?: boolean]
  ): Generator<Named<Parameter>> {
    for (const [path, x] of this.tensorsWithin("named_parameters", args, (m) => entriesOf(m)))
      if (x instanceof Parameter) yield [path, x];
  }
  parameters(recurse?: boolean | { recurse?: boolean }): Parameter[] {
    return Array.from(this.named_parameters("", flag(recurse ?? true, "parameters", "recurse")), ([, p]) => p);
  }
  *named_buffers(
    ...args: [Walk?] | [prefix?: string, recurse?: boolean, remove_duplicate?: boolean]
  ): Generator<Named<Tensor>> {
    for (const [path, x] of this.tensorsWithin("named_buffers", args, (m) => hidden.get(m)!.buffers))
      if (x instanceof Tensor) yield [path, x];
  }
  buffers(recurse?: boolean | { recurse?: boolean }): Tensor[] {
    return Array.from(this.named_buffers("", flag(recurse ?? true, "buffers", "recurse")), ([, b]) => b);
  }
  private *tensorsWithin(
    op: string,
    args: unknown[],
    of: (module: ModuleClass) => Iterable<[string, unknown]>,
  ): Generator<[string, unknown]> {
    const [prefix = "", recurse = true, once = true] = taken(`${op} prefix? recurse? remove_duplicate?`, args) as [
      string?,
      boolean?,
      boolean?,
    ];
    const seen = new Set<unknown>();
    for (const [path, module] of recurse
      ? walk(this, prefix, once, new Set())
      : [[prefix, this] as Named<ModuleClass>]) {
      for (const [name, value] of of(module)) {
        if (!(value instanceof Tensor) || (once && seen.has(value))) continue;
        seen.add(value);
        yield [path ? `${path}.${name}` : name, value];
      }
    }
  }

  get_submodule(target: string): ModuleClass {
    let module: ModuleClass = this;
    text(target, "get_submodule", "target");
    for (const name of target ? target.split(".") : []) {
      if (!(name in module)) throw new OpError(`${module.constructor.name} has no attribute \`${name}\``);
      const next = properties(module)[name];
      if (!(next instanceof ModuleClass)) throw new OpError(`\`${name}\` is not an nn.Module`);
      module = next;
    }
    return module;
  }
  /** Puts a module in the place that a path says; with `strict` only of one that is there. */
  set_submodule(target: string, module: ModuleClass, strict?: boolean | { strict?: boolean }): void {
    text(target, "set_submodule", "target");
    if (target === "") throw new OpError("Cannot set the submodule without a target name!");
    const at = target.lastIndexOf("."),
      owner = this.get_submodule(target.slice(0, Math.max(at, 0))),
      name = target.slice(at + 1);
    checkModule(module, "set_submodule");
    if (strict && !(name in owner)) throw new OpError(`${owner.constructor.name} has no attribute \`${name}\``);
    if (name in owner && !(properties(owner)[name] instanceof ModuleClass))
      throw new OpError(`\`${name}\` is not an nn.Module`);
    remember(owner, name);
    properties(owner)[name] = module;
  }
  get_parameter(target: string): Parameter {
    const found = this.attribute(target);
    if (!(found instanceof Parameter)) throw new OpError(`\`${target.split(".").pop()!}\` is not an nn.Parameter`);
    return found;
  }
  get_buffer(target: string): Tensor {
    const found = this.attribute(target);
    if (!(found instanceof Tensor) || found instanceof Parameter)
      throw new OpError(`\`${target.split(".").pop()!}\` is not a buffer`);
    return found;
  }
  private attribute(target: string): unknown {
    text(target, "get_parameter", "target");
    const at = target.lastIndexOf("."),
      module = this.get_submodule(target.slice(0, Math.max(at, 0))),
      name = target.slice(at + 1);
    if (!(name in module)) throw new OpError(`${module.constructor.name} has no attribute \`${name}\``);
    return properties(module)[name];
  }

  // --- State ----------------------------------------------------------------------------------------

  /** The values of all parameters and buffers, by path; the tensors share the module's memory. */
  state_dict(prefix?: string | { prefix?: string; keep_vars?: boolean }, keep_vars?: boolean): Record<string, Tensor> {
    acyclic(this, "state_dict");
    const out: Record<string, Tensor> = {},
      ends: (() => void)[] = [],
      before = text(prefix ?? "", "state_dict", "prefix");
    for (const [path, module] of this.named_modules({ remove_duplicate: false })) {
      const at = (name: string) => before + (path ? `${path}.${name}` : name),
        { buffers, transient, hooks } = hidden.get(module)!;
      for (const hook of hooks.saving) hook(module, at(""), keep_vars ?? false);
      for (const hook of hooks.saved) ends.unshift(() => hook(module, out, at(""), {}));
      for (const [name, value] of entriesOf(module))
        if (value instanceof Parameter) out[at(name)] = keep_vars ? value : value.detach();
      for (const [name, value] of buffers) if (value && !transient.has(name)) out[at(name)] = value;
      if (module.get_extra_state !== ModuleClass.prototype.get_extra_state)
        out[at(EXTRA)] = module.get_extra_state() as Tensor;
    }
    for (const end of ends) end();
    return out;
  }

  /**
   * Copies values into the parameters and buffers.  `source`: tensors or arrays by path; or a file of them (a path, an
   * address, a Blob, bytes), and then a promise.  What `torch.load` takes as options may stand beside `strict`:
   * `progress`, for example.
   */
  load_state_dict(source: FileLike, options?: boolean | StateOptions): Promise<LoadReport>;
  load_state_dict(source: StateSource, options?: boolean | { strict?: boolean; assign?: boolean }): LoadReport;
  load_state_dict(source: StateSource | FileLike, options?: boolean | StateOptions): LoadReport | Promise<LoadReport> {
    const [from, strict = true, assign = false, rest] = taken(
      `load_state_dict state_dict{} strict? assign? | ${LOADING}`,
      arguments,
    );
    flag(strict, "load_state_dict", "strict");
    flag(assign, "load_state_dict", "assign");
    const load = (state: StateSource): LoadReport =>
      loadState(this, state, strict, assign, (module) => hidden.get(module as ModuleClass)!.hooks);
    return isFile(from) ? readState(from, rest).then(load) : load(from);
  }
  /**
   * Called before values are loaded: what a module of its kind does with older or incomplete states.  `given` may be
   * changed.
   */
  protected before_load(_given: Record<string, unknown>, _prefix: string): Loading | void {
    /* most modules take states as they are */
  }

  /** What a class keeps in its state beside tensors: a class that says so overrides both. */
  get_extra_state(): unknown {
    throw new OpError(
      `${this.constructor.name}: there is no extra state; override get_extra_state and set_extra_state`,
    );
  }
  set_extra_state(_state: unknown): void {
    throw new OpError(
      `${this.constructor.name}: there is no extra state; override get_extra_state and set_extra_state`,
    );
  }

  /** A module with its own parameters, buffers and modules of the same values; `copy.deepcopy` in Python. */
  deepcopy(): this {
    return copied(this, new Map()) as this;
  }

  // --- Modes ----------------------------------------------------------------------------------------

  train(mode?: boolean): this {
    mode ??= true;
    if (typeof mode !== "boolean")
      throw new TypeMismatchError(`training mode is expected to be boolean, got ${describe(mode)}`);
    acyclic(this, "train");
    this.training = mode;
    for (const module of this.children()) module.train(mode);
    return this;
  }
  eval(): this {
    return this.train(false);
  }
  requires_grad_(requires_grad?: boolean): this {
    for (const p of this.parameters()) p.requires_grad_(requires_grad ?? true);
    return this;
  }
  /** Forgets all gradients; with false they become zero. */
  zero_grad(set_to_none?: boolean | { set_to_none?: boolean }): void {
    const forget = flag(set_to_none ?? true, "zero_grad", "set_to_none");
    for (const p of this.parameters()) {
      if (forget) p.grad = null;
      else if (p.grad) p.grad = unrecorded(() => fill_(p.grad!.detach(), 0));
    }
  }
  /** Calls `f` with every module within, then with this one. */
  apply(f: (module: ModuleClass) => void): this {
    callableOf(f, "apply", "fn");
    acyclic(this, "apply");
    for (const child of this.children()) child.apply(f);
    f(this);
    return this;
  }

  /**
   * Moves all parameters and buffers to a device or (the floating ones) to a type.  From a GPU to the CPU: a promise.
   */
  to(target: DType | GpuName, dtype?: DType): this;
  to(target: string | Device | Tensor | Destination, dtype?: DType): this | Promise<this>;
  to(target: string | Device | Tensor | Destination, dtype?: DType): this | Promise<this> {
    if (target instanceof Tensor) return this.to({ device: target.storage.device, dtype: target.dtype });
    atMost("to", arguments, 4);
    given("to", "device", target);
    const options = isOptions(target) ? optionsIn<Destination>("to", target, DESTINATION) : {};
    if (options.tensor) return this.to(options.tensor);
    const wanted = options.dtype ?? (isDType(target) ? toDType(target) : dtype),
      type = wanted && toDType(wanted);
    if (type && !isFloat(type))
      throw new TypeMismatchError(
        `nn.Module.to only accepts floating point dtypes, but got desired dtype=torch.${type}`,
      );
    const device = options.device ?? (isDType(target) || isOptions(target) ? undefined : (target as string | Device));
    if (device) toDevice(device);
    const waits: Promise<void>[] = [];
    unrecorded(() => {
      for (const x of [...this.parameters(), ...this.buffers()]) {
        const how = { ...(type && isFloat(x.dtype) ? { dtype: type } : {}), ...(device ? { device } : {}) };
        for (const part of x.grad ? [x, x.grad] : [x]) {
          const moved = copying.to(part.detach(), [how]);
          if (moved instanceof Promise)
            waits.push(
              moved.then((m) => {
                part.set_data(m);
              }),
            );
          else part.set_data(moved);
        }
      }
    });
    return waits.length ? Promise.all(waits).then(() => this) : this;
  }
  cpu(): this | Promise<this> {
    return this.to("cpu");
  }
  /** Parameters and buffers on a device, with undefined values. */
  to_empty(_options: { device: string | Device; recurse?: boolean }): this {
    const [device, recurse = true] = taken("to_empty * device recurse?", arguments);
    toDevice(device);
    for (const x of [...this.parameters(recurse), ...this.buffers(recurse)])
      x.set_data(empty(x.shape, { dtype: x.dtype, device }));
    return this;
  }
  /** Itself: there is no such memory here. */
  share_memory(): this {
    return this;
  }
  type(dtype: DType): this {
    return this.to(toDType(dtype));
  }
  float(): this {
    return this.to("float32");
  }
  double(): this {
    return this.to("float64");
  }
  half(): this {
    return this.to("float16");
  }

  /**
   * Lets calls of this module be captured and replayed, as torch.compile does.  `await model.compile().warmup(input)`
   * compiles what a call with such an input needs ahead of it.
   */
  compile(options?: object): { warmup(...args: unknown[]): Promise<void> } {
    const given = taken("compile fullgraph? dynamic? backend? mode? options? disable?", arguments) as unknown[];
    if (!compiler)
      throw new OpError(
        "compile: there is no compiler in this bundle; torch.compile(module) brings one, as does the entry of the whole package",
      );
    const { hooks } = hidden.get(this)!;
    return (hooks.compiled = compiler(this.constructor.name, (...args) => forwarded(this, hooks, args), given));
  }

  // --- Hooks ----------------------------------------------------------------------------------------

  /** Calls `hook(module, args, output)` after forward; what it answers replaces the output. */
  register_forward_hook(hook: ForwardHook<this>, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.after, hook as ForwardHook, prepend as boolean);
  }
  /** Calls `hook(module, args)` before forward; what it answers replaces the arguments. */
  register_forward_pre_hook(hook: ForwardPreHook<this>, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.before, hook as ForwardPreHook, prepend as boolean);
  }
  /**
   * Calls `hook(module, grad_input, grad_output)` when gradients have come back through it; what it answers replaces
   * `grad_input`.
   */
  register_full_backward_hook(hook: BackwardHook<this>, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.backward, hook as BackwardHook, prepend as boolean);
  }

  /** Calls `hook(module, grad_output)` before those gradients go back through it; what it answers replaces them. */
  register_full_backward_pre_hook(
    hook: (module: this, grad_output: Gradients) => Gradients | Tensor | null | undefined | void,
    prepend?: boolean | { prepend?: boolean },
  ): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.backwardBefore, hook as BackwardPreHook, prepend as boolean);
  }
  /** Calls `hook(module, prefix, keep_vars)` before its state is taken. */
  register_state_dict_pre_hook(hook: StateHooks["saving"]): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.saving, hook);
  }
  /** Calls `hook(module, state_dict, prefix, local_metadata)` with a state that may be changed. */
  register_state_dict_post_hook(hook: StateHooks["saved"]): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.saved, hook);
  }
  /**
   * Calls `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` with a
   * state that may be changed, before it is loaded.
   */
  register_load_state_dict_pre_hook(hook: StateHooks["loading"]): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.loading, hook);
  }
  /** Calls `hook(module, incompatible_keys)` when a state has been loaded. */
  register_load_state_dict_post_hook(hook: StateHooks["loaded"]): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.loaded, hook);
  }

  // --- Text -----------------------------------------------------------------------------------------

  /** What stands between the parentheses when the module is printed. */
  extra_repr(): string {
    return "";
  }
  toString(): string {
    acyclic(this, "toString");
    const parts = entriesOf(this).filter(([, value]) => value instanceof ModuleClass);
    return showTree(
      this.constructor.name,
      this.extra_repr(),
      parts.map(([name, m]) => [name, String(m)] as const),
    );
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

const properties = (module: ModuleClass) => module as unknown as Record<string, unknown>;

/** Throws where a module contains itself, so that what goes through all within would not end. */
export function acyclic(
  module: ModuleClass,
  op: string,
  above = new Set<ModuleClass>(),
  done = new Set<ModuleClass>(),
): void {
  if (above.has(module)) throw new OpError(`${op}: a ${module.constructor.name} contains itself`);
  if (done.has(module)) return;
  above.add(module);
  for (const child of module.children()) acyclic(child, op, above, done);
  above.delete(module);
  done.add(module);
}

/** A copy of a module, of a tensor, or of lists of them; what was copied already is found in `made`. */
function copied(value: unknown, made: Map<unknown, unknown>): unknown {
  if (made.has(value)) return made.get(value);
  if (value instanceof Tensor) {
    const own = unrecorded(() => value.detach().clone()),
      copy = value instanceof Parameter ? new Parameter(own, value.requires_grad) : own;
    made.set(value, copy);
    return copy;
  }
  if (Array.isArray(value)) return value.map((item) => copied(item, made));
  if (!(value instanceof ModuleClass)) return value;
  const copy = Reflect.construct(ModuleClass, [], value.constructor) as ModuleClass,
    { buffers, transient, order } = hidden.get(value)!;
  made.set(value, copy);
  for (const name of order) hidden.get(copy)!.order.add(name);
  for (const [name, tensor] of buffers)
    copy.register_buffer(name, copied(tensor, made) as Tensor | null, !transient.has(name));
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!buffers.has(name))
      Object.defineProperty(copy, name, property.get ? property : { ...property, value: copied(property.value, made) });
  }
  return copy;
}

function* walk(
  module: ModuleClass,
  prefix: string,
  once: boolean,
  seen: Set<ModuleClass>,
): Generator<Named<ModuleClass>> {
  if (once && seen.has(module)) return;
  seen.add(module);
  yield [prefix, module];
  for (const [name, value] of entriesOf(module)) {
    if (value instanceof ModuleClass) yield* walk(value, prefix ? `${prefix}.${name}` : name, once, seen);
  }
}

/** Throws unless a new parameter, buffer or module may have this name. */
function checkName(what: string, module: ModuleClass, name: string): void {
  if (typeof name !== "string") throw new TypeMismatchError(`${what} name should be a string. Got ${describe(name)}`);
  if (name.includes(".")) throw new OpError(`${what} name can't contain ".", got: ${name}`);
  if (name === "") throw new OpError(`${what} name can't be empty string ""`);
  // A field declared by a class is there already, without a value.
  if (name in module && properties(module)[name] !== undefined && properties(module)[name] !== null)
    throw new OpError(`attribute '${name}' already exists`);
}

/** Throws unless `value` is a module. */
export function checkModule(value: unknown, where: string): ModuleClass {
  if (value instanceof ModuleClass) return value;
  const name = typeof value === "function" && value.prototype instanceof ModuleClass && value.name;
  throw new TypeMismatchError(
    name
      ? `${where}: ${name} is a class, not a module: ${name}(...) makes one`
      : `${where}: ${describe(value)} is not a Module subclass`,
  );
}

export const Module = /* @__PURE__ */ callable(
  ModuleClass,
  "Module",
  "forward !, compile !, register_buffer name tensor persistent?, register_parameter name param, register_module name module, add_module name module, named_modules !, named_parameters !, parameters recurse?, named_buffers !, buffers recurse?, tensorsWithin !, get_submodule target, get_parameter target, get_buffer target, attribute !, state_dict prefix? keep_vars?, load_state_dict !, before_load !, train mode?, requires_grad_ requires_grad?, zero_grad set_to_none?, apply fn, to !, type dst_type, register_forward_hook hook prepend?, register_forward_pre_hook hook prepend?, register_full_backward_hook hook prepend?, register_full_backward_pre_hook hook prepend?, register_state_dict_pre_hook hook, register_state_dict_post_hook hook, register_load_state_dict_pre_hook hook, register_load_state_dict_post_hook hook, set_submodule target module strict?, to_empty !, set_extra_state state{}",
);
export type Module = ModuleClass;
/** A module from tensors to a tensor. */
export interface Layer extends ModuleClass {
  forward(...inputs: Tensor[]): Tensor;
}
