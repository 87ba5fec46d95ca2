"""Definitions of another project: what its package is called, and what that changes in the trees of its definitions.

An op is found under its own name, or under the names that `as` gives it, in the project's package and nowhere else;
`NAME.op` is what messages and the runtime call it, so that it is no other package's.  Functions with steps go into
kernels by their names, beside those of other packages, and get the project's in front."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from .syntax import Def, Op, X

Tree = TypeVar("Tree")


def home_of(package: str) -> str:
    """The name of a project in messages and kernels: of `@me/gated-units` gated_units."""
    name = re.sub(r"\W+", "_", package.rpartition("/")[2]).strip("_")
    return name if name[:1].isalpha() else f"ops_{name}".rstrip("_")


def at_home(items: list, home: str) -> list:
    """The items of a file of a project."""
    return [named(i, home) if isinstance(i, Op) and not i.question else i for i in items]


def named(op: Op, home: str) -> Op:
    if op.within:
        return op  # a step of another one, which nobody calls by itself
    return replace(op, aliases=tuple(f"{home}.{name}" for name in op.aliases or (op.name,)))


def routines_of(files: list[list], home: str) -> dict[str, str]:
    """The names that the functions with steps of a project's files get."""
    return {i.name: f"{home}_{i.name}" for items in files for i in items if isinstance(i, Def) and i.steps}


def with_routines(tree: Tree, names: dict[str, str]) -> Tree:
    """A definition, or a part of one, in which functions have these names."""
    if isinstance(tree, tuple):
        return tuple(with_routines(part, names) for part in tree)  # type: ignore[return-value]
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    found = {f.name: getattr(tree, f.name) for f in fields(tree)}
    made = {name: new for name, old in found.items() if (new := with_routines(old, names)) is not old and new != old}
    if isinstance(tree, X) and tree.kind == "call" and tree.val in names:
        made["val"] = names[tree.val]
    if isinstance(tree, Def) and tree.steps:
        made["name"] = names.get(tree.name, tree.name)
    return replace(tree, **made) if made else tree  # type: ignore[return-value]
