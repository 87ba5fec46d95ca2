// The formulas of a kernel as operators of ONNX.  All values of a kernel have one axis for each of its loops, of length 1
// where the loop changes nothing; what only loops and the call's numbers decide is computed here.

import {
  Apply,
  Binary,
  BoundsCheck,
  Cast,
  Constant,
  Element,
  Index,
  Item,
  type Node,
  Option,
  Random,
  Result,
  Select,
  Uniform,
  children,
  label,
  nodes_of,
} from "../../../host/nodes.js";
import { Assign, Choose, Repeat, type Statement, read_procedure } from "../../../host/statements.js";
import { FUNCTIONS as NUMBERS } from "../../devices/cpu/functions.js";
import { OpError } from "../../base/errors.js";
import { FUNCTIONS, type Kind, kindAfter, typeOf } from "./functions.js";
import { BOOL, type GraphBuilder, INT64, type Value } from "./model.js";

/** A loop: its name where formulas use it, how many points, and how far each moves every access. */
export interface Loop {
  readonly name: string;
  readonly size: number;
  readonly strides: readonly number[];
}

/** Numbers at the points of some loops: one axis for each of the kernel's. */
export interface Table {
  readonly values: Float64Array;
  readonly shape: readonly number[];
}

/** What formulas stand on. */
export interface Ground {
  readonly g: GraphBuilder;
  readonly op: string;
  readonly loops: readonly Loop[];
  /** ONNX's type of floating numbers. */
  readonly floating: number;
  readonly uniforms: ReadonlyMap<string, { readonly value: number; readonly kind: Kind }>;
  /** Whether T is bool. */
  readonly bool: boolean;
  /** Functions that the op brings, as what they do. */
  routine(name: string): string | null;
  element(access: number): Value;
  result(step: number): Value;
}

/** Whether loops and numbers of the call decide a formula. */
export const isPure = (e: Node): boolean =>
  !nodes_of(e).some((x) => x instanceof Element || x instanceof Item || x instanceof Result || x instanceof Random);

type Variables = Map<string, Value>;
/** A loop of a routine is written turn by turn. */
const MOST_TURNS = 64;

export class Formulas {
  private readonly known = new Map<Node, Value>();

  constructor(private readonly ground: Ground) {}

  private kind(e: Node): Kind {
    const { ground } = this;
    if (e instanceof Constant || e instanceof Cast) return e.kind as Kind;
    if (e instanceof Index) return "i";
    if (e instanceof Uniform) return ground.uniforms.get(e.name)!.kind;
    if (e instanceof Option) return "b";
    if (e instanceof Element) return kindOf(ground.element(e.access));
    if (e instanceof Result) return kindOf(ground.result(e.step));
    if (e instanceof Select) return this.kind(e.yes);
    const [operand] = children(e) as [Node];
    return kindAfter(label(e), this.kind(operand));
  }

  /** The value of a formula at all points. */
  value(e: Node): Value {
    let found = this.known.get(e);
    if (!found) this.known.set(e, (found = this.made(e)));
    return found;
  }

  /** `variables`: of a routine, which are `Index` nodes in its formulas. */
  private made(e: Node, variables: Variables | null = null): Value {
    const { g, loops, floating } = this.ground,
      leaf = variables && this.leaf(e, variables);
    if (leaf) return leaf;
    if (e instanceof Element) return this.ground.element(e.access);
    if (e instanceof Result) return this.ground.result(e.step);
    if (e instanceof Random)
      throw this.refusal("draws random numbers, which an ONNX model cannot draw as they are drawn here");
    if (!variables && isPure(e)) {
      const { values, shape } = this.table(e);
      return g.constant(values, shape, typeOf(this.kind(e), floating));
    }
    const part = (inner: Node): Value => (variables ? this.made(inner, variables) : this.value(inner));
    if (e instanceof BoundsCheck) return part(e.operand);
    if (e instanceof Cast) return g.cast(part(e.operand), typeOf(e.kind as Kind, floating));
    if (!variables && e instanceof Select && isPure(e.condition)) {
      const { values } = this.table(e.condition);
      // what is the same at all points decides here
      if (values.every((x) => x === values[0])) return this.value(values[0] !== 0 ? e.yes : e.no);
    }
    const name = label(e),
      args = children(e).map(part);
    if (name.startsWith("// ") || name.startsWith("% ")) return this.divided(name, args[0]!);
    if (name === "invert")
      return this.ground.bool
        ? g.each("Sub", [
            g.constant(
              [1],
              loops.map(() => 1),
              INT64,
            ),
            args[0]!,
          ])
        : g.each("BitwiseNot", args);
    return this.applied(name, args);
  }

  /** What a routine's variable or number is. */
  private leaf(e: Node, variables: Variables): Value | null {
    const { g, floating } = this.ground;
    if (e instanceof Index) return variables.get(e.loop)!;
    if (e instanceof Constant) return g.constant([e.value], [], typeOf(e.kind as Kind, floating));
    return e instanceof Uniform ? g.constant([this.uniform(e.name)], [], floating) : null;
  }

  /** A function of values: an operator, or what a routine does, whose loops are few turns. */
  private applied(name: string, args: readonly Value[]): Value {
    const make = FUNCTIONS.get(name);
    if (make) return make(this.ground.g, ...args);
    const steps = this.ground.routine(name);
    if (steps === null) throw this.without(name);
    const { parameters, statements } = read_procedure(steps),
      variables: Variables = new Map(parameters.map((parameter, i) => [parameter, args[i]!]));
    this.perform(name, statements, variables);
    return variables.get("out")!;
  }

  private perform(name: string, statements: readonly Statement[], variables: Variables): void {
    const { g } = this.ground;
    for (const statement of statements) {
      if (statement instanceof Assign) {
        const values = statement.values.map((e) => this.made(e, variables));
        statement.targets.forEach((target, i) => variables.set((target as Index).loop, values[i]!));
      } else if (statement instanceof Choose) {
        const condition = this.made(statement.condition, variables),
          [yes, no] = [statement.yes, statement.no].map((branch) => {
            const own: Variables = new Map(variables);
            this.perform(name, branch, own);
            return own;
          }) as [Variables, Variables];
        for (const [variable, value] of yes) {
          const other = no.get(variable) ?? value;
          variables.set(variable, value === other ? value : FUNCTIONS.get("select")!(g, other, value, condition));
        }
        for (const [variable, value] of no) if (!yes.has(variable)) variables.set(variable, value);
      } else {
        // who leaves a loop early does so for each element by itself
        if (!(statement instanceof Repeat) || statement.condition) throw this.without(name);
        const [low, high] = [statement.low, statement.high].map((e) => (e instanceof Constant ? e.value : NaN)) as [
          number,
          number,
        ];
        if (!(high - low <= MOST_TURNS)) throw this.without(name);
        for (let k = low; k < high; k++) {
          variables.set(statement.name, g.constant([k], [], INT64));
          this.perform(name, statement.body, variables);
        }
      }
    }
  }

  private without(name: string): OpError {
    return this.refusal(`computes ${name.replace(/(_of|_routine)+$/, "")}, which has no counterpart in ONNX`);
  }

  /** A number that the call tells. */
  private uniform(name: string): number {
    return this.ground.uniforms.get(name)?.value ?? (name === "inf" ? Infinity : NaN);
  }

  private divided(name: string, x: Value): Value {
    const { g } = this.ground,
      [sign, by] = name.split(" ") as [string, string],
      divisor = g.constant([Number(by)], [], INT64);
    return FUNCTIONS.get(sign === "%" ? "remainder_int" : "floor_divide_int")!(g, x, divisor);
  }

  refusal(what: string): OpError {
    return new OpError(`onnx.export: ${this.ground.op} ${what}`);
  }

  /** The numbers of a pure formula at the points of the loops that it names. */
  table(e: Node): Table {
    const { loops } = this.ground,
      used = new Set(nodes_of(e).flatMap((x) => (x instanceof Index ? [x.loop] : []))),
      shape = loops.map(({ name, size }) => (name !== "" && used.has(name) ? size : 1)),
      values = new Float64Array(shape.reduce((n, size) => n * size, 1)),
      at = new Map<string, number>();
    for (let k = 0; k < values.length; k++) {
      let rest = k;
      for (let d = loops.length - 1; d >= 0; d--) {
        if (shape[d]! > 1) at.set(loops[d]!.name, rest % shape[d]!);
        rest = Math.floor(rest / shape[d]!);
      }
      values[k] = this.number(e, at);
    }
    return { values, shape };
  }

  private number(e: Node, at: ReadonlyMap<string, number>): number {
    if (e instanceof Constant) return e.value;
    if (e instanceof Index) return at.get(e.loop) ?? 0;
    if (e instanceof Uniform || e instanceof Option) return this.uniform(e.name);
    if (e instanceof BoundsCheck) return this.number(e.operand, at);
    if (e instanceof Select) return this.number(this.number(e.condition, at) !== 0 ? e.yes : e.no, at);
    if (e instanceof Binary && (e.operator === "&&" || e.operator === "||")) {
      const left = this.number(e.left, at) !== 0;
      return +(e.operator === "&&" ? left && this.number(e.right, at) !== 0 : left || this.number(e.right, at) !== 0);
    }
    const name = label(e),
      args = children(e).map((part) => this.number(part, at));
    if (e instanceof Cast) return e.kind === "i" ? Math.trunc(args[0]!) : args[0]!;
    if (e instanceof Apply && (name === "narrow_checked" || name === "widened")) return args[0]!;
    if (name.startsWith("// ")) return Math.floor(args[0]! / Number(name.slice(3)));
    if (name.startsWith("% ")) {
      const by = Number(name.slice(2));
      return args[0]! - Math.floor(args[0]! / by) * by;
    }
    const f = NUMBERS[name];
    if (!f) throw this.without(name);
    return f(...args);
  }
}

const kindOf = ({ type }: Value): Kind => (type === BOOL ? "b" : type === INT64 ? "i" : "f");
