"""Expressions of the subset, translated to TypeScript.

`Expressions` walks one expression, whose type mypy knows (inferred.py), and answers text.  Where Python and
JavaScript mean different things by one spelling (truth of a list, `==` of lists, `//` and `%` of negative numbers,
`str` of a float), it writes what Python means or refuses; it never guesses.  Known limits, by convention: integers stay
below 2^53, an index is negative only if it is a constant, `list.index` finds what it looks for, `str.find` looks for
something.  Statements are in statements.py, sequences and comprehensions in sequences.py, calls in calls.py."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from .inferred import span
from .modules import Class, Function, Module
from .python import HELPERS
from .subset import ANY, BOOL, FLOAT, INT, NONE, STR, Type, join, mentions, optional, plain, refuse, typescript

EMPTY = "Object.create(null)"  # a dict by texts: none of them is known beforehand, `constructor` neither

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
LISTS = ("list", "array")  # what is an array in TypeScript, beside tuples
RESERVED = set(
    """arguments await case catch const debugger default delete do enum eval export extends function
    implements interface let new null package private protected public static super switch this throw true false typeof
    undefined var void yield Array Map Math Number Object Set String""".split()
)
Text = tuple[str, Type | None, int]


def alike(t: Type) -> bool:
    """Whether the truth of a value is the same in Python and JavaScript, also where it may be None."""
    if t[0] == "union":
        return all(map(alike, t[1:]))
    return t[0] in ("bool", "str", "int", "cls", "fn", "literal") or t[0] == "tuple" and len(t) > 1


def safe(name: str) -> str:
    return name + "_" if name in RESERVED or name in HELPERS else name


class Expressions:
    """Translates the expressions of one module.

    local      the names that are bound where the expression stands -> type, kept by the statements' translator
    helpers    names of PYTHON_TS used so far
    used       names of the module and of what it imports that the text says
    named      (name, module) of the classes and aliases that it says as types"""

    def __init__(self, module: Module):
        self.m = module
        self.local: dict[str, Type] = {}
        self.helpers: set[str] = set()
        self.used: set[str] = set()
        self.named: set[tuple[str, str]] = set()
        self.paths: dict[str, str] = {}  # names that stand for a text
        self.inside: Class | None = None  # the class whose method this is
        self.inner: dict[str, Function] = {}  # functions inside the one that this is

    def no(self, node: ast.AST, message: str) -> NoReturn:
        refuse(node, self.m.file, message)

    def ts(self, t: Type, defines: str = "") -> str:
        """A type in TypeScript; `defines`: the name that it is to have."""
        t = self.m.project.shortest(t, defines)
        self.named |= set(mentions(t))
        return typescript(t)

    def helper(self, name: str) -> str:
        self.helpers.add(name)
        return name

    # --- Types ---

    def type_of(self, node: ast.expr, want: Type | None = None) -> Type:
        """The type of an expression; ANY if it is not known."""
        found = self.m.inferred.types.get(at) if (at := span(node)) else None
        if found is None or found == ANY:
            found = self.expr(node, want)[1]
        return ANY if found is None else found

    def kind(self, node: ast.expr) -> Type:
        """The plain type of an expression, which must be known."""
        t = plain(self.type_of(node))
        if t == ANY:
            self.no(node, f"the type of `{ast.unparse(node)}` is unknown; annotate it")
        return t

    def class_of(self, t: Type) -> Class | None:
        return self.m.project.class_of(plain(t))

    def identical(self, t: Type) -> bool:
        """Whether values of a type are equal in Python where they are identical in JavaScript."""
        t = plain(t)
        if t[0] == "union":
            return all(map(self.identical, t[1:]))
        if t[0] == "cls":
            return (c := self.class_of(t)) is not None and not c.value
        return t[0] in ("int", "float", "bool", "str", "none", "literal", "fn")

    # --- Texts ---

    def text(self, node: ast.expr, level: int = LOOSE, want: Type | None = None) -> str:
        s, _, p = self.expr(node, want)
        return f"({s})" if p < level else s

    def truth(self, node: ast.expr, level: int = LOOSE) -> str:
        """A condition: what Python's truth of a value is, as a boolean."""
        if isinstance(node, ast.BoolOp):
            op, p = ("&&", AND) if isinstance(node.op, ast.And) else ("||", OR)
            s = f" {op} ".join(self.truth(v, p) for v in node.values)
            return f"({s})" if p < level else s
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            t = plain(self.type_of(node.operand))
            if t != BOOL and not isinstance(node.operand, (ast.BoolOp, ast.UnaryOp)):
                s, p = self.emptiness(node.operand, "===")
                return f"({s})" if p < level else s
            return "!" + self.truth(node.operand, UNARY)
        s, _, p = self.expr(node)
        if plain(self.type_of(node)) != BOOL:
            s, p = self.emptiness(node, "!==")
        return f"({s})" if p < level else s

    def emptiness(self, node: ast.expr, sign: str) -> tuple[str, int]:
        """Whether a value that is no boolean is false (`===`) or true (`!==`)."""
        t = self.type_of(node)
        kind = self.kind(node)
        s = self.text(node, CALL)
        if optional(t):
            if kind[0] in ("cls", "fn", "tuple") or kind[0] == "union" and all(p[0] == "cls" for p in kind[1:]):
                return f"{self.text(node, EQUAL)} {sign} null", EQUAL
        if optional(t) or kind[0] == "union":
            if alike(kind):  # true and false where they are in JavaScript
                text, _, p = self.expr(node)
                return ("!" + self.text(node, UNARY), UNARY) if sign == "===" else (text, p)
            self.no(node, "the truth of a value that may be None; write `is None`")
        match kind[0]:
            case "list" | "array":
                return f"{s}.length {sign} 0", EQUAL
            case "str":
                return f'{s} {sign} ""', EQUAL
            case "set":
                return f"{s}.size {sign} 0", EQUAL
            case "dict":
                return (
                    f"Object.keys({self.text(node)}).length" if kind[1] == STR else f"{s}.size"
                ) + f" {sign} 0", EQUAL
            case "int" | "float":
                return f"{s} {sign} 0", EQUAL
        self.no(node, "the truth of this value")

    # --- Each form: (text, type, binding strength) ---------------------------------------------------

    def expr(self, node: ast.expr, want: Type | None = None) -> Text:
        method = getattr(self, "x_" + type(node).__name__, None)
        if method is None:
            self.no(node, f"{type(node).__name__} is not in the subset that is translated")
        made: Text = method(node, want)
        return made

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

    def x_UnaryOp(self, node: ast.UnaryOp, want: Type | None) -> Text:
        if isinstance(node.op, ast.Not):
            return self.truth(node, UNARY), BOOL, UNARY
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        # JavaScript refuses -a ** b, and reads --a as something else.
        return sign + self.text(node.operand, CALL), self.type_of(node.operand), UNARY

    def x_BinOp(self, node: ast.BinOp, want: Type | None) -> Text:
        a, b = self.kind(node.left), self.kind(node.right)
        op = type(node.op)
        sequences = (*LISTS, "tuple")
        if op is ast.Add and a[0] in sequences and b[0] in sequences:
            parts = [self.spread(side) for side in (node.left, node.right)]
            return f"[{', '.join(p for p in parts if p)}]", join(a, b), CALL
        if op is ast.Mult and isinstance(node.left, (ast.List, ast.Tuple)) and len(node.left.elts) == 1:
            item = want[1] if want and want[0] in LISTS else a[1]
            made = f"new Array<{self.ts(item)}>({self.text(node.right)}).fill({self.text(node.left.elts[0])})"
            return made, ("list", item), CALL
        if a[0] == "set":
            return self.sets(node, op, a)
        if op is ast.BitOr and a[0] == "dict":
            left, right = self.text(node.left, CALL), self.text(node.right, CALL)
            made = f"{{ ...{left}, ...{right} }}" if plain(a[1]) == STR else f"new Map([...{left}, ...{right}])"
            return made, a, CALL
        if op is ast.Add and a == b == STR:
            return f"{self.text(node.left, PLUS)} + {self.text(node.right, PLUS + 1)}", STR, PLUS
        if op is ast.Mult and a == STR:
            return f"{self.text(node.left, CALL)}.repeat({self.text(node.right)})", STR, CALL
        if {a, b} - {INT, FLOAT}:
            self.no(node, f"this operator between {a[0]} and {b[0]}")
        t = FLOAT if op is ast.Div or FLOAT in (a, b) else INT
        if op is ast.FloorDiv:
            return f"Math.floor({self.text(node.left, TIMES)} / {self.text(node.right, TIMES + 1)})", t, CALL
        if op is ast.Mod:
            return f"{self.helper('mod')}({self.text(node.left)}, {self.text(node.right)})", t, CALL
        if op not in ARITHMETIC:
            self.no(node, "this operator")
        sign, p = ARITHMETIC[op]
        if sign in ("&", "|", "^", "<<", ">>") and t == FLOAT:
            self.no(node, "bit operations take ints below 2^31")
        right_too = sign in ("+", "*") and isinstance(node.right, ast.BinOp) and type(node.right.op) is op
        if sign == "**":
            return f"{self.text(node.left, CALL)} ** {self.text(node.right, UNARY)}", t, p
        return f"{self.text(node.left, p)} {sign} {self.text(node.right, p if right_too else p + 1)}", t, p

    def spread(self, node: ast.expr) -> str:
        """The items of a sequence, inside the brackets of an array."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return ", ".join(self.item(e, None) for e in node.elts)
        inner = self.text(node, CALL)
        literal = isinstance(node, ast.BinOp) and inner.startswith("[") and inner.endswith("]")
        return inner[1:-1] if literal else f"...{inner}"

    def item(self, node: ast.expr, want: Type | None) -> str:
        if isinstance(node, ast.Starred):
            return "..." + self.iterable(node.value, CALL)[0]
        return self.text(node, LOOSE, want)

    def sets(self, node: ast.BinOp, op: type[ast.operator], t: Type) -> Text:
        left, right = self.text(node.left, CALL), self.text(node.right, CALL)
        if op is ast.BitOr:
            return f"new Set([...{left}, ...{right}])", t, CALL
        name = {ast.BitAnd: "intersectionOf", ast.Sub: "differenceOf"}.get(op)
        if name is None:
            self.no(node, "this operator between sets")
        return f"{self.helper(str(name))}({self.text(node.left)}, {self.text(node.right)})", t, CALL

    def x_BoolOp(self, node: ast.BoolOp, want: Type | None) -> Text:
        """As a value: where the operands are true or false in both languages alike."""
        p = AND if isinstance(node.op, ast.And) else OR
        if all(plain(self.type_of(v)) == BOOL and not optional(self.type_of(v)) for v in node.values):
            return self.truth(node), BOOL, p
        for v in node.values[:-1]:
            if not alike(plain(self.type_of(v))):
                self.no(v, "`and`, `or` outside a condition take what is true in JavaScript where it is in Python")
        sign = "&&" if isinstance(node.op, ast.And) else "||"
        return f" {sign} ".join(self.text(v, p + 1, want) for v in node.values), None, p

    def x_Compare(self, node: ast.Compare, want: Type | None) -> Text:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self.comparison(node, left, op, right))
            left = right
            simple = isinstance(right, (ast.Name, ast.Constant, ast.Attribute)) or ast.unparse(right).startswith("len(")
            if right is not node.comparators[-1] and not simple:
                self.no(right, "the middle of a chained comparison must be a name")
        strength = AND if len(parts) > 1 else UNARY if parts[0].startswith("!") else EQUAL
        return " && ".join(parts), BOOL, CALL if strength == EQUAL and parts[0].endswith(")") else strength

    def comparison(self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
        if isinstance(op, (ast.In, ast.NotIn)):
            return self.membership(node, left, right, "!" if isinstance(op, ast.NotIn) else "")
        a, b = plain(self.type_of(left)), plain(self.type_of(right))
        sign = COMPARE[type(op)]
        if isinstance(op, (ast.Is, ast.IsNot)):
            none = isinstance(right, ast.Constant) and right.value is None
            if not none and {a[0], b[0]} & {"int", "float", "str", "tuple"}:
                self.no(node, "`is` is for None and for objects")
        elif isinstance(op, (ast.Eq, ast.NotEq)):
            if {a, b} == {BOOL, INT} or {a, b} == {BOOL, FLOAT}:
                self.no(node, "a boolean compared with a number")
            if NONE not in (a, b) and not (self.identical(a) or self.identical(b)):
                for t in (a, b):
                    if t[0] in ("fn", "any", "iter", "var"):
                        self.no(node, f"a comparison of {t[0]}s")
                no = "!" if isinstance(op, ast.NotEq) else ""
                return f"{no}{self.helper('isEqual')}({self.text(left)}, {self.text(right)})"
        elif a[0] == b[0] == "set":
            return self.subset(op, left, right)
        elif a[0] in (*LISTS, "tuple"):
            return f"{self.helper('compareValues')}({self.text(left)}, {self.text(right)}) {sign} 0"
        elif {a, b} - {INT, FLOAT, STR, BOOL}:
            self.no(node, f"a comparison of {a[0]}s")
        return f"{self.text(left, LESS)} {sign} {self.text(right, SHIFT)}"

    def subset(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
        if isinstance(op, (ast.Gt, ast.GtE)):
            left, right = right, left
        within = f"{self.helper('isSubset')}({self.text(left)}, {self.text(right)})"
        if isinstance(op, (ast.LtE, ast.GtE)):
            return within
        return f"{self.text(left, CALL)}.size < {self.text(right, CALL)}.size && {within}"

    def membership(self, node: ast.Compare, left: ast.expr, right: ast.expr, no: str) -> str:
        t = self.kind(right)
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)) and t[0] != "str":
            items: list[Type] = [self.type_of(e) for e in right.elts]
            s = f"[{', '.join(self.item(e, None) for e in right.elts)}]"
            own = plain(self.type_of(left))
            may_be_none = optional(self.type_of(left)) or optional(self.expr(left)[1])  # TypeScript narrows less
            other = own[0] in ("cls", "union") and own not in map(plain, items)
            if other or may_be_none and not any(map(optional, items)):
                s = f"({s} as {'unknown[]' if may_be_none else self.ts(('list', self.type_of(left)))})"
        elif t[0] == "str":
            return f"{no}{self.text(right, CALL)}.includes({self.text(left)})"
        elif t[0] == "dict":
            if plain(t[1]) == STR:
                return f"{no}Object.hasOwn({self.text(right)}, {self.text(left)})"
            return f"{no}{self.text(right, CALL)}.has({self.text(left)})"
        elif t[0] == "set":
            return f"{no}{self.text(right, CALL)}.has({self.text(left)})"
        else:
            s, item = self.source(right)
            items = [item]
            if item[0] in ("literal", "alias") and plain(item) == STR and self.type_of(left) != item:
                s = f"({s} as readonly string[])"
        if self.identical(self.type_of(left)) or all(map(self.identical, items)):
            return f"{no}{s}.includes({self.text(left)})"
        return f"{no}{s}.some((x) => {self.helper('isEqual')}(x, {self.text(left)}))"

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

    def hashable(self, node: ast.AST, t: Type) -> None:
        """Refuses keys that a Map or Set of JavaScript would tell apart though Python does not."""
        if t != ANY and not self.identical(t):
            self.no(node, f"keys and items of sets are texts, numbers or objects equal to themselves alone, not {t[0]}")

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
            listed = f"[{', '.join(pairs)}]" if pairs else ""
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

    def type_or(self, node: ast.expr, other: Type) -> Type:
        """What mypy says of a node, which may say nothing."""
        return self.m.inferred.types.get(span(node), other)  # type: ignore[arg-type]

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

    @contextmanager
    def scope(self, names: dict[str, Type]) -> Iterator[None]:
        """Within: these names are bound as well."""
        before = dict(self.local)
        self.local.update(names)
        yield
        self.local = before

    @contextmanager
    def standing(self, names: dict[str, tuple[str, Type]]) -> Iterator[None]:
        """Within: these names are bound, and each stands for a text."""
        before = self.paths
        self.paths = before | {name: text for name, (text, _) in names.items()}
        with self.scope({name: t for name, (_, t) in names.items()}):
            yield
        self.paths = before

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

    def source(self, node: ast.expr) -> tuple[str, Type]:
        """Something to iterate over, as an array, and the type of its items."""
        from .sequences import source

        return source(self, node)

    def iterable(self, node: ast.expr, level: int = LOOSE) -> tuple[str, Type]:
        """Something to iterate over, as whatever JavaScript can go through, and the type of its items."""
        from .sequences import iterable

        return iterable(self, node, level)
