"""Host formulas from expressions and back; runtime/program/computed.ts is the same in the package."""

from __future__ import annotations

from dsl.ir.expression import E

from ..data.model import Fn
from .host_formula import Formula, formula


def computed(e: E | None) -> Fn | None:
    """The value of an expression over sizes and options, which an environment says."""
    return formula(e)


def expression_of(f: Fn | None) -> E | None:
    """The expression of which a host formula was made."""
    return f.e if isinstance(f, Formula) else None
