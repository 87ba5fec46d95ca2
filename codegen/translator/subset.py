"""Types of the host subset: what the translator knows of an expression, and how TypeScript writes it.

A type is a tuple: ("int",) ("float",) ("bool",) ("str",) ("none",) ("list", T) ("dict", T) with keys
that are strings, ("tuple", T, ...), ("opt", T) for T or None, ("union", T, ...), ("fn", R, T, ...),
("cls", name, module) for a dataclass, ("alias", name, T), ("literal", text, ...) for one of these texts.  `None` stands
for unknown.  This file is about Python's annotations; it translates no code."""

from __future__ import annotations

import ast

Type = tuple

INT, FLOAT, BOOL, STR, NONE = ("int",), ("float",), ("bool",), ("str",), ("none",)
SIMPLE = {"int": INT, "float": FLOAT, "bool": BOOL, "str": STR, "None": NONE}


class Refused(Exception):
    """Python outside the subset; the message begins with file:line."""


def refuse(node: ast.AST, file: str, message: str):
    raise Refused(f"{file}:{getattr(node, 'lineno', 0)}: {message}")


def annotation(node: ast.AST, names: dict[str, Type], file: str) -> Type:
    """The type an annotation says.  `names`: the classes and aliases in scope."""
    match node:
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str(text)):
            return annotation(ast.parse(text, mode="eval").body, names, file)
        case ast.Name(id=name) if name in SIMPLE:
            return SIMPLE[name]
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=items)):
            return ("literal", *(i.value for i in items))
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return ("list", annotation(item, names, file))
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, item])):
            if annotation(key, names, file) != STR:
                refuse(node, file, "the keys of a dict must be str")
            return ("dict", annotation(item, names, file))
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=items)):
            return ("tuple", *(annotation(i, names, file) for i in items))
        case ast.Subscript(value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(elts=args), result])):
            return ("fn", annotation(result, names, file), *(annotation(a, names, file) for a in args))
        case ast.BinOp(op=ast.BitOr()):
            parts: list[Type] = []
            for side in (node.left, node.right):
                t = annotation(side, names, file)
                parts += t[1:] if t[0] == "union" else (t[1], NONE) if t[0] == "opt" else (t,)
            rest = [p for p in parts if p != NONE]
            one = rest[0] if len(rest) == 1 else ("union", *rest)
            return ("opt", one) if len(rest) < len(parts) else one
    refuse(node, file, f"no such type in the host subset: {ast.unparse(node)}")


def plain(t: Type | None) -> Type | None:
    """The type behind aliases and `or None`."""
    while t is not None and t[0] in ("opt", "alias"):
        t = t[1] if t[0] == "opt" else t[2]
    return STR if t is not None and t[0] == "literal" else t


def optional(t: Type | None) -> bool:
    while t is not None and t[0] == "alias":
        t = t[2]
    return t is not None and t[0] in ("opt", "none")


def join(a: Type | None, b: Type | None) -> Type | None:
    """The type of a value that is one or the other."""
    if a == b or b is None:
        return a
    if a is None:
        return b
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
        case ("list", item):
            return typescript(item, True) + "[]"
        case ("dict", item):
            return f"Record<string, {typescript(item)}>"
        case ("tuple", *items):
            return f"[{', '.join(map(typescript, items))}]"
        case ("literal", *texts):
            s = " | ".join(f'"{text}"' for text in texts)
        case ("cls", name, _):
            return name
        case ("alias", name, _, _):
            return name
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


def mentions(t: Type | None):
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
