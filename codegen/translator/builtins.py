"""Python's built-in functions, `dataclasses.replace` and `typing.cast`, in TypeScript.  See calls.py."""

from __future__ import annotations

import ast

from .expressions import Expressions
from .modules import class_named
from .precedence import AND, CALL, EMPTY, EQUAL, LESS, LOOSE, OR, PLUS, TERNARY, UNARY, Text, safe
from .sequences import pattern, quantifier
from .subset import ANY, BOOL, FLOAT, INT, STR, Type, join, optional, plain


def b_len(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    t, s = x.kind(node.args[0]), x.text(node.args[0], CALL)
    match t[0]:
        case "list" | "array" | "tuple" | "str":
            return f"{s}.length", INT, CALL
        case "set":
            return f"{s}.size", INT, CALL
        case "dict":
            return (f"Object.keys({s}).length" if plain(t[1]) == STR else f"{s}.size"), INT, CALL
    x.no(node, f"len of {t[0]}")


def keywords(x: Expressions, node: ast.Call, *names: str) -> dict[str, ast.expr]:
    given = {str(k.arg): k.value for k in node.keywords}
    for name in given:
        if name not in names:
            x.no(node, f"the keyword `{name}` here")
    return given


def b_extreme(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    assert isinstance(node.func, ast.Name)
    name = node.func.id
    given = keywords(x, node, "key", "default")
    if len(node.args) > 1:
        types = [x.kind(a) for a in node.args if not isinstance(a, ast.Starred)]
        if set(types) - {INT, FLOAT} or given:
            x.no(node, f"{name} of numbers only")
        return f"Math.{name}({', '.join(x.item(a, None) for a in node.args)})", FLOAT if FLOAT in types else INT, CALL
    xs, t = x.source(node.args[0])
    if "key" not in given and t in (INT, FLOAT) and "default" not in given:
        return f"Math.{name}(...{xs})", t, CALL
    sign = "-" if name == "max" else ""
    less = comparison(x, node, t, given.get("key"), sign)
    default = f", {x.text(given['default'])}" if "default" in given else ""
    made = f"{x.helper('leastOf')}({xs}, {less}{default})"
    return made, join(t, x.type_of(given["default"])) if default else t, CALL


def comparison(x: Expressions, node: ast.Call, t: Type, key: ast.expr | None, sign: str = "") -> str:
    """(a, b) => a number: below 0 where a comes first."""

    def of(letter: str) -> tuple[str, Type]:
        if key is None:
            return letter, t
        with x.scope({letter: t}):
            if isinstance(key, ast.Lambda):
                with x.standing({key.args.args[0].arg: (letter, t)}):
                    return x.text(key.body), plain(x.type_of(key.body))
            call = ast.Call(key, [ast.Name(letter, ast.Load())], [])
            return x.text(call), plain(x.type_of(call))

    (a, kind), (b, _) = of("a"), of("b")
    if kind in (INT, FLOAT):
        a, b = (f"({s})" if any(c in s for c in " ?") and not s.endswith(")") else s for s in (a, b))
        return f"(a, b) => {b} - {a}" if sign else f"(a, b) => {a} - {b}"
    if kind[0] not in ("tuple", "list", "array", "str", "bool"):
        x.no(node, f"an order of {kind[0]}s")
    return f"(a, b) => {sign}{x.helper('compareValues')}({a}, {b})"


def b_sum(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    match node.args[0]:
        case ast.GeneratorExp(generators=[g], elt=elt) if plain(x.type_of(elt)) == BOOL:
            counted = ast.comprehension(g.target, g.iter, [*g.ifs, elt], 0)
            return f"{x.expr(ast.ListComp(element(g.target), [counted]))[0]}.length", INT, CALL
        case ast.GeneratorExp(generators=[g], elt=ast.Constant(value=1)):
            return f"{x.expr(ast.ListComp(element(g.target), [g]))[0]}.length", INT, CALL
    xs, t = x.source(node.args[0])
    if plain(t) not in (INT, FLOAT):
        x.no(node, "sum of numbers only")
    return f"{xs}.reduce((a, b) => a + b, 0)", t, CALL


def element(target: ast.expr) -> ast.expr:
    """What a loop's target binds, as a value."""
    return ast.parse(ast.unparse(target), mode="eval").body


def b_quantifier(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """any / all of a generator, of what a function is mapped over, or of booleans."""
    method = "some" if ast.unparse(node.func) == "any" else "every"
    match node.args[0]:
        case ast.GeneratorExp(generators=generators, elt=elt):
            return quantifier(x, generators, elt, method), BOOL, CALL
        case ast.Call(func=ast.Name(id="map"), args=[f, xs]):
            s, t = x.source(xs)
            with x.scope({"v": t}):
                test = x.truth(ast.Call(f, [ast.Name("v", ast.Load())], []))
            alone = isinstance(f, ast.Name) and test == f"{safe(f.id)}(v)"
            return f"{s}.{method}({test[:-3] if alone else f'(v) => {test}'})", BOOL, CALL
    s, t = x.source(node.args[0])
    with x.scope({"v": t}):
        return f"{s}.{method}((v) => {x.truth(ast.Name('v', ast.Load()))})", BOOL, CALL


def b_sorted(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    given = keywords(x, node, "key", "reverse")
    s, t = x.source(node.args[0])
    fresh = s.startswith("[...") or s.endswith(")")
    copy = s if fresh else f"{s}.slice()"
    if "reverse" in given:
        x.no(node, "sorted takes a key only")
    if "key" not in given and plain(t) == STR:
        return f"{copy}.sort()", ("list", t), CALL
    return f"{copy}.sort({comparison(x, node, t, given.get('key'))})", ("list", t), CALL


def b_list(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    if not node.args:
        return "[]", want or ("list", None), CALL
    s, t = x.source(node.args[0])
    copied = (
        s.startswith(("range(", "zip(", "Object.", "[..."))
        or s.endswith(".reverse()")
        or (isinstance(node.args[0], (ast.GeneratorExp, ast.Call)))
    )
    return (s if copied else f"{s}.slice()"), ("list", t), CALL


def b_tuple(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """Nobody changes a tuple: one of a list that is not made here is a copy of it."""
    s, t, p = b_list(x, node, None)
    return s, ("array", t[1] if t and t[1] else ANY), p


def b_set(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    if not node.args:
        t = want if want and plain(want)[0] == "set" else x.type_or(node, ("set", ("never",)))
        item = plain(t)[1]
        return f"new Set{'' if item[0] == 'never' else f'<{x.ts(item)}>'}()", t, CALL
    s, t = x.iterable(node.args[0])
    x.hashable(node, t)
    return f"new Set({s})", ("set", t), CALL


def b_dict(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    if not node.args:
        return EMPTY, want or ("dict", STR, None), CALL
    t = plain(x.type_of(node.args[0]))
    if t[0] == "dict":
        s = x.text(node.args[0], CALL)
        return f"{{ ...{s} }}" if plain(t[1]) == STR else f"new Map({s})", t, CALL
    s, item = x.source(node.args[0])
    pair = plain(item)
    if plain(pair[1]) == STR:
        return f"Object.fromEntries({s})", ("dict", pair[1], pair[2]), CALL
    x.hashable(node, pair[1])
    return f"new Map({s})", ("dict", pair[1], pair[2]), CALL


def b_int(x: Expressions, node: ast.Call, want: Type | None) -> Text:
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


def b_float(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    if x.kind(node.args[0]) == STR:
        return f"Number.parseFloat({x.text(node.args[0])})", FLOAT, CALL
    if x.kind(node.args[0]) not in (INT, FLOAT):
        x.no(node, "float of numbers and texts only")
    return x.text(node.args[0], CALL), FLOAT, CALL


def b_str(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    t = x.kind(node.args[0])
    if (c := x.class_of(t)) is not None and (c.method("__str__") or c.method("__repr__")):
        return f"{x.text(node.args[0], CALL)}.toString()", STR, CALL
    if t == FLOAT:
        return f"{x.helper('shownFloat')}({x.text(node.args[0])})", STR, CALL
    if t not in (INT, STR):
        x.no(node, "str of this")
    return f"String({x.text(node.args[0])})", STR, CALL


def b_repr(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    c = x.class_of(x.kind(node.args[0]))
    if c is None or not c.method("__repr__"):
        x.no(node, "repr of what has no __repr__")
    return f"{x.text(node.args[0], CALL)}.toString()", STR, CALL


def b_bool(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    return x.truth(node.args[0], EQUAL), BOOL, EQUAL


def b_abs(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    return f"Math.abs({x.text(node.args[0])})", x.kind(node.args[0]), CALL


def b_isinstance(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """For telling apart the members of a union: numbers, booleans, strings, lists, classes."""
    s = x.text(node.args[0], UNARY)
    names = list(alternatives(node.args[1]))
    made = [isinstance_of(x, node, s, name) for name in dict.fromkeys("number" if n in NUMBERS else n for n in names)]
    return " || ".join(s for s, _ in made), BOOL, made[0][1] if len(made) == 1 else OR


NUMBERS = ("int", "float")
TYPEOF = {"number": "number", "bool": "boolean", "str": "string"}


def alternatives(node: ast.expr) -> list[str]:
    match node:
        case ast.Tuple(elts=elts):
            return [n for e in elts for n in alternatives(e)]
        case ast.BinOp(left=left, right=right):
            return alternatives(left) + alternatives(right)
    return [ast.unparse(node)]


def isinstance_of(x: Expressions, node: ast.Call, s: str, name: str) -> tuple[str, int]:
    """The test for one class, and how tightly it binds."""
    if name in TYPEOF:
        return f'typeof {s} === "{TYPEOF[name]}"', EQUAL
    if name in ("list", "tuple"):
        return f"Array.isArray({s})", CALL
    c = class_named(x.m, node, name)
    if not c.interface:
        x.used.add(name.split(".")[0])
        return f"{s} instanceof {name}", LESS
    t = plain(x.type_of(node.args[0]))
    others = [p for p in (t[1:] if t[0] == "union" else [t]) if p[0] == "cls" and p != ("cls", c.name, c.module)]
    if others:
        x.no(node, "which dataclass a value is: the classes must be frozen")
    return f'typeof {s} === "object" && {s} !== null && !Array.isArray({s})', AND


def b_next(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """`next((x for x in xs if ...), default)`; without a default there must be one."""
    match node.args:
        case [ast.GeneratorExp(generators=[ast.comprehension(target=target, iter=xs, ifs=ifs)], elt=elt), *default]:
            s, t = x.source(xs)
            param, names = pattern(x, target, t)
            with x.scope(names):
                test = " && ".join(x.truth(c, AND if len(ifs) > 1 else LOOSE) for c in ifs)
                same = ast.unparse(elt) == ast.unparse(target)
                if default and optional(x.type_of(elt)):
                    x.no(node, "next of what may be None")
                value, kind = x.text(elt, TERNARY), x.type_of(elt)
            if same:
                found = f"{s}.find(({param}) => {test})"
            else:
                found = f"{s}.filter(({param}) => {test}).map(({param}) => {value})[0]"
            if not default:
                return f"{found}!" if same else found, kind, CALL
            return f"({found} ?? {x.text(default[0], PLUS)})", join(kind, x.type_of(default[0])), CALL
    x.no(node, "next takes a generator with one `for`")


def b_replace(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """`dataclasses.replace`."""
    t = x.kind(node.args[0])
    c = x.class_of(t)
    if c is None:
        x.no(node, f"replace of {t[0]}")
    s = x.text(node.args[0])
    parts = []
    for k in node.keywords:
        text = x.text(k.value, LOOSE, c.fields.get(str(k.arg)))
        parts.append(text if text == k.arg else f"{k.arg}: {text}")
    if c.interface:
        return f"{{ ...{x.text(node.args[0], CALL)}, {', '.join(parts)} }}", t, CALL
    parts += [f"{name}_: undefined" for a in c.ancestors for name in sorted(a.cached)]
    return f"{x.helper('withChanges')}({s}, {{ {', '.join(parts)} }})", t, CALL


def b_iterated(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    s, t = x.source(node)
    return s, ("list", t), CALL


def b_cast(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    t = x.m.type_of(node.args[0])
    return f"{x.text(node.args[1], UNARY)} as unknown as {x.ts(t)}", t, EQUAL


def b_copysign(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """Asked for the sign of a zero."""
    size, sign = map(x.text, node.args)
    return f"{x.helper('copySign')}({size}, {sign})", FLOAT, CALL


def b_pack(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    """`struct.pack("<d", x)`: the bytes of a float."""
    match node.args:
        case [ast.Constant(value="<d"), number]:
            return f"{x.helper('bytesOf')}({x.text(number)})", ("array", INT), CALL
    x.no(node, 'pack of what is no float, "<d"')


def b_decimal(x: Expressions, node: ast.Call, want: Type | None) -> Text:
    return f"String({x.text(node.args[0])})", STR, CALL


BUILTINS = {
    "len": b_len,
    "min": b_extreme,
    "max": b_extreme,
    "sum": b_sum,
    "any": b_quantifier,
    "all": b_quantifier,
    "sorted": b_sorted,
    "list": b_list,
    "tuple": b_tuple,
    "set": b_set,
    "frozenset": b_set,
    "dict": b_dict,
    "int": b_int,
    "float": b_float,
    "str": b_str,
    "bool": b_bool,
    "abs": b_abs,
    "isinstance": b_isinstance,
    "next": b_next,
    "replace": b_replace,
    "cast": b_cast,
    "repr": b_repr,
    "copysign": b_copysign,
    "pack": b_pack,
    "decimal": b_decimal,
    **dict.fromkeys(("range", "enumerate", "zip", "reversed", "map"), b_iterated),
}
