// Values as Python prints them, for the texts of modules and of distributions.

import { isFloat } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** A float: with a point, exponents of two digits. */
export function float(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return `${value}.0`;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) return String(value);
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  return `${digits}e${exponent[0]!}${exponent.slice(1).padStart(2, "0")}`;
}

export const flag = (value: boolean): string => (value ? "True" : "False");

/** As Python's texts have a tensor: without axes it is a number; where a GPU has it, it is not waited for. */
export function formatted(x: Tensor): string {
  if (x.shape.length > 0 || x.device !== "cpu") return String(x);
  const number = Number(x.storage.as(x.dtype)[x.offset]);
  return x.dtype === "bool" ? flag(number !== 0) : isFloat(x.dtype) ? float(number) : String(number);
}

/** A number, a text, a boolean, a list of them, or None. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return tuple(value);
  if (typeof value === "boolean") return flag(value);
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : float(value);
  return value === null || value === undefined ? "None" : typeof value === "string" ? `'${value}'` : String(value);
}

export const tuple = (values: readonly unknown[]): string =>
  `(${values.map(shown).join(", ")}${values.length === 1 ? "," : ""})`;

/** Lines with two blanks before each but the first. */
export const indented = (text: string): string => text.replaceAll("\n", "\n  ");

/** A name, and in parentheses what there is to say of it and of the parts within. */
export function showTree(name: string, about: string, children: readonly (readonly [string, string])[]): string {
  const lines = [...(about ? about.split("\n") : []), ...children.map(([key, text]) => `(${key}): ${indented(text)}`)];
  if (children.length === 0 && lines.length <= 1) return `${name}(${about})`;
  return `${name}(\n  ${lines.join("\n  ")}\n)`;
}
