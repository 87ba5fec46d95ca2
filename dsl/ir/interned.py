"""Classes of which each distinct instance exists once: `Binary("+", a, b) is Binary("+", a, b)`.

So equality is identity: tables go by it, derivatives that share parts are as small in memory as they look, and
what an instance was asked once it may remember.  Instances live as long as the program; fields must not change,
and those that are compared by their contents (texts, numbers, tuples) must have a hash."""

from __future__ import annotations

from typing import Any

INSTANCES: dict[tuple[Any, ...], Any] = {}


class Interned(type):
    """The class of such classes; their fields are given in order, all of them."""

    def __call__(cls, *fields: Any) -> Any:
        key = (cls, *fields)
        found = INSTANCES.get(key)
        if found is None:
            INSTANCES[key] = found = super().__call__(*fields)
        return found
