"""The entry tensorloom/core: the names of ops/core.names, and no more of the package.

A bundler leaves out what is not called, but methods on tensors name every op, and a page without a bundler loads all
there is. Here: which ops' names and methods the entry gets; what it takes of the runtime stands in runtime/core.ts."""

from __future__ import annotations

from collections.abc import Mapping, Set

from dsl.opdef import OpDef
from dsl.text.places import OPS

from .aliases import Names, listed

LIST = OPS / "core.names"
Table = dict[str, list[OpDef]]


def chosen(names: Names, by_hand: Mapping[str, Set[str]]) -> tuple[dict[str, Table], dict[str, list[str]], Names]:
    """Of each namespace the names with their ops, the names of those that the runtime makes of ops, and the methods.

    by_hand: the functions of each namespace that runtime/composite/ has.  Raises ValueError for a name that there is
    not."""
    tables: dict[str, Table] = {}
    composite: dict[str, list[str]] = {}
    for space, name in listed(LIST.read_text(encoding="utf-8")):
        table = names.namespaces.get(space, {})
        if name in by_hand.get(space, ()):
            composite.setdefault(space, []).append(name)
        elif name in table:
            tables.setdefault(space, {})[name] = table[name]
        else:
            raise ValueError(
                f"{LIST.name}: torch has no `{space}.{name}`"
                if space != "torch"
                else f"{LIST.name}: torch has no `{name}`"
            )
    ops = {op.name for table in tables.values() for made in table.values() for op in made}
    within = lambda methods: {n: made for n, made in methods.items() if all(op.name in ops for op in made)}
    return tables, composite, Names({}, within(names.methods), within(names.inplace))
