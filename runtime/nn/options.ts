// What constructors of modules share: arguments by place and by name, parameters of a device and a type.

import { isOptions } from "../arguments.js";
import { empty } from "../create.js";
import type { Device } from "../device.js";
import type { DType } from "../dtype.js";
import { OpError, TypeMismatchError } from "../errors.js";
import { count, flag, refuse, whole } from "../kinds.js";
import { named } from "../named.js";
import { Parameter } from "./parameter.js";

/** Where a module's parameters are made, and of what type. */
export interface Factory {
  device?: string | Device | null;
  dtype?: DType | null;
}
export type Placed = [device: string | Device | null, dtype: DType | null];

/** The beginnings of a tuple of types. */
type Beginnings<P extends unknown[]> = P extends [...infer Head, unknown] ? P | Beginnings<Head> : [];
/**
 * Arguments of a constructor: `Must` by place, then those of `May` by place, and options O last; or everything by name.
 */
export type Arguments<Must extends unknown[], May extends unknown[], O, All> =
  [...Must, ...Partial<May>] | [...Must, ...Beginnings<May>, O] | [O & All];

const REQUIRED = Symbol("required");
/** In a list of defaults: an argument of type T that must be given. */
export const required = <T>(): T => REQUIRED as T;

/** The arguments of a constructor by name, with defaults; throws for one that is missing, unknown or too many. */
export function construct<T extends object>(name: string, defaults: T, args: readonly unknown[]): T {
  const names = Object.keys(defaults), given = named(name, names, args), out = { ...defaults } as Record<string, unknown>;
  if (given.length > names.length) throw new TypeMismatchError(`${name}: takes at most ${names.length} arguments, but got ${given.length}`);
  names.forEach((key, i) => {
    if (given[i] !== undefined) out[key] = ofKind(given[i], out[key], name, key);
    else if (out[key] === REQUIRED || out[key] === undefined) throw new TypeMismatchError(`${name}: missing required argument '${key}'`);
  });
  return out as T;
}

/** Arguments that are whole numbers wherever they occur, and among them those that count layers. */
const STACKED = new Set(["num_layers", "num_encoder_layers", "num_decoder_layers"]), MOST_LAYERS = 2 ** 16;
const WHOLE = new Set(["in_features", "out_features", "in1_features", "in2_features", "in_channels", "out_channels", "num_embeddings", "embedding_dim",
  "num_features", "num_groups", "num_channels", "input_size", "hidden_size", "proj_size", "embed_dim", "num_heads", "d_model", "nhead", "dim_feedforward",
  "n_classes", "num_classes", "groups"]);

/** Refuses what cannot be meant: by the argument's name, or where the default is a boolean or a number. */
function ofKind(value: unknown, usual: unknown, op: string, name: string): unknown {
  if (typeof usual === "boolean") return flag(value, op, name);
  if (WHOLE.has(name) && value !== null && !Array.isArray(usual)) return count(value, op, name);
  if (STACKED.has(name) && count(value, op, name) > MOST_LAYERS) throw new OpError(`${op}: argument '${name}' must be at most ${MOST_LAYERS}, got ${String(value)}`);
  const strange = ["function", "symbol", "undefined", "boolean", "bigint"].includes(typeof value) || isOptions(value);
  return typeof usual === "number" && strange ? refuse(op, name, "a number", value) : value;
}

/** Defaults of the arguments that say where parameters are made. */
export const PLACED: Factory = { device: null, dtype: null };

/** A parameter without values yet. */
export function parameter(shape: readonly number[], { device = null, dtype = null }: Factory): Parameter {
  return new Parameter(empty(shape, { device, dtype }));
}

/** `value` for each of `rank` axes. */
export function axes(value: number | readonly number[], rank: number, name = "kernel_size", check = whole): number[] {
  const list = (Array.isArray(value) ? Array.from(value) : [value]).map((v) => check(v, name, name));
  if (list.length === 1 && !Array.isArray(value)) return new Array<number>(rank).fill(list[0]!);
  if (list.length !== rank) throw new OpError(`${name} must be a number or ${rank} numbers, got ${list.length}`);
  return list;
}
