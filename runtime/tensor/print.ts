// Tensors as text, as PyTorch prints them.

import type { Elements } from "../program/compiled-op.js";
import { differentiable } from "../elements/dtype.js";
import { TypeMismatchError, describe } from "../base/errors.js";
import { arrange, readStored } from "./read.js";
import { inMemory } from "../elements/complex-number.js";
import { numelOf } from "../base/shape.js";
import type { Tensor } from "./tensor.js";

export interface PrintOptions {
  /** Digits after the point, default 4. */
  precision?: number;
  /** More elements than this are summarised, default 1000. */
  threshold?: number;
  /** How many elements are shown at each end of an axis that is summarised, default 3. */
  edgeitems?: number;
  /** Characters in a line, default 80. */
  linewidth?: number;
  /** Scientific notation: always, never, or (null) where numbers differ much in size, default null. */
  sci_mode?: boolean | null;
  /** All settings at once; others of the call come on top, default null. */
  profile?: "default" | "short" | "full" | null;
}

const DEFAULT = { precision: 4, threshold: 1000, edgeitems: 3, linewidth: 80, sci_mode: null as boolean | null };
const PROFILES: Record<string, Partial<typeof DEFAULT>> = {
  default: {},
  short: { precision: 2, edgeitems: 2 },
  full: { threshold: Infinity },
};
let settings = { ...DEFAULT };

/**
 * How tensors are printed from now on.
 *
 * @example
 * torch.set_printoptions({ precision: 2 });
 * const text = String(torch.tensor([1 / 3, 2]));
 * torch.set_printoptions({ profile: "default" });
 * text  // "tensor([0.33, 2.00])"
 */
export function set_printoptions(options: PrintOptions = {}): void {
  const { profile, ...rest } = options;
  if (profile != null) {
    const chosen = Object.hasOwn(PROFILES, profile) && PROFILES[profile];
    if (!chosen)
      throw new TypeMismatchError(
        `set_printoptions: expected the profile 'default', 'short' or 'full', got ${describe(profile)}`,
      );
    settings = { ...DEFAULT, ...chosen };
  }
  for (const [name, value] of Object.entries(rest)) {
    const known = Object.hasOwn(DEFAULT, name),
      right =
        name === "sci_mode" ? value === null || typeof value === "boolean" : typeof value === "number" && value >= 0;
    if (!known) throw new TypeMismatchError(`set_printoptions: got an unexpected keyword argument '${name}'`);
    if (value !== undefined && !right)
      throw new TypeMismatchError(`set_printoptions: '${name}' got ${describe(value)}`);
    if (value !== undefined) settings = { ...settings, [name]: value };
  }
}

interface Format {
  (value: number): string;
  /** How many characters PyTorch reckons with: zeros, infinities and NaN have no say. */
  width: number;
}

/** With a fixed number of digits; a tie goes to the even digit, as in C and Python (JavaScript rounds it up). */
function fixed(value: number, digits: number): string {
  const size = Math.abs(value),
    halves = Math.round(size * 10 ** digits * 2);
  const tie =
    halves % 4 === 1 &&
    halves <= Number.MAX_SAFE_INTEGER &&
    halves / (2 * 10 ** digits) === size &&
    halves % 5 ** digits === 0;
  const text = tie ? ((halves - 1) / 2 / 10 ** digits).toFixed(digits) : size.toFixed(digits);
  return value < 0 || Object.is(value, -0) ? `-${text}` : text;
}

/** One format for all numbers of a tensor, chosen as PyTorch chooses it: zeros, infinities and NaN have no say. */
function chooseFormat(values: readonly number[], dtype: string): Format {
  let format: (value: number) => string,
    measured = values;
  if (dtype === "bool") format = (v) => (v ? "True" : "False");
  else if (!differentiable(dtype)) format = String;
  else {
    const { precision, sci_mode } = settings;
    measured = values.filter((v) => Number.isFinite(v) && v !== 0);
    let integers = true,
      least = Infinity,
      most = 0;
    for (const v of values) if (Number.isFinite(v) && !Number.isInteger(v)) integers = false;
    for (const v of measured) {
      least = Math.min(least, Math.abs(v));
      most = Math.max(most, Math.abs(v));
    }
    const scientific = sci_mode ?? (most > 0 && (most / least > 1000 || most > 1e8 || (!integers && least < 1e-4)));
    format = (v) => {
      if (Number.isNaN(v)) return "nan";
      if (!Number.isFinite(v)) return v > 0 ? "inf" : "-inf";
      if (scientific)
        return `${Object.is(v, -0) ? "-" : ""}${v.toExponential(precision).replace(/e([+-])(\d)$/, "e$10$2")}`;
      return integers ? `${fixed(v, 0)}.` : fixed(v, precision);
    };
  }
  const width = measured.reduce((most, v) => Math.max(most, format(v).length), 1);
  return Object.assign((v: number) => format(v).padStart(width), { width });
}

/** Which indices of an axis are shown; -1 stands for the dots. */
function shown(n: number, short: boolean): number[] {
  const edge = settings.edgeitems,
    count = (length: number, start: number) => Array.from({ length }, (_, i) => start + i);
  return short && n > 2 * edge ? [...count(edge, 0), -1, ...count(edge, n - edge)] : count(n, 0);
}

const START = "tensor(".length;
/** More elements than these are summarised whatever `threshold` says: JavaScript has no text that long. */
const MOST = 2 ** 23;

function values(elements: Elements, shape: readonly number[], dtype: string): string {
  const parts = dtype === "complex64" ? 2 : 1,
    short = elements.length > Math.min(settings.threshold, MOST) * parts,
    places: number[] = [];
  const visit = (axis: number, at: number): void => {
    if (axis === shape.length) places.push(at);
    else for (const i of shown(shape[axis]!, short)) if (i >= 0) visit(axis + 1, at * shape[axis]! + i);
  };
  visit(0, 0);
  // Real and imaginary parts have a format each.
  const [first, second] = [0, 1].map((part) =>
      part < parts
        ? chooseFormat(
            places.map((at) => elements[at * parts + part]!),
            dtype,
          )
        : null,
    ) as [Format, Format | null],
    format = (at: number): string => {
      const text = first(elements[at * parts]!),
        other = second?.(elements[at * parts + 1]!).trimStart();
      return other === undefined ? text : `${text}${/^[+-]/.test(other) ? "" : "+"}${other}j`;
    },
    width = first.width + (second ? second.width + 1 : 0);
  const show = (axis: number, at: number, indent: number): string => {
    if (axis === shape.length) return format(at);
    const n = shape[axis]!,
      inner = axis === shape.length - 1;
    const items = shown(n, short).map((i) =>
      i < 0 ? (inner ? " ..." : "...") : inner ? format(at * n + i) : show(axis + 1, at * n + i, indent + 1),
    );
    if (!inner) return `[${items.join(`,${"\n".repeat(shape.length - 1 - axis)}${" ".repeat(indent + 1)}`)}]`;
    const per = Math.max(1, Math.floor((settings.linewidth - indent) / (width + 2))),
      lines: string[] = [];
    for (let i = 0; i < items.length; i += per) lines.push(items.slice(i, i + per).join(", "));
    return `[${lines.join(`,\n${" ".repeat(indent + 1)}`)}]`;
  };
  return show(0, 0, START);
}

/** What follows the values: size, type, device and grad_fn where they are not the usual ones. */
function suffixes(x: Tensor, withSize: boolean, empty = false): string[] {
  const parts: string[] = [];
  if (x.device !== "cpu") parts.push(`device='${x.device}'`);
  if (withSize) parts.push(`size=(${x.shape.join(", ")}${x.ndim === 1 ? "," : ""})`);
  const told = x.dtype === "bool" || x.dtype === "int64" || x.dtype === "complex64";
  if (x.dtype !== "float32" && (empty || !told)) parts.push(`dtype=torch.${x.dtype}`);
  if (x.grad_fn) parts.push(`grad_fn=${x.grad_fn}`);
  else if (x.requires_grad) parts.push("requires_grad=True");
  return parts;
}

function printed(x: Tensor, elements: Elements): string {
  const empty = numelOf(x.shape) === 0;
  let text = `tensor(${empty ? "[]" : values(elements, x.shape, x.dtype)}`,
    length = text.length - text.lastIndexOf("\n") + 1;
  for (const part of suffixes(x, empty && x.ndim > 1, empty)) {
    const breaks = length + part.length + 2 > settings.linewidth;
    text += breaks ? `,\n${" ".repeat(START)}${part}` : `, ${part}`;
    length = breaks ? START + part.length : length + part.length + 2;
  }
  return `${text})`;
}

/** Size, type and device, for messages. */
export function describeTensor(x: Tensor): string {
  return x.stand_in ?? `tensor(size=[${x.shape.join(", ")}], dtype=torch.${x.dtype}, device='${x.device}')`;
}

/** What is known without the values. */
const unread = (x: Tensor): string => `tensor(..., ${suffixes(x, true).join(", ")})`;

const headed = (x: Tensor, text: string): string => (x.heading ?? "") + text;

/** The tensor with its values. */
export async function print(x: Tensor): Promise<string> {
  return x.stand_in ?? headed(x, x.device === "meta" ? unread(x) : printed(x, await readStored(x, "print")));
}

/** With its values where they are at hand, else what is known without waiting. */
export function printSync(x: Tensor): string {
  if (x.is_disposed || x.storage.disposed) return "tensor(disposed)";
  if (x.stand_in) return x.stand_in;
  if (x.device !== "cpu") return headed(x, unread(x));
  const { dtype, shape, strides, offset } = inMemory(x);
  return headed(x, printed(x, arrange(x.storage.as(dtype), dtype, shape, strides, offset)));
}
