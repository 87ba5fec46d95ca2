// Methods of tensors that a program can do without: views, types and devices, changes in place, indexing, printing,
// counting.  Importing this module installs them; `tensorloom/functional` does not, so that bundles hold only what is
// called.  The runtime calls the functions, not these methods: nothing that `tensorloom/functional` reaches may import
// this module.

import * as copying from "../tensor/copy.js";
import * as transfer from "../views/transfer.js";
import { stridedOf } from "../creation/create-shaped.js";
import * as create from "../creation/create.js";
import { spread } from "../creation/filled.js";
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
import { print, printSync } from "../tensor/print.js";
import * as resizing from "../views/resize.js";
import { type Layout, Tensor, type TensorOrNumber } from "../tensor/tensor.js";
import { sumToSize } from "../views/view-adjoints.js";
import { viewDtype } from "../views/view-dtype.js";
import * as views from "../views/views.js";
import * as splitting from "../views/splitting.js";
import { type Delegated, delegated } from "./delegated-methods.js";

declare module "../tensor/tensor.js" {
  interface Tensor extends Methods, Delegated, Others, Properties {}
}

type Shape = readonly number[];
const withDefaults = create.withDefaults as (args: readonly unknown[], like: Tensor) => [never, never, never];

class Methods {
  /**
   * The same elements in another shape, on the same memory; -1 stands for what is left. Throws where strides do not
   * allow it. Given a dtype: the same bits as elements of that type, which must have as many bytes, on this device too.
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
  /** A view in which axes of length 1 are repeated without a copy; -1 keeps an axis as it is. */
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
  /** In the type of another tensor. */
  type_as(this: Tensor, other: Tensor): Tensor {
    return copying.cast(this, tensorOf(other, "type_as", "other").dtype, "type_as");
  }
  /** Replaces the elements by those of `other`, broadcast. */
  copy_<T extends Tensor>(this: T, other: TensorOrNumber, _non_blocking?: boolean): T {
    return transfer.copy_(this, other);
  }
  fill_<T extends Tensor>(this: T, value: TensorOrNumber | { value: TensorOrNumber }): T {
    return transfer.fill_(this, value as TensorOrNumber);
  }
  /** The type by PyTorch's name for such tensors, "torch.FloatTensor"; given a type, the tensor in it. */
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
  /** Bytes of the elements, as PyTorch counts them. */
  get nbytes(): number {
    return (this as unknown as Tensor).numel() * (this as unknown as Tensor).element_size();
  }
  zero_<T extends Tensor>(this: T): T {
    return transfer.fill_(this, 0);
  }
  /** Writes a number onto the diagonal; with `wrap` a tall matrix gets another one below each. */
  fill_diagonal_<T extends Tensor>(this: T, value: TensorOrNumber, wrap?: boolean | { wrap?: boolean }): T {
    return scattering.fill_diagonal_(this, value as number, (wrap as boolean) ?? false);
  }
  /** The tensor as PyTorch prints it. */
  text(this: Tensor): Promise<string> {
    return print(this);
  }
  /** As text() where the values are at hand (cpu), else without them. */
  toString(this: Tensor): string {
    return printSync(this);
  }
  [Symbol.for("nodejs.util.inspect.custom")](this: Tensor): string {
    return printSync(this);
  }
  /** Never what is inside. */
  toJSON(this: Tensor, _key?: string): string {
    return this.toString();
  }
  /** JavaScript's operators, `Number(x)` and the like ask for this; a template gives the text. */
  [Symbol.toPrimitive](this: Tensor, hint: string): string {
    if (hint === "string") return this.toString();
    throw new TypeMismatchError(
      "JavaScript's operators do not work on tensors: for x + y, x - y, x * y, x / y, -x, x > y, x < y, x == y write x.add(y), " +
        "x.sub(y), x.mul(y), x.div(y), x.neg(), x.gt(y), x.lt(y), x.eq(y); as a number it is await x.item(), as text String(x)",
    );
  }
  /** The same elements in the shape of another tensor, on the same memory. */
  view_as(this: Tensor, other: Tensor): Tensor {
    return views.view(this, [tensorOf(other, "view_as", "other").shape], "view_as");
  }
  /** The same elements in the shape of another tensor. */
  reshape_as(this: Tensor, other: Tensor): Tensor {
    return views.reshape(this, [tensorOf(other, "reshape_as", "other").shape], "reshape_as");
  }
  /** Broadcast to the shape of another tensor, without a copy. */
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
  /** A view of all windows of `size` elements along an axis, `step` apart; their elements are a new last axis. */
  unfold(this: Tensor, dimension: number, size: number, step: number): Tensor {
    return views.unfold(this, dimension, size, step);
  }
  /** The sums that give the shape: over axes that broadcasting to the shape of the tensor would repeat. */
  sum_to_size(this: Tensor, ...size: (number | readonly number[])[]): Tensor {
    return sumToSize(this, size);
  }
  /**
   * What `x[...]` is in Python: integers, `null`, `'...'`, slices as texts, tensors of integers or booleans.  A promise
   * where a mask is on a GPU.
   */
  index(this: Tensor, ...specs: IndexSpec[]): Tensor {
    return index(this, specs);
  }
  /**
   * What `x[...] = value` is in Python.  A promise where a mask is on a GPU and `value` has an element for each place
   * of it.
   */
  set<T extends Tensor>(this: T, specs: readonly IndexSpec[], value: TensorOrNumber): T {
    return setIndex(this, specs, value);
  }
  [Symbol.iterator](this: Tensor): Iterator<Tensor> {
    return splitting.unbind(this, 0, "Tensor")[Symbol.iterator]();
  }
  /** A tensor of these values in the type and on the device of this one. */
  new_tensor(this: Tensor, data: create.TensorData, options?: create.Options): Tensor;
  new_tensor(this: Tensor, ...args: never[]): Tensor {
    return create.madeOf("new_tensor", ["data"], withDefaults(args, this));
  }
  /** A tensor of undefined values in the type and on the device of this one. */
  new_empty(this: Tensor, ...size: create.Sizes): Tensor {
    return create.unset("new_empty", withDefaults(size, this));
  }
  /** Zeros in the type and on the device of this tensor. */
  new_zeros(this: Tensor, ...size: create.Sizes): Tensor {
    return create.constant("new_zeros", withDefaults(size, this), 0);
  }
  /** A tensor of undefined values with these strides, in the type and on the device of this one. */
  new_empty_strided(this: Tensor, size: Shape, stride: Shape, options?: create.Options): Tensor;
  new_empty_strided(this: Tensor, ...args: never[]): Tensor {
    return stridedOf("new_empty_strided", withDefaults(args, this));
  }
  /** Ones in the type and on the device of this tensor. */
  new_ones(this: Tensor, ...size: create.Sizes): Tensor {
    return create.constant("new_ones", withDefaults(size, this), 1);
  }
  /** A number everywhere, in the type and on the device of this tensor. */
  new_full(this: Tensor, size: Shape, fill_value: number | boolean | Tensor, options?: create.Options): Tensor;
  new_full(this: Tensor, ...args: never[]): Tensor {
    return create.fullOf("new_full", withDefaults(args, this), spread);
  }
  /** Another shape on the same memory, or on more of it: what that holds is not defined. */
  resize_<T extends Tensor>(this: T, ...size: (number | readonly number[])[]): T {
    return resizing.resize_(this, size);
  }
  resize_as_<T extends Tensor>(this: T, other: Tensor): T {
    return resizing.resize_(this, [tensorOf(other, "resize_as_", "the_template").shape]);
  }
}
/** Views in place, and types by name. */
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
  /** As float32; itself where it is. */
  float(options?: Layout): Tensor;
  /** As float16; itself where it is. */
  half(options?: Layout): Tensor;
  /** As float64, which the CPU has; itself where it is. */
  double(options?: Layout): Tensor;
  /** As int32; itself where it is. */
  int(options?: Layout): Tensor;
  /** As int64; itself where it is. */
  long(options?: Layout): Tensor;
  /** As uint8; itself where it is. */
  byte(options?: Layout): Tensor;
  /** As int8; itself where it is. */
  char(options?: Layout): Tensor;
  /** As bool, false where an element is 0; itself where it is. */
  bool(options?: Layout): Tensor;
  /** On the CPU: itself where it is there; from a GPU a promise. */
  cpu(options?: Layout): Tensor | Promise<Tensor>;
}

/** Views that are spelled as properties. */
interface Properties {
  /** A view with all axes in the opposite order. */
  readonly T: Tensor;
  /** A view with the last two axes exchanged. */
  readonly mT: Tensor;
  /** The conjugate of the transpose of a matrix. */
  readonly H: Tensor;
  /** The conjugate of each matrix, over the last two axes, transposed. */
  readonly mH: Tensor;
  /** The size of the first axis, which is Python's `len(x)`. */
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
  "view !, reshape *shape, permute *dims, expand *size, to !, type_as other, type dtype? non_blocking?, copy_ other non_blocking?, fill_ value, fill_diagonal_ fill_value wrap?, view_as other, reshape_as other, expand_as other, broadcast_to *size, where condition other, unfold dimension size step, sum_to_size *size, index *indices, set indices value, new_tensor !, new_empty !, new_zeros !, new_empty_strided !, new_ones !, new_full !, resize_ *size, resize_as_ the_template, toJSON key?",
);
// Not what the runtime asks for at each call.
limited(
  Tensor,
  "",
  "size dim?, stride dim?, alias !, requires_grad_ requires_grad?, adoptGradient !, ownGradient !, hiddenGradient !, register_hook hook, currentNode !, dispose !, set_data new_data, lay !, check !, receive !, backward !, clone !, contiguous !, is_contiguous * memory_format?",
);
for (const name of Reflect.ownKeys(Methods.prototype)) {
  if (name !== "constructor")
    Object.defineProperty(Tensor.prototype, name, Object.getOwnPropertyDescriptor(Methods.prototype, name)!);
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
// All results lie in order: a `memory_format` is bound, and changes nothing.
const copies: Record<string, (x: Tensor) => unknown> = {
  clone: copying.clone,
  contiguous: copying.contiguous,
  cpu: (x) => transfer.to(x, ["cpu"]),
};
for (const [name, dtype] of Object.entries({
  float: "float32",
  half: "float16",
  bfloat16: "bfloat16",
  double: "float64",
  int: "int32",
  long: "int64",
  short: "int16",
  byte: "uint8",
  char: "int8",
  bool: "bool",
} as const)) {
  copies[name] = (x) => copying.cast(x, dtype, name);
}
for (const [name, f] of Object.entries(copies)) {
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

// Python's `x[0]` would be undefined without a word, and `x[0] = v` would change nothing.  Later places are rarer.
const PLACES = 10;
for (let n = 0; n < PLACES; n++) {
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
