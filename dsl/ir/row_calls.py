"""An op over rows in the place of a call: `order = order_of_rows(keys, true)`.

Its tensors say their axes.  At a call a pack stands for whatever axes the argument has there, so the statements are
the callee's with other tensors, loops and numbers.  How a call is written and checked is in dsl/checking/calls.py and
dsl/lowering/row_calls.py, axes that are chosen or split in dsl/lowering/call_axes.py; here is the replacement, also of
gradients (dsl/gradients/reverse.py)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from .axes import Axis, axes, loop_index
from .builders import FALSE, ONE, TRUE, ZERO, add, compared, is_comparison, is_const, mul, sym, truth
from .expression import Binary, E, Index, Pack, RawResult, Read, Symbol
from .program import Dim, Dtype, Fresh, Loop, Raw, Stmt, Tensor
from .rewriting import build


class Callee(Protocol):
    """What is asked of an op that is called (dsl.opdef.OpDef)."""

    name: str
    outputs: list[str]
    tensors: dict[str, Tensor]
    grads: dict[str, list[Stmt]]


@dataclass(eq=False)
class Inlined:
    """op: the callee.  names: its tensors -> the caller's; of a body, dsl.ir.program.Raw knows them.  packs: what
    its packs stand for.  env: its sizes and options -> the caller's formulas.  T: the dtype that its type T is here,
    "T" or "int" or "bool"."""

    op: Callee
    names: dict[str, str]
    packs: dict[str, tuple[Axis, ...]]
    env: dict[str, E] = field(default_factory=dict)
    T: Dtype = "T"

    # --- Formulas ---

    def expression(self, e: E, at: dict[str, tuple[E, ...]]) -> E:
        """at: what each loop of the callee has become."""
        match e:
            case Read(tensor, index, fallback):
                return Read(
                    self.names[tensor],
                    self.places(tensor, index, at),
                    None if fallback is None else self.expression(fallback, at),
                )
            case Index(loop):
                return at[loop][0]
            case Symbol(name):
                if name in self.env:
                    return self.env[name]
                if name in ("inf", "nan"):
                    return e
                raise NotInlined(name)
            case RawResult(raw, operands):
                return RawResult(self.raw(raw), tuple([self.expression(a, at) for a in operands]))
        parts = tuple([self.expression(a, at) for a in e.parts()])
        if isinstance(e, Binary):
            left, right = parts
            if is_comparison(e.operator) and is_const(left) and is_const(right):
                return truth(compared(e.operator, left.value, right.value))
            if e.operator in ("and", "or") and (left in (TRUE, FALSE) or right in (TRUE, FALSE)):
                stops = TRUE if e.operator == "or" else FALSE
                return stops if stops in parts else left if right in (TRUE, FALSE) else right
        return build(e, parts)

    def places(self, tensor: str, index: tuple[E, ...], at: dict[str, tuple[E, ...]]) -> tuple[E, ...]:
        """An index of one of the callee's tensors."""
        return self.index(index, at)

    def index(self, args: tuple[E, ...], at: dict[str, tuple[E, ...]]) -> tuple[E, ...]:
        return tuple([i for e in args for i in (at[e.loop] if isinstance(e, Pack) else (self.expression(e, at),))])

    def raw(self, r: Raw) -> Raw:
        return replace(
            r,
            outputs=tuple((n, self.names[t]) for n, t in r.outputs),
            T=self.dtype(r.T),
            inlined=r.inlined and self.of(r.inlined),
        )

    def of(self, inner: Inlined) -> Inlined:
        """Where a call inside the callee stands in the caller."""
        packs = {n: tuple(x for a in axes for x in self.axis(a)) for n, axes in inner.packs.items()}
        return Inlined(
            inner.op, {}, packs, {n: self.expression(e, {}) for n, e in inner.env.items()}, self.dtype(inner.T)
        )

    def dtype(self, dtype: Dtype) -> Dtype:
        return self.T if dtype == "T" else dtype

    # --- Tensors ---

    def axis(self, a: Axis) -> tuple[Axis, ...]:
        if a.pack:
            return self.packs[a.pack]
        assert a.extent is not None
        return (Axis(extent=self.expression(a.extent, {})),)

    def tensor(self, t: Tensor, name: str) -> Tensor:
        """A temporary for one of the callee's tensors."""
        there = [x for a in axes(t) for x in self.axis(a)]
        return Tensor(
            name,
            "temp",
            tuple(Dim("pack", a.pack) if a.pack else Dim("one", size=a.extent) for a in there),
            self.dtype(t.dtype),
        )

    # --- Statements ---

    def begin(self, s: Stmt, fresh: Fresh, at: dict[str, tuple[E, ...]]) -> dict[str, list[Loop]]:
        """What each loop of a statement has become; its indices go into `at`."""
        made: dict[str, list[Loop]] = {}
        for v in s.loops + s.rloops:
            made[v.name] = [
                Loop(fresh(v.name), a.extent, a.pack or None)
                for a in self.axis(Axis(extent=v.extent, pack=v.pack or ""))
            ]
            at[v.name] = tuple([loop_index(w) for w in made[v.name]])
        return made

    def statement(self, s: Stmt, fresh: Fresh) -> Stmt:
        """fresh: names for loops."""
        at: dict[str, tuple[E, ...]] = {}
        made = self.begin(s, fresh, at)

        def loops(vs: tuple[Loop, ...]) -> tuple[Loop, ...]:
            return tuple([w for v in vs for w in made[v.name]])

        def only(e: E | None) -> E | None:
            return None if e is None else self.expression(e, at)

        s = replace(
            s,
            target=self.names.get(s.target, s.target),
            idx=self.places(s.target, s.idx, at),
            loops=loops(s.loops),
            rloops=loops(s.rloops),
            body=self.expression(s.body, at),
            pred=only(s.pred),
            when=only(s.when),
        )
        # over no axes at all a reduction is its body
        return (
            replace(s, red=None) if s.red is not None and not s.rloops and s.pred is None and not s.finds_index else s
        )


class NotInlined(Exception):
    """The callee asks for a number that a call cannot give; args: its symbol."""


def ranked(axes: tuple[Axis, ...]) -> E:
    """How many axes these are."""
    out: E = ZERO
    for a in axes:
        out = add(out, sym(f"rank_{a.pack}") if a.pack else ONE)
    return out


def counted(axes: tuple[Axis, ...]) -> E:
    """How many elements these axes have together."""
    out: E = ONE
    for a in axes:
        out = mul(out, sym(f"count_{a.pack}") if a.pack else a.length)
    return out
