"""Names in generated TypeScript: what JavaScript reserves, camelCase, no name twice in a function."""

from __future__ import annotations

import re
from collections.abc import Iterable

RESERVED = frozenset(
    """break case catch class const continue debugger default delete do else enum export extends false
finally for function if implements import in instanceof interface let new null package private protected public return
static super switch this throw true try typeof var void while with yield await async arguments eval of undefined NaN
Infinity Math Number args at bool""".split()
)


def camel(name: str) -> str:
    """`running_mean` -> `runningMean`; the `_` that ends generated names goes."""
    return re.sub(r"(?<=[A-Za-z0-9])_+([A-Za-z0-9])", lambda m: m[1].upper(), name).rstrip("_")


def safe(name: str) -> str:
    """A name that a binding may have: a reserved one gets a `_`."""
    return name + "_" if name in RESERVED else name


class Names:
    """The names of one function; `fresh` answers one that is not taken, `stem` the beginning of several."""

    def __init__(self, taken=()):
        self.taken = set(taken)

    def fresh(self, wanted: str) -> str:
        name, n = safe(wanted), 1
        while name in self.taken or name in RESERVED:
            n += 1
            name = f"{wanted}{n}"
        self.taken.add(name)
        return name

    def stem(self, wanted: str, ends: Iterable[str]) -> str:
        name, n = wanted, 1
        while any(name + end in self.taken or name + end in RESERVED for end in ends):
            n += 1
            name = f"{wanted}{n}"
        self.taken |= {name + end for end in ends}
        return name
