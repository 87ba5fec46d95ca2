// Values within values: lists, plain objects and Maps of anything, as torch.func takes and answers them.

import { isOptions } from "./named-arguments.js";

export type Rebuild = (leaves: readonly unknown[]) => unknown;

/** What is in a value that is no list, object or Map itself, in order, and how the value is made anew of others. */
export function flatten(tree: unknown): [leaves: unknown[], rebuild: Rebuild] {
  if (tree instanceof Map) {
    const keys = [...tree.keys()],
      [leaves, rebuild] = flatten([...tree.values()]);
    return [leaves, (others) => new Map((rebuild(others) as unknown[]).map((value, i) => [keys[i], value]))];
  }
  if (!Array.isArray(tree)) {
    if (!isOptions(tree)) return [[tree], ([leaf]) => leaf];
    const names = Object.keys(tree),
      [leaves, rebuild] = flatten(Object.values(tree));
    return [
      leaves,
      (others) => Object.fromEntries((rebuild(others) as unknown[]).map((value, i) => [names[i], value])),
    ];
  }
  const parts = tree.map(flatten);
  return [
    parts.flatMap(([leaves]) => leaves),
    (others) => {
      let at = 0;
      return parts.map(([leaves, rebuild]) => rebuild(others.slice(at, (at += leaves.length))));
    },
  ];
}

/** The same value with `f` of each leaf. */
export function mapTree(tree: unknown, f: (leaf: unknown) => unknown): unknown {
  const [leaves, rebuild] = flatten(tree);
  return rebuild(leaves.map(f));
}
