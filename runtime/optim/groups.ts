// Groups of parameters: what a constructor and add_param_group accept, and what they refuse.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { listOf } from "../base/argument-kinds.js";
import { Tensor } from "../tensor/tensor.js";

export type Options = Record<string, unknown>;
/** A group of an optimizer: its parameters and its options. */
export type Group<O> = O & { params: Tensor[]; param_names?: string[] } & { [option: string]: unknown };
/** A tensor, or its name and itself, as `module.named_parameters()` gives them. */
export type Named = Tensor | readonly [string, Tensor];
export type GroupOptions<O> = Partial<O> & { params: Tensor | Iterable<Named> };
/** Tensors, or groups of them: `{params, ...options}`. */
export type Params<O> = Iterable<Named> | Iterable<GroupOptions<O>>;

/** The groups that a constructor's first argument stands for. */
export function groupsOf<O>(params: Params<O>): GroupOptions<O>[] {
  if (params instanceof Tensor || typeof params === "string" || !(Symbol.iterator in Object(params))) {
    throw new TypeMismatchError(
      `params argument given to the optimizer should be an iterable of Tensors or dicts, but got ${describe(params)}`,
    );
  }
  const given = Array.from<Named | GroupOptions<O>>(params);
  if (!given.length) throw new OpError("optimizer got an empty parameter list");
  return isGroup(given[0])
    ? (given as GroupOptions<O>[])
    : [{ params: given as Named[] } as unknown as GroupOptions<O>];
}

const isGroup = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !(value instanceof Tensor) && !Array.isArray(value);

/**
 * A group as it is kept: its parameters checked, what is not given from `defaults`.  `others`: the groups there are.
 */
export function checkedGroup<O>(group: GroupOptions<O>, defaults: O, others: readonly Group<O>[]): Group<O> {
  if (!isGroup(group)) throw new TypeMismatchError(`param_group must be a dict, but got ${describe(group)}`);
  if (!("params" in group)) throw new TypeMismatchError("param_group must have the key 'params'");
  if (group.params instanceof Set) {
    throw new TypeMismatchError(
      "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets " +
        "will change between runs. Please use a list instead.",
    );
  }
  const given: readonly Named[] =
    group.params instanceof Tensor
      ? [group.params]
      : listOf<Named>(group.params, "param_group", "params", "an iterable of tensors");
  const names = given.flatMap((x) => (Array.isArray(x) ? [(x as [string, Tensor])[0]] : []));
  const params = given.map((x) => (Array.isArray(x) ? (x as [string, Tensor])[1] : x) as Tensor);
  if (names.length !== 0 && names.length !== params.length) {
    throw new OpError("all optimizer params should be with/without names. Some param names are missing");
  }
  for (const p of params) {
    if (!(p instanceof Tensor))
      throw new TypeMismatchError(`optimizer can only optimize Tensors, but one of the params is ${describe(p)}`);
    if (!p.is_leaf) throw new OpError("can't optimize a non-leaf Tensor");
  }
  if (new Set(params).size !== params.length) {
    console.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error");
  }
  const named = names.length !== 0;
  if (others.some((other) => "param_names" in other !== named)) {
    throw new OpError(
      "all optimizer param groups should be with/without names. cannot add param group " +
        `${named ? "with" : "without"} names to the optimizer`,
    );
  }
  const known = new Set(others.flatMap((other) => other.params));
  if (params.some((p) => known.has(p))) throw new OpError("some parameters appear in more than one parameter group");
  return { ...defaults, ...group, params, ...(named ? { param_names: names } : {}) } as unknown as Group<O>;
}
