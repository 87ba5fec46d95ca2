// Tensors as text, as PyTorch prints them.

import type { Elements } from "./compiled.js";
import { isFloat } from "./dtype.js";
import { arrange } from "./read.js";
import { numelOf } from "./shape.js";
import type { Tensor } from "./tensor.js";

const PRECISION = 4, THRESHOLD = 1000, EDGE = 3, LINE = 80;

type Format = (value: number) => string;

/** One format for all numbers of a tensor, chosen as PyTorch chooses it. */
function chooseFormat(values: ArrayLike<number>, dtype: string): Format {
  let format: Format;
  if (dtype === "bool") format = (v) => (v ? "True" : "False");
  else if (!isFloat(dtype)) format = String;
  else {
    let whole = true, least = Infinity, most = 0;
    for (let i = 0; i < values.length; i++) {
      const v = Math.abs(values[i]!);
      if (!Number.isFinite(v) || v === 0) continue;
      if (!Number.isInteger(v)) whole = false;
      least = Math.min(least, v);
      most = Math.max(most, v);
    }
    const scientific = most > 0 && (most / least > 1000 && !whole || most > 1e8 || least < 1e-4);
    format = (v) => {
      if (Number.isNaN(v)) return "nan";
      if (!Number.isFinite(v)) return v > 0 ? "inf" : "-inf";
      if (scientific) return v.toExponential(PRECISION).replace(/e([+-])(\d)$/, "e$10$2");
      if (whole) return `${Object.is(v, -0) ? "-0" : v.toFixed(0)}.`;
      return v.toFixed(PRECISION);
    };
  }
  let width = 0;
  for (let i = 0; i < values.length; i++) width = Math.max(width, format(values[i]!).length);
  return (v) => format(v).padStart(width);
}

/** Which indices of an axis are shown; -1 stands for the dots. */
function shown(n: number, short: boolean): number[] {
  const all = Array.from({ length: n }, (_, i) => i);
  return short && n > 2 * EDGE ? [...all.slice(0, EDGE), -1, ...all.slice(n - EDGE)] : all;
}

function values(elements: Elements, shape: readonly number[], dtype: string): string {
  const short = elements.length > THRESHOLD, sample: number[] = [];
  const visit = (axis: number, at: number): void => {
    if (axis === shape.length) sample.push(elements[at]!);
    else for (const i of shown(shape[axis]!, short)) if (i >= 0) visit(axis + 1, at * shape[axis]! + i);
  };
  visit(0, 0);
  const format = chooseFormat(sample, dtype);
  const show = (axis: number, at: number, indent: number): string => {
    if (axis === shape.length) return format(elements[at]!).trimStart();
    const n = shape[axis]!, inner = axis === shape.length - 1;
    const items = shown(n, short).map((i) => (i < 0 ? "..." : inner ? format(elements[at * n + i]!) : show(axis + 1, at * n + i, indent + 1)));
    if (!inner) return `[${items.join(`,${"\n".repeat(shape.length - 1 - axis)}${" ".repeat(indent + 1)}`)}]`;
    const per = Math.max(1, Math.floor((LINE - indent) / ((items[0]?.length ?? 1) + 2))), lines: string[] = [];
    for (let i = 0; i < items.length; i += per) lines.push(items.slice(i, i + per).join(", "));
    return `[${lines.join(`,\n${" ".repeat(indent + 1)}`)}]`;
  };
  return show(0, 0, "tensor(".length);
}

/** What follows the values: size, type, device and grad_fn where they are not the usual ones. */
function suffix(x: Tensor, withSize: boolean): string {
  const parts: string[] = [];
  if (withSize) parts.push(`size=[${x.shape.join(", ")}]`);
  if (x.device !== "cpu") parts.push(`device='${x.device}'`);
  if (x.dtype !== "float32" && x.dtype !== "bool") parts.push(`dtype=torch.${x.dtype}`);
  if (x.grad_fn) parts.push(`grad_fn=${x.grad_fn}`);
  else if (x.requires_grad) parts.push("requires_grad=True");
  return parts.length ? parts.join(", ") : "";
}

function whole(x: Tensor, elements: Elements): string {
  const empty = numelOf(x.shape) === 0, rest = suffix(x, empty && x.ndim > 1);
  return `tensor(${empty ? "[]" : values(elements, x.shape, x.dtype)}${rest ? `, ${rest}` : ""})`;
}

/** Size, type and device, for messages. */
export function describeTensor(x: Tensor): string {
  return `tensor(size=[${x.shape.join(", ")}], dtype=torch.${x.dtype}, device='${x.device}')`;
}

/** The tensor with its values. */
export async function print(x: Tensor): Promise<string> {
  return whole(x, await x.data());
}

/** With its values where they are at hand, else what is known without waiting. */
export function printSync(x: Tensor): string {
  if (x.is_disposed || x.storage.disposed) return "tensor(disposed)";
  if (x.device !== "cpu") return `tensor(..., ${suffix(x, true)})`;
  return whole(x, arrange(x.storage.elements, x.dtype, x.shape, x.strides, x.offset));
}
