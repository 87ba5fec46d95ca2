"""Calls of other ops, put in place: `out = softmax(-input, dim)` becomes softmax's own formulas.

The callee must be written in whole-tensor formulas, or be a `def` over tensors, which may use index notation as well.
Its locals get the callee's name in front, a tensor argument that is more than a name gets a local of its own, and its
options are replaced by the arguments.  A call changes no tensor: what the callee would make of its arguments (`mut`)
are results behind its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count, zip_longest

from ..checking.scope import derived
from ..text.diagnostics import Error
from ..text.syntax import Assign, Def, Op, Own, Require, Size, Span, X
from ..text.vocabulary import FUNCTIONS, WARNING, is_tensor, names_in, nodes_in
from .dims import error
from .index_calls import Indices, assigned, element, inside, is_elementwise, on_the_left, used
from .renaming import (
    ABSENT,
    Names,
    arguments,
    cotangents,
    gradients_said,
    placed,
    rename,
    renamed_message,
    there,
)


def put_in_place(op: Op, ops: dict[str, Op], defs: dict) -> tuple[Op, list[Error]]:
    """The op with every call of another op replaced by that op's formulas.  `defs` go before ops of the same name."""
    names = {"g", *derived(op), *(x.name for x in (*op.params, *op.outputs, *op.sizes))}
    names |= {t.name for a in (*op.body, *op.grads) for t in a.targets()}
    work = Inliner(op, ops, defs, names, indices_of((*op.body, *op.grads)))
    body = [b for a in op.body for b in work.assign(a)]
    grads = [b for a in op.grads for b in work.composed(a)]
    if not work.calls:
        return op, work.errors
    made = replace(
        op, body=tuple(body), grads=tuple(grads), requires=(*op.requires, *work.requires), owns=tuple(work.owns)
    )
    return one_axis(made), work.errors


def one_axis(op: Op) -> Op:
    """The axis that calls name by a number, `softmax(x, -1)`, is a size where no tensor says its axes: `where axis =
    -1` and `sum[axis]`."""
    if any(p.type.dims is not None for p in op.params if is_tensor(p)):
        return op
    assigns = (*op.body, *op.grads)
    binders = {b.name for a in assigns for n in nodes_in(a.value) if n.kind == "reduce" for b in n.val[1]}
    numbers = [b for b in binders if b.lstrip("-").isdigit()]
    if len(binders) != 1 or not numbers:
        return op
    (text,) = numbers
    value = X("num", (), abs(int(text)))
    axis, value = X("name", (), "axis_"), X("neg", (value,)) if text.startswith("-") else value
    put = lambda a: replace(a, value=rename(a.value, {text: axis}))
    owns = tuple(replace(own, grads=tuple(map(put, own.grads))) for own in op.owns)
    sizes = (*op.sizes, Size("axis_", False, value))
    return replace(op, body=tuple(map(put, op.body)), grads=tuple(map(put, op.grads)), owns=owns, sizes=sizes)


def called(e: X, ops: dict[str, Op], defs: dict) -> Op | None:
    """The op that e calls, unless its name and number of arguments are those of a function."""
    if e.kind != "call" or e.val in defs:
        return None
    least, most = FUNCTIONS.get(e.val, (1, 0))
    return None if least <= len(e.args) <= most else ops.get(e.val)


def says_axes(op: Op) -> bool:
    """Whether a call of the op can stand for its statements: its tensors say their axes."""
    outputs = [o for o in op.outputs if o.name in given_by(op)[0]]
    if op.name in FUNCTIONS or op.drop or any(o.type is None or not o.type.name for o in outputs):
        return False
    tensors = [p for p in op.params if is_tensor(p)]
    return all(x.type.dims is not None for x in tensors or outputs)


def given_by(op: Op) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a call of the op gives: its results, and what it would make of the arguments that it changes."""
    assigned = {t.name for a in op.body for t in a.targets()}
    changed = tuple(p.name for p in op.params if p.mut and p.name in assigned)
    results = tuple(o.name for o in op.outputs if not changed or o.type is not None or o.name in assigned)
    return results, changed


def taken_by(a: Assign, op: Op) -> tuple[str, ...] | None:
    """What the names of an assignment take of such a call, in order; None where they are too many or too few."""
    results, changed = given_by(op)
    count = 1 + len(a.also)
    if not a.also and len(results or changed) > 1:
        return ()  # one name for all: `s.values`
    return next((names for names in (results, (*results, *changed)) if len(names) == count), None)


def indices_of(assigns: Iterable[Assign]) -> set[str]:
    """The names that stand for indices: on a left side, and where a reduction binds them."""
    values = [x for a in assigns for x in (a.value, *(a.index or ()))]
    left = {n.val for a in assigns for i in a.index or () for n in names_in(i)}
    return left | {b.name for x in values for n in nodes_in(x) if n.kind == "reduce" for b in n.val[1]}


class Inliner:
    def __init__(self, op: Op, ops: dict[str, Op], defs: dict, own: set[str], indices: set[str]):
        self.op, self.ops, self.defs, self.own, self.indices, self.calls = op, ops, defs, own, indices, 0
        self.errors: list[Error] = []
        self.requires: list[Require] = []
        self.owns: list[Own] = []  # calls whose gradients are said
        self.parts: dict[str, Names] = {}  # names that stand for several results of a call
        self.open: list[str] = []  # callees being put in place

    def assign(self, a: Assign) -> list[Assign]:
        callee = called(a.value, self.ops, self.defs) if a.index is None else None
        before: list[Assign] = []
        if callee is not None and says_axes(callee):
            # Put in place as statements, by dsl/lowering/row_calls.py.
            value = self.with_names(a.value, callee, before)
            return [*before, replace(a, value=value)]
        if a.index is None and (d := self.over_tensors(a.value)) is not None:
            self.compose(a.value, d, before, a)
            return before
        if callee is not None and (several := taken_by(a, callee)) is not None and (a.also or not several):
            args = tuple(self.walk(x, before) for x in a.value.args)
            made = self.call(replace(a.value, args=args), callee, before, {}, [])
            if a.also:
                put = lambda t, n: replace(a, name=t.name, name_span=t.name_span, value=made[n], also=())
                return [*before, *(put(t, n) for t, n in zip(a.targets(), several) if n in made)]
            self.parts[a.name] = made
            return before
        value = self.walk(a.value, before, None if a.index is None else on_the_left(a, self.op))
        return [*before, replace(a, value=value)]

    def composed(self, a: Assign) -> list[Assign]:
        """An assignment of a gradient, with what is over tensors put in place; ops that it calls are put there by
        dsl/lowering/lower.py."""
        ops, self.ops = self.ops, {}
        made = self.assign(a)
        self.ops = ops
        return made

    def walk(self, e: X, before: list[Assign], at: Indices | None = None) -> X:
        """at: the indices around it in index notation; None in a whole-tensor formula."""
        within = inside(e, at)
        base = called(e.args[0], self.ops, self.defs) if e.kind == "read" else None
        first = (self.alone(e.args[0], base, before),) if base is not None and says_axes(base) else ()
        args = (*first, *(self.walk(x, before, within) for x in e.args[len(first) :]))
        e = replace(e, args=args) if args != e.args else e
        if (d := self.over_tensors(e)) is not None:
            return self.compose(e, d, before, around=at)
        if e.kind == "field" and e.args[0].kind == "name" and e.args[0].val in self.parts:
            return self.parts[e.args[0].val].get(e.val, e)
        callee = called(e, self.ops, self.defs)
        if callee is None:
            return e
        if says_axes(callee) and at is None:
            return self.alone(e, callee, before)
        if not self.has_one_result(e, callee):
            return e
        names = [] if at is None else used(e.args, at)
        made = next(iter(self.call(e, callee, before, at or {}, names).values()), None)
        return e if made is None else element(made, names, at or {})

    def has_one_result(self, e: X, callee: Op) -> bool:
        results, changed = given_by(callee)
        if several := len(results or changed) > 1:
            why = f"it has several results:  {', '.join(results or changed)} = {callee.name}(...)"
            self.refuse(e, why)
        return not several

    def refuse(self, e: X, why: str, *help: str):
        self.errors.append(error("type", f"`{e.val}` cannot be called in a formula", e.span, why, help=help))

    def alone(self, e: X, callee: Op, before: list[Assign]) -> X:
        """A call of an op whose tensors say their axes, as if it had a line of its own."""
        if not self.has_one_result(e, callee):
            return e
        local = f"{self.prefix(str(e.val))}_out"
        before += self.assign(Assign(local, None, "=", e, e.span, e.span))
        return X("name", (), local, e.span)

    def with_names(self, e: X, callee: Op, before: list[Assign]) -> X:
        """Such a call with a name for each formula that it gives for a tensor."""
        prefix = ""
        by_place = [p for p in callee.params if not p.keyword]
        tensors = {p.name for p in callee.params if is_tensor(p)}

        def named(name: str, value: X) -> X:
            nonlocal prefix
            if name not in tensors or value.kind in ("name", "field"):
                return value
            prefix = prefix or self.prefix(str(e.val))
            local = X("name", (), f"{prefix}_{name}", value.span)
            before.extend(self.assign(Assign(local.val, None, "=", value, value.span, value.span)))
            return local

        args = [replace(x, args=(named(x.val, x.args[0]),)) if x.kind == "kw" else x for x in e.args]
        args = [x if x.kind == "kw" else named(p.name, x) for x, p in zip_longest(args, by_place[: len(args)])]
        return replace(e, args=tuple(args))

    def call(self, e: X, callee: Op, before: list[Assign], around: Indices, index: list[str]) -> Names:
        """What the callee gives; nothing if it cannot be called.  index: the indices that its arguments use, of those
        around it."""
        if why := self.obstacle(callee) or self.at_elements(callee, index, around):
            # What says its axes is a tensor, of which index notation reads elements.
            self.refuse(e, why, *((f"say which element:  {e.val}(...)[...]",) if says_axes(callee) else ()))
            return {}
        prefix = self.prefix(callee.name)
        names: Names = {}
        local = lambda name: X("name", (), f"{prefix}_{name}", e.span)
        said, complete = gradients_said(callee)
        for p, value in arguments(e, callee):
            if is_tensor(p) and (
                value.kind != "name"
                or value.val in index
                or not complete
                and p.name in said
                and not p.type.optional  # unlike the others
            ):
                value, given = local(p.name), value
                before.append(assigned(value, given, index, around))
            names[p.name] = value
        for size in callee.sizes:
            names[size.name] = rename(size.value, names)
        changed = {p.name for p in callee.params if p.mut}
        names |= {t.name: local(t.name) for a in callee.body for t in a.targets() if t.name not in changed}
        self.open.append(callee.name)
        begin = len(before)
        for a in callee.body:
            if names.get(a.name) == ABSENT:
                continue  # an argument that would be changed
            now = {names[n].val for n in changed if names[n].val == f"{prefix}_new_{n}"}
            value = placed(there(rename(a.value, names), now), e.span)  # reads what was before an argument is changed
            names |= {t.name: local(f"new_{t.name}") for t in a.targets() if t.name in changed}
            also = tuple(names[x.val] for x in a.also)
            before += self.assign(Assign(names[a.name].val, None, a.mode, value, e.span, e.span, also=also))
        self.open.pop()
        results, arguments_after = given_by(callee)
        if said and not arguments_after:
            self.keep_gradients(
                callee, names, prefix, tuple(dict.fromkeys(a.name for a in before[begin:])), said, complete, e.span
            )
        # What the callee wants of types holds for what callers give it: here its tensors are values of formulas.
        for r in callee.requires:
            condition = rename(r.condition, names)
            if not r.message.startswith(WARNING) and not any(
                n.kind == "call" and n.val == "type" for n in nodes_in(condition)
            ):
                self.requires.append(Require(placed(condition, e.span), renamed_message(r.message, names), e.span))
        return {n: names[n] for n in (*results, *arguments_after)}

    def over_tensors(self, e: X) -> Def | None:
        d = self.defs.get(e.val) if e.kind == "call" else None
        return d if d is not None and d.body else None

    def compose(
        self, e: X, d: Def, before: list[Assign], target: Assign | None = None, around: Indices | None = None
    ) -> X:
        """The statements of a definition over tensors in the place of a call; target: what gets its value, a new name
        if there is none.  around: the indices of a formula in index notation."""
        self.calls += 1
        around = around or {}
        index = used(e.args, around)
        if why := self.at_elements(d, index, around):
            self.refuse(e, why)
            return e
        names: Names = {}
        spoken = {n.val for x in e.args for n in names_in(x)}
        taken = lambda n: n in self.own or n in self.indices or n in spoken

        def fresh(name: str) -> X:
            """A name that the caller has not."""
            found = name if not taken(name) else next(n for k in count(2) if not taken(n := f"{name}{k}"))
            self.own.add(found)
            return X("name", (), found, e.span)

        for p, value in zip(d.params, e.args):
            if value.kind not in ("name", "num", "str", "field") or value.val in index:  # computed once
                local = fresh(p)
                before += self.assign(assigned(local, value, index, around))
                value = local
            names[p] = value
        for name in dict.fromkeys(a.name for a in d.body):
            if name != "out":
                names[name] = fresh(name)
        for name in sorted(indices_of(d.body) - names.keys()):
            names[name] = fresh(name)
        names["out"] = fresh(d.name) if target is None else X("name", (), target.name, target.name_span)
        self.open.append(d.name)
        put = lambda x: placed(rename(x, names), e.span)
        for a in d.body:
            left = None if a.index is None else tuple(map(put, a.index))
            extents = tuple(replace(b, name=names[b.name].val, high=put(b.high), span=e.span) for b in a.extents)
            before += self.assign(
                Assign(names[a.name].val, left, a.mode, put(a.value), e.span, names[a.name].span, extents)
            )
        self.open.pop()
        return element(names["out"], index, around)

    def prefix(self, name: str) -> str:
        """What stands before the names of a definition in the caller, where no name begins so."""
        self.calls += 1
        while any(n.startswith(f"{name}{self.calls}_") for n in self.own):
            self.calls += 1
        return f"{name}{self.calls}"

    def keep_gradients(
        self, callee: Op, names: Names, prefix: str, inner: tuple[str, ...], said: set[str], complete: bool, span: Span
    ):
        """Keeps the gradients that the callee says; one that speaks of elements or of a tensor that may be absent is
        derived anew."""
        tensors = {p.name: names[p.name] for p in callee.params if is_tensor(p)}
        if any(g.index is not None for g in callee.grads) or any(
            v.kind != "name" or v == ABSENT for v in tensors.values()
        ):
            return
        results = {o.name: names[o.name] for o in callee.outputs}
        parts = {g.name: X("name", (), f"{prefix}_{g.name}", span) for g in callee.grads if g.name not in tensors}
        slopes = {n: X("name", (), f"g_{result.val}", span) for n, result in results.items()}
        known = {**names, **parts, "g": next(iter(slopes.values()))}
        grads = tuple(
            Assign(
                known[g.name].val, None, g.mode, placed(rename(cotangents(g.value, slopes), known), span), span, span
            )
            for g in callee.grads
        )
        args = tuple(v.val for n, v in tensors.items() if n in said)
        self.owns.append(Own(tuple(x.val for x in results.values()), inner, args, grads, complete))

    def at_elements(self, callee: Op | Def, index: list[str], around: Indices) -> str:
        """Why what is called has no element for each place of these indices, or ""."""
        if index and not is_elementwise(callee.body, self.inner):
            return "an element of it needs more than one of its argument: give it whole tensors, by their names"
        moved = next((n for n in index if around[n].moved), None)
        return f"`{moved}` does not begin at 0: assign the argument to a name first" if moved else ""

    def inner(self, e: X) -> Op | Def | None:
        return self.over_tensors(e) or called(e, self.ops, self.defs)

    def obstacle(self, callee: Op) -> str:
        """Why an op cannot be put in place, or ""."""
        if callee.name in self.open:
            return "it calls itself"
        if not callee.body:
            return "it has no formula"
        whole = all(not p.type.dims for p in callee.params if is_tensor(p))  # those of one element broadcast
        return "" if whole and all(a.index is None for a in callee.body) else "it is not written over whole tensors"
