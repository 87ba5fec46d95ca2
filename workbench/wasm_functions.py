"""The functions of numbers that kernels are given, where the package gives those of runtime/elements/math.ts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.data.functions import routine_name
from dsl.ir.intrinsics import ROUTINES
from dsl.reference import scalars

OTHERS = {
    "power": np.power,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "fmod_of": np.fmod,
}


def function(name: str) -> Callable[..., float]:
    """A function of doubles by its name in formulas."""
    for routine in ROUTINES:
        if name == routine_name(routine, "f"):
            return lambda *x: float(scalars.call(routine, *x))
        if name == routine_name(routine, "i"):
            return lambda *x: float(scalars.call(routine, *(int(a) for a in x)))
    if name in OTHERS:
        own = OTHERS[name]
    else:
        own = scalars.CALLS[name.removesuffix("_of").removesuffix("_far")]

    def call(*x: float) -> float:
        with np.errstate(all="ignore"):
            return float(own(*(np.float64(a) for a in x)))

    return call
