"""Calls of other ops, put in place: `out = softmax(-input, dim)` becomes softmax's own formulas.

The callee must be written in whole-tensor formulas, or be a `def` over tensors, which may use index notation as well.
Its locals get the callee's name in front, a tensor argument that is more than a name gets a local of its own, and its
options are replaced by the arguments.  A call changes no tensor: what the callee would make of its arguments (`mut`)
are results behind its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from ..checking.scope import derived
from ..text.diagnostics import Error
from ..text.syntax import Assign, Binder, Def, Op, Own, Require, Size, Span, X
from ..text.vocabulary import FUNCTIONS, WARNING, is_tensor, names_in, nodes_in
from .dims import error

ABSENT = X("name", (), "none")  # stands for an optional parameter that the call leaves out
Names = dict[str, X]


def put_in_place(op: Op, ops: dict[str, Op], defs: dict) -> tuple[Op, list[Error]]:
    """The op with every call of another op replaced by that op's formulas.  `defs` go before ops of the same name."""
    names = {"g", *derived(op), *(x.name for x in (*op.params, *op.outputs, *op.sizes))}
    names |= {t.name for a in (*op.body, *op.grads) for t in a.targets()}
    work = Inliner(ops, defs, names, indices_of((*op.body, *op.grads)))
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
    def __init__(self, ops: dict[str, Op], defs: dict, own: set[str], indices: set[str]):
        self.ops, self.defs, self.own, self.indices, self.calls = ops, defs, own, indices, 0
        self.errors: list[Error] = []
        self.requires: list[Require] = []
        self.owns: list[Own] = []  # calls whose gradients are said
        self.parts: dict[str, Names] = {}  # names that stand for several results of a call
        self.open: list[str] = []  # callees being put in place

    def assign(self, a: Assign) -> list[Assign]:
        callee = called(a.value, self.ops, self.defs) if a.index is None else None
        if callee is not None and says_axes(callee):
            return [a]  # put in place as statements, by dsl/lowering/lower.py
        before: list[Assign] = []
        if a.index is None and (d := self.over_tensors(a.value)) is not None:
            self.compose(a.value, d, before, a)
            return before
        if callee is not None and (several := taken_by(a, callee)) is not None and (a.also or not several):
            args = tuple(self.walk(x, before) for x in a.value.args)
            made = self.call(replace(a.value, args=args), callee, before)
            if a.also:
                put = lambda t, n: replace(a, name=t.name, name_span=t.name_span, value=made[n], also=())
                return [*before, *(put(t, n) for t, n in zip(a.targets(), several) if n in made)]
            self.parts[a.name] = made
            return before
        value = self.walk(a.value, before)
        return [*before, replace(a, value=value)]

    def composed(self, a: Assign) -> list[Assign]:
        """An assignment of a gradient, with what is over tensors put in place; ops that it calls are put there by
        dsl/lowering/lower.py."""
        ops, self.ops = self.ops, {}
        made = self.assign(a)
        self.ops = ops
        return made

    def walk(self, e: X, before: list[Assign]) -> X:
        args = tuple(self.walk(x, before) for x in e.args)
        e = replace(e, args=args) if args != e.args else e
        if (d := self.over_tensors(e)) is not None:
            return self.compose(e, d, before)
        if e.kind == "field" and e.args[0].kind == "name" and e.args[0].val in self.parts:
            return self.parts[e.args[0].val].get(e.val, e)
        callee = called(e, self.ops, self.defs)
        if callee is None:
            return e
        results, changed = given_by(callee)
        if len(results or changed) > 1:
            why = f"it has several results:  {', '.join(results or changed)} = {callee.name}(...)"
            self.errors.append(error("type", f"`{e.val}` cannot be called in a formula", e.span, why))
            return e
        return next(iter(self.call(e, callee, before).values()), e)

    def call(self, e: X, callee: Op, before: list[Assign]) -> Names:
        """What the callee gives; nothing if it cannot be called."""
        why = self.obstacle(callee)
        if why:
            # What says its axes is put in place as statements, where a line holds nothing else.
            alone = (f"give it a line of its own:  y = {e.val}(...)",) if says_axes(callee) else ()
            self.errors.append(error("type", f"`{e.val}` cannot be called in a formula", e.span, why, help=alone))
            return {}
        prefix = self.prefix(callee.name)
        names: Names = {}
        local = lambda name: X("name", (), f"{prefix}_{name}", e.span)
        said, complete = gradients_said(callee)
        for p, value in arguments(e, callee):
            if is_tensor(p) and (
                value.kind != "name" or not complete and p.name in said and not p.type.optional
            ):  # unlike the others
                value, given = local(p.name), value
                before.append(Assign(value.val, None, "=", given, e.span, e.span))
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

    def compose(self, e: X, d: Def, before: list[Assign], target: Assign | None = None) -> X:
        """The statements of a definition over tensors in the place of a call; target: what gets its value, a new name
        if there is none."""
        self.calls += 1
        names: Names = {}
        spoken = {n.val for x in e.args for n in names_in(x)}
        taken = lambda n: n in self.own or n in self.indices or n in spoken

        def fresh(name: str) -> X:
            """A name that the caller has not."""
            found = name if not taken(name) else next(n for k in count(2) if not taken(n := f"{name}{k}"))
            self.own.add(found)
            return X("name", (), found, e.span)

        for p, value in zip(d.params, e.args):
            if value.kind not in ("name", "num", "str", "field"):  # what is computed is computed once
                local = fresh(p)
                before += self.assign(Assign(local.val, None, "=", value, e.span, e.span))
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
            index = None if a.index is None else tuple(map(put, a.index))
            extents = tuple(replace(b, name=names[b.name].val, high=put(b.high), span=e.span) for b in a.extents)
            before += self.assign(
                Assign(names[a.name].val, index, a.mode, put(a.value), e.span, names[a.name].span, extents)
            )
        self.open.pop()
        return names["out"]

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

    def obstacle(self, callee: Op) -> str:
        """Why an op cannot be put in place, or ""."""
        if callee.name in self.open:
            return "it calls itself"
        if not callee.body:
            return "it has no formula"
        whole = all(not p.type.dims for p in callee.params if is_tensor(p))  # those of one element broadcast
        return "" if whole and all(a.index is None for a in callee.body) else "it is not written over whole tensors"


def there(e: X, names: set[str]) -> X:
    """Without what stands for missing values of these, which are not missing."""
    e = replace(e, args=tuple(there(a, names) for a in e.args))
    return e.args[0] if e.kind == "??" and e.args[0].kind == "name" and e.args[0].val in names else e


def cotangents(e: X, slopes: Names) -> X:
    """A gradient's formula with a name for what comes to each of several results: `g.values`."""
    if e.kind == "field" and e.args[0].val == "g" and e.val in slopes:
        return slopes[e.val]
    return replace(e, args=tuple(cotangents(a, slopes) for a in e.args))


def gradients_said(callee: Op) -> tuple[set[str], bool]:
    """The tensors of an op whose gradients it says, or says to be none; whether those are all that could have one."""
    smooth = {p.name for p in callee.params if is_tensor(p) and p.type.name not in ("Int", "Bits", "Bool")}
    said = smooth if callee.nograd == () else smooth & {*(g.name for g in callee.grads), *(callee.nograd or ())}
    return said, said == smooth


def arguments(e: X, callee: Op):
    """(parameter, what the call gives it): its argument, its default or ABSENT."""
    given: Names = {}
    places = iter([p for p in callee.params if not p.keyword])
    for a in e.args:
        if a.kind == "kw":
            given[a.val] = a.args[0]
        elif (p := next(places, None)) is not None:
            given[p.name] = a
    defaults: Names = {}
    for p in callee.params:
        value = given.get(p.name)
        if value is None:
            value = rename(p.default, defaults) if p.default is not None else ABSENT
        defaults[p.name] = value
        yield p, value


def rename(e: X, names: Names) -> X:
    """Names replaced, and what the arguments decide folded."""
    if e.kind == "name":
        return replace(names[e.val], span=e.span) if e.val in names else e
    args = tuple(rename(a, names) for a in e.args)
    if e.kind == "call" and e.val == "given" and args[0] == ABSENT:
        return truth(False)
    if e.kind == "call" and e.val == "given" and args[0].kind != "name":
        return truth(True)
    if e.kind == "??" and args[0] == ABSENT:
        return args[1]
    if e.kind == "??" and args[0].kind in ("num", "str", "neg"):
        return args[0]
    if e.kind in ("==", "!=") and args[0].kind == args[1].kind == "str":
        return truth((args[0].val == args[1].val) == (e.kind == "=="))
    if e.kind == "if" and args[0] in (truth(True), truth(False)):
        return args[1] if args[0].val == "true" else args[2]
    if e.kind == "reduce":
        red, binders, where = e.val
        binders = tuple(binder(b, names) for b in binders)
        return replace(e, args=args, val=(red, binders, rename(where, names) if where is not None else None))
    return replace(e, args=args)


def placed(e: X, span: Span) -> X:
    """The expression as if it stood at the call: its own text is in another definition, perhaps another file."""
    made = replace(e, span=span, args=tuple(placed(a, span) for a in e.args))
    if e.kind != "reduce":
        return made
    red, binders, where = e.val
    ends = lambda b: {"low": b.low and placed(b.low, span), "high": b.high and placed(b.high, span)}
    return replace(
        made, val=(red, tuple(replace(b, span=span, **ends(b)) for b in binders), where and placed(where, span))
    )


def truth(value: bool) -> X:
    return X("name", (), "true" if value else "false")


def binder(b: Binder, names: Names) -> Binder:
    """`dim` given as `-1` becomes a binder named "-1": that axis of the operand."""
    if b.name not in names:
        return b
    v = names[b.name]
    text = (
        v.val
        if v.kind == "name"
        else str(v.val)
        if v.kind == "num"
        else f"-{v.args[0].val}"
        if v.kind == "neg"
        else b.name
    )
    return replace(b, name=text)


def renamed_message(message: str, names: Names) -> str:
    """The holes of a message speak of the callee's options; a constant given for one is written out."""

    def hole(m: re.Match) -> str:
        v = names.get(m[1])
        if v is None:
            return m[0]
        if v.kind == "neg" and v.args[0].kind == "num":
            return f"-{v.args[0].val}"
        return f"{{{v.val}}}" if v.kind == "name" else str(v.val) if v.kind in ("num", "str") else m[1]

    return re.sub(r"\{([^{}]+)\}", hole, message)
