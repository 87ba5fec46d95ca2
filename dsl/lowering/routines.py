"""Functions that a `def` with steps makes: recurrences and series, which no single formula says.

A routine works on numbers: floats (float32 on the GPU, doubles elsewhere), or 32-bit whole numbers if it is
called with nothing else and uses only what whole numbers have.  Lowered steps hold expressions in which
`Local`s are its parameters and variables.  Here: the registry, lowering, and the meaning on numpy arrays;
the texts are made in codegen/wgsl/routines.py and codegen/wasm/routines.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ir.builders import idx, is_binary
from ..ir.expression import Binary, Call, Cast, Constant, E, Index, Local, Random, Select, Symbol, Unary, walk
from ..ir.intrinsics import ROUNDING, ROUTINES
from ..reference import scalars
from ..text.syntax import Def, Repeat
from ..text.vocabulary import nodes_in
from .context import Context
from .scalar_formulas import Formulas

OF_WHOLE = {"abs", "sign", "max", "min", *ROUNDING}


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
    """whole: whether it may work on whole numbers.  slopes: derivatives by a parameter, over parameters and `out`."""

    name: str
    params: tuple[str, ...]
    steps: tuple[Set | Loop, ...]
    slopes: dict[str, E]
    doc: str = ""
    whole: bool = False

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
    made.whole = all(is_whole(e) for e in made.trees())
    return made


def is_whole(e: E) -> bool:
    """Whether an expression of whole numbers is one."""
    for n in walk(e):
        if is_binary(n, "/") or isinstance(n, (Random, Symbol)) or isinstance(n, Constant) and n.kind == "f":
            return False
        if isinstance(n, Call) and n.name not in OF_WHOLE and not (n.name in ROUTINES and ROUTINES[n.name].whole):
            return False
    return True


# --- Meaning -----------------------------------------------------------------------------------------


def run(routine: Routine, args: tuple) -> np.ndarray:
    """The routine at every place of arrays that broadcast; floats are computed in float64 and answered as they came."""
    arrays = [np.asarray(a) for a in args]
    floats = [a.dtype for a in arrays if a.dtype.kind == "f" and a.ndim or isinstance(a, np.generic)]
    whole = routine.whole and all(a.dtype.kind in ("b", "i", "u") for a in arrays)
    compute = np.int32 if whole else np.float64
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    env = {p: np.broadcast_to(a.astype(compute), shape) for p, a in zip(routine.params, arrays)}
    with np.errstate(all="ignore"):
        for s in routine.steps:
            if isinstance(s, Loop):
                repeat(s, env, shape, compute)
            else:
                assign(s, env, None, compute)
    out = np.broadcast_to(env["out"], shape)
    return out.astype(np.result_type(*floats)) if floats and not whole else out


def assign(s: Set, env: dict, where: np.ndarray | None, compute):
    values = [np.asarray(evaluate(e, env)).astype(compute) for e in s.values]
    for n, v in zip(s.names, values):
        env[n] = v if where is None or n not in env else np.where(where, v, env[n])


def repeat(s: Loop, env: dict, shape, compute):
    low, high = (
        np.broadcast_to(scalars.cast("i", np.ceil(evaluate(e, env)), np.dtype(np.float64)), shape)
        for e in (s.low, s.high)
    )
    if not low.size:
        return
    going = low < high
    for k in range(int(low.min()), int(high.max())):
        now = going & (k >= low) & (k < high)
        inner = {**env, s.index: k}
        if s.condition is not None and now.any():
            holds = np.broadcast_to(evaluate(s.condition, inner), shape) != 0
            going = going & (holds | ~now)
            now = now & holds
        if not going.any():
            break
        if not now.any():
            continue
        for t in s.steps:
            assign(t, inner, now, compute)
        for n in (n for t in s.steps for n in t.names):
            env[n] = inner[n]


def evaluate(e: E, env: dict):
    match e:
        case Constant():
            return e.literal
        case Symbol(name):
            return {"inf": np.inf, "nan": np.nan, "pi": np.pi}[name]
        case Local(name):
            return env[name]
        case Index(loop):
            return env[loop]
        case Select(condition, yes, no):
            parts = (scalars.number(evaluate(yes, env)), scalars.number(evaluate(no, env)))
            return np.where(evaluate(condition, env), *parts)
        case Call(name, operands):
            return scalars.call(name, *[evaluate(x, env) for x in operands])
        case Unary(operator, operand):
            return scalars.unary(operator, evaluate(operand, env))
        case Cast(kind, operand):
            return scalars.cast(kind, evaluate(operand, env), np.dtype(np.float64))
        case Binary(operator, left, right):
            return scalars.binary(operator, evaluate(left, env), evaluate(right, env))
    raise ValueError(f"no expression of a routine: {e}")
