// The formulas of kernels, evaluated: computes the nodes that WGSL is printed from for many points at once, in doubles.
// Equal parts of a kernel's formulas are one and are computed once.  Loops and tensors are the interpreter's
// (interpreter.ts); nothing here knows of them.

import {
  Apply,
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
import { CHECKED } from "../../../host/functions.js";
import { FUNCTIONS, type Scalar } from "./functions.js";
import { type Vector, type Loop, LOOPS, type By, BY, TURNED } from "./point-loops.js";

/** A number, an operator or function of others, or a leaf: what the interpreter knows the value of. */
export interface Formula {
  readonly op: string;
  readonly args: readonly Formula[];
  /** The node of a leaf; of a random draw it stands for the place of the point. */
  readonly leaf: Node | null;
  /** What it was made of, if that is one node. */
  node: Node | null;
  /** Whether it needs no element: loops and the call's numbers decide it. */
  readonly pure: boolean;
  /** Whether computing it may tell that a whole number does not fit. */
  readonly mayFault: boolean;
  /** A number's value. */
  readonly constant: Vector | null;
  /** What computes it at one point; at all, and with one number on the right, or the left. */
  readonly scalar: Scalar;
  readonly loop: Loop | undefined;
  readonly by: By | undefined;
  readonly turned: By | undefined;
  /** The value in the evaluation `stamp`. */
  value: Vector;
  stamp: number;
}

const NONE: Vector = new Float64Array(1);

/** An operation of formulas.  `scalar`: what it does at a point, where it is none of FUNCTIONS. */
export function formula(op: string, args: readonly Formula[], scalar = FUNCTIONS[op]!): Formula {
  return made(
    op,
    args,
    null,
    null,
    args.every((a) => a.pure),
    scalar,
  );
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
  scalar: Scalar = Number,
): Formula {
  return {
    op,
    args,
    constant,
    leaf,
    node: leaf,
    pure,
    mayFault: op === "settled" || CHECKED.includes(op) || args.some((a) => a.mayFault),
    scalar,
    loop: LOOPS[op],
    by: BY[op],
    turned: BY[TURNED[op]!],
    value: constant ?? NONE,
    stamp: -1,
  };
}

/**
 * Whole numbers of 64 bits are kept as a double, which may have lost the last of many digits, and their lowest 32 bits:
 * what stands for the functions of such numbers.
 */
const DOUBLE: Readonly<Record<string, string>> = {
    wide_product: "*",
    wide_times: "*",
    wide_sum: "+",
    wide_difference: "-",
  },
  LOW: Readonly<Record<string, string>> = { "*": "multiply_low", "+": "add_low", "-": "subtract_low" };

/** The formulas of one kernel, from nodes; equal ones are one. */
export class Formulas {
  private readonly known = new Map<string, Formula>();
  private readonly numbers = new Map<Formula, number>();

  /**
   * @param results what stands for a step's value, where that is a formula of its own
   * @param functions what formulas use beside FUNCTIONS
   */
  constructor(
    private readonly results: ReadonlyMap<number, Formula>,
    private readonly functions: Readonly<Record<string, Scalar>>,
  ) {}

  of(e: Node): Formula {
    const made = this.made(e);
    if (made.op !== "end_of") made.node ??= e; // which says 32 bits, of a number that has 64 among others
    return made;
  }

  private made(e: Node): Formula {
    const value = e instanceof Result && this.results.get(e.step);
    if (value) return value;
    if (e instanceof BoundsCheck) return this.of(e.operand);
    if (e instanceof Random)
      return this.operation("uniform_random", [this.of(new Constant("i", e.draw)), this.one("", () => leaf(e))]);
    if (e instanceof Apply && e.name === "narrow_checked") {
      const [wide] = e.operands as [Node];
      return this.operation("settled", [this.wide(wide, false), this.wide(wide, true)]);
    }
    const args = children(e).map((part) => this.of(part));
    if (e instanceof Cast && e.kind === "f") {
      // Among whole numbers there is no -0.
      return args[0]!.args.length ? this.operation("+", [args[0]!, this.of(new Constant("i", 0))]) : args[0]!;
    }
    const said = label(e);
    if (e instanceof Constant && e.kind === "i" && (e.value === 2 ** 31 - 1 || e.value === -(2 ** 31)))
      return this.operation("end_of", [this.one(said, () => constant(e.value))]);
    return args.length
      ? this.operation(said, args)
      : this.one(said, () => (e instanceof Constant ? constant(e.value) : leaf(e)));
  }

  /** A whole number of 64 bits as a double, or its lowest 32 bits. */
  wide(e: Node, low: boolean): Formula {
    const { name, operands } = e as Apply;
    if (name === "widened") return this.of(operands[0]!);
    const op = DOUBLE[name]!;
    return this.operation(
      low ? LOW[op]! : op,
      operands.map((x) => (name === "wide_product" ? this.of(x) : this.wide(x, low))),
    );
  }

  private operation(op: string, args: readonly Formula[]): Formula {
    const scalar = FUNCTIONS[op] ?? this.functions[op];
    return this.one(op + args.map((a) => ` ${this.numbers.get(a)}`).join(""), () => formula(op, args, scalar));
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

/** Whether a formula is a whole number of 64 bits. */
export function isWide(e: Node): boolean {
  return e instanceof Apply && (e.name === "widened" || e.name in DOUBLE);
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
  /** Where values matter; null: at all points. */
  private mask: Vector | null = null;
  /** How many points there are. */
  count = 0;

  /**
   * @param named the value of a leaf at the points
   * @param line the value of a pure formula, if that is known; null: it has to be computed
   */
  constructor(
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
      f.stamp = this.mask && f.mayFault ? -1 : stamp;
    }
    return f.value;
  }

  private apply(f: Formula): Vector {
    const { op, args, loop, by, turned } = f;
    if (op === "select") {
      const condition = this.value(args[2]!);
      // What one number decides for all points.
      if (condition.length === 1) return this.value(args[condition[0] !== 0 ? 1 : 0]!);
      if (f.mayFault) {
        const { mask } = this;
        this.mask = this.part(condition, 1, mask);
        const yes = this.value(args[1]!);
        this.mask = this.part(condition, 0, mask);
        const no = this.value(args[0]!),
          out = this.vector();
        this.mask = mask;
        loop!(this.count, out, this.wide(no), this.wide(yes), condition);
        return out;
      }
    }
    if (args.length > 3) return this.many(f);
    const a = this.value(args[0]!),
      b = args.length > 1 ? this.value(args[1]!) : a,
      c = args.length > 2 ? this.value(args[2]!) : b;
    if (op === "&&" || op === "||") {
      const [sure, other] = a.length === 1 ? [a, b] : [b, a];
      if (sure.length === 1) return (sure[0] !== 0) === (op === "&&") ? other : sure;
    }
    const one = a.length === 1 && b.length === 1 && c.length === 1;
    if (one || !loop) return this.each(f, a, b, c, one);
    const out = this.vector();
    if (by && b.length === 1) by(this.count, out, a, b[0]!);
    else if (turned && a.length === 1) turned(this.count, out, b, a[0]!);
    else loop(this.count, out, this.wide(a), this.wide(b), this.wide(c));
    return out;
  }

  /** Where a condition is 1, or 0, among the points of a mask. */
  private part(condition: Vector, where: number, mask: Vector | null): Vector {
    const out = this.vector();
    for (let k = 0; k < this.count; k++) out[k] = +(condition[k] === where && (!mask || mask[k] !== 0));
    return out;
  }

  /** A routine of more than three numbers. */
  private many({ scalar: f, args, mayFault }: Formula): Vector {
    const values = args.map((x) => this.value(x)),
      one = values.every((x) => x.length === 1),
      count = one ? 1 : this.count,
      mask = mayFault && !one ? this.mask : null,
      out = one ? this.single(0) : this.vector(),
      numbers = new Array<number>(values.length);
    for (let k = 0; k < count; k++) {
      for (let i = 0; i < values.length; i++) numbers[i] = values[i]![values[i]!.length === 1 ? 0 : k]!;
      out[k] = mask && mask[k] === 0 ? 0 : f(...numbers);
    }
    return out;
  }

  /** A function without a loop of its own. */
  private each({ scalar: f, args, mayFault }: Formula, a: Vector, b: Vector, c: Vector, one: boolean): Vector {
    const { mask, count: n } = this,
      arity = args.length;
    if (mayFault && mask) {
      const out = this.vector(),
        x = this.wide(a),
        y = this.wide(b);
      for (let k = 0; k < n; k++) out[k] = mask[k] !== 0 ? f(x[k]!, y[k]!) : 0;
      return out;
    }
    if (one) return this.single(f(a[0]!, b[0]!, c[0]!));
    const out = this.vector(),
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
