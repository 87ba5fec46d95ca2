"""Calls in the subset: Python's built-in functions and methods, constructors of classes (a dataclass of fields alone
becomes an object literal) and functions of the modules, in TypeScript.  See expressions.py."""

from __future__ import annotations

import ast

from .builtins import BUILTINS, comparison, keywords
from .definitions import Class, Function
from .expressions import Expressions
from .methods import dict_method, list_method, map_method, set_method, string_method
from .precedence import CALL, LOOSE, Text, safe
from .subset import FLOAT, INT, NONE, STR, Type, plain

MATH = {"floor": INT, "ceil": INT, "trunc": INT, "sqrt": FLOAT, "exp": FLOAT, "log": FLOAT, "log2": FLOAT}


def translate_call(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    match node.func:
        case ast.Name(id=name) if name in x.inner and name in x.local:
            return call_function(x, node, x.inner[name], safe(name))
        case ast.Name(id=name) if name not in x.local:
            if name in x.m.classes:
                return construct(x, node, x.m.classes[name], name)
            if name in x.m.functions:
                x.used.add(name)
                return call_function(x, node, x.m.functions[name], safe(name))
            if name in BUILTINS:
                return BUILTINS[name](x, node, want)
            x.no(node, f"`{name}` is not in the subset that is translated")
        case ast.Subscript(value=ast.Name(id=name)) if name in BUILTINS:  # set[str]()
            return BUILTINS[name](x, ast.Call(node.func.value, node.args, []), x.m.type_of(node.func))
        case ast.Attribute(value=ast.Name(id="math"), attr=attr) if attr in MATH:
            return f"Math.{attr}({', '.join(map(x.text, node.args))})", MATH[attr], CALL
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name not in x.local and name in x.m.imported:
            x.used.add(name)
            other = x.m.imported[name]
            if attr in other.classes:
                return construct(x, node, other.classes[attr], f"{name}.{attr}")
            return call_function(x, node, other.functions[attr], f"{name}.{attr}")
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            base = x.inside.base if x.inside else None
            init = base.method("__init__") if base else None
            if init is None:
                x.no(node, "super().__init__ of this class")
            return call_function(x, node, init, "super")
        case ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys") if len(node.args) == 2:
            s, t = x.source(node.args[0])
            if plain(t) != STR:
                x.no(node, "dict.fromkeys of keys that are no texts")
            value = x.text(node.args[1])
            return f"Object.fromEntries({s}.map((x) => [x, {value}]))", ("dict", t, x.type_of(node.args[1])), CALL
        case ast.Attribute(value=owner, attr=attr):
            return method(x, node, owner, attr)
    return call_value(x, node)


def method(x: Expressions, node: ast.Call, owner: ast.expr, attr: str) -> Text:
    if isinstance(owner, ast.Name) and owner.id in x.m.classes and owner.id not in x.local:
        x.used.add(owner.id)
        shared = x.m.classes[owner.id].method(attr) or x.no(node, f"{owner.id} has no method `{attr}`")
        return call_function(x, node, shared, f"{owner.id}.{attr}")
    t = x.kind(owner)
    if t[0] == "union":
        t = next((part for part in t[1:] if part[0] == "cls"), t)
    if t[0] == "cls":
        c = x.class_of(t)
        if c is not None and (found := c.method(attr)) is not None:
            return call_function(x, node, found, f"{x.text(owner, CALL)}.{attr}")
        return call_value(x, node)
    s = x.text(owner, CALL)
    if t[0] == "list" and attr == "sort":
        given = keywords(x, node, "key")
        return f"{s}.sort({comparison(x, node, t[1], given.get('key'))})", NONE, CALL
    if node.keywords:
        x.no(node, "keywords here")
    match t[0]:
        case "list" | "array":
            return list_method(x, node, s, t, attr)
        case "str":
            return string_method(x, node, s, attr)
        case "dict":
            return (dict_method if plain(t[1]) == STR else map_method)(x, node, s, t, attr)
        case "set":
            return set_method(x, node, s, t, attr)
        case "tuple" if attr in ("index", "count"):
            return list_method(x, node, s, ("array", t[1]), attr)
    x.no(node, f"the method {attr} of {t[0]}")


def call_value(x: Expressions, node: ast.Call) -> Text:
    t = x.kind(node.func)
    if (c := x.class_of(t)) is not None and (found := c.method("__call__")) is not None:
        return call_function(x, node, found, f"{x.text(node.func, CALL)}.call")
    if t[0] != "fn":
        x.no(node, f"a call of {t[0]}")
    if node.keywords:
        x.no(node, "keywords for a function whose parameters are not known by name")
    wants = [*t[2:], *([None] * len(node.args))]
    args = [x.item(a, w) for a, w in zip(node.args, wants, strict=False)]
    return f"{x.text(node.func, CALL)}({', '.join(args)})", t[1], CALL


def construct(x: Expressions, node: ast.Call, c: Class, name: str) -> Text:
    """`Axis(sizes, strides)` -> `{ sizes, strides }`: every field, in the class's order; of other classes
    `new Axis(sizes, strides)`."""
    x.used.add(name.split(".")[0])
    made: Type = ("cls", c.name, c.module)
    if not c.data:
        init = c.method("__init__")
        params = init.params if init else []
        if init is None and c.exception:
            if any(x.kind(a) != STR for a in node.args):
                x.no(node, f"{c.name} takes a text")
            return f"new {name}({', '.join(map(x.text, node.args))})", made, CALL
        return f"new {name}({arguments(x, node, params, c.name, bool(init and init.star))})", made, CALL
    if not c.interface:
        params = [(f, t, c.defaults.get(f)) for f, t in c.fields.items()]
        return f"new {name}({arguments(x, node, params, c.name)})", made, CALL
    given = {}
    for field, value in zip(c.fields, node.args, strict=False):
        given[field] = value
    if len(node.args) > len(c.fields):
        x.no(node, f"too many arguments for {c.name}")
    for k in node.keywords:
        given[str(k.arg)] = k.value
    parts = []
    for field, t in c.fields.items():
        said = given.get(field, c.defaults.get(field))
        if said is None:
            x.no(node, f"{c.name} needs `{field}`")
        text = x.text(said, LOOSE, t)
        parts.append(text if text == field else f"{field}: {text}")
    return "{ " + ", ".join(parts) + " }", made, CALL


def call_function(x: Expressions, node: ast.Call, f: Function, name: str) -> Text:
    return f"{name}({arguments(x, node, f.params, f.name, f.star)})", f.result, CALL


def arguments(
    x: Expressions, node: ast.Call, params: list[tuple[str, Type, ast.expr | None]], name: str, star: bool = False
) -> str:
    """Arguments in the order of the parameters; what is left out in between is a simple default or undefined."""
    fixed = params[:-1] if star else params
    parts: list[str | None] = []
    n = 0
    for a in node.args:
        if isinstance(a, ast.Starred):
            t = x.kind(a.value)
            if node.keywords or t[0] != "tuple" and a is not node.args[-1]:
                x.no(node, "* of any number of items before other arguments")
            parts.append(x.item(a, None))
            n += len(t) - 1
            continue
        if n >= len(fixed) and not star:
            x.no(node, f"too many arguments for `{name}`")
        parts.append(x.text(a, LOOSE, fixed[n][1] if n < len(fixed) else params[-1][1][1]))
        n += 1
    if any(isinstance(a, ast.Starred) for a in node.args):
        return ", ".join(str(p) for p in parts)
    given = {str(k.arg): k.value for k in node.keywords}
    if unknown := set(given) - {p for p, _, _ in fixed}:
        x.no(node, f"`{name}` has no parameter `{unknown.pop()}`")
    for p, t, default in fixed[len(parts) :]:
        if p in given:
            parts.append(x.text(given[p], LOOSE, t))
        elif default is None:
            x.no(node, f"`{name}` needs `{p}`")
        else:
            parts.append(None)
    while parts and parts[-1] is None:
        parts.pop()
    defaults = [d for _, _, d in fixed]
    texts = []
    for n, part in enumerate(parts):
        plainly = part is None and isinstance(defaults[n], ast.Constant)
        texts.append(x.text(defaults[n]) if plainly else part or "undefined")  # type: ignore[arg-type]
    return ", ".join(texts)
