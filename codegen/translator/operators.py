"""Operators, comparisons and truth in TypeScript, where Python and JavaScript may not mean the same."""

from __future__ import annotations

import ast

from .precedence import (
    AND,
    BITAND,
    BITOR,
    BITXOR,
    CALL,
    EQUAL,
    LESS,
    LOOSE,
    OR,
    PLUS,
    POWER,
    SHIFT,
    TIMES,
    UNARY,
    Text,
)
from .subset import BOOL, FLOAT, INT, NONE, STR, Type, join, optional, plain
from .typed import Typed

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


def alike(t: Type) -> bool:
    """Whether the truth of a value is the same in Python and JavaScript, also where it may be None."""
    if t[0] == "union":
        return all(map(alike, t[1:]))
    return t[0] in ("bool", "str", "int", "cls", "fn", "literal") or t[0] == "tuple" and len(t) > 1


class Operators(Typed):
    """The part of Expressions that deals with operators."""

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
