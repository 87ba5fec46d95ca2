"""Calls in the host subset: Python's built-in functions and methods, constructors of dataclasses (which
become object literals) and functions of the host, in TypeScript.  See expressions.py."""

from __future__ import annotations

import ast

from .expressions import CALL, EQUAL, LESS, LOOSE, MATH, PLUS, STRING_METHODS, TERNARY, UNARY, Expressions
from .subset import BOOL, FLOAT, INT, NONE, STR, Type, join, optional

Text = tuple[str, Type | None, int]


def translate_call(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    match node.func:
        case ast.Name(id=name) if name not in x.local:
            if name in x.classes:
                return construct(x, node, name)
            if name in x.functions:
                return call_function(x, node, name)
            if name in BUILTINS:
                return BUILTINS[name](x, node, want)
            x.no(node, f"`{name}` is not in the host subset")
        case ast.Attribute(value=ast.Name(id="math"), attr=attr) if attr in MATH:
            return f"Math.{attr}({', '.join(map(x.text, node.args))})", MATH[attr], CALL
        case ast.Attribute(value=owner, attr=attr):
            t = x.kind(owner)
            if t[0] == "cls":
                return call_value(x, node)
            if node.keywords:
                x.no(node, "keywords here")
            return {"list": list_method, "str": string_method, "dict": dict_method}[t[0]](
                x, node, x.text(owner, CALL), t, attr
            )
    return call_value(x, node)


def call_value(x: Expressions, node: ast.Call) -> Text:
    t = x.kind(node.func)
    if t[0] != "fn":
        x.no(node, f"a call of {t[0]}")
    return f"{x.text(node.func, CALL)}({', '.join(x.text(a, LOOSE, w) for a, w in zip(node.args, t[2:]))})", t[1], CALL


def construct(x: Expressions, node: ast.Call, name: str) -> Text:
    """`Axis(sizes, strides)` -> `{ sizes, strides }`: every field, in the class's order; of a frozen class `new
    Axis(sizes, strides)`."""
    x.used.add(name)
    fields, given = x.classes[name], {}
    for field, value in zip(fields, node.args):
        given[field] = value
    if len(node.args) > len(fields):
        x.no(node, f"too many arguments for {name}")
    for k in node.keywords:
        given[k.arg] = k.value
    for field in given:
        if field not in fields:
            x.no(node, f"{name} has no field `{field}`")
    parts = []
    for field, t in fields.items():
        value = given.get(field, fields.defaults.get(field))
        if value is None:
            x.no(node, f"{name} needs `{field}`")
        text = x.text(value, LOOSE, t)
        parts.append(text if fields.frozen or text == field else f"{field}: {text}")
    if fields.frozen:
        return f"new {name}({', '.join(parts)})", x.types[name], CALL
    return "{ " + ", ".join(parts) + " }", x.types[name], CALL


def call_function(x: Expressions, node: ast.Call, name: str) -> Text:
    x.used.add(name)
    params, result = x.functions[name]
    given = {p: v for (p, _, _), v in zip(params, node.args)}
    if len(node.args) > len(params):
        x.no(node, f"too many arguments for `{name}`")
    for k in node.keywords:
        given[k.arg] = k.value
    last = max((i for i, (p, _, _) in enumerate(params) if p in given), default=-1)
    parts = []
    for i, (p, t, default) in enumerate(params):
        if p not in given and default is None:
            x.no(node, f"`{name}` needs `{p}`")
        if i <= last:
            parts.append(x.text(given[p], LOOSE, t) if p in given else x.text(default, LOOSE, t))
    unknown = set(given) - {p for p, _, _ in params}
    if unknown:
        x.no(node, f"`{name}` has no parameter `{unknown.pop()}`")
    return f"{name}({', '.join(parts)})", result, CALL


# --- Methods ---------------------------------------------------------------------------------------


def list_method(x, node, s, t, attr) -> Text:
    args = [x.text(a, LOOSE, t[1] if attr in ("append", "insert") else None) for a in node.args]
    match attr, len(args):
        case "append", 1:
            return f"{s}.push({args[0]})", NONE, CALL
        case "extend", 1:
            return f"{s}.push(...{x.text(node.args[0], CALL)})", NONE, CALL
        case "index", 1:
            return f"{s}.indexOf({args[0]})", INT, CALL
        case "insert", 2:
            return f"{s}.splice({args[0]}, 0, {args[1]})", NONE, CALL
        case "pop", 0:
            return f"{s}.pop()!", t[1], CALL
        case "pop", 1:
            return f"{s}.splice({args[0]}, 1)[0]", t[1], CALL
        case "copy", 0:
            return f"{s}.slice()", t, CALL
        case "reverse", 0:
            return f"{s}.reverse()", NONE, CALL
    x.no(node, f"list.{attr} is not in the host subset")


def string_method(x, node, s, t, attr) -> Text:
    if attr == "join" and len(node.args) == 1:
        if isinstance(node.args[0], ast.GeneratorExp):
            xs, item = generator(x, node.args[0])
        else:
            xs, item = x.text(node.args[0], CALL), x.kind(node.args[0])[1]
        if item != STR:
            x.no(node, "join takes strings")
        return f"{xs}.join({s})", STR, CALL
    if attr not in STRING_METHODS:
        x.no(node, f"str.{attr} is not in the host subset")
    if attr == "split" and not node.args:
        x.no(node, "split needs a separator")
    name, result = STRING_METHODS[attr]
    return f"{s}.{name}({', '.join(map(x.text, node.args))})", result, CALL


def dict_method(x, node, s, t, attr) -> Text:
    args = [x.text(a) for a in node.args]
    match attr, len(args):
        case "get", 1:
            return f"({s}[{args[0]}] ?? null)", t[1] if optional(t[1]) else ("opt", t[1]), CALL
        case "get", 2:
            return (
                f"({s}[{args[0]}] ?? {x.text(node.args[1], PLUS, t[1])})",
                join(t[1], x.expr(node.args[1], t[1])[1]),
                CALL,
            )
        case "keys", 0:
            return f"Object.keys({s})", ("list", STR), CALL
        case "values", 0:
            return f"Object.values({s})", ("list", t[1]), CALL
        case "update", 1:
            return f"Object.assign({s}, {args[0]})", NONE, CALL
        case "copy", 0:
            return f"{{ ...{s} }}", t, CALL
    x.no(node, f"dict.{attr} is not in the host subset here")


# --- Built-in functions ----------------------------------------------------------------------------


def generator(x, node: ast.GeneratorExp) -> tuple[str, Type | None]:
    s, t, _ = x.comprehension(node.generators, lambda: x.expr(node.elt))
    return s, t[1]


def b_len(x, node, want):
    t, s = x.kind(node.args[0]), x.text(node.args[0], CALL)
    if t[0] not in ("list", "str", "dict"):
        x.no(node, f"len of {t[0]}")
    return (f"Object.keys({s}).length" if t[0] == "dict" else f"{s}.length"), INT, CALL


def b_extreme(x, node, want):
    name = node.func.id
    if node.keywords:
        x.no(node, f"keywords of {name}")
    if len(node.args) > 1:
        types = {x.kind(a) for a in node.args}
        if types - {INT, FLOAT}:
            x.no(node, f"{name} of numbers only")
        return f"Math.{name}({', '.join(map(x.text, node.args))})", FLOAT if FLOAT in types else INT, CALL
    xs, t = generator(x, node.args[0]) if isinstance(node.args[0], ast.GeneratorExp) else x.source(node.args[0])
    if t not in (INT, FLOAT):
        x.no(node, f"{name} of numbers only")
    return f"Math.{name}(...{xs})", t, CALL


def b_sum(x, node, want):
    xs, t = generator(x, node.args[0]) if isinstance(node.args[0], ast.GeneratorExp) else x.source(node.args[0])
    if t not in (INT, FLOAT):
        x.no(node, "sum of numbers only")
    return f"{xs}.reduce((a, b) => a + b, 0)", t, CALL


def b_quantifier(x, node, want):
    """any / all of a generator with one `for`, or of a list of booleans."""
    name, method = node.func.id, {"any": "some", "all": "every"}[node.func.id]
    if not isinstance(node.args[0], ast.GeneratorExp):
        if x.kind(node.args[0]) != ("list", BOOL):
            x.no(node, f"{name} of booleans only")
        return f"{x.text(node.args[0], CALL)}.{method}((v) => v)", BOOL, CALL
    g = node.args[0].generators
    if len(g) > 1:
        x.no(node, f"{name} with several `for`")
    s, t = x.source(g[0].iter)
    param, names = x.pattern(g[0].target, t)
    with x.scope(names):
        for c in g[0].ifs:
            s += f".filter(({param}) => {x.truth(c)})"
        return f"{s}.{method}(({param}) => {x.truth(node.args[0].elt)})", BOOL, CALL


def b_sorted(x, node, want):
    t, s = x.source(node.args[0])[1], x.source(node.args[0])[0]
    key = next((k.value for k in node.keywords if k.arg == "key"), None)
    if any(k.arg != "key" for k in node.keywords):
        x.no(node, "sorted takes a key only")
    if key is None:
        if t not in (INT, FLOAT, STR):
            x.no(node, "sorted takes numbers and strings, else a key")
        order = "" if t == STR else "(a, b) => a - b"
        return f"{s}.slice().sort({order})", ("list", t), CALL
    if not isinstance(key, ast.Lambda):
        x.no(node, "the key must be a lambda")
    name = key.args.args[0].arg
    with x.scope({name: t}):
        if x.kind(key.body) not in (INT, FLOAT):
            x.no(node, "the key must be a number")

    def of(letter):
        with x.scope({name: t, letter: t}):
            return x.text(Rename(name, letter).visit(ast.parse(ast.unparse(key.body), mode="eval").body), PLUS + 1)

    return f"{s}.slice().sort((a, b) => {of('a')} - {of('b')})", ("list", t), CALL


class Rename(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit_Name(self, node):
        return ast.Name(self.new) if node.id == self.old else node


def b_list(x, node, want):
    if not node.args:
        return "[]", want or ("list", None), CALL
    s, t = x.source(node.args[0])
    copied = s.startswith(("range(", "zip(", "Object.")) or s.endswith(".reverse()")
    return (s if copied else f"{s}.slice()"), ("list", t), CALL


def b_dict(x, node, want):
    if not node.args:
        return "{}", want or ("dict", None), CALL
    return f"{{ ...{x.text(node.args[0], CALL)} }}", x.kind(node.args[0]), CALL


def b_int(x, node, want):
    t = x.kind(node.args[0])
    if t == BOOL:
        return f"({x.truth(node.args[0], TERNARY + 1)} ? 1 : 0)", INT, CALL
    if t == INT:
        return x.text(node.args[0], CALL), INT, CALL
    if t == STR:
        return f"Number.parseInt({x.text(node.args[0])}, 10)", INT, CALL
    if t != FLOAT:
        x.no(node, f"int of {t[0]}")
    return f"Math.trunc({x.text(node.args[0])})", INT, CALL


def b_float(x, node, want):
    if x.kind(node.args[0]) == STR:
        return f"Number.parseFloat({x.text(node.args[0])})", FLOAT, CALL
    if x.kind(node.args[0]) not in (INT, FLOAT):
        x.no(node, "float of numbers and texts only")
    return x.text(node.args[0], CALL), FLOAT, CALL


def b_str(x, node, want):
    if x.kind(node.args[0]) not in (INT, STR):
        x.no(node, "str of an int or str only; `decimal` writes a float")
    return f"String({x.text(node.args[0])})", STR, CALL


def b_bool(x, node, want):
    return x.truth(node.args[0]), BOOL, EQUAL


def b_abs(x, node, want):
    return f"Math.abs({x.text(node.args[0])})", x.kind(node.args[0]), CALL


def b_isinstance(x, node, want):
    """For telling apart the members of a union: numbers, booleans, strings, lists, one dataclass."""
    s = x.text(node.args[0], UNARY)
    kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    names = [k.id for k in kinds]
    if set(names) <= {"int", "float"}:
        return f'typeof {s} === "number"', BOOL, EQUAL
    match names:
        case ["bool"]:
            return f'typeof {s} === "boolean"', BOOL, EQUAL
        case ["str"]:
            return f'typeof {s} === "string"', BOOL, EQUAL
        case ["list"]:
            return f"Array.isArray({s})", BOOL, CALL
        case _ if all(n in x.classes and x.classes[n].frozen for n in names):
            x.used.update(names)
            return " || ".join(f"{s} instanceof {n}" for n in names), BOOL, 2 if len(names) > 1 else LESS
        case [name] if name in x.classes:
            return f'typeof {s} === "object" && {s} !== null && !Array.isArray({s})', BOOL, 3
    x.no(node, "isinstance with these types")


def b_decimal(x, node, want):
    return f"String({x.text(node.args[0])})", STR, CALL


def b_range(x, node, want):
    s, t = x.source(node)
    return s, ("list", t), CALL


BUILTINS = {
    "len": b_len,
    "min": b_extreme,
    "max": b_extreme,
    "sum": b_sum,
    "any": b_quantifier,
    "all": b_quantifier,
    "sorted": b_sorted,
    "list": b_list,
    "dict": b_dict,
    "int": b_int,
    "float": b_float,
    "str": b_str,
    "bool": b_bool,
    "abs": b_abs,
    "isinstance": b_isinstance,
    "decimal": b_decimal,
}
BUILTINS.update(dict.fromkeys(("range", "reversed", "zip", "enumerate"), b_range))
