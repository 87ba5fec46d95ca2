// New tensors: from data, filled, counted, random.

import type { Elements } from "./compiled.js";
import { cast, clone, uploaded } from "./copy.js";
import { type Device, defaultDevice, toDevice } from "./device.js";
import { type DType, converter, dtypeNumber, isFloat, newElements, toDType } from "./dtype.js";
import { OpError, TypeMismatchError, describe } from "./errors.js";
import * as kernels from "./kernels.js";
import { keep } from "./memory.js";
import { checkShape, contiguousStrides, frozen, integers, numelOf, showShape } from "./shape.js";
import { Tensor } from "./tensor.js";
import { randomPermutation } from "./random.js";
import { type Nested, type NumberArray, fromNested, fromTyped } from "./data.js";

export interface Options {
  dtype?: DType | null;
  device?: string | Device | null;
  requires_grad?: boolean;
  requiresGrad?: boolean;
}
export interface TensorOptions extends Options {
  shape?: readonly number[];
}
export type TensorData = Nested | NumberArray | Tensor | { data: Nested | NumberArray; shape?: readonly number[] } & Options;
/** Sizes one by one or as a list, then perhaps options. */
export type Sizes = (number | readonly number[] | Options)[];

const isOptions = (v: unknown): v is Options & Record<string, unknown> =>
  typeof v === "object" && v !== null && !Array.isArray(v) && !ArrayBuffer.isView(v) && !(v instanceof Tensor);

function splitSizes(args: Sizes, op: string): [number[], Options] {
  const last = args[args.length - 1], options = isOptions(last) ? last : {};
  const sizes = isOptions(last) ? args.slice(0, -1) : args;
  const given = (options as { size?: readonly number[] }).size;
  const shape = integers(given ? [given] : sizes, op);
  checkShape(shape, op);
  return [shape, options];
}

/** Sizes and options, with the type and device of `like` where the options name none. */
export function withDefaults(args: Sizes, like: Tensor): Sizes {
  const last = args[args.length - 1], options = isOptions(last) ? last : {};
  return [...(isOptions(last) ? args.slice(0, -1) : args), { dtype: like.dtype, device: like.device, ...options }];
}

const deviceOf = (options: Options): Device => (options.device ? toDevice(options.device) : defaultDevice());
const dtypeOf = (options: Options, otherwise: DType): DType => (options.dtype ? toDType(options.dtype) : otherwise);

function finish(x: Tensor, options: Options): Tensor {
  return options.requires_grad ?? options.requiresGrad ? x.requires_grad_() : x;
}

/** A contiguous tensor with undefined elements on a device. */
export function emptyOn(device: Device, shape: readonly number[], dtype: DType, op: string): Tensor {
  return new Tensor(device.allocate(dtype, numelOf(shape), op), dtype, frozen(shape), contiguousStrides(shape), 0);
}

function fromElements(elements: Elements, dtype: DType, shape: readonly number[], options: Options, op: string): Tensor {
  return finish(new Tensor(deviceOf(options).upload(elements, dtype, op), dtype, frozen(shape), contiguousStrides(shape), 0), options);
}

/** A tensor of nested arrays, a number, a boolean, or a typed array with `shape`; a copy of another tensor. */
export function tensor(data: TensorData, options: TensorOptions = {}): Tensor {
  if (data instanceof Tensor) {
    const own = data.storage.device, device = options.device ? toDevice(options.device) : own, dtype = dtypeOf(options, data.dtype);
    if (device !== own && own.type !== "cpu") throw new OpError("tensor: the data are on a GPU; await x.to('cpu') first");
    const source = data.detach(), typed = cast(source, dtype, "tensor");
    return finish(device !== own ? uploaded(typed, device) : typed === source ? clone(source) : typed, options);
  }
  if (isOptions(data) && "data" in data) return tensor((data as { data: Nested }).data, { ...(data as TensorOptions), ...options });
  const wanted = options.dtype ? toDType(options.dtype) : null;
  const { elements, dtype, shape } = ArrayBuffer.isView(data) ? fromTyped(data as NumberArray, wanted) : fromNested(data as Nested, wanted);
  const size = options.shape ? [...options.shape] : shape;
  if (numelOf(size) !== elements.length) throw new OpError(`tensor: ${elements.length} elements cannot have the shape ${showShape(size)}`);
  return fromElements(elements, dtype, size, options, "tensor");
}

export const asarray = tensor, as_tensor = tensor;

export function empty(...args: Sizes): Tensor {
  const [shape, options] = splitSizes(args, "empty");
  return finish(emptyOn(deviceOf(options), shape, dtypeOf(options, "float32"), "empty"), options);
}

export function zeros(...args: Sizes): Tensor {
  const [shape, options] = splitSizes(args, "zeros");
  return filled(shape, 0, dtypeOf(options, "float32"), options, "zeros");
}

export function ones(...args: Sizes): Tensor {
  const [shape, options] = splitSizes(args, "ones");
  return filled(shape, 1, dtypeOf(options, "float32"), options, "ones");
}

export function full(size: number | readonly number[], fill_value: number | boolean, options: Options = {}): Tensor {
  const shape = integers([size], "full");
  checkShape(shape, "full");
  if (typeof fill_value !== "number" && typeof fill_value !== "boolean") {
    throw new TypeMismatchError(`full: argument 'fill_value' must be a number, got ${describe(fill_value)}`);
  }
  const natural: DType = typeof fill_value === "boolean" ? "bool" : "float32";
  return filled(shape, Number(fill_value), dtypeOf(options, natural), options, "full");
}

function filled(shape: readonly number[], value: number, dtype: DType, options: Options, op: string): Tensor {
  const device = deviceOf(options), out = emptyOn(device, shape, dtype, op);
  device.fill(out.storage, converter(dtype)(value));
  return finish(out, options);
}

/** Elements `f(0)`, `f(1)`, ... computed on the host. */
function computed(n: number, f: (i: number) => number, dtype: DType, shape: readonly number[], options: Options, op: string): Tensor {
  checkShape(shape, op);
  const elements = newElements(dtype, n), convert = converter(dtype);
  for (let i = 0; i < n; i++) elements[i] = convert(f(i));
  return fromElements(elements, dtype, shape, options, op);
}

export function eye(n: number, m?: number | Options, options: Options = {}): Tensor {
  if (typeof m === "object") return eye(n, undefined, m);
  const cols = typeof m === "number" ? m : n;
  checkShape([n, cols], "eye");
  return computed(n * cols, (i) => (Math.floor(i / cols) === i % cols ? 1 : 0), dtypeOf(options, "float32"), [n, cols], options, "eye");
}

export function arange(...args: (number | boolean | Options)[]): Tensor {
  const last = args[args.length - 1], options = isOptions(last) ? last : {};
  const numbers = (isOptions(last) ? args.slice(0, -1) : args) as number[], named = options as { start?: number; end?: number; step?: number };
  // For whole numbers PyTorch cuts the bounds and the step to whole numbers first.
  const given = (v: number | boolean): number => (options.dtype && !isFloat(toDType(options.dtype)) ? Math.trunc(+v) : typeof v === "boolean" ? +v : v);
  const start = given(named.start ?? (numbers.length > 1 ? numbers[0]! : 0)), end = given(named.end ?? (numbers.length > 1 ? numbers[1]! : numbers[0]!));
  const step = given(named.step ?? numbers[2] ?? 1);
  if ([start, end, step].some((v) => typeof v !== "number" || !Number.isFinite(v))) throw new OpError(`arange: unsupported range: ${start} -> ${end}`);
  if (step === 0) throw new OpError("arange: step must be nonzero");
  if ((end - start) * step < 0) throw new OpError("arange: upper bound and lower bound inconsistent with step sign");
  const whole = [start, end, step].every(Number.isInteger), n = Math.ceil((end - start) / step);
  return computed(n, (i) => start + i * step, dtypeOf(options, whole ? "int32" : "float32"), [n], options, "arange");
}

/** A bound as a number, or a promise of it where only the GPU knows it. */
function bound(value: number | Tensor, name: string): number | Promise<number> {
  if (!(value instanceof Tensor)) return value;
  if (value.ndim !== 0) throw new OpError(`linspace only supports 0-dimensional start and end tensors, but got ${name} with ${value.ndim} dimension(s).`);
  if (value.storage.device.type === "cpu") return Number(value.storage.elements[value.offset]);
  return value.item() as Promise<number>;
}

/** Numbers at equal distances; a promise where a tensor without axes on a GPU holds a bound. */
export function linspace(from: number, to: number, steps: number, options?: Options): Tensor;
export function linspace(from: number | Tensor, to: number | Tensor, steps: number, options?: Options): Tensor | Promise<Tensor>;
export function linspace(from: number | Tensor, to: number | Tensor, steps: number, options: Options = {}): Tensor | Promise<Tensor> {
  const low = bound(from, "start"), high = bound(to, "end");
  if (typeof low !== "number" || typeof high !== "number") return Promise.all([low, high]).then(([a, b]) => linspace(a, b, steps, options));
  // For whole numbers PyTorch cuts the bounds to whole numbers first.
  const given = (v: number): number => (options.dtype && !isFloat(toDType(options.dtype)) ? Math.trunc(v) : v);
  const start = given(low), end = given(high);
  if (!Number.isInteger(steps) || steps < 0) throw new OpError(`linspace: number of steps must be non-negative, got ${describe(steps)}`);
  const step = (end - start) / (steps - 1);
  return computed(steps, (i) => (steps === 1 ? start : i < steps / 2 ? start + i * step : end - (steps - 1 - i) * step),
    dtypeOf(options, "float32"), [steps], options, "linspace");
}

// --- Random ---------------------------------------------------------------------------------------

function floatOptions(options: Options, op: string): DType {
  const dtype = dtypeOf(options, "float32");
  if (!isFloat(dtype)) throw new TypeMismatchError(`${op}: expected a floating point dtype, got ${dtype}`);
  return dtype;
}

export function rand(...args: Sizes): Tensor {
  const [shape, options] = splitSizes(args, "rand");
  return finish(kernels.rand_like(emptyOn(deviceOf(options), shape, floatOptions(options, "rand"), "rand")), options);
}

export function randn(...args: Sizes): Tensor {
  const [shape, options] = splitSizes(args, "randn");
  return finish(kernels.randn_like(emptyOn(deviceOf(options), shape, floatOptions(options, "randn"), "randn")), options);
}

/** randint(high, size) or randint(low, high, size). */
export function randint(...args: (number | readonly number[] | Options)[]): Tensor {
  const last = args[args.length - 1], options = isOptions(last) ? last : {}, rest = isOptions(last) ? args.slice(0, -1) : args;
  const size = rest[rest.length - 1] as readonly number[], low = rest.length > 2 ? (rest[0] as number) : 0, high = rest[rest.length - 2] as number;
  if (!Array.isArray(size)) throw new TypeMismatchError(`randint: argument 'size' must be a list of whole numbers, got ${describe(size)}`);
  if (!(low < high)) throw new OpError(`randint: random_ expects 'from' to be less than 'to', but got from=${low} >= to=${high}`);
  checkShape(size, "randint");
  return finish(kernels.randint_fill(emptyOn(deviceOf(options), size, dtypeOf(options, "int32"), "randint"), low, high), options);
}

/** The numbers from 0 up to n in random order. */
export function randperm(n: number, options: Options = {}): Tensor {
  if (!Number.isInteger(n) || n < 0) throw new OpError(`randperm: n must be non-negative, got ${describe(n)}`);
  const order = randomPermutation(n);
  return computed(n, (i) => order[i]!, dtypeOf(options, "int32"), [n], options, "randperm");
}

// --- Like another tensor --------------------------------------------------------------------------

const like = (x: Tensor, options: Options): Options => ({ dtype: x.dtype, device: x.device, ...options });

export const empty_like = (input: Tensor, options: Options = {}): Tensor => empty(input.shape, like(input, options));
export const zeros_like = (input: Tensor, options: Options = {}): Tensor => zeros(input.shape, like(input, options));
export const ones_like = (input: Tensor, options: Options = {}): Tensor => ones(input.shape, like(input, options));
export const full_like = (input: Tensor, fill_value: number | boolean, options: Options = {}): Tensor => full(input.shape, fill_value, like(input, options));
export const rand_like = (input: Tensor, options: Options = {}): Tensor => rand(input.shape, like(input, options));
export const randn_like = (input: Tensor, options: Options = {}): Tensor => randn(input.shape, like(input, options));

// --- Numbers in a tensor's place ------------------------------------------------------------------

const scalars = new Map<number, Map<number, Tensor>>();
const MOST_SCALARS = 4096, NO_AXES: readonly number[] = /* @__PURE__ */ Object.freeze([]);

/**
 * A tensor without axes for a number given where a tensor is expected; made once for each number, type and device.
 * Without `dtype`: whole numbers are int32, others float32, booleans bool.
 */
export function scalar(value: number | boolean, device: Device, dtype?: DType): Tensor {
  if (typeof value !== "number" && typeof value !== "boolean") throw new TypeMismatchError(`expected a tensor or a number, got ${describe(value)}`);
  const number = Number(value);
  const type: DType = dtype ?? (typeof value === "boolean" ? "bool" : Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? "int32" : "float32");
  const group = device.number * 8 + dtypeNumber(type);
  let cache = scalars.get(group);
  if (!cache) scalars.set(group, (cache = new Map<number, Tensor>()));
  let found = Object.is(number, -0) ? undefined : cache.get(number);
  if (!found || found.storage.disposed) {
    const elements = newElements(type, 1);
    elements[0] = converter(type)(number);
    found = keep(new Tensor(device.upload(elements, type, "scalar"), type, NO_AXES, NO_AXES, 0, false));
    found.weak = true;
    if (cache.size >= MOST_SCALARS) cache.clear();
    if (!Object.is(number, -0)) cache.set(number, found);
  }
  return found;
}
