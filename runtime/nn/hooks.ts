// What a module calls besides its forward: hooks before it, after it, and when gradients come back through it.

import { capturing } from "../base/capturing.js";
import { callable } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { isOptions } from "../base/named-arguments.js";
import { sameShape, showShape } from "../base/shape.js";
import { isRecording } from "../tape/grad-mode.js";
import { JoinNode, attach, recording } from "../tape/node.js";
import { cast } from "../tensor/copy.js";
import { Tensor, alias } from "../tensor/tensor.js";
import type { LoadReport } from "./load-state.js";
import type { Hidden } from "./members.js";
import type { Module } from "./module.js";

export type Gradients = (Tensor | null)[];
/** Gets the module, the arguments and the result; what it answers replaces the result. */
export type ForwardHook<M = Module> = (module: M, args: any[], output: any) => unknown;
/** Gets the module and the arguments; what it answers replaces them. */
export type ForwardPreHook<M = Module> = (module: M, args: any[]) => unknown;
type Named = Record<string, any>;
/** As `ForwardHook`, with the arguments that were given by name between the others and the result. */
export type NamedForwardHook<M = Module> = (module: M, args: any[], kwargs: Named, output: any) => unknown;
/** As `ForwardPreHook`, with the arguments that were given by name; what it answers is `[args, kwargs]`. */
export type NamedForwardPreHook<M = Module> = (
  module: M,
  args: any[],
  kwargs: Named,
) => readonly [any[], Named] | null | undefined | void;
/** When a hook is called, and with what. */
export interface HookOptions {
  /** Before the hooks that are there already, default false. */
  prepend?: boolean;
  /** With the arguments that were given by name as well, default false. */
  with_kwargs?: boolean;
}
export interface ForwardHookOptions extends HookOptions {
  /** Also where the call fails; what it throws then is only warned of, default false. */
  always_call?: boolean;
}
/**
 * Gets the module and the gradients of its arguments and of its results; what it answers replaces those of the
 * arguments.
 */
export type BackwardHook<M = Module> = (
  module: M,
  grad_input: Gradients,
  grad_output: Gradients,
) => Gradients | Tensor | null | undefined | void;

export interface RemovableHandle {
  remove(): void;
}

export type BackwardPreHook<M = Module> = (
  module: M,
  grad_output: Gradients,
) => Gradients | Tensor | null | undefined | void;
/** What a module is given of a state; the lists are of all modules until then. */
export type LoadArguments = [
  state_dict: Record<string, unknown>,
  prefix: string,
  local_metadata: object,
  strict: boolean,
  missing_keys: string[],
  unexpected_keys: string[],
  error_msgs: string[],
];
/** What is called when a state is taken, has been taken, comes, and has been loaded. */
export interface StateHooks {
  saving(module: Module, prefix: string, keep_vars: boolean): void;
  saved(module: Module, state_dict: Record<string, Tensor>, prefix: string, local_metadata: object): void;
  loading(module: Module, ...state: LoadArguments): void;
  loaded(module: Module, incompatible_keys: LoadReport): void;
}

export type Unnamed<Options extends HookOptions> = Options & { with_kwargs?: false };
export type WithNames<Options extends HookOptions> = Options & { with_kwargs: true };

/** One registration of a hook: the same function may be registered several times. */
export interface Registered<H> {
  readonly run: H;
  readonly named: boolean;
  readonly always: boolean;
}
type Registry<H> = Set<Registered<H>>;

export class Hooks {
  readonly before: Registry<ForwardPreHook | NamedForwardPreHook> = new Set();
  readonly after: Registry<ForwardHook | NamedForwardHook> = new Set();
  readonly backward: Registry<BackwardHook> = new Set();
  readonly backwardBefore: Registry<BackwardPreHook> = new Set();
  readonly saving: Registry<StateHooks["saving"]> = new Set();
  readonly saved: Registry<StateHooks["saved"]> = new Set();
  readonly loading: Registry<StateHooks["loading"]> = new Set();
  readonly loaded: Registry<StateHooks["loaded"]> = new Set();
  /** What calls the module in its place: `module.compile()`. */
  compiled: ((...args: unknown[]) => unknown) | null = null;
}
/** Those of all modules, which come before a module's own: nn.modules.module. */
export const everywhere = /* @__PURE__ */ new Hooks();

/** Adds a hook to a set, before the others if asked; `named` and `always` are PyTorch's `with_kwargs` and `always_call`. */
export function hookInto<H>(
  set: Registry<H>,
  run: H,
  prepend: unknown = false,
  named: unknown = false,
  always: unknown = false,
): RemovableHandle {
  callable(run as () => void, "register_hook", "hook");
  const hook = { run, named: named as boolean, always: always as boolean },
    others = prepend ? [...set] : [];
  for (const other of others) set.delete(other);
  set.add(hook);
  for (const other of others) set.add(other);
  return {
    remove: () => {
      set.delete(hook);
    },
  };
}

const answered = (answer: unknown): boolean => answer !== undefined && answer !== null;
/** What a hook answers.  With nothing it may keep what it sees, which a captured program would not do. */
function noted(answer: unknown): unknown {
  if (!answered(answer)) capturing?.sideEffect();
  return answer;
}
/** The hooks of all modules and those of one, as they are now. */
const both = <H>(of: (hooks: Hooks) => Registry<H>, hooks: Hooks): readonly Registered<H>[] =>
  of(everywhere).size + of(hooks).size ? [...of(everywhere), ...of(hooks)] : [];

/** The arguments by place, and those by name that come after `least` others. */
function parted(given: unknown[], least: number): [unknown[], Named] {
  const last = given[given.length - 1];
  return given.length > least && isOptions(last) ? [given.slice(0, -1), last] : [given, {}];
}

/** Calls a module: what was compiled of it, or itself. */
export function invoke(module: Module, kept: Hidden, args: unknown[]): unknown {
  return kept.hooks.compiled ? kept.hooks.compiled(...args) : forwarded(module, kept, args);
}

/** Calls a hook with a call's arguments; a lone object is one by place, but for hooks that ask for names. */
function callHook<H>({ run, named }: Registered<H>, module: Module, given: unknown[], ...output: unknown[]): unknown {
  const [args, kwargs] = parted(given, named ? 0 : 1);
  return (run as (...all: unknown[]) => unknown)(module, args, ...(named ? [kwargs] : []), ...output);
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);

/** The arguments that a hook answers in the place of those that were given. */
function newArguments({ named }: Registered<unknown>, answer: unknown, given: unknown[]): unknown[] {
  if (!answered(answer)) return given;
  let args = listed(answer),
    kwargs: unknown = parted(given, 1)[1];
  if (named) {
    [, kwargs] = args;
    if (args.length !== 2 || !isOptions(kwargs))
      throw new OpError(`forward pre-hook must return [new_args, new_kwargs] or nothing, but got ${describe(answer)}`);
    args = listed(args[0]);
  }
  return Object.keys(kwargs as object).length ? [...args, kwargs] : args;
}

/** Runs forward with its hooks. */
export function forwarded(module: Module, kept: Hidden, args: unknown[]): unknown {
  const { hooks } = kept;
  capturing?.reached(module, kept);
  capturing?.reached(everywhere, { hooks: everywhere, buffers: kept.buffers });
  let input = args,
    output: unknown = null,
    after: readonly Registered<unknown>[] | null = null,
    called = 0;
  try {
    for (const hook of both(({ before }) => before, hooks))
      input = newArguments(hook, noted(callHook(hook, module, input)), input);
    const gates = Gates.around(module, hooks);
    if (gates) input = gates.enter(input);
    try {
      output = module.forward(...input);
    } catch (error) {
      throw error instanceof OpError ? placed(error, module) : error;
    }
    after = both((of) => of.after, hooks);
    while (called < after.length) {
      const answer = noted(callHook(after[called++]!, module, input, output));
      if (answered(answer)) output = answer;
    }
    return gates ? gates.leave(output) : output;
  } catch (error) {
    for (const hook of (after ?? both((of) => of.after, hooks)).slice(called).filter(({ always }) => always)) {
      try {
        const answer = callHook(hook, module, input, output);
        if (answered(answer)) output = answer;
      } catch (another) {
        console.warn("forward hook with always_call raised an exception that was silenced:", another);
      }
    }
    throw error;
  }
}

/** Of errors that came out of a module: their own message, and that module's place in the ones that called it. */
const places = new WeakMap<OpError, { readonly message: string; at: Module; path: string }>();

/** Says in an error which module within `module` it came from: "net.2: Linear(in_features=9, out_features=2, bias=True)". */
function placed(error: OpError, module: Module): OpError {
  const known = places.get(error);
  if (!known) {
    places.set(error, { message: error.message, at: module, path: "" });
    return error;
  }
  for (const [name, within] of module.named_modules()) {
    if (within !== known.at || !name) continue;
    known.path = known.path
      ? `${name}.${known.path}`
      : `${name}: ${module.get_submodule(name).toString().split("\n", 1)[0]!}`;
    known.at = module;
    error.message = `${known.message} (in ${known.path})`;
  }
  return error;
}

/** Passes tensors on as they are; their gradients go through `back`, which may keep them. */
class Gate extends JoinNode {
  override get keepsGradients(): boolean {
    return true;
  }
  /** The values, and of those that have gradients what comes out of the gate; `back` gets null for all others. */
  static passed(values: readonly unknown[], back: (grads: Gradients) => Gradients): unknown[] {
    const places = values.flatMap((x, i) => (x instanceof Tensor && x.requires_grad ? [i] : [])),
      tensors = places.map((i) => values[i] as Tensor),
      out = [...values];
    if (!recording(...tensors)) return out;
    const node = new Gate("BackwardHookFunctionBackward", tensors, (grads) => {
      const given: Gradients = values.map(() => null);
      places.forEach((place, i) => (given[place] = grads[i] ?? null));
      const answer = back(given);
      return places.map((place) => {
        const grad = answer[place];
        if (grad && !(grad instanceof Tensor))
          throw new TypeMismatchError(`Backward hook: expected a tensor as gradient, got ${describe(grad)}`);
        if (!grad || given.includes(grad)) return grad ?? null;
        const { shape, dtype } = values[place] as Tensor;
        if (!sameShape(grad.shape, shape))
          throw new OpError(
            `Backward hook returned an invalid gradient at index ${place} - got ${showShape(grad.shape)} but expected ${showShape(shape)}`,
          );
        // What is the user's own stays so: the engine adds to what it takes for its own.
        return cast(isRecording() ? grad : grad.detach(), dtype, "Backward hook");
      });
    });
    places.forEach((place, i) => (out[place] = attach(alias(tensors[i]!, true), node, i)));
    return out;
  }
}

/** The gradients that a hook answers in the place of those that it was given. */
function replaced(answer: unknown, given: Gradients, what: string): Gradients {
  if (!answered(noted(answer))) return given;
  const list = (Array.isArray(answer) ? answer : [answer]) as Gradients;
  if (list.length === given.length) return list;
  throw new OpError(
    `Backward ${what === "grad_output" ? "pre hook" : "hook"} returned an invalid number of ${what}, got ${list.length}, but expected ${given.length}`,
  );
}

/** Two gates around a call: gradients of the results arrive at one, those of the arguments leave by the other. */
class Gates {
  private readonly module: Module;
  private readonly hooks: readonly Registered<BackwardHook>[];
  private readonly hooksBefore: readonly Registered<BackwardPreHook>[];
  private arrived: Gradients = [];
  /** Whether any argument has a gradient; else the hooks are called when those of the results arrive. */
  private entered = false;
  private given: readonly unknown[] = [];

  private constructor(
    module: Module,
    hooks: readonly Registered<BackwardHook>[],
    hooksBefore: readonly Registered<BackwardPreHook>[],
  ) {
    this.module = module;
    this.hooks = hooks;
    this.hooksBefore = hooksBefore;
  }
  /** Those that a call needs, if any. */
  static around(module: Module, own: Hooks): Gates | null {
    const hooks = both(({ backward }) => backward, own),
      hooksBefore = both(({ backwardBefore }) => backwardBefore, own);
    return hooks.length + hooksBefore.length > 0 && isRecording() ? new Gates(module, hooks, hooksBefore) : null;
  }
  enter(args: unknown[]): unknown[] {
    this.given = args;
    this.entered = args.some((x) => x instanceof Tensor && x.requires_grad);
    return Gate.passed(args, (grads) => this.call(grads));
  }
  leave(output: unknown): unknown {
    const several = Array.isArray(output);
    if (!several && !(output instanceof Tensor)) {
      console.warn(
        `For backward hooks to be called, module output should be a Tensor or a list of Tensors but received ${describe(output)}`,
      );
      return output;
    }
    const passed = Gate.passed(several ? (output as unknown[]) : [output], (grads) => {
      for (const { run } of this.hooksBefore) grads = replaced(run(this.module, grads), grads, "grad_output");
      this.arrived = grads;
      if (!this.entered && this.call(this.given.map(() => null)).some((grad) => grad))
        throw new OpError(
          "Backward hook for Modules where no input requires gradient should always return None or None for all gradients.",
        );
      return grads;
    });
    return several ? passed : passed[0];
  }
  private call(grads: Gradients): Gradients {
    for (const { run } of this.hooks) grads = replaced(run(this.module, grads, this.arrived), grads, "grad_input");
    return grads;
  }
}
