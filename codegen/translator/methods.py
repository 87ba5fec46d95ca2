"""Methods of lists, texts, dicts and sets, in TypeScript.  See calls.py."""

from __future__ import annotations

import ast

from .expressions import Expressions
from .precedence import CALL, LOOSE, PLUS, Text
from .subset import BOOL, INT, NONE, STR, Type, join, optional, plain

STRING_METHODS = {
    "startswith": ("startsWith", BOOL),
    "endswith": ("endsWith", BOOL),
    "replace": ("replaceAll", STR),
    "split": ("split", ("list", STR)),
    "strip": ("trim", STR),
    "upper": ("toUpperCase", STR),
    "lower": ("toLowerCase", STR),
    "find": ("indexOf", INT),
}


def list_method(x: Expressions, node: ast.Call, s: str, t: Type, attr: str) -> Text:
    args = [x.text(a, LOOSE, t[1] if attr in ("append", "insert") else None) for a in node.args]
    same = x.identical(t[1])
    match attr, len(args):
        case "append", 1:
            return f"{s}.push({args[0]})", NONE, CALL
        case "extend", 1:
            return f"{s}.push(...{x.iterable(node.args[0], CALL)[0]})", NONE, CALL
        case "index", 1 if same:
            return f"{s}.indexOf({args[0]})", INT, CALL
        case "index", 1:
            return f"{s}.findIndex((x) => {x.helper('isEqual')}(x, {args[0]}))", INT, CALL
        case "count", 1:
            test = f"x === {args[0]}" if same else f"{x.helper('isEqual')}(x, {args[0]})"
            return f"{s}.filter((x) => {test}).length", INT, CALL
        case "insert", 2:
            return f"{s}.splice({args[0]}, 0, {args[1]})", NONE, CALL
        case "remove", 1 if same:
            return f"{s}.splice({s}.indexOf({args[0]}), 1)", NONE, CALL
        case "remove", 1:
            place = f"{s}.findIndex((x) => {x.helper('isEqual')}(x, {args[0]}))"
            return f"{s}.splice({place}, 1)", NONE, CALL
        case "pop", 0:
            return f"{s}.pop()!", t[1], CALL
        case "pop", 1 if args[0] == "0":
            return f"{s}.shift()!", t[1], CALL
        case "pop", 1:
            return f"{s}.splice({args[0]}, 1)[0]", t[1], CALL
        case "copy", 0:
            return f"{s}.slice()", t, CALL
        case "clear", 0:
            return f"{s}.splice(0)", NONE, CALL
        case "reverse", 0:
            return f"{s}.reverse()", NONE, CALL
    x.no(node, f"list.{attr} is not in the subset that is translated")


def string_method(x: Expressions, node: ast.Call, s: str, attr: str) -> Text:
    if attr == "join" and len(node.args) == 1:
        xs, item = x.source(node.args[0])
        if plain(item) != STR:
            x.no(node, "join takes strings")
        return f"{xs}.join({s})", STR, CALL
    args = [x.text(a) for a in node.args]
    match attr, node.args:
        case "rstrip", [ast.Constant(value=str(chars))]:
            return f'{s}.replace(/[{classed(chars)}]+$/, "")', STR, CALL
        case "removeprefix", [ast.Constant(value=str(prefix))] if isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, (ast.Name, ast.Attribute)):
                return f"({s}.startsWith({args[0]}) ? {s}.slice({len(prefix)}) : {s})", STR, CALL
        case "isdigit", []:
            return f"/^[0-9]+$/.test({s})", BOOL, CALL
    if attr not in STRING_METHODS:
        x.no(node, f"str.{attr} is not in the subset that is translated")
    if attr == "split" and not node.args:
        x.no(node, "split needs a separator")
    name, result = STRING_METHODS[attr]
    return f"{s}.{name}({', '.join(args)})", result, CALL


def classed(chars: str) -> str:
    """Characters inside the brackets of a regular expression."""
    return "".join(c if c.isalnum() or c in "_ " else "\\" + c for c in chars)


def dict_method(x: Expressions, node: ast.Call, s: str, t: Type, attr: str) -> Text:
    """Of a dict with texts as keys, which is an object."""
    args = [x.text(a, LOOSE, t[2] if n else None) for n, a in enumerate(node.args)]
    value = t[2]
    match attr, len(args):
        case "get", 1:
            return f"({x.helper('own')}({s}, {args[0]}) ?? null)", value if optional(value) else ("opt", value), CALL
        case "get", 2:
            other = x.text(node.args[1], PLUS, value)
            return f"({x.helper('own')}({s}, {args[0]}) ?? {other})", join(value, x.type_of(node.args[1], value)), CALL
        case "setdefault", 2:
            return f"({s}[{args[0]}] ??= {args[1]})", value, CALL
        case "keys", 0:
            return f"Object.keys({s})", ("list", STR), CALL
        case "values", 0:
            return f"Object.values({s})", ("list", value), CALL
        case "items", 0:
            return f"Object.entries({s})", ("list", ("tuple", STR, value)), CALL
        case "update", 1:
            return f"Object.assign({s}, {args[0]})", NONE, CALL
        case "copy", 0:
            return f"{{ ...{s} }}", t, CALL
        case "pop", 1:
            return f"{x.helper('popKey')}({s}, {args[0]})", value, CALL
    x.no(node, f"dict.{attr} is not in the subset that is translated here")


def map_method(x: Expressions, node: ast.Call, s: str, t: Type, attr: str) -> Text:
    """Of a dict with other keys, which is a Map."""
    args = [x.text(a, LOOSE, t[2] if n else None) for n, a in enumerate(node.args)]
    value = t[2]
    match attr, len(args):
        case "get", 1:
            return f"({s}.get({args[0]}) ?? null)", value if optional(value) else ("opt", value), CALL
        case "get", 2:
            other = x.text(node.args[1], PLUS, value)
            return f"({s}.get({args[0]}) ?? {other})", join(value, x.type_of(node.args[1], value)), CALL
        case "setdefault", 2:
            return f"{x.helper('setDefault')}({s}, {args[0]}, {args[1]})", value, CALL
        case "copy", 0:
            return f"new Map({s})", t, CALL
    x.no(node, f"dict.{attr} is not in the subset that is translated here")


def set_method(x: Expressions, node: ast.Call, s: str, t: Type, attr: str) -> Text:
    match attr, len(node.args):
        case "add", 1:
            return f"{s}.add({x.text(node.args[0])})", NONE, CALL
        case "discard" | "remove", 1:
            return f"{s}.delete({x.text(node.args[0])})", NONE, CALL
        case "update", 1:
            return f"{x.helper('addAll')}({s}, {x.iterable(node.args[0])[0]})", NONE, CALL
        case "copy", 0:
            return f"new Set({s})", t, CALL
        case "isdisjoint", 1:
            return f"{x.helper('isDisjoint')}({s}, {x.iterable(node.args[0])[0]})", BOOL, CALL
        case "union", _:
            start = "" if x.text(node.func.value).startswith("new Set(") and s.endswith("()") else f"...{s}, "  # type: ignore[attr-defined]
            parts = []
            for a in node.args:
                if isinstance(a, ast.Starred):
                    parts.append(f"...{x.source(a.value)[0]}.flatMap((x) => [...x])")
                else:
                    parts.append(f"...{x.iterable(a, CALL)[0]}")
            return f"new Set<{x.ts(plain(x.type_or(node, t))[1])}>([{start}{', '.join(parts)}])", t, CALL
    x.no(node, f"set.{attr} is not in the subset that is translated")
