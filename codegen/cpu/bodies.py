"""Steps of bodies (dsl/ir/steps.py) as JavaScript: places of a launch, and what threads of a group share, are loops."""

from __future__ import annotations

from dsl.ir.expression import ZERO, Binary, E, Index, Local, Read, Symbol, is_binary
from dsl.ir.program import Body, BodyLaunch
from dsl.ir.steps import For, If, Range, Set, Step, assigned_by, every, expressions, names_in, own, read_by, stored_by

from ..kernels.bodies import Places, assigned_again, changed_by, settled
from .expr import BITOR, CALL, EQUAL, PRODUCT, SUM, Hole, Printer
from .names import Names
from .text import Text

KINDS = {"T": "f"}  # what JavaScript computes with is a double


class BodyPrinter(Printer):
    """The expressions of one launch."""

    def __init__(self, places: Places) -> None:
        super().__init__(False)
        self.places = places
        self.rows: dict[tuple[E, ...], str] = {}  # terms of offsets that a loop has computed before it begins

    def found(self, e: E) -> str:
        if isinstance(e, Read):
            kind = self.places.tensors[e.tensor].kind
            return KINDS.get(kind, kind)
        return super().found(e)

    def show(self, e: E) -> tuple[str, int]:
        match e:
            case Read():
                return (self.element(e), CALL) if self.kind(e) != "b" else (f"{self.element(e)} !== 0", EQUAL)
            case Binary("//" | "%" as operator, left, right) if self.kind(e) == "i":
                if self.places.is_natural(left) and self.places.is_natural(right):
                    shown = f"{self.number(left, PRODUCT)} {operator[0]} {self.number(right, PRODUCT + 1)}"
                    return (f"{shown} | 0", BITOR) if operator == "//" else (shown, PRODUCT)
        return super().show(e)

    def element(self, e: Read) -> str:
        return f"{e.tensor}[{self.place(self.places.offset(e))}]"

    def place(self, e: E) -> str:
        """An offset; terms that a loop has computed before it began have a name together."""
        terms = sums(e)
        for still, name in reversed(self.rows.items()):
            if all(t in terms for t in still):
                rest = [t for t in terms if t not in still]
                return " + ".join([name, *(self.number(t, SUM + 1) for t in rest)])
        return self.number(e)


def sums(e: E) -> list[E]:
    return [*sums(e.left), e.right] if is_binary(e, "+") else [e]


def add_body(t: Text, body: Body, names: Names) -> set[str]:
    """Adds the steps of a body to its function; answers the functions of runtime/math.ts that they call."""
    helpers: set[str] = set()
    for x in body.launches:
        w = Writer(t, body, x, names)
        w.launch()
        helpers |= w.printer.helpers
    return helpers


class Writer:
    """Writes one launch."""

    def __init__(self, t: Text, body: Body, launch: BodyLaunch, names: Names) -> None:
        self.t, self.launch_, self.names = t, launch, names
        self.places = Places(body, launch)
        self.printer = BodyPrinter(self.places)
        self.again = assigned_again(launch)
        holes = self.printer.holes
        for n, kind in body.symbols:
            holes[Symbol(n)] = Hole(f"{n} !== 0", "b", EQUAL, n) if kind == "b" else Hole(n, kind)
        own_names: dict[str, str] = {}
        for n, kind in launch.kinds:
            base = n.partition(".")[0].rstrip("_")
            own_names.setdefault(base, names.fresh(base))
            holes[Local(n)] = Hole(own_names[base], KINDS.get(kind, kind))
        indices = [
            launch.step,
            *(r.name for r in launch.places),
            *(r.name for s in every(launch.body) if isinstance(s, For) for r in s.ranges),
        ]
        for n in dict.fromkeys(filter(None, indices)):
            holes[Index(n)] = Hole(names.fresh(n), "i")

    def launch(self) -> None:
        """Its places in their order.  What begins the steps and speaks of the first places alone is computed for
        these."""
        x = self.launch_
        rest = list(x.body)
        if x.steps is not None:
            self.count(Range(x.step, ZERO, x.steps), None)
        later = {r.name for r in x.places}
        rest = self.early(rest, later)
        for n, r in enumerate(x.places):
            self.count(r, None)
            later.discard(r.name)
            if n == 0:
                self.bases()
            if later:
                rest = self.early(rest, later)
        self.block(tuple(rest))
        for _ in range(len(x.places) + bool(x.step)):
            self.t.close()

    def early(self, steps: list[Step], later: set[str]) -> list[Step]:
        """Writes what comes first and does not depend on places of loops that begin later; answers what is left."""
        for n, s in enumerate(steps):
            rest = tuple(steps[n + 1 :])
            spoken = {m for e in expressions((s,)) for m in names_in(e)}
            plain = not (read_by((s,)) & stored_by(self.launch_.body)) and not stored_by((s,))
            if not plain or spoken & later or assigned_by((s,)) & assigned_by(rest) or isinstance(s, If):
                return steps[n:]
            self.step(s)
        return []

    def bases(self) -> None:
        """Where rows of the place begin, once all places are known."""
        for s in every(self.launch_.body):
            for e in [*own(s), *(s.targets if isinstance(s, Set) else ())]:
                for r in e.reads:
                    self.places.offset(r)
        self.define(self.places.bases)

    def define(self, made: dict[str, E]) -> None:
        for n, e in made.items():
            name = self.names.fresh(n.partition(".")[0] + "At")
            self.t.add(f"const {name} = {self.printer.number(e)};")
            self.printer.holes[Local(n)] = Hole(name, "i")

    def block(self, steps: tuple[Step, ...]) -> None:
        for s in steps:
            self.step(s)

    def step(self, s: Step) -> None:
        match s:
            case Set():
                self.set(s)
            case If():
                self.branch(s)
            case For(ranges=ranges):
                rows = self.rows(s)
                for n, r in enumerate(ranges):
                    self.count(r, s.condition if n == len(ranges) - 1 else None)
                    if n == len(ranges) - 2:
                        rows += self.rows(For(ranges[-1:], None, s.body))
                self.block(s.body)
                for _ in ranges:
                    self.t.close()
                for e in rows:
                    del self.printer.rows[e]
            case _:
                self.t.add("break;")

    def rows(self, s: For) -> list[tuple[E, ...]]:
        """Before an innermost loop, the terms of its offsets that it does not change."""
        if any(isinstance(x, For) for x in every(s.body)) or len(s.ranges) > 1:
            return []
        moving = {r.name for r in s.ranges} | assigned_by(s.body)
        found: list[tuple[E, ...]] = []
        for e in (e for x in every(s.body) for e in [*own(x), *(x.targets if isinstance(x, Set) else ())]):
            for r in e.reads:
                terms = sums(self.places.offset(r))
                still = tuple(t for t in terms if not names_in(t) & moving and not t.reads)
                if len(still) < 2 or still in self.printer.rows:
                    continue
                name = self.names.fresh(r.tensor + ("Row" if still == tuple(terms[: len(still)]) else "Column"))
                self.t.add(f"const {name} = {' + '.join(self.printer.number(t, SUM) for t in still)};")
                self.printer.rows[still] = name
                found.append(still)
        return found

    def count(self, r: Range, condition: E | None) -> None:
        p, name = self.printer, self.printer.holes[Index(r.name)].text
        goes = f"{name} < {p.number(r.high, 11)}" + ("" if condition is None else f" && {p.truth(condition, 6)}")
        self.t.open(f"for (let {name} = {p.number(r.low)}; {goes}; {name}++)")

    def branch(self, s: If, head: str = "") -> None:
        self.t.open(f"{head}if ({self.printer.truth(s.condition)})")
        self.block(s.yes)
        if len(s.no) == 1 and isinstance(s.no[0], If):
            self.t.depth -= 1
            self.branch(s.no[0], "} else ")
            return
        if s.no:
            self.t.depth -= 1
            self.t.open("} else")
            self.block(s.no)
        self.t.close()

    def set(self, s: Set) -> None:
        p = self.printer
        values = [self.value(t, v) for t, v in zip(s.targets, s.values)]
        for n, keep in enumerate(settled(s.targets, s.values)):
            if keep:
                kept = self.names.fresh("kept")
                self.t.add(f"const {kept} = {values[n]};")
                values[n] = kept
        for t, v, shown in zip(s.targets, s.values, values):
            begins = ("let " if t.name in self.again else "const ") if isinstance(t, Local) and s.declares else ""
            name = p.element(t) if isinstance(t, Read) else p.holes[t].text
            change = changed_by(t, v)
            if change and shown == self.value(t, v):
                self.t.add(f"{name} {change[0]}= {p.number(change[1])};")
            else:
                self.t.add(f"{begins}{name} = {shown};")

    def value(self, t: E, v: E) -> str:
        p = self.printer
        return p.truth(v) if isinstance(t, Local) and p.holes[t].kind == "b" else p.number(v)
