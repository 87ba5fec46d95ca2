"""Expressions of the host subset, translated to TypeScript.

`Expressions` walks one expression, knows its type (subset.py) and answers text.  Where Python and
JavaScript mean different things by one spelling (truth of a list, `==` of lists, `//` and `%` of
negative numbers, `str` of a float), it writes what Python means or refuses; it never guesses.
Known limits, by convention: integers stay below 2^53, an index is negative only if it is a constant,
`list.index` finds what it looks for, `str.find` looks for something.  Statements are in translate.py."""

from __future__ import annotations

import ast
import json
from contextlib import contextmanager

from .subset import BOOL, FLOAT, INT, NONE, STR, Type, annotation, join, optional, plain, refuse, typescript

# How tightly JavaScript's operators bind.
LOOSE, TERNARY, OR, AND, BITOR, BITXOR, BITAND, EQUAL, LESS, SHIFT, PLUS, TIMES, UNARY, POWER, CALL = range(15)

ARITHMETIC = {
    ast.Add: ("+", PLUS),
    ast.Sub: ("-", PLUS),
    ast.Mult: ("*", TIMES),
    ast.Div: ("/", TIMES),
    ast.Pow: ("**", POWER),
    ast.BitAnd: ("&", BITAND),
    ast.BitOr: ("|", BITOR),
    ast.BitXor: ("^", BITXOR),
    ast.LShift: ("<<", SHIFT),
    ast.RShift: (">>", SHIFT),
}
COMPARE = {
    ast.Eq: "===",
    ast.NotEq: "!==",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "===",
    ast.IsNot: "!==",
}
MATH = {"floor": INT, "ceil": INT, "trunc": INT, "sqrt": FLOAT, "exp": FLOAT, "log": FLOAT, "log2": FLOAT}
RESERVED = set(
    """arguments await case catch const debugger default delete do enum eval export extends function
    implements interface let new null package private protected public static super switch this throw true false typeof
    undefined var void yield Array Math Number Object String""".split()
)
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


def safe(name: str) -> str:
    return name + "_" if name in RESERVED else name


class Expressions:
    """Translates expressions of one function.

    classes    name -> fields {name: type} (with the set of those that have a default as `defaults`)
    functions  name -> ([(parameter, type, default node or None)], result type)
    types      names of classes and aliases -> type
    local      name -> type, kept by the statements' translator
    helpers    names of host/python.ts used so far"""

    def __init__(self, file: str, classes: dict, functions: dict, types: dict[str, Type], constants: dict[str, Type]):
        self.file, self.classes, self.functions, self.types, self.constants = file, classes, functions, types, constants
        self.local: dict[str, Type | None] = {}
        self.helpers: set[str] = set()
        self.used: set[str] = set()
        self.paths: dict[str, str] = {}  # names that stand for a text

    def no(self, node, message):
        refuse(node, self.file, message)

    def kind(self, node) -> Type:
        """The plain type of an expression, which must be known."""
        t = plain(self.expr(node)[1])
        if t is None:
            self.no(node, f"the type of `{ast.unparse(node)}` is unknown; annotate it")
        return t

    def text(self, node, level: int = LOOSE, want: Type | None = None) -> str:
        s, _, p = self.expr(node, want)
        return f"({s})" if p < level else s

    def truth(self, node, level: int = LOOSE) -> str:
        """A condition: what Python's truth of a value is, as a boolean."""
        if isinstance(node, ast.BoolOp):
            op, p = ("&&", AND) if isinstance(node.op, ast.And) else ("||", OR)
            s = f" {op} ".join(self.truth(v, p) for v in node.values)
            return f"({s})" if p < level else s
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            t = plain(self.expr(node.operand)[1])
            if t and t[0] in ("list", "str", "dict", "int", "float"):
                s, p = self.emptiness(node.operand, "===")
                return f"({s})" if p < level else s
            return "!" + self.truth(node.operand, UNARY)
        s, t, p = self.expr(node)
        if optional(t):
            self.no(node, "the truth of a value that may be None; write `is not None`")
        if self.kind(node) != BOOL:
            s, p = self.emptiness(node, "!==")
        return f"({s})" if p < level else s

    def emptiness(self, node, sign: str) -> tuple[str, int]:
        s, t, _ = self.expr(node)
        if optional(t):
            self.no(node, "the truth of a value that may be None; write `is None`")
        s = self.text(node, CALL)
        match self.kind(node)[0]:
            case "list":
                return f"{s}.length {sign} 0", EQUAL
            case "str":
                return f'{s} {sign} ""', EQUAL
            case "dict":
                return f"Object.keys({s}).length {sign} 0", EQUAL
            case "int" | "float":
                return f"{s} {sign} 0", EQUAL
        self.no(node, "the truth of this value")

    # --- Each form: (text, type, binding strength) ---------------------------------------------------

    def expr(self, node: ast.expr, want: Type | None = None) -> tuple[str, Type | None, int]:
        method = getattr(self, "x_" + type(node).__name__, None)
        if method is None:
            self.no(node, f"{type(node).__name__} is not in the host subset")
        return method(node, want)

    def x_Constant(self, node, want):
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

    def x_Name(self, node, want):
        name = node.id
        if name in self.local:
            return self.paths.get(name, safe(name)), self.local[name], CALL
        if name in self.constants:
            self.used.add(name)
            return name, self.constants[name], CALL
        if name in self.functions:
            self.used.add(name)
            params, result = self.functions[name]
            return name, ("fn", result, *(t for _, t, _ in params)), CALL
        self.no(node, f"unknown name `{name}`")

    def x_Attribute(self, node, want):
        if isinstance(node.value, ast.Name) and node.value.id == "math" and node.attr in ("inf", "nan"):
            return {"inf": "Infinity", "nan": "NaN"}[node.attr], FLOAT, CALL
        t = self.kind(node.value)
        if t[0] == "union":  # TypeScript narrows it where the code asked `isinstance`
            t = next((part for part in t[1:] if part[0] == "cls" and node.attr in self.classes[part[1]]), t)
        if t[0] != "cls":
            self.no(node, f"an attribute of {t[0]}")
        fields = self.classes[t[1]]
        if node.attr not in fields:
            self.no(node, f"{t[1]} has no field `{node.attr}`")
        return f"{self.text(node.value, CALL)}.{node.attr}", fields[node.attr], CALL

    def x_Subscript(self, node, want):
        t, s = self.kind(node.value), self.text(node.value, CALL)
        if isinstance(node.slice, ast.Slice):
            if t[0] not in ("list", "str"):
                self.no(node, "a slice of this")
            low, high, step = node.slice.lower, node.slice.upper, node.slice.step
            if step is not None:
                if low or high or t[0] != "list" or ast.unparse(step) != "-1":
                    self.no(node, "only the slice step [::-1]")
                return f"{s}.slice().reverse()", t, CALL
            args = (
                ""
                if low is None and high is None
                else (self.text(low) if low else "0") + (f", {self.text(high)}" if high else "")
            )
            return f"{s}.slice({args})", t, CALL
        i = self.text(node.slice)
        if t[0] == "dict":
            return f"{s}[{i}]", t[1], CALL
        if t[0] == "fn" or t[0] not in ("list", "tuple", "str"):
            self.no(node, f"an element of {t[0]}")
        back = (
            node.slice.operand.value
            if isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.op, ast.USub)
            else 0
        )
        if t[0] == "tuple":
            if not isinstance(node.slice, ast.Constant):
                self.no(node, "the place in a tuple must be a constant")
            return f"{s}[{i}]", t[1 + node.slice.value], CALL
        item = STR if t[0] == "str" else t[1]
        if back:
            if not isinstance(node.value, (ast.Name, ast.Attribute)):
                return f"{s}.at({i})!", item, CALL
            return f"{s}[{s}.length - {back}]", item, CALL
        return f"{s}[{i}]", item, CALL

    def x_UnaryOp(self, node, want):
        if isinstance(node.op, ast.Not):
            return self.truth(node, UNARY), BOOL, UNARY
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        # JavaScript refuses -a ** b, and reads --a as something else.
        return sign + self.text(node.operand, CALL), self.expr(node.operand)[1], UNARY

    def x_BinOp(self, node, want):
        a, b = self.kind(node.left), self.kind(node.right)
        if isinstance(node.op, ast.Add) and a[0] == b[0] == "list":
            both = join(a, b)
            return f"[...{self.text(node.left, CALL)}, ...{self.text(node.right, CALL)}]", both, CALL
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List) and len(node.left.elts) == 1:
            item = want[1] if want and want[0] == "list" else a[1]
            return (
                f"new Array<{typescript(item)}>({self.text(node.right)}).fill({self.text(node.left.elts[0])})",
                ("list", item),
                CALL,
            )
        if isinstance(node.op, ast.Add) and a == b == STR:
            return f"{self.text(node.left, PLUS)} + {self.text(node.right, PLUS + 1)}", STR, PLUS
        if isinstance(node.op, ast.Mult) and a == STR:
            return f"{self.text(node.left, CALL)}.repeat({self.text(node.right)})", STR, CALL
        if {a, b} - {INT, FLOAT}:
            self.no(node, f"this operator between {a[0]} and {b[0]}")
        t = FLOAT if isinstance(node.op, ast.Div) or FLOAT in (a, b) else INT
        if isinstance(node.op, ast.FloorDiv):
            return f"Math.floor({self.text(node.left, TIMES)} / {self.text(node.right, TIMES + 1)})", t, CALL
        if isinstance(node.op, ast.Mod):
            self.helpers.add("mod")
            return f"mod({self.text(node.left)}, {self.text(node.right)})", t, CALL
        op, p = ARITHMETIC[type(node.op)] if type(node.op) in ARITHMETIC else self.no(node, "this operator")
        if op in ("&", "|", "^", "<<", ">>") and t == FLOAT:
            self.no(node, "bit operations take ints below 2^31")
        right = (
            p
            if op in ("+", "*") and isinstance(node.right, ast.BinOp) and type(node.right.op) is type(node.op)
            else p + 1
        )
        if op == "**":
            return f"{self.text(node.left, CALL)} ** {self.text(node.right, UNARY)}", t, p
        return f"{self.text(node.left, p)} {op} {self.text(node.right, right)}", t, p

    def x_BoolOp(self, node, want):
        for v in node.values:
            if self.kind(v) != BOOL:
                self.no(v, "`and`, `or` outside a condition take booleans only")
        return self.truth(node), BOOL, AND if isinstance(node.op, ast.And) else OR

    def x_Compare(self, node, want):
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            parts.append(self.comparison(node, left, op, right))
            left = right
            if right is not node.comparators[-1] and not isinstance(right, (ast.Name, ast.Constant, ast.Attribute)):
                self.no(right, "the middle of a chained comparison must be a name")
        return " && ".join(parts), BOOL, AND if len(parts) > 1 else EQUAL

    def comparison(self, node, left, op, right) -> str:
        if isinstance(op, (ast.In, ast.NotIn)):
            no = "!" if isinstance(op, ast.NotIn) else ""
            match self.kind(right)[0]:
                case "dict":
                    return f"{no}Object.hasOwn({self.text(right)}, {self.text(left)})"
                case "list" | "str":
                    pass
                case "tuple":
                    return f"{no}[{', '.join(map(self.text, right.elts))}].includes({self.text(left)})"
                case _:
                    self.no(node, "`in` looks into lists, strings and dicts")
            return f"{no}{self.text(right, CALL)}.includes({self.text(left)})"
        if isinstance(op, (ast.Is, ast.IsNot)):
            if not (isinstance(right, ast.Constant) and right.value is None) and {
                self.kind(left)[0],
                self.kind(right)[0],
            } - {"cls", "union"}:
                self.no(node, "`is` is for None and for dataclasses")
        else:
            a, b = self.kind(left), self.kind(right)
            for t in (a, b):
                if t[0] in ("list", "dict", "tuple", "cls", "fn"):
                    self.no(node, f"a comparison of {t[0]}s")
            if {a, b} == {BOOL, INT} or {a, b} == {BOOL, FLOAT}:
                self.no(node, "a boolean compared with a number")
        return f"{self.text(left, LESS)} {COMPARE[type(op)]} {self.text(right, SHIFT)}"

    def x_IfExp(self, node, want):
        a, b = self.expr(node.body, want), self.expr(node.orelse, want)
        test, yes = self.truth(node.test, OR), self.text(node.body, TERNARY + 1, want)
        s = f"{test} ? {yes} : {self.text(node.orelse, TERNARY, want)}"
        return s, join(a[1], b[1]), TERNARY

    def x_List(self, node, want):
        item = plain(want)[1] if want and plain(want)[0] == "list" else None
        parts, t = [], None
        for e in node.elts:
            if isinstance(e, ast.Starred):
                parts.append("..." + self.text(e.value, CALL))
                t = join(t, self.kind(e.value)[1])
            else:
                parts.append(self.text(e, LOOSE, item))
                t = join(t, self.expr(e, item)[1])
        return f"[{', '.join(parts)}]", ("list", item if item is not None else t), CALL

    def x_Tuple(self, node, want):
        want = plain(want)
        wants = want[1:] if want and want[0] == "tuple" else (None,) * len(node.elts)
        parts = [self.expr(e, w) for e, w in zip(node.elts, wants)]
        return f"[{', '.join(s for s, _, _ in parts)}]", ("tuple", *(t for _, t, _ in parts)), CALL

    def x_Dict(self, node, want):
        item = plain(want)[1] if want and plain(want)[0] == "dict" else None
        parts, t = [], item
        for k, v in zip(node.keys, node.values):
            if k is None:
                parts.append("..." + self.text(v, CALL))
                t = t or self.kind(v)[1]
                continue
            key = json.dumps(k.value) if isinstance(k, ast.Constant) else f"[{self.text(k)}]"
            if isinstance(k, ast.Constant) and str(k.value).isidentifier():
                key = k.value
            parts.append(f"{key}: {self.text(v, LOOSE, item)}")
            t = item or join(t, self.expr(v)[1])
        return "{ " + ", ".join(parts) + " }" if parts else "{}", ("dict", t), CALL

    def x_JoinedStr(self, node, want):
        out = ""
        for v in node.values:
            if isinstance(v, ast.Constant):
                out += v.value.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${").replace("\n", "\\n")
            else:
                if v.format_spec or v.conversion != -1:
                    self.no(node, "format specifications")
                if self.kind(v.value) not in (INT, STR) or optional(self.expr(v.value)[1]):
                    self.no(
                        node,
                        f"`{ast.unparse(v.value)}` in a text must be an int or str (Python and JavaScript print it "
                        "differently)",
                    )
                out += "${" + self.text(v.value) + "}"
        return f"`{out}`", STR, CALL

    def x_Lambda(self, node, want):
        want = plain(want)
        if not want or want[0] != "fn":
            self.no(node, "a lambda where its type is not known")
        names = [a.arg for a in node.args.args]
        with self.scope(dict(zip(names, want[2:]))):
            body = self.text(node.body, TERNARY)
        return f"({', '.join(map(safe, names))}) => {body}", want, LOOSE

    def x_ListComp(self, node, want):
        item = plain(want)[1] if want and plain(want)[0] == "list" else None
        return self.comprehension(node.generators, lambda: self.expr(node.elt, item))

    def x_DictComp(self, node, want):
        def pair():
            t = self.expr(node.value)[1]
            return f"[{self.text(node.key)}, {self.text(node.value)}] as const", t, CALL

        s, t, _ = self.comprehension(node.generators, pair)
        return f"Object.fromEntries({s})", ("dict", t[1]), CALL

    @contextmanager
    def scope(self, names: dict[str, Type | None]):
        """Within: these names are bound as well."""
        before = dict(self.local)
        self.local.update(names)
        yield
        self.local = before

    @contextmanager
    def standing(self, names: dict[str, tuple[str, Type | None]]):
        """Within: these names are bound, and each stands for a text."""
        before = self.paths
        self.paths = before | {name: text for name, (text, _) in names.items()}
        with self.scope({name: t for name, (_, t) in names.items()}):
            yield
        self.paths = before

    def source(self, node) -> tuple[str, Type | None]:
        """Something to iterate over, as an array, and the type of its items."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[stop]):
                self.helpers.add("range")
                return f"range(0, {self.text(stop)})", INT
            case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
                self.helpers.add("range")
                return f"range({self.text(start)}, {self.text(stop)})", INT
            case ast.Call(func=ast.Name(id="enumerate"), args=[xs]):
                s, t = self.source(xs)
                return f"{s}.map((x, i) => [i, x] as const)", ("tuple", INT, t)
            case ast.Call(func=ast.Name(id="zip"), args=[a, b]):
                (s, t), (u, v) = self.source(a), self.source(b)
                self.helpers.add("zip")
                return f"zip({s}, {u})", ("tuple", t, v)
            case ast.Call(func=ast.Name(id="reversed"), args=[xs]):
                s, t = self.source(xs)
                return f"{s}.slice().reverse()", t
            case ast.Call(func=ast.Attribute(value=d, attr="items"), args=[]):
                return f"Object.entries({self.text(d)})", ("tuple", STR, self.kind(d)[1])
        t = self.kind(node)
        if t[0] == "dict":
            return f"Object.keys({self.text(node)})", STR
        if t[0] == "tuple":
            if len(set(t[1:])) > 1:
                self.no(node, "a loop over a tuple of different types")
            return f"{self.text(node, CALL)}", t[1]
        if t[0] != "list":
            self.no(node, f"a loop over {t[0]}")
        return self.text(node, CALL), t[1]

    def pattern(self, target, t: Type | None) -> tuple[str, dict[str, Type | None]]:
        """The parameter that takes an item apart, and the names it binds."""
        if isinstance(target, ast.Name):
            return safe(target.id), {target.id: t}
        if not isinstance(target, ast.Tuple):
            self.no(target, "this loop target")
        if not t or t[0] != "tuple" or len(t) != len(target.elts) + 1:
            self.no(target, "the items have another form")
        parts = [self.pattern(e, part) for e, part in zip(target.elts, t[1:])]
        return f"[{', '.join(s for s, _ in parts)}]", {k: v for _, names in parts for k, v in names.items()}

    def comprehension(self, generators, result):
        """xs.filter(...).map(...), with flatMap for all but the last `for`."""
        g, rest = generators[0], generators[1:]
        s, t = self.source(g.iter)
        param, names = self.pattern(g.target, t)
        with self.scope(names):
            for c in g.ifs:
                s += f".filter(({param}) => {self.truth(c)})"
            if rest:
                inner, it, _ = self.comprehension(rest, result)
                return f"{s}.flatMap(({param}) => {inner})", it, CALL
            body, bt, p = result()
        if body == param and isinstance(g.target, ast.Name):
            return (s if g.ifs else f"{s}.slice()"), ("list", bt), CALL
        return (
            f"{s}.map(({param}) => {f'({body})' if p < TERNARY or body.startswith('{') else body})",
            ("list", bt),
            CALL,
        )

    def x_Call(self, node, want):
        from .calls import translate_call

        return translate_call(self, node, want)

    def type_of(self, node) -> Type:
        return annotation(node, self.types, self.file)
