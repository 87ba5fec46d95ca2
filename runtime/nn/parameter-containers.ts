// Modules of parameters: in lists, by name.

import { classOf, nameOf } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import { listOf } from "../base/argument-kinds.js";
import { isOptions } from "../base/named-arguments.js";
import { TYPE_NAMES } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { callable } from "../base/callable.js";
import { type Entries, Keyed, Listed, type Members, ends, membersOf, pairs } from "./containers.js";
import { Parameter } from "./parameter.js";
import { indented } from "./shown.js";

const isParameter = (value: unknown): value is Parameter => value instanceof Parameter;
const asParameter = (value: Tensor): Parameter => (value instanceof Parameter ? value : new Parameter(value));
/**
 * A list's or dictionary's parameters as PyTorch prints them: several on lines of their own; `type`: how it calls a
 * type there.
 */
function showParameters(
  name: string,
  parameters: readonly (readonly [string, Parameter])[],
  type: (p: Parameter) => string,
): string {
  const lines = parameters
    .map(([key, p]) => `  (${key}): Parameter containing: [${type(p)} of size ${p.shape.join("x")}]`)
    .join("\n");
  return parameters.length > 1 ? `${name}(${indented(`\n${lines}`)}\n)` : `${name}(${lines})`;
}

class ParameterListClass extends Listed<Parameter> {
  constructor(values?: Iterable<Tensor> | null) {
    super();
    if (values != null) this.extend(values);
  }
  protected override named(): [string, Parameter][] {
    return membersOf(this, isParameter);
  }
  append(value: Tensor): this {
    this.register_parameter(String(this.length), asParameter(value));
    return this;
  }
  extend(values: Iterable<Tensor>): this {
    for (const value of listOf<Tensor>(values, nameOf(this), "parameters", "a list of tensors")) this.append(value);
    return this;
  }
  pop(index?: number): Parameter {
    const all = this.members(),
      [gone] = all.splice(this.place(index ?? -1), 1);
    this.replace(all);
    return gone!;
  }
  /** A list of those from `start` up to `end`. */
  slice(start?: number, end?: number): ParameterList {
    return new (classOf(this) as unknown as typeof ParameterListClass)(
      this.members().slice(...ends("ParameterList", start, end)),
    );
  }
  override toString(): string {
    return showParameters("ParameterList", this.named(), ({ dtype }) => `torch.${dtype}`);
  }
}
/**
 * A list of parameters that belong to the module it is in; other tensors become parameters.
 *
 * @param values list of parameters or tensors that it begins with
 *
 * @example
 * torch.nn.ParameterList([torch.nn.Parameter(torch.ones([2]))]).length  // 1
 */
export const ParameterList = /* @__PURE__ */ callable(
  ParameterListClass,
  "ParameterList",
  "constructor values?, append value, extend values, pop idx?, slice start? end?",
);
export type ParameterList = ParameterListClass;

/** As in PyTorch, those of an object come by their names; a list of pairs, a Map and a ParameterDict keep their order. */
function inOrder<T extends Tensor>(given: Entries<T>, name: string): (readonly [string, T])[] {
  const found = pairs(given, "ParameterDict", name);
  return isOptions(given) ? [...found].sort(([a], [b]) => (a < b ? -1 : 1)) : found;
}

class ParameterDictClass extends Keyed<Parameter> {
  /** Parameters by name; other tensors become parameters. */
  constructor(parameters?: Entries<Tensor> | null) {
    super();
    for (const [name, value] of inOrder(parameters ?? {}, "parameters")) this.put(name, value);
  }
  override update(given: Entries<Parameter>): this {
    return super.update(inOrder(given, "update"));
  }
  protected override members(): [string, Parameter][] {
    return membersOf(this, isParameter);
  }
  protected override put(name: string, value: Tensor): void {
    this.register_parameter(name, asParameter(value));
  }
  /** The parameter of this name, which the default becomes where there is none. */
  setdefault(key: string, value?: Tensor | null): Parameter | null {
    if (!this.has(key)) this.register_parameter(key, value == null ? null : asParameter(value));
    return this.get(key);
  }
  /** Takes out the last one, and answers its name and itself. */
  popitem(): [string, Parameter] {
    const last = this.keys().pop();
    if (last === undefined) throw new OpError("popitem: the ParameterDict is empty");
    return [last, this.pop(last)];
  }
  copy(): ParameterDictClass {
    return new ParameterDict(this.items());
  }
  /** One where all these names have one parameter. */
  fromkeys(keys: Iterable<string>, value: Tensor): ParameterDictClass {
    return new ParameterDict([...keys].map((key) => [key, value] as const));
  }
  override toString(): string {
    return showParameters("ParameterDict", this.members(), ({ dtype }) => `torch.${TYPE_NAMES[dtype]}Tensor`);
  }
}
type Parameters<R> = Members<R, Tensor> extends R ? { [K in keyof R]: Parameter } : unknown;
interface ParameterDictMaker {
  /** @param parameters an object, a Map, or a list of pairs of names and tensors */
  new <R = unknown>(
    parameters?: (R & Readonly<Record<string, Tensor>>) | Entries<Tensor> | null,
  ): ParameterDictClass & Parameters<R>;
  <R = unknown>(
    parameters?: (R & Readonly<Record<string, Tensor>>) | Entries<Tensor> | null,
  ): ParameterDictClass & Parameters<R>;
}
/**
 * Parameters by name.
 *
 * @example
 * [...torch.nn.ParameterDict({ scale: torch.nn.Parameter(torch.ones([2])) }).keys()]  // ["scale"]
 */
export const ParameterDict = /* @__PURE__ */ callable(
  ParameterDictClass,
  "ParameterDict",
  "constructor parameters{}?, put !, update parameters{}, setdefault key default?, fromkeys keys default",
) as unknown as ParameterDictMaker;
export type ParameterDict = ParameterDictClass;
