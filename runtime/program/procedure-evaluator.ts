// Routines and bodies where there is no WebAssembly: the statements of host/statements.ts, each made a closure once.
// Numbers are doubles, whole ones cut to 32 bits where a variable takes them.

import type { Kernel, Op } from "../../host/model.js";
import {
  Apply,
  Binary,
  Cast,
  Constant,
  Index,
  Item,
  type Node,
  Select,
  Unary,
  Uniform,
  label,
} from "../../host/nodes.js";
import { Assign, Choose, type Procedure, Repeat, type Statement, read_procedure } from "../../host/statements.js";
import { digamma } from "../elements/math.js";
import type { Elements } from "./compiled-op.js";
import type { Evaluator, Functions, RunBody, Scalar } from "./procedures.js";

type Value = () => number;
/** Answers whether the loop around ends. */
type Act = () => boolean | void;

const known = new WeakMap<Op, Functions>();

/** What the kernels and bodies of an op call besides what all may: its routines, and what these call. */
function functions(op: Op, common: Functions): Functions {
  let found = known.get(op);
  if (!found) {
    const made: Record<string, Scalar> = { digamma_of: digamma, quotient: (x, y) => Math.trunc(x / y) },
      all = (name: string): Scalar => made[name] ?? common[name]!;
    for (const { name, steps } of op.routines)
      if (steps) {
        let run: Scalar | null = null;
        made[name] = (...numbers) => (run ??= prepared(read_procedure(steps), all))(...numbers);
      }
    known.set(op, (found = made));
  }
  return found;
}

function prepared(procedure: Procedure, call: (name: string) => Scalar): Scalar {
  const { variables, act, slot } = new Closures(procedure, [], {}, call),
    run = act(procedure.statements),
    out = slot("out");
  return (...numbers) => {
    for (let n = 0; n < numbers.length; n++) variables[n] = numbers[n]!;
    run();
    return variables[out]!;
  };
}

/** What runs the body of a kernel. */
function body({ raw, uniforms: parameters }: Kernel, op: Op, common: Functions): RunBody {
  const procedure = read_procedure(raw!.steps),
    own = functions(op, common),
    held: Elements[] = [],
    numbers: Record<string, number> = {},
    closures = new Closures(procedure, held, numbers, (name) => own[name] ?? common[name]!);
  for (const { name, kind } of parameters) closures.kinds.set(`p.${name}`, kind);
  const run = closures.act(procedure.statements);
  return (arrays, uniforms) => {
    Object.assign(numbers, uniforms);
    held.push(...arrays);
    try {
      run();
    } finally {
      held.length = 0;
    }
  };
}

export const evaluator: Evaluator = { functions, body };

class Closures {
  readonly variables: Float64Array;
  readonly kinds: Map<string, string>;
  private readonly slots = new Map<string, number>();

  constructor(
    { kinds }: Procedure,
    private readonly arrays: readonly Elements[],
    private readonly uniforms: Readonly<Record<string, number>>,
    private readonly call: (name: string) => Scalar,
  ) {
    this.kinds = new Map(Object.entries(kinds));
    this.variables = new Float64Array(256);
    for (const name of this.kinds.keys()) this.slot(name);
  }

  readonly slot = (name: string): number => {
    let found = this.slots.get(name);
    if (found === undefined) this.slots.set(name, (found = this.slots.size));
    return found;
  };

  /** The kind of a formula, where it decides how a product wraps. */
  private kind(e: Node): string {
    if (e instanceof Constant || e instanceof Cast) return e.kind;
    if (e instanceof Index) return this.kinds.get(e.loop) ?? "i";
    if (e instanceof Uniform) return this.kinds.get(`p.${e.name}`) ?? "f";
    if (e instanceof Unary) return this.kind(e.operand);
    if (e instanceof Binary) return this.kind(e.left);
    if (e instanceof Select) return this.kind(e.yes);
    if (e instanceof Apply) return e.name === "to_int" ? "i" : this.kind(e.operands[0]!);
    return "f";
  }

  private value(e: Node): Value {
    const { variables, arrays, uniforms } = this;
    if (e instanceof Constant) return () => e.value;
    if (e instanceof Index) {
      const n = this.slot(e.loop);
      return () => variables[n]!;
    }
    if (e instanceof Uniform) {
      const { name } = e,
        fixed = name === "inf" ? Infinity : name === "nan" ? NaN : null;
      return fixed === null ? () => uniforms[name]! : () => fixed;
    }
    if (e instanceof Item) {
      const { access } = e,
        place = this.value(e.place);
      return () => arrays[access]![place()]!;
    }
    if (e instanceof Select) {
      const condition = this.value(e.condition),
        yes = this.value(e.yes),
        no = this.value(e.no);
      return () => (condition() ? yes() : no());
    }
    if (e instanceof Cast) {
      const operand = this.value(e.operand);
      return e.kind === "i" ? () => Math.trunc(operand()) : operand;
    }
    if (e instanceof Binary) return this.binary(e);
    const f = this.call(label(e)),
      operands = (e instanceof Apply ? e.operands : [(e as Unary).operand]).map((x) => this.value(x)),
      [a, b] = operands as [Value, Value];
    if (operands.length === 1) return () => f(a());
    if (operands.length === 2) return () => f(a(), b());
    return () => f(...operands.map((x) => x()));
  }

  private binary({ operator, left, right }: Binary): Value {
    const a = this.value(left),
      b = this.value(right);
    switch (operator) {
      case "+":
        return () => a() + b();
      case "-":
        return () => a() - b();
      case "*":
        return this.kind(left) === "i" ? () => Math.imul(a(), b()) : () => a() * b();
      case "<":
        return () => +(a() < b());
      case "&&":
        return () => a() && b();
      case "||":
        return () => a() || b();
      case "&":
        return () => a() & b();
      default: {
        const f = this.call(operator);
        return () => f(a(), b());
      }
    }
  }

  readonly act = (statements: readonly Statement[]): Act => {
    const acts = statements.map((s) => this.one(s)),
      { length } = acts;
    return () => {
      for (let n = 0; n < length; n++) if (acts[n]!()) return true;
      return false;
    };
  };

  private one(s: Statement): Act {
    const { variables } = this;
    if (s instanceof Assign) return this.assign(s);
    if (s instanceof Choose) {
      const condition = this.value(s.condition),
        yes = this.act(s.yes),
        no = this.act(s.no);
      return () => (condition() ? yes() : no());
    }
    if (s instanceof Repeat) {
      const n = this.slot(s.name),
        low = this.value(s.low),
        high = this.value(s.high),
        holds = s.condition && this.value(s.condition),
        run = this.act(s.body);
      return () => {
        for (variables[n] = low(); variables[n]! < high() && (!holds || holds()); variables[n]!++) if (run()) break;
      };
    }
    return () => true;
  }

  private assign({ targets, values }: Assign): Act {
    const given = values.map((x) => this.value(x)),
      set = targets.map((x) => this.set(x));
    if (set.length === 1) {
      const [to] = set as [(x: number) => void],
        [from] = given as [Value];
      return () => to(from());
    }
    return () => {
      const numbers = given.map((f) => f());
      set.forEach((to, n) => to(numbers[n]!));
    };
  }

  private set(target: Node): (x: number) => void {
    const { variables, arrays } = this;
    if (target instanceof Item) {
      const { access } = target,
        place = this.value(target.place);
      return (x) => {
        arrays[access]![place()] = x;
      };
    }
    const { loop } = target as Index,
      n = this.slot(loop);
    return this.kinds.get(loop) === "i"
      ? (x) => {
          variables[n] = x | 0;
        }
      : (x) => {
          variables[n] = x;
        };
  }
}
