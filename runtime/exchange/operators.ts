// What the operators of exported programs are here.  Most are the function of the same name, with the same arguments;
// the tables of aten/ and higher-order.ts say what the others are.

import * as composite from "../composite/index.js";
import * as compositeFft from "../composite/fft.js";
import * as compositeFunctional from "../composite/functional.js";
import * as compositeLinalg from "../composite/linalg.js";
import * as rootFunctions from "../composite/torch/root-functions.js";
import * as complexParts from "../functions/complex-parts.js";
import * as indexPut from "../functions/index-put.js";
import * as indexing from "../functions/indexing.js";
import * as grids from "../functions/grids.js";
import * as join from "../functions/join.js";
import * as dataDependent from "../functions/data-dependent.js";
import * as scatterViews from "../functions/scatter-views.js";
import * as counting from "../functions/counting.js";
import * as creation from "../creation/create.js";
import * as randomTensors from "../creation/random-tensors.js";
import * as likeAnother from "../creation/like.js";
import * as lines from "../creation/lines.js";
import * as shaped from "../creation/create-shaped.js";
import * as functions from "../functions/tensor-functions.js";
import * as fft from "../../names/fft.js";
import * as F from "../../names/functional.js";
import * as linalg from "../../names/linalg.js";
import * as special from "../../names/special.js";
import * as torch from "../../names/torch.js";
import { Tensor } from "../tensor/tensor.js";
import { isRecording } from "../tape/grad-mode.js";
import { clone } from "../tensor/copy.js";
import { copy_ } from "../views/transfer.js";
import { ATEN } from "./aten/table.js";
import { otherNames } from "./aten/names.js";
import { foreach } from "./aten/foreach.js";
import { EXTENSIONS } from "./aten/layers.js";
import { PRIMS } from "./aten/prims.js";
import { CONTROL } from "./higher-order.js";
import { NUMBERS } from "./numbers.js";

export interface Call {
  /** In the order of the operator's parameters. */
  readonly args: unknown[];
  /** By name alone. */
  readonly options: Record<string, unknown>;
  /** Which of its outputs something uses. */
  readonly used: readonly boolean[];
  /** Where the program runs. */
  readonly device: string;
  /** The kind of device that it was exported for, such as "cuda". */
  readonly origin?: string | null;
  readonly target: string;
}
export type Operator = (call: Call) => unknown;
type Function = (...args: unknown[]) => unknown;

/** Where functions are looked for, in this order. */
const MODULES = [
  composite,
  torch,
  F,
  compositeFunctional,
  functions,
  scatterViews,
  join,
  grids,
  creation,
  randomTensors,
  likeAnother,
  lines,
  shaped,
  indexing,
  indexPut,
  counting,
  dataDependent,
  rootFunctions,
  complexParts,
] as unknown as Readonly<Record<string, unknown>>[];
/** Modules whose functions have a prefix in ATen. */
const PREFIXED: readonly (readonly [prefix: string, names: Readonly<Record<string, unknown>>])[] = [
  ["linalg_", linalg],
  ["linalg_", compositeLinalg as unknown as Readonly<Record<string, unknown>>],
  ["fft_", fft],
  ["fft_", compositeFft as unknown as Readonly<Record<string, unknown>>],
  ["special_", special],
];
/** What says how memory lies, and the like: nothing that a value depends on. */
const IGNORED = new Set(["layout", "pin_memory", "memory_format", "non_blocking", "generator", "implicit", "copy"]);

function functionOf(name: string): Function | null {
  const places = MODULES.map((place) => [place, name] as const),
    prefixed = PREFIXED.flatMap(([p, place]) => (name.startsWith(p) ? [[place, name.slice(p.length)] as const] : []));
  for (const [place, called] of [...places, ...prefixed]) {
    const found = own(place, called);
    if (typeof found === "function") return found as Function;
  }
  return null;
}

/** Arguments as functions here take them: what may be left out is not given as null at the end. */
function asArguments(args: readonly unknown[], options: Readonly<Record<string, unknown>>): unknown[] {
  const given = Object.entries(options).filter(([name]) => !IGNORED.has(name)),
    out = [...args];
  while (out.length > 0 && out.at(-1) === null) out.pop();
  if (given.length > 0) out.push(Object.fromEntries(given));
  return out;
}

/** An entry of a table, or of a module, which bundlers make an object of: files name what they like, as `constructor`. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | null =>
  Object.hasOwn(table, name) ? table[name]! : null;

/** The operator of a node's target; null where there is none here. */
export function findOperator(target: string): Operator | null {
  const [, onNumbers = ""] = /^(?:_operator|math|torch)\.(\w+)$/.exec(target) ?? [],
    number = own(NUMBERS, onNumbers);
  if (number) return ({ args }) => number(...args);
  const [, area, name, overload] = /^torch\.ops\.(\w+)\.(\w+)(?:\.(\w+))?$/.exec(target) ?? [];
  if (area === "higher_order") return own(CONTROL, name!);
  if (name === undefined) return null;
  if (area === "prims") return own(PRIMS, name) ?? either(name);
  if (area !== "aten") return own(EXTENSIONS, `${area}::${name}`);
  const found = either(name, overload) ?? foreach(name, either, changing);
  return found && /^(.*_)?out$/.test(overload ?? "") ? into(found) : found;
}

const direct = (name: string, overload?: string): Operator | null =>
  own(ATEN, `${name}.${overload}`) ?? own(ATEN, name) ?? byName(name);

const either = (name: string, overload?: string): Operator | null => direct(name, overload) ?? indirect(name, overload);

/** What writes its result into its first argument. */
const changing =
  (operator: Operator): Operator =>
  (call) => {
    const [self, ...rest] = call.args as [Tensor, ...unknown[]];
    // its gradient may read what the argument was
    const before = isRecording() && self.requires_grad ? clone(self) : self;
    return copy_(self, operator({ ...call, args: [before, ...rest] }) as Tensor);
  };

/** By another name of it, which may leave its argument as it was, or not. */
function indirect(name: string, overload?: string): Operator | null {
  for (const { name: other, changes } of otherNames(name)) {
    const found = direct(other, overload);
    if (!found) continue;
    if (changes === null) return found;
    if (changes === "argument") return changing(found);
    return (call) =>
      other.endsWith("_")
        ? found({ ...call, args: [clone(call.args[0] as Tensor), ...call.args.slice(1)] })
        : clone(found(call) as Tensor);
  }
  return null;
}

/** What writes its result into a tensor that is given by name. */
const into =
  (operator: Operator): Operator =>
  (call) => {
    const { out, ...options } = call.options;
    return copy_(out as Tensor, operator({ ...call, options }) as Tensor);
  };

/** The function or method of a tensor of this name. */
function byName(name: string): Operator | null {
  const call = functionOf(name);
  if (call) return ({ args, options }) => call(...asArguments(args, options));
  // of what is computed when it is read, such as `shape`, there is no value here
  const method =
    name === "constructor" ? null : (Object.getOwnPropertyDescriptor(Tensor.prototype, name)?.value as unknown);
  if (typeof method !== "function") return null;
  return ({ args: [self, ...args], options }) => (method as Function).apply(self, asArguments(args, options));
}
