"""Routines (dsl/lowering/routines.py) and bodies (dsl/ir/steps.py) as statements over nodes (data/statements.py)."""

from __future__ import annotations

from functools import reduce

from dsl.ir import expression as ir
from dsl.ir.builders import ZERO, add, mul
from dsl.ir.expression import E
from dsl.ir.program import Body
from dsl.ir.steps import Break, For, If, Set, Step
from dsl.lowering import routines
from dsl.lowering.routines import Routine

from ..data.nodes import Apply, Binary, Constant, Index, Item, Node, Uniform
from ..data.statements import Assign, Choose, Leave, Procedure, Repeat, Statement
from .bodies import BodyKinds, Layout
from .context import NOTHING
from .formulas import Lowering
from .kinds import Kinds

POWERS_OF_TWO = (2, 4, 8, 16)  # divisors whose remainder is a mask, as far as bodies have any
KEYWORDS = ("for", "if", "break", "else")  # of the notation


class RoutineKinds(Kinds):
    """Kinds inside a routine: everything it names has one kind."""

    def __init__(self, integral: bool):
        self.op, self.T = NOTHING, "i" if integral else "f"
        self.elements, self.steps, self.known = [], [], {}

    def symbol(self, name: str) -> str:
        return "f"


class RoutineLowering(Lowering):
    """The expressions of one routine as nodes."""

    def __init__(self, integral: bool):
        self.kinds = RoutineKinds(integral)
        self.op, self.integral, self.values = NOTHING, integral, frozenset()

    def local(self, name: str) -> Node:
        return Index(name)


def routine(r: Routine, integral: bool) -> Procedure:
    """A routine of floats, or of whole numbers."""
    w = RoutineLowering(integral)
    kind = w.kinds.T

    def assigned(s: routines.Set) -> Assign:
        return Assign([Index(n) for n in s.names], [w.node(e, kind) for e in s.values])

    def bound(e: E) -> Node:
        """An end of a loop: the next whole number."""
        return w.node(e, "i") if w.kinds.kind(e) != "f" else Apply("to_int", [Apply("ceil", [w.node(e, "f")])])

    statements: list[Statement] = []
    for s in r.steps:
        if isinstance(s, routines.Set):
            statements.append(assigned(s))
        else:
            condition = None if s.condition is None else w.node(s.condition, "b")
            inner: list[Statement] = [assigned(t) for t in s.steps]
            statements.append(Repeat(s.index, bound(s.low), bound(s.high), condition, inner))
    return Procedure(list(r.params), dict.fromkeys((*r.params, *r.locals()), kind), statements)


class BodyStatements(Lowering):
    """The statements of one launch.  tensors: their names in order.  taken: the names that other launches gave to
    variables, with their kinds."""

    def __init__(self, layout: Layout, tensors: list[str], taken: dict[str, str]):
        self.layout, self.kinds, self.taken = layout, BodyKinds(layout), taken
        self.op, self.integral, self.values = NOTHING, False, frozenset()
        self.numbers = {name: n for n, name in enumerate(tensors)}
        self.names: dict[str, str] = {}
        self.fixed = dict(layout.launch.kinds)

    def name(self, of: str, counts: bool = False) -> str:
        """The name of a variable, or of one that counts: a local may have the name of a loop elsewhere."""
        key = f"for {of}" if counts else of
        if key not in self.names:
            kind = "i" if counts else self.fixed.get(of, "i")
            wanted = base = of.replace(".", "_").rstrip("_")
            n = 1
            while wanted in KEYWORDS or wanted in self.names.values() or self.taken.get(wanted, kind) != kind:
                n += 1
                wanted = f"{base}{n}"
            self.names[key] = wanted
            self.taken[wanted] = kind
        return self.names[key]

    def local(self, name: str) -> Node:
        return Index(self.name(name))

    def symbol(self, name: str) -> Node:
        uniform = Uniform(name)
        return Binary("!=", uniform, Constant("i", 0)) if self.kinds.symbol(name) == "b" else uniform

    def own(self, e: E, kind: str, want: str) -> Node:
        match e:
            case ir.Index(loop):
                return Index(self.name(loop, True))
            case ir.Read():
                return self.item(e)
            case ir.Binary("//" | "%" as operator, left, right) if kind == "i" and self.natural(left, right):
                a, b = self.node(left, "i"), self.node(right, "i")
                if operator == "%" and isinstance(b, Constant) and b.value in POWERS_OF_TWO:
                    return Binary("&", a, Constant("i", b.value - 1))
                quotient = Apply("quotient", [a, b])
                return quotient if operator == "//" else Binary("-", a, Binary("*", quotient, b))
            case ir.Call("isnan", (operand,)) if self.kinds.kind(operand) == "T":
                return Apply("is_nan", [self.node(operand, "T")])
        return super().own(e, kind, want)

    def natural(self, *operands: E) -> bool:
        return all(map(self.layout.is_natural, operands))

    def cast(self, e: Node, kind: str, want: str) -> Node:
        return e if kind == "T" and want == "i" else super().cast(e, kind, want)

    def item(self, e: ir.Read) -> Item:
        tensor = self.layout.tensors[e.tensor]
        terms = [reduce(mul, tensor.extents[n + 1 :], i) for n, i in enumerate(e.index)]
        return Item(self.numbers[e.tensor], self.node(reduce(add, terms) if terms else ZERO, "i"))

    def all(self, steps: tuple[Step, ...]) -> list[Statement]:
        return [made for s in steps for made in self.one(s)]

    def one(self, s: Step) -> list[Statement]:
        match s:
            case Set(targets, values):
                to: list[Node] = [self.item(t) if isinstance(t, ir.Read) else Index(self.name(t.name)) for t in targets]
                return [Assign(to, [self.value(t, v) for t, v in zip(targets, values)])]
            case If(condition, yes, no):
                return [Choose(self.node(condition, "b"), self.all(yes), self.all(no))]
            case For(ranges, condition, body):
                made = self.all(body)
                for n, r in reversed(list(enumerate(ranges))):
                    holds = None if condition is None or n < len(ranges) - 1 else self.node(condition, "b")
                    made = [Repeat(self.name(r.name, True), self.node(r.low, "i"), self.node(r.high, "i"), holds, made)]
                return made
            case Break():
                return [Leave()]

    def value(self, target: E, v: E) -> Node:
        kind = self.kinds.kind(target)
        return self.node(v, "i" if kind == "T" and isinstance(v, ir.Constant) else kind)

    def launch(self) -> list[Statement]:
        """Its places, one after another; the whole as often as it is launched."""
        x = self.layout.launch
        made = self.all(x.body)
        for r in reversed(x.places):
            made = [Repeat(self.name(r.name, True), self.node(r.low, "i"), self.node(r.high, "i"), None, made)]
        if x.steps is None:
            return made
        return [Repeat(self.name(x.step, True), Constant("i", 0), self.node(x.steps, "i"), None, made)]


def body(b: Body, tensors: list[str]) -> Procedure:
    """The launches of a body, one after another.  tensors: the names of those that its kernel accesses, in order."""
    kinds: dict[str, str] = {}
    statements = [s for x in b.launches for s in BodyStatements(Layout(b, x), tensors, kinds).launch()]
    return Procedure([], kinds, statements)
