// Methods of tensors that a program can do without: views, types and devices, changes in place, indexing, printing, counting.
// Importing this module installs them; `tensorloom/functional` does not, so that bundles hold only what is called.  The runtime
// calls the functions, not these methods: nothing that `tensorloom/functional` reaches may import this module.

import * as copying from "./copy.js";
import * as counting from "./counting.js";
import { empty_strided } from "./create-shaped.js";
import * as create from "./create.js";
import type { Device, GpuName } from "./device.js";
import type { DType } from "./dtype.js";
import * as dynamic from "./dynamic.js";
import * as functions from "./functions.js";
import { OpError } from "./errors.js";
import { type IndexSpec, index, index_put, index_put_, setIndex } from "./indexing.js";
import * as join from "./join.js";
import * as kernels from "./kernels.js";
import { tensorOf } from "./tensor-kinds.js";
import { limited, named } from "./named.js";
import * as placing from "./placing.js";
import { print, printSync } from "./print.js";
import * as resizing from "./resizing.js";
import { Tensor, type TensorOrNumber } from "./tensor.js";
import * as views from "./views.js";

declare module "./tensor.js" {
  interface Tensor extends Methods, Properties {}
}

class Methods {
  view(this: Tensor, ...size: (number | readonly number[])[]): Tensor { return views.view(this, size); }
  reshape(this: Tensor, ...shape: (number | readonly number[])[]): Tensor { return views.reshape(this, shape); }
  permute(this: Tensor, ...dims: (number | readonly number[])[]): Tensor { return views.permute(this, dims); }
  transpose(this: Tensor, dim0: number, dim1: number): Tensor { return views.transpose(this, dim0, dim1); }
  t(this: Tensor): Tensor { return views.t(this); }
  expand(this: Tensor, ...size: (number | readonly number[])[]): Tensor { return views.expand(this, size); }
  select(this: Tensor, dim: number, index: number): Tensor { return views.select(this, dim, index); }
  squeeze(this: Tensor, dim?: number | readonly number[]): Tensor { return views.squeeze(this, dim); }
  unsqueeze(this: Tensor, dim: number): Tensor { return views.unsqueeze(this, dim); }
  /** In another type, on another device; itself where nothing changes.  From a GPU to the CPU: a promise. */
  to(this: Tensor, dtype: DType): Tensor;
  to(this: Tensor, other: Tensor): Tensor;
  to(this: Tensor, device: GpuName, dtype?: DType): Tensor;
  to(this: Tensor, device: string | Device, dtype?: DType): Tensor | Promise<Tensor>;
  to(this: Tensor, options: copying.ToOptions): Tensor | Promise<Tensor>;
  to(this: Tensor, ...args: unknown[]): Tensor | Promise<Tensor> { return copying.to(this, args); }
  cpu(this: Tensor): Tensor | Promise<Tensor> { return copying.to(this, ["cpu"]); }
  type_as(this: Tensor, other: Tensor): Tensor { return copying.cast(this, tensorOf(other, "type_as", "other").dtype, "type_as"); }
  float(this: Tensor): Tensor { return copying.cast(this, "float32", "float"); }
  half(this: Tensor): Tensor { return copying.cast(this, "float16", "half"); }
  double(this: Tensor): Tensor { return copying.cast(this, "float64", "double"); }
  int(this: Tensor): Tensor { return copying.cast(this, "int32", "int"); }
  long(this: Tensor): Tensor { return copying.cast(this, "int32", "long"); }
  byte(this: Tensor): Tensor { return copying.cast(this, "uint8", "byte"); }
  char(this: Tensor): Tensor { return copying.cast(this, "int8", "char"); }
  bool(this: Tensor): Tensor { return copying.cast(this, "bool", "bool"); }
  /** Replaces the elements by those of `other`, broadcast. */
  copy_<T extends Tensor>(this: T, other: TensorOrNumber): T { return copying.copy_(this, other); }
  fill_<T extends Tensor>(this: T, value: TensorOrNumber | { value: TensorOrNumber }): T {
    return copying.fill_(this, named("fill_", ["value"], [value])[0] as TensorOrNumber);
  }
  zero_<T extends Tensor>(this: T): T { return copying.fill_(this, 0); }
  fill_diagonal_<T extends Tensor>(this: T, value: TensorOrNumber, wrap?: boolean | { wrap?: boolean }): T { return placing.fill_diagonal_(this, value, wrap); }
  /** Promises of what depends on values: see the functions of these names. */
  masked_select(this: Tensor, mask: Tensor): Promise<Tensor> { return dynamic.masked_select(this, mask); }
  nonzero_static(this: Tensor, options: { size: number; fill_value?: number }): Promise<Tensor> { return dynamic.nonzero_static(this, options); }
  repeat_interleave(this: Tensor, repeats: number, dim?: number | null): Tensor;
  repeat_interleave(this: Tensor, repeats: Tensor, dim?: number | null, options?: { output_size?: number }): Promise<Tensor>;
  repeat_interleave(this: Tensor, ...args: unknown[]): Tensor | Promise<Tensor> { return (dynamic.repeat_interleave as (...args: unknown[]) => Tensor)(this, ...args); }
  nonzero(this: Tensor, options?: { as_tuple?: boolean }): Promise<Tensor | Tensor[]> { return dynamic.nonzero(this, options); }
  unique(this: Tensor, ...args: unknown[]): Promise<Tensor | Tensor[]> { return counting.unique(this, ...args); }
  unique_consecutive(this: Tensor, ...args: unknown[]): Promise<Tensor | Tensor[]> { return counting.unique_consecutive(this, ...args); }
  bincount(this: Tensor, ...args: unknown[]): Promise<Tensor> { return counting.bincount(this, ...args); }
  equal(this: Tensor, other: Tensor): Promise<boolean> { return dynamic.equal(this, other); }
  allclose(this: Tensor, other: Tensor, ...rest: unknown[]): Promise<boolean> { return dynamic.allclose(this, other, ...rest); }
  /** The tensor as PyTorch prints it. */
  text(this: Tensor): Promise<string> { return print(this); }
  /** As text() where the values are at hand (cpu), else without them. */
  toString(this: Tensor): string { return printSync(this); }
  [Symbol.for("nodejs.util.inspect.custom")](this: Tensor): string { return printSync(this); }
  view_as(this: Tensor, other: Tensor): Tensor { return views.view(this, [tensorOf(other, "view_as", "other").shape], "view_as"); }
  reshape_as(this: Tensor, other: Tensor): Tensor { return views.reshape(this, [tensorOf(other, "reshape_as", "other").shape], "reshape_as"); }
  swapaxes(this: Tensor, axis0: number, axis1: number): Tensor { return views.transpose(this, axis0, axis1, "swapaxes"); }
  swapdims(this: Tensor, dim0: number, dim1: number): Tensor { return views.transpose(this, dim0, dim1, "swapdims"); }
  movedim(this: Tensor, source: number | readonly number[], destination: number | readonly number[]): Tensor { return views.movedim(this, source, destination); }
  moveaxis(this: Tensor, source: number | readonly number[], destination: number | readonly number[]): Tensor { return views.movedim(this, source, destination, "moveaxis"); }
  /** The same, in place: the tensor itself gets the other shape and strides. */
  transpose_<T extends Tensor>(this: T, dim0: number, dim1: number): T { return views.become(this, "transpose_", (x) => views.transpose(x, dim0, dim1)); }
  swapaxes_<T extends Tensor>(this: T, axis0: number, axis1: number): T { return views.become(this, "swapaxes_", (x) => views.transpose(x, axis0, axis1)); }
  swapdims_<T extends Tensor>(this: T, dim0: number, dim1: number): T { return views.become(this, "swapdims_", (x) => views.transpose(x, dim0, dim1)); }
  t_<T extends Tensor>(this: T): T { return views.become(this, "t_", views.t); }
  squeeze_<T extends Tensor>(this: T, dim?: number | readonly number[]): T { return views.become(this, "squeeze_", (x) => views.squeeze(x, dim)); }
  unsqueeze_<T extends Tensor>(this: T, dim: number): T { return views.become(this, "unsqueeze_", (x) => views.unsqueeze(x, dim)); }
  flip(this: Tensor, ...dims: (number | readonly number[])[]): Tensor { return functions.flip(this, ...dims); }
  roll(this: Tensor, ...args: unknown[]): Tensor { return (functions.roll as (...args: unknown[]) => Tensor)(this, ...args); }
  diff(this: Tensor, ...args: unknown[]): Tensor { return (functions.diff as (...args: unknown[]) => Tensor)(this, ...args); }
  expand_as(this: Tensor, other: Tensor): Tensor { return views.expand(this, [tensorOf(other, "expand_as", "other").shape], "expand_as"); }
  broadcast_to(this: Tensor, ...size: (number | readonly number[])[]): Tensor { return views.expand(this, size, "broadcast_to"); }
  narrow(this: Tensor, dim: number, start: number, length: number): Tensor;
  narrow(this: Tensor, dim: number, start: number | Tensor, length: number | Tensor): Promise<Tensor>;
  narrow(this: Tensor, dim: number, start: number | Tensor, length: number | Tensor): Tensor | Promise<Tensor> { return dynamic.narrow(this, dim, start, length); }
  /** The tensor where the condition holds, `other` elsewhere. */
  where(this: Tensor, condition: Tensor, other: TensorOrNumber): Tensor {
    const [mask, rest] = named("where", ["condition", "other"], [condition, other]);
    return kernels.where(mask as Tensor, this, rest as Tensor | number);
  }
  flatten(this: Tensor, start_dim?: number | views.FlattenOptions, end_dim?: number): Tensor { return views.flatten(this, start_dim, end_dim); }
  unflatten(this: Tensor, dim: number, sizes: readonly number[]): Tensor { return views.unflatten(this, dim, sizes); }
  ravel(this: Tensor): Tensor { return views.reshape(this, [-1], "ravel"); }
  as_strided(this: Tensor, size: readonly number[], stride: readonly number[], storage_offset?: number | views.StridedOptions): Tensor {
    return views.as_strided(this, size, stride, storage_offset);
  }
  as_strided_<T extends Tensor>(this: T, size: readonly number[], stride: readonly number[], storage_offset?: number | views.StridedOptions): T {
    return views.become(this, "as_strided_", (x) => views.as_strided(x, size, stride, storage_offset));
  }
  diagonal(this: Tensor, offset?: number | views.DiagonalOptions, dim1?: number, dim2?: number): Tensor { return views.diagonal(this, offset, dim1, dim2); }
  unfold(this: Tensor, dimension: number, size: number, step: number): Tensor { return views.unfold(this, dimension, size, step); }
  chunk(this: Tensor, chunks: number, dim?: number | views.DimOption): Tensor[] { return views.chunk(this, chunks, dim); }
  split(this: Tensor, split_size: number | readonly number[], dim?: number | views.DimOption): Tensor[] { return views.split(this, split_size, dim); }
  tensor_split(this: Tensor, indices_or_sections: number | readonly number[], dim?: number | views.DimOption): Tensor[];
  tensor_split(this: Tensor, indices_or_sections: Tensor, dim?: number | views.DimOption): Promise<Tensor[]>;
  tensor_split(this: Tensor, at: number | readonly number[] | Tensor, dim?: number | views.DimOption): Tensor[] | Promise<Tensor[]> {
    return dynamic.tensor_split(this, at, dim);
  }
  hsplit(this: Tensor, indices_or_sections: number | readonly number[]): Tensor[] { return views.hsplit(this, indices_or_sections); }
  vsplit(this: Tensor, indices_or_sections: number | readonly number[]): Tensor[] { return views.vsplit(this, indices_or_sections); }
  dsplit(this: Tensor, indices_or_sections: number | readonly number[]): Tensor[] { return views.dsplit(this, indices_or_sections); }
  unsafe_chunk(this: Tensor, chunks: number, dim?: number | views.DimOption): Tensor[] { return views.chunk(this, chunks, dim, "unsafe_chunk"); }
  unsafe_split(this: Tensor, split_size: number, dim?: number | views.DimOption): Tensor[] { return views.split(this, split_size, dim, "unsafe_split"); }
  split_with_sizes(this: Tensor, split_sizes: readonly number[], dim?: number | views.DimOption): Tensor[] { return views.split(this, split_sizes, dim, "split_with_sizes"); }
  unbind(this: Tensor, dim?: number | views.DimOption): Tensor[] { return views.unbind(this, dim); }
  sum_to_size(this: Tensor, ...size: (number | readonly number[])[]): Tensor { return views.sumToSize(this, size); }
  diag(this: Tensor, diagonal?: number | { diagonal?: number }): Tensor { return placing.diag(this, diagonal); }
  diag_embed(this: Tensor, offset?: number | views.DiagonalOptions, dim1?: number, dim2?: number): Tensor { return placing.diag_embed(this, offset, dim1, dim2); }
  diagflat(this: Tensor, offset?: number): Tensor { return placing.diagflat(this, offset); }
  diagonal_scatter(this: Tensor, src: Tensor, offset?: number, dim1?: number, dim2?: number): Tensor { return placing.diagonal_scatter(this, src, offset, dim1, dim2); }
  select_scatter(this: Tensor, src: Tensor, dim: number, index: number): Tensor { return placing.select_scatter(this, src, dim, index); }
  slice_scatter(this: Tensor, src: Tensor, dim?: number, start?: number | null, end?: number | null, step?: number): Tensor { return placing.slice_scatter(this, src, dim, start, end, step); }
  as_strided_scatter(this: Tensor, src: Tensor, size: readonly number[], stride: readonly number[], storage_offset?: number | views.StridedOptions): Tensor {
    return placing.as_strided_scatter(this, src, size, stride, storage_offset);
  }
  narrow_copy(this: Tensor, dim: number, start: number, length: number): Tensor { return views.narrow(this, dim, start, length, "narrow_copy").clone(); }
  repeat(this: Tensor, ...repeats: (number | readonly number[])[]): Tensor { return join.repeat(this, ...repeats); }
  tile(this: Tensor, ...dims: (number | readonly number[])[]): Tensor { return join.tile(this, ...dims); }
  /** What `x[...]` is in Python: integers, `null`, `'...'`, slices as texts, tensors of integers or booleans.  A promise where a mask is on a GPU. */
  index(this: Tensor, ...specs: IndexSpec[]): Tensor { return index(this, specs); }
  /** What `x[...] = value` is in Python.  A promise where a mask is on a GPU and `value` has an element for each place of it. */
  set<T extends Tensor>(this: T, specs: readonly IndexSpec[], value: TensorOrNumber): T { return setIndex(this, specs, value); }
  index_put_<T extends Tensor>(this: T, indices: readonly IndexSpec[], values: Tensor, accumulate?: boolean | { accumulate?: boolean }): T {
    return index_put_(this, indices, values, accumulate) as T;
  }
  index_put(this: Tensor, indices: readonly IndexSpec[], values: Tensor, accumulate?: boolean | { accumulate?: boolean }): Tensor {
    return index_put(this, indices, values, accumulate);
  }
  [Symbol.iterator](this: Tensor): Iterator<Tensor> { return views.unbind(this, 0, "iteration")[Symbol.iterator](); }
  new_tensor(this: Tensor, data: create.TensorData, options?: create.Options): Tensor { return create.tensor(data, { dtype: this.dtype, device: this.device, ...options }); }
  new_empty(this: Tensor, ...size: create.Sizes): Tensor { return create.empty(...create.withDefaults(size, this)); }
  new_zeros(this: Tensor, ...size: create.Sizes): Tensor { return create.zeros(...create.withDefaults(size, this)); }
  new_empty_strided(this: Tensor, size: readonly number[], stride: readonly number[], options?: create.Options): Tensor {
    return empty_strided(size, stride, { dtype: this.dtype, device: this.device, ...options });
  }
  new_ones(this: Tensor, ...size: create.Sizes): Tensor { return create.ones(...create.withDefaults(size, this)); }
  new_full(this: Tensor, size: readonly number[], fill_value: number | boolean, options?: create.Options): Tensor {
    return create.full(size, fill_value, { dtype: this.dtype, device: this.device, ...options });
  }
  /** Another shape on the same memory, or on more of it: what that holds is not defined. */
  resize_<T extends Tensor>(this: T, ...size: (number | readonly number[])[]): T { return resizing.resize_(this, size); }
  resize_as_<T extends Tensor>(this: T, other: Tensor): T { return resizing.resize_(this, [tensorOf(other, "resize_as_", "the_template").shape]); }
}

/** Views that are spelled as properties. */
interface Properties {
  readonly T: Tensor;
  readonly mT: Tensor;
  readonly H: Tensor;
  readonly mH: Tensor;
}

const properties: Readonly<Record<keyof Properties, (x: Tensor) => Tensor>> = {
  T: views.reverseAxes,
  mT: views.matrixTranspose,
  H(x) {
    if (x.ndim !== 0 && x.ndim !== 2) throw new OpError(`H: tensor.H is only supported on matrices (2-D tensors). Got ${x.ndim}-D tensor.`);
    return views.reverseAxes(x);
  },
  mH: views.matrixTranspose,
};

limited(Methods, "", "view", "reshape", "permute", "expand", "to", "repeat_interleave", "unique", "unique_consecutive", "bincount", "allclose", "flip", "roll",
  "diff", "broadcast_to", "sum_to_size", "repeat", "tile", "index", "new_empty", "new_zeros", "new_ones", "resize_");
// Not what the runtime asks for at each call.
limited(Tensor, "", "check", "currentNode", "alias", "lay", "dispose", "receive");
for (const name of Reflect.ownKeys(Methods.prototype)) {
  if (name !== "constructor") Object.defineProperty(Tensor.prototype, name, Object.getOwnPropertyDescriptor(Methods.prototype, name)!);
}
for (const [name, look] of Object.entries(properties)) {
  Object.defineProperty(Tensor.prototype, name, { get(this: Tensor) { return look(this); }, configurable: true });
}
