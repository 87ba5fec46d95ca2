// What a module calls besides its forward: hooks before it, after it, and when gradients come back through it.

import { capturing } from "../base/capturing.js";
import { callable } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { isRecording } from "../tape/grad-mode.js";
import { JoinNode, attach, recording } from "../tape/node.js";
import { Tensor, alias } from "../tensor/tensor.js";
import type { LoadReport } from "./load-state.js";
import type { Hidden } from "./members.js";
import type { Module } from "./module.js";

export type Gradients = (Tensor | null)[];
/** Gets the module, the arguments and the result; what it answers replaces the result. */
export type ForwardHook<M = Module> = (module: M, args: any[], output: any) => unknown;
/** Gets the module and the arguments; what it answers replaces them. */
export type ForwardPreHook<M = Module> = (module: M, args: any[]) => unknown;
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
/** What is called when a state is taken, has been taken, comes, and has been loaded. */
export interface StateHooks {
  saving(module: Module, prefix: string, keep_vars: boolean): void;
  saved(module: Module, state_dict: Record<string, Tensor>, prefix: string, local_metadata: object): void;
  loading(
    module: Module,
    state_dict: Record<string, unknown>,
    prefix: string,
    local_metadata: object,
    strict: boolean,
    missing_keys: string[],
    unexpected_keys: string[],
    error_msgs: string[],
  ): void;
  loaded(module: Module, incompatible_keys: LoadReport): void;
}

export class Hooks {
  readonly before: Set<ForwardPreHook> = new Set();
  readonly after: Set<ForwardHook> = new Set();
  readonly backward: Set<BackwardHook> = new Set();
  readonly backwardBefore: Set<BackwardPreHook> = new Set();
  readonly saving: Set<StateHooks["saving"]> = new Set();
  readonly saved: Set<StateHooks["saved"]> = new Set();
  readonly loading: Set<StateHooks["loading"]> = new Set();
  readonly loaded: Set<StateHooks["loaded"]> = new Set();
  /** What calls the module in its place: `module.compile()`. */
  compiled: ((...args: unknown[]) => unknown) | null = null;
}

/** Adds a hook to a set, before the others if asked. */
export function hookInto<H>(set: Set<H>, hook: H, prepend = false): RemovableHandle {
  callable(hook as () => void, "register_hook", "hook");
  const others = prepend ? [...set] : [];
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

/** Calls a module: what was compiled of it, or itself. */
export function invoke(module: Module, kept: Hidden, args: unknown[]): unknown {
  return kept.hooks.compiled ? kept.hooks.compiled(...args) : forwarded(module, kept, args);
}

/** Runs forward with its hooks. */
export function forwarded(module: Module, kept: Hidden, args: unknown[]): unknown {
  const { hooks } = kept;
  capturing?.reached(module, kept);
  let input = args;
  for (const hook of hooks.before) {
    const answer = hook(module, input);
    if (answered(answer)) input = Array.isArray(answer) ? answer : [answer];
  }
  const gates = hooks.backward.size + hooks.backwardBefore.size > 0 && isRecording() ? new Gates(module, hooks) : null;
  if (gates) input = gates.enter(input);
  let output: unknown;
  try {
    output = module.forward(...input);
  } catch (error) {
    throw error instanceof OpError ? placed(error, module) : error;
  }
  for (const hook of hooks.after) {
    const answer = hook(module, input, output);
    if (answered(answer)) output = answer;
  }
  return gates ? gates.leave(output) : output;
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
  static passed(tensors: readonly Tensor[], back: (grads: Gradients) => Gradients): readonly Tensor[] {
    if (!recording(...tensors)) return tensors;
    const node = new Gate("BackwardHookFunctionBackward", tensors, (grads) => {
      const given = tensors.map((_, i) => grads[i] ?? null),
        answer = back(given);
      if (answer.length !== tensors.length)
        throw new OpError(
          `Backward hook returned an invalid number of grad_input, got ${answer.length}, but expected ${tensors.length}`,
        );
      return answer.map((grad) => {
        if (grad && !(grad instanceof Tensor))
          throw new TypeMismatchError(`Backward hook: expected a tensor as gradient, got ${describe(grad)}`);
        // What is the user's own stays so: the engine adds to what it takes for its own.
        return !grad || given.includes(grad) || isRecording() ? (grad ?? null) : grad.detach();
      });
    });
    return tensors.map((x, i) => attach(alias(x, true), node, i));
  }
}

/** Two gates around a call: gradients of the results arrive at one, those of the arguments leave by the other. */
class Gates {
  private readonly module: Module;
  private readonly hooks: Hooks;
  private arrived: Gradients = [];
  private entered = false;
  /** How many tensors the arguments hold. */
  private taken = 0;

  constructor(module: Module, hooks: Hooks) {
    this.module = module;
    this.hooks = hooks;
  }
  enter(args: unknown[]): unknown[] {
    const places = args.flatMap((arg, i) => (arg instanceof Tensor ? [i] : []));
    this.taken = places.length;
    if (!places.some((i) => (args[i] as Tensor).requires_grad)) return args;
    this.entered = true;
    const passed = Gate.passed(
        places.map((i) => args[i] as Tensor),
        (grads) => this.call(grads),
      ),
      out = [...args];
    places.forEach((place, i) => {
      out[place] = passed[i];
    });
    return out;
  }
  leave(output: unknown): unknown {
    const single = output instanceof Tensor,
      list = single ? [output] : Array.isArray(output) ? (output as unknown[]) : [];
    const places = list.flatMap((x, i) => (x instanceof Tensor ? [i] : []));
    if (places.length === 0) return output;
    const passed = Gate.passed(
      places.map((i) => list[i] as Tensor),
      (grads) => {
        for (const hook of this.hooks.backwardBefore) {
          const answer = hook(this.module, grads);
          if (answered(answer)) grads = Array.isArray(answer) ? answer : [answer as Tensor];
        }
        this.arrived = grads;
        if (!this.entered) this.call(Array<null>(this.taken).fill(null));
        return grads;
      },
    );
    if (single) return passed[0];
    const out = [...list];
    places.forEach((place, i) => {
      out[place] = passed[i];
    });
    return out;
  }
  private call(grads: Gradients): Gradients {
    let gradInput = grads;
    for (const hook of this.hooks.backward) {
      const answer = hook(this.module, gradInput, this.arrived);
      if (answered(answer)) gradInput = Array.isArray(answer) ? answer : [answer as Tensor];
    }
    return gradInput;
  }
}
