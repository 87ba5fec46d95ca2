// Whether arguments are what a program was exported for: types, shapes, sizes by their symbols and ranges, and guards, the
// conditions that PyTorch found among sizes.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";
import type { Extent, GraphJson } from "./graph-json.js";
import type { Signature } from "./signature.js";
import { type Expression, expressionOf, namesIn, renamed, solved, valueOf, written } from "./size-expressions.js";
import type { TreeSpec } from "./tree-spec.js";

/** How large a size that is no constant may be. */
export interface SizeRange {
  readonly min: number;
  /** Infinity where there is no limit. */
  readonly max: number;
}

/** A condition among sizes of arguments. */
export interface Guard {
  /** "x.shape[0] >= 4". */
  readonly condition: Expression;
  /** Where its names are: the argument's place, and the axis; null: it is a number itself. */
  readonly places: ReadonlyMap<string, readonly [argument: number, axis: number | null]>;
}

/** The arguments' places by their paths, such as "/x/k" or "/args/0". */
function pathsOf({ args, kwargs, names }: Signature): Map<string, number> {
  const paths = new Map<string, number>();
  let leaf = 0;
  const walk = ({ parts, keys }: TreeSpec, ...given: string[]): void => {
    if (parts) parts.forEach((part, i) => walk(part, ...given.map((path) => `${path}/${keys?.[i] ?? i}`)));
    else {
      for (const path of given) paths.set(path, leaf);
      leaf++;
    }
  };
  args.parts?.forEach((part, i) => {
    const name = names[i] ?? "",
      [, list, place] = /^(.+)_(\d+)$/.exec(name) ?? [];
    // of `*args` PyTorch makes args_0, args_1, ...
    walk(part, `/${name}`, ...(list ? [`/${list}/${place}`] : []));
  });
  kwargs.parts?.forEach((part, i) => {
    const key = kwargs.keys![i]!;
    walk(part, `/${key}`, `/kwargs/${key}`);
  });
  return paths;
}

/** Those of the guards that are about arguments' sizes and whole numbers; of others nothing is asked. */
export function guardsOf(texts: unknown, signature: Signature): Guard[] {
  if (!Array.isArray(texts)) return [];
  const paths = pathsOf(signature),
    called = signature.inputs.flatMap((spec) =>
      spec.kind === "user" || (spec.kind === "value" && spec.given) ? [spec.name] : [],
    );
  return texts.flatMap((text: unknown): Guard[] => {
    const condition = typeof text === "string" ? expressionOf(text) : null;
    if (condition === null) return [];
    const places = new Map<string, readonly [number, number | null]>(),
      names = new Map<string, string>();
    for (const name of namesIn(condition)) {
      const [path, axis] = name.split("."),
        argument = paths.get(path!);
      if (argument === undefined) return [];
      const told = axis === undefined ? called[argument]! : `${called[argument]}.shape[${axis}]`;
      names.set(name, told);
      places.set(told, [argument, axis === undefined ? null : Number(axis)]);
    }
    return [{ condition: renamed(condition, names), places }];
  });
}

/** Throws for arguments, one after the other, for which a guard does not hold. */
export function checkGuards(guards: readonly Guard[], given: readonly unknown[]): void {
  for (const { condition, places } of guards) {
    const sizes = new Map<string, number>();
    for (const [name, [argument, axis]] of places) {
      const value = given[argument],
        size = axis === null ? value : value instanceof Tensor ? value.shape[axis] : undefined;
      if (typeof size === "number") sizes.set(name, size);
    }
    if (sizes.size === places.size && valueOf(condition, sizes) === 0)
      throw new OpError(
        `forward: the program was made for ${written(condition)}, and ${[...sizes].map(([name, size]) => `${name} is ${size}`).join(", ")}`,
      );
  }
}

/** Throws for an input of another type or shape than the program was made for; learns the sizes of symbols. */
export function checkInput(
  name: string,
  value: unknown,
  json: GraphJson,
  sizes: Map<string, number>,
  ranges: ReadonlyMap<string, SizeRange>,
): void {
  const meta = json.tensors.get(name),
    integer = json.integers.get(name);
  if (integer !== undefined) {
    if (!Number.isSafeInteger(value))
      throw new TypeMismatchError(`forward: '${name}' must be a whole number, got ${describe(value)}`);
    checkSize(integer, value as number, sizes, ranges, (problem) => new OpError(`forward: '${name}' ${problem}`));
  }
  if (!meta) return;
  if (!(value instanceof Tensor))
    throw new TypeMismatchError(`forward: '${name}' must be a tensor, got ${describe(value)}`);
  const expected = `[${meta.shape.join(", ")}]`,
    wrong = (problem: string) =>
      new OpError(`forward: '${name}' has the shape [${value.shape.join(", ")}], ${problem}`);
  if (meta.dtype && value.dtype !== meta.dtype)
    throw new TypeMismatchError(`forward: '${name}' must be of ${meta.dtype}, got ${value.dtype}`);
  if (value.ndim !== meta.shape.length) throw wrong(`but the program was made for ${expected}`);
  meta.shape.forEach((extent, i) => {
    const size = value.shape[i]!;
    if (typeof extent === "number") {
      if (size !== extent) throw wrong(`but the program was made for ${expected}: axis ${i} must be ${extent}`);
      return;
    }
    checkSize(extent, size, sizes, ranges, (problem) =>
      wrong(`but the program was made for ${expected}: axis ${i} ${problem}`),
    );
  });
}

/** Throws for a size that its symbol does not have here, or cannot have; learns it otherwise. */
function checkSize(
  extent: Extent,
  size: number,
  sizes: Map<string, number>,
  ranges: ReadonlyMap<string, SizeRange>,
  wrong: (problem: string) => OpError,
): void {
  const expression = typeof extent === "string" ? expressionOf(extent) : null,
    names = expression === null ? [] : [...namesIn(expression)];
  // a name with a hyphen of ONNX is no difference
  if (expression === null || (!(names.length === 1 && names[0] === extent) && !names.every((name) => ranges.has(name))))
    return;
  if (names.every((name) => sizes.has(name))) {
    const expected = valueOf(expression, sizes),
      known = names.map((name) => (name === extent ? "that" : name) + ` is ${sizes.get(name)}`).join(" and ");
    if (size !== expected) throw wrong(`is ${size}, which is ${extent}, and ${known} in an earlier input`);
  } else {
    const found = solved(expression, size, sizes);
    checkRange(size, ranges.get(String(extent)), (limits) => wrong(`is ${size}, but ${extent} ${limits}`));
    if (found) {
      const [name, value] = found;
      if (!Number.isInteger(value)) throw wrong(`is ${size}, which is ${extent} of no whole number ${name}`);
      sizes.set(name, value);
      if (name !== extent)
        checkRange(value, ranges.get(name), (limits) =>
          wrong(`is ${size}, of which ${name} is ${value}, but ${name} ${limits}`),
        );
    }
  }
}

/** Throws for a size out of its range.  PyTorch supposes 2 of a size that is open, and lets it be less. */
function checkRange(size: number, range: SizeRange | undefined, wrong: (limits: string) => OpError): void {
  if (!range) return;
  const least = range.min > 2 ? range.min : 0;
  if (size < least || size > range.max)
    throw wrong(range.max === Infinity ? `is at least ${least}` : `goes from ${least} to ${range.max}`);
}

/** How large an extent is where `sizes` has its symbols, or the extent itself; undefined: that is not said. */
export function sizeOf(extent: Extent, sizes: Readonly<Record<string, number>>): number | undefined {
  if (typeof extent === "number") return extent;
  if (Object.hasOwn(sizes, extent)) return sizes[extent];
  const expression = expressionOf(extent);
  if (expression === null || ![...namesIn(expression)].every((name) => Object.hasOwn(sizes, name))) return undefined;
  return valueOf(expression, new Map(Object.entries(sizes)));
}

/** The names that say how large an extent is. */
export const symbolsOf = (extent: string): string[] => {
  const expression = expressionOf(extent);
  return expression === null ? [extent] : [...namesIn(expression)];
};
