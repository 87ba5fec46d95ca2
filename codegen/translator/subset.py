"""Types of the subset of Python that is translated: what is known of an expression, and how TypeScript writes it.

A type is a tuple: ("int",) ("float",) ("bool",) ("str",) ("none",), ("list", T), ("array", T) for a list that nobody
changes (a tuple of any length), ("dict", K, V), ("set", T), ("iter", T) for what can be gone through once,
("tuple", T, ...), ("opt", T) for T or None, ("union", T, ...), ("fn", R, T, ...), ("cls", name, module),
("alias", name, T, module), ("literal", text, ...) for one of these texts, ("var", name) a type parameter.
ANY stands for what TypeScript need not know, and where it is asked for for what is not known.  This file is about
annotations; it translates no code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NoReturn

Type = tuple[Any, ...]

INT, FLOAT, BOOL, STR, NONE = ("int",), ("float",), ("bool",), ("str",), ("none",)
ANY: Type = ("any",)
NEVER: Type = ("never",)
SIMPLE = {"int": INT, "float": FLOAT, "bool": BOOL, "str": STR, "None": NONE, "object": ANY, "Any": ANY}
ONE = {"list": "list", "set": "set", "frozenset": "set", "Sequence": "array", "Iterable": "iter", "Iterator": "iter"}


class Refused(Exception):
    """Python outside the subset; the message begins with file:line."""


def refuse(node: ast.AST, file: str, message: str) -> NoReturn:
    raise Refused(f"{file}:{getattr(node, 'lineno', 0)}: {message}")


def annotation(node: ast.AST, names: dict[str, Type], file: str) -> Type:
    """The type an annotation says.  `names`: the classes and aliases in scope."""
    match node:
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str(text)):
            return annotation(ast.parse(text, mode="eval").body, names, file)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Attribute(value=ast.Name(id=module), attr=name) if f"{module}.{name}" in names:
            return names[f"{module}.{name}"]
        case ast.Name(id=name) if name in SIMPLE:
            return SIMPLE[name]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=items)):
            return ("literal", *(text for i in items for text in texts(i, names, file)))
        case ast.Subscript(value=ast.Name(id="Literal"), slice=item):
            return ("literal", *texts(item, names, file))
        case ast.Subscript(value=ast.Name(id=name), slice=item) if name in ONE:
            return (ONE[name], annotation(item, names, file))
        case ast.Subscript(value=ast.Name(id="dict" | "Mapping"), slice=ast.Tuple(elts=[key, item])):
            return ("dict", annotation(key, names, file), annotation(item, names, file))
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, ast.Constant(value=v)])) if v is ...:
            return ("array", annotation(item, names, file))
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=items)):
            return ("tuple", *(annotation(i, names, file) for i in items))
        case ast.Subscript(value=ast.Name(id="TypeIs" | "TypeGuard" as guard), slice=item):  # does it tell if it fails
            return ("is", annotation(item, names, file), guard == "TypeIs")
        case ast.Subscript(value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(elts=args), result])):
            return ("fn", annotation(result, names, file), *(annotation(a, names, file) for a in args))
        case ast.BinOp(op=ast.BitOr()):
            return union([annotation(side, names, file) for side in (node.left, node.right)])
    refuse(node, file, f"no such type in the subset that is translated: {ast.unparse(node)}")


def texts(node: ast.expr, names: dict[str, Type], file: str) -> list[str]:
    """What one entry of `Literal[...]` stands for: a text, or those of another such type."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Name(id=name) if name in names and names[name][0] == "alias":
            return list(names[name][2][1:])
    refuse(node, file, "Literal of this")


def union(parts: list[Type]) -> Type:
    """A value of one of these types."""
    flat: list[Type] = []
    for t in parts:
        flat += t[1:] if t[0] == "union" else (t[1], NONE) if t[0] == "opt" else (t,)
    rest = list(dict.fromkeys(t for t in flat if t not in (NONE, NEVER)))
    if FLOAT in rest and INT in rest:
        rest.remove(INT)
    if len(rest) > 1 and all(t[0] == "literal" for t in rest):
        rest = [("literal", *(text for t in rest for text in t[1:]))]
    one = NONE if not rest else rest[0] if len(rest) == 1 else ("union", *rest)
    return ("opt", one) if NONE in flat and rest else one


def plain(t: Type | None) -> Type:
    """The type behind aliases and `or None`; ANY if it is not known."""
    while t is not None and t[0] in ("opt", "alias"):
        t = t[1] if t[0] == "opt" else t[2]
    return ANY if t is None else STR if t[0] == "literal" else BOOL if t[0] == "is" else t


def optional(t: Type | None) -> bool:
    while t is not None and t[0] == "alias":
        t = t[2]
    return t is not None and t[0] in ("opt", "none")


def join(a: Type | None, b: Type | None) -> Type | None:
    """The type of a value that is one or the other."""
    if a == b or b in (None, ANY):
        return a
    if a in (None, ANY):
        return b
    assert a is not None and b is not None
    if a == NONE:
        return b if optional(b) else ("opt", b)
    if b == NONE:
        return a if optional(a) else ("opt", a)
    if {plain(a), plain(b)} <= {INT, FLOAT}:
        return FLOAT
    if a[0] == "list" and b[0] == "list":
        return ("list", join(a[1], b[1]))
    if optional(a) or optional(b):
        return ("opt", join(plain(a), plain(b)))
    return a


def typescript(t: Type, nested: bool = False) -> str:
    """The type in TypeScript; `nested` where a union needs brackets."""
    match t:
        case ("int",) | ("float",):
            return "number"
        case ("bool",):
            return "boolean"
        case ("str",):
            return "string"
        case ("none",):
            return "null"
        case ("any",):
            return "unknown"
        case ("never",):
            return "never"
        case ("list", item):
            return typescript(item, True) + "[]"
        case ("array", item):
            s = f"readonly {typescript(item, True)}[]"
        case ("iter", item):
            return f"Iterable<{typescript(item)}>"
        case ("set", item):
            return f"Set<{typescript(item)}>"
        case ("dict", key, item):
            return (
                f"Record<string, {typescript(item)}>"
                if plain(key) == STR
                else f"Map<{typescript(key)}, {typescript(item)}>"
            )
        case ("tuple", *items):
            return f"[{', '.join(map(typescript, items))}]"
        case ("literal", *texts):
            s = " | ".join(f'"{text}"' for text in texts)
        case ("cls", name, _) | ("var", name) | ("alias", name, _, _):
            return str(name)
        case ("opt", item):
            s = f"{typescript(item, True)} | null"
        case ("union", *items):
            s = " | ".join(dict.fromkeys(typescript(i, True) for i in items))
        case ("fn", result, *args):
            names = ", ".join(f"{'abcdefgh'[i]}: {typescript(a)}" for i, a in enumerate(args))
            s = f"({names}) => {'void' if result == NONE else typescript(result)}"
        case _:
            raise ValueError(t)
    return f"({s})" if nested else s


def mentions(t: Type | None) -> Iterator[tuple[str, str]]:
    """The (name, module) of the classes and aliases that `typescript(t)` names."""
    if t is None:
        return
    if t[0] == "cls":
        yield t[1], t[2]
    elif t[0] == "alias":
        yield t[1], t[3]
    else:
        for part in t[1:]:
            if isinstance(part, tuple):
                yield from mentions(part)
