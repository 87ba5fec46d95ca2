// Methods of tensors that a program can do without: views, types and devices, changes in place, indexing, printing,
// counting.  Importing this module installs them; `tensorloom/functional` does not, so that bundles hold only what is
// called.  The runtime calls the functions, not these methods: nothing that `tensorloom/functional` reaches may import
// this module.

import * as copying from "../tensor/copy.js";
import * as transfer from "../views/transfer.js";
import { conjugate } from "../dispatch/call.js";
import { deriving } from "../dispatch/derive.js";
import type { Device, GpuName } from "../devices/device.js";
import { cpu } from "../devices/cpu/cpu-device.js";
import { showShape } from "../base/shape.js";
import { type DType, type DTypeName, TYPE_NAMES, isSigned, toDType } from "../elements/dtype.js";
import { as_strided, squeeze, swapaxes, swapdims, t, transpose, unsqueeze } from "./tensor-functions.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { become } from "../views/in-place.js";
import { type IndexSpec, index, setIndex } from "./indexing.js";
import * as kernels from "../views/needed-ops.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { limited, otherNames, taken, tooMany } from "../base/named-arguments.js";
import * as scattering from "./scatter-views.js";
import { TextMethods } from "../tensor/text-methods.js";
import * as resizing from "../views/resize.js";
import { Tensor, type TensorOrNumber } from "../tensor/tensor.js";
import { sumToSize } from "../views/view-adjoints.js";
import { viewDtype } from "../views/view-dtype.js";
import * as views from "../views/views.js";
import * as splitting from "../views/splitting.js";
import { type Delegated, delegated } from "./delegated-methods.js";
import { Typed, copiedAs } from "./typed-methods.js";

declare module "../tensor/tensor.js" {
  interface Tensor extends Methods, Delegated, Others, Properties {}
}

type Shape = readonly number[];
class Methods {
  /**
   * The same elements in another shape, on the same memory; -1 stands for what is left. Throws where strides do not
   * allow it. Given a dtype: the same bits as elements of that type, which must have as many bytes, on this device too.
   *
   * @param dtype type: the same bits as elements of it, in place of sizes
   * @example
   * torch.arange(6).view(2, 3)  // [[0, 1, 2], [3, 4, 5]]
   * @example
   * torch.tensor([1.0]).view(torch.int32)  // [1065353216]
   */
  view(this: Tensor, options: { size: Shape } | { dtype: DTypeName }): Tensor;
  view(this: Tensor, dtype: DTypeName): Tensor;
  view(this: Tensor, ...size: (number | Shape)[]): Tensor;
  view(this: Tensor, ...args: unknown[]): Tensor {
    const size = taken("view *size | dtype", args),
      options = size.pop() as { dtype?: DTypeName };
    if (size.length === 1 && typeof size[0] === "string") options.dtype = size.pop();
    if (options.dtype === undefined) return views.view(this, size);
    if (size.length) throw tooMany("view", 0, size.length);
    return viewDtype(this, options.dtype);
  }
  reshape(this: Tensor, options: { shape: Shape }): Tensor;
  reshape(this: Tensor, ...shape: (number | Shape)[]): Tensor;
  reshape(this: Tensor, ...shape: never[]): Tensor {
    return views.reshape(this, shape);
  }
  permute(this: Tensor, options: { dims: Shape }): Tensor;
  permute(this: Tensor, ...dims: (number | Shape)[]): Tensor;
  permute(this: Tensor, ...dims: never[]): Tensor {
    return views.permute(this, dims);
  }
  /**
   * A view in which axes of length 1 are repeated without a copy; -1 keeps an axis as it is.
   *
   * @example
   * torch.tensor([[1], [2]]).expand(-1, 3)  // [[1, 1, 1], [2, 2, 2]]
   */
  expand(this: Tensor, options: { size: Shape }): Tensor;
  expand(this: Tensor, ...size: (number | Shape)[]): Tensor;
  expand(this: Tensor, ...size: never[]): Tensor {
    return views.expand(this, size);
  }
  /** In another type, on another device; itself where nothing changes.  From a GPU to the CPU: a promise. */
  to(this: Tensor, dtype: DTypeName): Tensor;
  to(this: Tensor, other: Tensor): Tensor;
  to(this: Tensor, device: GpuName, dtype?: DType): Tensor;
  to(this: Tensor, device: string | Device, dtype?: DType): Tensor | Promise<Tensor>;
  to(this: Tensor, options: transfer.ToOptions): Tensor | Promise<Tensor>;
  to(this: Tensor, ...args: unknown[]): Tensor | Promise<Tensor> {
    return transfer.to(this, args);
  }
  /**
   * Replaces the elements by those of `other`, broadcast.
   *
   * @example
   * torch.zeros(2, 2).copy_(torch.tensor([1, 2]))  // [[1, 2], [1, 2]]
   */
  copy_<T extends Tensor>(this: T, other: TensorOrNumber, _non_blocking?: boolean): T {
    return transfer.copy_(this, other);
  }
  fill_<T extends Tensor>(this: T, value: TensorOrNumber | { value: TensorOrNumber }): T {
    return transfer.fill_(this, value as TensorOrNumber);
  }
  /**
   * The type by PyTorch's name for such tensors, "torch.FloatTensor"; given a type, the tensor in it.
   *
   * @example
   * torch.zeros(2).type()  // "torch.FloatTensor"
   * @example
   * torch.tensor([1.5, -2.5]).type(torch.int32)  // [1, -2]
   */
  type(this: Tensor): string;
  type(this: Tensor, dtype: DType): Tensor;
  type(this: Tensor, dtype?: DType | null, _non_blocking?: boolean): string | Tensor {
    if (dtype != null) return copying.cast(this, toDType(dtype, "type"), "type");
    return `torch.${this.device === "cpu" ? "" : `${this.device}.`}${TYPE_NAMES[this.dtype]}Tensor`;
  }
  is_complex(this: Tensor): boolean {
    return this.dtype === "complex64";
  }
  is_signed(this: Tensor): boolean {
    return isSigned(this.dtype);
  }
  /**
   * Bytes of the elements, as PyTorch counts them.
   *
   * @example
   * torch.zeros(10).nbytes  // 40
   */
  get nbytes(): number {
    return (this as unknown as Tensor).numel() * (this as unknown as Tensor).element_size();
  }
  zero_<T extends Tensor>(this: T): T {
    return transfer.fill_(this, 0);
  }
  /**
   * Writes a number onto the diagonal; with `wrap` a tall matrix gets another one below each.
   *
   * @example
   * torch.zeros(2, 3).fill_diagonal_(5)  // [[5, 0, 0], [0, 5, 0]]
   */
  fill_diagonal_<T extends Tensor>(this: T, value: TensorOrNumber, wrap?: boolean | { wrap?: boolean }): T {
    return scattering.fill_diagonal_(this, value as number, (wrap as boolean) ?? false);
  }
  /**
   * The same elements in the shape of another tensor, on the same memory.
   *
   * @example
   * torch.arange(4).view_as(torch.zeros(2, 2))  // [[0, 1], [2, 3]]
   */
  view_as(this: Tensor, other: Tensor): Tensor {
    return views.view(this, [tensorOf(other, "view_as", "other").shape], "view_as");
  }
  /**
   * The same elements in the shape of another tensor.
   *
   * @example
   * torch.arange(4).reshape_as(torch.zeros(2, 2))  // [[0, 1], [2, 3]]
   */
  reshape_as(this: Tensor, other: Tensor): Tensor {
    return views.reshape(this, [tensorOf(other, "reshape_as", "other").shape], "reshape_as");
  }
  /**
   * Broadcast to the shape of another tensor, without a copy.
   *
   * @example
   * torch.tensor([1, 2]).expand_as(torch.zeros(2, 2))  // [[1, 2], [1, 2]]
   */
  expand_as(this: Tensor, other: Tensor): Tensor {
    return views.expand(this, [tensorOf(other, "expand_as", "other").shape], "expand_as");
  }
  broadcast_to(this: Tensor, ...size: (number | readonly number[])[]): Tensor {
    return views.expand(this, size, "broadcast_to");
  }
  /** The tensor where the condition holds, `other` elsewhere. */
  where(this: Tensor, condition: Tensor, other: TensorOrNumber): Tensor {
    return kernels.where(condition, this, other as Tensor | number);
  }
  /**
   * A view of all windows of `size` elements along an axis, `step` apart; their elements are a new last axis.
   *
   * @example
   * torch.arange(5).unfold(0, 3, 1)  // [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
   */
  unfold(this: Tensor, dimension: number, size: number, step: number): Tensor {
    return views.unfold(this, dimension, size, step);
  }
  /**
   * The sums that give the shape: over axes that broadcasting to the shape of the tensor would repeat.
   *
   * @example
   * torch.ones(3, 2).sum_to_size(1, 2)  // [[3, 3]]
   */
  sum_to_size(this: Tensor, ...size: (number | readonly number[])[]): Tensor {
    return sumToSize(this, size);
  }
  /**
   * What `x[...]` is in Python: integers, `null`, `'...'`, slices as texts, tensors of integers or booleans.  A promise
   * where a mask is on a GPU.
   *
   * @example
   * const x = torch.tensor([[1, 2, 3], [4, 5, 6]]);
   * x.index(":", "1:")  // [[2, 3], [5, 6]]
   */
  index(this: Tensor, ...specs: IndexSpec[]): Tensor {
    return index(this, specs);
  }
  /**
   * What `x[...] = value` is in Python.  A promise where a mask is on a GPU and `value` has an element for each place
   * of it.
   *
   * @example
   * torch.zeros(2, 3).set([":", 1], 5)  // [[0, 5, 0], [0, 5, 0]]
   */
  set<T extends Tensor>(this: T, specs: readonly IndexSpec[], value: TensorOrNumber): T {
    return setIndex(this, specs, value);
  }
  [Symbol.iterator](this: Tensor): Iterator<Tensor> {
    return splitting.unbind(this, 0, "Tensor")[Symbol.iterator]();
  }
  /**
   * Another shape on the same memory, or on more of it: what that holds is not defined.
   *
   * @example
   * torch.arange(6).resize_(2, 2)  // [[0, 1], [2, 3]]
   */
  resize_<T extends Tensor>(this: T, ...size: (number | readonly number[])[]): T {
    return resizing.resize_(this, size);
  }
  resize_as_<T extends Tensor>(this: T, other: Tensor): T {
    return resizing.resize_(this, [tensorOf(other, "resize_as_", "the_template").shape]);
  }
}
/** Views in place. */
interface Others {
  /** The same, in place: the tensor itself gets the other shape and strides. */
  transpose_(dim0: number, dim1: number): this;
  /** The same, in place: the tensor itself gets the other shape and strides. */
  swapaxes_(axis0: number, axis1: number): this;
  /** The same, in place: the tensor itself gets the other shape and strides. */
  swapdims_(dim0: number, dim1: number): this;
  /** The same, in place: the tensor itself gets the other shape and strides. */
  t_(): this;
  /** The same, in place: the tensor itself gets the other shape and strides. */
  squeeze_(dim?: number | readonly number[]): this;
  /** The same, in place: the tensor itself gets the other shape and strides. */
  unsqueeze_(dim: number): this;
  as_strided_(size: readonly number[], stride: readonly number[], storage_offset?: number | views.StridedOptions): this;
}

/** Views that are spelled as properties. */
interface Properties {
  /**
   * A view with all axes in the opposite order.
   *
   * @example
   * torch.tensor([[1, 2, 3], [4, 5, 6]]).T  // [[1, 4], [2, 5], [3, 6]]
   */
  readonly T: Tensor;
  /**
   * A view with the last two axes exchanged.
   *
   * @example
   * torch.zeros(5, 2, 3).mT.shape  // [5, 3, 2]
   */
  readonly mT: Tensor;
  /**
   * The conjugate of the transpose of a matrix.
   *
   * @example
   * const x = torch.complex(torch.tensor([[1, 2]]), torch.tensor([[3, 4]]));
   * torch.view_as_real(x.H)  // [[[1, -3]], [[2, -4]]]
   */
  readonly H: Tensor;
  /**
   * The conjugate of each matrix, over the last two axes, transposed.
   *
   * @example
   * torch.zeros(5, 2, 3).mH.shape  // [5, 3, 2]
   */
  readonly mH: Tensor;
  /**
   * The size of the first axis, which is Python's `len(x)`.
   *
   * @example
   * torch.zeros(5, 2).length  // 5
   */
  readonly length: number;
}

const properties: Readonly<Record<keyof Properties, (x: Tensor) => unknown>> = {
  T: views.reverseAxes,
  mT: views.matrixTranspose,
  H(x) {
    if (x.ndim !== 0 && x.ndim !== 2)
      throw new OpError(`H: tensor.H is only supported on matrices (2-D tensors). Got ${x.ndim}-D tensor.`);
    return conjugate(views.reverseAxes(x));
  },
  mH: (x) => conjugate(views.matrixTranspose(x)),
  length: (x) => x.size(0),
};

// What parameters of overloads are called, of functions that have one for all.
otherNames.push(
  ...["sections", "indices", "tensor_indices_or_sections"].map((name) => `${name}=indices_or_sections`),
  "split_size=split_size_or_sections",
  "src=other",
  "tensor=input",
  "B=b",
  "B=other",
  "element=elements",
  "test_element=test_elements",
  "exponent=other",
  "from_=from",
  "other=tensor",
  "input2=tau",
  "input3=other",
);
limited(
  Methods,
  "",
  "view !, reshape *shape, permute *dims, expand *size, to !, type dtype? non_blocking?, copy_ other non_blocking?, fill_ value, fill_diagonal_ fill_value wrap?, view_as other, reshape_as other, expand_as other, broadcast_to *size, where condition other, unfold dimension size step, sum_to_size *size, index *indices, set indices value, resize_ *size, resize_as_ the_template",
);
limited(TextMethods, "", "toJSON key?");
limited(
  Typed,
  "",
  "type_as other, new_tensor !, new_empty !, new_zeros !, new_empty_strided !, new_ones !, new_full !",
);
// Not what the runtime asks for at each call.
limited(
  Tensor,
  "",
  "size dim?, stride dim?, alias !, requires_grad_ requires_grad?, adoptGradient !, ownGradient !, hiddenGradient !, register_hook hook, currentNode !, dispose !, set_data new_data, lay !, check !, receive !, backward !, clone !, contiguous !, is_contiguous * memory_format?",
);
for (const { prototype } of [Methods, Typed, TextMethods])
  for (const name of Reflect.ownKeys(prototype)) {
    if (name !== "constructor")
      Object.defineProperty(Tensor.prototype, name, Object.getOwnPropertyDescriptor(prototype, name)!);
  }
function define(name: string, value: (this: Tensor, ...args: unknown[]) => unknown): void {
  Object.defineProperty(Tensor.prototype, name, { value, writable: true, configurable: true });
}
type Any = (...args: unknown[]) => unknown;
const { item } = Tensor.prototype;
/** The promise refuses to be a number: `total += x.item()` lacks an `await`. */
define("item", function (...args) {
  return Object.defineProperty(Reflect.apply(item, this, args), Symbol.toPrimitive, { value: unread });
});
function unread(hint: string): string {
  if (hint === "string") return "[object Promise]";
  throw new TypeMismatchError("item: the number is not read yet: write await x.item()");
}
for (const [name, f] of Object.entries(delegated))
  define(name, function (...args) {
    return (f as Any)(this, ...args);
  });
for (const [name, f] of Object.entries({ transpose, swapaxes, swapdims, t, squeeze, unsqueeze, as_strided })) {
  define(`${name}_`, function (...args) {
    return become(this, `${name}_`, (x) => (f as Any)(x, ...args) as Tensor);
  });
}
for (const [name, f] of Object.entries(copiedAs())) {
  define(name, function (...args) {
    taken(`${name} * memory_format?`, args);
    return f(this);
  });
}
for (const [name, look] of Object.entries(properties)) {
  Object.defineProperty(Tensor.prototype, name, {
    get(this: Tensor) {
      return look(this);
    },
    configurable: true,
  });
}

// Python's `x[0]` would be undefined without a word, and `x[-1] = v` would change nothing.  Other places are rarer.
const PLACES = 10;
for (let n = -PLACES; n < PLACES; n++) {
  const refuse = (): never => {
    throw new TypeMismatchError(
      `a tensor has no [${n}] in JavaScript: write x.index(${n}), and x.set([${n}], v) to assign; its numbers are await x.tolist()`,
    );
  };
  Object.defineProperty(Tensor.prototype, n, { get: refuse, set: refuse, configurable: true });
}

// structuredClone and postMessage refuse functions, so tensors, and tell its text; a browser's console asks formatters.
Object.defineProperty(cpu, "clone", {
  value: function a_tensor__send_what_await_x_data_gives() {},
  enumerable: true,
  configurable: true,
});
const page = globalThis as { document?: unknown; devtoolsFormatters?: unknown[] };
if (page.document)
  (page.devtoolsFormatters ??= []).push({
    header: (x: unknown) => (x instanceof Tensor ? ["span", {}, `${x} ${showShape(x.shape)} ${x.device}`] : null),
    hasBody: () => false,
  });
deriving();
