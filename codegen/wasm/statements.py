"""Statements (data/statements.py) as instructions: what a routine or a body does.

Each statement is written by itself: it shares terms within, and what a loop does not change is computed before the loop
begins, for engines leave it there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..data.nodes import Apply, Division, Index, Item, Node, nodes_of
from ..data.statements import Assign, Choose, Leave, Procedure, Repeat, Statement, formulas_in, statements_of
from .encoder import new_variable, release, variable
from .scalars.formulas import Formulas
from .scalars.terms import Term, Terms, uses
from .scalars.values import SCALARS


@dataclass
class InTerms:
    """A statement and the terms of its own formulas, as formulas_in lists them.  body: what it holds, otherwise: of a
    choice, what the other branch does."""

    s: Statement
    terms: list[Term]
    body: list[InTerms]
    otherwise: list[InTerms]


class Statements:
    """variables: by name.  other: pushes what no variable is; store: makes an element a value, or what a variable has
    kept of it.  changing: of each loop around the formulas that become terms, what its turns change.  kept: terms that
    a loop around has computed.  depth: of the blocks that are open; exits: that of each loop's end."""

    def __init__(self, w: Formulas, terms: Terms, procedure: Procedure):
        self.w = w
        self.terms = terms
        self.kinds = procedure.kinds
        self.variables: dict[str, int] = {}
        self.other: Callable[[Term], None] = unknown
        self.store: Callable[[Term, Term, int], None] = lambda place, value, kept: unknown(place)
        self.changing: list[set[str]] = []
        self.kept: dict[int, int] = {}
        self.depth = 0
        self.exits: list[int] = []
        self.names: dict[int, set[str]] = {}
        w.leaf = lambda t: self.leaf(t)

    # --- Terms ---

    def leaf(self, t: Term) -> None:
        match t.e:
            case Index(loop=name):
                self.w.get(self.variable(name))
            case _:
                self.other(t)

    def variable(self, name: str) -> int:
        if name not in self.variables:
            kind = self.kinds.get(name, "i")
            self.variables[name] = new_variable(self.w.f, SCALARS[kind])
        return self.variables[name]

    def of(self, e: Node) -> Term:
        return self.terms.of(e, {})

    def begin(self, roots: list[Term]) -> None:
        """Before the instructions of a statement."""
        kept = set(self.kept.values())
        for n in self.w.known.values():
            if n not in kept and n not in self.w.f.free:
                release(self.w.f, n)
        self.w.known = {**self.kept}
        self.w.uses = uses(roots)
        for n in self.w.uses:
            if len(self.terms.all[n].parts) == 0:
                self.w.uses[n] = 1  # no variable for what is in one

    def names_of(self, t: Term) -> set[str]:
        """The variables that a term speaks of."""
        if t.number not in self.names:
            found: set[str] = set()
            match t.e:
                case Index(loop=name):
                    found.add(name)
                case _:
                    for p in t.parts:
                        for name in self.names_of(p):
                            found.add(name)
            self.names[t.number] = found
        return self.names[t.number]

    def level(self, t: Term) -> int:
        """The number of loops around, up to the innermost that changes a term."""
        names = self.names_of(t)
        for n in range(len(self.changing) - 1, -1, -1):
            if any(name in self.changing[n] for name in names):
                return n + 1
        return 0

    def speaks_of(self, t: Term, names: set[str]) -> bool:
        return any(name in names for name in self.names_of(t))

    def in_terms(self, statements: list[Statement]) -> list[InTerms]:
        out: list[InTerms] = []
        for s in statements:
            formulas = formulas_in(s)
            match s:
                case Choose(yes=yes, no=no):
                    out.append(InTerms(s, [self.of(formulas[0])], self.in_terms(yes), self.in_terms(no)))
                case Repeat(body=body):
                    terms = [self.of(formulas[0])]
                    self.changing.append(changed_by(s))
                    terms.extend([self.of(e) for e in formulas[1:]])
                    out.append(InTerms(s, terms, self.in_terms(body), []))
                    self.changing.pop()
                case _:
                    out.append(InTerms(s, [self.of(e) for e in formulas], [], []))
        return out

    # --- Statements ---

    def write(self, statements: list[Statement]) -> None:
        self.all(self.in_terms(statements))

    def all(self, statements: list[InTerms]) -> None:
        for x in statements:
            self.one(x)

    def one(self, x: InTerms) -> None:
        match x.s:
            case Assign(values=values):
                self.assign(x.terms[len(values) :], x.terms[: len(values)])
            case Choose():
                self.begin(x.terms)
                self.w.push(x.terms[0])
                self.w.emit("if")
                self.depth += 1
                self.all(x.body)
                if len(x.otherwise) > 0:
                    self.w.emit("else")
                    self.all(x.otherwise)
                self.w.emit("end")
                self.depth -= 1
            case Repeat():
                self.repeat(x, x.s)
            case Leave():
                self.w.emit("br", self.depth - self.exits[len(self.exits) - 1])

    def assign(self, places: list[Term], terms: list[Term]) -> None:
        roots = terms[:]
        for place in places:
            roots.extend(place.parts)
        self.begin(roots)
        if len(places) == 1:
            self.target(places[0], terms[0], -1)
            return
        kept: list[int] = []
        for n in range(len(terms)):
            self.w.push(terms[n])
            self.converted(terms[n].kind, places[n].kind)
            made = variable(self.w.f, SCALARS[places[n].kind])
            self.w.set(made)
            kept.append(made)
        for n in range(len(places)):
            self.begin(places[n].parts)
            self.target(places[n], terms[n], kept[n])
        for made in kept:
            release(self.w.f, made)

    def target(self, place: Term, value: Term, kept: int) -> None:
        """A variable or an element becomes a value, or what a variable has kept of it."""
        match place.e:
            case Index(loop=name):
                self.given(place, value, kept)
                self.w.set(self.variable(name))
            case _:
                self.store(place, value, kept)

    def given(self, place: Term, value: Term, kept: int) -> None:
        if kept >= 0:
            self.w.get(kept)
            return
        self.w.push(value)
        self.converted(value.kind, place.kind)

    def converted(self, own: str, kind: str) -> None:
        if own == "b" and kind == "i" or own == "i" and kind == "b":
            return
        if own == "l" or kind == "l":
            self.w.convert(own, kind)
            return
        self.w.convert("i" if own == "b" else own, "i" if kind == "b" else kind)

    # --- Loops ---

    def repeat(self, x: InTerms, s: Repeat) -> None:
        w = self.w
        counter = self.variable(s.name)
        low = x.terms[0]
        high = x.terms[1]
        changed = changed_by(s)
        self.begin([low])
        w.push(low)
        self.converted(low.kind, "i")
        w.set(counter)
        before = self.kept
        self.kept = {**before}
        end = -1
        if not self.speaks_of(high, changed) and not any(isinstance(e, Item) for e in nodes_of(s.high)):
            self.begin([high])
            w.push(high)
            self.converted(high.kind, "i")
            end = variable(w.f, "i32")
            w.set(end)
        self.hoist(x, changed)
        w.emit("block")
        w.emit("loop")
        self.depth += 2
        self.exits.append(self.depth - 1)
        self.goes(x.terms[1:], counter, end)
        w.emit("i32.eqz")
        w.emit("br_if", 1)
        self.all(x.body)
        w.get(counter)
        w.emit("i32.const", 1)
        w.emit("i32.add")
        w.set(counter)
        w.emit("br", 0)
        w.emit("end")
        w.emit("end")
        self.exits.pop()
        self.depth -= 2
        self.begin([])
        for n in self.kept:
            if n not in before:
                release(w.f, self.kept[n])
        self.kept = before
        w.known = {**before}
        if end >= 0:
            release(w.f, end)

    def goes(self, asked: list[Term], counter: int, end: int) -> None:
        """Whether a loop goes on, on the stack.  asked: its end, which a variable may hold, and its condition."""
        self.begin(asked if end < 0 else asked[1:])
        self.w.get(counter)
        if end < 0:
            self.w.push(asked[0])
            self.converted(asked[0].kind, "i")
        else:
            self.w.get(end)
        self.w.emit("i32.lt_s")
        if len(asked) > 1:
            self.w.emit("if", 0x7F)
            self.w.branch(asked[1])
            self.w.emit("else")
            self.w.emit("i32.const", 0)
            self.w.emit("end")

    def hoist(self, x: InTerms, changed: set[str]) -> None:
        """Computes what a loop does not change."""
        seen: set[int] = set()
        self.hoist_all(x.terms[2:], changed, seen)
        self.hoist_in(x.body, changed, seen)

    def hoist_in(self, statements: list[InTerms], changed: set[str], seen: set[int]) -> None:
        for x in statements:
            self.hoist_all(x.terms, changed, seen)
            self.hoist_in(x.body, changed, seen)
            self.hoist_in(x.otherwise, changed, seen)

    def hoist_all(self, terms: list[Term], changed: set[str], seen: set[int]) -> None:
        """Keeps the largest parts of terms that a loop does not change, and that can do no harm where it has no
        turns."""
        for t in terms:
            if t.number in seen or t.number in self.kept or len(t.parts) == 0:
                continue
            seen.add(t.number)
            if not self.speaks_of(t, changed) and self.is_plain(t):
                self.w.known = {**self.kept}
                self.w.uses = {}
                self.w.push(t)
                n = variable(self.w.f, SCALARS[t.kind])
                self.w.set(n)
                self.kept[t.number] = n
            else:
                self.hoist_all(t.parts, changed, seen)

    def is_plain(self, t: Term) -> bool:
        """Whether a term is arithmetic alone that nothing stops."""
        if t.called:
            return False
        match t.e:
            case Apply(name="quotient"):
                return False
            case Division():
                return False
            case _:
                return all(self.is_plain(p) for p in t.parts)


def unknown(t: Term) -> None:
    raise ValueError(f"{t.said} is not known here")


def changed_by(s: Repeat) -> set[str]:
    """The variables that a loop's turns change."""
    out: set[str] = set()
    out.add(s.name)
    for x in statements_of(s.body):
        match x:
            case Assign(targets=targets):
                for t in targets:
                    match t:
                        case Index(loop=name):
                            out.add(name)
            case Repeat(name=name):
                out.add(name)
    return out
