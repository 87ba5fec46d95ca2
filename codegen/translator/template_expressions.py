"""Expressions of Jinja templates, as text of TypeScript."""

from __future__ import annotations

import json

from jinja2 import nodes

from .precedence import AND, CALL, EQUAL, LESS, LOOSE, OR, PLUS, POWER, SHIFT, TERNARY, TIMES, UNARY, safe
from .subset import Refused

COMPARE = {"eq": "===", "ne": "!==", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">="}
BINARY = {nodes.Add: ("+", PLUS), nodes.Sub: ("-", PLUS), nodes.Mul: ("*", TIMES), nodes.Div: ("/", TIMES)}
LOOP = {
    "index0": "{i}",
    "index": "{i} + 1",
    "first": "{i} === 0",
    "last": "{i} === {xs}.length - 1",
    "length": "{xs}.length",
}
METHODS = {"startswith": "startsWith", "endswith": "endsWith", "replace": "replaceAll"}


class Expressions:
    """The part of a template's translation that deals with expressions."""

    def no(self, node, message):
        raise Refused(f"{self.file}:{node.lineno}: {message}")

    def text(self, n: nodes.Node, level: int = LOOSE) -> str:
        s, p = self.expr(n)
        return f"({s})" if p < level else s

    def truth(self, n: nodes.Node, level: int = LOOSE) -> str:
        s, p = self.condition(n)
        return f"({s})" if p < level else s

    def condition(self, n) -> tuple[str, int]:
        match n:
            case nodes.And():
                return f"{self.truth(n.left, AND)} && {self.truth(n.right, AND)}", AND
            case nodes.Or():
                return f"{self.truth(n.left, OR)} || {self.truth(n.right, OR)}", OR
            case nodes.Not():
                return f"!{self.truth(n.node, UNARY)}", UNARY
            case nodes.Compare() | nodes.Test() | nodes.Const(value=bool()):
                return self.expr(n)
            case nodes.Getattr(node=nodes.Name(name="loop"), attr="first" | "last"):
                return self.expr(n)
        return f"truthy({self.text(n)})", CALL

    def expr(self, n: nodes.Node) -> tuple[str, int]:
        match n:
            case nodes.Const(value=v):
                return (
                    "null"
                    if v is None
                    else str(v).lower()
                    if isinstance(v, bool)
                    else json.dumps(v, ensure_ascii=False)
                ), CALL
            case nodes.TemplateData():
                return json.dumps(n.data), CALL
            case nodes.Name(name=name):
                if name in self.macros:
                    return self.macros[name], CALL
                return safe(name), CALL
            case nodes.Getattr(node=nodes.Name(name="loop"), attr=attr):
                if attr not in LOOP or not self.loops:
                    self.no(n, f"loop.{attr}")
                s = LOOP[attr].format(i=self.loops[-1][0], xs=self.loops[-1][1])
                return s, PLUS if "+" in s else EQUAL if "=" in s else CALL
            case nodes.Getattr():
                return f"{self.text(n.node, CALL)}.{n.attr}", CALL
            case nodes.Getitem(arg=nodes.Slice(start=a, stop=b, step=None)):
                args = [self.text(a) if a else "0"] + ([self.text(b)] if b else [])
                return f"{self.text(n.node, CALL)}.slice({', '.join(args)})", CALL
            case nodes.Getitem(arg=nodes.Neg()) | nodes.Getitem(arg=nodes.Const(value=-1 | -2 | -3)):
                return f"{self.text(n.node, CALL)}.at({self.text(n.arg)})!", CALL
            case nodes.Getitem():
                return f"{self.text(n.node, CALL)}[{self.text(n.arg)}]!", CALL
            case nodes.Compare():
                return self.compare(n)
            case nodes.And():
                return f"truthy({self.text(n.left)}) ? {self.text(n.right, OR)} : {self.text(n.left, OR)}", TERNARY
            case nodes.Or():
                return f"truthy({self.text(n.left)}) ? {self.text(n.left, OR)} : {self.text(n.right, OR)}", TERNARY
            case nodes.Not():
                return self.condition(n)
            case nodes.Neg():
                return f"-{self.text(n.node, CALL)}", UNARY
            case nodes.FloorDiv():
                return f"Math.floor({self.text(n.left, TIMES)} / {self.text(n.right, TIMES + 1)})", CALL
            case nodes.Mod():
                return f"mod({self.text(n.left)}, {self.text(n.right)})", CALL
            case nodes.Pow():
                return f"{self.text(n.left, CALL)} ** {self.text(n.right, UNARY)}", POWER
            case nodes.BinExpr() if type(n) in BINARY:
                op, p = BINARY[type(n)]
                return f"{self.text(n.left, p)} {op} {self.text(n.right, p + 1)}", p
            case nodes.Concat():
                return "`" + "".join(
                    literal(str(e.value)) if isinstance(e, nodes.Const) else "${" + self.text(e) + "}" for e in n.nodes
                ) + "`", CALL
            case nodes.CondExpr():
                if n.expr2 is None:
                    self.no(n, "`a if b` needs an `else`")
                return f"{self.truth(n.test, OR)} ? {self.text(n.expr1, OR)} : {self.text(n.expr2, TERNARY)}", TERNARY
            case nodes.List() | nodes.Tuple():
                return f"[{', '.join(map(self.text, n.items))}]", CALL
            case nodes.Test():
                return self.test(n)
            case nodes.Filter():
                return self.filter(n)
            case nodes.Call():
                return self.call(n)
        self.no(n, f"{type(n).__name__} is not covered")

    def compare(self, n) -> tuple[str, int]:
        parts, left = [], n.expr
        for o in n.ops:
            if o.op in ("in", "notin"):
                parts.append(f"{'!' if o.op == 'notin' else ''}has({self.text(o.expr)}, {self.text(left)})")
            else:
                parts.append(f"{self.text(left, LESS)} {COMPARE[o.op]} {self.text(o.expr, SHIFT)}")
            left = o.expr
        return " && ".join(parts), AND if len(parts) > 1 else EQUAL

    def test(self, n) -> tuple[str, int]:
        s = self.text(n.node, LESS)
        match n.name:
            case "none":
                return f"{s} === null", EQUAL
            case "defined":
                return f"{s} !== undefined", EQUAL
            case "string":
                return f'typeof {s} === "string"', EQUAL
            case "odd" | "even":
                return f"mod({self.text(n.node)}, 2) === {int(n.name == 'odd')}", EQUAL
            case "divisibleby":
                return f"mod({self.text(n.node)}, {self.text(n.args[0])}) === 0", EQUAL
        self.no(n, f"the test `{n.name}`")

    def filter(self, n) -> tuple[str, int]:
        s, args = self.text(n.node, CALL), [self.text(a) for a in n.args]
        if n.kwargs and not (n.name == "indent" and [k.key for k in n.kwargs] == ["first"]):
            self.no(n, "keywords of this filter")
        match n.name:
            case "join":
                return f"{s}.join({args[0] if args else json.dumps('')})", CALL
            case "length" | "count":
                return f"{s}.length", CALL
            case "indent":
                given = [self.text(n.node), *(args or ["4"]), *(self.text(k.value) for k in n.kwargs)]
                return f"indent({', '.join(given)})", CALL
            case "upper":
                return f"{s}.toUpperCase()", CALL
            case "lower":
                return f"{s}.toLowerCase()", CALL
            case "trim":
                return f"{s}.trim()", CALL
            case "first":
                return f"{s}[0]!", CALL
            case "last":
                return f"{s}.at(-1)!", CALL
            case "replace":
                return f"{s}.replaceAll({', '.join(args)})", CALL
            case "string":
                return f"String({self.text(n.node)})", CALL
            case "abs":
                return f"Math.abs({self.text(n.node)})", CALL
            case "min" | "max":
                return f"Math.{n.name}(...{s})", CALL
            case "sum":
                return f"{s}.reduce((a, b) => a + b, 0)", CALL
        self.no(n, f"the filter `{n.name}`")

    def call(self, n) -> tuple[str, int]:
        if n.dyn_args or n.dyn_kwargs:
            self.no(n, "* and ** in a call")
        args = [self.text(a) for a in n.args]
        match n.node:
            case nodes.Name(name="range"):
                return f"range({', '.join(args if len(args) > 1 else ['0', *args])})", CALL
            case nodes.Name(name="namespace"):
                return "{ " + ", ".join(f"{k.key}: {self.text(k.value)}" for k in n.kwargs) + " } as any", LOOSE
            case nodes.Name(name=name) if name in self.macros and not n.kwargs:
                return f"{self.macros[name]}({', '.join(args)})", CALL
            case nodes.Getattr(attr="items"):
                return f"Object.entries({self.text(n.node.node)})", CALL
            case nodes.Getattr(attr=attr) if attr in METHODS:
                return f"{self.text(n.node.node, CALL)}.{METHODS[attr]}({', '.join(args)})", CALL
        self.no(n, "this call")


def literal(text: str) -> str:
    """Text inside a template literal; newlines are written as \\n so that the file's own lines stay apart."""
    return text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${").replace("\n", "\\n")
