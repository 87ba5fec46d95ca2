// Loops over the points of a chunk, for what is cheap at a point: the operators of formulas (node-evaluator.ts).

/** The value of a formula at the points of a chunk; one number where it is the same at all of them. */
export type Vector = Float64Array;

export type Loop = (n: number, out: Vector, a: Vector, b: Vector, c: Vector) => void;

/**
 * What is cheap at a point has a loop of its own: a call for each would cost more than it does.  Where a turn of the
 * loop would, too, it takes four points: vectors are longer than they need be.
 */
export const LOOPS: Readonly<Record<string, Loop>> = {
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

export type By = (n: number, out: Vector, a: Vector, by: number) => void;

/** The same with one number for all points on the right. */
export const BY: Readonly<Record<string, By>> = {
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
export const TURNED: Readonly<Record<string, string>> = {
  "+": "+",
  "*": "*",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};
