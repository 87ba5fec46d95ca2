"""How strongly JavaScript's operators bind, and which names it keeps for itself."""

from __future__ import annotations

from .python import HELPERS
from .subset import Type

EMPTY = "Object.create(null)"  # a dict by texts: none of them is known beforehand, `constructor` neither


# How tightly JavaScript's operators bind.
LOOSE, TERNARY, OR, AND, BITOR, BITXOR, BITAND, EQUAL, LESS, SHIFT, PLUS, TIMES, UNARY, POWER, CALL = range(15)


RESERVED = set(
    """arguments await case catch const debugger default delete do enum eval export extends function
    implements interface let new null package private protected public static super switch this throw true false typeof
    undefined var void yield Array Map Math Number Object Set String""".split()
)


Text = tuple[str, Type | None, int]


def safe(name: str) -> str:
    return name + "_" if name in RESERVED or name in HELPERS else name
