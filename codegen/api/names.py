"""Names in generated TypeScript: what JavaScript reserves, camelCase."""

from __future__ import annotations

import re

RESERVED = frozenset(
    """break case catch class const continue debugger default delete do else enum export extends false
finally for function if implements import in instanceof interface let new null package private protected public return
static super switch this throw true try typeof var void while with yield await async arguments eval of undefined NaN
Infinity Math Number""".split()
)


def camel(name: str) -> str:
    """`running_mean` -> `runningMean`; the `_` that ends generated names goes."""
    return re.sub(r"(?<=[A-Za-z0-9])_+([A-Za-z0-9])", lambda m: m[1].upper(), name).rstrip("_")
