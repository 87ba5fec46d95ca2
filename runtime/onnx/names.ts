// Under which names a module has the tensors of a file, where they may be called anything.

import { Module } from "../nn/module.js";

/**
 * A path for each name, no two the same: the name itself where a module can have that, as PyTorch's names are; otherwise
 * one in which what cannot stand in it is `_`.
 */
export function pathsOf(names: Iterable<string>): Map<string, string> {
  const probe = new Module(),
    tensors = new Set<string>(),
    modules = new Set<string>(),
    out = new Map<string, string>();
  const above = (path: string): string[] => {
      const parts = path.split(".");
      return parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1).join("."));
    },
    free = (path: string): boolean =>
      !tensors.has(path) && !modules.has(path) && !above(path).some((module) => tensors.has(module)),
    possible = (path: string): boolean => path.split(".").every((part) => part !== "" && !(part in probe));
  for (const name of names) {
    let path = name;
    if (!possible(path) || !free(path)) {
      const plain = name.replaceAll(".", "_"),
        base = possible(plain) ? plain : `_${plain}`;
      path = base;
      for (let n = 2; !possible(path) || !free(path); n++) path = `${base}_${n}`;
    }
    tensors.add(path);
    for (const module of above(path)) modules.add(module);
    out.set(name, path);
  }
  return out;
}
