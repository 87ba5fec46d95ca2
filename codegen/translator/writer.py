"""Functions and blocks as lines of TypeScript, with the comments and docstrings that stand in Python."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import NoReturn

from .bindings import assigned, uses
from .definitions import Class, Function
from .expressions import Expressions
from .modules import Module
from .precedence import safe
from .statements import statement
from .subset import NONE, Type, mentions, refuse, typescript

LINE = 118


class Writer:
    """Writes statements, two spaces for each level."""

    def __init__(self, module: Module):
        m = self.m = module
        self.x = Expressions(m)
        self.lines: list[str] = []
        self.depth = 0
        self.comments = {
            t.start[0]: (t.string[1:].strip(), t.line.strip().startswith("#"))
            for t in tokenize.generate_tokens(io.StringIO(m.text).readline)
            if t.type == tokenize.COMMENT and not t.string.startswith(("# type:", "# noqa"))
        }
        self.seen = 0  # the last line whose comments are written
        self.result: Type = NONE  # of the function that is being written
        self.current: ast.FunctionDef | None = None

    def no(self, node: ast.AST, message: str) -> NoReturn:
        refuse(node, self.m.file, message)

    def put(self, line: str) -> None:
        self.lines.append(("  " * self.depth + line) if line else "")

    def doc(self, text: str | None) -> None:
        if not text:
            return
        lines = text.strip().split("\n")
        indent = min((len(s) - len(s.lstrip()) for s in lines[1:] if s.strip()), default=0)
        lines = [lines[0]] + [s[indent:] for s in lines[1:]]
        lines = [s.rstrip().replace("*/", "*\\/") for s in lines]
        if len(lines) == 1:
            return self.put(f"/** {lines[0]} */")
        self.put("/**")
        for s in lines:
            self.put(f" * {s}".rstrip())
        self.put(" */")

    def comment_lines(self, upto: int) -> None:
        """The comments on lines of their own before line `upto`."""
        for line in range(self.seen + 1, upto):
            text, alone = self.comments.get(line, ("", False))
            if alone:
                self.put(f"// {text}".rstrip())
        self.seen = max(self.seen, upto - 1)

    def trailing(self, node: ast.AST) -> None:
        """Adds the comment behind a statement to the line just written."""
        last = getattr(node, "end_lineno", 0)
        text, alone = self.comments.get(last, ("", True))
        if not alone:
            self.lines[-1] += f"   // {text}"
        self.seen = max(self.seen, last)

    def trailing_head(self, node: ast.If | ast.While | ast.For) -> None:
        """Adds the comment behind the first line of a compound statement."""
        line = (node.iter if isinstance(node, ast.For) else node.test).end_lineno or 0
        text, alone = self.comments.get(line, ("", True))
        if not alone and node.body[0].lineno > line:
            self.lines[-1] += f"   // {text}"
        self.seen = max(self.seen, line)

    def head(self, start: str, params: list[str], returns: str) -> None:
        line = f"{start}({', '.join(params)}){returns} {{"
        if len(line) <= LINE:
            return self.put(line)
        self.put(f"{start}(")
        for text in params:
            self.put(f"  {text},")
        self.put(f"){returns} {{")

    def function(self, node: ast.FunctionDef, f: Function, start: str, constructs: Class | None = None) -> None:
        self.doc(ast.get_docstring(node, clean=False))
        body = node.body
        if ast.get_docstring(node) is not None:
            self.seen, body = body[0].end_lineno or 0, body[1:]
        if start == "export function" and safe(node.name) != node.name:
            self.no(node, f"`{node.name}` as the name of a function: TypeScript has another meaning for it")
        before, self.x.inner = dict(self.x.local), {}
        self.x.local = {**{n: t for n, t in before.items() if n == "self"}, **{p: t for p, t, _ in f.params}}
        params = self.params(f)
        returns = "" if constructs else f": {self.returned(f)}"
        self.result, self.current = f.result, node
        if start == "export function":
            start = f"export function{'*' if generates(node) else ''} {safe(node.name)}"
        self.head(start, params, returns)
        if constructs is not None and constructs.base is None and constructs.exception:
            self.put("  super();")
        self.check_loops(node)
        self.block(body, set(self.x.local))
        if f.result != NONE and open_ended(body[-1]):  # mypy knows that one of the cases is met
            self.put('  throw new Error("no case");')
        self.x.local = before
        self.put("}")

    def returned(self, f: Function) -> str:
        """What a function's head says of its result."""
        if f.result[0] == "is":  # TypeGuard
            self.x.named |= set(mentions(f.result[1]))
            sides = "" if f.result[2] else f" & {self.x.helper('Guarded')}"
            return f"{safe(f.params[0][0])} is {typescript(f.result[1], bool(sides))}{sides}"
        return "void" if f.result == NONE else self.x.ts(f.result)

    def params(self, f: Function) -> list[str]:
        out = []
        for n, (p, t, d) in enumerate(f.params):
            rest = "..." if f.star and n == len(f.params) - 1 else ""
            shown = self.x.ts(("list", t[1]) if rest else t)
            out.append(f"{rest}{safe(p)}: {shown}" + ("" if d is None else f" = {self.x.text(d, want=t)}"))
        return out

    def inner_function(self, node: ast.FunctionDef, declared: set[str]) -> None:
        """A function inside another, which sees its names."""
        if generates(node):
            self.no(node, "a generator inside a function")
        f = self.m.function(node)
        self.x.local[node.name] = ("fn", f.result, *(t for _, t, _ in f.params))
        declared.add(node.name)
        self.doc(ast.get_docstring(node, clean=False))
        body = node.body
        if ast.get_docstring(node) is not None:
            self.seen, body = body[0].end_lineno or 0, body[1:]
        self.x.inner = {**self.x.inner, node.name: f}
        outer = self.result, self.current, dict(self.x.local)
        self.x.local |= {p: t for p, t, _ in f.params}
        self.result = f.result
        returns = self.returned(f)
        start = f"const {safe(node.name)} = ({', '.join(self.params(f))}): {returns} =>"
        own = {a for a, _, _ in f.params}
        shared = {n for s in ast.walk(node) if isinstance(s, ast.Nonlocal) for n in s.names}
        mine = set(assigned(node)) - shared
        names = (declared | own) - (mine - own)
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
            text, _, p = self.x.expr(body[0].value, f.result)
            self.put(f"{start} {f'({text})' if p < 1 or text.startswith('{') else text};")
            self.seen = node.end_lineno or 0
        else:
            self.put(f"{start} {{")
            self.current = node
            self.block(body, names)
            self.put("};")
        self.result, self.current, self.x.local = outer

    def check_loops(self, node: ast.FunctionDef) -> None:
        """Refuses a loop's variable that is read after the loop, or assigned elsewhere too."""
        loops = (ast.For, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda, ast.FunctionDef)
        targets = {
            n.id
            for loop in ast.walk(node)
            if isinstance(loop, ast.For)
            for n in ast.walk(loop.target)
            if isinstance(n, ast.Name) and n.id != "_"
        }
        inside: set[int] = set()
        for loop in ast.walk(node):
            if not isinstance(loop, loops) or loop is node:
                continue
            names = [n for n in ast.walk(loop) if isinstance(n, ast.Name)]
            own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
            if isinstance(loop, (ast.Lambda, ast.FunctionDef)):
                own |= {a.arg for a in loop.args.args}
            inside |= {id(n) for n in names if n.id in own}
        for n in ast.walk(node):
            if isinstance(n, ast.For):
                own = {t.id for t in ast.walk(n.target) if isinstance(t, ast.Name)} if counts(n) else set()
                for name, places in assigned(n).items():
                    if name in own:
                        self.no(places[0], f"the loop variable `{name}` is assigned")
            if isinstance(n, ast.Name) and n.id in targets and id(n) not in inside and not matched(node, n):
                self.no(n, f"the loop variable `{n.id}` is used outside its loop")

    def block(self, body: list[ast.stmt], declared: set[str]) -> None:
        """Writes statements one level deeper.  A name that several of them use is declared here."""
        self.depth += 1
        declared = set(declared)
        scope = dict(self.x.local)
        use = [uses(s) for s in body]
        for i, s in enumerate(body):
            self.comment_lines(s.lineno)
            later = set().union(*use[i + 1 :]) if i + 1 < len(body) else set()
            statement(self, s, declared, later)
        self.x.local = scope
        self.depth -= 1


def generates(node: ast.FunctionDef) -> bool:
    """Whether a function is a generator."""
    from .bindings import within

    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in within(node))


def open_ended(s: ast.stmt) -> bool:
    """Whether TypeScript sees a way past a statement that ends a function: a match without a case for all others."""
    return isinstance(s, ast.Match) and not any(
        isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and c.guard is None for c in s.cases
    )


def counts(s: ast.For) -> bool:
    """Whether a loop becomes one that counts, whose variable cannot be assigned."""
    return isinstance(s.iter, ast.Call) and ast.unparse(s.iter.func) in ("range", "enumerate", "reversed")


def matched(node: ast.FunctionDef, n: ast.Name) -> bool:
    """Whether a name stands where a pattern of `match` binds it."""
    return any(
        isinstance(c, ast.match_case)
        and any(isinstance(p, ast.MatchAs) and p.name == n.id for p in ast.walk(c.pattern))
        and any(m is n for m in ast.walk(c))
        for c in ast.walk(node)
    )
