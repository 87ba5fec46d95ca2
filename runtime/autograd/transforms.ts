// torch.func: functions of tensors to functions that give their derivatives.  Arguments and results may be lists, objects
// and Maps of tensors (base/pytree.ts).  What a function captures has gradients through the answer, as in PyTorch: the
// parameters of a network, say.  jvp is the derivative of vjp with respect to its weights, so it needs second derivatives
// only of what it meets.  vmap is in vmap.ts.

import * as autograd from "./gradients.js";
import { zeros } from "../creation/create.js";
import { zeros_like } from "../creation/like.js";
import { AutogradError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { enable_grad, isRecording } from "../tape/grad-mode.js";
import { type Node, gradientEdge } from "../tape/node.js";
import { stack } from "../functions/join.js";
import { callable, refuse } from "../base/argument-kinds.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { type Rebuild, flatten, mapTree } from "../base/pytree.js";
import { integers } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import { type Body, answerOf, checkTensor } from "./vmap.js";
import { weightsFor } from "./weights.js";

export { vmap } from "./vmap.js";

/** A tensor, or lists, objects and Maps of them. */
export type Tree = Tensor | readonly Tree[] | { readonly [name: string]: Tree } | ReadonlyMap<unknown, Tree>;

/** A place to take derivatives at: a leaf of its own, or, within another derivative, a point of that one's tape. */
const placeAt = (x: Tensor): Tensor =>
  x.requires_grad && isRecording() ? views.view(x, x.shape) : x.detach().requires_grad_();

/** The tensors of some arguments, and how lists of as many are put together as those arguments. */
interface Places {
  readonly tensors: Tensor[];
  shaped(values: readonly unknown[]): unknown[];
}
/** `outer`: whether the answer's own gradient may be asked for. */
type Run = Places & { readonly out: unknown; readonly outer: boolean };

/** Whether these were made from anything that needs a gradient, beside the tensors at `places`. */
function captures(values: readonly unknown[], places: readonly (Node | null)[]): boolean {
  const seen = new Set(places),
    left = values.map((x) => (x instanceof Tensor ? gradientEdge(x) : null));
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (!node || seen.has(node)) continue;
    if (!node.next.length) return true;
    seen.add(node);
    left.push(...node.next);
  }
  return false;
}

function runAt(f: Body, args: readonly unknown[], places: readonly number[], op: string): Run {
  callable(f, op, "func");
  const list = [...args],
    tensors: Tensor[] = [],
    parts: { count: number; rebuild: Rebuild }[] = [];
  let outer = false;
  for (const place of places) {
    const i = place < 0 ? place + list.length : place,
      [leaves, rebuild] = flatten(list[i]);
    for (const leaf of leaves) outer ||= checkTensor(leaf, op, `argument ${place}`).requires_grad && isRecording();
    const found = (leaves as Tensor[]).map(placeAt);
    list[i] = rebuild(found);
    tensors.push(...found);
    parts.push({ count: found.length, rebuild });
  }
  const edges = tensors.map(gradientEdge),
    out = enable_grad(() => f(...(list as never[])));
  outer ||= isRecording() && captures(flatten(out)[0], edges);
  return {
    tensors,
    shaped(values) {
      let at = 0;
      return parts.map(({ count, rebuild }) => rebuild(values.slice(at, (at += count))));
    },
    out,
    outer,
  };
}

/** Gradients of weighted outputs; zeros for inputs that they do not depend on. */
function pull(
  outs: readonly Tensor[],
  places: readonly Tensor[],
  weights: readonly (Tensor | null)[],
  create: boolean,
): Tensor[] {
  const used = outs.flatMap((out, i) => (out.requires_grad ? [i] : []));
  if (!used.length || !places.length) return places.map((p) => zeros_like(p));
  return autograd.grad(
    used.map((i) => outs[i]!),
    places,
    {
      grad_outputs: used.map((i) => weights[i]!),
      create_graph: create,
      retain_graph: true,
      materialize_grads: true,
    },
  ) as Tensor[];
}

const plainOf = (x: Tensor, outer: boolean): Tensor => (outer ? x : x.detach());

/** A result's tensors, and how such a result is made of others; with `has_aux` what came beside it, plain as the result. */
function resultOf({ out, outer }: Run, op: string, has_aux: unknown): [Tensor[], Rebuild, unknown] {
  if (has_aux && !(Array.isArray(out) && out.length === 2))
    throw new TypeMismatchError(
      `${op}: with has_aux the function must answer [output, auxiliary], got ${describe(out)}`,
    );
  const [value, aux] = has_aux ? (out as unknown[]) : [out],
    [leaves, rebuild] = flatten(answerOf(value));
  const beside = mapTree(aux, (x) => (x instanceof Tensor ? plainOf(x, outer) : x));
  return [leaves.map((x) => checkTensor(x, op, "the function's result")), rebuild, beside];
}

export type Argnums = number | readonly number[];
/** A derivative with respect to one argument, or to several. */
export type Along<A extends Argnums> = A extends number ? Tensor : Tensor[];

/**
 * f's gradient (with respect to the arguments `argnums`) and its value; with `has_aux`, f answers [value, auxiliary].
 *
 * @param f function of tensors, or of lists and objects of them, which answers one element
 * @param argnums the place of the argument, or of several
 * @param has_aux whether `f` answers a list of the value and something else
 *
 * @example
 * torch.func.grad_and_value((x) => x.square().sum())(torch.tensor([1, 2]))  // [[2, 4], 5]
 */
export function grad_and_value<F extends Body, A extends Argnums = 0>(
  f: F,
  argnums?: A,
  has_aux?: false,
): (...args: Parameters<F>) => [Along<A>, Tensor];
export function grad_and_value(
  f: Body,
  argnums?: Argnums | { argnums?: Argnums; has_aux?: boolean },
  has_aux?: boolean,
): (...args: unknown[]) => [unknown, unknown];
export function grad_and_value(...given: unknown[]): (...args: never[]) => [unknown, unknown] {
  const [f, argnums = 0, has_aux = false] = taken("grad_and_value func argnums? has_aux?", given);
  callable(f, "grad_and_value", "func");
  return (...args) => {
    const run = runAt(f, args, integers([argnums], "grad", "argnums"), "grad"),
      { tensors, out, outer, shaped } = run,
      [[loss], , aux] = resultOf(run, "grad", has_aux);
    checkTensor(has_aux ? (out as unknown[])[0] : out, "grad", "the function's result");
    if (loss!.ndim > 0) {
      throw new AutogradError(
        `grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with ${loss!.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?`,
      );
    }
    const grads = shaped(pull([loss!], tensors, [null], outer)),
      plain = plainOf(loss!, outer);
    return [typeof argnums === "number" ? grads[0] : grads, has_aux ? [plain, aux] : plain];
  };
}

/**
 * A function that gives f's gradient with respect to the arguments `argnums`; with `has_aux`, [gradient, auxiliary].
 *
 * @param f function of tensors, or of lists and objects of them, which answers one element
 * @param argnums the place of the argument, or of several
 * @param has_aux whether `f` answers a list of the value and something else
 *
 * @example
 * torch.func.grad((x) => x.pow(3).sum())(torch.tensor([1, 2]))  // [3, 12]
 * torch.func.grad((x, y) => x.mul(y).sum(), [0, 1])(torch.tensor([1, 2]), torch.tensor([3, 4]))  // [[3, 4], [1, 2]]
 */
export function grad<F extends Body, A extends Argnums = 0>(
  f: F,
  argnums?: A,
  has_aux?: false,
): (...args: Parameters<F>) => Along<A>;
export function grad(
  f: Body,
  argnums?: Argnums | { argnums?: Argnums; has_aux?: boolean },
  has_aux?: boolean,
): (...args: unknown[]) => unknown;
export function grad(...given: unknown[]): (...args: never[]) => unknown {
  const [f, argnums = 0, has_aux = false] = taken("grad func argnums? has_aux?", given);
  callable(f, "grad", "func");
  const both = grad_and_value(f, argnums, has_aux as boolean);
  return (...args) => {
    const [gradient, value] = both(...args);
    return has_aux ? [gradient, (value as unknown[])[1]] : gradient;
  };
}

/** How f's value weighs back, for the value's tensors: from weights to gradients of all primals. */
function backOf(f: Body, primals: readonly unknown[], op: string, has_aux?: unknown) {
  const all = runAt(
      f,
      primals,
      primals.map((_, i) => i),
      op,
    ),
    [outs, rebuild, aux] = resultOf(all, op, has_aux),
    value = rebuild(outs.map((x) => plainOf(x, all.outer)));
  return { ...all, outs, rebuild, aux, value };
}

/** Weights for the tensors of a result, or tangents of primals: as many, each of its shape. */
function matching(given: unknown, like: readonly Tensor[], op: string, what: string): Tensor[] {
  const list = flatten(given)[0].map((x) => checkTensor(x, op, what));
  if (list.length !== like.length)
    throw new OpError(`${op}: expected as many ${what} as there are tensors, ${like.length}, got ${list.length}`);
  return list;
}

/**
 * f's value at `primals`, and a function from weights of that value to the gradients of all primals; with `has_aux`,
 * what f answers beside its value, too.
 *
 * @param f function of tensors
 * @param primals its arguments
 * @param has_aux whether `f` answers a list of the value and something else
 *
 * @example
 * const [value, pull] = torch.func.vjp((x) => x.square(), torch.tensor([1, 2]));
 * [value, pull(torch.tensor([1, 10]))]  // [[1, 4], [[2, 40]]]
 */
export function vjp(f: Body, ...primals: Tensor[]): [Tensor, (cotangent: Tensor | readonly Tensor[]) => Tensor[]];
export function vjp(
  f: Body,
  ...primals: (Tree | { has_aux?: boolean })[]
): [any, (...cotangents: Tree[]) => any[], unknown?];
export function vjp(...given: unknown[]): unknown[] {
  const last = given[given.length - 1];
  // An object of tensors is a primal.
  if (given.length > 1 && isOptions(last) && !("has_aux" in last)) given = [...given, {}];
  const [f, ...rest] = taken("vjp func *primals | has_aux", given) as [Body, ...unknown[]],
    { has_aux } = rest.pop() as { has_aux?: boolean };
  const { tensors, outs, outer, value, aux, shaped } = backOf(f, rest, "vjp", has_aux);
  const back = (...cotangents: unknown[]): unknown[] => {
    const weights = matching(cotangents, outs, "vjp", "the cotangent");
    return shaped(pull(outs, tensors, weights, outer || weights.some((w) => w.requires_grad)));
  };
  return has_aux ? [value, back, aux] : [value, back];
}

/** A function from tangents of `tensors` to how `outs` change along them: the derivative of vjp by its weights. */
function forwardOf({ tensors, outs, outer }: ReturnType<typeof backOf>): (tangents: readonly Tensor[]) => Tensor[] {
  const places = outs.flatMap((out, i) => (out.requires_grad ? [i] : [])),
    weights = outs.map((out) => (out.requires_grad ? weightsFor(out) : null)),
    back = enable_grad(() => pull(outs, tensors, weights, true)),
    used = back.flatMap((g, i) => (g.requires_grad ? [i] : []));
  return (tangents) => {
    const along = outs.map((out) => zeros_like(plainOf(out, outer)));
    if (!used.length) return along;
    autograd
      .grad(
        used.map((i) => back[i]!),
        places.map((i) => weights[i]!),
        {
          grad_outputs: used.map((i) => tangents[i]!),
          create_graph: outer,
          retain_graph: true,
          materialize_grads: true,
        },
      )
      .forEach((g, k) => {
        along[places[k]!] = g;
      });
    return along;
  };
}

/**
 * f's value at `primals`, and how it changes along `tangents`; with `has_aux`, what f answers beside it, too.
 *
 * @param f function of tensors
 * @param primals its arguments
 * @param tangents for each argument how it changes
 * @param has_aux whether `f` answers a list of the value and something else
 *
 * @example
 * torch.func.jvp((x) => x.square(), [torch.tensor([1, 2])], [torch.tensor([1, 10])])  // [[1, 4], [2, 40]]
 */
export function jvp(f: Body, primals: readonly Tensor[], tangents: readonly Tensor[]): [Tensor, Tensor];
export function jvp(
  f: Body,
  primals: readonly Tree[],
  tangents: readonly Tree[],
  options?: { has_aux?: boolean },
): [any, any, unknown?];
export function jvp(...given: unknown[]): unknown[] {
  const [f, primals, tangents, has_aux] = taken("jvp func primals tangents * has_aux?", given);
  if (!Array.isArray(primals)) refuse("jvp", "primals", "a list", primals);
  const found = backOf(f, primals, "jvp", has_aux);
  const along = found.rebuild(forwardOf(found)(matching(tangents, found.tensors, "jvp", "tangents")));
  return has_aux ? [found.value, along, found.aux] : [found.value, along];
}

/**
 * f's value at `primals`, and a function from tangents to how it changes along them, for many of them.
 *
 * @param f function of tensors
 * @param primals its arguments
 *
 * @example
 * const [value, change] = torch.func.linearize((x) => x.square(), torch.tensor([3]));
 * [value, change(torch.tensor([1])), change(torch.tensor([2]))]  // [[9], [6], [12]]
 */
export function linearize(f: Body, ...primals: Tree[]): [any, (...tangents: Tree[]) => any] {
  const last = primals[primals.length - 1];
  const [func, ...rest] = taken("linearize func *primals", isOptions(last) ? [f, ...primals, {}] : arguments) as [
      Body,
      ...unknown[],
    ],
    found = backOf(func, rest, "linearize"),
    along = forwardOf(found);
  return [
    found.value,
    (...tangents) => found.rebuild(along(matching(tangents, found.tensors, "linearize", "tangents"))),
  ];
}

/** What jacrev and jacfwd answer: the rows of the matrix, taken back one by one. */
function jacobian(op: string, f: Body, argnums: Argnums, has_aux: unknown): (...args: never[]) => unknown {
  callable(f, op, "func");
  return (...args) => {
    const run = runAt(f, args, integers([argnums], op, "argnums"), op),
      { tensors, outer, shaped } = run,
      [outs, rebuild, aux] = resultOf(run, op, has_aux);
    const parts = outs.map((value) => {
      const flat = enable_grad(() => views.reshape(value, [-1])),
        rows = Array.from({ length: value.numel() }, (_, i) =>
          pull([enable_grad(() => views.select(flat, 0, i))], tensors, [null], outer),
        );
      const all = shaped(
        tensors.map((p, k) =>
          rows.length === 0
            ? zeros([...value.shape, ...p.shape], { dtype: p.dtype, device: p.device })
            : views.reshape(stack(rows.map((r) => r[k]!)), [...value.shape, ...p.shape]),
        ),
      );
      return typeof argnums === "number" ? all[0] : all;
    });
    return has_aux ? [rebuild(parts), aux] : rebuild(parts);
  };
}

interface JacobianOptions<A extends Argnums = Argnums> {
  argnums?: A;
  has_aux?: boolean;
  /** How many rows are taken at once: they come one by one. */
  chunk_size?: number | null;
}
const JACOBIAN = "func argnums? has_aux? chunk_size? randomness?";

/**
 * A function that gives the Jacobian: the output's axes, then those of the argument.
 *
 * @param f function of tensors
 * @param argnums the place of the argument, or of several; 0 unless given
 *
 * @example
 * torch.func.jacrev((x) => torch.stack([x.sum(), x.prod()]))(torch.tensor([2, 3]))  // [[1, 1], [3, 2]]
 */
export function jacrev<F extends Body, A extends Argnums = 0>(
  f: F,
  argnums?: A | (JacobianOptions<A> & { has_aux?: false }),
): (...args: Parameters<F>) => Along<A>;
export function jacrev(f: Body, argnums?: Argnums | JacobianOptions): (...args: unknown[]) => unknown;
export function jacrev(...given: unknown[]): (...args: never[]) => unknown {
  const [f, argnums = 0, has_aux] = taken(`jacrev ${JACOBIAN}`, given);
  return jacobian("jacrev", f, argnums, has_aux);
}

/**
 * As jacrev, by which it is computed.
 *
 * @param f function of tensors
 * @param argnums the place of the argument, or of several; 0 unless given
 *
 * @example
 * torch.func.jacfwd((x) => x.square())(torch.tensor([1, 2]))  // [[2, 0], [0, 4]]
 */
export const jacfwd: typeof jacrev = (...given: unknown[]) => {
  const [f, argnums = 0, has_aux] = taken(`jacfwd ${JACOBIAN}`, given);
  return jacobian("jacfwd", f, argnums, has_aux) as never;
};

/**
 * A function that gives the matrix of second derivatives.
 *
 * @param f function of tensors
 * @param argnums the place of the argument, or of several
 *
 * @example
 * torch.func.hessian((x) => x.prod())(torch.tensor([2, 3]))  // [[0, 1], [1, 0]]
 */
export function hessian<F extends Body>(f: F, argnums?: Argnums): (...args: Parameters<F>) => Tensor;
export function hessian(...given: unknown[]): (...args: never[]) => unknown {
  const [f, argnums = 0] = taken("hessian func argnums?", given);
  callable(f, "hessian", "func");
  // Within the outer Jacobian the argument requires a gradient, so the inner one is recorded.
  return jacrev((...args: never[]) => jacrev(f as Body, argnums as Argnums)(...args), argnums as Argnums) as never;
}
