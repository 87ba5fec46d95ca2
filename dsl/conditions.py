"""Conditions on options, as `when` of a statement has them: shorter ones that say the same.

The parts of a condition (`mode == 1`, `has_bias`) are taken as they stand; all that is known about them is
that one symbol cannot equal two constants."""

from __future__ import annotations

from itertools import product

from .expression import FALSE, TRUE, E, conj, conjuncts


def narrowed(when: E, counts: dict[str, int] | None = None) -> E | None:
    """A conjunction without what follows from the rest: `not p == 1 and p == 2` is `p == 2`.  None: always;
    FALSE: never.

    counts: how many values each choice has, so that denying all but one of them is to say that one."""
    parts = [p for q in conjuncts(when) for p in conjuncts(folded(q))]
    if FALSE in parts:
        return FALSE
    equal: dict[E, E] = {}
    for p in parts:
        if (e := equation(p)) and equal.setdefault(*e) != e[1] or p.op == "not" and p.args[0] in parts:
            return FALSE
    kept = []
    for p in parts:
        denied = equation(p.args[0]) if p.op == "not" else None
        if denied and denied[0] in equal:
            if equal[denied[0]] == denied[1]:
                return FALSE
            continue
        kept.append(p)
    return conj(*(last(kept, counts) if counts else kept))


def last(parts: list[E], counts: dict[str, int]) -> list[E]:
    """`not m == 0 and not m == 1` is `m == 2` if m has three values."""
    denials = {p: equation(p.args[0]) for p in parts if p.op == "not" and equation(p.args[0])}
    for name, count in counts.items():
        mine = {p: e[1].val for p, e in denials.items() if e[0].val == name}
        left = set(range(count)) - set(mine.values())
        if len(left) > 1 or len(mine) != count - 1:
            continue
        place = next(n for n, p in enumerate(parts) if p in mine)
        parts = [p for p in parts if p not in mine]
        parts.insert(place, E("==", (E("sym", (), name), E("const", (), left.pop()))))
    return parts


def exclusive(a: E | None, b: E | None) -> bool:
    """Whether two conditions are seen never to hold together."""
    return a is not None and b is not None and narrowed(conj(a, b)) == FALSE


def folded(e: E) -> E:
    """e with its constants evaluated."""
    if e.op not in ("and", "or", "not"):
        return e
    args = tuple(map(folded, e.args))
    if e.op == "not":
        return {TRUE: FALSE, FALSE: TRUE}.get(args[0], E("not", args))
    ends, passes = (FALSE, TRUE) if e.op == "and" else (TRUE, FALSE)
    if ends in args:
        return ends
    left = [a for a in args if a != passes]
    return passes if not left else left[0] if len(left) == 1 else E(e.op, args)


def equation(e: E) -> tuple[E, E] | None:
    """(symbol, constant) of `p == 2` or `p == -inf`."""
    if e.op != "==" or e.args[0].op != "sym":
        return None
    value = e.args[1].args[0] if e.args[1].op == "neg" else e.args[1]
    return (e.args[0], e.args[1]) if value.op == "const" or value.op == "sym" and value.val == "inf" else None


def either(whens: list[E | None], counts: dict[str, int] | None = None) -> E | None:
    """Where one of the conditions holds; None: always."""
    if None in whens:
        return None
    parts = [frozenset(conjuncts(w)) for w in whens]
    least = [
        w for n, w in enumerate(whens) if not any(q < parts[n] or q == parts[n] and m < n for m, q in enumerate(parts))
    ]
    out = least[0]
    for w in least[1:]:
        out = E("or", (out, w))
    return None if always(out, counts or {}) else out


def always(e: E, counts: dict[str, int]) -> bool:
    """Whether a condition holds whatever its parts are; a choice has one of its values."""
    choices = sorted({q[0].val for p in atoms(e) if (q := equation(p)) and q[0].val in counts})
    parts = list(dict.fromkeys(p for p in atoms(e) if not ((q := equation(p)) and q[0].val in counts)))
    if len(parts) > 6:
        return False
    return all(
        holds(e, dict(zip(parts, values)), dict(zip(choices, chosen)))
        for values in product((False, True), repeat=len(parts))
        for chosen in product(*(range(counts[c]) for c in choices))
    )


def atoms(e: E):
    if e.op in ("and", "or", "not"):
        for a in e.args:
            yield from atoms(a)
    else:
        yield e


def holds(e: E, values: dict[E, bool], chosen: dict[str, int]) -> bool:
    match e.op:
        case "and":
            return all(holds(a, values, chosen) for a in e.args)
        case "or":
            return any(holds(a, values, chosen) for a in e.args)
        case "not":
            return not holds(e.args[0], values, chosen)
    return values[e] if e in values else chosen[e.args[0].val] == e.args[1].val
