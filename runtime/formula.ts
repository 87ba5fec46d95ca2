// The formulas of kernels, evaluated: parses the texts that op data has for WGSL and computes them for many points at
// once, in doubles.  Equal parts of a nest's texts are one formula and are computed once.  Loops and tensors are the
// interpreter's (interpreter.ts); nothing here knows of them.

import { floorDivide, modulo, power, roundHalfEven, sign, signbit } from "./math.js";

/** The value of a formula at the points of a chunk; one number where it is the same at all of them. */
export type Vector = Float64Array;

/** A number, a name, or an operator or function of others. */
export interface Formula {
  readonly op: string;
  readonly args: readonly Formula[];
  /** A number's value. */
  readonly constant: Vector | null;
  /** The value in the evaluation `stamp`. */
  value: Vector;
  stamp: number;
}

export type Scalar = (...args: number[]) => number;

/** The functions that formulas may use without bringing them; booleans are 0 and 1. */
export const FUNCTIONS: Readonly<Record<string, Scalar>> = {
  neg: (x) => -x,
  "!": (x) => (x === 0 ? 1 : 0),
  "<": (x, y) => +(x < y),
  "<=": (x, y) => +(x <= y),
  ">": (x, y) => +(x > y),
  ">=": (x, y) => +(x >= y),
  "==": (x, y) => +(x === y),
  "!=": (x, y) => +(x !== y),
  "&&": (x, y) => x && y,
  "||": (x, y) => x || y,
  abs: Math.abs,
  ceil: Math.ceil,
  cos_of: Math.cos,
  cosh_of: Math.cosh,
  exp2_of: (x) => 2 ** x,
  exp_of: Math.exp,
  expm1_of: Math.expm1,
  f32: (x) => x,
  floor: Math.floor,
  floor_divide: floorDivide,
  floor_divide_whole: (x, y) => Math.floor(x / y),
  i32: Math.trunc,
  is_infinite: (x) => +(Math.abs(x) === Infinity),
  is_nan: (x) => +Number.isNaN(x),
  larger: (x, y) => Math.max(x, y),
  log1p_of: Math.log1p,
  log_of: Math.log,
  max: (x, y) => Math.max(x, y),
  min: (x, y) => Math.min(x, y),
  power,
  reciprocal_root: (x) => 1 / Math.sqrt(x),
  remainder_whole: modulo,
  round: roundHalfEven,
  sign_bit: (x) => +signbit(x),
  sign_of: sign,
  sin_of: Math.sin,
  sinh_of: Math.sinh,
  smaller: (x, y) => Math.min(x, y),
  square: (x) => x * x,
  square_root: Math.sqrt,
  tanh_of: Math.tanh,
  trunc: Math.trunc,
};

const TOKEN = /(\d+(?:\.\d+)?(?:e[-+]?\d+)?)[fu]?|[A-Za-z_][\w.]*|&&|\|\||[<>=!]=|[-+*<>!(),]/g;
const LEVELS: readonly (readonly string[])[] = [["||"], ["&&"], ["<", "<=", ">", ">=", "==", "!="], ["+", "-"], ["*"]];

/** Reads the texts of one nest. */
export class Reader {
  private readonly known = new Map<string, Formula>();
  private readonly numbers = new Map<Formula, number>();
  private tokens: string[] = [];
  private at = 0;

  /** @param names what stands for a name, where that is a formula of its own */
  constructor(private readonly names: ReadonlyMap<string, Formula>) {}

  read(text: string): Formula {
    this.tokens = text.match(TOKEN) ?? [];
    this.at = 0;
    return this.level(0);
  }

  private level(n: number): Formula {
    const signs = LEVELS[n];
    if (!signs) return this.unary();
    let left = this.level(n + 1);
    while (signs.includes(this.tokens[this.at]!)) left = this.formula(this.tokens[this.at++]!, [left, this.level(n + 1)]);
    return left;
  }

  private unary(): Formula {
    const token = this.tokens[this.at++]!;
    if (token === "-" || token === "!") return this.formula(token === "-" ? "neg" : "!", [this.unary()]);
    if (token === "(") {
      const inner = this.level(0);
      this.at++;
      return inner;
    }
    if (this.tokens[this.at] !== "(") return this.names.get(token) ?? this.formula(token, []);
    const args: Formula[] = [];
    while (this.tokens[this.at++] !== ")") args.push(this.level(0));
    return this.formula(token, args);
  }

  private formula(op: string, args: readonly Formula[]): Formula {
    const key = op + args.map((a) => ` ${this.numbers.get(a)}`).join("");
    let found = this.known.get(key);
    if (!found) {
      const constant = /^\d/.test(op) ? Float64Array.of(parseFloat(op)) : op === "true" || op === "false" ? Float64Array.of(+(op === "true")) : null;
      found = { op, args, constant, value: constant ?? NONE, stamp: -1 };
      this.known.set(key, found);
      this.numbers.set(found, this.numbers.size);
    }
    return found;
  }
}

const NONE: Vector = new Float64Array(1);

/** At most so many points are computed at once. */
export const POINTS = 512;

const pool: Float64Array[] = [];
let stamp = 0;

/** One evaluation after another; vectors of one are used again by the next. */
export class Evaluation {
  private used = 0;
  /** How many points there are. */
  count = 0;

  /**
   * @param functions what formulas use beside FUNCTIONS
   * @param named the value of a name at the points
   */
  constructor(private readonly functions: Readonly<Record<string, Scalar>>, private readonly named: (name: string) => Vector) {}

  /** Goes on to `count` other points. */
  begin(count: number): void {
    stamp++;
    this.used = 0;
    this.count = count;
  }

  vector(): Vector {
    return (pool[this.used++] ??= new Float64Array(POINTS));
  }

  value(f: Formula): Vector {
    if (f.constant) return f.constant;
    if (f.stamp !== stamp) {
      f.value = f.args.length ? this.apply(f.op, f.args.map((a) => this.value(a))) : this.named(f.op);
      f.stamp = stamp;
    }
    return f.value;
  }

  private apply(op: string, args: readonly Vector[]): Vector {
    const one = args.every((a) => a.length === 1), out = one ? new Float64Array(1) : this.vector(), n = one ? 1 : this.count;
    // An index is masked to 0 where there is one number for all points.
    const [a, b = NONE, c = NONE] = args as [Vector, Vector?, Vector?];
    const i = a.length === 1 ? 0 : -1, j = b.length === 1 ? 0 : -1, l = c.length === 1 ? 0 : -1;
    switch (op) {
      case "+":
        for (let k = 0; k < n; k++) out[k] = a[k & i]! + b[k & j]!;
        break;
      case "-":
        for (let k = 0; k < n; k++) out[k] = a[k & i]! - b[k & j]!;
        break;
      case "*":
        for (let k = 0; k < n; k++) out[k] = a[k & i]! * b[k & j]!;
        break;
      case "divide":
        for (let k = 0; k < n; k++) out[k] = a[k & i]! / b[k & j]!;
        break;
      case "select":
        for (let k = 0; k < n; k++) out[k] = c[k & l] !== 0 ? b[k & j]! : a[k & i]!;
        break;
      default: {
        const f = this.functions[op] ?? FUNCTIONS[op]!;
        for (let k = 0; k < n; k++) out[k] = f(a[k & i]!, b[k & j]!, c[k & l]!);
      }
    }
    return out;
  }
}
