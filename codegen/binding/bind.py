"""Binding any call: `bind_with` with all parts."""

from __future__ import annotations

from ..data.model import Call, Op
from .axes import chosen, without
from .binding import bind_with
from .options import asked_dtype, listed_sizes, marked, option, take_default
from .parts import Arg, Parts
from .splits import bind_factors, length, parts_of

PARTS: Parts = Parts(
    asked_dtype, option, take_default, listed_sizes, chosen, marked, without, bind_factors, parts_of, length
)


def bind(op: Op, args: list[Arg]) -> Call:
    """args: one for each of op.params, None where the caller gave nothing.

    Raises OpError, in PyTorch's words where it has some, for anything that does not fit."""
    return bind_with(op, args, PARTS)
