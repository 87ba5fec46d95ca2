"""The steps of a body, lowered: scalars of the loop IR, locals with kinds (dsl/ir/body_kinds.py), reductions as
loops."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import axes
from ..ir.body_kinds import NAMES, Kinds, Unkind
from ..ir.builders import FALSE, ONE, TRUE, ZERO, idx, neg, sym
from ..ir.expression import Binary, Call, Cast, Constant, E, Local, Read, Symbol, walk
from ..ir.program import BodyLaunch, BodyTensor, Tensor
from ..ir.rewriting import symbols
from ..ir.steps import Break, For, If, Range, Set, Step, every, expressions, is_natural, own, read_by, stored_by
from ..opdef import symbol
from ..text.syntax import Branch, Count, Launch, Put, Span, X
from ..text.syntax import Step as Written
from ..text.vocabulary import is_tensor
from .context import Context, Mistake
from .dims import Item
from .scalar_formulas import Formulas
from .scalar_nodes import product
from .types import is_integral_formula

TENSOR_KINDS = {"T": "T", "own": "T", "int": "i", "int32": "i", "bool": "b", "float": "f"}
CLASS_KINDS = {"Float": "f", "Int": "i", "Bits": "i", "Bool": "b"}
INITIAL: dict[str, E] = {"sum": ZERO, "prod": ONE, "any": FALSE, "all": TRUE}


def tensors_of(work, inputs: list[str]) -> tuple[BodyTensor, ...]:
    """The tensors of an op's body; `work` is its Lowering."""
    op = work.op
    classes = {p.name: p.type.name for p in op.params if is_tensor(p)}
    classes |= {o.name: o.type.name for o in (*op.outputs, *op.scratch)}

    def tensor(n: str) -> BodyTensor:
        t: Tensor = work.tensors[n]
        extents = tuple(sym(f"count_{a.pack}") if a.pack else a.extent for a in axes(t))
        return BodyTensor(n, CLASS_KINDS.get(classes[n]) or TENSOR_KINDS[t.dtype], extents)

    return tuple(map(tensor, [*inputs, *(o.name for o in op.outputs), *(s.name for s in op.scratch)]))


class BodyLowering:
    """One launch of an op: what its formulas ask for, and its steps so far.  `work`: the op's Lowering."""

    def __init__(self, work, tensors: tuple[BodyTensor, ...]) -> None:
        self.work, self.tensors_ = work, tensors
        self.formulas = Formulas(self)
        kinds = {symbol(p.name): p.type.name for p in work.op.params if not is_tensor(p)}
        computed = dict(work.computed)
        symbols_ = {n: {"bool": "b", "real": "f"}.get(t, "i") for n, t in kinds.items()}
        symbols_ |= {n: "i" if is_integral_formula(e, kinds) else "f" for n, e in computed.items()}
        self.kinds = Kinds(tensors, symbols_)
        self.names: dict[str, E] = {}
        self.made: dict[str, int] = {}
        self.out: list[Step] = []
        self.spans: dict[int, Span] = {}
        self.wanted = ""  # the local that the next reduction is

    # What formulas ask (dsl/lowering/scalar_formulas.py): as an op's lowering, but a leading pack is one axis.
    def __getattr__(self, name: str):
        return getattr(self.work, name)

    @property
    def items(self) -> dict[str, list[Item]]:
        return {n: [Item("one", x.axes, x.name) for x in items] for n, items in self.work.items.items()}

    def site(self) -> int:
        raise Mistake("type", "a body draws no random numbers", self.span)

    def reduction(self, e: X, c: Context) -> E:
        """A reduction is a loop before the step that it stands in."""
        if e.kind != "reduce":
            raise Mistake("rank", "a body has elements, no whole tensors", e.span)
        function, binders, condition = e.val
        if function == "mean":
            raise Mistake("type", "a mean is a sum, divided", e.span)
        answer = self.answer({"prod": "product", "argmax": "best", "argmin": "best"}.get(function, function))
        kept, self.out, names = self.out, [], dict(self.names)
        ranges = []
        for b in binders:
            ranges.append(Range(b.name, ZERO if b.low is None else self.loop_bound(b.low), self.loop_bound(b.high)))
            self.names[b.name] = idx(b.name)
        filter_ = None if condition is None else self.value(condition)
        value = self.value(e.args[0])
        if function in ("argmax", "argmin"):
            most = self.accumulator("most")
            start = (
                Set((answer,), (ranges[0].low,), True),
                Set((most,), (sym("inf") if function == "argmin" else neg(sym("inf")),), True),
            )
            here = self.accumulator("value")
            better = Binary("<" if function == "argmin" else ">", here, most)
            step = (Set((here,), (value,), True), If(better, (Set((answer, most), (idx(ranges[0].name), here)),)))
        else:
            first = {"max": neg(sym("inf")), "min": sym("inf")}.get(function)
            start = (Set((answer,), (INITIAL[function] if first is None else first,), True),)
            operator = {"sum": "+", "prod": "*", "any": "or", "all": "and"}.get(function)
            step = (
                Set((answer,), (Binary(operator, answer, value) if operator else Call(function, (answer, value)),)),
            )
        body = (*self.out, *step)
        if filter_ is not None:
            body = (If(filter_, body),)
        for r in reversed(ranges):
            body = (For((r,), None, body),)
        self.out, self.names = [*kept, *start, *body], names
        return answer

    def accumulator(self, stem: str) -> E:
        return Local(self.fresh(stem + "_"))

    def answer(self, stem: str) -> E:
        """What holds the value of a reduction: the local that it is assigned to, or one without a name."""
        wanted, self.wanted = self.wanted, ""
        return Local(self.fresh(wanted)) if wanted else self.accumulator(stem)

    def fresh(self, n: str) -> str:
        """A local of its own for a name that begins to live here."""
        self.made[n] = self.made.get(n, 0) + 1
        return n if self.made[n] == 1 else f"{n}.{self.made[n]}"

    # --- Steps ---

    def value(self, e: X) -> E:
        return self.formulas.lower(e, Context(names=self.names))

    def loop_bound(self, e: X) -> E:
        """An index or an end of a loop."""
        return self.value(e)

    def launch(self, x: Launch) -> BodyLaunch:
        """Raises Mistake."""
        if x.step:
            self.names[x.step] = idx(x.step)
        host = lambda e: None if e is None else self.work.formulas.lower(e, Context())
        places = tuple(Range(b.name, ZERO, host(b.high)) for b in x.places)
        self.names |= {b.name: idx(b.name) for b in x.places}
        steps = self.block(x.body)
        self.infer(steps, x.span)
        steps = tuple(map(self.settled, steps))
        over = product(r.high for r in places)
        return BodyLaunch(
            x.name, x.step or "", host(x.steps), over, x.lanes, places, steps, tuple(self.kinds.locals.items())
        )

    def block(self, steps: tuple[Written, ...]) -> tuple[Step, ...]:
        kept, self.out, names = self.out, [], dict(self.names)
        for s in steps:
            before = len(self.out)
            self.span = s.span
            self.step(s)
            for made in every(self.out[before:]):
                self.spans.setdefault(id(made), s.span)
        made, self.out, self.names = tuple(self.out), kept, names
        return made

    def step(self, s: Written) -> None:
        match s:
            case Put():
                self.put(s)
            case Branch():
                condition = self.value(s.condition)
                self.out.append(If(condition, self.block(s.steps), self.block(s.otherwise)))
            case Count():
                ranges = [
                    Range(b.name, ZERO if b.low is None else self.loop_bound(b.low), self.loop_bound(b.high))
                    for b in s.ranges
                ]
                names = dict(self.names)
                self.names |= {r.name: idx(r.name) for r in ranges}
                before = len(self.out)
                condition = None if s.condition is None else self.value(s.condition)
                if len(self.out) > before:
                    raise Mistake(
                        "type", "a reduction cannot stand behind `while`", s.condition.span, "name it at the loop's end"
                    )
                body = self.block(s.steps)
                self.names = names
                if s.shared or len(ranges) == 1:
                    self.out.append(For(tuple(ranges), condition, body, s.shared))
                else:
                    raise Mistake("syntax", "a loop has one range", s.span)
            case _:
                self.out.append(Break())

    def put(self, s: Put) -> None:
        if (
            len(s.targets) == 1
            and s.values[0].kind == "reduce"
            and s.targets[0].kind == "name"
            and s.targets[0].val not in self.names
        ):
            self.wanted = s.targets[0].val
            self.names[s.targets[0].val] = self.value(s.values[0])
            return
        values = tuple(map(self.value, s.values))
        fresh = [t.val for t in s.targets if t.kind == "name" and t.val not in self.names]
        for n in fresh:
            self.names[n] = Local(self.fresh(n))
        targets = tuple(self.value(t) for t in s.targets)
        if s.mode != "=":
            operator = s.mode[:-1]
            values = (
                Call(operator, (targets[0], values[0]))
                if operator in ("max", "min")
                else Binary(operator, targets[0], values[0]),
            )
        if fresh and len(fresh) < len(targets) or len({t.kind for t in s.targets}) > 1:
            raise Mistake("syntax", "these do not begin together", s.span, "assign them one after the other")
        self.out.append(Set(targets, values, bool(fresh)))

    # --- Kinds ---

    def infer(self, steps: tuple[Step, ...], span: Span) -> None:
        """The kind of each local: what all its values have together."""
        sets = [s for s in every(steps) if isinstance(s, Set)]
        known: dict[str, str] | None = None
        while known != self.kinds.locals:
            known = dict(self.kinds.locals)
            for s in sets:
                for t, v in zip(s.targets, s.values):
                    if not isinstance(t, Local):
                        continue
                    try:
                        found = self.kinds.join((v, t))
                    except Unkind as u:
                        raise Mistake("type", f"{u}", self.spans.get(id(s), span)) from None
                    if found:
                        self.kinds.locals[t.name] = found
        for s in every(steps):
            try:
                self.check(s)
            except Unkind as u:
                raise Mistake("type", f"{u}", self.spans.get(id(s), span)) from None

    def check(self, s: Step) -> None:
        for e in own(s):
            for n in walk(e):
                self.kinds.kind(n)
                for i in n.index if isinstance(n, Read) else ():
                    self.index(i)
        match s:
            case Set(targets=targets, values=values):
                for t, v in zip(targets, values):
                    if isinstance(t, Read):
                        self.stored(t, v)
                        for i in t.index:
                            self.index(i)
            case For(ranges=ranges, condition=condition):
                for r in ranges:
                    self.index(r.low)
                    self.index(r.high)
                self.truth(condition)
            case If(condition=condition):
                self.truth(condition)

    def index(self, e: E) -> None:
        if self.kinds.kind(e) not in ("i", "f"):
            raise Unkind(f"{NAMES[self.kinds.kind(e)]} is no index")

    def truth(self, e: E | None) -> None:
        if e is not None and self.kinds.kind(e) != "b":
            raise Unkind(f"a condition is true or false, and this is {NAMES[self.kinds.kind(e)]}")

    def stored(self, t: Read, v: E) -> None:
        kind, own_ = self.kinds.kind(v), self.kinds.kind(t)
        if kind == own_ or own_ == "f" and kind == "i":
            return
        if own_ == "T" and isinstance(v, Constant) and kind != "b":
            return
        raise Unkind(f"an element of `{t.tensor}` is {NAMES[own_]}, and this is {NAMES[kind]}")

    def settled(self, s: Step) -> Step:
        """The same with a cast wherever a float becomes an index."""

        def cut(e: E) -> E:
            return Cast("i", e) if self.kinds.kind(e) == "f" else e

        def inside(e: E) -> E:
            parts = tuple(map(inside, e.parts()))
            return e.of(tuple(map(cut, parts)) if isinstance(e, Read) else parts) if parts else e

        match s:
            case Set(targets=targets, values=values):
                return replace(s, targets=tuple(map(inside, targets)), values=tuple(map(inside, values)))
            case For(ranges=ranges, condition=condition, body=body):
                made = tuple(Range(r.name, cut(inside(r.low)), cut(inside(r.high))) for r in ranges)
                return replace(
                    s,
                    ranges=made,
                    condition=None if condition is None else inside(condition),
                    body=tuple(map(self.settled, body)),
                )
            case If(condition=condition, yes=yes, no=no):
                return If(inside(condition), tuple(map(self.settled, yes)), tuple(map(self.settled, no)))
        return s


def symbols_of(
    launches: tuple[BodyLaunch, ...], kinds: dict[str, str], tensors: tuple[BodyTensor, ...]
) -> dict[str, str]:
    """The sizes and options that steps and the places of elements speak of, and their kinds."""
    used = {n for x in launches for e in expressions(x.body) for n in symbols(e)}
    steps = [s for x in launches for s in x.body]
    touched = read_by(steps) | stored_by(steps)
    used |= {n for t in tensors if t.name in touched for e in t.extents[1:] for n in symbols(e)}
    used |= {n for x in launches for r in x.places for n in symbols(r.high)}
    return {n: kinds.get(n, "i") for n in sorted(used - {"inf", "nan"})}


def natural_sizes(work, tensors: tuple[BodyTensor, ...], launches: tuple[BodyLaunch, ...]) -> frozenset[str]:
    """The sizes that are never negative: those of axes, and computed ones whose formulas say so.  A launch over fewer
    places than none does not run."""
    sizes = {n for t in tensors for e in t.extents for n in e.symbols if isinstance(e, Symbol)}
    sizes |= {r.high.name for x in launches for r in x.places if isinstance(r.high, Symbol)}
    sizes |= {f"count_{a.pack}" for t in work.tensors.values() for a in axes(t) if a.pack}
    for name, e in work.computed:
        if is_natural(e, sizes):
            sizes.add(name)
    return frozenset(sizes)
