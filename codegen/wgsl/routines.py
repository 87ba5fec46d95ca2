"""Routines (dsl/lowering/routines.py) as functions of WGSL, in the manner of the prelude."""

from __future__ import annotations

from functools import cache

from dsl.ir.expression import ROUTINES, E, Select
from dsl.lowering.routines import Routine, Set

from ..data.names import safe_name
from ..data.nodes import Apply, Constant, Local, Node
from ..kernels.context import NOTHING
from ..kernels.formulas import Lowering, routine_name
from ..kernels.kinds import Kinds
from ..planner.printed import operand, printed


class RoutineKinds(Kinds):
    """Kinds inside a routine: everything it names has one kind."""

    def __init__(self, integral: bool):
        self.op, self.T = NOTHING, "i" if integral else "f"
        self.elements, self.steps, self.known = [], [], {}

    def symbol(self, name: str) -> str:
        return "f"


class RoutineLowering(Lowering):
    """The expressions of one routine as nodes; infinities and NaN are made from its first argument."""

    def __init__(self, r: Routine, integral: bool):
        self.kinds = RoutineKinds(integral)
        self.op, self.integral = NOTHING, integral
        self.some: Node = Local(safe_name(r.params[0])) if r.params else Constant("f", 0)

    def local(self, name: str) -> Node:
        return Local(safe_name(name))

    def symbol(self, name: str) -> Node:
        if name == "inf":
            return Apply("infinity_like", [Apply("abs", [self.some])])
        return Apply("nan_from", [self.some]) if name == "nan" else super().symbol(name)

    def text(self, e: E, kind: str) -> str:
        return printed(self.node(e, kind))


def functions(loaded: dict[str, Routine] = ROUTINES) -> dict[str, str]:
    """Name -> text of every routine, for floats and, where it may have those, whole numbers."""
    return {name: text for r in loaded.values() for name, text in texts(r)}


@cache
def texts(r: Routine) -> tuple[tuple[str, str], ...]:
    return tuple(
        (routine_name(r.name, "i" if whole else "f"), function(r, whole))
        for whole in ((False, True) if r.whole else (False,))
    )


def function(r: Routine, whole: bool) -> str:
    w = RoutineLowering(r, whole)
    kind, type_, zero = ("i", "i32", "0") if whole else ("f", "f32", "0.0")
    lines = [
        f"fn {routine_name(r.name, kind)}({', '.join(f'{safe_name(p)}: {type_}' for p in r.params)}) -> {type_} {{"
    ]
    lines += [f"  var {safe_name(n)} = {zero};" for n in r.locals()]
    for s in r.steps:
        if isinstance(s, Set):
            lines += assign(w, s, kind, "  ")
        else:
            k = safe_name(s.index)
            end, goes = (
                f"{k}_end",
                f"{k} < {k}_end" + (f" && {operand(w.node(s.condition, 'b'))}" if s.condition is not None else ""),
            )
            lines.append(f"  let {end} = {whole_bound(w, s.high)};")
            lines.append(f"  for (var {k} = {whole_bound(w, s.low)}; {goes}; {k}++) {{")
            for t in s.steps:
                lines += assign(w, t, kind, "    ")
            lines.append("  }")
    return "\n".join([*lines, f"  return {safe_name('out')};", "}"])


def whole_bound(w: RoutineLowering, e: E) -> str:
    """An end of a loop: the next whole number."""
    if w.kinds.kind(e) != "f":
        return w.text(e, "i")
    return f"to_whole(ceil({w.text(e, 'f')}))"


def assign(w: RoutineLowering, s: Set, kind: str, indent: str) -> list[str]:
    if s.in_turn:
        return [line for n, e in zip(s.names, s.values) for line in choice(w, safe_name(n), e, kind, indent)]
    kept = [f"{n}_next" for n in s.names]
    return [f"{indent}let {k} = {w.text(e, kind)};" for k, e in zip(kept, s.values)] + [
        f"{indent}{safe_name(n)} = {k};" for n, k in zip(s.names, kept)
    ]


def choice(w: RoutineLowering, name: str, e: E, kind: str, indent: str) -> list[str]:
    """An assignment; a choice computes only the branch that is taken."""
    if not isinstance(e, Select):
        return [f"{indent}{name} = {w.text(e, kind)};"]
    c, yes, no = e.parts()
    return [
        f"{indent}if ({w.text(c, 'b')}) {{",
        *choice(w, name, yes, kind, indent + "  "),
        f"{indent}}} else {{",
        *choice(w, name, no, kind, indent + "  "),
        f"{indent}}}",
    ]
