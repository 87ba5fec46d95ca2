"""Python -> TypeScript, for the modules of the compiler that the package carries: modules, classes, functions.

    translate("codegen/binding/bind.py") -> the text of bind.ts

The subset is what typed Python says anyway: annotated functions, also inside others, generators; dataclasses (those of
fields alone become interfaces, and a constructor call an object literal; others are classes) with methods, properties
and one base; classes with an `__init__`; aliases of types; constants; if, match, for, while, try, assignments,
exceptions; the expressions of expressions.py, sequences.py and calls.py.  mypy checks the modules first (inferred.py),
and every expression has the type that it says.  A variable is declared where Python first assigns it, in the innermost
block that holds all its uses.  Docstrings become JSDoc, comments stay.  Anything else raises `Refused` with file:line.
Modules import each other by name; those in EXTERNAL exist on both sides and only their signatures are read."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from .expressions import Expressions, safe
from .modules import EXTERNAL, Class, Function, Module, Project, is_for_types
from .python import PYTHON_TS
from .statements import assigned, statement, uses
from .subset import NONE, Type, mentions, refuse, typescript

__all__ = ["EXTERNAL", "PYTHON_TS", "Project", "translate"]
LINE = 118
HELPER_TYPES = ("Guarded",)  # of python.py's, those that are interfaces


def translate(path: str | Path, project: Project | None = None) -> str:
    """The TypeScript of one file; `project`: the modules that are translated together.  Raises `Refused`."""
    path = Path(path).resolve()
    project = project or Project([path], roots=[path.parent])
    module = project.module(project.name_of(path))
    assert module is not None
    if module.refused is not None:
        raise module.refused
    return Writer(module).module()


class Writer:
    """Writes the statements of a module, two spaces for each level."""

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

    # --- Modules ------------------------------------------------------------------------------------

    def module(self) -> str:
        body = self.m.tree.body
        head = ast.get_docstring(self.m.tree, clean=False)
        if head:
            body = body[1:]
            self.seen = self.m.tree.body[0].end_lineno or 0
        after_constant = False
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)) or is_for_types(node):
                continue
            constant = isinstance(node, (ast.Assign, ast.AnnAssign))
            if not constant or not after_constant:
                self.put("")
            after_constant = constant
            start = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", [])])
            self.comment_lines(start)
            self.definition(node)
        out = [f"// {s}".rstrip() for s in (head or "").strip().split("\n")]
        out += [f"// Translated from {self.m.path.parent.name}/{self.m.path.name}; change it there.", ""]
        out += self.imports()
        return "\n".join(out + self.lines).replace("\n\n\n", "\n\n").rstrip() + "\n"

    def definition(self, node: ast.stmt) -> None:
        match node:
            case ast.ClassDef(name=name):
                c = self.m.classes[name]
                if c.interface:
                    self.interface(c)
                else:
                    self.class_(c)
            case ast.FunctionDef(decorator_list=[], name=name):
                self.function(node, self.m.functions[name], "export function")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if (
                name in self.m.types
            ):
                self.put(f"export type {name} = {self.x.ts(self.m.types[name][2], name)};")
                self.trailing(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.constant(name, self.m.constants[name], value)
                self.trailing(node)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                self.constant(name, self.m.constants[name], value)
                self.trailing(node)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=True):
                    name = ast.unparse(target)
                    self.constant(name, self.m.constants[name], value)
                self.trailing(node)
            case _:
                self.no(node, f"{type(node).__name__} at the top of a module")

    def constant(self, name: str, t: Type, value: ast.expr) -> None:
        line = f"export const {name}: {self.x.ts(t)} = {self.x.text(value, want=t)};"
        if len(line) <= LINE or not isinstance(value, ast.Dict) or any(k is None for k in value.keys):
            return self.put(line)
        self.put(f"export const {name}: {self.x.ts(t)} = {{")
        for k, v in zip(value.keys, value.values, strict=True):
            self.put("  " + self.x.text(ast.Dict([k], [v]), want=t)[2:-2] + ",")
        self.put("};")

    def imports(self) -> list[str]:
        """What the text says of other modules: values, and types."""
        values: dict[str, set[str]] = {}
        types: dict[str, set[str]] = {}
        for name in self.x.used & self.m.names.keys():
            other, there = self.m.names[name]
            interface = there in other.types and not (there in other.classes and not other.classes[there].interface)
            if not interface:
                values.setdefault(self.m.where(other), set()).add(
                    safe(there) if there == name else f"{there} as {name}"
                )
        spaces = {name.partition(".")[0]: module for name, module in self.x.named if "." in name}
        for name, module in self.x.named:
            if "." in name or module == self.m.name or (other_ := self.m.project.module(module)) is None:
                continue
            where = self.m.where(other_)
            if name not in values.get(where, ()):
                types.setdefault(where, set()).add(name)
        out = []
        if self.x.helpers:
            home = self.m.home()
            path = "./python.js" if home in ("host", "") else "../" * (home.count("/") + 1) + "host/python.js"
            helpers = [f"type {h}" if h in HELPER_TYPES else h for h in sorted(self.x.helpers)]
            out.append(f'import {{ {", ".join(helpers)} }} from "{path}";')
        for name in sorted(self.x.used & self.m.imported.keys()):
            out.append(f'import * as {name} from "{self.m.where(self.m.imported[name])}";')
        for name in sorted(spaces.keys() - self.x.used):
            other_ = self.m.project.module(spaces[name])
            if other_ is not None:
                out.append(f'import type * as {name} from "{self.m.where(other_)}";')
        for where in sorted({*values, *types}):
            if v := values.get(where):
                out.append(f'import {{ {", ".join(sorted(v))} }} from "{where}";')
            if t := types.get(where):
                out.append(f'import type {{ {", ".join(sorted(t))} }} from "{where}";')
        return out

    # --- Classes ------------------------------------------------------------------------------------

    def interface(self, c: Class) -> None:
        self.doc(ast.get_docstring(c.node, clean=False))
        self.put(f"export interface {c.name} {{")
        self.depth += 1
        for name, t in self.fields(c):
            self.put(f"{name}: {self.x.ts(t)};")
        self.depth -= 1
        self.put("}")

    def class_(self, c: Class) -> None:
        """A class; TypeScript would take those with the same fields for one, did they not differ in a field that is not
        there.  Fields are declared only: what is emitted for them is the constructor's assignments."""
        self.doc(ast.get_docstring(c.node, clean=False))
        base = f" extends {c.base.name}" if c.base else " extends Error" if c.exception else ""
        if not base and not c.data and not c.exception or c.data and not c.value and not base:
            pass
        if c.base:
            self.x.used.add(c.base.name)
        elif c.interned or c.data and not c.value:
            base = f" extends {self.x.helper('Unique')}"
        self.put(f"export {'abstract ' if c.abstract else ''}class {c.name}{base} {{")
        self.depth += 1
        named = "named" if c.base is None else f"named{sum(1 for _ in c.ancestors)}"
        if c.data:
            self.put(f'declare protected readonly {named}: "{c.name}";')
        for name, t in self.fields(c):
            self.put(f"declare {'readonly ' if c.frozen else ''}{name}: {self.x.ts(t)};")
        inherited = {name for a in c.ancestors if a is not c for name in a.cached}
        for name in sorted(c.cached - inherited):
            self.put(f"declare {name}_: {self.x.ts(c.methods[name].result)} | undefined;")
        if c.data and (c.own or c.base is None):
            self.constructor(c)
        for f in c.node.body:
            if isinstance(f, ast.FunctionDef) and f.name in c.methods:
                self.put("")
                self.comment_lines(f.lineno)
                self.method(c, f)
        self.depth -= 1
        self.put("}")

    def constructor(self, c: Class) -> None:
        """What a dataclass is made from."""
        self.put("")
        params = []
        for name, t in c.fields.items():
            default = c.defaults.get(name)
            made = "" if default is None else f" = {self.x.text(default, want=t)}"
            params.append(f"{safe(name)}: {self.x.ts(t)}{made}")
        self.head("constructor", params, "")
        if c.base is not None:
            self.put(f"  super({', '.join(safe(n) for n in c.base.fields)});")
        elif c.interned or not c.value:
            self.put("  super();")
        for name in c.own:
            self.put(f"  this.{name} = {safe(name)};")
        if c.interned:
            self.put(f"  return {self.x.helper('internedOne')}(this);")
        self.put("}")

    def head(self, start: str, params: list[str], returns: str) -> None:
        line = f"{start}({', '.join(params)}){returns} {{"
        if len(line) <= LINE:
            return self.put(line)
        self.put(f"{start}(")
        for text in params:
            self.put(f"  {text},")
        self.put(f"){returns} {{")

    def method(self, c: Class, node: ast.FunctionDef) -> None:
        f = c.methods[node.name]
        decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        if unknown := decorators - {"property", "cached_property", "staticmethod", "abstractmethod", "override"}:
            self.no(node, f"the decorator {unknown.pop()}")
        before = dict(self.x.local)
        self.x.inside = c
        self.x.local["self"] = ("cls", c.name, c.module)
        if "abstractmethod" in decorators:
            params = ", ".join(f"{safe(p)}: {self.x.ts(t)}" for p, t, _ in f.params)
            name = f"get {node.name}()" if "property" in decorators else f"{node.name}({params})"
            self.doc(ast.get_docstring(node, clean=False))
            self.put(f"abstract {name}: {self.x.ts(f.result)};")
            self.seen = node.end_lineno or 0
        elif node.name == "__init__":
            self.function(node, f, "constructor", c)
        elif "cached_property" in decorators:
            self.cached(node, f, "override " if c.base is not None and c.base.has(node.name) else "")
        else:
            start = "get " if "property" in decorators else "static " if "staticmethod" in decorators else ""
            name = {"__repr__": "toString", "__str__": "toString", "__call__": "call"}.get(node.name, node.name)
            text = name == "toString" and (c.base is not None or c.interned or not c.value)
            if text or c.base is not None and c.base.has(node.name):
                start = f"{start}override " if start == "static " else f"override {start}"
            self.function(node, f, f"{start}{'*' if generates(node) else ''}{name}")
        self.x.inside = None
        self.x.local = before

    def cached(self, node: ast.FunctionDef, f: Function, override: str) -> None:
        """A property that is computed once: what it comes to stands in a field."""
        name = node.name
        self.doc(ast.get_docstring(node, clean=False))
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        self.put(f"{override}get {name}(): {self.x.ts(f.result)} {{")
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
            self.depth += 1
            self.put(f"return (this.{name}_ ??= {self.x.text(body[0].value, want=f.result)});")
            self.depth -= 1
        else:
            self.no(node, "a cached property is one `return`")
        self.seen = node.end_lineno or 0
        self.put("}")

    def fields(self, c: Class) -> Iterator[tuple[str, Type]]:
        """The class's own fields with their types; writes what is said of each before it."""
        written = set()
        for f in c.node.body:
            if isinstance(f, ast.Expr):
                self.seen = f.end_lineno or 0
            elif isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name):
                self.comment_lines(f.lineno)
                text, alone = self.comments.get(f.end_lineno or 0, ("", True))
                if not alone:
                    self.doc(text)
                self.seen = f.end_lineno or 0
                written.add(f.target.id)
                yield f.target.id, c.fields[f.target.id]
        for name in c.own:
            if name not in written:
                yield name, c.fields[name]

    # --- Functions ----------------------------------------------------------------------------------

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

    # --- Blocks -------------------------------------------------------------------------------------

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
    from .statements import within

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
