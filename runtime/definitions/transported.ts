// Ops of the data that the compiler makes while a program runs (codegen/api/transported.py): what generated modules
// hold as text.

import { PARTS } from "../../host/bind.js";
import type { Fn, Function as Routine } from "../../host/model.js";
import * as bodies from "../../ops/data/bodies.js";
import * as callees from "../../ops/data/callees.js";
import type { ShortOp } from "../../ops/data/complete.js";
import * as routines from "../../ops/data/routines.js";
import { binds, run } from "../dispatch/call.js";
import { complexResults, linear, ofPairs } from "../dispatch/complex-results.js";
import { calls } from "../dispatch/creation-arguments.js";
import { derived, derivedWith } from "../dispatch/derive.js";
import { requiring } from "../dispatch/element-requirements.js";
import { itself } from "../dispatch/itself.js";
import { changing } from "../dispatch/mutation-check.js";
import { choose } from "../dispatch/op-arguments.js";
import { type StatelessCall, stateless } from "../nn/stateless.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { readFormula } from "../program/host-formula.js";
import { more } from "../program/notation-parts.js";
import { type Body, raw } from "../program/notation-raw.js";
import { routine } from "../program/notation-routine.js";
import type { RawReader } from "../program/notation.js";
import { compiledBy } from "./compiled-by.js";

/** A formula of sizes and options, as its text. */
type Formula = Readonly<{ formula: string }>;

interface OpData {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>> &
    Readonly<{ bodies?: readonly string[]; routines?: readonly string[]; callees?: readonly string[]; more?: boolean }>;
  readonly derived: boolean;
  readonly parts: boolean;
  readonly calls: boolean;
  readonly changes: boolean;
  readonly complex: string;
  /** Of an op whose own parameters are complex: a 1 for each, and for each such result. */
  readonly pairs: readonly [takes: string, gives: string] | null;
  /** The products of parameters of which the results are sums, or "". */
  readonly terms: string;
  readonly itself: Formula | null;
  readonly checks: readonly (readonly [op: string, messages: readonly string[], spared: Formula | null])[];
}

/** A class of modules: a setting without a default must be given; how it calls its ops (runtime/nn/stateless.ts). */
interface ModuleData {
  readonly name: string;
  readonly settings: readonly (readonly [name: string, value?: unknown])[];
  readonly call: Omit<StatelessCall, "asks"> & { readonly asks?: readonly [op: string, ...requirements: number[]] };
  readonly ops: readonly string[];
}

/** What the compiler makes of definitions: data that goes through `postMessage` and JSON. */
export interface CompiledDefinitions {
  readonly version: string;
  readonly slopes: string;
  readonly routines: readonly Readonly<{ binding: string; name: string; calls: readonly string[]; steps: string }>[];
  readonly bodies: readonly Readonly<{ binding: string; body: Readonly<Record<string, unknown>> }>[];
  readonly ops: readonly OpData[];
  /** The names that users call, and the ops behind each, in the order in which they are tried. */
  readonly functions: Readonly<Record<string, readonly string[]>>;
  readonly modules: readonly ModuleData[];
}

/** An op as a function: its parameters by place, or by name in an object at the end; or a class of modules. */
export type OpFunction = ((...args: any[]) => any) & (new (...args: any[]) => any);

const PACKAGE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  bodies_: bodies,
  callees_: callees,
  routines_: routines,
};

/**
 * The functions that definitions make, by their names, and their classes of modules; functions of one name are one.
 * Throws if the compiler was not one for this package.
 */
export function opsOf(made: CompiledDefinitions): Record<string, OpFunction> {
  const compiled = compiledBy(made.version),
    derive = made.slopes ? derivedWith(made.slopes) : derived,
    own = new Map<string, unknown>(),
    ops = new Map<string, CompiledOp>();
  for (const { binding, ...text } of made.routines) own.set(binding, routine({ ...text, calls: [...text.calls] }));
  for (const { binding, body } of made.bodies) own.set(binding, raw(withFormulas(body) as Body));
  const named = (name: string): unknown => {
    const [space, member] = name.split(".") as [string, string?];
    return member === undefined ? own.get(name) : PACKAGE[space]![member];
  };
  const op = (name: string): CompiledOp => {
    let found = ops.get(name);
    if (!found) ops.set(name, (found = one(made.ops.find((o) => o.name === name)!)));
    return found;
  };
  const one = (o: OpData): CompiledOp => {
    const data: Record<string, unknown> = { ...(withFormulas(o.data) as object) };
    if (o.data.more) data["more"] = more;
    if (o.data.bodies) data["bodies"] = o.data.bodies.map((name) => named(name) as RawReader);
    if (o.data.routines) data["routines"] = o.data.routines.map((name) => named(name) as Routine);
    if (o.data.callees) data["callees"] = () => o.data.callees!.map((name) => named(name) as ShortOp);
    const checks = o.checks.map(([name, messages, spared]) => requiring(op(name), messages, formula(spared)));
    if (o.changes) checks.unshift(changing);
    let result = compiled(data as unknown as ShortOp, o.parts ? PARTS : null, o.calls ? calls : null, ...checks);
    if (o.derived) result = derive(result);
    if (o.itself) result = itself(result, formula(o.itself)!);
    if (o.terms) result = linear(result, o.terms);
    return o.pairs ? ofPairs(result, ...o.pairs) : result;
  };
  const complex = new Map(made.ops.map((o) => [o.name, o.complex]));
  const called = (name: string, args: unknown[]): unknown => {
    const which = complex.get(name),
      result = run(op(name), args);
    return which ? complexResults(op(name), result, which) : result;
  };
  const functions = Object.entries(made.functions).map(([name, behind]): [string, OpFunction] => {
    const several = behind.map(op),
      f = (...args: unknown[]) =>
        called(behind.length === 1 ? behind[0]! : behind[several.indexOf(choose(several, args, binds))]!, args);
    return [name, Object.defineProperty(f, "name", { value: name }) as unknown as OpFunction];
  });
  const modules = made.modules.map(({ name, settings, call: { asks, ...call }, ops: behind }): [string, OpFunction] => {
    const asked = asks && { asks: [op(asks[0]), ...asks.slice(1)] as unknown as StatelessCall["asks"] };
    const defaults = Object.fromEntries(settings.map(([key, value]) => [key, value]));
    return [name, stateless(name, defaults, behind.map(op), { ...call, ...asked }) as unknown as OpFunction];
  });
  return Object.fromEntries([...functions, ...modules]);
}

const formula = (text: Formula | null): Fn | undefined => (text ? readFormula(text.formula) : undefined);

/** The same with functions in the place of formulas. */
function withFormulas(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFormulas);
  if (typeof value !== "object" || value === null) return value;
  if ("formula" in value) return readFormula((value as Formula).formula);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withFormulas(part)]));
}
