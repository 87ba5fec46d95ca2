"""Recurrences: `h[*b, t] = a[*b, t] * (h[*b, t - 1] ?? 0) + x[*b, t]` reads the element before its own.

What it makes of that element must be linear: a factor times it, and a term. So it is three statements, made here in the
syntax tree before anything is checked: the factors, the terms, and a call of the op that runs them, which has kernels
that go through long rows side by side, and a gradient, which is a recurrence from the other end (ops/recurrent.op).
`h[t + 1]` on the right runs from the end; what stands behind `??` is what comes before the first element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..text.diagnostics import Error
from ..text.syntax import Assign, Binder, Dim, Op, Span, X
from ..text.vocabulary import nodes_in

RUNS = "linear_recurrence"  # the op that is called


@dataclass(frozen=True)
class Own:
    """The reads of a tensor's own elements in its formula.  place: of the index along which it runs; back: whether it
    reads the element after; first: what stands for the element before the first."""

    place: int
    back: bool
    first: X


class Refused(Exception):
    """A formula that is no recurrence of this kind."""

    def __init__(self, message: str, span: Span, label: str = "", help: tuple[str, ...] = ()):
        super().__init__(message)
        self.error = Error("index", message, span, label, help=help)


def with_recurrences(items: list, errors: list[Error]) -> tuple[list, list[Error]]:
    """The items of a file with their recurrences as calls, and its errors: an op whose recurrence cannot be is left
    out, with what is wrong about it."""
    made, errors = [], list(errors)
    for item in items:
        try:
            made.append(run_out(item) if isinstance(item, Op) and not item.launches else item)
        except Refused as e:
            errors.append(e.error)
    return made, errors


def recurs(op: Op) -> bool:
    """Whether an op reads its own elements, and so may call `RUNS` without naming it."""
    return any(is_own(n, a.name) for a in first_assigned(op) for n in nodes_in(a.value))


def first_assigned(op: Op) -> list[Assign]:
    """The assignments of new names: what is changed later, or the caller's, is read as it was before."""
    seen = {p.name for p in op.params}
    return [a for a in op.body if a.name not in seen and not seen.add(a.name)]  # type: ignore[func-returns-value]


def run_out(op: Op) -> Op:
    new = {id(a) for a in first_assigned(op)}
    body = tuple(b for a in op.body for b in (assignments(a, op) if id(a) in new else (a,)))
    return op if len(body) == len(op.body) else replace(op, body=body)


def assignments(a: Assign, op: Op) -> Iterator[Assign]:
    own = own_reads(a)
    if own is None:
        yield a
        return
    assert a.index is not None
    factor, term = linear(a.value, a.name)
    at, t = a.index, a.index[own.place]
    if factor is None:
        factor = number(0, a.span)
    if not is_number(own.first, 0):
        end = number(0, a.span) if not own.back else minus(last(a, op, own.place), number(1, a.span))
        start = X("if", (X("==", (t, end), span=a.span), times(factor, own.first), number(0, a.span)), span=a.span)
        term = start if term is None else X("+", (term, start), span=a.span)
    if term is None:
        term = number(0, a.span)
    order = (*at[: own.place], *at[own.place + 1 :], t)
    factors, terms, rows = (f"{a.name}_{word}" for word in ("factors", "terms", "rows"))
    straight = own.place == len(at) - 1
    yield along(Assign(factors, order, "=", factor, a.span, a.name_span), a, op)
    yield along(Assign(terms, order, "=", term, a.span, a.name_span), a, op)
    named = [X("name", (), n, a.span) for n in (factors, terms, "true" if own.back else "false")]
    call = X("call", tuple(named), RUNS, a.span)
    yield Assign(a.name if straight else rows, None, "=", call, a.span, a.name_span)
    if not straight:
        yield Assign(
            a.name, at, "=", X("read", (X("name", (), rows, a.span), *order), span=a.span), a.span, a.name_span
        )


# --- What it reads ---------------------------------------------------------------------------------


def is_own(e: X, name: str) -> bool:
    return e.kind == "read" and e.args[0].kind == "name" and e.args[0].val == name


def own_reads(a: Assign) -> Own | None:
    """How an assignment over plain indices reads its own elements; None if it does not.  Raises Refused."""
    reads = [n for n in nodes_in(a.value) if is_own(n, a.name)]
    if a.index is None or a.mode != "=" or not reads or not all(map(loop_of, a.index)):
        return None
    defaults = {id(n.args[0]): n.args[1] for n in nodes_in(a.value) if n.kind == "??"}
    found: list[Own] = []
    for r in reads:
        place, back = step(a, r)
        if id(r) not in defaults:
            sign = "+" if back else "-"
            raise Refused(
                f"nothing says what comes before the first element of `{a.name}`",
                r.span,
                "this reads beyond the end" if back else "this reads before the beginning",
                (f"write it behind:  ({a.name}[... {sign} 1] ?? 0)",),
            )
        found.append(Own(place, back, defaults[id(r)]))
    if any((o.place, o.back) != (found[0].place, found[0].back) for o in found):
        raise Refused(f"`{a.name}` runs along one index and one way", reads[-1].span, "this is another one")
    if any(o.first != found[0].first for o in found):
        raise Refused(f"`{a.name}` has two values before its first element", reads[-1].span)
    return found[0]


def step(a: Assign, r: X) -> tuple[int, bool]:
    """Of a read of an own element the place of the index that is one less, or more, and which."""
    assert a.index is not None
    differ = [n for n, (i, j) in enumerate(zip(a.index, r.args[1:])) if i != j]
    if len(r.args) - 1 == len(a.index) and len(differ) == 1 and a.index[differ[0]].kind == "name":
        e = r.args[1 + differ[0]]
        if e.kind in "+-" and e.args[0] == a.index[differ[0]] and is_number(e.args[1], 1):
            return differ[0], e.kind == "+"
    raise Refused(
        f"`{a.name}` reads elements of its own that are not beside the one it makes",
        r.span,
        "a recurrence reads the element before, or the one after, along one index",
    )


# --- Factor and term -------------------------------------------------------------------------------


def linear(e: X, name: str) -> tuple[X | None, X | None]:
    """(factor, term) of a formula that is factor * the own element + term; None is 0."""
    if not any(is_own(n, name) for n in nodes_in(e)):
        return None, e
    match e.kind:
        case "??" if is_own(e.args[0], name):
            return number(1, e.span), None
        case "neg":
            factor, term = linear(e.args[0], name)
            return negative(factor), negative(term)
        case "+" | "-":
            left, right = (linear(x, name) for x in e.args)
            return added(e, left[0], right[0]), added(e, left[1], right[1])
        case "*":
            for one, other in (e.args, e.args[::-1]):
                factor, term = linear(one, name)
                if linear(other, name)[0] is None:
                    return factor and times(factor, other), term and times(term, other)
        case "/" if linear(e.args[1], name)[0] is None:
            factor, term = linear(e.args[0], name)
            over = lambda x: x and X("/", (x, e.args[1]), span=e.span)
            return over(factor), over(term)
        case "if" if linear(e.args[0], name)[0] is None:
            yes, no = (linear(x, name) for x in e.args[1:])
            either = lambda x, y: X("if", (e.args[0], x or number(0, e.span), y or number(0, e.span)), span=e.span)
            return either(yes[0], no[0]), either(yes[1], no[1])
    raise Refused(
        f"`{name}` is not linear in the element that it reads of its own",
        e.span,
        "a recurrence is a factor times that element, and a term",
        ("other ones are a body of steps:  launch ... over ...",),
    )


def number(value: float, span: Span) -> X:
    return X("num", (), value, span)


def is_number(e: X, value: float) -> bool:
    return e.kind == "num" and e.val == value


def negative(e: X | None) -> X | None:
    return e and X("neg", (e,), span=e.span)


def times(left: X, right: X) -> X:
    return right if is_number(left, 1) else left if is_number(right, 1) else X("*", (left, right), span=left.span)


def minus(left: X, right: X) -> X:
    return X("-", (left, right), span=left.span)


def added(e: X, left: X | None, right: X | None) -> X | None:
    """left + right, or left - right, as e has it."""
    if right is None:
        return left
    if left is None:
        return right if e.kind == "+" else negative(right)
    return X(e.kind, (left, right), span=e.span)


# --- How far it runs -------------------------------------------------------------------------------


def along(made: Assign, a: Assign, op: Op) -> Assign:
    """A statement with the lengths of the indices that stand alone in none of its tensors: as `a` says them, or its
    result."""
    assert made.index is not None and a.index is not None
    there = {i for n in nodes_in(made.value) if n.kind == "read" for i in map(loop_of, n.args[1:]) if i}
    said = {b.name: b for b in a.extents}
    extents = []
    for i in made.index:
        name = loop_of(i)
        if not name or name in there:
            continue
        if name not in said and (size := declared(a, op, a.index.index(i))) is not None:
            said[name] = Binder(name, i.kind == "spread", None, size, i.span)
        if name in said:
            extents.append(said[name])
    return replace(made, extents=tuple(extents))


def loop_of(i: X) -> str:
    """The index that stands alone here, or ""."""
    inner = i.args[0] if i.kind == "spread" else i
    return str(inner.val) if inner.kind == "name" else ""


def declared(a: Assign, op: Op, place: int) -> X | None:
    """The length of an axis of a result, as its shape says it."""
    out = next((o for o in op.outputs if o.name == a.name and o.type is not None and o.type.dims is not None), None)
    if out is None or out.type is None or out.type.dims is None or place >= len(out.type.dims):
        return None
    d: Dim = out.type.dims[place]
    return d.expr if d.kind == "size" else X("name", (), d.name, a.span) if d.kind == "pack" and d.name else None


def last(a: Assign, op: Op, place: int) -> X:
    assert a.index is not None
    said = {b.name: b.high for b in a.extents}
    size = said.get(loop_of(a.index[place])) or declared(a, op, place)
    if size is None:
        raise Refused(
            f"nothing says where `{a.name}` ends, and so where it begins",
            a.name_span,
            help=(f"say how far the index runs:  {a.name}[... {loop_of(a.index[place])} < N]",),
        )
    return size
