"""Statements of a definition to statements of the loop IR: assignments, their loops, the temporaries of reductions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..ir.axes import loop_index
from ..ir.builders import FALSE, ONE, conj, read, sym
from ..ir.conditions import narrowed
from ..ir.expression import E, Random, Reduce, Symbol, walk
from ..ir.program import Dim, Loop, Owned, Stmt, Tensor
from ..ir.rewriting import indices, mapped, maybe_subst, subst, transform
from ..opdef import OpDef, Presence, Require
from ..text.syntax import Assign, Op, X
from ..text.vocabulary import is_tensor, nodes_in
from .context import Context, Mistake
from .dims import Item, Patterns
from .inline import says_axes
from .ranges import Ranges, loops_of, shifted
from .row_calls import place
from .scalar_formulas import Formulas
from .scalar_nodes import axis_of, reduce_node, strip, top_reduction
from .types import element, is_integral
from .whole_tensors import Whole, alternatives, keys_of


class Statements:
    """The state of lowering one op, and how one assignment after the other adds to it."""

    def __init__(
        self,
        op: Op,
        family: dict[str, int],
        name: str,
        defs: dict,
        trees: dict[str, Op],
        called: Callable[[str], OpDef | None],
        begun: Callable[[OpDef], None],
    ):
        """trees: all ops that it may call; called: lowers one of them; begun: takes the op before its gradients are
        made."""
        self.op, self.families, self.opname = op, family, name
        self.defs, self.trees, self.called, self.begun = defs, trees, called, begun
        self.errors = []
        self.options = {p.name: p.type for p in op.params if not is_tensor(p)}
        self.choices = {n: len(t.choices) for n, t in self.options.items() if len(t.choices) > 1}
        self.optional = {p.name for p in op.params if p.type.optional}
        self.formulas, self.ranges, self.whole = Formulas(self), Ranges(self), Whole(self)
        self.patterns = Patterns(op, family)
        self.patterns.host = lambda e: self.formulas.lower(e, Context())
        self.tensors: dict[str, Tensor] = {}
        self.items: dict[str, list[Item]] = {}
        self.scalars: dict[str, X] = {}  # locals that involve no tensor
        self.stmts: list[Stmt] = []
        self.sites = 0  # of rand()
        self.made = 0  # temporaries
        self.loops = 0  # loops that no index made
        self.required: list[Require] = []  # by what is called
        self.placed_gradients: list[Owned] = []  # those that ops say which are called in lines of their own
        self.option = self.whole.reduced_option()  # the dim option that splits the domain, or ""

    def site(self) -> int:
        self.sites += 1
        return self.sites - 1

    def temp(self) -> str:
        while (name := f"t{self.made}_") in self.tensors:
            self.made += 1
        return name

    def tensor(self, n: str) -> str:
        """`g` is the cotangent of the only result."""
        return f"g_{self.op.outputs[0].name}" if n == "g" and "g" not in self.tensors else n

    def is_tensor(self, n: str) -> bool:
        return self.tensor(n) in self.tensors

    def axis_keys(self, t: str):
        return keys_of(self.items[t])

    def scalar(self, n: str, c: Context) -> E:
        return self.formulas.lower(self.scalars[n], c)

    def sizes_differ(self, a: E, b: E) -> bool:
        computed = {n for n, _ in self.computed} | set(self.options)
        return isinstance(a, Symbol) and isinstance(b, Symbol) and a.name not in computed and b.name not in computed

    def declare(self, t: Tensor, items: list[Item]):
        self.tensors[t.name] = t
        self.items[t.name] = items

    def guarded(self, f, *args):
        try:
            f(*args)
        except Mistake as m:
            self.fail(m)

    def fail(self, m: Mistake):
        self.errors.append(m.error)

    def assign(self, a: Assign):
        if a.index is None and a.value.kind == "call" and (callee := self.callee(a.value)):
            return place(self, a, callee)
        if a.index is None and a.mode == "=" and self.whole.is_scalar(a):
            self.scalars[a.name] = a.value
            return
        if a.index is None and a.mode not in ("=", "+="):
            raise Mistake("syntax", f"`{a.mode}` cannot stand here", a.span, "assign with `=` or `+=`")
        cases = alternatives(a.value, self)
        shapes = []
        for when, value in cases:
            if value.kind in ("name", "read") and self.same_place(a, value):
                continue  # x = x
            w = narrowed(self.formulas.lower(when, Context()), self.choices) if when is not None else None
            if w == FALSE:
                continue
            if a.name in self.optional:
                w = conj(w, sym(Presence + a.name))
            if a.index is None:
                shapes.append((w, self.whole.assign(a, value, w)))
            else:
                self.indexed(a, value, w)
        if a.index is None and a.name not in self.tensors:
            self.whole.declare_result(a.name, shapes)
        if a.index is None:
            self.whole.flush(a.name)

    def callee(self, e: X) -> OpDef | None:
        """The op that e calls whose tensors say their axes."""
        tree = self.trees.get(e.val) if e.val not in self.defs else None
        if tree is None or not says_axes(tree):
            return None
        if (made := self.called(e.val)) is None:
            raise Mistake("type", f"`{e.val}` cannot be called", e.span, "its own definition has mistakes")
        return made

    def loop(self, stem: str) -> str:
        """A name for a loop of a statement that no index of the definition made."""
        self.loops += 1
        return f"{stem.rstrip('_0123456789') or 'i'}{self.loops}_"

    def same_place(self, a: Assign, v: X) -> bool:
        return (
            v.kind == "name"
            and a.index is None
            and v.val == a.name
            or v.kind == "read"
            and a.index is not None
            and v.args[0].kind == "name"
            and v.args[0].val == a.name
            and v.args[1:] == a.index
        )

    def indexed(self, a: Assign, value: X, when: E | None):
        """`out[*b, m] = ...`"""
        declared = self.items.get(a.name)
        c, loops = Context(), []
        if declared is not None and len(declared) != len(a.index):
            raise Mistake("rank", f"`{a.name}` takes {len(declared)} indices, but gets {len(a.index)}", a.span)
        names = self.left_names(a, declared)
        for name, is_pack, span, item in names:
            own = [(a.name, item, span)] if item is not None else []
            sources: list = []  # at indices read from a tensor it runs over that tensor's axes
            for x in a.index:
                self.ranges.alone(x, name, sources)
            if a.mode == "=":
                sources += own
            self.ranges.alone(value, name, sources)
            sources = sources or own  # what is changed need not be reached everywhere
            self.ranges.anywhere(name, sources)
            high = next((b.high for b in a.extents if b.name == name), None)
            meaning = self.ranges.of(name, is_pack, sources, span, high)
            c = c.having({name: meaning})
            loops += loops_of(meaning)
        body = self.formulas.lower(value, c)
        if declared is None:
            # A zero in the place of an index is an axis of length one.
            one = ("one", Loop(self.loop("one"), ONE, None))
            meanings, places = {n: c.loops[n] for n, *_ in names}, []
            for x in a.index:
                bare = x.args[0] if x.kind == "spread" else x
                if x.kind == "num" and x.val == 0:
                    places.append(("", one))
                elif bare.kind == "name" and bare.val in meanings:
                    places.append((bare.val, meanings.pop(bare.val)))
                else:
                    raise Mistake(
                        "name", f"`{a.name}` is made here: each of its indices is a name of its own, or 0", x.span
                    )
            items = [
                Item({"one": "one", "pack": "pack", "fixed": "fixed"}[m[0]], tuple(axis_of(l) for l in loops_of(m)), n)
                for n, m in places
            ]
            dims = tuple(dim_of(l) for _, m in places for l in loops_of(m))
            self.declare(
                Tensor(
                    a.name, "temp", dims, element(strip(body), self.tensors, top_reduction(body), is_integral(self.op))
                ),
                items,
            )
        elif (
            (t := self.tensors[a.name]).role == "temp"
            and t.dtype != "T"
            and element(strip(body), self.tensors, top_reduction(body)) == "T"
        ):
            self.tensors[a.name] = replace(t, dtype="T")  # another alternative is a float
        at = tuple(
            self.formulas.index(a.name, a.index, c, X("read", (X("name", (), a.name, a.name_span),), None, a.span))
        )
        told = {n for e in at for n in indices(e)}
        if a.mode == "=" and (lost := [v.name for v in loops if v.name not in told]):
            raise Mistake(
                "index",
                f"an element of `{a.name}` gets two values",
                (a.name_span[0], a.index[-1].span[1] + 1),
                f"it does not depend on `{lost[0]}`",
                help=(f"to add them, write  {a.name}[...] = 0,  then  {a.name}[...] += ...",),
            )
        self.emit(a.name, at, loops, body, a.mode, when)

    def left_names(self, a: Assign, declared):
        """(index, is it a pack, where, the item in which it stands alone or None) of all indices on the left."""
        out, seen = [], set()
        for n, x in enumerate(a.index):
            bare = x.args[0] if x.kind == "spread" else x
            if (
                bare.kind == "name"
                and bare.val not in seen
                and bare.val not in self.options
                and bare.val not in self.patterns.rank
                and not self.is_size(bare.val)
            ):
                seen.add(bare.val)
                out.append((bare.val, x.kind == "spread", bare.span, declared[n] if declared else None))
        for x in a.index:  # indices inside computed ones: out[index[j]]
            for node in nodes_in(x):
                if node.kind in ("name", "spread"):
                    bare = node.args[0] if node.kind == "spread" else node
                    if bare.kind == "name" and bare.val not in seen and not self.known(bare.val):
                        seen.add(bare.val)
                        out.append((bare.val, node.kind == "spread", bare.span, None))
        return out

    def is_pack(self, n: str) -> bool:
        """Whether a name is a pack of axes, as many as a call brings."""
        return any(d.kind == "pack" and d.name == n for tensor in self.tensors.values() for d in tensor.dims)

    def is_size(self, n: str) -> bool:
        return n[:1].isupper()

    def known(self, n: str) -> bool:
        return (
            n in self.options
            or self.is_tensor(n)
            or n in self.patterns.rank
            or self.is_size(n)
            or n in self.scalars
            or n in ("inf", "nan", "pi", "true", "false")
            or n in self.families
        )

    def reduction(self, e: X, c: Context) -> E:
        """A reduction as a node of the expression, not yet a statement."""
        if e.kind == "reduce" and e.val[0] == "mean" and e.val[2] is not None:
            raise Mistake(
                "type", "a mean takes no condition", e.val[2].span, help=("divide a `sum` by the number of its points",)
            )
        if c.whole is not None:
            return self.whole.reduction(e, c)
        if e.kind == "call":
            raise Mistake(
                "index", f"`{e.val}` over everything stands in a whole-tensor formula", e.span, f"write  {e.val}[k] ..."
            )
        red, binders, where = e.val
        shifts: dict[str, E] = {}
        loops: list[Loop] = []
        body = [x for x in (e.args[0], where) if x is not None]
        inner = c
        for b in binders:
            meaning, low = self.ranges.binder(b, body, inner)
            inner = inner.having({b.name: meaning})
            loops += loops_of(meaning)
            if low is not None:
                shifts[b.name] = shifted(b.name, low)
        value = subst(self.formulas.lower(e.args[0], inner), shifts)
        pred = maybe_subst(self.condition(where, inner), shifts) if where is not None else None
        return reduce_node(red, value, pred, tuple(loops))

    def condition(self, where: X, c: Context) -> E | None:
        """A filter; over packs of known rank it must hold for every component."""
        rank = self.formulas.loops_rank(where, c) or self.patterns.rank_in(where)
        if rank is None:
            return self.formulas.lower(where, c)
        return conj(*(self.formulas.lower(where, c.at(j)) for j in range(rank)))

    def emit(self, target: str, at: tuple, loops: list[Loop], body: E, mode: str, when: E | None):
        """Adds the statement; reductions inside its body come first, as temporaries."""
        if isinstance(body, Reduce) and not {v.name for v in loops} & {v.name for v in body.over}:
            red, rloops = body.reduction, body.over
            value = self.hoist(body.body, [*loops, *rloops], when)
            pred = self.hoist(body.pred, [*loops, *rloops], when) if body.pred is not None else None
            value, pred = self.drawn(value, loops, when), self.drawn(pred, loops, when)
            self.stmts.append(Stmt(target, at, tuple(loops), value, red, rloops, pred, mode, when))
        else:
            self.stmts.append(Stmt(target, at, tuple(loops), self.hoist(body, loops, when), mode=mode, when=when))

    def hoist(self, e: E, loops: list[Loop], when: E | None) -> E:
        """Gives each reduction inside e a temporary over the loops that it depends on."""
        if not any(isinstance(n, Reduce) for n in walk(e)):
            return e
        if isinstance(e, Reduce):
            red, rloops = e.reduction, e.over
            bound = {v.name for v in rloops}
            loops = [v for v in loops if v.name not in bound]  # a reduction of reduced values hides their loops
            scope = [*loops, *rloops]
            value = self.hoist(e.body, scope, when)
            pred = self.hoist(e.pred, scope, when) if e.pred is not None else None
            used = (indices(value) | indices(pred)) - bound
            draws = any(isinstance(n, Random) for x in (value, pred) for n in walk(x))
            outer = [v for v in loops if v.name in used or draws]
            value, pred = self.drawn(value, outer, when), self.drawn(pred, outer, when)
            t = self.temp()
            items = [Item("pack" if v.pack else "one", (axis_of(v),), v.name) for v in outer]
            self.declare(
                Tensor(
                    t, "temp", self.whole.dims_of_loops(outer), element(value, self.tensors, red, is_integral(self.op))
                ),
                items,
            )
            at = tuple(map(loop_index, outer))
            self.stmts.append(Stmt(t, at, tuple(outer), value, red, rloops, pred, when=when))
            return read(t, at)
        return mapped(e, lambda x: self.hoist(x, loops, when))

    def drawn(self, e: E | None, loops: list[Loop], when: E | None) -> E | None:
        """e of a reduction with its random numbers, one for each point of the result, made before it."""
        for n in [n for n in walk(e) if isinstance(n, Random)]:
            t, at = self.temp(), tuple(map(loop_index, loops))
            items = [Item("pack" if v.pack else "one", (axis_of(v),), v.name) for v in loops]
            self.declare(Tensor(t, "temp", self.whole.dims_of_loops(loops), "float"), items)
            self.stmts.append(Stmt(t, at, tuple(loops), n, when=when))
            e = transform(e, lambda x: read(t, at) if x == n else None)
        return e


def dim_of(v: Loop) -> Dim:
    return Dim("pack", v.pack) if v.pack else Dim("one", size=v.extent)
