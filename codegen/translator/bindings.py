"""Which names a statement reads and binds, and of which types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from .definitions import leaves
from .inferred import span
from .subset import ANY, Type, annotation

if TYPE_CHECKING:
    from .writer import Writer


def within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and its parts, but those of functions that are defined in it."""
    yield node
    for n in ast.iter_child_nodes(node):
        if isinstance(n, ast.FunctionDef):
            continue
        yield from within(n)


def uses(node: ast.AST) -> set[str]:
    """The names a statement reads or assigns, but for those that its own loops bind."""
    bound = {
        n.id
        for loop in ast.walk(node)
        if isinstance(loop, (ast.For, ast.comprehension))
        for n in ast.walk(loop.target)
        if isinstance(n, ast.Name)
    }
    named = {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - bound | named


def assigned(node: ast.AST) -> dict[str, list[ast.AST]]:
    """The plain names a statement assigns anywhere inside, in order, with the assignments.  What a function inside
    assigns is its own, but for what it says `nonlocal` of."""
    out: dict[str, list[ast.AST]] = {}
    for n in within(node):
        if isinstance(n, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            for target in (leaf for t in targets for leaf in leaves(t)):
                one = target.value if isinstance(target, ast.Starred) else target
                if isinstance(one, ast.Name):
                    out.setdefault(one.id, []).append(n)
    for f in ast.walk(node):
        if isinstance(f, ast.FunctionDef) and f is not node:
            names = {n for s in ast.walk(f) if isinstance(s, ast.Nonlocal) for n in s.names}
            for name, places in assigned(f).items() if names else ():
                if name in names:
                    out.setdefault(name, []).extend(places)
    return out


def reassigned(w: Writer, name: str, s: ast.AST) -> bool:
    """Whether a name assigned by s is assigned again in the function (so it is `let`)."""
    return any(n is not s for n in assigned_in(w.current).get(name, ()))


@lru_cache(maxsize=4)
def assigned_in(function: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    return assigned(function)


def declared_type(w: Writer, name: str, s: ast.AST) -> Type:
    """The type of a name that s assigns anywhere inside, as mypy knows it where it is first assigned."""
    for n in within(s):
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store):
            found = w.m.inferred.names.get(span(n)) or w.m.inferred.types.get(span(n))  # type: ignore[arg-type]
            if found is not None and found != ANY:
                return found
    return ANY


def annotated(w: Writer, s: ast.stmt, name: str) -> Type | None:
    for n in within(s):
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.target.id == name:
            return annotation(n.annotation, w.m.types, w.m.file)
    return None


def is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def named_expressions(node: ast.AST) -> list[str]:
    """The names that `:=` binds in an expression or a simple statement."""
    return [n.target.id for n in within(node) if isinstance(n, ast.NamedExpr)]


def heads(s: ast.stmt) -> set[str]:
    """The names that `:=` binds in the conditions of a compound statement, and in what a loop goes through."""
    match s:
        case ast.If(test=test, orelse=orelse):
            chained = [n for o in orelse if isinstance(o, ast.If) for n in heads(o)] if len(orelse) == 1 else []
            return {*named_expressions(test), *chained}
        case ast.While(test=test):
            return set(named_expressions(test))
        case ast.For(iter=iterated):
            return set(named_expressions(iterated))
        case ast.Match(subject=subject, cases=cases):
            return {*named_expressions(subject), *(n for c in cases if c.guard for n in named_expressions(c.guard))}
    return set()
