// torch.func: functions of tensors to functions that give their derivatives, and vmap.  What a function captures counts
// as constant.  jvp is the derivative of vjp with respect to its weights, so it needs second derivatives only of what
// it meets.

import * as autograd from "./engine.js";
import { tensor as newTensor, zeros, zeros_like } from "../creation/create.js";
import { AutogradError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { enable_grad, is_grad_enabled } from "../tape/grad-mode.js";
import { stack } from "../functions/join.js";
import { callable, refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { tensorsOf } from "../tensor/tensor-arguments.js";
import { axisOf, integers } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";

type Body = (...args: never[]) => unknown;

function check(x: unknown, op: string, what: string): Tensor {
  if (!(x instanceof Tensor)) throw new TypeMismatchError(`${op}: expected ${what} to be a tensor, got ${describe(x)}`);
  return x;
}

/** A place to take derivatives at: a leaf of its own, or, within another derivative, a point of that one's tape. */
const placeAt = (x: Tensor): Tensor =>
  x.requires_grad && is_grad_enabled() ? views.view(x, x.shape) : x.detach().requires_grad_();

interface Run {
  places: Tensor[];
  out: unknown;
  outer: boolean;
}

function runAt(f: Body, args: readonly unknown[], places: readonly number[], op: string): Run {
  callable(f, op, "func");
  const list = [...args],
    outer = is_grad_enabled() && args.some((a) => a instanceof Tensor && a.requires_grad);
  const found = places.map(
    (i) =>
      (list[i < 0 ? i + list.length : i] = placeAt(
        check(list[i < 0 ? i + list.length : i], op, `argument ${i}`),
      )) as Tensor,
  );
  return { places: found, out: enable_grad(() => f(...(list as never[]))), outer };
}

/** Gradients of a weighted output; zeros for inputs that it does not depend on. */
function pull(out: Tensor, places: readonly Tensor[], weight: Tensor | null, create: boolean): Tensor[] {
  if (!out.requires_grad) return places.map((p) => zeros_like(p));
  return autograd.grad(out, places, {
    grad_outputs: weight,
    create_graph: create,
    retain_graph: true,
    materialize_grads: true,
  }) as Tensor[];
}

type Argnums = number | readonly number[];
/** A derivative with respect to one argument, or to several. */
type Along<A extends Argnums> = A extends number ? Tensor : Tensor[];

/**
 * f's gradient (with respect to the arguments `argnums`) and its value; with `has_aux`, f answers [value, auxiliary].
 */
export function grad_and_value<F extends Body, A extends Argnums = 0>(
  f: F,
  argnums?: A,
  has_aux?: false,
): (...args: Parameters<F>) => [Along<A>, Tensor];
export function grad_and_value(
  f: Body,
  argnums?: Argnums,
  has_aux?: boolean,
): (...args: unknown[]) => [unknown, unknown];
export function grad_and_value(
  f: Body,
  argnums: Argnums = 0,
  has_aux = false,
): (...args: never[]) => [unknown, unknown] {
  [f, argnums = 0, has_aux = false] = taken("grad_and_value func argnums? has_aux?", arguments);
  callable(f, "grad_and_value", "func");
  return (...args) => {
    const { places, out, outer } = runAt(f, args, integers([argnums], "grad", "argnums"), "grad"),
      value = has_aux ? (out as unknown[])[0] : out;
    const loss = check(value, "grad", "the function's result");
    if (loss.ndim > 0) {
      throw new AutogradError(
        `grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with ${loss.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?`,
      );
    }
    const grads = pull(loss, places, null, outer),
      plain = outer ? loss : loss.detach();
    return [typeof argnums === "number" ? grads[0] : grads, has_aux ? [plain, (out as unknown[])[1]] : plain];
  };
}

/**
 * A function that gives f's gradient with respect to the arguments `argnums`; with `has_aux`, [gradient, auxiliary].
 */
export function grad<F extends Body, A extends Argnums = 0>(
  f: F,
  argnums?: A,
  has_aux?: false,
): (...args: Parameters<F>) => Along<A>;
export function grad(f: Body, argnums?: Argnums, has_aux?: boolean): (...args: unknown[]) => unknown;
export function grad(f: Body, argnums: Argnums = 0, has_aux = false): (...args: never[]) => unknown {
  [f, argnums = 0, has_aux = false] = taken("grad func argnums? has_aux?", arguments);
  callable(f, "grad", "func");
  const both = grad_and_value(f, argnums, has_aux as boolean);
  return (...args) => {
    const [gradient, value] = both(...args);
    return has_aux ? [gradient, (value as unknown[])[1]] : gradient;
  };
}

/** f's value at `primals`, and a function from a weight of that value to the gradients of all primals. */
export function vjp(f: Body, ...primals: Tensor[]): [Tensor, (cotangent: Tensor) => Tensor[]] {
  [f, ...primals] = taken("vjp func *primals", arguments);
  const { places, out, outer } = runAt(
      f,
      primals,
      primals.map((_, i) => i),
      "vjp",
    ),
    value = check(out, "vjp", "the function's result");
  return [
    outer ? value : value.detach(),
    (cotangent) => pull(value, places, check(cotangent, "vjp", "the cotangent"), outer || cotangent.requires_grad),
  ];
}

/** f's value at `primals`, and how it changes along `tangents`. */
export function jvp(f: Body, primals: readonly Tensor[], tangents: readonly Tensor[]): [Tensor, Tensor] {
  [f, primals, tangents] = taken("jvp func primals tangents", arguments);
  primals = tensorsOf(primals, "jvp", "primals");
  tangents = tensorsOf(tangents, "jvp", "tangents");
  if (primals.length !== tangents.length)
    throw new OpError(`jvp: expected as many tangents as primals, got ${tangents.length} and ${primals.length}`);
  const { places, out, outer } = runAt(
      f,
      primals,
      primals.map((_, i) => i),
      "jvp",
    ),
    value = check(out, "jvp", "the function's result");
  const plain = outer ? value : value.detach();
  if (!value.requires_grad) return [plain, zeros_like(plain)];
  const weight = zeros_like(value).detach().requires_grad_(),
    back = enable_grad(() => pull(value, places, weight, true));
  const used = back.map((g, i) => [g, tangents[i]!] as const).filter(([g]) => g.requires_grad);
  if (!used.length) return [plain, zeros_like(plain)];
  const [along] = autograd.grad(
    used.map(([g]) => g),
    weight,
    { grad_outputs: used.map(([, t]) => t), create_graph: outer, materialize_grads: true },
  );
  return [plain, along!];
}

/** A function that gives the Jacobian: the output's axes, then those of the argument. */
export function jacrev<F extends Body, A extends Argnums = 0>(f: F, argnums?: A): (...args: Parameters<F>) => Along<A>;
export function jacrev(f: Body, argnums: Argnums = 0): (...args: never[]) => unknown {
  [f, argnums = 0] = taken("jacrev func argnums?", arguments);
  callable(f, "jacrev", "func");
  return (...args) => {
    const { places, out, outer } = runAt(f, args, integers([argnums], "jacrev", "argnums"), "jacrev"),
      value = check(out, "jacrev", "the function's result");
    const flat = enable_grad(() => views.reshape(value, [-1])),
      n = flat.numel();
    const rows = Array.from({ length: n }, (_, i) =>
      pull(
        enable_grad(() => views.select(flat, 0, i)),
        places,
        null,
        outer,
      ),
    );
    const all = places.map((p, k) =>
      n === 0
        ? zeros([...value.shape, ...p.shape], { dtype: p.dtype, device: p.device })
        : views.reshape(stack(rows.map((r) => r[k]!)), [...value.shape, ...p.shape]),
    );
    return typeof argnums === "number" ? all[0] : all;
  };
}

/** A function that gives the matrix of second derivatives. */
export function hessian<F extends Body>(f: F, argnum = 0): (...args: Parameters<F>) => Tensor {
  [f, argnum = 0] = taken("hessian func argnums?", arguments);
  callable(f, "hessian", "func");
  // Within the outer Jacobian the argument requires a gradient, so the inner one is recorded.
  return jacrev((...args: Parameters<F>) => jacrev(f, argnum)(...args), argnum);
}

/** Runs f for each slice along `in_dims` (null: the argument is shared) and stacks the results along `out_dims`. */
export function vmap<F extends Body>(
  f: F,
  in_dims: number | readonly (number | null)[] = 0,
  out_dims = 0,
): (...args: Parameters<F>) => ReturnType<F> extends readonly unknown[] ? Tensor[] : Tensor {
  [f, in_dims = 0, out_dims = 0] = taken("vmap func in_dims? out_dims?", arguments);
  type Answer = ReturnType<F> extends readonly unknown[] ? Tensor[] : Tensor;
  callable(f, "vmap", "func");
  if (typeof in_dims !== "number" && !Array.isArray(in_dims))
    refuse("vmap", "in_dims", "a whole number or a list of them", in_dims);
  return (...args: unknown[]): Answer => {
    const dims = args.map((a, i) =>
      typeof in_dims === "number" ? (a instanceof Tensor ? in_dims : null) : (in_dims[i] ?? null),
    );
    const sizes = new Set(
      args.flatMap((a, i) => (dims[i] === null ? [] : [check(a, "vmap", `argument ${i}`).size(dims[i] as number)])),
    );
    if (sizes.size !== 1) {
      throw new OpError(
        `vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [${[...sizes].join(", ")}] for the mapped dimension`,
      );
    }
    const [n] = [...sizes] as [number];
    if (n === 0) throw new OpError("vmap: the mapped dimension has the size 0");
    const results = Array.from({ length: n }, (_, k): unknown =>
      f(...(args.map((a, i) => (dims[i] === null ? a : views.select(a as Tensor, dims[i] as number, k))) as never[])),
    );
    const join = (list: readonly unknown[]): Tensor => {
      const tensors = list.map((x) =>
        typeof x === "number" ? newTensor(x) : check(x, "vmap", "the function's result"),
      );
      return stack(tensors, axisOf(out_dims, tensors[0]!.ndim + 1, "vmap"));
    };
    const first = results[0];
    return (
      Array.isArray(first) ? first.map((_, k) => join(results.map((r) => (r as unknown[])[k]))) : join(results)
    ) as Answer;
  };
}
