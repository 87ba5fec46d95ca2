// Sizes and conditions as PyTorch writes them: "Add(Symbol('s40', integer=True), Integer(1))" in a graph, "s40 + 1" beside
// a range, "L['x'].size()[0] // 2 <= 7" as a guard.  What is no such text is null, and nobody asks for it.

/** A number, the name of a size, or an operation. */
export type Expression = number | string | { readonly op: string; readonly args: readonly Expression[] };

/** Coefficients of names, and what is added. */
interface Linear {
  readonly terms: ReadonlyMap<string, number>;
  readonly constant: number;
}

const truth = (value: boolean): number => (value ? 1 : 0);
/** What operations give; conditions are 1 and 0. */
const OPERATIONS: Readonly<Record<string, (...numbers: number[]) => number>> = {
  "+": (...all) => all.reduce((a, b) => a + b, 0),
  "*": (...all) => all.reduce((a, b) => a * b, 1),
  "//": (a, b) => Math.floor(a! / b!),
  "/": (a, b) => a! / b!,
  "%": (a, b) => a! - Math.floor(a! / b!) * b!,
  "**": (a, b) => a! ** b!,
  "==": (a, b) => truth(a === b),
  "!=": (a, b) => truth(a !== b),
  "<": (a, b) => truth(a! < b!),
  "<=": (a, b) => truth(a! <= b!),
  ">": (a, b) => truth(a! > b!),
  ">=": (a, b) => truth(a! >= b!),
  and: (...all) => truth(all.every((x) => x !== 0)),
  or: (...all) => truth(all.some((x) => x !== 0)),
  not: (a) => truth(a === 0),
  max: Math.max,
  min: Math.min,
};
/** Operations by the names that SymPy and PyTorch have for them. */
const CALLED: Readonly<Record<string, string>> = {
  Add: "+",
  Mul: "*",
  FloorDiv: "//",
  CleanDiv: "//",
  IntTrueDiv: "/",
  Rational: "/",
  Mod: "%",
  PythonMod: "%",
  Pow: "**",
  PowByNatural: "**",
  Max: "max",
  Min: "min",
  Eq: "==",
  Equality: "==",
  Ne: "!=",
  Unequality: "!=",
  Lt: "<",
  StrictLessThan: "<",
  Le: "<=",
  LessThan: "<=",
  Gt: ">",
  StrictGreaterThan: ">",
  Ge: ">=",
  GreaterThan: ">=",
  And: "and",
  Or: "or",
  Not: "not",
  max: "max",
  min: "min",
};
/** From the loosest to the tightest; `not` stands between the second and the third, a sign before the last. */
const BINARY = [["or"], ["and"], ["==", "!=", "<", "<=", ">", ">="], ["+", "-"], ["*", "//", "/", "%"]] as const;
const COMPARISONS = 2;
const TOKEN = /\s*(\d+|\w+|'[^']*'|"[^"]*"|\*\*|\/\/|[<>=!]=|[-+*/%()[\].,<>=])/y;
/** No size is nested deeper; a file of brackets alone shall not exhaust the stack. */
const DEEPEST = 64;

const isNamed = (name: string): boolean => Object.hasOwn(CALLED, name);

/** Reads one text; throws what nobody sees where it is none. */
class Reader {
  readonly #tokens: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    let end = 0;
    for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text)) {
      this.#tokens.push(found[1]!);
      end = TOKEN.lastIndex;
    }
    if (text.slice(end).trim() !== "") throw new SyntaxError(text);
  }

  whole(): Expression {
    const value = this.binary(0);
    if (this.#at < this.#tokens.length) throw new SyntaxError("more follows");
    return value;
  }

  private eaten(token: string): boolean {
    const is = this.#tokens[this.#at] === token;
    if (is) this.#at++;
    return is;
  }

  private expect(token: string): void {
    if (!this.eaten(token)) throw new SyntaxError(`no ${token}`);
  }

  private binary(level: number): Expression {
    if (level === COMPARISONS && this.eaten("not")) return { op: "not", args: [this.binary(level)] };
    const operators: readonly string[] | undefined = BINARY[level];
    if (!operators) return this.signed();
    const first = this.binary(level + 1),
      compared: Expression[] = [];
    let value = first,
      left = first;
    while (operators.includes(this.#tokens[this.#at]!)) {
      const op = this.#tokens[this.#at++]!,
        right = this.binary(level + 1);
      // "2 <= s < 9" is two conditions
      if (level === COMPARISONS) compared.push({ op, args: [left, right] });
      else if (op === "-") value = { op: "+", args: [value, { op: "*", args: [-1, right] }] };
      else value = { op, args: [value, right] };
      left = right;
    }
    if (compared.length === 0) return value;
    return compared.length === 1 ? compared[0]! : { op: "and", args: compared };
  }

  private signed(): Expression {
    if (this.eaten("-")) {
      const value = this.signed();
      return typeof value === "number" ? -value : { op: "*", args: [-1, value] };
    }
    const value = this.atom();
    return this.eaten("**") ? { op: "**", args: [value, this.signed()] } : value;
  }

  private atom(): Expression {
    if (++this.#depth > DEEPEST) throw new SyntaxError("nested too deeply");
    try {
      const token = this.#tokens[this.#at++] ?? "";
      if (/^\d+$/.test(token)) return Number(token);
      if (token === "(") {
        const inner = this.binary(0);
        this.expect(")");
        return inner;
      }
      if (!/^\w+$/.test(token)) throw new SyntaxError(token);
      if (token === "L") return this.argument();
      return this.eaten("(") ? this.call(token) : token;
    } finally {
      this.#depth--;
    }
  }

  private call(name: string): Expression {
    const args: Expression[] = [];
    let quoted: string | null = null;
    while (!this.eaten(")")) {
      const token = this.#tokens[this.#at] ?? "";
      if (/^['"]/.test(token)) {
        quoted = token.slice(1, -1);
        this.#at++;
      } else if (this.#tokens[this.#at + 1] === "=")
        this.#at += 3; // what is supposed of a symbol
      else args.push(this.binary(0));
      if (!this.eaten(",") && this.#tokens[this.#at] !== ")") throw new SyntaxError("no end of a call");
    }
    if (name === "Symbol" && quoted !== null) return quoted;
    if (name === "Integer" && args.length === 1) return args[0]!;
    if (!isNamed(name)) throw new SyntaxError(name);
    return { op: CALLED[name]!, args };
  }

  /** "L['x']['k'].size()[0]", an argument's size: as "/x/k.0"; a number that is one: "/x". */
  private argument(): string {
    let path = "";
    for (;;) {
      if (this.eaten("[")) {
        path += `/${(this.#tokens[this.#at++] ?? "").replace(/^['"]|['"]$/g, "")}`;
        this.expect("]");
      } else if (this.eaten(".")) {
        const name = this.#tokens[this.#at++]!;
        if (!this.eaten("(")) path += `/${name}`;
        else {
          for (const token of [")", "["]) this.expect(token);
          const axis = this.#tokens[this.#at++]!;
          this.expect("]");
          if (name !== "size") throw new SyntaxError(name);
          return `${path}.${axis}`;
        }
      } else return path;
    }
  }
}

/** What a text says; null: it is none that is understood. */
export function expressionOf(text: string): Expression | null {
  try {
    return new Reader(text).whole();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The names in it. */
export function namesIn(expression: Expression, into = new Set<string>()): Set<string> {
  if (typeof expression === "string") into.add(expression);
  else if (typeof expression !== "number") for (const arg of expression.args) namesIn(arg, into);
  return into;
}

/** With other names. */
export const renamed = (expression: Expression, names: ReadonlyMap<string, string>): Expression =>
  typeof expression === "number"
    ? expression
    : typeof expression === "string"
      ? names.get(expression)!
      : { op: expression.op, args: expression.args.map((arg) => renamed(arg, names)) };

/** Its value, conditions as 1 and 0, where `sizes` has every name. */
export function valueOf(expression: Expression, sizes: ReadonlyMap<string, number>): number {
  if (typeof expression === "number") return expression;
  if (typeof expression === "string") return sizes.get(expression)!;
  return OPERATIONS[expression.op]!(...expression.args.map((arg) => valueOf(arg, sizes)));
}

function linear(expression: Expression): Linear | null {
  if (typeof expression === "number") return { terms: new Map(), constant: expression };
  if (typeof expression === "string") return { terms: new Map([[expression, 1]]), constant: 0 };
  const parts = expression.args.map(linear);
  if (!parts.every((part) => part !== null)) return null;
  const times = ({ terms, constant }: Linear, by: number): Linear => ({
    terms: new Map([...terms].map(([name, k]) => [name, k * by])),
    constant: constant * by,
  });
  if (expression.op === "*") {
    const open = parts.filter(({ terms }) => terms.size > 0);
    if (open.length > 1) return null;
    const by = parts.reduce((k, part) => (part === open[0] ? k : k * part.constant), 1);
    return open[0] ? times(open[0], by) : { terms: new Map(), constant: by };
  }
  if (expression.op !== "+") return null;
  const terms = new Map<string, number>();
  for (const part of parts) for (const [name, k] of part.terms) terms.set(name, (terms.get(name) ?? 0) + k);
  return { terms, constant: parts.reduce((sum, part) => sum + part.constant, 0) };
}

/** What the only name that `sizes` lacks must be for this value; null: that is not known. */
export function solved(
  expression: Expression,
  value: number,
  sizes: ReadonlyMap<string, number>,
): readonly [name: string, size: number] | null {
  const form = linear(expression),
    open = [...(form?.terms ?? [])].filter(([name]) => !sizes.has(name));
  if (!form || open.length !== 1) return null;
  const [name, k] = open[0]!,
    rest = [...form.terms].reduce((sum, [other, by]) => (other === name ? sum : sum + by * sizes.get(other)!), 0);
  return [name, (value - form.constant - rest) / k];
}

/** As one writes it, with sums in one order: "2*s40 + 1".  A text that is not understood stays as it is. */
export function readable(text: string): string {
  const expression = expressionOf(text);
  return expression === null ? text.replace(/Symbol\('(\w+)'[^)]*\)/g, "$1") : written(expression);
}

/** As `readable`. */
export function written(expression: Expression): string {
  const form = linear(expression);
  if (form) {
    const terms = [...form.terms]
        .filter(([, k]) => k !== 0)
        // what is added stands before what is taken away
        .sort(([a, k], [b, l]) => Number(k < 0) - Number(l < 0) || (a < b ? -1 : 1))
        .map(([name, k]) => (k === 1 ? name : k === -1 ? `-${name}` : `${k}*${name}`)),
      all = form.constant !== 0 || terms.length === 0 ? [...terms, String(form.constant)] : terms;
    return all.join(" + ").replaceAll("+ -", "- ");
  }
  const { op, args } = expression as Exclude<Expression, number | string>,
    texts = args.map(written);
  if (op === "max" || op === "min") return `${op}(${texts.join(", ")})`;
  if (/[<>=]/.test(op)) return texts.join(` ${op} `);
  const parts = texts.map((text) => (text.includes(" ") ? `(${text})` : text));
  return op === "not" ? `not ${parts[0]}` : parts.join(/[a-z+]/.test(op) ? ` ${op} ` : op);
}
