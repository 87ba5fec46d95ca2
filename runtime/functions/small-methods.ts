// Methods and properties of tensors that programs carry with them from PyTorch, and that say little here: where a tensor
// lies, of what kind it is.  Importing this module installs them.

import { callable } from "../base/argument-kinds.js";
import { AutogradError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { type AccumulateGrad, callHook, gradientEdge, Node } from "../tape/node.js";
import { Storage } from "../tensor/storage.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { empty, tensor } from "../creation/create.js";
import { integers } from "../base/shape.js";
import { adjoint, unsafe_split_with_sizes } from "./tensor-functions.js";
import { is_nonzero, is_same_size, strided } from "./settings.js";

declare module "../tape/node.js" {
  interface Node {
    /** Where gradients go on to: nodes, null where nobody wants one, each with which of its outputs it is. */
    readonly next_functions: [Node | null, number][];
  }
}
declare module "../tensor/tensor.js" {
  interface Tensor {
    /**
     * Whether it is on the CPU.
     *
     * @example
     * torch.zeros(1, { device: "cpu" }).is_cpu  // true
     */
    readonly is_cpu: boolean;
    /**
     * Always false: a GPU is "webgpu" here.
     *
     * @example
     * torch.zeros(1).is_cuda  // false
     */
    readonly is_cuda: boolean;
    /**
     * Whether it has a shape and no elements.
     *
     * @example
     * torch.zeros(1, { device: "meta" }).is_meta  // true
     */
    readonly is_meta: boolean;
    /**
     * Always false: a GPU is "webgpu" here.
     *
     * @example
     * torch.zeros(1).is_mps  // false
     */
    readonly is_mps: boolean;
    /**
     * Always false: there are no such tensors here.
     *
     * @example
     * torch.zeros(1).is_nested  // false
     */
    readonly is_nested: boolean;
    /**
     * Always false: there are no such tensors here.
     *
     * @example
     * torch.zeros(1).is_quantized  // false
     */
    readonly is_quantized: boolean;
    /**
     * Always false: there are no such tensors here.
     *
     * @example
     * torch.zeros(1).is_sparse  // false
     */
    readonly is_sparse: boolean;
    /**
     * Always false: there are no such tensors here.
     *
     * @example
     * torch.zeros(1).is_sparse_csr  // false
     */
    readonly is_sparse_csr: boolean;
    /**
     * Always false: a GPU is "webgpu" here.
     *
     * @example
     * torch.zeros(1).is_xpu  // false
     */
    readonly is_xpu: boolean;
    /**
     * How it lies in memory: `torch.strided`, as all tensors here.
     *
     * @example
     * torch.zeros(1).layout  // "torch.strided"
     */
    readonly layout: string;
    /**
     * Always null: axes have no names here.
     *
     * @example
     * torch.zeros(1).name  // null
     */
    readonly name: null;
    /**
     * Whether it is no leaf and keeps its gradient.
     *
     * @example
     * const x = torch.tensor([1.5], { requires_grad: true }), y = x.mul(2);
     * y.retain_grad();
     * y.retains_grad  // true
     */
    readonly retains_grad: boolean;
    /**
     * The tensor that it is a view of; null where it is none.
     *
     * @example
     * const x = torch.zeros(2, 3);
     * x.t()._base === x  // true
     */
    readonly _base: Tensor | null;
    /**
     * Which of the results it is of the function that made it.
     *
     * @example
     * const x = torch.tensor([[1.5, 2.5]], { requires_grad: true });
     * torch.max(x, 1).values.output_nr  // 0
     */
    readonly output_nr: number;
    /**
     * A tensor of its type where it is: of these sizes without values, or with those of a list or of another tensor.
     *
     * @example
     * torch.zeros(2, { dtype: torch.int32 }).new([3, 4])  // [3, 4]
     */
    readonly new: (...args: (number | readonly number[] | Tensor)[]) => Tensor;
    /** -1 on the CPU, else the number of the GPU. */
    get_device(): number;
    is_nonzero(): Promise<boolean>;
    is_same_size(other: Tensor): boolean;
    /**
     * Whether it is the same view of the same memory as another tensor.
     *
     * @example
     * const x = torch.arange(6);
     * x.is_set_to(x.view(6))  // true
     */
    is_set_to(tensor: Tensor): boolean;
    is_conj(): boolean;
    is_neg(): boolean;
    /**
     * Always false: there is no such memory here.
     *
     * @example
     * torch.zeros(1).is_pinned()  // false
     */
    is_pinned(): boolean;
    /**
     * Always false: tensors are not shared between workers.
     *
     * @example
     * torch.zeros(1).is_shared()  // false
     */
    is_shared(): boolean;
    /**
     * Itself: there is no such memory here.
     *
     * @example
     * const x = torch.zeros(1);
     * x.pin_memory() === x  // true
     */
    pin_memory(): this;
    /**
     * Itself: tensors are not shared between workers.
     *
     * @example
     * const x = torch.zeros(1);
     * x.share_memory_() === x  // true
     */
    share_memory_(): this;
    /**
     * The memory that it lies in, which views share.
     *
     * @example
     * const x = torch.arange(6);
     * x.view(2, 3).untyped_storage() === x.untyped_storage()  // true
     */
    untyped_storage(): Storage;
    /**
     * The axes from the one with the largest stride to that with the smallest.
     *
     * @example
     * torch.zeros(2, 3).t().dim_order()  // [1, 0]
     */
    dim_order(): number[];
    /** The last two axes exchanged: of real numbers the adjoint of each matrix. */
    adjoint(): Tensor;
    /** As split_with_sizes. */
    unsafe_split_with_sizes(split_sizes: readonly number[], dim?: number | { dim?: number }): Tensor[];
    /**
     * Calls `hook` with the tensor each time that its gradient has been added to.
     *
     * @example
     * const seen = [], x = torch.tensor([1.5], { requires_grad: true });
     * x.register_post_accumulate_grad_hook((leaf) => void seen.push(leaf.grad));
     * x.mul(2).sum().backward();
     * seen  // [[2]]
     */
    register_post_accumulate_grad_hook(hook: (tensor: Tensor) => void): { remove(): void };
  }
}

const never = () => false;
const properties: Record<string, (x: Tensor) => unknown> = {
  is_cpu: (x) => x.device === "cpu",
  is_cuda: never,
  is_meta: (x) => x.device === "meta",
  is_mps: never,
  is_nested: never,
  is_quantized: never,
  is_sparse: never,
  is_sparse_csr: never,
  is_xpu: never,
  layout: () => strided,
  name: () => null,
  retains_grad: (x) => x.currentNode()?.retained?.get(x.outputNumber)?.deref() === x,
  output_nr: (x) => x.outputNumber,
  _base: (x) => x.base,
};
const itself = (x: Tensor) => x;
const methods: Record<string, (x: Tensor) => unknown> = {
  get_device: (x) => (x.device === "cpu" ? -1 : 0),
  is_conj: never,
  is_neg: never,
  is_pinned: never,
  is_shared: never,
  pin_memory: itself,
  share_memory_: itself,
  untyped_storage: (x) => x.storage,
  dim_order: ({ strides }) => strides.map((_, axis) => axis).sort((a, b) => strides[b]! - strides[a]! || a - b),
  adjoint,
  is_nonzero,
};
for (const [name, get] of Object.entries(properties))
  Object.defineProperty(Tensor.prototype, name, {
    get(this: Tensor) {
      return get(this);
    },
    configurable: true,
  });
function define(name: string, value: (this: Tensor, ...args: unknown[]) => unknown): void {
  Object.defineProperty(Tensor.prototype, name, { value, writable: true, configurable: true });
}
for (const [name, f] of Object.entries(methods))
  define(name, function (...args) {
    taken(/pin/.test(name) ? `${name} device?` : name, args);
    return f(this);
  });
define("new", function (...args) {
  const { dtype, device } = this,
    [first] = args;
  if (first instanceof Tensor && first.dtype !== dtype)
    throw new TypeMismatchError(`new: expected a tensor of ${dtype}, got one of ${first.dtype}`);
  if (args.length === 1 && typeof first === "object")
    // A list is data; a shape, which is frozen, is sizes.
    return Object.isFrozen(first)
      ? empty(first as readonly number[], { dtype, device })
      : tensor(first as never, { dtype, device });
  return empty(args.length ? integers(args, "new") : [0], { dtype, device });
});
define("unsafe_split_with_sizes", function (...args) {
  return unsafe_split_with_sizes(this, ...(args as [readonly number[]]));
});
define("is_same_size", function (...args) {
  return is_same_size(this, taken("is_same_size other", args)[0]);
});
define("is_set_to", function (...args) {
  const { storage, offset, shape, strides } = tensorOf(taken("is_set_to tensor", args)[0], "is_set_to", "tensor");
  return (
    storage === this.storage && offset === this.offset && `${shape} ${strides}` === `${this.shape} ${this.strides}`
  );
});
define("register_post_accumulate_grad_hook", function (...args) {
  const op = "register_post_accumulate_grad_hook",
    hook = callable(taken(`${op} hook`, args)[0] as (x: Tensor) => void, op, "hook");
  if (!this.is_leaf) throw new AutogradError("post accumulate grad hooks cannot be registered on non-leaf tensors");
  const node = gradientEdge(this) as AccumulateGrad | null;
  if (!node) throw new AutogradError("cannot register a hook on a tensor that doesn't require gradient");
  if (!node.after) {
    const hooks = (node.after = new Set()),
      { apply } = node;
    node.apply = (grads) => {
      const out = apply.call(node, grads);
      for (const call of grads[0] ? hooks : [])
        if ((callHook(call, this) ?? null) !== null)
          throw new TypeMismatchError("post accumulate grad hooks must answer nothing");
      return out;
    };
  }
  const { after } = node,
    own = (leaf: Tensor): void => hook(leaf); // the same hook may be there twice
  after.add(own);
  return { remove: () => void after.delete(own) };
});
Object.defineProperty(Node.prototype, "next_functions", {
  get(this: Node) {
    return this.next.map((node, i) => [node, this.nextOutput[i]!]);
  },
  configurable: true,
});

// For JSON, where what is within has no place.
const writtenInJson = (type: { prototype: object }, say: (of: never) => string): void => {
  Object.defineProperty(type.prototype, "toJSON", {
    value(this: never) {
      return say(this);
    },
    writable: true,
    configurable: true,
  });
};
writtenInJson(Node, String);
writtenInJson(Storage, ({ dtype, length, device }: Storage) => `Storage(${dtype}, ${length}, ${device.type})`);
