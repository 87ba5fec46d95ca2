// Modules: trees of parameters, buffers and modules that can be called.  A property that holds one belongs to the module;
// buffers are registered.  Hooks: hooks.ts, loading of state: load-state.ts, what is kept: members.ts, paths: tree.ts.

import { fill_ } from "../views/transfer.js";
import { compiler } from "../base/capturing.js";
import { type Device, type GpuName, toDevice } from "../devices/device.js";
import { toDType, type DType } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { callable as callableOf, flag, text } from "../base/argument-kinds.js";
import { keep } from "../tensor/memory.js";
import { taken } from "../base/named-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import { classOf, nameOf } from "../base/class-name.js";
import { hookInto, forwarded, invoke, type Gradients, type RemovableHandle, type StateHooks } from "./hooks.js";
import type { BackwardHook, BackwardPreHook, ForwardHook, ForwardHookOptions, ForwardPreHook } from "./hooks.js";
import type { HookOptions, LoadArguments, NamedForwardHook, NamedForwardPreHook, Unnamed, WithNames } from "./hooks.js";
import { LOADING } from "../files/destination.js";
import { loadOwn, loadState, type Loading, type LoadReport } from "./load-state.js";
import { empty } from "../creation/create.js";
import { Parameter } from "./parameter.js";
import { type Named, checkName, entriesOf, hidden, Hidden, memberOf, place, properties } from "./members.js";
import { showTree } from "./shown.js";
import { type SavingOptions, noExtraState, saveOwn, stateOf } from "./state-dict.js";
import { type Destination, copyInto, memoOf, moved } from "./transfer.js";
import type { Walk } from "./tree.js";
import * as tree from "./tree.js";
import { type FileLike, type StateOptions, type StateSource, isFile, readState } from "./state.js";

interface ModuleClass {
  /** As forward, with hooks. */
  (...args: Parameters<this["forward"]>): ReturnType<this["forward"]>;
}

class ModuleClass {
  /** Whether dropout and batch statistics are on. */
  declare training: boolean;
  /** What it has for its own, where the whole package is imported (member-views.ts): there it may be changed, too. */
  declare readonly _modules: Record<string, ModuleClass>;
  declare readonly _parameters: Record<string, Parameter>;
  declare readonly _buffers: Record<string, Tensor | null>;

  constructor() {
    // An instance is a function that has the class as its prototype, so that it can be called.
    const self = ((...args: unknown[]) => invoke(self, hidden.get(self)!, args)) as unknown as ModuleClass;
    Object.setPrototypeOf(self, new.target.prototype as object);
    for (const own of ["name", "length"]) delete (self as unknown as Record<string, unknown>)[own];
    hidden.set(self, new Hidden());
    Object.defineProperty(self, "training", { value: true, writable: true, enumerable: false, configurable: true });
    return self;
  }

  // Subclasses say what they take and give, and are typed by it when called.
  forward(..._args: any[]): any {
    throw new TypeMismatchError(`Module [${nameOf(this)}] is missing the required "forward" function`);
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
    place(this, name, parameter);
  }
  register_module(name: string, module: ModuleClass | null): void {
    this.add_module(name, module);
  }
  add_module(name: string, module: ModuleClass | null): void {
    if (module !== null) tree.checkModule(module, "add_module");
    text(name, "add_module", "name");
    if (!(memberOf(this, name) instanceof ModuleClass)) checkName("module", this, name);
    place(this, name, module);
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
    yield* tree.walk(this, prefix, once, memo ?? new Set());
  }
  *modules(): Generator<ModuleClass> {
    for (const [, module] of this.named_modules()) yield module;
  }

  /** The parameters by path, each once, in the order they were made. */
  *named_parameters(
    ...args: [Walk?] | [prefix?: string, recurse?: boolean, remove_duplicate?: boolean]
  ): Generator<Named<Parameter>> {
    for (const [path, x] of tree.tensorsWithin(this, "named_parameters", args, (m) => entriesOf(m)))
      if (x instanceof Parameter) yield [path, x];
  }
  parameters(recurse?: boolean | { recurse?: boolean }): Parameter[] {
    return Array.from(this.named_parameters("", flag(recurse ?? true, "parameters", "recurse")), ([, p]) => p);
  }
  *named_buffers(
    ...args: [Walk?] | [prefix?: string, recurse?: boolean, remove_duplicate?: boolean]
  ): Generator<Named<Tensor>> {
    for (const [path, x] of tree.tensorsWithin(this, "named_buffers", args, (m) => hidden.get(m)!.buffers))
      if (x instanceof Tensor) yield [path, x];
  }
  buffers(recurse?: boolean | { recurse?: boolean }): Tensor[] {
    return Array.from(this.named_buffers("", flag(recurse ?? true, "buffers", "recurse")), ([, b]) => b);
  }

  get_submodule(target: string): ModuleClass {
    return tree.submoduleOf(this, target);
  }
  /** Puts a module in the place that a path says; with `strict` only of one that is there. */
  set_submodule(target: string, module: ModuleClass, strict?: boolean | { strict?: boolean }): void {
    tree.setSubmodule(this, target, () => tree.checkModule(module, "set_submodule"), Boolean(strict));
  }
  get_parameter(target: string): Parameter {
    const found = tree.attributeOf(this, target);
    if (!(found instanceof Parameter)) throw new OpError(`\`${target.split(".").pop()!}\` is not an nn.Parameter`);
    return found;
  }
  get_buffer(target: string): Tensor {
    const found = tree.attributeOf(this, target);
    if (!(found instanceof Tensor) || found instanceof Parameter)
      throw new OpError(`\`${target.split(".").pop()!}\` is not a buffer`);
    return found;
  }

  // --- State ----------------------------------------------------------------------------------------

  /** The values of all parameters and buffers, by path, on the module's memory; put into `destination`, if one is given. */
  state_dict(prefix?: string | SavingOptions, keep_vars?: boolean, destination?: object): Record<string, Tensor> {
    return stateOf(this, text(prefix ?? "", "state_dict", "prefix"), keep_vars ?? false, destination);
  }
  /** Puts what is its own, not what is within modules of it, into a state: a class may put more, or other things. */
  _save_to_state_dict(destination: Record<string, unknown>, prefix: string, keep_vars: boolean): void {
    saveOwn(this, destination, prefix, keep_vars, ModuleClass.prototype.get_extra_state);
  }

  /**
   * Copies values into the parameters and buffers.  `source`: tensors or arrays by path; or a file of them (a path, an
   * address, a Blob, bytes), and then a promise.  Options of `torch.load` may stand beside `strict`.
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
    const load = (state: unknown): LoadReport =>
      loadState(this, state, strict, assign, ModuleClass.prototype._load_from_state_dict);
    return isFile(from) ? readState(from, rest).then(load) : load(from);
  }
  /** Called before values are loaded: what a module of its kind does with older states.  `given` may be changed. */
  protected before_load(_given: Record<string, unknown>, _prefix: string): Loading | void {
    /* most modules take states as they are */
  }

  /** Looks in a state for what is its own, which is loaded once all fits: a class may change the state before. */
  _load_from_state_dict(...state: LoadArguments): void {
    loadOwn(this, this.set_extra_state !== ModuleClass.prototype.set_extra_state, ...state);
  }

  /** What a class keeps in its state beside tensors: a class that says so overrides both. */
  get_extra_state(): unknown {
    throw noExtraState(this);
  }
  set_extra_state(_state: unknown): void {
    throw noExtraState(this);
  }

  /** `copy.deepcopy`: a module with its own parameters, buffers and modules.  `memo`: copies of what was copied already. */
  deepcopy(memo?: Map<unknown, unknown>): this {
    return copyInto(() => Reflect.construct(ModuleClass, [], classOf(this)) as this, this, memoOf(memo));
  }

  // --- Modes ----------------------------------------------------------------------------------------

  train(mode?: boolean): this {
    mode ??= true;
    if (typeof mode !== "boolean")
      throw new TypeMismatchError(`training mode is expected to be boolean, got ${describe(mode)}`);
    tree.acyclic(this, "train");
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
    tree.acyclic(this, "apply");
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
    return moved(this, arguments, target, dtype);
  }
  cpu(): this | Promise<this> {
    return this.to("cpu");
  }
  /** Parameters and buffers on a device, with undefined values. */
  to_empty(_options: { device: string | Device; recurse?: boolean }): this {
    const [device, recurse = true] = taken("to_empty * device recurse?", arguments);
    toDevice(device, "to_empty");
    for (const x of [...this.parameters(recurse), ...this.buffers(recurse)])
      x.set_data(empty(x.shape, { dtype: x.dtype, device }));
    return this;
  }
  /** Itself: there is no such memory here. */
  share_memory(): this {
    return this;
  }
  type(dtype: DType): this {
    return this.to(toDType(dtype, "type"));
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
  bfloat16(): this {
    return this.to("bfloat16");
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
    const kept = hidden.get(this)!;
    return (kept.hooks.compiled = compiler(nameOf(this), (...args) => forwarded(this, kept, args), given));
  }

  // --- Hooks ----------------------------------------------------------------------------------------

  /** Calls `hook(module, args, output)` after forward; what it answers replaces the output. */
  register_forward_hook(hook: ForwardHook<this>, options?: boolean | Unnamed<ForwardHookOptions>): RemovableHandle;
  register_forward_hook(hook: NamedForwardHook<this>, options: WithNames<ForwardHookOptions>): RemovableHandle;
  register_forward_hook(hook: never, prepend?: unknown, named?: unknown, always?: unknown): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.after, hook, prepend, named, always);
  }
  /** Calls `hook(module, args)` before forward; what it answers replaces the arguments. */
  register_forward_pre_hook(hook: ForwardPreHook<this>, options?: boolean | Unnamed<HookOptions>): RemovableHandle;
  register_forward_pre_hook(hook: NamedForwardPreHook<this>, options: WithNames<HookOptions>): RemovableHandle;
  register_forward_pre_hook(hook: never, prepend?: unknown, named?: unknown): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.before, hook, prepend, named);
  }
  /**
   * Calls `hook(module, grad_input, grad_output)` when gradients have come back through it; what it answers replaces
   * `grad_input`.
   */
  register_full_backward_hook(hook: BackwardHook<this>, prepend?: boolean | { prepend?: boolean }): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.backward, hook as BackwardHook, prepend as boolean);
  }

  /** The deprecated name of `register_full_backward_hook`; `grad_input` holds the gradients of the module's inputs. */
  register_backward_hook(hook: BackwardHook<this>): RemovableHandle {
    return this.register_full_backward_hook(hook);
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
  /** Calls `hook(module, incompatible_keys)` when a state has been loaded, before it is refused for what is left in them. */
  register_load_state_dict_post_hook(hook: StateHooks["loaded"]): RemovableHandle {
    return hookInto(hidden.get(this)!.hooks.loaded, hook);
  }

  // --- Text -----------------------------------------------------------------------------------------

  /** What stands between the parentheses when the module is printed. */
  extra_repr(): string {
    return "";
  }
  toString(): string {
    tree.acyclic(this, "toString");
    const parts = entriesOf(this).filter(([, value]) => value instanceof ModuleClass);
    return showTree(
      ("parametrizations" in this ? "Parametrized" : "") + nameOf(this),
      this.extra_repr(),
      parts.map(([name, m]) => [name, String(m)] as const),
    );
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return String(this);
  }
  /** Text, also where a member is called `toString`. */
  [Symbol.toPrimitive](): string {
    return (Object.getPrototypeOf(this) as this).toString.call(this);
  }
}

/**
 * What all networks and their parts are: parameters, buffers, other modules, and `forward`.
 * @example
 * const Double = class extends torch.nn.Module { forward(x) { return x.mul(2); } };
 * new Double()(torch.tensor([1, 2]))  // [2, 4]
 */
export const Module = /* @__PURE__ */ callable(
  ModuleClass,
  "Module",
  "forward !, compile !, register_buffer name tensor persistent?, register_parameter name param, register_module name module, add_module name module, named_modules !, named_parameters !, parameters recurse?, named_buffers !, buffers recurse?, get_submodule target, get_parameter target, get_buffer target, deepcopy memo?, state_dict prefix? keep_vars? destination{}?, _save_to_state_dict !, load_state_dict !, _load_from_state_dict !, before_load !, train mode?, requires_grad_ requires_grad?, zero_grad set_to_none?, apply fn, to !, type dst_type, register_forward_hook hook prepend? with_kwargs? always_call?, register_forward_pre_hook hook prepend? with_kwargs?, register_full_backward_hook hook prepend?, register_backward_hook hook, register_full_backward_pre_hook hook prepend?, register_state_dict_pre_hook hook, register_state_dict_post_hook hook, register_load_state_dict_pre_hook hook, register_load_state_dict_post_hook hook, set_submodule target module strict?, to_empty !, set_extra_state state{}",
);
export type Module = ModuleClass;
