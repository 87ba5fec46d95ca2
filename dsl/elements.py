"""Requirements that look at elements: `require all[n] (weight[n] >= 0), "weights cannot be negative"`.

They need the arguments' data, so they are an op of their own, `NAME_allows`, that answers 1 or 0 for each: the same tensors,
no gradient, no name in PyTorch.  It is made here, from the syntax tree, and compiled like any other; what calls the op
(dsl/api.py, runtime/requiring.ts) asks it first where elements can be read without waiting."""

from __future__ import annotations

from dataclasses import replace

from .scope import REDUCERS, is_tensor, names_in, nodes_in
from .syntax import Assign, Dim, Op, Output, Require, Type, X


def looks(r: Require) -> bool:
    """Whether a requirement reduces elements: what it is about is known when the op runs, not before."""
    return whole(r) or any(n.kind == "reduce" for n in nodes_in(r.condition))


def whole(r: Require) -> bool:
    """Whether it speaks of whole tensors: `all(x >= 0)`."""
    return any(n.kind == "call" and n.val in REDUCERS and len(n.args) == 1 for n in nodes_in(r.condition))


def apart(parsed: list) -> list:
    """What the parser gives, (items, errors, source) for each file, with those ops made."""
    return [(with_questions(items), errors, source) for items, errors, source in parsed]


def with_questions(items: list) -> list:
    """The items of a file and those ops; once they are there, nothing is added."""
    return [made for item in items for made in (split(item) if isinstance(item, Op) else (item,))]


def companion(op: Op) -> str: return f"{op.name}_allows"


def split(op: Op) -> tuple[Op, ...]:
    """The op, and before it the one that says whether its arguments' elements are allowed, if it asks for that."""
    asked = tuple(r for r in op.requires if looks(r))
    if not asked: return (op,)
    needed = {n.val for r in asked for n in names_in(r.condition)}
    needed |= {n.val for s in op.sizes for n in names_in(s.value)}
    for p in op.params:
        for d in p.type.dims or (): needed |= named(d)
    names = ["out"] if len(asked) == 1 else [f"allowed{n}" for n in range(len(asked))]
    # Numbers of the op's own type, so that the arguments are promoted as the op promotes them.
    type = Type(op.outputs[0].type.name if op.outputs and op.outputs[0].type else "Num", span=op.name_span)
    guard = Op(
        companion(op), tuple(p for p in op.params if is_tensor(p) or p.name in needed),
        tuple(Output(n, replace(type, dims=None if whole(r) else ()), op.name_span) for n, r in zip(names, asked)),
        body=tuple(Assign(n, None if whole(r) else (), "=", one_or_zero(r.condition), r.span, op.name_span) for n, r in zip(names, asked)),
        doc=f"Whether `{op.name}` takes these elements.", family=op.family, sizes=op.sizes, samples=op.samples, nograd=(),
        span=op.span, name_span=op.name_span)
    return guard, replace(op, requires=tuple(r for r in op.requires if not looks(r)), asked=asked)


def one_or_zero(e: X) -> X: return X("if", (e, X("num", (), 1, e.span), X("num", (), 0, e.span)), span=e.span)


def named(d: Dim) -> set[str]:
    """The options that an axis speaks of."""
    return {n for n in (d.at, *(named(d.of) if d.of else ())) if n} | {n.val for e in (d.expr, d.when) if isinstance(e, X) for n in names_in(e)}
