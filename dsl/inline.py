"""Calls of other ops, put in place: `nll = softmax(-input, dim)` becomes softmax's own formulas.

The callee must be written in whole-tensor formulas.  Its locals get the callee's name in front, a tensor
argument that is more than a name gets a local of its own, and its options are replaced by the arguments."""

from __future__ import annotations

from dataclasses import replace

from .dims import error
from .diagnostics import Error
from .ir import INTRINSICS
from .scope import REDUCERS, is_tensor
from .syntax import Assign, Binder, Op, X


def put_in_place(op: Op, ops: dict[str, Op]) -> tuple[Op, list[Error]]:
    """The op with every call of another op replaced by that op's formulas."""
    work = Inliner(ops)
    body = [b for a in op.body for b in work.assign(a)]
    return (replace(op, body=tuple(body)) if work.calls else op), work.errors


class Inliner:
    def __init__(self, ops: dict[str, Op]):
        self.ops, self.calls, self.errors = ops, 0, []

    def assign(self, a: Assign) -> list[Assign]:
        before: list[Assign] = []
        value = self.walk(a.value, before)
        return [*before, replace(a, value=value)]

    def walk(self, e: X, before: list[Assign]) -> X:
        args = tuple(self.walk(x, before) for x in e.args)
        e = replace(e, args=args) if args != e.args else e
        known = e.kind == "call" and (e.val in INTRINSICS and len(args) == INTRINSICS[e.val] or e.val in REDUCERS and len(args) == 1)
        if e.kind == "call" and e.val in self.ops and not known: return self.call(e, self.ops[e.val], before)
        return e

    def call(self, e: X, callee: Op, before: list[Assign]) -> X:
        if any(a.index is not None for a in callee.body) or not callee.body:
            self.errors.append(error("type", f"`{e.val}` cannot be called in a formula", e.span, "it is not written over whole tensors"))
            return e
        self.calls += 1
        prefix = f"{callee.name}{self.calls}"
        given: dict[str, X] = {}
        places = iter([p for p in callee.params if not p.keyword])
        for a in e.args:
            if a.kind == "kw": given[a.val] = a.args[0]
            elif (p := next(places, None)) is not None: given[p.name] = a
        names: dict[str, X] = {}
        for p in callee.params:
            value = given.get(p.name, p.default)
            if is_tensor(p) and value is not None and value.kind != "name":
                local = f"{prefix}_{p.name}"
                before.append(Assign(local, None, "=", value, e.span, e.span))
                value = X("name", (), local, e.span)
            if value is not None: names[p.name] = value
        for a in callee.body: names[a.name] = X("name", (), f"{prefix}_{a.name}", e.span)
        for a in callee.body:
            inner = Assign(names[a.name].val, None, a.mode, rename(a.value, names), e.span, e.span)
            before += self.assign(inner)
        return names[callee.outputs[0].name]


def rename(e: X, names: dict[str, X]) -> X:
    """Names replaced; a reduction over an option is one over what the option was given."""
    args = tuple(rename(a, names) for a in e.args)
    if e.kind == "name" and e.val in names: return names[e.val]
    if e.kind == "call" and e.val == "given" and e.args[0].val in names:
        return X("name", (), "true", e.span)
    if e.kind == "reduce":
        red, binders, where = e.val
        binders = tuple(binder(b, names) for b in binders)
        return replace(e, args=args, val=(red, binders, rename(where, names) if where is not None else None))
    return replace(e, args=args)


def binder(b: Binder, names: dict[str, X]) -> Binder:
    """`dim` given as `-1` becomes a binder named "-1": that axis of the operand."""
    if b.name not in names: return b
    v = names[b.name]
    text = v.val if v.kind == "name" else str(v.val) if v.kind == "num" else f"-{v.args[0].val}" if v.kind == "neg" else b.name
    return replace(b, name=text)
