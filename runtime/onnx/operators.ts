// The operators of ONNX by domain and name, and how a node becomes a call of one.

import { OpError } from "../base/errors.js";
import { type DType, isFloat } from "../elements/dtype.js";
import type { Operators } from "../exchange/graph.js";
import type { Call, Operator } from "../exchange/operators.js";
import { Tensor } from "../tensor/tensor.js";
import { ARITHMETIC } from "./tables/arithmetic.js";
import { ATTENTION, PREVIEW } from "./tables/attention-heads.js";
import { CONTROL } from "./tables/control.js";
import type { Context, Definition, Table } from "./tables/definition.js";
import { IMAGES } from "./tables/images.js";
import { INDEXING } from "./tables/indexing.js";
import { LOSSES } from "./tables/losses.js";
import { MICROSOFT } from "./tables/microsoft.js";
import { NETWORKS } from "./tables/networks.js";
import { QUANTISED } from "./tables/quantised.js";
import { RECURRENT } from "./tables/recurrent.js";
import { REDUCTIONS } from "./tables/reductions.js";
import { SEQUENCES } from "./tables/sequences.js";
import { SHAPES } from "./tables/shapes.js";
import { SPECTRA } from "./tables/spectra.js";
import { dtypeOf, typeName } from "./types.js";
import { apart, brought, fixed, isFixed } from "./values.js";

const STANDARD: Table = {
  ...ARITHMETIC,
  ...SHAPES,
  ...REDUCTIONS,
  ...INDEXING,
  ...NETWORKS,
  ...RECURRENT,
  ...ATTENTION,
  ...QUANTISED,
  ...SEQUENCES,
  ...CONTROL,
  ...SPECTRA,
  ...IMAGES,
  ...LOSSES,
};
const DOMAINS: Readonly<Record<string, Table>> = {
  "": STANDARD,
  "ai.onnx.preview": PREVIEW,
  "com.microsoft": MICROSOFT,
};

/** The name under which a graph asks for an operator; `operators` takes it apart. */
export const targetOf = (domain: string, name: string, version: number): string =>
  `${domain === "" || domain === "ai.onnx" ? "" : `${domain}.`}${name}@${version}`;

/** What an operator is; null where there is none. */
export function definitionOf(domain: string, name: string): Definition | null {
  const table = Object.hasOwn(DOMAINS, domain) ? DOMAINS[domain]! : null,
    // exporters write operators of the standard into other domains, too
    found = table && Object.hasOwn(table, name) ? table[name]! : null;
  return typeof found === "function" ? { compute: found, host: [], kind: "values" } : found;
}

function* tensorsIn(value: unknown): Generator<Tensor> {
  if (value instanceof Tensor) yield value;
  else if (Array.isArray(value)) for (const item of value) yield* tensorsIn(item);
}

const onto = (value: unknown, device: string): unknown =>
  value instanceof Tensor
    ? brought(value, device)
    : Array.isArray(value)
      ? value.map((item) => onto(item, device))
      : value;

const listed = (result: unknown): unknown[] => (Array.isArray(result) ? (result as unknown[]) : [result]);

function called({ compute, host, kind }: Definition, call: Call, context: Context): unknown[] | Promise<unknown[]> {
  const { args, options } = call;
  if (kind === "as given") {
    const result = compute(args, options, context);
    return result instanceof Promise ? result.then(listed) : listed(result);
  }
  const tensors = [...tensorsIn(kind === "like" ? args[0] : args)];
  if (kind === "sizes" || (kind !== "drawn" && tensors.every(isFixed)))
    return apart(() => listed(compute(args, options, { ...context, device: "cpu" }))).map((v) => fixed(v, call.device));
  const movable = args.flatMap((x, i) => (host.includes(i) ? [] : [...tensorsIn(x)])),
    device = movable.find((x) => x.device !== "cpu")?.device ?? (movable.length > 0 ? "cpu" : call.device);
  return listed(
    compute(
      args.map((x, i) => (host.includes(i) ? x : onto(x, device))),
      options,
      { ...context, device },
    ),
  );
}

/** The operators for a graph; `floating`: what floating tensors of the program become. */
export function operators(floating: DType | null): Operators {
  const dtype = (number: number): DType => {
    const found = dtypeOf(number);
    if (!found) throw new OpError(`there are no elements of ${typeName(number)} here`);
    return floating && isFloat(found) ? floating : found;
  };
  return {
    find(target): Operator | null {
      const at = target.lastIndexOf("@"),
        dot = target.lastIndexOf(".", at),
        name = target.slice(dot + 1, at),
        found = definitionOf(target.slice(0, Math.max(0, dot)), name);
      if (!found) return null;
      const fixedContext = { op: name, version: Number(target.slice(at + 1)), dtype };
      return (call) => called(found, call, { ...fixedContext, device: call.device, used: call.used });
    },
    keeps: isFixed,
  };
}

/** The names of all operators there are, by domain. */
export const operatorNames = (): Record<string, string[]> =>
  Object.fromEntries(Object.entries(DOMAINS).map(([domain, table]) => [domain, Object.keys(table).sort()]));
