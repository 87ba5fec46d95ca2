// autograd.Function: operations with a forward and a backward of the user's own.

import { AutogradError, TypeMismatchError, describe } from "../base/errors.js";
import { broadcastShapes, sameShape, showShape } from "../base/shape.js";
import { isRecording, unrecorded } from "../tape/grad-mode.js";
import { type Grad, Node, Saved, attach, recording } from "../tape/node.js";
import { zeros } from "../creation/create.js";
import { type DType, differentiable } from "../elements/dtype.js";
import { cast } from "../tensor/copy.js";
import { beforeRecorded } from "../tensor/in-place-checks.js";
import { Tensor, alias } from "../tensor/tensor.js";
import { sumTo } from "../views/view-adjoints.js";
import { titled } from "../base/class-name.js";

/** What forward leaves for backward; any further property may be set on it. */
export class Context {
  [key: string]: unknown;
  /** Which inputs need a gradient. */
  needs_input_grad: boolean[] = [];
}

interface State {
  toSave: (Tensor | null)[];
  saved: (Saved | null)[];
  materialize: boolean;
  /** Results without gradients, and arguments that forward has changed. */
  readonly without: Tensor[];
  readonly dirty: Tensor[];
}
const hidden = new WeakMap<Context, State>();
const stateOf = (context: Context) => {
  let state = hidden.get(context);
  if (!state) hidden.set(context, (state = { toSave: [], saved: [], materialize: true, without: [], dirty: [] }));
  return state;
};

Object.defineProperties(Context.prototype, {
  save_for_backward: {
    value(this: Context, ...tensors: (Tensor | null)[]) {
      for (const [i, x] of tensors.entries())
        if (!(x === null || x instanceof Tensor))
          throw new TypeMismatchError(
            `save_for_backward can only save tensors and null, but argument ${i} is ${describe(x)}`,
          );
      stateOf(this).toSave = tensors;
    },
  },
  saved_tensors: {
    get(this: Context) {
      return stateOf(this).saved.map((saved) => saved && saved.get());
    },
  },
  mark_non_differentiable: {
    value(this: Context, ...tensors: Tensor[]) {
      stateOf(this).without.push(...tensors);
    },
  },
  mark_dirty: {
    value(this: Context, ...tensors: Tensor[]) {
      stateOf(this).dirty.push(...tensors);
    },
  },
  set_materialize_grads: {
    value(this: Context, value: boolean) {
      stateOf(this).materialize = value;
    },
  },
});

export interface FunctionContext {
  /** Keeps tensors for `saved_tensors`, checked against in-place changes; null stays null. */
  save_for_backward(...tensors: (Tensor | null)[]): void;
  /** What was saved; where nothing but tensors was, that is what they are for TypeScript. */
  readonly saved_tensors: Tensor[];
  mark_non_differentiable(...tensors: Tensor[]): void;
  /** Says which arguments forward has changed in place: it answers them, too. */
  mark_dirty(...tensors: Tensor[]): void;
  /** Whether missing gradients reach backward as zeros (the default) or as null. */
  set_materialize_grads(value: boolean): void;
  needs_input_grad: boolean[];
  [key: string]: unknown;
}

/** Tensors, and among several anything else, which goes to the caller as it is. */
type Results = Tensor | readonly unknown[];
type Gradients = Tensor | null | undefined | readonly (Tensor | null | undefined)[];

interface Definition {
  readonly name: string;
  forward(context: FunctionContext, ...args: never[]): Results;
  setup_context?(context: FunctionContext, inputs: readonly never[], output: Results): void;
  backward(context: FunctionContext, ...grads: never[]): Gradients;
}

interface Output {
  shape: readonly number[];
  dtype: DType;
  device: string;
}

class CustomNode extends Node {
  readonly label: string;
  private readonly definition: Definition;
  private readonly context: Context;
  /** For each argument of forward, its place among the linked inputs, or -1. */
  private readonly places: readonly number[];
  /** What is known of each argument that is a tensor, of which a gradient is like. */
  private readonly given: readonly (Output | null)[];
  /** The same of each result. */
  readonly results: (Output | null)[] = [];

  constructor(definition: Definition, context: Context, args: readonly unknown[]) {
    super();
    this.label = `${definition.name}Backward`;
    this.definition = definition;
    this.context = context;
    this.places = args.map((arg) => (arg instanceof Tensor ? (this.link(arg), this.next.length - 1) : -1));
    this.given = args.map(outputOf);
  }

  override get keepsGradients(): boolean {
    return true;
  }

  apply(grads: readonly Grad[]): Grad[] {
    const given = this.results.map(
      (like, i) =>
        grads[i] ??
        (like && stateOf(this.context).materialize
          ? zeros(like.shape, { dtype: like.dtype, device: like.device })
          : null),
    );
    const answer = this.definition.backward(this.context as unknown as FunctionContext, ...(given as never[]));
    const list = answer instanceof Tensor || answer === null || answer === undefined ? [answer] : [...answer];
    const few = list.length < this.places.length && list.length !== this.next.length;
    if (few || list.slice(this.places.length).some((grad) => grad)) {
      throw new TypeMismatchError(
        `function ${this.label} returned an incorrect number of gradients (expected ${this.places.length}, got ${list.length})`,
      );
    }
    const out: Grad[] = this.next.map(() => null);
    this.places.forEach((place, i) => {
      const grad = list[i] ?? null;
      if (place < 0) return;
      if (grad !== null && !(grad instanceof Tensor))
        throw new TypeMismatchError(`${this.label}: expected a tensor as gradient ${i}, got ${describe(grad)}`);
      // What is the user's own stays so: the engine adds to what it takes for its own.
      if (grad && this.next[place])
        out[place] = this.fitted(given.includes(grad) || isRecording() ? grad : grad.detach(), i);
    });
    return out;
  }
  /** A gradient in the size and the type of its argument: what the argument would broadcast to is added up. */
  private fitted(grad: Tensor, i: number): Tensor {
    const { shape, dtype } = this.given[i]!,
      wide = broadcastShapes(shape, grad.shape);
    if (!wide || !sameShape(wide, grad.shape))
      throw new AutogradError(
        `Function ${this.label} returned an invalid gradient at index ${i} - got ${showShape(grad.shape)} but expected ` +
          `shape compatible with ${showShape(shape)}`,
      );
    return cast(sumTo(grad, shape), dtype, this.label);
  }

  override release(): void {
    for (const saved of stateOf(this.context).saved) saved?.release();
  }
}

const outputOf = (x: unknown): Output | null =>
  x instanceof Tensor ? { shape: x.shape, dtype: x.dtype, device: x.device } : null;

/**
 * Subclass with static `forward(ctx, ...args)` and `backward(ctx, ...gradients)`, and call `apply(...args)`.
 * backward answers one gradient (or null) for each argument of forward.  With a static `setup_context(ctx, inputs,
 * output)` forward has no context: `forward(...args)`.
 *
 * @example
 * class Straight extends torch.autograd.Function {
 *   static forward(ctx, x) {
 *     return x.round();
 *   }
 *   static backward(ctx, gradient) {
 *     return gradient;
 *   }
 * };
 * const x = torch.tensor([0.4, 1.6], { requires_grad: true });
 * Straight.apply(x).sum().backward();
 * x.grad  // [1, 1]
 */
export class Function {
  declare static setup_context?: (context: FunctionContext, inputs: readonly never[], output: never) => void;

  static forward(_context: FunctionContext, ..._args: never[]): Results {
    throw new TypeMismatchError("You must implement the forward function for custom autograd.Function.");
  }

  static backward(_context: FunctionContext, ..._grads: never[]): Gradients {
    throw new TypeMismatchError("You must implement the backward function to use it with autograd.");
  }

  /** Runs forward and tells the tape of it. It may be taken from its class: `const straight = Straight.apply`. */
  static get apply(): Apply {
    const own = this;
    return function (this: typeof own | undefined, ...args: unknown[]) {
      return applied((this?.prototype instanceof own ? this : own) as Definition, args);
    } as Apply;
  }
}
titled(Function, "Function");

type Apply = <R = Tensor>(...args: unknown[]) => R;

function applied(definition: Definition, args: unknown[]): unknown {
  const context = new Context();
  context.needs_input_grad = args.map((arg) => arg instanceof Tensor && arg.requires_grad);
  const results = unrecorded(() => forwarded(definition, context as unknown as FunctionContext, args));
  const tensors = args.filter((arg): arg is Tensor => arg instanceof Tensor);
  if (!recording(...tensors)) return results;
  const node = new CustomNode(definition, context, args),
    state = stateOf(context);
  const made = results instanceof Tensor ? [results] : [...results];
  const outputs = made.map((result, i) => {
    node.results.push(outputOf(result));
    if (!(result instanceof Tensor)) return result;
    // An argument handed back as it came becomes a tensor of its own, so that the argument keeps its place on the
    // tape.
    const dirty = state.dirty.includes(result),
      own = args.includes(result) && !dirty ? alias(result, true) : result;
    if (dirty) {
      beforeRecorded(result, definition.name);
      if (result.base)
        throw new AutogradError(
          `${definition.name}: mark_dirty takes no views, whose base changes with them: clone() it`,
        );
    }
    return differentiable(result.dtype) && !state.without.includes(result) ? attach(own, node, i) : own;
  });
  state.saved = state.toSave.map((tensor) => tensor && new Saved(tensor, node, made.indexOf(tensor)));
  state.toSave = [];
  return results instanceof Tensor ? outputs[0] : outputs;
}

/** What forward answers; its context is set up by it or, where there is one, by setup_context. */
function forwarded(definition: Definition, context: FunctionContext, args: readonly unknown[]): Results {
  if (!definition.setup_context) return definition.forward(context, ...(args as never[]));
  const results = (definition.forward as (...inputs: unknown[]) => Results).call(definition, ...args);
  definition.setup_context(context, args as never[], results);
  return results;
}
