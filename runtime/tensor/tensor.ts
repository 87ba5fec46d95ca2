// The tensor: a strided view of a storage, its place on the tape, and what is no function: reading, autograd, memory.
// functions/tensor-methods.ts adds the methods that functions stand behind (views, types, changes in place), the
// generated modules those of ops; the runtime itself calls the functions, so that a bundle holds those alone that are
// called.

import type { Elements } from "../program/compiled-op.js";
import type { Device } from "../devices/device.js";
import type { Complex } from "../elements/complex-number.js";
import { type DType, differentiable, elementBytes, isFloat } from "../elements/dtype.js";
import { capturing } from "../base/capturing.js";
import { callable, instead, refuse } from "../base/argument-kinds.js";
import { atMost } from "../base/named-arguments.js";
import { AutogradError, describe, OpError, TypeMismatchError } from "../base/errors.js";
import { is_inference_mode_enabled } from "../tape/grad-mode.js";
import { enroll, keep } from "./memory.js";
import { type AccumulateGrad, type Hook, type Node, gradientEdge } from "../tape/node.js";
import { describeTensor } from "./print.js";
import { numberIn } from "./number-in.js";
import { type NestedNumbers, readElements, readStored, checkNested, toNested } from "./read.js";
import { axisOf, isContiguous, numelOf } from "../base/shape.js";
import { checkGradient, warnOfResult } from "./assigned-gradient.js";
import type { TensorExamples } from "./examples.js";
import type { Storage } from "./storage.js";
import { titled } from "../base/class-name.js";

export type TensorOrNumber = Tensor | number | boolean | Complex;
/** How a copy is to lie in memory, which every copy answers with rows in order. */
export interface Layout {
  /** PyTorch's order of axes in memory, without effect, default null. */
  memory_format?: unknown;
}

export class Tensor implements TensorExamples {
  /** Where the elements lie; views share it. */
  storage: Storage;
  /** @internal What `shape` answers, also of a tensor that waits for its sizes. */
  sizes: readonly number[];
  private steps: readonly number[];
  /** The first element's place in the storage. */
  offset: number;
  /** The type of the elements: `torch.float32`. */
  dtype: DType;

  /** @internal The node of the tape that made this tensor, and which of its outputs it is.  See currentNode(). */
  node: Node | null = null;
  /** @internal */
  outputNumber = 0;
  /** @internal */
  leafRequiresGrad = false;
  /** @internal */
  accumulator: AccumulateGrad | null = null;
  /** @internal For views: what they are views of, and the storage's version for which `node` is right. */
  base: Tensor | null = null;
  /** @internal */
  nodeVersion = 0;
  /** @internal How a view finds its node anew. */
  refresh: ((view: Tensor) => void) | null = null;
  /** @internal Why it cannot be changed in place while recording: one of several views, unrecorded, or a copied view. */
  viewRule: "several" | "unrecorded" | "copied" | null = null;
  /** @internal A number in a tensor's place: it gives way to tensors' types. */
  weak = false;
  /** @internal What stands before its text: "Parameter containing:". */
  declare readonly heading?: string;
  /** @internal What stands in the place of its text: "<UninitializedParameter>". */
  declare readonly stand_in?: string;
  private gradient: Tensor | null = null;
  /** Whether backward() made `gradient` for this tensor alone and nobody has read it: another in its place frees it. */
  private unseen = false;
  private gone = false;

  /** Tensors are made by `tensor`, `zeros`, ...  `shape` and `strides` are frozen. */
  constructor(
    storage: Storage,
    dtype: DType,
    shape: readonly number[],
    strides: readonly number[],
    offset: number,
    enrolled = true,
  ) {
    this.storage = storage;
    this.dtype = dtype;
    this.sizes = shape;
    this.steps = strides;
    this.offset = offset;
    storage.retain();
    if (enrolled) enroll(this);
    capturing?.formed(this);
  }

  // --- What it is -----------------------------------------------------------------------------------

  /** The sizes of all axes; a list that cannot be changed. */
  get shape(): readonly number[] {
    return this.sizes;
  }
  /** Elements between neighbours along each axis; a list that cannot be changed. */
  get strides(): readonly number[] {
    return this.steps;
  }
  /** Where the elements are: "cpu" or "webgpu". */
  get device(): Device["type"] {
    return this.storage.device.type;
  }
  /** The number of axes, as `dim()`. */
  get ndim(): number {
    return this.shape.length;
  }
  /** Bytes of an element, as `element_size()`. */
  get itemsize(): number {
    return this.element_size();
  }
  /** All sizes, or that of axis `dim`. */
  size(): readonly number[];
  size(dim: number): number;
  size(dim?: number | null): readonly number[] | number {
    return dim == null ? this.shape : this.shape[axisOf(dim, 0, "size", this.ndim)]!;
  }
  /** All strides, or that of axis `dim`. */
  stride(): readonly number[];
  stride(dim: number): number;
  stride(dim?: number | null): readonly number[] | number {
    return dim == null ? this.strides : this.strides[axisOf(dim, 0, "stride", this.ndim)]!;
  }
  /** The number of axes. */
  dim(): number {
    return this.shape.length;
  }
  /** The number of axes, as `dim()`. */
  ndimension(): number {
    return this.shape.length;
  }
  /** @internal */
  [instead](op: string, name: string, whole: boolean): unknown {
    return numberIn(this, op, name, whole);
  }
  numel(): number {
    return numelOf(this.shape);
  }
  /** The number of elements, as `numel()`. */
  nelement(): number {
    return numelOf(this.shape);
  }
  /** At which element of its memory the tensor begins. */
  storage_offset(): number {
    return this.offset;
  }
  /** Bytes of an element, as PyTorch counts them. */
  element_size(): number {
    return elementBytes(this.dtype);
  }
  /** Whether the elements lie in that order without gaps: by rows, as all results do whatever they are asked for. */
  is_contiguous(memory_format?: string | { memory_format?: string }): boolean {
    return isContiguous(this.shape, this.strides, memory_format as string | undefined);
  }
  is_floating_point(): boolean {
    return isFloat(this.dtype);
  }

  // --- Reading values -------------------------------------------------------------------------------

  /** Called, the elements in row-major order; itself a tensor on the same memory outside of the tape, as in PyTorch. */
  get data(): Tensor & (() => Promise<Elements>) {
    const held = !this.storage.disposed,
      self = ((...args: unknown[]) => {
        atMost("data", args, 0);
        const read = readElements(self, "data");
        // Who reads holds nothing any longer, so that disposing of the tensor gives its memory back.
        release();
        return read;
      }) as unknown as Tensor & (() => Promise<Elements>);
    let release = (): void => {
      release = () => undefined;
      self.storage.release();
    };
    Object.setPrototypeOf(self, Tensor.prototype);
    for (const name of ["name", "length"]) delete (self as unknown as Record<string, unknown>)[name];
    Object.assign(self, held ? alias(this) : this, {
      gone: this.gone,
      dispose() {
        self.gone = true;
        release();
      },
    });
    if (held) enroll(self);
    else release = () => undefined;
    return self;
  }
  set data(new_data: Tensor) {
    this.set_data(new_data);
  }
  /** As data(). */
  numpy(): Promise<Elements> {
    return readElements(this, "numpy");
  }
  /**
   * The one element of a tensor: a number, or of a bool one a boolean, which TypeScript is told by `item<boolean>()`.
   * Of int64 it is a BigInt where a number would not be exact, beyond 2**53, of complex64 a `Complex`.
   */
  async item<T extends number | bigint | boolean | Complex = number>(): Promise<T> {
    if (this.numel() !== 1)
      throw new OpError(`item: a Tensor with ${this.numel()} elements cannot be converted to Scalar`);
    return toNested(await readStored(this, "item"), [], this.dtype) as T;
  }
  /**
   * The elements as nested arrays; a tensor without axes answers a number or boolean.  `tolist<number[][]>()` tells
   * TypeScript more.
   */
  async tolist<T = NestedNumbers>(): Promise<T> {
    checkNested(this.shape);
    return toNested(await readStored(this, "tolist"), this.shape, this.dtype) as T;
  }
  /** As tolist(). */
  toArrayAsync<T = NestedNumbers>(): Promise<T> {
    return this.tolist<T>();
  }

  /** @internal Another tensor on the same elements, outside of the tape. */
  alias(): Tensor {
    return alias(this);
  }
  /** The same memory, outside of the tape. */
  detach(): Tensor {
    return alias(this, true);
  }
  /** Leaves the tape. */
  detach_(): this {
    if (this.base) throw new AutogradError("detach_: Can't detach views in-place; use detach() instead");
    this.node = null;
    this.leafRequiresGrad = false;
    return this;
  }

  // --- Autograd -------------------------------------------------------------------------------------

  /** Whether operations on the tensor are recorded for gradients. */
  get requires_grad(): boolean {
    return this.leafRequiresGrad || this.currentNode() !== null;
  }
  set requires_grad(value: boolean) {
    this.requires_grad_(value);
  }
  /** As `requires_grad`. */
  get requiresGrad(): boolean {
    return this.requires_grad;
  }
  set requiresGrad(value: boolean) {
    this.requires_grad_(value);
  }
  /** Whether operations on the tensor are recorded from now on, for gradients; the tensor itself. */
  requires_grad_(requires_grad?: boolean | { requires_grad?: boolean }): this {
    const value = (requires_grad ?? true) as boolean;
    // A view made before its base required a gradient can be a leaf of its own, while its memory is what it was.
    const late = this.base?.leafRequiresGrad && !this.node && this.nodeVersion === this.storage.version;
    if (!late && this.currentNode()) {
      if (value) return this;
      throw new AutogradError(
        "requires_grad_: you can only change requires_grad flags of leaf variables. If you want to use a computed " +
          "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().",
      );
    }
    if (value && !differentiable(this.dtype)) {
      throw new AutogradError(
        `requires_grad_: only Tensors of floating point and complex dtype can require gradients, got ${this.dtype}`,
      );
    }
    if (value && this.storage.inference && !is_inference_mode_enabled()) {
      throw new AutogradError(
        "requires_grad_: Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
      );
    }
    this.leafRequiresGrad = value;
    return this;
  }
  /** Whether no recorded operation made it: `backward()` fills the `grad` of leaves. */
  get is_leaf(): boolean {
    return this.currentNode() === null;
  }
  /** The recorded operation that made it; null for a leaf. */
  get grad_fn(): Node | null {
    return this.currentNode();
  }
  /** The gradient that `backward()` added up, or null. */
  get grad(): Tensor | null {
    capturing?.gradient(this, false);
    this.unseen = false;
    if (!this.gradient && !capturing) warnOfResult(this); // a recording asks for all
    return this.gradient;
  }
  set grad(value: Tensor | null) {
    capturing?.gradient(this, true);
    if (value !== null) {
      if (!(value instanceof Tensor))
        throw new TypeMismatchError(
          `assigned grad expected to be a Tensor or null but got grad of type ${describe(value)}`,
        );
      checkGradient(this, value);
      keep(value);
    }
    const before = this.unseen ? this.gradient : null;
    this.gradient = value;
    this.unseen = false;
    if (before !== value) before?.dispose();
  }
  /** @internal The gradient, for a reader that does not hand it on. */
  ownGradient(): Tensor | null {
    capturing?.gradient(this, false);
    return this.gradient;
  }
  /** @internal The gradient, if nobody else holds it. */
  hiddenGradient(): Tensor | null {
    return this.unseen ? this.gradient : null;
  }
  /** @internal Sets a gradient that nobody else holds. */
  adoptGradient(value: Tensor): void {
    this.grad = value;
    this.unseen = true;
  }
  /** Calls `hook` with the gradient of this tensor whenever one is computed; what it answers takes its place. */
  register_hook(hook: Hook): { remove(): void } {
    const node = gradientEdge(this);
    if (!node)
      throw new AutogradError("register_hook: cannot register a hook on a tensor that doesn't require gradient");
    return { remove: node.addHook(this.node ? this.outputNumber : 0, callable(hook, "register_hook", "hook")) };
  }
  /** Keeps the gradient of a tensor that is no leaf in `.grad`. */
  retain_grad(): void {
    const node = this.currentNode();
    if (!this.requires_grad)
      throw new AutogradError("retain_grad: can't retain_grad on Tensor that has requires_grad=False");
    if (node) (node.retained ??= new Map()).set(this.outputNumber, new WeakRef(this));
  }
  /** How often the memory was changed in place. */
  get _version(): number {
    if (this.storage.inference) throw new AutogradError("_version: Inference tensors do not track version counter.");
    return this.storage.version;
  }
  /** Whether it was made in inference mode. */
  is_inference(): boolean {
    return this.storage.inference;
  }
  /** @internal The node that made it; for a view of something changed in place since, a new one. */
  currentNode(): Node | null {
    const { base } = this; // which may require a gradient only since the view was made
    if (
      base &&
      (this.nodeVersion !== this.storage.version || (!this.node && !this.leafRequiresGrad && base.leafRequiresGrad))
    )
      this.refresh!(this);
    return this.node;
  }

  // --- Memory ---------------------------------------------------------------------------------------

  /** Gives the memory back now, if no other tensor uses it.  The tensor must not be used afterwards. */
  dispose(): void {
    if (this.gone) return;
    this.gone = true;
    this.storage.release();
    if (this.unseen) this.gradient?.dispose();
  }
  /** Takes the memory, shape and type of another tensor, and leaves its own: `x.data = other` in Python. */
  set_data(other: Tensor): this {
    if (!(other instanceof Tensor)) refuse("set_data", "new_data", "a tensor", other);
    (other as Tensor).check("set_data");
    capturing?.refuse("a tensor takes other memory (set_data)");
    this.storage.departures++;
    other.storage.retain();
    this.storage.release();
    this.storage = other.storage;
    this.dtype = other.dtype;
    return this.lay(other.sizes, other.steps, other.offset);
  }
  /** @internal Sees its memory with other, frozen, sizes and strides. */
  lay(shape: readonly number[], strides: readonly number[], offset: number): this {
    this.sizes = shape;
    this.steps = strides;
    this.offset = offset;
    return this;
  }
  /** Whether its memory was given back by `dispose()` or `tidy`. */
  get is_disposed(): boolean {
    return this.gone;
  }
  /** @internal Throws if the tensor's memory is gone. */
  check(op: string): void {
    if (this.gone) throw new OpError(`${op}: this tensor was disposed of: ${describeTensor(this)}`);
    this.storage.check(op);
  }
}
titled(Tensor, "Tensor");

const disposeSymbol: symbol | undefined = (Symbol as { dispose?: symbol }).dispose;
if (disposeSymbol) Object.defineProperty(Tensor.prototype, disposeSymbol, { value: Tensor.prototype.dispose });

/** Another tensor on the same elements, outside of the tape. */
export function alias(tensor: Tensor, enrolled = false): Tensor {
  return new Tensor(tensor.storage, tensor.dtype, tensor.sizes, tensor.strides, tensor.offset, enrolled);
}

export type { DType };
