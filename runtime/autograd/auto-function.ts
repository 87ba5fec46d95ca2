// webgpu-torch's spelling of autograd.Function: `AutoFunction` with forward, setupContext and backward, and
// `functions`, in which every operator is one: `functions.AbsFunction.apply(x)`.  How gradients flow is in
// custom-function.ts.

import * as operators from "../../names/torch.js";
import { TypeMismatchError } from "../base/errors.js";
import { grad } from "./gradients.js";
import { Function, type FunctionContext } from "./custom-function.js";
import { enable_grad } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { titled } from "../base/class-name.js";

export type FunctionInput = Tensor | number | readonly number[] | boolean | string | null | undefined;

/**
 * What setupContext leaves for backward; any further property may be set on it.
 *
 * @param context that of `torch.autograd.Function`
 *
 * @example
 * class Scaled extends torch.AutoFunction {
 *   static forward([x, factor]) {
 *     return x.mul(factor);
 *   }
 *   static setupContext(ctx, [x, factor]) {
 *     ctx.factor = factor;
 *   }
 *   static backward(ctx, gradient) {
 *     return [gradient.mul(ctx.factor), null];
 *   }
 * };
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * Scaled.apply(x, 3).sum().backward();
 * x.grad  // [3, 3]
 */
export class GradientContext {
  [key: string]: unknown;

  constructor(context: FunctionContext) {
    Object.defineProperties(this, {
      needsInputGradient: { get: () => context.needs_input_grad },
      savedTensors: { get: () => context.saved_tensors },
      saveForBackward: { value: (...tensors: Tensor[]) => context.save_for_backward(...tensors) },
    });
  }
  declare readonly needsInputGradient: boolean[];
  declare readonly savedTensors: Tensor[];
  declare readonly saveForBackward: (...tensors: Tensor[]) => void;
}
titled(GradientContext, "GradientContext");

/**
 * Subclass with static `forward(inputs)`, `setupContext(ctx, inputs, output)` and `backward(ctx, gradient)`; call
 * `apply(...inputs)`.
 *
 * @example
 * class Square extends torch.AutoFunction {
 *   static forward([x]) {
 *     return x.mul(x);
 *   }
 *   static setupContext(ctx, [x]) {
 *     ctx.x = x;
 *   }
 *   static backward(ctx, gradient) {
 *     return [gradient.mul(ctx.x).mul(2)];
 *   }
 * };
 * const x = torch.tensor([1, 2], { requires_grad: true });
 * Square.apply(x).sum().backward();
 * x.grad  // [2, 4]
 */
export class AutoFunction {
  static forward(_inputs: readonly FunctionInput[]): Tensor {
    throw new TypeMismatchError(`${this.name}: an AutoFunction must have a forward(inputs)`);
  }
  static setupContext(_context: GradientContext, _inputs: readonly FunctionInput[], _output: Tensor): void {
    /* nothing is saved */
  }
  static backward(_context: GradientContext, _gradient: Tensor): (Tensor | null)[] {
    throw new TypeMismatchError(`${this.name}: an AutoFunction must have a backward(ctx, gradient)`);
  }
  /** Runs forward and tells the tape of it. It may be taken from its class: `const square = Square.apply`. */
  static get apply(): Operator {
    const own = this;
    return function (this: typeof own | undefined, ...inputs: FunctionInput[]) {
      return adapted(this?.prototype instanceof own ? this : own).apply(...inputs);
    };
  }
}
titled(AutoFunction, "AutoFunction");

const adaptations = /* @__PURE__ */ new WeakMap<typeof AutoFunction, typeof Function>(),
  contexts = /* @__PURE__ */ new WeakMap<FunctionContext, GradientContext>();

/** The same as autograd.Function. */
function adapted(definition: typeof AutoFunction): typeof Function {
  const known = adaptations.get(definition);
  if (known) return known;
  const own = class extends Function {
    static override forward(...inputs: never[]): Tensor {
      return definition.forward(inputs);
    }
    static override setup_context = (context: FunctionContext, inputs: readonly never[], output: never): void => {
      const given = new GradientContext(context);
      contexts.set(context, given);
      definition.setupContext(given, inputs, output);
    };
    static override backward(context: FunctionContext, gradient: never): (Tensor | null)[] {
      return definition.backward(contexts.get(context)!, gradient);
    }
  };
  Object.defineProperty(own, "name", { value: definition.name });
  adaptations.set(definition, own);
  return own;
}

type Operator = (...inputs: FunctionInput[]) => Tensor;
const FUNCTION = /^([A-Z]\w*)Function$/;

/** `AbsFunction` is `abs`, `LogSoftmaxFunction` `log_softmax`. */
function operatorOf(name: string): Operator | undefined {
  const plain = FUNCTION.exec(name)?.[1]
    ?.replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
  return plain === undefined ? undefined : (operators as unknown as Record<string, Operator | undefined>)[plain];
}

/** An operator as a class; its gradient is its own. */
function classOf(operator: Operator, name: string): typeof AutoFunction {
  const made = class extends AutoFunction {
    static override forward(inputs: readonly FunctionInput[]): Tensor {
      return operator(...inputs);
    }
    static override setupContext(context: GradientContext, inputs: readonly FunctionInput[]): void {
      context.saveForBackward(...inputs.filter((input): input is Tensor => input instanceof Tensor));
      context["inputs"] = inputs.map((input) => (input instanceof Tensor ? null : input));
      context["tensors"] = inputs.map((input) => input instanceof Tensor);
    }
    /** The gradient of each input, for those who call it themselves: apply leaves it to the operator. */
    static override backward(context: GradientContext, gradient: Tensor): (Tensor | null)[] {
      const saved = [...context.savedTensors],
        isTensor = context["tensors"] as boolean[],
        needed = context.needsInputGradient;
      const inputs = (context["inputs"] as FunctionInput[]).map((input, i) =>
        isTensor[i] ? saved.shift()!.detach().requires_grad_(needed[i]) : input,
      );
      const wanted = inputs.filter((_, i) => needed[i]) as Tensor[];
      const grads = enable_grad(() =>
        grad([operator(...inputs)], wanted, { grad_outputs: [gradient], allow_unused: true }),
      );
      return inputs.map((_, i) => (needed[i] ? (grads.shift() ?? null) : null));
    }
    static override get apply(): Operator {
      return operator;
    }
  };
  Object.defineProperty(made, "name", { value: name });
  return made;
}

/**
 * Every operator as an AutoFunction: `functions.AbsFunction.apply(x)` is `abs(x)`.
 *
 * @example
 * torch.functions.AbsFunction.apply(torch.tensor([-1, 2]))  // [1, 2]
 */
export const functions = /* @__PURE__ */ new Proxy({} as Record<string, typeof AutoFunction>, {
  get(made, name) {
    if (typeof name !== "string") return undefined;
    const operator = operatorOf(name);
    return operator && (made[name] ??= classOf(operator, name));
  },
  has: (_, name) => typeof name === "string" && operatorOf(name) !== undefined,
}) as { readonly [name: `${string}Function`]: typeof AutoFunction };
