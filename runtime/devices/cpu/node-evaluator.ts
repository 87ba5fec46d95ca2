// The formulas of kernels, evaluated: computes the nodes that WGSL is printed from for many points at once, in doubles.
// Equal parts of a kernel's formulas are one and are computed once.  Loops and tensors are the interpreter's
// (interpreter.ts); nothing here knows of them.

import type { Interpreted } from "../../../host/interpreted.js";
import {
  BoundsCheck,
  Cast,
  Constant,
  Element,
  type Node,
  Random,
  Result,
  children,
  label,
} from "../../../host/nodes.js";
import { floorDivide, modulo, power, roundHalfEven, sign, signbit } from "../../elements/math.js";

/** The value of a formula at the points of a chunk; one number where it is the same at all of them. */
export type Vector = Float64Array;

/** A number, an operator or function of others, or a leaf: what the interpreter knows the value of. */
export interface Formula {
  readonly op: string;
  readonly args: readonly Formula[];
  /** The node of a leaf; of a random draw it stands for the place of the point. */
  readonly leaf: Node | null;
  /** Whether it needs no element: loops and the call's numbers decide it. */
  readonly pure: boolean;
  /** A number's value. */
  readonly constant: Vector | null;
  /** What computes it, and with one number on the right, or the left. */
  readonly loop: Loop | undefined;
  readonly by: By | undefined;
  readonly turned: By | undefined;
  /** The value in the evaluation `stamp`. */
  value: Vector;
  stamp: number;
}

export type Scalar = (...args: number[]) => number;

/** The functions that formulas may use without bringing them, and operators; booleans are 0 and 1. */
export const FUNCTIONS: Readonly<Record<string, Scalar>> = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  divide: (x, y) => x / y,
  select: (x, y, c) => (c !== 0 ? y : x),
  neg: (x) => -x,
  "!": (x) => (x === 0 ? 1 : 0),
  allowed: (x) => x,
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
  nothing_of: (x) => 0 * x,
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
} satisfies Record<Interpreted | Operator, Scalar>;

type Operator = "+" | "-" | "*" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||" | "!" | "neg" | "select" | "i32";

type Loop = (n: number, out: Vector, a: Vector, b: Vector, c: Vector) => void;

/**
 * What is cheap at a point has a loop of its own: a call for each would cost more than it does.  Where a turn of the
 * loop would, too,
 *  it takes four points: vectors are longer than they need be. */
const LOOPS: Readonly<Record<string, Loop>> = {
  "+": (n, out, a, b) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! + b[k]!;
      out[k + 1] = a[k + 1]! + b[k + 1]!;
      out[k + 2] = a[k + 2]! + b[k + 2]!;
      out[k + 3] = a[k + 3]! + b[k + 3]!;
    }
  },
  "-": (n, out, a, b) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! - b[k]!;
      out[k + 1] = a[k + 1]! - b[k + 1]!;
      out[k + 2] = a[k + 2]! - b[k + 2]!;
      out[k + 3] = a[k + 3]! - b[k + 3]!;
    }
  },
  "*": (n, out, a, b) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! * b[k]!;
      out[k + 1] = a[k + 1]! * b[k + 1]!;
      out[k + 2] = a[k + 2]! * b[k + 2]!;
      out[k + 3] = a[k + 3]! * b[k + 3]!;
    }
  },
  divide: (n, out, a, b) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! / b[k]!;
      out[k + 1] = a[k + 1]! / b[k + 1]!;
      out[k + 2] = a[k + 2]! / b[k + 2]!;
      out[k + 3] = a[k + 3]! / b[k + 3]!;
    }
  },
  select: (n, out, a, b, c) => {
    for (let k = 0; k < n; k++) out[k] = c[k] !== 0 ? b[k]! : a[k]!;
  },
  neg: (n, out, a) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = -a[k]!;
      out[k + 1] = -a[k + 1]!;
      out[k + 2] = -a[k + 2]!;
      out[k + 3] = -a[k + 3]!;
    }
  },
  "<": (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! < b[k]!);
  },
  "<=": (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! <= b[k]!);
  },
  ">": (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! > b[k]!);
  },
  ">=": (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! >= b[k]!);
  },
  "==": (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! === b[k]!);
  },
  "&&": (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = a[k]! && b[k]!;
  },
  larger: (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = Math.max(a[k]!, b[k]!);
  },
  smaller: (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = Math.min(a[k]!, b[k]!);
  },
  max: (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = Math.max(a[k]!, b[k]!);
  },
  min: (n, out, a, b) => {
    for (let k = 0; k < n; k++) out[k] = Math.min(a[k]!, b[k]!);
  },
  abs: (n, out, a) => {
    for (let k = 0; k < n; k++) out[k] = Math.abs(a[k]!);
  },
  square: (n, out, a) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! * a[k]!;
      out[k + 1] = a[k + 1]! * a[k + 1]!;
      out[k + 2] = a[k + 2]! * a[k + 2]!;
      out[k + 3] = a[k + 3]! * a[k + 3]!;
    }
  },
  exp_of: (n, out, a) => {
    for (let k = 0; k < n; k++) out[k] = Math.exp(a[k]!);
  },
};

type By = (n: number, out: Vector, a: Vector, by: number) => void;

/** The same with one number for all points on the right. */
const BY: Readonly<Record<string, By>> = {
  "+": (n, out, a, by) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! + by;
      out[k + 1] = a[k + 1]! + by;
      out[k + 2] = a[k + 2]! + by;
      out[k + 3] = a[k + 3]! + by;
    }
  },
  "-": (n, out, a, by) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! - by;
      out[k + 1] = a[k + 1]! - by;
      out[k + 2] = a[k + 2]! - by;
      out[k + 3] = a[k + 3]! - by;
    }
  },
  "*": (n, out, a, by) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! * by;
      out[k + 1] = a[k + 1]! * by;
      out[k + 2] = a[k + 2]! * by;
      out[k + 3] = a[k + 3]! * by;
    }
  },
  divide: (n, out, a, by) => {
    for (let k = 0; k < n; k += 4) {
      out[k] = a[k]! / by;
      out[k + 1] = a[k + 1]! / by;
      out[k + 2] = a[k + 2]! / by;
      out[k + 3] = a[k + 3]! / by;
    }
  },
  "<": (n, out, a, by) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! < by);
  },
  "<=": (n, out, a, by) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! <= by);
  },
  ">": (n, out, a, by) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! > by);
  },
  ">=": (n, out, a, by) => {
    for (let k = 0; k < n; k++) out[k] = +(a[k]! >= by);
  },
};

/** What an operation is with its operands exchanged. */
const TURNED: Readonly<Record<string, string>> = { "+": "+", "*": "*", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

const NONE: Vector = new Float64Array(1);

/** An operation of formulas. */
export function formula(op: string, args: readonly Formula[]): Formula {
  return made(
    op,
    args,
    null,
    null,
    args.every((a) => a.pure),
  );
}

/** The parts that an associative operation joins. */
export function partsOf(op: string, f: Formula): readonly Formula[] {
  return f.op === op ? f.args.flatMap((a) => partsOf(op, a)) : [f];
}

/** A number. */
export function constant(value: number): Formula {
  return made("", [], Float64Array.of(value), null, true);
}

/** What the interpreter is asked for. */
function leaf(e: Node): Formula {
  return made("", [], null, e, !(e instanceof Element || e instanceof Result));
}

function made(
  op: string,
  args: readonly Formula[],
  constant: Vector | null,
  leaf: Node | null,
  pure: boolean,
): Formula {
  return {
    op,
    args,
    constant,
    leaf,
    pure,
    loop: LOOPS[op],
    by: BY[op],
    turned: BY[TURNED[op]!],
    value: constant ?? NONE,
    stamp: -1,
  };
}

/** The formulas of one kernel, from nodes; equal ones are one. */
export class Formulas {
  private readonly known = new Map<string, Formula>();
  private readonly numbers = new Map<Formula, number>();

  /** @param results what stands for a step's value, where that is a formula of its own */
  constructor(private readonly results: ReadonlyMap<number, Formula>) {}

  of(e: Node): Formula {
    const value = e instanceof Result && this.results.get(e.step);
    if (value) return value;
    const args =
      e instanceof Random
        ? [this.of(new Constant("i", e.draw)), this.one("", () => leaf(e))]
        : children(e).map((part) => this.of(part));
    if (e instanceof BoundsCheck || (e instanceof Cast && e.kind === "f")) return args[0]!;
    const said = e instanceof Random ? "uniform_random" : label(e);
    return this.one(said + args.map((a) => ` ${this.numbers.get(a)}`).join(""), () =>
      e instanceof Constant ? constant(e.value) : args.length ? formula(said, args) : leaf(e),
    );
  }

  private one(key: string, make: () => Formula): Formula {
    let found = this.known.get(key);
    if (!found) {
      this.known.set(key, (found = make()));
      this.numbers.set(found, this.numbers.size);
    }
    return found;
  }
}

/** At most so many points are computed at once. */
export const POINTS = 1024;

const pool: Float64Array[] = [],
  singles: Float64Array[] = [];
let stamp = 0;

/** One evaluation after another; vectors of one are used again by the next. */
export class Evaluation {
  private used = 0;
  private usedSingles = 0;
  /** How many points there are. */
  count = 0;

  /**
   * @param functions what formulas use beside FUNCTIONS
   * @param named the value of a leaf at the points
   * @param line the value of a pure formula, if that is known; null: it has to be computed
   */
  constructor(
    private readonly functions: Readonly<Record<string, Scalar>>,
    private readonly named: (leaf: Formula) => Vector,
    private readonly line: (f: Formula) => Vector | null = () => null,
  ) {}

  /** Goes on to `count` other points. */
  begin(count: number): void {
    stamp++;
    this.used = this.usedSingles = 0;
    this.count = count;
  }

  /** One number for all points. */
  single(value: number): Vector {
    const out = (singles[this.usedSingles++] ??= new Float64Array(1));
    out[0] = value;
    return out;
  }

  vector(): Vector {
    return (pool[this.used++] ??= new Float64Array(POINTS));
  }

  /** The value with one number for each point. */
  wide(value: Vector): Vector {
    return value.length === 1 ? this.vector().fill(value[0]!, 0, this.count) : value;
  }

  value(f: Formula): Vector {
    if (f.constant) return f.constant;
    if (f.stamp !== stamp) {
      f.value = f.leaf ? this.named(f) : ((f.pure ? this.line(f) : null) ?? this.apply(f));
      f.stamp = stamp;
    }
    return f.value;
  }

  private apply({ op, args, loop, by, turned }: Formula): Vector {
    const a = this.value(args[0]!),
      b = args.length > 1 ? this.value(args[1]!) : a,
      c = args.length > 2 ? this.value(args[2]!) : b;
    // What one number decides for all points.
    if (op === "select" && c.length === 1) return c[0] !== 0 ? b : a;
    if (op === "&&" || op === "||") {
      const [sure, other] = a.length === 1 ? [a, b] : [b, a];
      if (sure.length === 1) return (sure[0] !== 0) === (op === "&&") ? other : sure;
    }
    const one = a.length === 1 && b.length === 1 && c.length === 1;
    if (one || !loop) return this.each(this.functions[op] ?? FUNCTIONS[op]!, args.length, a, b, c, one);
    const out = this.vector();
    if (by && b.length === 1) by(this.count, out, a, b[0]!);
    else if (turned && a.length === 1) turned(this.count, out, b, a[0]!);
    else loop(this.count, out, this.wide(a), this.wide(b), this.wide(c));
    return out;
  }

  /** A function without a loop of its own. */
  private each(f: Scalar, arity: number, a: Vector, b: Vector, c: Vector, one: boolean): Vector {
    if (one) return this.single(f(a[0]!, b[0]!, c[0]!));
    const out = this.vector(),
      n = this.count,
      x = this.wide(a);
    if (arity === 1) {
      for (let k = 0; k < n; k++) out[k] = f(x[k]!);
      return out;
    }
    const y = this.wide(b),
      z = arity > 2 ? this.wide(c) : y;
    for (let k = 0; k < n; k++) out[k] = f(x[k]!, y[k]!, z[k]!);
    return out;
  }
}
