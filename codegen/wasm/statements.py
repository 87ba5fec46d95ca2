"""Statements (data/statements.py) as instructions: what a routine or a body does.

Each statement is written by itself: it shares terms within, and what a loop does not change is computed before the loop
begins, for engines leave it there."""

from __future__ import annotations

from collections.abc import Callable

from ..data.nodes import Apply, Division, Index, Item, Node, nodes_of
from ..data.statements import Assign, Choose, Leave, Procedure, Repeat, Statement, statements_of
from .encoder import new_variable, release, variable
from .scalars.formulas import Formulas
from .scalars.terms import Term, Terms, uses
from .scalars.values import SCALARS


class Statements:
    """variables: by name.  other: pushes what no variable is; store: makes an element a value, or what a variable has
    kept of it.  changing: of each loop that stands around, what its turns change.  kept: terms that a loop around has
    computed.  depth: of the blocks that are open; exits: that of each loop's end."""

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
        for n in self.w.known.values():
            if n not in self.kept.values() and n not in self.w.f.free:
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

    # --- Statements ---

    def all(self, statements: list[Statement]) -> None:
        for s in statements:
            self.one(s)

    def one(self, s: Statement) -> None:
        match s:
            case Assign(targets=targets, values=values):
                self.assign(targets, values)
            case Choose(condition=condition, yes=yes, no=no):
                asked = self.of(condition)
                self.begin([asked])
                self.w.push(asked)
                self.w.emit("if")
                self.depth += 1
                self.all(yes)
                if len(no) > 0:
                    self.w.emit("else")
                    self.all(no)
                self.w.emit("end")
                self.depth -= 1
            case Repeat():
                self.repeat(s)
            case Leave():
                self.w.emit("br", self.depth - self.exits[len(self.exits) - 1])

    def assign(self, targets: list[Node], values: list[Node]) -> None:
        terms = [self.of(v) for v in values]
        places = [self.of(t) for t in targets]
        roots = terms[:]
        for place in places:
            roots.extend(place.parts)
        self.begin(roots)
        if len(targets) == 1:
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

    def repeat(self, s: Repeat) -> None:
        w = self.w
        counter = self.variable(s.name)
        changed = changed_by(s)
        fixed = not self.speaks_of(self.of(s.high), changed) and not any(isinstance(x, Item) for x in nodes_of(s.high))
        low = self.of(s.low)
        self.begin([low])
        w.push(low)
        self.converted(low.kind, "i")
        w.set(counter)
        before = self.kept
        self.kept = {**before}
        self.changing.append(changed)
        end = -1
        if fixed:
            high = self.of(s.high)
            self.begin([high])
            w.push(high)
            self.converted(high.kind, "i")
            end = variable(w.f, "i32")
            w.set(end)
        self.hoist(s)
        w.emit("block")
        w.emit("loop")
        self.depth += 2
        self.exits.append(self.depth - 1)
        self.goes(s, counter, end)
        w.emit("i32.eqz")
        w.emit("br_if", 1)
        self.all(s.body)
        w.get(counter)
        w.emit("i32.const", 1)
        w.emit("i32.add")
        w.set(counter)
        w.emit("br", 0)
        w.emit("end")
        w.emit("end")
        self.exits.pop()
        self.depth -= 2
        self.changing.pop()
        self.begin([])
        for n in self.kept:
            if n not in before:
                release(w.f, self.kept[n])
        self.kept = before
        w.known = {**before}
        if end >= 0:
            release(w.f, end)

    def goes(self, s: Repeat, counter: int, end: int) -> None:
        """Whether a loop goes on, on the stack."""
        roots: list[Term] = []
        if end < 0:
            roots.append(self.of(s.high))
        if s.condition is not None:
            roots.append(self.of(s.condition))
        self.begin(roots)
        self.w.get(counter)
        if end < 0:
            self.w.push(roots[0])
            self.converted(roots[0].kind, "i")
        else:
            self.w.get(end)
        self.w.emit("i32.lt_s")
        if s.condition is not None:
            self.w.emit("if", 0x7F)
            self.w.branch(roots[len(roots) - 1])
            self.w.emit("else")
            self.w.emit("i32.const", 0)
            self.w.emit("end")

    def hoist(self, s: Repeat) -> None:
        """Computes what the loop does not change."""
        level = len(self.changing)
        found: list[Term] = []
        self.collect(s, found)
        seen: set[int] = set()
        for t in found:
            self.hoisted(t, level, seen)

    def collect(self, s: Repeat, found: list[Term]) -> None:
        """The terms of a loop's formulas, as they stand in the loops inside it."""
        if s.condition is not None:
            found.append(self.of(s.condition))
        self.collect_all(s.body, found)

    def collect_all(self, statements: list[Statement], found: list[Term]) -> None:
        for s in statements:
            match s:
                case Assign(targets=targets, values=values):
                    for e in values + targets:
                        found.append(self.of(e))
                case Choose(condition=condition, yes=yes, no=no):
                    found.append(self.of(condition))
                    self.collect_all(yes, found)
                    self.collect_all(no, found)
                case Repeat(low=low, high=high):
                    found.append(self.of(low))
                    self.changing.append(changed_by(s))
                    found.append(self.of(high))
                    self.collect(s, found)
                    self.changing.pop()

    def hoisted(self, t: Term, level: int, seen: set[int]) -> None:
        """Keeps the largest parts of a term that a loop does not change, and that can do no harm where it has no
        turns."""
        if t.number in seen or t.number in self.kept or len(t.parts) == 0:
            return
        seen.add(t.number)
        if self.is_plain(t) and not self.speaks_of(t, self.changing[level - 1]):
            self.w.known = {**self.kept}
            self.w.uses = {}
            self.w.push(t)
            n = variable(self.w.f, SCALARS[t.kind])
            self.w.set(n)
            self.kept[t.number] = n
            return
        for p in t.parts:
            self.hoisted(p, level, seen)

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
