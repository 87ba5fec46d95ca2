"""Functions that a `def` with steps makes: recurrences and series, which no single formula says.

A routine works on numbers: floats (float32 on the GPU, doubles elsewhere), or 32-bit whole numbers if it is
called with nothing else and uses only what whole numbers have.  Lowered steps hold expressions in which
`Local`s are its parameters and variables.  Here: the registry and lowering; what they mean is in
dsl/reference/routine_run.py, the texts are made in codegen/wgsl/routines.py and codegen/wasm/routines.py."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.builders import idx, is_binary
from ..ir.expression import Call, Constant, E, Local, Random, Symbol, walk
from ..ir.intrinsics import ROUNDING, ROUTINES
from ..text.syntax import Def, Repeat
from ..text.vocabulary import nodes_in
from .context import Context
from .scalar_formulas import Formulas

OF_INTEGERS = {"abs", "sign", "max", "min", *ROUNDING}


@dataclass(frozen=True)
class Set:
    """All values first, then all names."""

    names: tuple[str, ...]
    values: tuple[E, ...]

    @property
    def in_turn(self) -> bool:
        """Whether the assignments may as well happen one after another."""
        return not any(
            isinstance(n, Local) and n.name in self.names[:k] for k, e in enumerate(self.values) for n in walk(e)
        )


@dataclass(frozen=True)
class Loop:
    """steps for index = low, low + 1, ... below high, as long as the condition holds."""

    index: str
    low: E
    high: E
    condition: E | None
    steps: tuple[Set, ...]


@dataclass(eq=False)
class Routine:
    """integral: may it work on whole numbers.  slopes: derivatives by a parameter, over parameters and `out`."""

    name: str
    params: tuple[str, ...]
    steps: tuple[Set | Loop, ...]
    slopes: dict[str, E]
    doc: str = ""
    integral: bool = False

    def trees(self):
        """All expressions."""
        for s in self.steps:
            if isinstance(s, Loop):
                yield from (s.low, s.high)
                if s.condition is not None:
                    yield s.condition
                for t in s.steps:
                    yield from t.values
            else:
                yield from s.values

    def locals(self) -> list[str]:
        """The names that are assigned, in order."""
        sets = [t for s in self.steps for t in (s.steps if isinstance(s, Loop) else (s,))]
        return list(dict.fromkeys(n for t in sets for n in t.names))

    def calls(self) -> list[str]:
        """The routines that it calls."""
        return list(
            dict.fromkeys(n.name for e in self.trees() for n in walk(e) if isinstance(n, Call) and n.name in ROUTINES)
        )


# --- Lowering ----------------------------------------------------------------------------------------


class Plain:
    """What formulas of a routine may name besides its own: nothing."""

    scalars: dict = {}
    options: dict = {}
    families: dict = {}

    class patterns:
        rank: dict = {}

    def __init__(self, defs: dict[str, Def]):
        self.defs = defs

    def is_tensor(self, n: str) -> bool:
        return False


def register(made: dict[str, Def], defs: dict[str, Def]) -> None:
    """Lowers routines and makes them known.  defs: all formulas that they may call."""
    for d in ordered(made):
        ROUTINES[d.name] = lower(d, defs)


def ordered(made: dict[str, Def]) -> list[Def]:
    """Routines, those first that others call."""
    out: list[Def] = []

    def visit(d: Def):
        if d in out:
            return
        for s in d.steps:
            for t in s.steps if isinstance(s, Repeat) else (s,):
                for n in (n for v in t.values for n in nodes_in(v)):
                    if n.kind == "call" and n.val in made and n.val != d.name:
                        visit(made[n.val])
        out.append(d)

    for d in made.values():
        visit(d)
    return out


def lower(d: Def, defs: dict[str, Def]) -> Routine:
    """The routine of a `def` that was found right."""
    formulas = Formulas(Plain(defs))
    names = {n: Local(n) for n in (*d.params, "out")}

    def value(x, more: dict) -> E:
        return formulas.lower(x, Context(names={**names, **more}))

    def let(s, more: dict) -> Set:
        made = Set(s.names, tuple(value(v, more) for v in s.values))
        names.update({n: Local(n) for n in s.names})
        return made

    steps: list[Set | Loop] = []
    for s in d.steps:
        if not isinstance(s, Repeat):
            steps.append(let(s, {}))
            continue
        index = {s.index: idx(s.index)}
        low, high = value(s.low, {}), value(s.high, {})
        condition = value(s.condition, index) if s.condition is not None else None
        steps.append(Loop(s.index, low, high, condition, tuple(let(t, index) for t in s.steps)))
    made = Routine(d.name, d.params, tuple(steps), {p: value(e, {}) for p, e in d.slopes}, d.doc)
    made.integral = all(is_integral_formula(e) for e in made.trees())
    return made


def is_integral_formula(e: E) -> bool:
    """Whether an expression of whole numbers is one."""
    for n in walk(e):
        if is_binary(n, "/") or isinstance(n, (Random, Symbol)) or isinstance(n, Constant) and n.kind == "f":
            return False
        if isinstance(n, Call) and n.name not in OF_INTEGERS and not (n.name in ROUTINES and ROUTINES[n.name].integral):
            return False
    return True
