// Quantities of a kernel: a number, a function of the numbers by name, or arithmetic as text ("ceil(size / 64)"), which
// is parsed here because nothing may be evaluated as code.  A quantity is rounded up to a whole number.

import { OpError, describe } from "../../base/errors.js";

export type Numbers = Readonly<Record<string, number | string>>;
export type Quantity = number | string | ((numbers: Numbers) => number);

const FUNCTIONS: Readonly<Record<string, (...values: number[]) => number>> = {
  ceil: Math.ceil,
  floor: Math.floor,
  min: Math.min,
  max: Math.max,
};
const TOKEN = /\s*(?:(\d+(?:\.\d*)?)|([A-Za-z_]\w*)|(\S))/y;

/** The whole number that a quantity stands for.  Throws for anything that is none, or negative; `what` names it. */
export function quantity(given: Quantity, numbers: Numbers, what: string): number {
  const value =
    typeof given === "function"
      ? given(numbers)
      : typeof given === "string"
        ? new Arithmetic(given, numbers, what).value()
        : given;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
    throw new OpError(`${what}: ${describe(given)} is ${describe(value)}, and must be a number that is not negative`);
  return Math.ceil(value);
}

class Arithmetic {
  private readonly text: string;
  private readonly numbers: Numbers;
  private readonly what: string;
  private readonly tokens: string[] = [];
  private at = 0;

  constructor(text: string, numbers: Numbers, what: string) {
    this.text = text;
    this.numbers = numbers;
    this.what = what;
    // The last search finds nothing, so that the next text is read from its start again.
    for (let found = TOKEN.exec(text.trimEnd()); found; found = TOKEN.exec(text.trimEnd()))
      this.tokens.push(found[1] ?? found[2] ?? found[3]!);
  }

  value(): number {
    const value = this.sum();
    if (this.at < this.tokens.length) this.fail();
    return value;
  }

  private sum(): number {
    let value = this.product();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-"))
      value = sign === "+" ? value + this.product() : value - this.product();
    return value;
  }
  private product(): number {
    let value = this.factor();
    for (let sign = this.take("*", "/", "%"); sign; sign = this.take("*", "/", "%")) {
      const other = this.factor();
      value = sign === "*" ? value * other : sign === "/" ? value / other : value % other;
    }
    return value;
  }
  private factor(): number {
    const token = this.tokens[this.at++];
    if (token === undefined) this.fail();
    if (token === "-") return -this.factor();
    if (token === "(") return this.closed();
    if (/^\d/.test(token)) return Number(token);
    if (token in FUNCTIONS && this.take("(")) {
      const values = [this.sum()];
      while (this.take(",")) values.push(this.sum());
      if (!this.take(")")) this.fail();
      return FUNCTIONS[token]!(...values);
    }
    if (!/^[A-Za-z_]/.test(token)) this.fail();
    const value = Object.hasOwn(this.numbers, token) ? Number(this.numbers[token]) : NaN;
    if (Number.isNaN(value))
      throw new OpError(`${this.what}: "${this.text}" names ${token}, of which there is no number`);
    return value;
  }
  private closed(): number {
    const value = this.sum();
    if (!this.take(")")) this.fail();
    return value;
  }
  private take(...tokens: string[]): string | null {
    const token = this.tokens[this.at];
    if (token === undefined || !tokens.includes(token)) return null;
    this.at++;
    return token;
  }
  private fail(): never {
    throw new OpError(
      `${this.what}: "${this.text}" is no arithmetic of numbers, names, + - * / % and ceil floor min max`,
    );
  }
}
