"""One op: from its checked tree to `OpDef`, statement by statement.

Index notation and whole-tensor formulas become the same statements.  A whole tensor's axes are the domain:
one pack `I`, or, when a `dim` option is reduced over, two packs `kept` and `dropped`.  An `if` on options at
the top of a formula makes alternative statements with `when`, so shapes may differ; any reduction inside a
formula becomes a statement of its own.  Calls of other ops were put in place before (dsl/lowering/inline.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..checking.elements import groups
from ..ir.axes import stretches
from ..ir.conditions import either, narrowed
from ..ir.expression import (
    FALSE,
    ONE,
    E,
    Random,
    RawResult,
    Read,
    Reduce,
    Symbol,
    conj,
    indices,
    mapped,
    maybe_subst,
    read,
    subst,
    sym,
    transform,
    walk,
)
from ..ir.program import Dim, Loop, Program, Stmt, Tensor
from ..opdef import OpDef, Owned, Presence, Require
from ..text.syntax import Assign, Op, Own, X
from ..text.vocabulary import is_tensor, nodes_in
from .body_statements import body_statements, own
from .dims import Item, Patterns
from .inline import over_rows
from .ranges import Ranges, loops_of, shifted
from .row_calls import place
from .scalar_formulas import Context, Formulas, Mistake, axis_of, loop_index, reduce_node, strip, top_reduction
from .signature_ir import parameters, requirements, sizes_of
from .types import element, is_integral, output_dtype, promotion
from .whole_tensors import Whole, alternatives, keys_of


class Lowering:
    """The state of lowering one op for one value of its family variable."""

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
        """trees: all ops that it may call; called: lowers one of them; begun: is told the op before its gradients are
        made."""
        self.op, self.families, self.opname, self.defs, self.trees, self.called, self.begun = (
            op,
            family,
            name,
            defs,
            trees,
            called,
            begun,
        )
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
        self.option = self.whole.reduced_option()  # the dim option that splits the domain, or ""

    # --- What formulas ask -----------------------------------------------------------------------

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

    # --- The whole op ----------------------------------------------------------------------------

    def run(self) -> OpDef | None:
        """The op, or None if a mistake in its signature leaves nothing to go on with; see `errors`."""
        try:
            return self.lowered()
        except Mistake as m:
            self.fail(m)
        return None

    def lowered(self) -> OpDef:
        op = self.op
        kind, promoted = promotion(op)
        self.whole_T = kind != "float"  # whether T may be a type of whole numbers
        self.computed: list[tuple[str, E]] = []
        for p in op.params:
            if not is_tensor(p):
                continue
            dims, items = self.patterns.of(p.type.dims) if p.type.dims is not None else self.whole.domain()
            dtype = "T" if p.name in promoted else "bool" if p.type.name == "Bool" else "own"
            self.declare(Tensor(p.name, "input", dims, dtype, optional=p.type.optional, mut=p.mut), items)
        self.computed = sizes_of(self)
        for o in op.outputs:
            if o.type is not None and o.type.dims is not None:
                dims, items = self.patterns.of(o.type.dims, result=True)
                self.declare(Tensor(o.name, "output", dims, output_dtype(o.type.name, op)), items)
        if op.launches:
            self.guarded(body_statements, self)
        for a in op.body:
            self.guarded(self.assign, a)
            if self.errors:
                break  # what follows may read what is missing now
        for o in op.outputs:
            if o.name not in self.tensors and not self.errors and not op.launches and not any(p.mut for p in op.params):
                self.fail(Mistake("name", f"the result `{o.name}` is never assigned", op.name_span))
        forward = self.stmts
        given = [p.name for p in op.params if is_tensor(p)]
        outputs = [o.name for o in op.outputs if o.name in self.tensors]
        mutated = [p.name for p in op.params if p.mut]
        body_tensors = dict(self.tensors)
        results = outputs + [m for m in mutated if any(s.target == m for s in forward)]
        program = Program(
            self.opname,
            dict(body_tensors.items()),
            guard_temps(forward, results, self.choices),
            given,
            results,
        )
        doc_family = next(iter(self.families.items()), None)
        hole = lambda s: s.replace(f"{{{doc_family[0]}}}", str(doc_family[1])) if doc_family else s
        made = OpDef(
            self.opname,
            hole(op.doc),
            tuple(hole(a) for a in op.aliases),
            parameters(self),
            self.tensors,
            kind,
            promoted,
            self.computed,
            requirements(self) + self.required,
            outputs,
            op.drop[0] if op.drop else "",
            (op.drop[1] or "") if op.drop else "",
            program,
            {},
            None if op.nograd is None else frozenset(op.nograd),
            op.launches,
            op.foreach,
            op.numbers,
            self.sites > 0,
            self.pointwise(forward),
            [],
            op.tests,
            op.samples,
            tuple(replace(m, name=hole(m.name)) for m in op.modules),
            op,
            doc_family,
        )
        made.spared = tuple(self.spared(asked) for _, asked in groups(op, op.asked))
        for s in forward:
            if isinstance(s.body, RawResult) and s.body.raw.inlined.op is None:
                own(s.body.raw.inlined, made)
        self.begun(made)  # a gradient may call the op itself
        if not self.errors:
            made.owned = [self.owned(own) for own in op.owns if own.result in self.tensors]
        if not self.errors:
            made.grads = self.gradients()
        return made

    def pointwise(self, stmts: list[Stmt]) -> bool:
        return (
            not self.op.launches
            and len(self.op.outputs) == 1
            and all(p.type.dims is None for p in self.op.params if is_tensor(p))
            and bool(stmts)
            and not any(s.red for s in stmts)
            and not any(p.mut for p in self.op.params)
        )

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

    # --- Statements ------------------------------------------------------------------------------

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
        """The op over rows that e calls."""
        tree = self.trees.get(e.val) if e.val not in self.defs else None
        if tree is None or not over_rows(tree):
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
            sources: list = []  # at places read from a tensor it runs over that tensor's axes
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

    # --- Reductions ------------------------------------------------------------------------------

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

    # --- Gradients that the definition gives -----------------------------------------------------

    def spared(self, asked: tuple) -> E | None:
        """Where none of these requirements over elements need be asked; None: nowhere."""
        return (
            conj(*(self.formulas.lower(r.unless, Context()) for r in asked)) if all(r.unless for r in asked) else None
        )

    def owned(self, own: Own) -> Owned:
        """The gradients that a called op says, over the tensors of the call."""
        self.declare(replace(self.tensors[own.result], name=f"g_{own.result}"), self.items[own.result])
        before, self.stmts, targets = self.stmts, [], {}
        for a in own.grads:
            if a.name not in own.args:
                self.guarded(self.assign, a)  # a part of those that follow
            elif a.name in self.tensors:
                d = f"d_{own.result}_{len(targets)}_"
                targets[d] = a.name
                self.declare(
                    replace(self.tensors[a.name], name=d, role="temp", like="", optional=False, mut=False),
                    self.items[a.name],
                )
                self.guarded(self.assign, replace(a, name=d))
        made, self.stmts = self.stmts, before
        return Owned(own.result, own.inner, own.args, own.whole, made, targets)

    def gradients(self) -> dict[str, list[Stmt]]:
        out: dict[str, list[Stmt]] = {}
        for a in self.op.grads:
            for o in self.op.outputs:
                if o.name in self.tensors and f"g_{o.name}" not in self.tensors:
                    self.declare(
                        replace(self.tensors[o.name], name=f"g_{o.name}", role="cotangent", like=o.name),
                        self.items[o.name],
                    )
            if a.name not in self.tensors or self.tensors[a.name].role == "temp":  # a part of those that follow
                before, self.stmts = self.stmts, []
                self.guarded(self.assign, a)
                out.setdefault("", []).extend(self.stmts)
                self.stmts = before
                continue
            d = f"d_{a.name}"
            self.declare(
                replace(self.tensors[a.name], name=d, role="gradient", like=a.name, optional=False), self.items[a.name]
            )
            before, self.stmts = self.stmts, []
            self.guarded(self.assign, replace(a, name=d))
            for s in self.stmts:
                if s.target == d:
                    s = replace(
                        s,
                        spread=stretches(t := self.tensors[a.name], self.tensors)
                        or a.index is None
                        and not any(x.kind == "domain" for x in t.dims),
                    )
                out.setdefault(a.name, []).append(s)
            self.stmts = before
        return out


def dim_of(v: Loop) -> Dim:
    return Dim("pack", v.pack) if v.pack else Dim("one", size=v.extent)


def guard_temps(stmts: list[Stmt], results: list[str], counts: dict[str, int]) -> list[Stmt]:
    """A temporary that only conditional statements use is made only under their condition."""
    out: list[Stmt] = []
    needs: dict[str, list[E | None]] = {}
    for s in reversed(stmts):
        if s.target not in results and s.when is None and s.target in needs and not isinstance(s.body, RawResult):
            s = replace(s, when=either(needs[s.target], counts))
        for e in (s.body, s.pred, *s.idx):
            for n in walk(e):
                if isinstance(n, Read):
                    needs.setdefault(n.tensor, []).append(s.when)
        out.append(s)
    return out[::-1]
