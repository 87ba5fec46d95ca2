"""Simpler programs of the same meaning: algebra that holds for NaN and infinities too, statements that
compute the same thing once, copies and dead statements out.  Schedules and fusion are codegen's."""

from __future__ import annotations

from dataclasses import replace

from .axes import axes
from .expression import (
    FALSE,
    TRUE,
    ZERO,
    E,
    add,
    cond,
    conj,
    div,
    idx,
    indices,
    is_const,
    mul,
    neg,
    pack,
    read,
    reads,
    sub,
    subst,
    transform,
    walk,
)
from .ir import Loop, Stmt, Tensor

# --- Expressions -----------------------------------------------------------------------------------


def simplify(e: E) -> E:
    """Signs outwards, constant conditions gone, choices under the same condition joined."""
    while (better := transform(e, rewrite, "simple")) != e:
        e = better
    return e


def rewrite(e: E) -> E | None:
    """One node; its arguments are simple already."""
    a = e.args
    match e.op:
        case "*":
            if a[0].op == "neg" and a[1].op == "neg":
                return mul(a[0].args[0], a[1].args[0])
            if a[0].op == "neg":
                return neg(mul(a[0].args[0], a[1]))
            if a[1].op == "neg":
                return neg(mul(a[0], a[1].args[0]))
            if a[1].op == "/" and is_const(a[1].args[0], 1):
                return div(a[0], a[1].args[1])
        case "/":
            if a[0].op == "neg":
                return neg(div(a[0].args[0], a[1]))
            if a[1].op == "neg":
                return neg(div(a[0], a[1].args[0]))
        case "+":
            if a[0].op == "neg":
                return sub(a[1], a[0].args[0])
            if a[0].op == a[1].op == "if" and a[0].args[0] == a[1].args[0]:
                (c, x, y), (_, u, v) = a[0].args, a[1].args
                if zero_somewhere(x, u) and zero_somewhere(y, v):
                    return cond(c, add(x, u), add(y, v))
        case "neg":
            return {"neg": lambda: a[0].args[0], "if": lambda: negated(a[0])}.get(a[0].op, lambda: None)()
        case "not":
            if a[0].op == "const":
                return FALSE if a[0].val else TRUE
            if a[0].op == "not":
                return a[0].args[0]
            if a[0].op == "==":
                return E("!=", a[0].args)
            if a[0].op == "!=":
                return E("==", a[0].args)
        case "and" | "or":
            stops = e.op == "or"  # the value that decides
            for x, y in (a, a[::-1]):
                if x.op == "const":
                    return (TRUE if stops else FALSE) if bool(x.val) == stops else y
            return absorbed(e)
        case "if":
            c, x, y = a
            if c.op == "not":
                return cond(c.args[0], y, x)
            return assumed(c, x, y)
        case "cast":
            if a[0].op == "cast" and a[0].val == e.val:
                return a[0]
    return None


def absorbed(e: E) -> E | None:
    """a and a -> a;  a or (a and b) -> a."""
    other = "or" if e.op == "and" else "and"
    parts = lambda x, op: parts(x.args[0], op) + parts(x.args[1], op) if x.op == op else [x]
    mine = parts(e, e.op)
    sets = [set(parts(x, other)) for x in mine]
    keep = [
        x
        for i, x in enumerate(mine)
        if not any(sets[j] < sets[i] or sets[j] == sets[i] and j < i for j in range(len(mine)))
    ]
    if len(keep) == len(mine):
        return None
    out = keep[0]
    for x in keep[1:]:
        out = E(e.op, (out, x))
    return out


def zero_somewhere(x: E, y: E) -> bool:
    return is_const(x, 0) or is_const(y, 0)


def negated(e: E) -> E | None:
    """-(a if c else 0), the sign moved to the branch that has something."""
    c, x, y = e.args
    return (
        cond(c, neg(x) if not is_const(x, 0) else ZERO, neg(y) if not is_const(y, 0) else ZERO)
        if zero_somewhere(x, y)
        else None
    )


def may_hold(e: E, part: E) -> bool:
    return part.names <= e.names


def assumed(c: E, x: E, y: E) -> E | None:
    """x if c else y, where the branches may rely on c and on its opposite."""
    under = lambda branch, value: (
        transform(branch, lambda n: value if n == c else None) if may_hold(branch, c) else branch
    )
    u, v = under(x, TRUE), under(y, FALSE)
    return cond(c, u, v) if (u, v) != (x, y) or x == y else None


# --- Statements ------------------------------------------------------------------------------------


def statement_reads(s: Stmt) -> list[E]:
    """All reads of a statement: in its body, filter and indices."""
    return [r for e in (s.body, s.pred, *s.idx) for r in reads(e)]


def rebuilt(s: Stmt, f) -> Stmt:
    """s with f put over each of its expressions (but its `when`)."""
    return replace(s, body=f(s.body), pred=None if s.pred is None else f(s.pred), idx=tuple(map(f, s.idx)))


def renamed(s: Stmt, names: dict[str, str]) -> Stmt:
    """s with other names for its loops."""
    if not names:
        return s
    nest = s.loops + s.rloops
    env = {v.name: (pack if v.pack else idx)(names[v.name]) for v in nest if v.name in names}
    loops = [Loop(names.get(v.name, v.name), subst(v.extent, env), v.pack) for v in nest]
    s = rebuilt(s, lambda e: subst(e, env))
    return replace(s, loops=tuple(loops[: len(s.loops)]), rloops=tuple(loops[len(s.loops) :]))


def tidy(stmts: list[Stmt], tensors: dict[str, Tensor], outputs: list[str], stored: list[Stmt]) -> list[Stmt]:
    """The statements that `outputs` need.  stored: statements that ran before and whose results are at
    hand; a temporary that computes the same reads those."""
    stmts = [filtered(rebuilt(s, simplify)) for s in stmts]
    stmts = without_copies(at_hand(stmts, tensors, stored), tensors)
    stmts = [rebuilt(s, simplify) for s in shared(stmts, tensors, stored)]
    return live(stmts, outputs)


def filtered(s: Stmt) -> Stmt:
    """A scatter that adds 0 at some points leaves them out: their index may lie outside the target."""
    if s.mode != "+=" or s.red is not None or not any(map(reads, s.idx)):
        return s
    while s.body.op == "if":
        c, x, y = s.body.args
        if is_const(y, 0):
            s = replace(s, body=x, pred=conj(s.pred, c))
        elif is_const(x, 0):
            s = replace(s, body=y, pred=conj(s.pred, rewrite(E("not", (c,))) or E("not", (c,))))
        else:
            break
    return s


def live(stmts: list[Stmt], outputs: list[str]) -> list[Stmt]:
    """The statements that the outputs depend on."""
    needed, out = set(outputs), []
    for s in reversed(stmts):
        if s.target not in needed:
            continue
        needed |= {r.val[0] for r in statement_reads(s)}
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
    nodes = [n for s in stmts for e in (s.body, s.pred, *s.idx) for n in walk(e)]
    guarded = (
        {n.val[0] for n in nodes if n.op == "read" and n.val[1] is not None}
        | {n.args[0].val[0] for n in nodes if n.op == "inside"}
        | {r.val[0] for s in stmts if s.body.op == "raw" for r in reads(s.body)}
    )
    views: dict[str, tuple[list[str], E]] = {}
    out = []

    def follow(n: E) -> E | None:
        if n.op != "read" or n.val[0] not in views:
            return None
        names, body = views[n.val[0]]
        return subst(body, dict(zip(names, n.args)))

    for s in stmts:
        s = rebuilt(s, lambda e: transform(e, follow))
        names = [e.val for e in s.idx]
        if (
            s.target in plain
            and s.target not in guarded
            and s.body.op != "raw"
            and s.red is None
            and s.pred is None
            and s.when is None
            and (plain_read(s.body) and tensors[s.body.val[0]].dtype == tensors[s.target].dtype or constant(s.body))
            and all(e.op in ("idx", "pack") for e in s.idx)
            and sorted(names) == sorted(v.name for v in s.loops)
            and len(set(names)) == len(names)
        ):
            views[s.target] = names, s.body
        else:
            out.append(s)
    return out


def at_hand(stmts: list[Stmt], tensors: dict[str, Tensor], stored: list[Stmt]) -> list[Stmt]:
    """Reads of a temporary that a stored result is a copy of, as those of that result: what a raw body made is not made
    again."""
    written = [s.target for s in stored]
    copies: dict[str, str] = {}
    for s in stored:
        of = s.body
        if (
            written.count(s.target) == 1
            and (s.mode, s.red, s.pred, s.when) == ("=", None, None, None)
            and plain_read(of)
            and of.args == s.idx
            and len(set(s.idx)) == len(s.idx) == len(s.loops)
            and axes(tensors[of.val[0]]) == axes(tensors[s.target])
            and tensors[of.val[0]].role == "temp"
            and tensors[of.val[0]].dtype == tensors[s.target].dtype
        ):
            copies[of.val[0]] = s.target
    follow = lambda n: read(copies[n.val[0]], n.args, n.val[1]) if n.op == "read" and n.val[0] in copies else None
    return [rebuilt(s, lambda e: transform(e, follow)) for s in stmts]


def constant(e: E) -> bool:
    """Whether e is one number, the same at every point; a random one is another at each."""
    return not indices(e) and not any(n.op in ("read", "rand") for n in walk(e))


def plain_read(e: E) -> bool:
    return e.op == "read" and e.val[1] is None and not any(map(reads, e.args))


def shared(stmts: list[Stmt], tensors: dict[str, Tensor], stored: list[Stmt]) -> list[Stmt]:
    """Temporaries that are computed twice, once."""
    plain = once(stmts, tensors)
    same: dict[str, str] = {}
    seen: dict[Stmt, str] = {}
    follow = lambda n: read(same[n.val[0]], n.args, n.val[1]) if n.op == "read" and n.val[0] in same else None
    written = [s.target for s in stored]
    for s in stored:
        if written.count(s.target) == 1 and s.mode == "=":
            seen[canonical(s)] = s.target
    out = []
    for s in stmts:
        s = rebuilt(s, lambda e: transform(e, follow))
        if s.target in plain:
            key = canonical(s)
            if key in seen and tensors[seen[key]].dtype == tensors[s.target].dtype:
                same[s.target] = seen[key]
                continue
            seen.setdefault(key, s.target)
        out.append(s)
    return out


def canonical(s: Stmt) -> Stmt:
    """s without its own names: equal for statements that compute the same."""
    return replace(renamed(s, {v.name: f"{i}_" for i, v in enumerate(s.loops + s.rloops)}), target="")
