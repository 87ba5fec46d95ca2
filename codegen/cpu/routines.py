"""Routines (dsl/lowering/routines.py) as TypeScript functions, one for floats and one for whole numbers where it may
have those."""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.ir.expression import Constant, E, Index, Local
from dsl.lowering.routines import Loop, Routine, Set

from .expr import PREFIX, Hole, Printer, name_of
from .names import Names, camel
from .text import Text


@dataclass
class Made:
    """The texts of routines, and the helpers that they use (as codegen/cpu/emit.py has them)."""

    functions: list[str] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)


def functions(routines) -> Made:
    out = Made()
    for r in routines:
        for whole in (False, True) if r.whole else (False,):
            out.functions.append(function(r, whole, out.helpers))
    return out


def function(r: Routine, whole: bool, helpers: set[str]) -> str:
    names = Names({"math", "routines", *(name_of(n, w) for n in (r.name, *r.calls()) for w in (False, True))})
    printer = Printer(whole)
    kind = "w" if whole else "f"
    for n in (*r.params, *r.locals()):
        printer.holes[Local(n)] = Hole(names.fresh(camel(n)), kind)
    text = Text()
    if r.doc:
        text.add(f"/** {r.doc} */")
    params = ", ".join(f"{printer.holes[Local(p)].text}: number" for p in r.params)
    text.open(f"export function {name_of(r.name, whole)}({params}): number")
    known: set[str] = set()
    # What a later step changes is declared at once, so that it may be changed in a loop.
    again = [
        n
        for n in r.locals()
        if sum(n in t.names for s in r.steps for t in (s.steps if isinstance(s, Loop) else (s,))) > 1
    ]
    for s in r.steps:
        if isinstance(s, Set):
            assign(text, printer, names, s, known, again)
        else:
            loop(text, printer, names, s, known, again)
    text.add(f"return {printer.holes[Local('out')].text};")
    text.close()
    helpers |= {h for h in printer.helpers if not h.startswith(PREFIX)}
    return str(text).replace(PREFIX, "")


def value(printer: Printer, e: E) -> str:
    """A number of the routine's kind."""
    s = printer.number(e)
    return (
        f"{printer.number(e, 99)} | 0"
        if printer.integral and printer.kind(e) == "i" and not isinstance(e, (Constant, Local))
        else s
    )


def assign(text: Text, printer: Printer, names: Names, s: Set, known: set[str], again: list[str], inner: bool = False):
    values = [value(printer, e) for e in s.values]
    if not s.in_turn:
        kept = [names.fresh(f"{printer.holes[Local(n)].text}Next") for n in s.names]
        text.add("const " + ", ".join(f"{k} = {v}" for k, v in zip(kept, values)) + ";")
        values = kept
    for n, v in zip(s.names, values):
        if n in known:
            text.add(f"{printer.holes[Local(n)].text} = {v};")
        else:
            text.add(f"{'let' if n in again else 'const'} {printer.holes[Local(n)].text} = {v};")
        known.add(n)


def loop(text: Text, printer: Printer, names: Names, s: Loop, known: set[str], again: list[str]):
    i, end = names.fresh(s.index), names.fresh(f"{s.index}End")
    low, high = (
        printer.number(e) if printer.kind(e) != "f" else f"Math.ceil({printer.number(e)})" for e in (s.low, s.high)
    )
    printer.holes[Index(s.index)] = Hole(i, "i")
    goes = f"{i} < {end}" + (f" && {printer.truth(s.condition, 6)}" if s.condition is not None else "")
    text.open(f"for (let {i} = {low}, {end} = {high}; {goes}; {i}++)")
    inside = set(known)
    for t in s.steps:
        assign(text, printer, names, t, inside, again)
    text.close()
    del printer.holes[Index(s.index)]
