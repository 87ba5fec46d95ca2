"""Expressions of the subset, translated to TypeScript.

`Expressions` walks one expression, whose type mypy knows (inferred.py), and answers text.  Where Python and
JavaScript mean different things by one spelling (truth of a list, `==` of lists, `//` and `%` of negative numbers,
`str` of a float), it writes what Python means or refuses; it never guesses.  Known limits, by convention: integers stay
below 2^53, an index is negative only if it is a constant, `list.index` finds what it looks for, `str.find` looks for
something.  Statements are in statements.py, sequences and comprehensions in sequences.py, calls in calls.py."""

from __future__ import annotations

import ast
import json

from .operators import LISTS, Operators
from .precedence import (
    CALL,
    EMPTY,
    EQUAL,
    LOOSE,
    OR,
    TERNARY,
    Text,
    safe,
)
from .subset import ANY, BOOL, FLOAT, INT, NONE, STR, Type, join, optional, plain


class Expressions(Operators):
    """Translates the expressions of one module."""

    def x_Constant(self, node: ast.Constant, want: Type | None) -> Text:
        v = node.value
        if v is None:
            return "null", NONE, CALL
        if isinstance(v, bool):
            return str(v).lower(), BOOL, CALL
        if isinstance(v, int):
            return str(v), INT, CALL
        if isinstance(v, float):
            return repr(int(v) if v == int(v) and abs(v) < 1e15 else v).replace("e-0", "e-"), FLOAT, CALL
        if isinstance(v, str):
            return json.dumps(v, ensure_ascii=False), STR, CALL
        self.no(node, "a constant of this kind")

    def x_Name(self, node: ast.Name, want: Type | None) -> Text:
        name = node.id
        if name in self.local:
            if name == "self" and self.inside is not None:
                return "this", self.local[name], CALL
            return self.paths.get(name, safe(name)), self.local[name], CALL
        if name in self.m.constants:
            self.used.add(name)
            return name, self.m.constants[name], CALL
        if name in self.m.functions:
            self.used.add(name)
            f = self.m.functions[name]
            return safe(name), ("fn", f.result, *(t for _, t, _ in f.params)), CALL
        self.no(node, f"unknown name `{name}`")

    def x_Attribute(self, node: ast.Attribute, want: Type | None) -> Text:
        if isinstance(node.value, ast.Name) and node.value.id not in self.local:
            if node.value.id == "math" and node.attr in ("inf", "nan", "pi"):
                return {"inf": "Infinity", "nan": "NaN", "pi": "Math.PI"}[node.attr], FLOAT, CALL
            if node.value.id in self.m.imported:
                self.used.add(node.value.id)
                return f"{node.value.id}.{node.attr}", None, CALL
        t = self.kind(node.value)
        for part in t[1:] if t[0] == "union" else [t]:
            if part[0] != "cls":
                self.no(node, f"an attribute of {part[0]}")
            c = self.class_of(part)
            if c is None or not c.has(node.attr):
                self.no(node, f"{part[1]} has no field `{node.attr}`")
        c = self.class_of(t)
        owner = self.text(node.value, CALL)
        if c is not None and c.method(node.attr) and not any(node.attr in a.properties for a in c.ancestors):
            return f"{owner}.{node.attr}.bind({owner})", None, CALL  # a method as a value
        return f"{owner}.{node.attr}", c.fields.get(node.attr) if c else None, CALL

    def x_Subscript(self, node: ast.Subscript, want: Type | None) -> Text:
        t, s = self.kind(node.value), self.text(node.value, CALL)
        if isinstance(node.slice, ast.Slice):
            return self.slice(node, node.slice, t, s)
        i = self.text(node.slice)
        if t[0] == "dict":
            return (f"{s}[{i}]" if plain(t[1]) == STR else f"{s}.get({i})!"), t[2], CALL
        if t[0] not in ("list", "array", "tuple", "str"):
            self.no(node, f"an element of {t[0]}")
        back = place = 0
        match node.slice:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(back))):
                place = len(t) - 1 - back
            case ast.Constant(value=int(place)):
                pass
            case _ if t[0] == "tuple" and len(set(t[1:])) > 1:
                self.no(node, "the place in a tuple must be a constant")
        if t[0] == "tuple":
            return f"{s}[{place if back else i}]", t[1 + place], CALL
        item = STR if t[0] == "str" else t[1]
        if back:
            if not isinstance(node.value, (ast.Name, ast.Attribute)):
                return f"{s}.at({i})!", item, CALL
            return f"{s}[{s}.length - {back}]", item, CALL
        return f"{s}[{i}]", item, CALL

    def slice(self, node: ast.Subscript, part: ast.Slice, t: Type, s: str) -> Text:
        if t[0] not in ("list", "array", "str", "tuple"):
            self.no(node, "a slice of this")
        typed = f" as {self.ts(self.type_of(node))}" if t[0] == "tuple" else ""
        strength = EQUAL if typed else CALL
        if part.step is not None:
            if part.lower or part.upper or t[0] == "str" or ast.unparse(part.step) != "-1":
                self.no(node, "only the slice step [::-1]")
            return f"{s}.slice().reverse(){typed}", t if t[0] != "tuple" else None, strength
        args = ""
        if part.lower is not None or part.upper is not None:
            args = (self.text(part.lower) if part.lower else "0") + (f", {self.text(part.upper)}" if part.upper else "")
        return f"{s}.slice({args}){typed}", t if t[0] != "tuple" else None, strength

    def x_IfExp(self, node: ast.IfExp, want: Type | None) -> Text:
        body, other = self.text(node.body, TERNARY + 1, want), self.text(node.orelse, TERNARY, want)
        t = join(self.type_of(node.body, want), self.type_of(node.orelse, want))
        return f"{self.truth(node.test, OR)} ? {body} : {other}", t, TERNARY

    def x_NamedExpr(self, node: ast.NamedExpr, want: Type | None) -> Text:
        """The statement that it stands in declares the name."""
        assert isinstance(node.target, ast.Name)
        return f"{safe(node.target.id)} = {self.text(node.value)}", self.type_of(node.value), LOOSE

    def x_List(self, node: ast.List, want: Type | None) -> Text:
        item = plain(want)[1] if want and plain(want)[0] in LISTS else None
        parts, t = [], None
        for e in node.elts:
            parts.append(self.item(e, item))
            t = join(t, self.iterable(e.value)[1] if isinstance(e, ast.Starred) else self.type_of(e, item))
        return f"[{', '.join(parts)}]", ("list", item if item is not None else t or ANY), CALL

    def x_Tuple(self, node: ast.Tuple, want: Type | None) -> Text:
        want = plain(want) if want else None
        if want and want[0] in LISTS or any(isinstance(e, ast.Starred) for e in node.elts):
            item = want[1] if want and want[0] in LISTS else None
            return f"[{', '.join(self.item(e, item) for e in node.elts)}]", want, CALL
        wants = want[1:] if want and want[0] == "tuple" else (None,) * len(node.elts)
        parts = [self.text(e, LOOSE, w) for e, w in zip(node.elts, wants, strict=False)]
        return f"[{', '.join(parts)}]", ("tuple", *(self.type_of(e) for e in node.elts)), CALL

    def x_Set(self, node: ast.Set, want: Type | None) -> Text:
        item = plain(want if want and plain(want)[0] == "set" else self.type_or(node, ("set", ANY)))[1]
        self.hashable(node, item)
        return f"new Set([{', '.join(self.item(e, item) for e in node.elts)}])", ("set", item), CALL

    def x_Dict(self, node: ast.Dict, want: Type | None) -> Text:
        want = plain(want) if want else None
        t = want if want and want[0] == "dict" else plain(self.type_or(node, ("dict", STR, ANY)))
        item = t[2] if t[2][0] != "never" else None
        if plain(t[1]) not in (STR, ANY, ("never",)):
            self.hashable(node, t[1])
            pairs = []
            for k, v in zip(node.keys, node.values, strict=True):
                pairs.append(
                    f"...{self.text(v, CALL)}" if k is None else f"[{self.text(k)}, {self.text(v, LOOSE, item)}]"
                )
            spelled = f"<{self.ts(t[1])}, {self.ts(t[2])}>" if item is not None else ""
            copied = len(pairs) == 1 and node.keys[0] is None
            listed = pairs[0][3:] if copied else f"[{', '.join(pairs)}]" if pairs else ""
            return f"new Map{spelled}({listed})", t, CALL
        parts = []
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                parts.append("..." + self.text(v, CALL))
                continue
            key = f"[{self.text(k)}]"
            if isinstance(k, ast.Constant):
                key = k.value if str(k.value).isidentifier() else json.dumps(k.value)  # type: ignore[assignment]
            parts.append(f"{key}: {self.text(v, LOOSE, item)}")
        return "{ " + ", ".join(parts) + " }" if parts else EMPTY, t, CALL

    def x_JoinedStr(self, node: ast.JoinedStr, want: Type | None) -> Text:
        out = ""
        for v in node.values:
            if isinstance(v, ast.Constant):
                out += str(v.value).replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${").replace("\n", "\\n")
            elif isinstance(v, ast.FormattedValue):
                if v.format_spec or v.conversion != -1:
                    self.no(node, "format specifications")
                if self.kind(v.value) not in (INT, STR) or optional(self.type_of(v.value)):
                    what = f"`{ast.unparse(v.value)}` in a text must be an int or str"
                    self.no(node, f"{what} (Python and JavaScript print it differently)")
                out += "${" + self.text(v.value) + "}"
        return f"`{out}`", STR, CALL

    def x_Lambda(self, node: ast.Lambda, want: Type | None) -> Text:
        names = [a.arg for a in node.args.args]
        t = plain(want) if want else plain(self.type_or(node, ANY))
        known = t[2:] if t[0] == "fn" else ()
        with self.scope(dict(zip(names, [*known, *([ANY] * len(names))], strict=False))):
            s, _, p = self.expr(node.body, t[1] if t[0] == "fn" and t[1] != NONE else None)
            body = f"({s})" if p < TERNARY or s.startswith("{") else s
        return f"({', '.join(map(safe, names))}) => {body}", t if t[0] == "fn" else None, LOOSE

    # --- Elsewhere ---

    def x_Call(self, node: ast.Call, want: Type | None) -> Text:
        from .calls import translate_call

        return translate_call(self, node, want)

    def x_ListComp(self, node: ast.ListComp, want: Type | None) -> Text:
        from .sequences import comprehension

        item = plain(want)[1] if want and plain(want)[0] in LISTS else None
        return comprehension(self, node.generators, lambda: self.expr(node.elt, item))

    x_GeneratorExp = x_ListComp

    def x_SetComp(self, node: ast.SetComp, want: Type | None) -> Text:
        from .sequences import comprehension

        s, t, _ = comprehension(self, node.generators, lambda: self.expr(node.elt))
        self.hashable(node, self.type_of(node.elt))
        return f"new Set({s})", ("set", t[1] if t else ANY), CALL

    def x_DictComp(self, node: ast.DictComp, want: Type | None) -> Text:
        from .sequences import comprehension

        item = plain(want)[2] if want and plain(want)[0] == "dict" else None

        def pair() -> Text:
            return (
                f"[{self.text(node.key)}, {self.text(node.value, LOOSE, item)}] as const",
                self.type_of(node.value),
                CALL,
            )

        s, t, _ = comprehension(self, node.generators, pair)
        key = plain(self.type_or(node, ("dict", STR, ANY)))[1]
        item = t[1] if t else ANY
        if plain(key) == STR:
            return f"Object.fromEntries({s})", ("dict", STR, item), CALL
        self.hashable(node, key)
        return f"new Map({s})", ("dict", key, item), CALL
