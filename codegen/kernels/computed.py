"""Host formulas from expressions; runtime/program/computed.ts is the same in the package."""

from __future__ import annotations

from dsl.ir.expression import E

from ..data.model import Fn
from .host_formula import formula


def computed(e: E | None) -> Fn | None:
    """The value of an expression over sizes and options, which an environment says."""
    return formula(e)
