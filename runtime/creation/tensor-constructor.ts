// `Tensor` as programs see it: the class, for instanceof, which also makes tensors as PyTorch's constructor does.

import { type Options, type TensorData, empty, tensor } from "./create.js";
import { isOptions } from "../base/named-arguments.js";
import { Storage } from "../tensor/storage.js";
import { Tensor as TensorClass } from "../tensor/tensor.js";

interface Constructor {
  /** float32 of nested arrays, of a typed array, or of values and a shape; of another tensor, a view of it. */
  new (data: TensorData, options?: Options & { shape?: readonly number[] }): TensorClass;
  /** float32 of these sizes, with undefined values. */
  new (...sizes: number[]): TensorClass;
  (data: TensorData, options?: Options & { shape?: readonly number[] }): TensorClass;
  (...sizes: number[]): TensorClass;
  readonly prototype: TensorClass;
}

function make(args: readonly unknown[]): TensorClass {
  const [data, options] = args;
  if (data instanceof TensorClass) return data.detach();
  if (data === undefined) return empty([0]);
  if (typeof data === "number") return empty(...(args as number[]));
  const named = isOptions(data) && "data" in data ? data : options;
  return tensor(data as TensorData, { dtype: "float32", ...(named as Options | undefined) });
}

/**
 * The class of all tensors.  `new Tensor([[1, 2]])` and `Tensor([[1, 2]])` make one of float32; `tensor` infers the
 * type.
 *
 * @example
 * torch.Tensor([1, 2]).dtype  // "float32"
 * @example
 * torch.zeros(2) instanceof torch.Tensor  // true
 */
export const Tensor = /* @__PURE__ */ new Proxy(TensorClass, {
  // The runtime's own tensors come with their storage.
  construct: (target, args, made) =>
    args[0] instanceof Storage ? (Reflect.construct(target, args, made) as TensorClass) : make(args),
  apply: (_, __, args: unknown[]) => make(args),
}) as unknown as Constructor;
export type Tensor = TensorClass;
