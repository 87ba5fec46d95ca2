// Host formulas: numbers that sizes and options of a call decide, as ops' data writes them (host/written.ts).

import type { Fn } from "../../host/model.js";
import { Apply, Binary, Cast, type Constant, type Node, Option, Select, Unary } from "../../host/nodes.js";
import { read_formula } from "../../host/written.js";

type Two = (a: number, b: number) => number;

const OPERATORS: Readonly<Record<string, Two>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "**": Math.pow,
  "<": (a, b) => +(a < b),
  "<=": (a, b) => +(a <= b),
  ">": (a, b) => +(a > b),
  ">=": (a, b) => +(a >= b),
  "==": (a, b) => +(a === b),
  "!=": (a, b) => +(a !== b),
  divide: (a, b) => a / b,
  floor_divide_int: (a, b) => Math.floor(a / b),
  remainder_int: (a, b) => a - Math.floor(a / b) * b,
};

function compiled(e: Node): Fn {
  if (e instanceof Option) {
    const { name } = e;
    return name === "inf" ? () => Infinity : name === "nan" ? () => NaN : (env) => env[name]!;
  }
  if (e instanceof Cast) return compiled(e.operand);
  if (e instanceof Unary) {
    const of = compiled(e.operand);
    return e.operator === "-" ? (env) => -of(env) : (env) => +!of(env);
  }
  if (e instanceof Select) {
    const [condition, yes, no] = [e.condition, e.yes, e.no].map(compiled) as [Fn, Fn, Fn];
    return (env) => (condition(env) ? yes(env) : no(env));
  }
  if (e instanceof Binary || e instanceof Apply) {
    const parts = e instanceof Binary ? [e.left, e.right] : e.operands,
      name = e instanceof Binary ? e.operator : e.name;
    const [a, b] = parts.map(compiled) as [Fn, Fn];
    if (name === "&&") return (env) => a(env) && b(env);
    if (name === "||") return (env) => a(env) || b(env);
    const two = OPERATORS[name] ?? (Math as unknown as Record<string, Two>)[name]!;
    return b ? (env) => two(a(env), b(env)) : (env) => (two as (x: number) => number)(a(env));
  }
  const { value } = e as Constant;
  return () => value;
}

const nodes = /* @__PURE__ */ new WeakMap<Fn, () => Node>();

/** The number that a node stands for, of which nothing is read before it is first asked for. */
export function hostFormula(node: () => Node): Fn {
  let made: Fn | null = null;
  const f: Fn = (env) => (made ??= compiled(node()))(env);
  nodes.set(f, node);
  return f;
}

export const readFormula = (text: string): Fn => hostFormula(() => read_formula(text, [])!);

/** What a formula was made of. */
export const nodeOf = (f: Fn): Node => nodes.get(f)!();
