// New tensors: from data, filled, counted, random.

import { fitting } from "../../host/dtypes.js";
import type { Elements } from "../program/compiled-op.js";
import { cast, clone, uploaded } from "../tensor/copy.js";
import { Complex, inMemory } from "../elements/complex-number.js";
import { intoComplex } from "../tensor/pairs.js";
import { recording } from "../tape/node.js";
import { type Device, defaultDevice, toDevice } from "../devices/device.js";
import { type DType, type DTypeName, converter, entry, isFloat, newElements, toDType } from "../elements/dtype.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { describeTensor } from "../tensor/print.js";
import { isOptions, missing, named, taken } from "../base/named-arguments.js";
import * as kernels from "../views/needed-ops.js";
import { count, flag, number, refuse, integer } from "../base/argument-kinds.js";
import { checkShape, contiguousStrides, frozen, integers, numelOf, showShape } from "../base/shape.js";
import { onHost } from "./bounds.js";
import { drawn } from "./drawn.js";
import { emptyOn, filledOn } from "../tensor/allocate.js";
import { Tensor } from "../tensor/tensor.js";
import { type RandomSource, randomPermutation, sourceOf } from "../elements/random.js";
import { type Nested, type NumberArray, type Reader, fromNested, fromTyped } from "../elements/nested-data.js";

export interface Options {
  dtype?: DTypeName | null;
  device?: string | Device | null;
  requires_grad?: boolean;
  requiresGrad?: boolean;
}
/** Options of a new tensor of random numbers. */
export interface RandomOptions extends Options {
  /** Where they come from, in place of the package's own. */
  generator?: RandomSource | null;
}
export interface TensorOptions extends Options {
  shape?: readonly number[];
}
export type TensorData =
  | Nested
  | readonly Tensor[]
  | NumberArray
  | Tensor
  | ({ data: Nested | NumberArray; shape?: readonly number[] } & Options);
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
function splitSizes(args: readonly unknown[], op: string): [number[], Options] {
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

const deviceOf = ({ device }: Options): Device => (device == null ? defaultDevice() : toDevice(device, "tensor"));
const dtypeOf = ({ dtype }: Options, otherwise: DType): DType => (dtype == null ? otherwise : toDType(dtype, "tensor"));
const finish = (x: Tensor, options: Options): Tensor => (options.requires_grad ? x.requires_grad_() : x);

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

/** A tensor of nested arrays, a number, a boolean, or a typed array with `shape`; a copy of another tensor. */
export function tensor(data: TensorData, options?: TensorOptions): Tensor;
export function tensor(...args: unknown[]): Tensor {
  return madeOf("tensor", ["data"], args);
}
/** A tensor of the data; a tensor that has the type and the device already is itself. */
export function as_tensor(data: TensorData, dtype?: DType | TensorOptions | null, device?: Options["device"]): Tensor;
export function as_tensor(...args: unknown[]): Tensor {
  return madeOf("as_tensor", ["data", "dtype", "device"], args, WITH_SHAPE, asItIs);
}
/** A tensor of an array, of numbers in it, or of another tensor. */
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

/** A tensor of these sizes whose values are not set. */
export const empty = (...args: Sizes): Tensor => unset("empty", args);
/** A tensor of zeros of these sizes. */
export const zeros = (...args: Sizes): Tensor => constant("zeros", args, 0);
/** A tensor of ones of these sizes. */
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

/** The identity: ones on the diagonal of `n` rows and `m` columns, zeros elsewhere. */
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

/** The numbers from `start` (0) up to, but without, `end`, in steps of `step` (1). */
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

// --- Random ---------------------------------------------------------------------------------------

const sourceIn = (options: RandomOptions, op: string): RandomSource | null => sourceOf(options.generator, op);

/** Random numbers of a kind, for `op`, which was called. */
export function random(op: string, args: Sizes<RandomOptions>, kind: "rand" | "randn"): Tensor {
  const [shape, options] = splitSizes(args, op),
    dtype = dtypeOf(options, "float32");
  return finish(drawn(kind, deviceOf(options), shape, dtype, sourceIn(options, op), op), options);
}
/** Random numbers from 0 up to, but without, 1, each as likely as another. */
export const rand = (...args: Sizes<RandomOptions>): Tensor => random("rand", args, "rand");
/** Random numbers of the normal distribution with mean 0 and variance 1. */
export const randn = (...args: Sizes<RandomOptions>): Tensor => random("randn", args, "randn");

type Span = { low?: number; high: number };
/** randint(high, size) or randint(low, high, size): whole numbers from `low` (0) up to, but without, `high`. */
export function randint(high: number, size: readonly number[], options?: RandomOptions): Tensor;
export function randint(low: number, high: number, size: readonly number[], options?: RandomOptions): Tensor;
export function randint(...options: [RandomOptions & Span & { size: readonly number[] }]): Tensor;
export function randint(...args: unknown[]): Tensor {
  const { values, options } = making("randint low? high size", spanned(args, 2));
  const shape = listed(values[2], "randint");
  return randomWhole("randint", values, options, (dtype) => emptyOn(deviceOf(options), shape, dtype, "randint"));
}

/** The arguments with 0 before the first where there is only one number among those by position: that is `high`. */
export function spanned(args: readonly unknown[], most: number): readonly unknown[] {
  const places = isOptions(args[args.length - 1]) ? args.length - 1 : args.length;
  return places > 0 && typeof args[1] !== "number" && places <= most ? [null, ...args] : args;
}

function listed(size: unknown, op: string): number[] {
  if (!Array.isArray(size)) refuse(op, "size", "a list of whole numbers", size);
  const shape = integers([size], op);
  checkShape(shape, op);
  return shape;
}

export function randomWhole(
  op: string,
  values: readonly unknown[],
  options: RandomOptions,
  place: (dtype: DType) => Tensor,
): Tensor {
  const low = integer(values[0] ?? 0, op, "low"),
    high = integer(values[1], op, "high");
  if (!(low < high))
    throw new OpError(`${op}: random_ expects 'from' to be less than 'to', but got from=${low} >= to=${high}`);
  const dtype = dtypeOf(options, "int64");
  if (dtype === "complex64")
    throw new TypeMismatchError(`${op}: handles only integral, floating-point and boolean types, got ${dtype}`);
  const last = fitting(op, dtype, high - 1);
  return finish(kernels.randint_fill(place(dtype), fitting(op, dtype, low), last, sourceIn(options, op)), options);
}

/** The numbers from 0 up to n in random order. */
export function randperm(n: number, options?: RandomOptions): Tensor;
export function randperm(options: RandomOptions & { n: number }): Tensor;
export function randperm(...args: unknown[]): Tensor {
  const { values, options } = making("randperm n", args),
    n = count(values[0], "randperm", "n"),
    dtype = dtypeOf(options, "int64");
  checkRoom([n], dtype, options, "randperm");
  const order = randomPermutation(n, sourceIn(options, "randperm"));
  return computed((i) => order[i]!, dtype, [n], options, "randperm");
}
