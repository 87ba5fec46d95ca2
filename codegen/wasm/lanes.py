"""How many points a kernel takes at once: four floats where that comes to the same as doubles, two doubles, or one."""

from __future__ import annotations

from dsl.ir.dtypes import TYPES, is_floating

from ..data.dtypes import compute_class
from ..data.functions import CHECKED, INTEGER
from ..data.nodes import Apply, Cast, Constant, Element, Index, Random, Result, Rounded, Uniform
from .planning.kernel_plan import kind_of
from .printer import Printer
from .scalars.functions import DIRECT
from .scalars.terms import BITS, OF_INTEGERS, SUMS, Term

# Exact in floats, rounded once, and more than that.
EXACT = 0
ROUNDED = 1
INEXACT = 2
KEEPING = ["abs", "larger", "smaller"]  # of a rounded number the same as before it was rounded
ROUNDING = ["divide", "square_root"]
SIGNS = ["+", "-", "*"]


class Exactness:
    """How exact terms are in float32, where doubles rounded at the end are right."""

    def __init__(self, p: Printer):
        self.p = p
        self.known: dict[int, int] = {}

    def of(self, t: Term) -> int:
        if t.number not in self.known:
            self.known[t.number] = self.found(t)
        return self.known[t.number]

    def found(self, t: Term) -> int:
        worst = EXACT
        for part in t.parts:
            worst = max(worst, self.of(part))
        match t.e:
            case Element(access=n):
                if worst != EXACT:
                    return INEXACT
                stored = self.p.k.types[n]
                return (
                    INEXACT
                    if t.kind == "f"
                    and (TYPES[stored].bits > 32 or not is_floating(stored) and TYPES[stored].bits == 32)
                    else EXACT
                )
            case Constant(value=value):
                return EXACT if t.kind != "f" or is_single(value) else INEXACT
            case Uniform(name=name):
                single = is_single_type(self.p.k.call.dtype)
                return EXACT if t.kind != "f" or single and self.p.is_of_type(name) else INEXACT
            case Random() | Index():
                return EXACT
            case Result():
                return EXACT if self.p.k.singles else INEXACT
            case Rounded():
                return EXACT if worst <= ROUNDED else INEXACT
            case Cast():
                return INEXACT if t.kind == "f" or worst != EXACT else EXACT
            case Apply(name=name):
                if name in KEEPING:
                    return worst
                if name in ROUNDING:
                    return ROUNDED if worst == EXACT else INEXACT
                return worst if t.kind != "f" and worst == EXACT or worst == EXACT and name in DIRECT else INEXACT
            case _:
                if t.said == "select":
                    return INEXACT if self.of(t.parts[2]) != EXACT else worst
                if t.kind == "f" and t.said in SIGNS:
                    return ROUNDED if worst == EXACT else INEXACT
                return worst if t.said == "neg" or worst == EXACT and len(t.parts) > 0 else INEXACT


def is_single_type(dtype: str) -> bool:
    """Whether float32 holds the numbers of a type of floats."""
    return is_floating(dtype) and TYPES[dtype].bits <= 32


def is_single(x: float) -> bool:
    """Whether a float32 holds a number."""
    size = abs(x)
    if size != size or size == 0 or size * 0.5 == size:
        return True
    if size >= 3.4e38 or size < 1.2e-38:
        return False
    while size >= 16777216:
        size *= 0.5
    while size < 8388608:
        size *= 2.0
    return size == int(size)


def one_by_one(t: Term, seen: list[int], routines: list[str]) -> bool:
    """Whether a term needs what only one point at a time has: 64-bit whole numbers beyond what doubles hold, and most
    of what tells of faults."""
    if t.number in seen:
        return False
    seen.append(t.number)
    match t.e:
        case Apply(name=name):
            if name == "narrow_checked":
                return products(t.parts[0]) > 1 or any(one_by_one(p, seen, routines) for p in wide_operands(t.parts[0]))
            if t.kind == "w" or name in INTEGER or t.kind == "i" and name in routines:
                return True
            if name in CHECKED and name not in SUMS:
                return True
    return any(one_by_one(part, seen, routines) for part in t.parts)


def products(t: Term) -> int:
    """The products in a sum of 64-bit whole numbers; 2 for what is no such sum.  With one at most, what fits into 32
    bits is exact in doubles."""
    match t.e:
        case Apply(name="widened"):
            return 0
        case Apply(name="wide_product"):
            return 1
        case Apply(name="wide_sum" | "wide_difference"):
            return products(t.parts[0]) + products(t.parts[1])
        case _:
            return 2


def wide_operands(t: Term) -> list[Term]:
    """The 32-bit whole numbers that a sum of 64-bit ones is made of."""
    if t.kind != "w":
        return [t]
    out: list[Term] = []
    for part in t.parts:
        out.extend(wide_operands(part))
    return out


def lanes_for(p: Printer, roots: list[Term], stored: list[str]) -> int:
    """How many points formulas can be computed at, one after another in memory.  stored: the types that they are stored
    as, "" for what is added up in doubles."""
    if p.k.floats:
        return 4
    seen: list[int] = []
    if p.k.call.dtype == "int64":
        return 1
    if any(one_by_one(t, seen, p.functions.routines) for t in roots):
        return 1
    exactness = Exactness(p)
    four = p.w.narrow or not any(p.terms.all[n].said == "narrow_checked" for n in seen)
    for n in range(len(roots)):
        level = exactness.of(roots[n])
        if roots[n].kind == "f":
            four = four and (stored[n] == "float32" and level <= ROUNDED or level == EXACT and stored[n] != "float64")
        else:
            four = four and level == EXACT
    for n in p.k.used:
        if p.k.types[n] == "float64":
            four = False
    return 4 if four else 2


def simple(t: Term) -> bool:
    """Whether a term is nothing but elements and what is one instruction."""
    match t.e:
        case Apply(name=name):
            return name in DIRECT or name in OF_INTEGERS or name in BITS
        case Random():
            return False
        case _:
            return True


def stored_kind(p: Printer, n: int) -> str:
    """The kind of what step n computes."""
    step = p.k.kernel.steps[n]
    if step.value == "T":
        return compute_class(p.k.call.dtype)
    return step.value


def element_kind(p: Printer, n: int) -> str:
    return kind_of(p.k, Element(n))
