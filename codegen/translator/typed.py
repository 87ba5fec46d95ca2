"""What the translation of each form of expression needs: types, texts with brackets where they are wanted, scopes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from .definitions import Class, Function
from .inferred import span
from .modules import Module
from .precedence import (
    CALL,
    LOOSE,
    Text,
)
from .subset import ANY, Type, mentions, plain, refuse, typescript


class Typed:
    """An expression of one module as text and type; the forms are those of codegen/translator/expressions.py.

    local      the names that are bound where the expression stands -> type, kept by the statements' translator
    helpers    names of PYTHON_TS used so far
    used       names of the module and of what it imports that the text says
    named      (name, module) of the classes and aliases that it says as types"""

    def __init__(self, module: Module):
        self.m = module
        self.local: dict[str, Type] = {}
        self.helpers: set[str] = set()
        self.used: set[str] = set()
        self.named: set[tuple[str, str]] = set()
        self.paths: dict[str, str] = {}  # names that stand for a text
        self.inside: Class | None = None  # the class whose method this is
        self.inner: dict[str, Function] = {}  # functions inside the one that this is

    def no(self, node: ast.AST, message: str) -> NoReturn:
        refuse(node, self.m.file, message)

    def ts(self, t: Type, defines: str = "") -> str:
        """A type in TypeScript; `defines`: the name that it is to have."""
        t = self.m.project.shortest(t, defines)
        self.named |= set(mentions(t))
        return typescript(t)

    def helper(self, name: str) -> str:
        self.helpers.add(name)
        return name

    def type_of(self, node: ast.expr, want: Type | None = None) -> Type:
        """The type of an expression; ANY if it is not known."""
        found = self.m.inferred.types.get(at) if (at := span(node)) else None
        if found is None or found == ANY:
            found = self.expr(node, want)[1]
        return ANY if found is None else found

    def kind(self, node: ast.expr) -> Type:
        """The plain type of an expression, which must be known."""
        t = plain(self.type_of(node))
        if t == ANY:
            self.no(node, f"the type of `{ast.unparse(node)}` is unknown; annotate it")
        return t

    def class_of(self, t: Type) -> Class | None:
        return self.m.project.class_of(plain(t))

    def identical(self, t: Type) -> bool:
        """Whether values of a type are equal in Python where they are identical in JavaScript."""
        t = plain(t)
        if t[0] == "union":
            return all(map(self.identical, t[1:]))
        if t[0] == "cls":
            return (c := self.class_of(t)) is not None and not c.value
        return t[0] in ("int", "float", "bool", "str", "none", "literal", "fn")

    def text(self, node: ast.expr, level: int = LOOSE, want: Type | None = None) -> str:
        s, _, p = self.expr(node, want)
        return f"({s})" if p < level else s

    def expr(self, node: ast.expr, want: Type | None = None) -> Text:
        method = getattr(self, "x_" + type(node).__name__, None)
        if method is None:
            self.no(node, f"{type(node).__name__} is not in the subset that is translated")
        made: Text = method(node, want)
        return made

    def spread(self, node: ast.expr) -> str:
        """The items of a sequence, inside the brackets of an array."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return ", ".join(self.item(e, None) for e in node.elts)
        inner = self.text(node, CALL)
        literal = isinstance(node, ast.BinOp) and inner.startswith("[") and inner.endswith("]")
        return inner[1:-1] if literal else f"...{inner}"

    def item(self, node: ast.expr, want: Type | None) -> str:
        if isinstance(node, ast.Starred):
            return "..." + self.iterable(node.value, CALL)[0]
        return self.text(node, LOOSE, want)

    def hashable(self, node: ast.AST, t: Type) -> None:
        """Refuses keys that a Map or Set of JavaScript would tell apart though Python does not."""
        if t != ANY and not self.identical(t):
            self.no(node, f"keys and items of sets are texts, numbers or objects equal to themselves alone, not {t[0]}")

    def type_or(self, node: ast.expr, other: Type) -> Type:
        """What mypy says of a node, which may say nothing."""
        return self.m.inferred.types.get(span(node), other)  # type: ignore[arg-type]

    @contextmanager
    def scope(self, names: dict[str, Type]) -> Iterator[None]:
        """Within: these names are bound as well."""
        before = dict(self.local)
        self.local.update(names)
        yield
        self.local = before

    @contextmanager
    def standing(self, names: dict[str, tuple[str, Type]]) -> Iterator[None]:
        """Within: these names are bound, and each stands for a text."""
        before = self.paths
        self.paths = before | {name: text for name, (text, _) in names.items()}
        with self.scope({name: t for name, (_, t) in names.items()}):
            yield
        self.paths = before

    def source(self, node: ast.expr) -> tuple[str, Type]:
        """Something to iterate over, as an array, and the type of its items."""
        from .sequences import source

        return source(self, node)

    def iterable(self, node: ast.expr, level: int = LOOSE) -> tuple[str, Type]:
        """Something to iterate over, as whatever JavaScript can go through, and the type of its items."""
        from .sequences import iterable

        return iterable(self, node, level)
