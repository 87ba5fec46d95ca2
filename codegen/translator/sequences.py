"""What can be gone through, and comprehensions: `range`, `enumerate`, `zip`, `items`, sets and generators as arrays or
iterables of JavaScript.  See expressions.py."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .inferred import span
from .operators import Operators
from .precedence import CALL, TERNARY, Text, safe
from .subset import ANY, INT, STR, Type, plain, union
from .typed import Typed


def source(x: Typed, node: ast.expr) -> tuple[str, Type]:
    """Something to iterate over, as an array, and the type of its items."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[stop]):
            return f"{x.helper('range')}(0, {x.text(stop)})", INT
        case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
            return f"{x.helper('range')}({x.text(start)}, {x.text(stop)})", INT
        case ast.Call(func=ast.Name(id="range"), args=[start, stop, ast.UnaryOp(operand=ast.Constant(value=1))]):
            return f"{x.helper('range')}({x.text(stop)} + 1, {x.text(start)} + 1).reverse()", INT
        case ast.Call(func=ast.Name(id="enumerate"), args=[xs], keywords=[]):
            s, t = source(x, xs)
            return f"{s}.map((x, i) => [i, x] as const)", ("tuple", INT, t)
        case ast.Call(func=ast.Name(id="zip"), args=[a, b]):
            (s, t), (u, v) = source(x, a), source(x, b)
            return f"{x.helper('zip')}({s}, {u})", ("tuple", t, v)
        case ast.Call(func=ast.Name(id="zip"), args=[a, b, c]):
            (s, t), (u, v), (q, r) = source(x, a), source(x, b), source(x, c)
            inner = f"{x.helper('zip')}({s}, {x.helper('zip')}({u}, {q}))"
            return f"{inner}.map(([a, [b, c]]) => [a, b, c] as const)", ("tuple", t, v, r)
        case ast.Call(func=ast.Name(id="reversed"), args=[xs]):
            s, t = source(x, xs)
            return f"{s}.slice().reverse()", t
        case ast.Call(func=ast.Name(id="map"), args=[f, xs]):
            s, t = source(x, xs)
            return f"{s}.map({function(x, f, t)})", plain(x.type_or(node, ("iter", ANY)))[1]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[xs]):  # each once
            s, t = iterable(x, xs)
            return f"[...new Set({s})]", t
        case ast.Call(func=ast.Attribute(value=d, attr="items" | "keys" | "values" as what), args=[]):
            if (t := x.kind(d))[0] == "dict":
                return entries(x, d, t, what)
        case ast.Call(func=ast.Name(id="range" | "enumerate" | "zip" | "reversed" | "map" as name)):
            x.no(node, f"this form of `{name}`")
        case ast.GeneratorExp():
            s, found, _ = x.expr(node)
            return s, found[1] if found else ANY
    t = x.kind(node)
    s = x.text(node, CALL)
    if t[0] == "union" and all(part[0] in ("list", "array") for part in t[1:]):
        return s, union([part[1] for part in t[1:]])
    match t[0]:
        case "dict":
            return (f"Object.keys({s})" if plain(t[1]) == STR else f"[...{s}.keys()]"), t[1]
        case "tuple":
            return s, union(list(t[1:])) if len(t) > 1 else ANY
        case "set" | "iter":
            return f"[...{s}]", t[1]
        case "list" | "array":
            return s, t[1]
        case "str":
            return f"[...{s}]", STR
    x.no(node, f"a loop over {t[0]}")


def entries(x: Typed, d: ast.expr, t: Type, what: str) -> tuple[str, Type]:
    item = {"items": ("tuple", t[1], t[2]), "keys": t[1], "values": t[2]}[what]
    if plain(t[1]) != STR:
        return f"[...{x.text(d, CALL)}{'' if what == 'items' else f'.{what}()'}]", item
    return f"Object.{'entries' if what == 'items' else what}({x.text(d)})", item


def iterable(x: Typed, node: ast.expr, level: int = 0) -> tuple[str, Type]:
    """Something to iterate over, as whatever `for (const ... of ...)` takes, and the type of its items."""
    if not isinstance(node, (ast.Call, ast.GeneratorExp)) or x.type_or(node, ANY)[0] in ("set", "list", "array"):
        t = x.kind(node)
        if t[0] in ("set", "iter"):
            return x.text(node, level), t[1]
    s, t = source(x, node)
    whole = s.startswith("[...") and s.endswith("]") and s.count("[") == s.count("...") == 1 and "," not in s
    return s[4:-1] if whole else s, t


def function(x: Typed, f: ast.expr, item: Type) -> str:
    """A function as `map` takes it: one of one argument stands by itself, others would be given the place, too."""
    if isinstance(f, ast.Lambda):
        return x.text(f, want=("fn", ANY, item))
    if isinstance(f, ast.Name) and f.id in x.m.functions and len(x.m.functions[f.id].params) == 1:
        return x.text(f)
    with x.scope({"v": item}):
        return f"(v) => {x.text(ast.Call(f, [ast.Name('v', ast.Load())], []), TERNARY)}"


def pattern(x: Typed, target: ast.expr, t: Type) -> tuple[str, dict[str, Type]]:
    """The parameter that takes an item apart, and the names it binds."""

    if isinstance(target, ast.Name):
        return safe(target.id), {target.id: x.m.inferred.names.get(span(target), t)}  # type: ignore[arg-type]
    if not isinstance(target, ast.Tuple):
        x.no(target, "this loop target")
    t = plain(t)
    if t[0] == "array" or t[0] == "list":
        t = ("tuple", *([t[1]] * len(target.elts)))
    if t[0] != "tuple" or len(t) != len(target.elts) + 1:
        x.no(target, "the items have another form")
    parts = [pattern(x, e, part) for e, part in zip(target.elts, t[1:], strict=True)]
    shown = [s if any(n != "_" for n in names) else "" for s, names in parts]
    while shown and not shown[-1]:
        shown.pop()
    return f"[{', '.join(shown)}]", {k: v for _, names in parts for k, v in names.items()}


def conditions(ifs: list[ast.expr]) -> list[ast.expr]:
    """What is asked of the items, one by one: TypeScript takes what a filter by `instanceof` alone leaves for that."""
    out: list[ast.expr] = []
    for c in ifs:
        match c:
            case ast.BoolOp(op=ast.And(), values=[ast.Call(func=ast.Name(id="isinstance")) as first, *rest]):
                out += [first, rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(ast.And(), rest), rest[0])]
            case _:
                out.append(c)
    return out


def comprehension(x: Operators, generators: list[ast.comprehension], result: Callable[[], Text]) -> Text:
    """xs.filter(...).map(...), with flatMap for all but the last `for`."""
    g, rest = generators[0], generators[1:]
    s, t = source(x, g.iter)
    param, names = pattern(x, g.target, t)
    with x.scope(names):
        for c in conditions(g.ifs):
            s += f".filter(({param}) => {x.truth(c)})"
        if rest:
            inner, it, _ = comprehension(x, rest, result)
            return f"{s}.flatMap(({param}) => {inner})", it, CALL
        body, bt, p = result()
    if body == param and isinstance(g.target, ast.Name):
        fresh = g.ifs or s.endswith(")") and not s.endswith("()") or s.startswith("[...")
        return (s if fresh else f"{s}.slice()"), ("list", bt or ANY), CALL
    bracketed = p < TERNARY or body.startswith("{")
    return f"{s}.map(({param}) => {f'({body})' if bracketed else body})", ("list", bt or ANY), CALL


def quantifier(x: Operators, generators: list[ast.comprehension], elt: ast.expr, method: str) -> str:
    """`any` and `all` of a generator: some or every, one inside the other for each `for`."""
    g, rest = generators[0], generators[1:]
    s, t = source(x, g.iter)
    param, names = pattern(x, g.target, t)
    with x.scope(names):
        for c in conditions(g.ifs):
            s += f".filter(({param}) => {x.truth(c)})"
        inner = quantifier(x, rest, elt, method) if rest else x.truth(elt)
    return f"{s}.{method}(({param}) => {inner})"
