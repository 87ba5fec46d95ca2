// The errors of the package: one family, so that a program can tell its own mistakes from JavaScript's.
// Messages begin with the operator's name and say what came and what was expected.

import { titled } from "./class-name.js";

/** A call that cannot be made, or that failed on its device. */
export class OpError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** An index, or an axis, outside of what it indexes. */
export class IndexError extends OpError {}

/** A value of the wrong kind or type. */
export class TypeMismatchError extends OpError {}

/** A gradient that cannot be computed: a freed graph, a tensor changed after it was saved. */
export class AutogradError extends OpError {}

/** The device failed: it was lost, a kernel does not compile, memory ran out. */
export class DeviceError extends OpError {}

titled(OpError, "OpError");
titled(IndexError, "IndexError");
titled(TypeMismatchError, "TypeMismatchError");
titled(AutogradError, "AutogradError");
titled(DeviceError, "DeviceError");

/** `TypeName` of a wrong argument, for messages. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Promise) return "a Promise: await it first";
  if (typeof value === "function") return value.name ? `the function ${value.name}` : "a function";
  if (typeof value === "object") return (value as object).constructor?.name ?? "an object";
  if (typeof value === "string") return `"${value}"`;
  return `${typeof value} ${String(value)}`;
}

/** A number as messages and kernels' texts write it. */
export const decimal = (value: number): string => String(value);
