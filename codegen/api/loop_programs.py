"""Writes loop programs for the package, in the notation that codegen/kernels/loop_notation.py says and reads."""

from __future__ import annotations

from collections.abc import Iterable

from dsl.gradients.derivable import Derivable
from dsl.ir.axes import Axis
from dsl.ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Index,
    Inside,
    Local,
    Pack,
    Random,
    RawResult,
    Read,
    Select,
    Symbol,
    Unary,
)
from dsl.ir.intrinsics import INTRINSICS, Function
from dsl.ir.program import Loop, Stmt

from ..data.errors import decimal
from ..data.functions import routine_name

SIGNS = {"and": "&&", "or": "||", "not": "!"}


class Unwritten(Exception):
    """The notation has no words for it; the package carries what is derived of it."""


def formula(e: E, numbers: dict[Read, int]) -> str:
    """numbers: of the reads that stand before."""
    of = lambda x: formula(x, numbers)
    match e:
        case Constant("b", value):
            return f"{int(value)}b"
        case Constant("i", value):
            return str(int(value))
        case Constant("f", value):
            return digits if {".", "e"} & set(digits := decimal(value)) else f"{digits}."
        case Index(name) | Pack(name) | Symbol(name) | Local(name):
            return name
        case Read():
            return f"@{numbers[e]}"
        case Inside(r):
            return f"in_bounds(@{numbers[r]})"
        case Random(draw):
            return f"uniform_random({draw})"
        case Cast(kind, operand):
            return f"{kind}32({of(operand)})"
        case Unary(operator, operand):
            return SIGNS.get(operator, operator) + beside(operand, numbers)
        case Binary(operator, left, right):
            return beside(left, numbers) + SIGNS.get(operator, operator) + beside(right, numbers)
        case Select(condition, yes, no):
            return f"{{{of(no)},{of(yes)},{of(condition)}}}"
        case Call(name, operands):
            return f"{name if name in INTRINSICS else routine_name(name, 'f')}({','.join(map(of, operands))})"
    raise Unwritten(e)


def routines(known: dict[str, Function]) -> str:
    """The derivatives of routines, for `read_routines`."""
    lines = []
    for name, r in known.items():
        slopes = [f"{p}={formula(e, {})}" for p, e in r.slopes.items()]
        lines.append(" ".join([name, ",".join(r.params) + "!" * r.integral, *slopes]))
    return "\n".join(lines)


def axis(a: Axis) -> str:
    return f"*{a.pack}" if a.pack else formula(a.length, {})


def beside(e: E, numbers: dict[Read, int]) -> str:
    """A formula beside an operator."""
    brackets = isinstance(e, (Unary, Binary)) or isinstance(e, Constant) and (e.value < 0 or str(e.value) == "-0.0")
    return f"({formula(e, numbers)})" if brackets else formula(e, numbers)


class Writer:
    """op: its name.  tensors: the names of its slots.  callees: the ops whose bodies stand in what it has written."""

    def __init__(self, op: str, tensors: list[str]):
        self.op = op
        self.number = {n: k for k, n in enumerate(tensors)}
        self.callees: list[str] = []

    def tensor(self, name: str) -> str:
        if name in self.number:
            return str(self.number[name])
        if name[:2] in ("d_", "g_") and name[2:] in self.number:
            return f"{name[0]}{self.number[name[2:]]}"
        return f"'{name}'"

    def statements(self, stmts: list[Stmt]) -> list[str]:
        """A line for each; the results of a body are one."""
        lines = []
        for s in stmts:
            if not isinstance(s.body, RawResult):
                lines.append(self.statement(s))
            elif s.body.raw.n == 0:
                others = [o.body.raw for o in stmts if isinstance(o.body, RawResult)]
                results = [o.n for o in others if o.outputs == s.body.raw.outputs]
                assert results == [*range(len(results))]
                lines.append(self.body(s, s.body, len(results)))
        return lines

    def body(self, s: Stmt, run: RawResult, results: int) -> str:
        """The statements of a body that runs."""
        raw, at = run.raw, run.raw.inlined
        assert at is not None and at.T == raw.T
        name = at.op.name
        if name not in self.callees:
            self.callees.append(name)
        head = f"!{name}:{results}:{raw.T}" + (f"?{formula(s.when, {})}" if s.when is not None else "")
        tensors = lambda names: " ".join(map(self.tensor, names))
        uniforms = " ".join(formula(e, {}) for e in run.uniforms)
        parts = [head, tensors(run.tensors), tensors(t for _, t in raw.outputs), uniforms]
        packs = [" ".join([pack, *map(axis, axes)]) for pack, axes in at.packs.items()]
        sizes = [f"{n}={x}" if (x := formula(e, {})) != n else n for n, e in at.env.items()]
        if name != self.op or any(p != f"{n} *{n}" for p, n in zip(packs, at.packs)) or any("=" in x for x in sizes):
            parts += [", ".join(packs), " ".join(sizes)]
        return "; ".join(parts)

    def statement(self, s: Stmt) -> str:
        numbers: dict[Read, int] = {}
        reads: list[str] = []

        def note(e: E) -> None:
            for part in e.parts():
                note(part)
            if isinstance(e, Read) and e not in numbers:
                fallback = "" if e.fallback is None else f":{formula(e.fallback, numbers)}"
                reads.append(f"{self.tensor(e.tensor)}{self.index(e.index, numbers)}{fallback}")
                numbers[e] = len(numbers)

        for e in (*s.idx, s.body, *([s.pred] if s.pred is not None else [])):
            note(e)
        when = f"?{formula(s.when, {})} " if s.when is not None else ""
        loops = " ".join(map(self.loop, s.loops)) + (" /" + " ".join(map(self.loop, s.rloops)) if s.rloops else "")
        red = f"{s.red}:" if s.red else ""
        pred = f"?{formula(s.pred, numbers)}" if s.pred is not None else ""
        made = f"{self.tensor(s.target)}{self.index(s.idx, numbers)}{s.mode}{red}{formula(s.body, numbers)}{pred}"
        return f"{when}{loops.lstrip()}; {' '.join(reads)}; {made}{' +' * s.spread}"

    def loop(self, l: Loop) -> str:
        return f"{l.name}*{l.pack}" if l.pack else f"{l.name}:{formula(l.length, {})}"

    def index(self, index: Iterable[E], numbers: dict[Read, int]) -> str:
        return f"[{' '.join([formula(i, numbers) for i in index])}]"

    def derivable(self, d: Derivable) -> str:
        """Raises Unwritten."""
        sizes = [*sorted(d.sizes.positive), *(f"{size}={axis}" for size, axis in d.sizes.kin.items())]
        lines = [" ".join([*(self.tensor(n) for n in d.wanted), *sizes]), *self.statements(d.stmts)]
        numbers = lambda names: ",".join(map(self.tensor, names))
        for name, stmts in d.grads.items():
            lines += [">" + (self.tensor(name) if name else ""), *self.statements(stmts)]
        for o in d.owned:
            targets = ",".join(f"{t}={self.tensor(of)}" for t, of in o.targets.items())
            head = [numbers(o.results), numbers(o.inner), numbers(o.args), str(int(o.complete)), targets]
            lines += ["^ " + " ".join(head), *self.statements(o.stmts)]
        return "\n".join(lines)
