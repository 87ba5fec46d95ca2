"""What modules define: functions and classes, and how Python's trees say so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from .subset import Type

ROOT = Path(__file__).parents[2]


@dataclass
class Function:
    """params: (name, type, default); star: the type of `*rest`'s elements, which is the last of the params."""

    name: str
    params: list[tuple[str, Type, ast.expr | None]]
    result: Type
    node: ast.FunctionDef | None = None
    star: bool = False


@dataclass
class Class:
    """fields: with their types, inherited ones first.  value: whether equal fields make it equal.  interned: whether
    each distinct one exists once (the metaclass `Interned`).  interface: a dataclass of fields alone, which is an
    object literal in TypeScript."""

    name: str
    module: str
    node: ast.ClassDef
    fields: dict[str, Type] = field(default_factory=dict)
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    data: bool = False
    frozen: bool = False
    value: bool = False
    interned: bool = False
    base: Class | None = None
    exception: bool = False
    abstract: bool = False
    methods: dict[str, Function] = field(default_factory=dict)
    properties: set[str] = field(default_factory=set)
    cached: set[str] = field(default_factory=set)
    extended: bool = False

    @property
    def interface(self) -> bool:
        return self.data and not (self.frozen or self.methods or self.base or self.extended)

    @property
    def ancestors(self) -> Iterator[Class]:
        """The class and those that it extends."""
        yield self
        if self.base is not None:
            yield from self.base.ancestors

    def method(self, name: str) -> Function | None:
        return next((c.methods[name] for c in self.ancestors if name in c.methods), None)

    def has(self, name: str) -> bool:
        return name in self.fields or any(name in c.properties or name in c.methods for c in self.ancestors)


def absolute(module: str, node: ast.ImportFrom) -> str:
    """The full name of what a module imports from."""
    package = module.split(".")[: -node.level] if node.level else []
    return ".".join([*package, *([node.module] if node.module else [])])


def is_for_types(node: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def leaves(target: ast.expr) -> list[ast.expr]:
    """The names and places that a target is made of."""
    return [leaf for e in target.elts for leaf in leaves(e)] if isinstance(target, ast.Tuple) else [target]


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def dataclass_of(node: ast.ClassDef) -> tuple[bool, bool, bool]:
    """Whether a class is a dataclass, frozen, and equal by its fields."""
    for d in node.decorator_list:
        match d:
            case ast.Name(id="dataclass"):
                return True, False, True
            case ast.Call(func=ast.Name(id="dataclass"), keywords=keywords):
                said = {k.arg: k.value.value for k in keywords if isinstance(k.value, ast.Constant)}
                return True, bool(said.get("frozen")), said.get("eq") is not False
    return False, False, False


def default(node: ast.expr) -> ast.expr:
    """The value of a field's default: `field(default_factory=list)` is an empty list."""
    match node:
        case ast.Call(
            func=ast.Name(id="field"), keywords=[ast.keyword(arg="default_factory", value=ast.Name(id=f)), *_]
        ):
            return ast.parse({"list": "[]", "dict": "{}"}.get(f, f"{f}()"), mode="eval").body
        case ast.Call(func=ast.Name(id="field"), keywords=[ast.keyword(arg="default", value=value), *_]):
            return value
    return node
