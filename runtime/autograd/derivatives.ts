// torch.autograd.functional: derivatives of a function at given inputs (one tensor, or a list).  Unlike those of
// torch.func their answers have no gradients of their own, unless `create_graph` asks for them.

import { grad as gradients } from "./gradients.js";
import { grad, jacrev, jvp as forward, vjp as backward } from "./transforms.js";
import type { Body } from "./vmap.js";
import { OpError } from "../base/errors.js";
import { ones_like } from "../creation/like.js";
import { callable } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { flatten } from "../base/pytree.js";
import { enable_grad, no_grad } from "../tape/grad-mode.js";
import { tensorsOf } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";

type Inputs = Tensor | readonly Tensor[];
/** For one input a tensor, for a list a list. */
type Alike<I extends Inputs> = I extends Tensor ? Tensor : Tensor[];

export interface FunctionalOptions {
  /** Whether the answer has gradients itself. */
  create_graph?: boolean;
  /** Whether an output that does not depend on an input is an error; else its derivative is zero. */
  strict?: boolean;
}
export interface JacobianOptions extends FunctionalOptions {
  vectorize?: boolean;
  strategy?: string;
}

/** One call: the inputs as a list, and how to compute: recorded, or not. */
class Call {
  readonly list: Tensor[];

  constructor(
    private readonly op: string,
    private readonly func: Body,
    private readonly inputs: Inputs,
    private readonly create: unknown,
    strict: unknown,
  ) {
    callable(func, op, "func");
    this.list = this.tensors(inputs, "inputs");
    if (strict) this.demand();
  }
  tensors(x: Inputs, name: string): Tensor[] {
    return x instanceof Tensor ? [x] : tensorsOf(x, this.op, name);
  }
  /** What PyTorch's `strict` asks for. */
  private demand(): void {
    const leaves = this.list.map((x) => x.detach().requires_grad_());
    for (const [i, out] of flatten(enable_grad(() => this.func(...leaves)))[0].entries()) {
      const found =
        out instanceof Tensor && out.requires_grad
          ? gradients(out, leaves, { grad_outputs: ones_like(out), allow_unused: true, retain_graph: true })
          : [null];
      if (found.includes(null))
        throw new OpError(
          `${this.op}: Output ${i} of the user-provided function is independent of input ${found.indexOf(null)}. This is not allowed in strict mode.`,
        );
    }
  }
  run<T>(body: () => T): T {
    return this.create ? enable_grad(body) : no_grad(body);
  }
  /** One argument's place, or all. */
  get places(): number | number[] {
    return this.inputs instanceof Tensor ? 0 : this.list.map((_, i) => i);
  }
  alike(list: readonly Tensor[]): Tensor | Tensor[] {
    return this.inputs instanceof Tensor ? list[0]! : [...list];
  }
  weights(v: Inputs | null | undefined, like: readonly Tensor[]): Tensor[] {
    if (v) return this.tensors(v, "v");
    if (like.length !== 1 || like[0]!.numel() !== 1)
      throw new OpError(
        `${this.op}: The vector v can only be None if the user-provided function returns a single Tensor with a single element.`,
      );
    return [ones_like(like[0]!)];
  }
  /** The function, of whose answer there must be one element. */
  readonly scalar: Body = (...args) => {
    const out = this.func(...(args as Tensor[]));
    if (!(out instanceof Tensor) || out.numel() !== 1)
      throw new OpError(
        `${this.op}: The Tensor returned by the function given to ${this.op} should contain a single element`,
      );
    return views.reshape(out, []);
  };
}

/**
 * [func(inputs), the gradients of that weighted by v].
 *
 * @param func of the inputs, a tensor or several
 * @param inputs a tensor, or a list of them
 * @param v of the result's shape: how its elements are weighted
 * @param create_graph whether the result has a graph of its own, for derivatives of it
 * @param strict whether an input that `func` does not use is an error; else its derivatives are 0
 *
 * @example
 * const { vjp } = torch.autograd.functional;
 * vjp((x) => x.square(), torch.tensor([1, 2]), torch.tensor([1, 10]))  // [[1, 4], [2, 40]]
 */
export function vjp<F extends Body, I extends Inputs>(
  func: F,
  inputs: I,
  v?: Inputs | null | FunctionalOptions,
  ...options: unknown[]
): [ReturnType<F>, Alike<I>];
export function vjp(..._: unknown[]): unknown[] {
  const [func, inputs, v, create, strict] = taken("vjp func inputs v? create_graph? strict?", arguments),
    call = new Call("vjp", func as Body, inputs as Inputs, create, strict);
  return call.run(() => {
    const [out, back] = backward(func as Body, ...call.list);
    const grads = back(call.weights(v as Inputs, flatten(out)[0] as Tensor[]));
    return [out, call.alike(grads)];
  });
}

/**
 * [func(inputs), how it changes along v].
 *
 * @param func of the inputs, a tensor or several
 * @param inputs a tensor, or a list of them
 * @param v of the inputs' shapes: along which they change
 * @param create_graph whether the result has a graph of its own, for derivatives of it
 * @param strict whether an input that `func` does not use is an error; else its derivatives are 0
 *
 * @example
 * const { jvp } = torch.autograd.functional;
 * jvp((x) => x.square(), torch.tensor([1, 2]), torch.tensor([1, 10]))  // [[1, 4], [2, 40]]
 */
export function jvp<F extends Body>(
  func: F,
  inputs: Inputs,
  v?: Inputs | null | FunctionalOptions,
  ...options: unknown[]
): [ReturnType<F>, ReturnType<F>];
export function jvp(..._: unknown[]): unknown[] {
  const [func, inputs, v, create, strict] = taken("jvp func inputs v? create_graph? strict?", arguments),
    call = new Call("jvp", func as Body, inputs as Inputs, create, strict);
  return call.run(() => forward(func as Body, call.list, call.weights(v as Inputs, call.list)));
}

/**
 * The derivative of every element of func(inputs) with respect to every element of the inputs.
 *
 * @param func of the inputs, a tensor or several
 * @param inputs a tensor, or a list of them
 * @param create_graph whether the result has a graph of its own, for derivatives of it
 * @param strict whether an input that `func` does not use is an error; else its derivatives are 0
 * @param vectorize whether rows are computed together
 * @param strategy "reverse-mode": row by row of the result, or "forward-mode": column by column
 *
 * @example
 * const { jacobian } = torch.autograd.functional;
 * jacobian((x) => x.square(), torch.tensor([1, 2, 3]))  // [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
 */
export function jacobian<F extends Body, I extends Inputs>(
  func: F,
  inputs: I,
  create_graph?: boolean | JacobianOptions,
  ...options: unknown[]
): ReturnType<F> extends readonly unknown[] ? Alike<I>[] : Alike<I>;
export function jacobian(..._: unknown[]): unknown {
  const [func, inputs, create, strict] = taken(
      "jacobian func inputs create_graph? strict? vectorize? strategy?",
      arguments,
    ),
    call = new Call("jacobian", func as Body, inputs as Inputs, create, strict);
  return call.run(() => jacrev(func as Body, call.places)(...call.list));
}

/**
 * The second derivatives of a function with one element: for a list of inputs, a list of lists.
 *
 * @param func of the inputs, a tensor of one element
 * @param inputs a tensor, or a list of them
 * @param create_graph whether the result has a graph of its own, for derivatives of it
 * @param strict whether an input that `func` does not use is an error; else its derivatives are 0
 * @param vectorize whether rows are computed together
 * @param outer_jacobian_strategy "reverse-mode" or "forward-mode": how the outer derivatives are computed
 *
 * @example
 * const { hessian } = torch.autograd.functional;
 * hessian((x) => x.pow(3).sum(), torch.tensor([1, 2]))  // [[6, 0], [0, 12]]
 */
export function hessian<I extends Inputs>(
  func: Body,
  inputs: I,
  create_graph?: boolean | (FunctionalOptions & { vectorize?: boolean; outer_jacobian_strategy?: string }),
  ...options: unknown[]
): I extends Tensor ? Tensor : Tensor[][];
export function hessian(..._: unknown[]): unknown {
  const [func, inputs, create, strict] = taken(
      "hessian func inputs create_graph? strict? vectorize? outer_jacobian_strategy?",
      arguments,
    ),
    call = new Call("hessian", func as Body, inputs as Inputs, create, strict),
    { places } = call;
  return call.run(() => jacrev((...args) => grad(call.scalar, places)(...args), places)(...call.list));
}

/** [func(inputs), the matrix of second derivatives times v]: that is symmetric, so two ways back give it. */
function product(op: string, given: ArrayLike<unknown>): [Tensor, Tensor | Tensor[]] {
  const [func, inputs, v, create, strict] = taken(`${op} func inputs v? create_graph? strict?`, given),
    call = new Call(op, func as Body, inputs as Inputs, create, strict),
    weights = call.weights(v as Inputs, call.list);
  if (weights.length !== call.list.length)
    throw new OpError(`${op}: expected as many vectors as inputs, got ${weights.length} and ${call.list.length}`);
  return call.run(() => {
    const out = call.scalar(...call.list) as Tensor,
      places = call.list.map((_, i) => i);
    return [
      create ? out : out.detach(),
      call.alike(backward((...args) => grad(call.scalar, places)(...args), ...call.list)[1](weights)),
    ];
  });
}

type Product = <I extends Inputs>(
  func: Body,
  inputs: I,
  v?: Inputs | null | FunctionalOptions,
  ...options: unknown[]
) => [Tensor, Alike<I>];

/**
 * [func(inputs), the matrix of second derivatives times v].
 *
 * @param func of the inputs, a tensor of one element
 * @param inputs a tensor, or a list of them
 * @param v of the inputs' shapes: the vector that is multiplied by
 * @param create_graph whether the result has a graph of its own, for derivatives of it
 * @param strict whether an input that `func` does not use is an error; else its derivatives are 0
 *
 * @example
 * const { hvp } = torch.autograd.functional;
 * hvp((x) => x.pow(3).sum(), torch.tensor([1, 2]), torch.tensor([1, 0]))  // [9, [6, 0]]
 */
export const hvp = ((...given: unknown[]) => product("hvp", given)) as Product;

/**
 * [func(inputs), v times the matrix of second derivatives].
 *
 * @param func of the inputs, a tensor of one element
 * @param inputs a tensor, or a list of them
 * @param v of the inputs' shapes: the vector that is multiplied by
 * @param create_graph whether the result has a graph of its own, for derivatives of it
 * @param strict whether an input that `func` does not use is an error; else its derivatives are 0
 *
 * @example
 * const { vhp } = torch.autograd.functional;
 * vhp((x) => x.pow(3).sum(), torch.tensor([1, 2]), torch.tensor([1, 0]))  // [9, [6, 0]]
 */
export const vhp = ((...given: unknown[]) => product("vhp", given)) as Product;
