"""Simpler programs of the same meaning: algebra that holds for NaN and infinities too, statements that
compute the same thing once, copies and dead statements out.  Schedules and fusion are codegen's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

from .axes import axes
from .builders import (
    FALSE,
    TRUE,
    ZERO,
    add,
    cond,
    conj,
    div,
    idx,
    is_binary,
    is_const,
    is_loop,
    joined_by,
    mul,
    neg,
    pack,
    sub,
)
from .expression import Binary, BinaryOperator, Cast, Constant, E, Inside, Random, RawResult, Read, Select, Unary, walk
from .program import Loop, Stmt, Tensor
from .rewriting import maybe_subst, subst, transform

# --- Expressions -----------------------------------------------------------------------------------


SIMPLER: dict[E, E] = {}  # what one pass of `rewrite` makes of expressions


def simplify(e: E) -> E:
    """Signs outwards, constant conditions gone, choices under the same condition joined."""
    while (better := transform(e, rewrite, SIMPLER)) is not e:
        e = better
    return e


def rewrite(e: E) -> E | None:
    """One node; its parts are simple already."""
    match e:
        case Binary("*", Unary("-", x), Unary("-", y)):
            return mul(x, y)
        case Binary("*" | "/", Unary("-", x), y):
            return neg(mul(x, y) if e.operator == "*" else div(x, y))
        case Binary("*" | "/", x, Unary("-", y)):
            return neg(mul(x, y) if e.operator == "*" else div(x, y))
        case Binary("*", x, Binary("/", one, y)) if is_const(one, 1):
            return div(x, y)
        case Binary("+", Unary("-", x), y):
            return sub(y, x)
        case Binary("+", Select(c, x, y), Select(d, u, v)) if c is d:
            return cond(c, add(x, u), add(y, v)) if zero_somewhere(x, u) and zero_somewhere(y, v) else None
        case Binary("and" | "or", x, y):
            return joined_truth(e, x, y)
        case Unary("-", Unary("-", x)):
            return x
        case Unary("-", Select(c, x, y)):
            return negated(c, x, y)
        case Unary("not", Constant(_, value)):
            return FALSE if value else TRUE
        case Unary("not", Unary("not", x)):
            return x
        case Unary("not", Binary("==", x, y)):
            return Binary("!=", x, y)
        case Unary("not", Binary("!=", x, y)):
            return Binary("==", x, y)
        case Select(Unary("not", c), x, y):
            return cond(c, y, x)
        case Select(c, x, y):
            return assumed(c, x, y)
        case Cast(kind, Cast(inner)) if inner == kind:
            return e.operand
        case _:
            return None


def joined_truth(e: Binary, x: E, y: E) -> E | None:
    """`x and y`, `x or y` where a constant decides; a and a -> a;  a or (a and b) -> a."""
    stops = e.operator == "or"  # the value that decides
    if isinstance(x, Constant):
        return (TRUE if stops else FALSE) if bool(x.value) == stops else y
    if isinstance(y, Constant):
        return (TRUE if stops else FALSE) if bool(y.value) == stops else x
    other: BinaryOperator = "and" if stops else "or"
    mine = operands(e, e.operator)
    sets = [set(operands(part, other)) for part in mine]
    keep = [
        part
        for i, part in enumerate(mine)
        if not any(sets[j] < sets[i] or sets[j] == sets[i] and j < i for j in range(len(mine)))
    ]
    return None if len(keep) == len(mine) else joined_by(e.operator, keep)


def operands(e: E, operator: BinaryOperator) -> list[E]:
    """The parts that an operator joins, however it stands in brackets."""
    if not is_binary(e, operator):
        return [e]
    return [*operands(e.left, operator), *operands(e.right, operator)]


def zero_somewhere(x: E, y: E) -> bool:
    return is_const(x, 0) or is_const(y, 0)


def negated(c: E, x: E, y: E) -> E | None:
    """-(x if c else y) where one of them is 0: the sign moved to the branch that has something."""
    if not zero_somewhere(x, y):
        return None
    return cond(c, neg(x) if not is_const(x, 0) else ZERO, neg(y) if not is_const(y, 0) else ZERO)


def assumed(c: E, x: E, y: E) -> E | None:
    """x if c else y, where the branches may rely on c and on its opposite."""
    u, v = assuming(x, c, TRUE), assuming(y, c, FALSE)
    return cond(c, u, v) if u is not x or v is not y or x is y else None


def assuming(e: E, c: E, value: E) -> E:
    """e where c is known to be true, or false."""
    return transform(e, lambda n: value if n is c else None) if c.names <= e.names else e


# --- Statements ------------------------------------------------------------------------------------


def statement_reads(s: Stmt) -> list[Read]:
    """All reads of a statement: in its body, filter and indices."""
    return [r for e in s.expressions for r in e.reads]


def rebuilt(s: Stmt, f: Callable[[E], E]) -> Stmt:
    """s with f put over each of its expressions (but its `when`)."""
    return replace(s, body=f(s.body), pred=None if s.pred is None else f(s.pred), idx=tuple(map(f, s.idx)))


def renamed(s: Stmt, names: dict[str, str]) -> Stmt:
    """s with other names for its loops."""
    if not names:
        return s
    loops = s.loops + s.rloops
    env = {v.name: pack(names[v.name]) if v.pack else idx(names[v.name]) for v in loops if v.name in names}
    loops = tuple([Loop(names.get(v.name, v.name), maybe_subst(v.extent, env), v.pack) for v in loops])
    s = rebuilt(s, lambda e: subst(e, env))
    return replace(s, loops=loops[: len(s.loops)], rloops=loops[len(s.loops) :])


def restored(s: Stmt, original: dict[str, str]) -> Stmt:
    """s with the names that its loops had in the definition, where they are free."""
    taken = {v.name for v in s.loops + s.rloops}
    names = {}
    for v in s.loops + s.rloops:
        old = original.get(v.name)
        if old and old not in taken:
            names[v.name] = old
            taken.add(old)
    return renamed(s, names)


def tidy(stmts: list[Stmt], tensors: dict[str, Tensor], outputs: list[str], stored: list[Stmt]) -> list[Stmt]:
    """The statements that `outputs` need.  stored: statements that ran before and whose results are at
    hand; a temporary that computes the same reads those."""
    stmts = [filtered(rebuilt(s, simplify)) for s in stmts]
    stmts = without_copies(at_hand(stmts, tensors, stored), tensors)
    stmts = [rebuilt(s, simplify) for s in shared(stmts, tensors, stored)]
    return live(stmts, outputs)


def filtered(s: Stmt) -> Stmt:
    """A scatter that adds 0 at some points leaves them out: their index may lie outside the target."""
    if s.mode != "+=" or s.red is not None or not any(e.reads for e in s.idx):
        return s
    conditions, body = masks(s.body)
    return replace(s, body=body, pred=conj(s.pred, *conditions)) if conditions else s


def masks(e: E) -> tuple[list[E], E]:
    """The conditions outside of which e is 0, outer ones first, and what it is where they hold."""
    found: list[E] = []
    while isinstance(e, Select):
        c, x, y = e.parts()
        if is_const(y, 0):
            found.append(c)
            e = x
        elif is_const(x, 0):
            found.append(rewrite(Unary("not", c)) or Unary("not", c))
            e = y
        else:
            break
    if is_binary(e, "+", "-"):  # a sum is 0 where both parts are
        left, right = conj(*masks(e.left)[0]), conj(*masks(e.right)[0])
        if left is not None and right is not None:
            found.append(Binary("or", left, right))
    return found, e


def live(stmts: list[Stmt], outputs: list[str]) -> list[Stmt]:
    """The statements that the outputs depend on."""
    needed, out = set(outputs), []
    for s in reversed(stmts):
        if s.target not in needed:
            continue
        needed |= s.inputs
        out.append(s)
    return out[::-1]


def once(stmts: list[Stmt], tensors: dict[str, Tensor]) -> set[str]:
    """The temporaries that one plain statement defines."""
    count: dict[str, int] = {}
    for s in stmts:
        count[s.target] = count.get(s.target, 0) + 1
    return {
        s.target
        for s in stmts
        if count[s.target] == 1 and tensors[s.target].role == "temp" and s.mode == "=" and not s.spread
    }


def without_copies(stmts: list[Stmt], tensors: dict[str, Tensor]) -> list[Stmt]:
    """Reads of a temporary that is only a view of another tensor become reads of that one; one that holds
    a number known to the host becomes that number."""
    plain = once(stmts, tensors)
    nodes = [n for s in stmts for e in s.expressions for n in walk(e)]
    guarded = (
        {n.tensor for n in nodes if isinstance(n, Read) and n.fallback is not None}
        | {n.read.tensor for n in nodes if isinstance(n, Inside)}
        | {t for body in [s.body for s in stmts] if isinstance(body, RawResult) for t in body.tensors}
    )
    views: dict[str, tuple[list[str], E]] = {}
    out = []

    def follow(n: E) -> E | None:
        if not isinstance(n, Read) or n.tensor not in views:
            return None
        names, body = views[n.tensor]
        return subst(body, dict(zip(names, n.index, strict=True)))

    for s in stmts:
        s = rebuilt(s, lambda e: transform(e, follow))
        names = [e.loop for e in s.idx if is_loop(e)]
        if (
            s.target in plain
            and s.target not in guarded
            and not isinstance(s.body, RawResult)
            and s.red is None
            and s.pred is None
            and s.when is None
            and (plain_read(s.body) and tensors[s.body.tensor].dtype == tensors[s.target].dtype or constant(s.body))
            and len(names) == len(s.idx)
            and sorted(names) == sorted(v.name for v in s.loops)
            and len(set(names)) == len(names)
        ):
            views[s.target] = names, s.body
        else:
            out.append(s)
    return out


def at_hand(stmts: list[Stmt], tensors: dict[str, Tensor], stored: list[Stmt]) -> list[Stmt]:
    """Reads of a temporary that a stored result is a copy of, as those of that result: what a body made is not made
    again."""
    written = [s.target for s in stored]
    copies: dict[str, str] = {}
    for s in stored:
        of = s.body
        if (
            written.count(s.target) == 1
            and (s.mode, s.red, s.pred, s.when) == ("=", None, None, None)
            and plain_read(of)
            and of.index == s.idx
            and len(set(s.idx)) == len(s.idx) == len(s.loops)
            and axes(tensors[of.tensor]) == axes(tensors[s.target])
            and tensors[of.tensor].role == "temp"
            and tensors[of.tensor].dtype == tensors[s.target].dtype
        ):
            copies[of.tensor] = s.target
    return [reading(s, copies) for s in stmts]


def reading(s: Stmt, others: dict[str, str]) -> Stmt:
    """s with reads of other tensors in the place of those of some."""

    def follow(n: E) -> E | None:
        return Read(others[n.tensor], n.index, n.fallback) if isinstance(n, Read) and n.tensor in others else None

    return rebuilt(s, lambda e: transform(e, follow)) if not s.inputs.isdisjoint(others) else s


def constant(e: E) -> bool:
    """Whether e is one number, the same at every point; a random one is another at each."""
    return not e.loops and not any(isinstance(n, (Read, Random)) for n in walk(e))


def plain_read(e: E) -> TypeGuard[Read]:
    return isinstance(e, Read) and e.fallback is None and not any(i.reads for i in e.index)


def shared(stmts: list[Stmt], tensors: dict[str, Tensor], stored: list[Stmt]) -> list[Stmt]:
    """Temporaries that are computed twice, once."""
    plain = once(stmts, tensors)
    same: dict[str, str] = {}
    seen: list[tuple[Stmt, str]] = []
    written = [s.target for s in stored]
    for s in stored:
        if written.count(s.target) == 1 and s.mode == "=":
            seen.insert(0, (canonical(s), s.target))
    out = []
    for s in stmts:
        s = reading(s, same)
        if s.target in plain:
            key = canonical(s)
            maker = next((target for known, target in seen if known == key), None)
            if maker is None:
                seen.append((key, s.target))
            elif tensors[maker].dtype == tensors[s.target].dtype:
                same[s.target] = maker
                continue
        out.append(s)
    return out


def canonical(s: Stmt) -> Stmt:
    """s without its own names: equal for statements that compute the same."""
    return replace(renamed(s, {v.name: f"{i}_" for i, v in enumerate(s.loops + s.rloops)}), target="")
