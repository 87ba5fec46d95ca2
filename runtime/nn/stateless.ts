// Modules without parameters: a module that keeps options and calls an op with them.  The generated names/modules.ts
// declares them.

import { filled } from "../../host/binding.js";
import { OpError } from "../base/errors.js";
import { unknownOption } from "../base/argument-kinds.js";
import { isOptions, tooMany } from "../base/named-arguments.js";
import { choose, ofKind, refuseKind, textsOf } from "../dispatch/op-arguments.js";
import { runInPlace } from "../views/run-in-place.js";
import { binds, run } from "../dispatch/call.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { copy_ } from "../views/transfer.js";
import { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import { Module } from "./module.js";
import { construct } from "./options.js";
import { float, shown } from "./shown.js";

type Options = Record<string, unknown>;

/** A module from tensors to a tensor. */
export interface Layer extends Module {
  forward(...inputs: Tensor[]): Tensor;
}

/** A class of modules with options O: positional in the order P, or in an object at the end. */
export interface Stateless<O, P extends unknown[]> {
  (...args: P | [O] | [P[0], Partial<O>]): Layer;
  new (...args: P | [O] | [P[0], Partial<O>]): Layer;
}

/** How a module calls its op. */
export interface StatelessCall {
  /** Options that the module's user does not choose. */
  readonly fixed?: Options;
  /** What the op calls an option that the module keeps under another name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Whether the op takes whether the module is in training. */
  readonly training?: boolean;
  /** Whether `inplace` copies the result into the input, for the op cannot put it there itself. */
  readonly copied?: boolean;
  /** The op whose requirements with these numbers are asked when a module is made: options decide them. */
  readonly asks?: readonly [op: CompiledOp, ...requirements: number[]];
  /** What stands between the parentheses of a printed module; see `printed`. */
  readonly prints?: string;
}

/**
 * The class called `name`.  `defaults`: what it keeps, in order (undefined: it must be given); `inplace` among them
 * changes the input instead of making a result.
 */
export function stateless<O, P extends unknown[]>(
  name: string,
  defaults: Options,
  ops: readonly CompiledOp[],
  { fixed, renamed = {}, training = false, copied = false, asks, prints = "" }: StatelessCall = {},
): Stateless<O, P> {
  class StatelessClass extends Module {
    constructor(...args: unknown[]) {
      super();
      for (const [key, value] of Object.entries(construct(name, defaults, args))) {
        const takes = ops.flatMap(({ op }) => op.params.filter((p) => p.name === (renamed[key] ?? key)));
        // Of several ops behind the name one has to take the value.
        if (value !== null && takes.length && !takes.some((p) => p.slot >= 0 || ofKind(p, value)))
          refuseKind(name, { ...takes[0]!, name: key }, value, textsOf(takes));
        // Tensors that are kept (a loss's weights) move with the module, as buffers.
        if (value instanceof Tensor) this.register_buffer(key, value, { persistent: true });
        else Object.defineProperty(this, key, { value, writable: true, enumerable: false, configurable: true });
      }
      settle(prints, this as unknown as Options);
      if (asks) askNumbers(name, asks, Object.keys(defaults), renamed, this as unknown as Options);
    }
    override forward(...inputs: unknown[]): Tensor {
      const options: Options = { ...fixed };
      for (const key of Object.keys(defaults)) {
        const value = (this as unknown as Options)[key];
        if (key !== "inplace" && value !== null) options[renamed[key] ?? key] = value;
      }
      if (training) options.training = this.training;
      takeRest(name, ops, [...Object.keys(options), ...Object.keys(defaults)], inputs, options);
      const all = Object.keys(options).length ? [...inputs, options] : inputs;
      const inplace = (this as unknown as Options).inplace === true,
        op = choose(ops, all, binds);
      return inplace && copied
        ? copy_(inputs[0] as Tensor, run(op, all) as Tensor)
        : ((inplace ? runInPlace : run)(op, all) as Tensor);
    }
    override extra_repr(): string {
      return printed(prints, this as unknown as Options);
    }
  }
  return callable(StatelessClass, name, "forward !") as unknown as Stateless<O, P>;
}

/** What a call of a module gives besides the tensors that come first: its op's other parameters, which the module keeps none of. */
function takeRest(
  name: string,
  ops: readonly CompiledOp[],
  kept: readonly string[],
  inputs: unknown[],
  options: Options,
): void {
  const given = isOptions(inputs[inputs.length - 1]) ? (inputs.pop() as Options) : {},
    free = ops[0]!.op.params.map((p) => p.name).filter((p) => !kept.includes(p)),
    tensors = inputs.findIndex((value) => !(value instanceof Tensor));
  const others = tensors < 0 ? [] : inputs.splice(tensors);
  if (inputs.length + others.length > free.length) throw tooMany(name, free.length, inputs.length + others.length);
  others.forEach((value, i) => (options[free[inputs.length + i]!] = value));
  for (const [key, value] of Object.entries(given)) {
    if (kept.includes(key)) throw unknownOption(name, key, free);
    options[key] = value;
  }
}

/** Refuses numbers that the op would refuse in each call. */
function askNumbers(
  name: string,
  [{ op }, ...requirements]: NonNullable<StatelessCall["asks"]>,
  kept: readonly string[],
  renamed: Readonly<Record<string, string>>,
  values: Options,
): void {
  const env = Object.fromEntries(kept.map((key) => [renamed[key] ?? key, Number(values[key])]));
  for (const at of requirements) {
    const { holds, message, values: shown } = op.requires[at]!;
    if (!holds(env))
      throw new OpError(
        `${name}: ${filled(
          message,
          shown.map((value) => value(env)),
        )}`,
      );
  }
}

/** A hole of a text: `{p:f}` a float, `{padding:4}` a list of 4, `{stride=kernel_size}` another one, or a word, for none. */
const HOLE = /\{(\w+)(?:=([\w]+))?(?::(\w+))?\}/g;

/** What a module keeps is what it prints: lists where it took one number for all, another option where it took none. */
function settle(text: string, values: Options): void {
  for (const [, name, other, how] of text.matchAll(HOLE)) {
    const found = values[name!] ?? (other !== undefined && other in values ? values[other] : null);
    if (found !== null)
      values[name!] = Number(how) > 0 && !Array.isArray(found) ? new Array<unknown>(Number(how)).fill(found) : found;
  }
}

/** A text with values for its holes.  What stands in brackets is left out where its value is none or false. */
function printed(text: string, values: Options): string {
  const value = (_: string, name: string, other?: string, how?: string): string => {
    const found = values[name] ?? other ?? null;
    if (how === "f" && typeof found === "number") return float(found);
    if (how === "f" && Array.isArray(found)) return `(${found.map(float).join(", ")})`;
    return typeof found === "string" ? found : shown(found);
  };
  const kept = text.replace(/\[([^\]]*)\]/g, (_, part: string) => {
    const found = values[[...part.matchAll(HOLE)][0]![1]!];
    return found === null || found === false ? "" : part;
  });
  return kept.replace(HOLE, value);
}
