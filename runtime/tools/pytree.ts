// torch.utils._pytree: lists, objects and Maps of anything, as programs that work on whole states take them apart.

import { flatten, type Rebuild } from "../base/pytree.js";
import { callable, listOf } from "../base/argument-kinds.js";
import { titled } from "../base/class-name.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";

/**
 * How leaves stand in a tree, which `tree_flatten` and `tree_structure` answer.
 *
 * @example
 * torch.utils._pytree.tree_structure({ a: 1, b: [2, 3] }).num_leaves  // 3
 */
class TreeSpec {
  readonly num_leaves: number;
  /** @internal */
  declare readonly rebuild: Rebuild;
  constructor(num_leaves: number, rebuild: Rebuild) {
    this.num_leaves = num_leaves;
    Object.defineProperty(this, "rebuild", { value: rebuild });
  }
  unflatten(leaves: Iterable<unknown>): unknown {
    const list = listOf(leaves, "unflatten", "leaves");
    if (list.length !== this.num_leaves)
      throw new OpError(
        `unflatten: expected ${this.num_leaves} leaves, as many as the tree of the spec has, but got ${list.length}`,
      );
    return this.rebuild(list);
  }
}
titled(TreeSpec, "TreeSpec");
export type { TreeSpec };

/**
 * The leaves of a tree, in order, and how they stand in it.
 *
 * @param tree lists, plain objects and Maps within each other; whatever else is in them is a leaf, null, too
 *
 * @example
 * torch.utils._pytree.tree_flatten({ a: 1, b: [2, 3] })[0]  // [1, 2, 3]
 */
export function tree_flatten(tree: unknown): [leaves: unknown[], spec: TreeSpec] {
  const [leaves, rebuild] = flatten(taken("tree_flatten tree{}", arguments)[0]);
  return [leaves, new TreeSpec(leaves.length, rebuild)];
}

/**
 * The tree of these leaves.
 *
 * @param leaves list of as many as there were
 * @param treespec what `tree_flatten` answered beside its leaves
 *
 * @example
 * const [leaves, spec] = torch.utils._pytree.tree_flatten({ a: 1, b: [2, 3] });
 * torch.utils._pytree.tree_unflatten(leaves.map((x) => x * 10), spec)  // { a: 10, b: [20, 30] }
 */
export function tree_unflatten(leaves: Iterable<unknown>, treespec: TreeSpec): unknown {
  [leaves, treespec] = taken("tree_unflatten leaves treespec", arguments);
  if (!(treespec instanceof TreeSpec))
    throw new TypeMismatchError(`tree_unflatten: 'treespec' must be a TreeSpec, got ${describe(treespec)}`);
  return treespec.unflatten(leaves);
}

/**
 * The leaves of a tree, in order.
 *
 * @param tree lists, plain objects and Maps within each other
 *
 * @example
 * torch.utils._pytree.tree_leaves([1, { a: 2 }])  // [1, 2]
 */
export function tree_leaves(tree: unknown): unknown[] {
  return flatten(taken("tree_leaves tree{}", arguments)[0])[0];
}

/**
 * How leaves stand in a tree.
 *
 * @param tree lists, plain objects and Maps within each other
 *
 * @example
 * torch.utils._pytree.tree_structure([1, { a: 2 }]).unflatten([5, 6])  // [5, { a: 6 }]
 */
export function tree_structure(tree: unknown): TreeSpec {
  return tree_flatten(taken("tree_structure tree{}", arguments)[0])[1];
}

/**
 * The same tree with what `func` makes of each leaf.
 *
 * @param func function of a leaf, and of the leaf at its place in each further tree
 * @param tree lists, plain objects and Maps within each other
 * @param rests further trees of the same structure
 *
 * @example
 * torch.utils._pytree.tree_map((x) => x + 1, { a: 1, b: [2, 3] })  // { a: 2, b: [3, 4] }
 * @example
 * torch.utils._pytree.tree_map((x, y) => x + y, [1, 2], [10, 20])  // [11, 22]
 */
export function tree_map<T>(func: (leaf: never, ...others: never[]) => unknown, tree: T, ...rests: unknown[]): T;
export function tree_map(...args: unknown[]): unknown {
  const [func, tree, ...rests] = args;
  return mapped("tree_map", func, tree, rests);
}

/**
 * The same tree with what `func` makes of each leaf of a class; others stay as they are.
 *
 * @param type_or_types_or_pred a class, a list of them, or an arrow function that says of a leaf whether it is meant
 * @param func function of a leaf
 * @param tree lists, plain objects and Maps within each other
 *
 * @example
 * torch.utils._pytree.tree_map_only(torch.Tensor, (x) => x.shape, { a: torch.zeros(2), b: 5 })  // { a: [2], b: 5 }
 */
export function tree_map_only<T>(type_or_types_or_pred: unknown, func: (leaf: never) => unknown, tree: T): T;
export function tree_map_only(...args: unknown[]): unknown {
  const op = "tree_map_only",
    [which, func, tree] = taken(`${op} type_or_types_or_pred func tree{}`, args),
    make = callable(func as (leaf: unknown) => unknown, op, "func");
  const kinds = (Array.isArray(which) ? which : [which]).map((kind) =>
    callable(kind as (leaf: unknown) => unknown, op, "type_or_types_or_pred"),
  );
  // A class has a prototype for what it makes, an arrow function none.
  const meant = (leaf: unknown) => kinds.some((kind) => (kind.prototype ? leaf instanceof kind : kind(leaf) === true));
  return mapped(op, (leaf: unknown) => (meant(leaf) ? make(leaf) : leaf), tree, []);
}

function mapped(op: string, func: unknown, tree: unknown, rests: readonly unknown[]): unknown {
  const make = callable(func as (...leaves: unknown[]) => unknown, op, "func"),
    [leaves, rebuild] = flatten(tree),
    others = rests.map((rest) => flatten(rest)[0]);
  for (const [i, other] of others.entries())
    if (other.length !== leaves.length)
      throw new OpError(`${op}: tree ${i + 1} after the first has ${other.length} leaves, the first ${leaves.length}`);
  return rebuild(leaves.map((leaf, i) => make(leaf, ...others.map((other) => other[i]))));
}
