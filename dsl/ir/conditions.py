"""Conditions on options, as `when` of a statement has them: shorter ones that say the same.

The parts of a condition (`mode == 1`, `has_bias`) are taken as they stand; all that is known about them is
that one symbol cannot equal two constants."""

from __future__ import annotations

from collections.abc import Sequence

from .builders import FALSE, TRUE, conj, conjuncts, integer, is_binary, is_unary, joined_by
from .expression import Binary, Constant, E, Symbol, Unary


def narrowed(when: E | None, counts: dict[str, int] | None = None) -> E | None:
    """A conjunction without what follows from the rest: `not p == 1 and p == 2` is `p == 2`.  None: always;
    FALSE: never.

    counts: how many values each choice has, so that denying all but one of them is to say that one."""
    parts = [p for q in conjuncts(when) for p in conjuncts(folded(q))]
    if FALSE in parts:
        return FALSE
    equal: dict[Symbol, E] = {}
    for p in parts:
        said = equation(p)
        if said is not None and equal.setdefault(said[0], said[1]) is not said[1]:
            return FALSE
        if is_unary(p, "not") and p.operand in parts:
            return FALSE
    kept = []
    for p in parts:
        denied = equation(p.operand) if is_unary(p, "not") else None
        if denied and denied[0] in equal:
            if equal[denied[0]] is denied[1]:
                return FALSE
            continue
        kept.append(p)
    return conj(*(last(kept, counts) if counts is not None else kept))


def last(parts: list[E], counts: dict[str, int]) -> list[E]:
    """`not m == 0 and not m == 1` is `m == 2` if m has three values."""
    denials: dict[E, tuple[Symbol, E]] = {}
    for p in parts:
        if is_unary(p, "not") and (e := equation(p.operand)) is not None:
            denials[p] = e
    for name, count in counts.items():
        mine = {p: value for p, (symbol, value) in denials.items() if symbol.name == name}
        denied = {e.value for e in mine.values() if isinstance(e, Constant)}
        left = [n for n in range(count) if n not in denied]
        if not mine or len(left) > 1 or len(mine) != count - 1:
            continue
        place = next(n for n, p in enumerate(parts) if p in mine)
        parts = [p for p in parts if p not in mine]
        parts.insert(place, Binary("==", Symbol(name), integer(left[-1])))
    return parts


def exclusive(a: E | None, b: E | None) -> bool:
    """Whether two conditions are seen never to hold together."""
    return a is not None and b is not None and narrowed(conj(a, b)) is FALSE


def folded(e: E) -> E:
    """e with its constants evaluated."""
    match e:
        case Unary("not", operand):
            inner = folded(operand)
            return FALSE if inner is TRUE else TRUE if inner is FALSE else Unary("not", inner)
        case Binary("and" | "or", left, right):
            parts = [folded(left), folded(right)]
            ends, passes = (FALSE, TRUE) if e.operator == "and" else (TRUE, FALSE)
            if ends in parts:
                return ends
            rest = [p for p in parts if p is not passes]
            return joined_by(e.operator, rest) if rest else passes
        case _:
            return e


def equation(e: E) -> tuple[Symbol, E] | None:
    """(symbol, constant) of `p == 2` or `p == -inf`."""
    if not is_binary(e, "==") or not isinstance(e.left, Symbol):
        return None
    value = e.right.operand if is_unary(e.right, "-") else e.right
    known = isinstance(value, Constant) or isinstance(value, Symbol) and value.name == "inf"
    return (e.left, e.right) if known else None


def either(whens: Sequence[E | None], counts: dict[str, int] | None = None) -> E | None:
    """Where one of the conditions holds; None: always."""
    given = [w for w in whens if w is not None]
    if len(given) < len(whens):
        return None
    parts = [frozenset(conjuncts(w)) for w in given]
    least = [
        w for n, w in enumerate(given) if not any(q < parts[n] or q == parts[n] and m < n for m, q in enumerate(parts))
    ]
    out = joined_by("or", least)
    return None if always(out, {} if counts is None else counts) else out


def always(e: E, counts: dict[str, int]) -> bool:
    """Whether a condition holds whatever its parts are; a choice has one of its values."""
    equations: dict[E, tuple[Symbol, E]] = {}
    for p in atoms(e):
        if (q := equation(p)) is not None and q[0].name in counts:
            equations[p] = q
    choices = sorted({symbol.name for symbol, _ in equations.values()})
    parts = list(dict.fromkeys([p for p in atoms(e) if p not in equations]))
    return len(parts) <= 6 and everywhere(e, parts, choices, counts, {}, {})


def everywhere(
    e: E, parts: list[E], choices: list[str], counts: dict[str, int], values: dict[E, bool], chosen: dict[str, int]
) -> bool:
    """Whether e holds for what was chosen so far, whatever the parts and choices are that are left."""
    if parts:
        first, *rest = parts
        return all(everywhere(e, rest, choices, counts, values | {first: v}, chosen) for v in (False, True))
    if choices:
        name, *others = choices
        return all(everywhere(e, [], others, counts, values, chosen | {name: n}) for n in range(counts[name]))
    return holds(e, values, chosen)


def atoms(e: E) -> list[E]:
    """What `and`, `or` and `not` join."""
    match e:
        case Binary("and" | "or", left, right):
            return [*atoms(left), *atoms(right)]
        case Unary("not", operand):
            return atoms(operand)
        case _:
            return [e]


def holds(e: E, values: dict[E, bool], chosen: dict[str, int]) -> bool:
    match e:
        case Binary("and", left, right):
            return holds(left, values, chosen) and holds(right, values, chosen)
        case Binary("or", left, right):
            return holds(left, values, chosen) or holds(right, values, chosen)
        case Unary("not", operand):
            return not holds(operand, values, chosen)
        case Binary("==", Symbol(name), Constant(_, value)) if e not in values:
            return chosen[name] == value
        case _:
            return values[e]
