// Less common new tensors: with strides of one's own, the places of triangles, curves from one number to another, and random
// tensors of a given mean.

import { type Options, emptyOn, full, randn, tensor, zeros } from "./create.js";
import { defaultDevice, toDevice } from "./device.js";
import { type DType, isFloat, toDType } from "./dtype.js";
import { OpError, TypeMismatchError, describe } from "./errors.js";
import * as kernels from "./kernels.js";
import { named } from "./named.js";
import { broadcastShapes, checkShape, extent, numelOf, showShape } from "./shape.js";
import { Tensor } from "./tensor.js";
import { as_strided } from "./views.js";
import { add, mul } from "../names/torch.js";

const isTensor = (value: unknown): value is Tensor => value instanceof Tensor;

/** A tensor with undefined elements, of this shape and these strides. */
export function empty_strided(size: readonly number[], stride: readonly number[], options: Options = {}): Tensor {
  checkShape(size, "empty_strided");
  if (size.length !== stride.length) throw new OpError(`empty_strided: dimensionality of sizes (${size.length}) must match dimensionality of strides (${stride.length})`);
  if (stride.some((n) => n < 0)) throw new OpError(`empty_strided: negative strides are not supported, got ${showShape(stride)}`);
  const base = zeros([numelOf(size) === 0 ? 0 : extent(size, stride)], options);
  return as_strided(base, size, stride, 0);
}

/** A tensor with undefined elements whose axes lie in memory in the order that `physical_layout` gives, outermost first. */
export function empty_permuted(size: readonly number[], physical_layout: readonly number[], options: Options = {}): Tensor {
  checkShape(size, "empty_permuted");
  if (size.length !== physical_layout.length) {
    throw new OpError(`empty_permuted: Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ${size.length} is not equal to len(physical_layout) = ${physical_layout.length}`);
  }
  const stride = new Array<number>(size.length).fill(0), seen = new Set<number>();
  let step = 1;
  for (const d of [...physical_layout].reverse()) {
    if (!(d >= 0 && d < size.length)) throw new OpError(`empty_permuted: Dimension out of range (expected to be between 0 and ${size.length - 1}, but got ${d} at index ${physical_layout.indexOf(d)}).  NB: negative dims not currently supported; file an issue if you want it.`);
    if (seen.has(d)) throw new OpError(`empty_permuted: Duplicate dim not allowed`);
    seen.add(d);
    stride[d] = step;
    step *= Math.max(size[d]!, 1);
  }
  return empty_strided(size, stride, options);
}

/** A tensor without axes. */
export const scalar_tensor = (value: number | boolean, options: Options = {}): Tensor => full([], value, { dtype: "float32", ...options });

function triangle(op: string, row: number, col: number, offset: number, options: Options, lower: boolean): Tensor {
  for (const [name, n] of [["row", row], ["col", col]] as const) {
    if (!Number.isInteger(n) || n < 0) throw new OpError(`${op}: ${name} must be non-negative, got ${n}`);
  }
  const rows: number[] = [], columns: number[] = [];
  for (let i = 0; i < row; i++) {
    const from = lower ? 0 : Math.max(i + offset, 0), to = lower ? Math.min(i + offset + 1, col) : col;
    for (let j = from; j < to; j++) {
      rows.push(i);
      columns.push(j);
    }
  }
  const { dtype = "int32", ...rest } = options;
  return tensor(Int32Array.from([...rows, ...columns]), { ...rest, dtype: dtype === null ? "int32" : toDType(dtype), shape: [2, rows.length] });
}

/** The rows and columns of the elements on and below a diagonal of a `row` by `col` matrix. */
export function tril_indices(...args: unknown[]): Tensor {
  const [row, col, offset = 0, options] = settings("tril_indices", ["row", "col", "offset"], args);
  return triangle("tril_indices", row as number, col as number, offset as number, options as Options, true);
}

/** The rows and columns of the elements on and above a diagonal of a `row` by `col` matrix. */
export function triu_indices(...args: unknown[]): Tensor {
  const [row, col, offset = 0, options] = settings("triu_indices", ["row", "col", "offset"], args);
  return triangle("triu_indices", row as number, col as number, offset as number, options as Options, false);
}

/** Arguments by name, and the options of a new tensor apart. */
function settings(op: string, names: readonly string[], args: readonly unknown[]): unknown[] {
  const last = args[args.length - 1], own: Record<string, unknown> = {}, options: Record<string, unknown> = {};
  const given = typeof last === "object" && last !== null && !Array.isArray(last) && !isTensor(last);
  if (given) for (const [name, value] of Object.entries(last)) (names.includes(name) ? own : options)[name] = value;
  const values = named(op, names, given ? [...args.slice(0, -1), own] : args);
  while (values.length < names.length) values.push(undefined);
  return [...values, options];
}

/** `steps` numbers from base**start to base**end at even ratios; a promise where a tensor without axes on a GPU holds a bound. */
export function logspace(...args: unknown[]): Tensor | Promise<Tensor> {
  const [start, end, steps, base = 10, options] = settings("logspace", ["start", "end", "steps", "base"], args) as [unknown, unknown, number, number, Options];
  if (!Number.isInteger(steps) || steps < 0) throw new OpError(`logspace: number of steps must be non-negative, got ${describe(steps)}`);
  const isFar = (value: unknown): boolean => isTensor(value) && value.storage.device.type !== "cpu";
  if (isFar(start) || isFar(end)) {
    return Promise.all([start, end].map((v) => (isTensor(v) ? v.item() : v))).then(([low, high]) => logspace(low, high, steps, base, options));
  }
  const dtype: DType = options.dtype ? toDType(options.dtype) : "float32";
  // For whole numbers PyTorch cuts both ends to whole numbers first.
  const [from, to] = [start, end].map((v, i) => numberOf(v, `logspace: argument '${i === 0 ? "start" : "end"}'`)).map((v) => (isFloat(dtype) ? v : Math.trunc(v))) as [number, number];
  const step = (to - from) / (steps - 1);
  const numbers = Float64Array.from({ length: steps }, (_, i) => base ** (steps === 1 ? from : i < steps / 2 ? from + i * step : to - (steps - 1 - i) * step));
  return tensor(isFloat(dtype) ? numbers : numbers.map(Math.trunc), { ...options, dtype });
}

/** A number, or the element of a tensor without axes. */
function numberOf(value: unknown, what: string): number {
  if (typeof value === "number") return value;
  if (!isTensor(value) || value.ndim > 0) throw new TypeMismatchError(`${what} must be a number or a tensor without dimensions, got ${describe(value)}`);
  return Number(value.storage.elements[value.offset]);
}

/** Whole numbers from `low` (0) up to, but without, `high`, shaped like `input`. */
export function randint_like(input: Tensor, ...args: unknown[]): Tensor {
  const numbers = args.filter((v): v is number => typeof v === "number"), options = { ...(args[args.length - 1] as object) } as Options & { low?: number; high?: number };
  const high = options.high ?? numbers[numbers.length - 1], low = options.low ?? (numbers.length > 1 ? numbers[0]! : 0);
  if (high === undefined || !(low < high)) throw new OpError(`randint_like: random_ expects 'from' to be less than 'to', but got from=${low} >= to=${high}`);
  const like = emptyOn(options.device ? toDevice(options.device) : input.storage.device, input.shape, options.dtype ? toDType(options.dtype) : input.dtype, "randint_like");
  const out = kernels.randint_fill(like, low, high);
  return options.requires_grad ? out.requires_grad_() : out;
}

/** Normal numbers of this mean and standard deviation: numbers with a size, or tensors that broadcast. */
export function normal(...args: unknown[]): Tensor {
  const [mean = 0, std = 1, size, options] = settings("normal", ["mean", "std", "size"], args) as [number | Tensor, number | Tensor, readonly number[] | undefined, Options];
  if (typeof std === "number" && !(std >= 0)) throw new OpError(`normal: normal expects std >= 0.0, but found std ${std}`);
  if (!isTensor(mean) && !isTensor(std)) {
    if (!Array.isArray(size)) throw new TypeMismatchError(`normal: argument 'size' must be a list of whole numbers, got ${describe(size)}`);
    return add(mul(randn(size, { device: defaultDevice(), ...options, requires_grad: false }), std), mean) as Tensor;
  }
  const shape = broadcastShapes(isTensor(mean) ? mean.shape : [], isTensor(std) ? std.shape : []), like = isTensor(mean) ? mean : (std as Tensor);
  if (!shape) throw new OpError(`normal: the shapes of mean ${showShape((mean as Tensor).shape)} and std ${showShape((std as Tensor).shape)} do not broadcast`);
  return add(mul(randn(shape, { dtype: isFloat(like.dtype) ? like.dtype : "float32", device: like.device }), std), mean) as Tensor;
}
