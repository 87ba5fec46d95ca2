// New tensors: from data, filled, counted.

import type { Elements } from "../program/compiled-op.js";
import { cast, clone, uploaded } from "../tensor/copy.js";
import { Complex, inMemory } from "../elements/complex-number.js";
import { intoComplex } from "../tensor/pairs.js";
import { recording } from "../tape/node.js";
import { type Device, defaultDevice, toDevice } from "../devices/device.js";
import { type DType, type DTypeName, converter, entry, isFloat, newElements, toDType } from "../elements/dtype.js";
import { OpError } from "../base/errors.js";
import { describeTensor } from "../tensor/print.js";
import { isOptions, missing, named, taken } from "../base/named-arguments.js";
import { count, flag, number } from "../base/argument-kinds.js";
import { checkShape, contiguousStrides, frozen, integers, numelOf, showShape } from "../base/shape.js";
import { onHost } from "../tensor/number-in.js";
import { emptyOn, filledOn } from "../tensor/allocate.js";
import { Tensor } from "../tensor/tensor.js";
import type { RandomSource } from "../elements/random.js";
import { type Nested, type NumberArray, type Reader, fromNested, fromTyped } from "../elements/nested-data.js";

export interface Options {
  /** By default that of the tensor that is given; bool of booleans, int64 of numbers that are counted or drawn as whole
   * ones; else the default type. */
  dtype?: DTypeName | null;
  /** By default that of the tensor that is given, else the default device. */
  device?: string | Device | null;
  /** Whether gradients reach it; false unless given. */
  requires_grad?: boolean;
  requiresGrad?: boolean;
}
/** Options of a new tensor of random numbers. */
export interface RandomOptions extends Options {
  /** Where they come from, in place of the package's own. */
  generator?: RandomSource | null;
}
export interface TensorOptions extends Options {
  /** The sizes, where the data are a typed array; null: its length, default null. */
  shape?: readonly number[];
}
/** What a tensor is made of. */
export type TensorValues = Nested | readonly Tensor[] | NumberArray | Tensor;
export type TensorData = TensorValues | ({ data: Nested | NumberArray; shape?: readonly number[] } & Options);
/** Sizes one by one or as a list, then perhaps options. */
export type Sizes<O = Options> = (number | readonly number[] | O | (O & { size: readonly number[] }))[];

/** What functions that make tensors take beside their own arguments. */
const MADE = ["dtype", "device", "requires_grad", "layout", "pin_memory", "memory_format", "generator"],
  WITH_SHAPE = /* @__PURE__ */ ["shape"].concat(MADE);

/** A call's own arguments as `line` says, and the options of the tensor that it makes: its type and device exist. */
export function making(
  line: string,
  args: readonly unknown[],
  others: readonly string[] = MADE,
): { values: unknown[]; options: Options } {
  const values = taken(line, args, "", others),
    options = values.pop() as Options,
    op = line.split(" ", 1)[0]!,
    { dtype, device, requires_grad } = options;
  if (dtype != null) toDType(dtype, op);
  if (device != null) toDevice(device, op);
  if (requires_grad != null) flag(requires_grad, op, "requires_grad");
  return { values, options };
}

/** Sizes one by one or as a list, by position or as `size`. */
export function splitSizes(args: readonly unknown[], op: string): [number[], Options] {
  const { values, options } = making(`${op} *size`, args),
    shape = integers(values, op);
  checkShape(shape, op);
  return [shape, options];
}

/** Sizes and options, with the type and device of `like` where the options name none. */
export function withDefaults(args: Sizes, like: Tensor): Sizes {
  const last = args[args.length - 1],
    options: Options = { dtype: null, device: null, ...(isOptions(last) ? last : {}) };
  if (options.dtype === null) options.dtype = like.dtype;
  if (options.device === null) options.device = like.device;
  return [...(isOptions(last) ? args.slice(0, -1) : args), options];
}

export const deviceOf = ({ device }: Options): Device =>
  device == null ? defaultDevice() : toDevice(device, "tensor");
export const dtypeOf = ({ dtype }: Options, otherwise: DType): DType =>
  dtype == null ? otherwise : toDType(dtype, "tensor");
export const finish = (x: Tensor, options: Options): Tensor => (options.requires_grad ? x.requires_grad_() : x);

/** A tensor on the elements of a typed array. */
export function fromElements(
  elements: Elements,
  dtype: DType,
  shape: readonly number[],
  options: Options,
  op: string,
): Tensor {
  const { dtype: as, shape: size } = inMemory({ dtype, shape, strides: [], offset: 0 }),
    x = new Tensor(deviceOf(options).upload(elements, as, op), as, frozen(size), contiguousStrides(size), 0);
  return finish(as === dtype ? x : intoComplex(x), options);
}

/**
 * A tensor of nested arrays, a number, a boolean, or a typed array with `shape`; a copy of another tensor.
 *
 * @example
 * torch.tensor([[1, 2], [3, 4]])  // [[1, 2], [3, 4]]
 * @example
 * torch.tensor([1.9, -1.9], { dtype: torch.int32 })  // [1, -1]
 */
export function tensor(data: TensorData, options?: TensorOptions): Tensor;
export function tensor(...args: unknown[]): Tensor {
  return madeOf("tensor", ["data"], args);
}
/**
 * A tensor of the data; a tensor that has the type and the device already is itself.
 *
 * @example
 * const x = torch.tensor([1, 2]);
 * torch.as_tensor(x) === x  // true
 */
export function as_tensor(data: TensorData, dtype?: DType | TensorOptions | null, device?: Options["device"]): Tensor;
export function as_tensor(...args: unknown[]): Tensor {
  return madeOf("as_tensor", ["data", "dtype", "device"], args, WITH_SHAPE, asItIs);
}
/**
 * A tensor of an array, of numbers in it, or of another tensor.
 *
 * @example
 * torch.asarray(new Float32Array([1.5, 2.5]))  // [1.5, 2.5]
 */
export function asarray(obj: TensorData, options?: AsArrayOptions): Tensor;
export function asarray(...args: unknown[]): Tensor {
  return madeOf("asarray", ["obj"], args, [...WITH_SHAPE, "copy"], asItIs);
}

/** What `asarray` takes: `copy`, whether a tensor is copied in any case (true) or in none (false). */
export interface AsArrayOptions extends TensorOptions {
  copy?: boolean | null;
}

/** A tensor in a type and on a device: itself where it has both, and on the tape as it was. */
function asItIs(x: Tensor, device: Device, dtype: DType, { requires_grad, copy }: AsArrayOptions, op: string): Tensor {
  if (copy === false && (device !== x.storage.device || dtype !== x.dtype))
    throw new OpError(`${op}: a tensor of ${x.dtype} on ${x.device} cannot become ${dtype} on ${device.type} uncopied`);
  const moves = device !== x.storage.device,
    typed = cast(x, dtype, op);
  if (moves && recording(x)) throw new OpError(`${op}: gradients do not go back from ${device.type} to ${x.device}`);
  const made = moves ? uploaded(typed, device) : copy && typed === x ? clone(x) : typed;
  if (requires_grad == null || requires_grad === made.requires_grad) return made;
  return made.is_leaf ? made.requires_grad_(requires_grad) : made.detach();
}

/** A tensor of one element among numbers, as a number. */
function among(item: unknown, op: string): ReturnType<Reader> {
  if (!(item instanceof Tensor)) return null;
  if (item.numel() !== 1 || item.storage.device.type !== "cpu")
    throw new OpError(`${op}: only one element tensors on the CPU are numbers, got ${describeTensor(item)}`);
  return { value: onHost(item), dtype: item.dtype };
}

/** `names`: of the data and, where they may come by position, of the type and the device; `optional`: of options;
 *  `kept`: what a tensor among the data becomes, where it is not copied. */
export function madeOf(
  op: string,
  names: readonly string[],
  args: readonly unknown[],
  optional = WITH_SHAPE,
  kept?: typeof asItIs,
): Tensor {
  const options: TensorOptions = {},
    [given, type = options.dtype, where = options.device] = named(
      op,
      names,
      args,
      names.length,
      optional,
      options as Record<string, unknown>,
    );
  if (given === undefined) throw missing(op, names[0]!);
  if (type != null) options.dtype = toDType(type, op);
  if (where != null) options.device = toDevice(where, op);
  if (options.requires_grad != null) flag(options.requires_grad, op, "requires_grad");
  const data = given as Exclude<TensorData, { data: unknown }>;
  if (data instanceof Tensor) {
    const own = data.storage.device,
      device = (options.device ?? own) as Device,
      dtype = dtypeOf(options, data.dtype);
    if (device !== own && own.type !== "cpu")
      throw new OpError(`${op}: the data are on a GPU; await x.to('cpu') first`);
    if (kept) return kept(data, device, dtype, options as AsArrayOptions, op);
    const source = data.detach(),
      typed = cast(source, dtype, op);
    return finish(device !== own ? uploaded(typed, device) : typed === source ? clone(source) : typed, options);
  }
  if ((options as AsArrayOptions).copy === false)
    throw new OpError(`${op}: copy=false cannot be: numbers of JavaScript are copied into a tensor's memory`);
  const wanted = (options.dtype ?? null) as DType | null;
  const { elements, dtype, shape } =
    ArrayBuffer.isView(data) && !(data instanceof DataView)
      ? fromTyped(data as NumberArray, wanted, options.shape && numelOf(integers([options.shape], op, "shape")))
      : fromNested(data as Nested, wanted, (item) => among(item, op));
  const size = options.shape ? integers([options.shape], op, "shape") : shape;
  checkShape(size, op, "shape");
  if (numelOf(size) * (dtype === "complex64" ? 2 : 1) !== elements.length)
    throw new OpError(`${op}: ${elements.length} elements cannot have the shape ${showShape(size)}`);
  return fromElements(elements, dtype, size, options, op);
}

/** A tensor of these sizes whose values are not set: `op` is what was called. */
export function unset(op: string, args: Sizes): Tensor {
  const [shape, options] = splitSizes(args, op);
  return finish(emptyOn(deviceOf(options), shape, dtypeOf(options, "float32"), op), options);
}

/** A tensor of these sizes whose elements are all `value`. */
export function constant(op: string, args: Sizes, value: number): Tensor {
  const [shape, options] = splitSizes(args, op);
  return filled(shape, value, dtypeOf(options, "float32"), options, op);
}

/**
 * A tensor of these sizes whose values are not set.
 *
 * @example
 * torch.empty(2, 3).shape  // [2, 3]
 */
export const empty = (...args: Sizes): Tensor => unset("empty", args);
/**
 * A tensor of zeros of these sizes.
 *
 * @example
 * torch.zeros(2, 3)  // [[0, 0, 0], [0, 0, 0]]
 */
export const zeros = (...args: Sizes): Tensor => constant("zeros", args, 0);
/**
 * A tensor of ones of these sizes.
 *
 * @example
 * torch.ones([2, 2], { dtype: torch.int32 })  // [[1, 1], [1, 1]]
 */
export const ones = (...args: Sizes): Tensor => constant("ones", args, 1);

type Spread = (value: Tensor, shape: readonly number[], options: Options, op: string) => Tensor;
/** A tensor of these sizes whose elements are all `fill_value`: a number, but for who calls full of filled.ts. */
export function full(
  size: number | readonly number[],
  fill_value: number | bigint | boolean | Complex,
  options?: Options,
): Tensor;
export function full(...args: unknown[]): Tensor {
  return fullOf("full", args);
}
/** The same for `op`, which was called; `spread`: what a tensor in the number's place becomes, if it may stand there. */
export function fullOf(op: string, args: readonly unknown[], spread?: Spread): Tensor {
  const {
      values: [size, fill_value],
      options,
    } = making(`${op} size fill_value`, args),
    shape = integers([size], op);
  checkShape(shape, op);
  if (spread && fill_value instanceof Tensor) return spread(fill_value, shape, options, op);
  const exact = typeof fill_value === "bigint",
    complex = (fill_value as unknown) instanceof Complex,
    value = exact || complex ? (fill_value as bigint | Complex) : number(fill_value, op, "fill_value"),
    natural: DType = complex ? "complex64" : typeof fill_value === "boolean" ? "bool" : exact ? "int64" : "float32";
  return filled(shape, value, dtypeOf(options, natural), options, op);
}

const filled = (
  shape: readonly number[],
  value: number | bigint | Complex,
  dtype: DType,
  options: Options,
  op: string,
): Tensor => finish(filledOn(deviceOf(options), shape, value, dtype, op), options);

/** Refuses what the device has no room for, before the host computes it. */
export function checkRoom(shape: readonly number[], dtype: DType, options: Options, op: string): void {
  checkShape(shape, op);
  deviceOf(options).room?.(dtype, numelOf(shape) * (dtype === "complex64" ? 2 : 1), op);
}

/** Elements `f(0)`, `f(1)`, ... computed on the host. */
export function computed(
  f: (i: number) => number,
  dtype: DType,
  shape: readonly number[],
  options: Options,
  op: string,
): Tensor {
  checkRoom(shape, dtype, options, op);
  const n = numelOf(shape),
    real = dtype === "complex64" ? "float32" : dtype,
    elements = newElements(real, n, op),
    convert = dtype === "int32" || dtype === "uint32" || dtype === "int64" ? entry(dtype, op) : converter(real);
  for (let i = 0; i < n; i++) elements[i] = convert(f(i));
  if (real !== dtype) return cast(fromElements(elements, real, shape, { device: options.device }, op), dtype, op);
  return fromElements(elements, dtype, shape, options, op);
}

/**
 * The identity: ones on the diagonal of `n` rows and `m` columns, zeros elsewhere.
 *
 * @param n integer, how many rows
 * @param m integer, how many columns; null: as many, default null
 *
 * @example
 * torch.eye(2)  // [[1, 0], [0, 1]]
 * @example
 * torch.eye(2, 3)  // [[1, 0, 0], [0, 1, 0]]
 */
export function eye(n: number, m?: number | Options, options?: Options): Tensor;
export function eye(options: Options & { n: number; m?: number }): Tensor;
export function eye(...args: unknown[]): Tensor {
  const { values, options } = making("eye n m?", args),
    rows = count(values[0], "eye", "n");
  const cols = values[1] === undefined || values[1] === null ? rows : count(values[1], "eye", "m");
  return computed(
    (i) => (Math.floor(i / cols) === i % cols ? 1 : 0),
    dtypeOf(options, "float32"),
    [rows, cols],
    options,
    "eye",
  );
}

/**
 * The numbers from `start` up to, but without, `end`, in steps of `step`.
 *
 * @param start number, the first, default 0
 * @param end number, below which they stay
 * @param step number, how far neighbours are apart, default 1
 *
 * @example
 * torch.arange(4)  // [0, 1, 2, 3]
 * @example
 * torch.arange(1, 2, 0.25)  // [1, 1.25, 1.5, 1.75]
 */
export function arange(
  ...args: (number | boolean | (Options & { start?: number; end?: number; step?: number }))[]
): Tensor {
  return counted("arange", args);
}
/** The same for `op`, which was called. */
export function counted(op: string, args: readonly unknown[]): Tensor {
  const { values, options } = making(`${op} start? end? step?`, args),
    given: unknown[] = [0, undefined, 1];
  // The first number alone is the end.
  if (values.filter((v) => v !== undefined).length === 1 && values[1] === undefined) given[1] = values[0];
  else
    values.forEach((v, i) => {
      if (v !== undefined) given[i] = v;
    });
  // For whole numbers PyTorch cuts the bounds and the step to whole numbers first, but counts by the cut ones for int64
  // alone.
  const dtype = dtypeOf(options, "float32"),
    cut = options.dtype && !isFloat(dtype),
    asked = given.map((v, i) => number(v, op, ["start", "end", "step"][i]!)) as [number, number, number];
  const [start, end, step] = asked.map((v) => (cut ? Math.trunc(v) : v)) as [number, number, number];
  if (![start, end, step].every(Number.isFinite)) throw new OpError(`${op}: unsupported range: ${start} -> ${end}`);
  if (step === 0) throw new OpError(`${op}: step must be nonzero`);
  if ((end - start) * step < 0) throw new OpError(`${op}: upper bound and lower bound inconsistent with step sign`);
  const integers = [start, end, step].every(Number.isInteger),
    n = Math.ceil(dtype === "int64" ? (end - start) / step : (asked[1] - asked[0]) / asked[2]);
  return computed((i) => start + i * step, dtypeOf(options, integers ? "int64" : "float32"), [n], options, op);
}
