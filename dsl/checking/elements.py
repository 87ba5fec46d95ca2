"""Requirements that look at elements: `require all[n] (weight[n] >= 0), "weights cannot be negative"`.

They need the arguments' data, so they are an op of their own, `NAME_allows`, that answers 1 or 0 for each: the same
tensors, no gradient, no name in PyTorch.  Those that speak of results, `require all(abs(out) < inf), "the matrix is
singular"`, are another, `NAME_made`, which takes the results as well.  Both are made here, from the syntax tree, and
compiled like any other; what calls the op (workbench/function.py, runtime/dispatch/element-requirements.ts) asks one
first and the other when it has run; on a GPU their kernels tell the device by themselves (`allowed` in
codegen/wgsl/checks.wgsl), and nobody waits."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ..text.syntax import NUMBERS, Assign, Dim, Op, Output, Param, Require, Type, X
from ..text.vocabulary import REDUCERS, is_tensor, names_in, nodes_in


def looks(r: Require) -> bool:
    """Whether a requirement reduces elements: what it is about is known when the op runs, not before."""
    return of_whole_tensors(r) or any(n.kind == "reduce" for n in nodes_in(r.condition))


def of_whole_tensors(r: Require) -> bool:
    """Whether it speaks of whole tensors: `all(x >= 0)`."""
    return any(n.kind == "call" and n.val in REDUCERS and len(n.args) == 1 for n in nodes_in(r.condition))


def apart(parsed: list) -> list:
    """What the parser gives, (items, errors, source) for each file, with those ops made."""
    return [(with_questions(items), errors, source) for items, errors, source in parsed]


def with_questions(items: list) -> list:
    """The items of a file and those ops; once they are there, nothing is added."""
    return [made for item in items for made in (split(item) if isinstance(item, Op) else (item,))]


def companions(op: Op) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The names of those ops, with the message of each requirement."""
    return tuple(
        (f"{op.name}_{'made' if after else 'allows'}", tuple(r.message for r in asked))
        for after, asked in groups(op, op.asked)
    )


def groups(op: Op, asked: tuple[Require, ...]) -> list[tuple[bool, tuple[Require, ...]]]:
    """The requirements over arguments, then those over results (True)."""
    made = {o.name for o in op.outputs}
    after = lambda r: bool({n.val for n in names_in(r.condition)} & made)
    return [(late, found) for late in (False, True) if (found := tuple(r for r in asked if after(r) == late))]


def split(op: Op) -> tuple[Op, ...]:
    """The op, and before it those that say whether its elements are allowed, if it asks for that."""
    asked = tuple(spared(r) for r in op.requires if looks(r))
    if not asked:
        return (op,)
    apart = replace(op, requires=tuple(r for r in op.requires if not looks(r)), asked=asked)
    return (
        *(question(op, name, found, after) for (name, _), (after, found) in zip(companions(apart), groups(op, asked))),
        apart,
    )


def spared(r: Require) -> Require:
    """`floating() or all(x != 0)`: what types decide is decided before elements are looked at."""
    parts = alternatives(r.condition)
    known = [e for e in parts if any(n.kind == "call" and n.val in ("floating", "number") for n in nodes_in(e))]
    if not known:
        return r
    either = lambda found: reduce(lambda a, b: X("or", (a, b), span=r.span), found)
    return replace(r, condition=either([e for e in parts if e not in known]), unless=either(known))


def alternatives(e: X) -> list[X]:
    return [part for x in e.args for part in alternatives(x)] if e.kind == "or" else [e]


def question(op: Op, name: str, asked: tuple[Require, ...], after: bool) -> Op:
    """The op that answers 1 or 0 for each of these requirements; after: which speak of results."""
    needed = {n.val for r in asked for n in names_in(r.condition)}
    needed |= {n.val for s in op.sizes for n in names_in(s.value)}
    for p in op.params:
        for d in p.type.dims or ():
            needed |= named(d)
    names = ["out"] if len(asked) == 1 and not after else [f"allowed{n}" for n in range(len(asked))]
    # Numbers of the op's own type, so that the arguments are promoted as the op promotes them.
    type = Type(op.outputs[0].type.name if op.outputs and op.outputs[0].type else "Num", span=op.name_span)
    taken = lambda t: replace(t, name="Int") if t.name == "Int32" else t  # as a parameter
    results = tuple(Param(o.name, taken(o.type or type), span=o.span) for o in op.outputs) if after else ()
    dims = [d for p in results for d in p.type.dims or ()]
    stated = {d.name for d in dims} | {n.val for d in dims for n in names_in(d.expr)}  # sizes that results say
    spoken = {n.val for x in (*(r.condition for r in asked), *(s.value for s in op.sizes)) for n in names_in(x)}
    needless = lambda p: all(r.unless is not None for r in asked) and p.type.dims is None and p.name not in spoken
    return Op(
        name,
        (
            *(p for p in op.params if is_tensor(p) and not needless(p)),
            *results,
            *(p for p in op.params if not is_tensor(p) and p.name in needed),
        ),
        tuple(
            Output(n, replace(type, dims=None if of_whole_tensors(r) else ()), op.name_span)
            for n, r in zip(names, asked)
        ),
        body=tuple(
            Assign(n, None if of_whole_tensors(r) else (), "=", one_or_zero(r.condition), r.span, op.name_span)
            for n, r in zip(names, asked)
        ),
        doc=f"Whether `{op.name}` {'made what it should' if after else 'takes these elements'}.",
        family=op.family,
        sizes=tuple(s for s in op.sizes if s.name not in stated),
        nograd=(),
        question=True,
        samples=tuple(s for s in op.samples if not any(p.name == s.name and needless(p) for p in op.params)),
        numbers=any(p.type.instead in NUMBERS and not needless(p) for p in op.params),
        span=op.span,
        name_span=op.name_span,
    )


def one_or_zero(e: X) -> X:
    return X("if", (e, X("num", (), 1, e.span), X("num", (), 0, e.span)), span=e.span)


def named(d: Dim) -> set[str]:
    """The options that an axis speaks of."""
    return {n for n in (d.at, *(named(d.of) if d.of else ())) if n} | {
        n.val for e in (d.expr, d.when) if isinstance(e, X) for n in names_in(e)
    }
