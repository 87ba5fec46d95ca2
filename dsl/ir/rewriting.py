"""Expressions rewritten from their parts up, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable

from .builders import add, cond, div, floordiv, mul, neg, sub
from .expression import Binary, E, Index, Pack, Read, Select, Unary


def build(e: E, parts: tuple[E, ...]) -> E:
    """The same operation of other parts, with the simplifications of its operator."""
    match e:
        case Binary("+", _, _):
            return add(parts[0], parts[1])
        case Binary("-", _, _):
            return sub(parts[0], parts[1])
        case Binary("*", _, _):
            return mul(parts[0], parts[1])
        case Binary("/", _, _):
            return div(parts[0], parts[1])
        case Binary("//", _, _):
            return floordiv(parts[0], parts[1])
        case Unary("-", _):
            return neg(parts[0])
        case Select():
            return cond(parts[0], parts[1], parts[2])
        case _:
            return e.of(parts)


def mapped(e: E, f: Callable[[E], E]) -> E:
    """The same operation of what `f` makes of its parts, as it stands."""
    parts = e.parts()
    return e.of(tuple([f(p) for p in parts])) if parts else e


def transform(e: E, f: Callable[[E], E | None], done: dict[E, E] | None = None) -> E:
    """Rewrites bottom-up: f answers a replacement or None, the same for the same expression.

    done: what f made before of expressions; derivatives hold the same parts many times."""
    known: dict[E, E] = {} if done is None else done

    def visit(n: E) -> E:
        found = known.get(n)
        if found is not None:
            return found
        parts = n.parts()
        made = n
        if parts:
            others = tuple([visit(p) for p in parts])
            if others != parts:
                made = build(n, others)
        replaced = f(made)
        known[n] = found = made if replaced is None else replaced
        return found

    return visit(e)


def subst(e: E, env: dict[str, E]) -> E:
    """Puts expressions in the place of loop indices (single and pack)."""
    if not env or e.loops.isdisjoint(env):
        return e
    return transform(e, lambda n: env.get(n.loop) if isinstance(n, (Index, Pack)) else None)


def maybe_subst(e: E | None, env: dict[str, E]) -> E | None:
    return None if e is None else subst(e, env)


def indices(e: E | None) -> set[str]:
    """The names of the loops, single and pack, that e depends on."""
    return set() if e is None else set(e.loops)


def symbols(e: E | None) -> set[str]:
    return set() if e is None else set(e.symbols)


def reads(e: E | None) -> list[Read]:
    return [] if e is None else list(e.reads)
