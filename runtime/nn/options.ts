// What constructors of modules share: arguments by position and by name, parameters of a device and a type.

import { isOptions, named } from "../base/named-arguments.js";
import { empty } from "../creation/create.js";
import { type Device, toDevice } from "../devices/device.js";
import { type DType, toDType } from "../elements/dtype.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { count, flag, refuse, integer } from "../base/argument-kinds.js";
import { checkShape } from "../base/shape.js";
import { Parameter } from "./parameter.js";

/** Where a module's parameters are made, and of what type. */
export interface Factory {
  /** Where the parameters are made; null: on the default device. */
  device?: string | Device | null;
  /** The parameters' type; null: the default type. */
  dtype?: DType | null;
}
export type DeviceAndType = [device: string | Device | null, dtype: DType | null];

/** The beginnings of a tuple of types. */
type Beginnings<P extends unknown[]> = P extends [...infer Head, unknown] ? P | Beginnings<Head> : [];
/** The same, of at least one type. */
type Started<P extends unknown[]> = P extends [unknown, ...unknown[]] ? Exclude<Beginnings<P>, []> : never;
/**
 * Arguments of a constructor: `Must` by position, then those of `May` by position, and options O last; or from any place on by
 * name.
 */
export type Arguments<Must extends unknown[], May extends unknown[], O, All> =
  | [...Must, ...Partial<May>]
  | [...Must, ...Beginnings<May>, O]
  | [...Started<Must>, O & Partial<All>]
  | [O & All];

const REQUIRED = Symbol("required");
/** In a list of defaults: an argument of type T that must be given. */
export const required = <T>(): T => REQUIRED as T;

/** What a list of defaults says of a whole number. */
class Size {
  constructor(
    readonly usual: unknown,
    readonly most: number,
  ) {}
}
/** In a list of defaults: a whole number from 0 to `most`, which must be given where there is no `usual` one. */
export const size = (usual: unknown = REQUIRED, most = Infinity): number => new Size(usual, most) as unknown as number;
/** How many layers there are; each takes memory and time at once. */
export const layers = (usual?: number): number => size(usual, 2 ** 16);

/**
 * The arguments of a constructor by name, with defaults; throws for one that is missing, unknown, of another kind or
 * too many.
 */
export function construct<T extends object>(name: string, defaults: T, args: readonly unknown[]): T {
  const names = Object.keys(defaults),
    given = named(name, names, args),
    out = { ...defaults } as Record<string, unknown>;
  names.forEach((key, i) => {
    const rule = out[key],
      usual = rule instanceof Size ? rule.usual : rule;
    if (given[i] !== undefined) out[key] = ofKind(given[i], rule, name, key);
    else if (usual === REQUIRED || usual === undefined)
      throw new TypeMismatchError(`${name}: missing required argument '${key}'`);
    else out[key] = usual;
  });
  return out as T;
}

/**
 * Refuses what cannot be meant: a type or a device that is none, no size where one is wanted, and what is neither a
 * boolean nor a number where the default is one.
 */
function ofKind(value: unknown, rule: unknown, op: string, name: string): unknown {
  if (typeof rule === "boolean") return flag(value, op, name);
  if (rule instanceof Size) {
    const n = count(value, op, name);
    if (n > rule.most) throw new OpError(`${op}: argument '${name}' must be at most ${rule.most}, got ${n}`);
    return n;
  }
  if (value !== null && name === "dtype") toDType(value, op);
  if (value !== null && name === "device") toDevice(value, op);
  const strange = ["function", "symbol", "undefined", "boolean", "bigint"].includes(typeof value) || isOptions(value);
  return typeof rule === "number" && strange ? refuse(op, name, "a number", value) : value;
}

/** Defaults of the arguments that say where parameters are made. */
export const DEVICE_AND_TYPE: Factory = { device: null, dtype: null };

/** A parameter without values yet. */
export function parameter(shape: readonly number[], { device = null, dtype = null }: Factory): Parameter {
  checkShape(shape, "Parameter");
  return new Parameter(empty(shape, { device, dtype }));
}

/** What a layer was given as `name`, for each of `rank` axes. */
export function axes(
  layer: string,
  name: string,
  value: number | readonly number[],
  rank: number,
  check = integer,
): number[] {
  const list = (Array.isArray(value) ? Array.from(value) : [value]).map((v) => check(v, layer, name));
  if (list.length === 1 && !Array.isArray(value)) return new Array<number>(rank).fill(list[0]!);
  if (list.length !== rank)
    throw new OpError(`${layer}: ${name} must be a number or ${rank} numbers, got ${list.length}`);
  return list;
}
