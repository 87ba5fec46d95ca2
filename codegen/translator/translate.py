"""Python -> TypeScript for the files of codegen/host: statements, functions, classes, modules.

    translate("codegen/host/bind.py") -> the text of bind.ts

The subset: annotated functions; `@dataclass` classes of fields only (they become interfaces, and a
constructor call an object literal); `@dataclass(frozen=True)` classes (classes, which `isinstance` and `match` tell
apart); aliases of types; constants; if, match, for, while, assignments, return, raise OpError, break, continue, del of
a list's element; the expressions of expressions.py.  A variable is declared where Python first assigns it, in the
innermost block that holds all its uses.  Docstrings
become JSDoc, comments stay.  Anything else raises `Refused` with file:line.  Modules import each other
by `from .name import ...`; those in EXTERNAL exist on both sides and only their signatures are read."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

from .expressions import Expressions, safe
from .statements import assigned, statement, uses
from .subset import NONE, Type, annotation, mentions, refuse, typescript

# Python module -> the TypeScript file that has the same functions and is not made from it.
EXTERNAL = {"errors": "../runtime/base/errors.js", "render": "../wgsl/templates.js"}
IGNORED = {"__future__", "dataclasses", "collections.abc", "math", "typing"}

# What translated modules may import from ./python.js: the few operations JavaScript lacks.
PYTHON_TS = """\
// Operations of Python that JavaScript lacks, for the translated host code.

/** Python's `a % b`: the result has the sign of b. */
export function mod(a: number, b: number): number {
  return a - Math.floor(a / b) * b;
}

/** The whole numbers from start to below stop. */
export function range(start: number, stop: number): number[] {
  const out: number[] = [];
  for (let i = start; i < stop; i++) out.push(i);
  return out;
}

/** Pairs of the items of two lists, as many as the shorter has. */
export function zip<A, B>(a: readonly A[], b: readonly B[]): [A, B][] {
  const out: [A, B][] = [];
  for (let i = 0; i < a.length && i < b.length; i++) out.push([a[i] as A, b[i] as B]);
  return out;
}
"""


class Fields(dict):
    """The fields of a dataclass with their types; `defaults` has the nodes of default values; `frozen`: a class in
    TypeScript, too."""

    def __init__(self, frozen: bool):
        super().__init__()
        self.defaults: dict[str, ast.expr] = {}
        self.frozen = frozen


class Module:
    """What a file defines: read once, before any body is translated.  `known`: what has been read already."""

    def __init__(self, path: Path, known: dict[Path, Module]):
        self.path, self.file, self.known = path, path.name, known
        self.text = path.read_text()
        self.tree = ast.parse(self.text)
        self.classes, self.functions, self.constants, self.types = {}, {}, {}, {}
        self.origin: dict[str, str] = {}  # imported name -> TypeScript module
        for node in self.tree.body:
            self.name(node)
        for node in self.tree.body:
            self.declare(node)

    def imported(self, path: Path) -> Module:
        if path not in self.known:
            self.known[path] = Module(path, self.known)
        return self.known[path]

    def name(self, node):
        """Notes the imports and the names of types, which annotations may use before they are defined."""
        match node:
            case ast.ImportFrom(module=name, level=1) if name:
                self.take(node, self.imported(self.path.parent / f"{name}.py"), EXTERNAL.get(name, f"./{name}.js"))
            case ast.ImportFrom(module=name, level=level) if level > 1:
                folder = self.path.parent
                for _ in range(level - 1):
                    folder = folder.parent
                last = name.split(".")[-1]
                if last not in EXTERNAL:
                    refuse(node, self.file, f"import of {name}")
                self.take(node, self.imported(folder / f"{name.replace('.', '/')}.py"), EXTERNAL[last])
            case ast.ClassDef(name=name) if node.decorator_list:
                self.types[name] = ("cls", name, self.path.stem)
                self.classes[name] = Fields(is_frozen(node))
            case ast.Assign(targets=[ast.Name(id=name)]) if self.is_type(node.value):
                self.types[name] = ("alias", name, annotation(node.value, self.types, self.file), self.path.stem)

    def declare(self, node):
        match node:
            case ast.ClassDef(name=name) if node.decorator_list:
                fields = self.classes[name]
                for f in node.body:
                    if isinstance(f, ast.AnnAssign):
                        fields[f.target.id] = annotation(f.annotation, self.types, self.file)
                        if f.value is not None:
                            fields.defaults[f.target.id] = default(f.value)
            case ast.ClassDef(name=name):
                self.functions[name] = ([], None)  # an exception
            case ast.FunctionDef(name=name):
                a, types = node.args, self.types
                if safe(name) != name:
                    refuse(
                        node, self.file, f"`{name}` as the name of a function: TypeScript has another meaning for it"
                    )
                if a.vararg or a.kwarg or a.posonlyargs:
                    refuse(node, self.file, "* and ** parameters")
                every = a.args + a.kwonlyargs
                values = [None] * (len(a.args) - len(a.defaults)) + a.defaults + a.kw_defaults
                for p in every:
                    if p.annotation is None:
                        refuse(p, self.file, f"parameter `{p.arg}` has no type")
                result = NONE if node.returns is None else annotation(node.returns, types, self.file)
                self.functions[name] = (
                    [(p.arg, annotation(p.annotation, types, self.file), v) for p, v in zip(every, values)],
                    result,
                )
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.types:
                pass
            case ast.AnnAssign(target=ast.Name(id=name)):
                self.constants[name] = annotation(node.annotation, self.types, self.file)
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.constants[name] = Expressions(
                    self.file, self.classes, self.functions, self.types, self.constants
                ).kind(node.value)

    def is_type(self, node) -> bool:
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.BitOr) and self.is_type(node.left)
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("list", "dict", "tuple", "Callable", "Literal")
            or isinstance(node, ast.Name)
            and node.id in self.types
        )

    def take(self, node, other: Module, where: str):
        # Classes that are only reached through fields need no import, but their fields must be known.
        for name, fields in other.classes.items():
            self.classes.setdefault(name, fields)
        for alias in node.names:
            name = alias.name
            if name == "decimal":
                continue
            found = [d for d in (other.functions, other.constants, other.types) if name in d]
            if not found or alias.asname:
                refuse(node, self.file, f"import of {name}")
            for d, mine in (
                (other.functions, self.functions),
                (other.constants, self.constants),
                (other.types, self.types),
            ):
                if name in d:
                    mine[name] = d[name]
            self.origin[name] = where


def is_frozen(node: ast.ClassDef) -> bool:
    match node.decorator_list:
        case [
            ast.Call(
                func=ast.Name(id="dataclass"), keywords=[ast.keyword(arg="frozen", value=ast.Constant(value=True))]
            )
        ]:
            return True
    return False


def default(node: ast.expr) -> ast.expr:
    """The value of a field's default: `field(default_factory=list)` is an empty list."""
    match node:
        case ast.Call(func=ast.Name(id="field"), keywords=[ast.keyword(arg="default_factory", value=ast.Name(id=f))]):
            return ast.parse({"list": "[]", "dict": "{}"}[f], mode="eval").body
    return node


def translate(path: str | Path, known: dict[Path, Module] | None = None) -> str:
    """The TypeScript of one file of the host subset; `known`: the modules that others have read, for many files.
    Raises `Refused`."""
    return Writer(Module(Path(path), {} if known is None else known)).module()


class Writer:
    """Writes the statements of a module, two spaces for each level."""

    def __init__(self, module: Module):
        m = self.m = module
        self.x = Expressions(m.file, m.classes, m.functions, m.types, m.constants)
        self.lines: list[str] = []
        self.depth = 0
        self.comments = {
            t.start[0]: (t.string[1:].strip(), t.line.strip().startswith("#"))
            for t in tokenize.generate_tokens(io.StringIO(m.text).readline)
            if t.type == tokenize.COMMENT
        }
        self.seen = 0  # the last line whose comments are written
        self.named: set[str] = set()  # classes and aliases that the text mentions

    def no(self, node, message):
        refuse(node, self.m.file, message)

    def put(self, line: str):
        self.lines.append(("  " * self.depth + line) if line else "")

    def ts(self, t: Type) -> str:
        self.named |= {name for name, _ in mentions(t)}
        return typescript(t)

    def doc(self, text: str | None):
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

    def comment_lines(self, upto: int):
        """The comments on lines of their own before line `upto`."""
        for line in range(self.seen + 1, upto):
            text, alone = self.comments.get(line, ("", False))
            if alone:
                self.put(f"// {text}".rstrip())
        self.seen = max(self.seen, upto - 1)

    def trailing(self, node):
        """Adds the comment behind a statement to the line just written."""
        last = getattr(node, "end_lineno", 0)
        text, alone = self.comments.get(last, ("", True))
        if not alone:
            self.lines[-1] += f"   // {text}"
        self.seen = max(self.seen, last)

    def trailing_head(self, node):
        """Adds the comment behind the first line of a compound statement."""
        line = (node.test if hasattr(node, "test") else node.iter).end_lineno
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
            self.seen = self.m.tree.body[0].end_lineno
        after_constant = False
        for node in body:
            match node:
                case ast.ImportFrom(module=name, level=0) if name in IGNORED:
                    continue
                case ast.Import(names=[ast.alias(name="math")]):
                    continue
                case ast.ImportFrom():
                    continue
            constant = isinstance(node, (ast.Assign, ast.AnnAssign))
            if not constant or not after_constant:
                self.put("")
            after_constant = constant
            start = min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", [])])
            self.comment_lines(start)
            match node:
                case ast.ClassDef(decorator_list=[ast.Name(id="dataclass")], bases=[]):
                    self.interface(node)
                case ast.ClassDef(bases=[]) if is_frozen(node):
                    self.frozen(node)
                case ast.FunctionDef(decorator_list=[]):
                    self.function(node)
                case ast.Assign(targets=[ast.Name(id=name)]) if name in self.m.types:
                    self.put(f"export type {name} = {self.ts(self.m.types[name][2])};")
                    self.trailing(node)
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    t = self.m.constants[name]
                    self.constant(name, t, node.value)
                    self.trailing(node)
                case _:
                    self.no(node, f"{type(node).__name__} at the top of a module")
        out = [f"// {s}".rstrip() for s in (head or "").strip().split("\n")]
        out += [f"// Translated from {self.m.path.parent.name}/{self.m.path.name}; change it there.", ""]
        out += self.imports()
        return "\n".join(out + self.lines).replace("\n\n\n", "\n\n").rstrip() + "\n"

    def constant(self, name: str, t: Type, value: ast.expr):
        line = f"export const {name}: {self.ts(t)} = {self.x.text(value, want=t)};"
        if len(line) <= 118 or not isinstance(value, ast.Dict):
            return self.put(line)
        self.put(f"export const {name}: {self.ts(t)} = {{")
        for k, v in zip(value.keys, value.values):
            self.put("  " + self.x.text(ast.Dict([k], [v]), want=t)[2:-2] + ",")
        self.put("};")

    def imports(self) -> list[str]:
        values = {
            n
            for n in self.x.used
            if n in self.m.origin and (n not in self.m.types or n in self.m.classes and self.m.classes[n].frozen)
        }
        types = {n for n in self.named | self.x.used if n in self.m.origin and n in self.m.types} - values
        out = []
        if self.x.helpers:
            out.append(f'import {{ {", ".join(sorted(self.x.helpers))} }} from "./python.js";')
        for where in sorted(set(self.m.origin.values())):
            v = sorted(n for n in values if self.m.origin[n] == where)
            t = sorted(n for n in types if self.m.origin[n] == where and n in self.named)
            if v:
                out.append(f'import {{ {", ".join(v)} }} from "{where}";')
            if t:
                out.append(f'import type {{ {", ".join(t)} }} from "{where}";')
        return out

    def interface(self, node: ast.ClassDef):
        self.doc(ast.get_docstring(node, clean=False))
        self.put(f"export interface {node.name} {{")
        self.depth += 1
        for name, t in self.fields(node):
            self.put(f"{name}: {self.ts(t)};")
        self.depth -= 1
        self.put("}")

    def frozen(self, node: ast.ClassDef):
        """A class; TypeScript would take those with the same fields for one, did they not differ in a field that is not
        there.  Fields are declared only: what is emitted for them is the constructor's assignments."""
        self.doc(ast.get_docstring(node, clean=False))
        self.put(f"export class {node.name} {{")
        self.depth += 1
        self.put(f'declare protected readonly named: "{node.name}";')
        fields = []
        for name, t in self.fields(node):
            self.put(f"declare readonly {name}: {self.ts(t)};")
            fields.append((name, self.ts(t)))
        self.put("")
        self.put(f"constructor({', '.join(f'{name}: {t}' for name, t in fields)}) {{")
        for name, _ in fields:
            self.put(f"  this.{name} = {name};")
        self.put("}")
        self.depth -= 1
        self.put("}")

    def fields(self, node: ast.ClassDef):
        """The fields of a dataclass with their types; writes what is said of each before it."""
        for f in node.body:
            if isinstance(f, ast.Expr) and isinstance(f.value, ast.Constant):
                self.seen = f.end_lineno
                continue
            if not isinstance(f, ast.AnnAssign):
                self.no(f, "a dataclass of the host has fields only")
            self.comment_lines(f.lineno)
            text, alone = self.comments.get(f.end_lineno, ("", True))
            if not alone:
                self.doc(text)
            self.seen = f.end_lineno
            yield f.target.id, self.m.classes[node.name][f.target.id]

    def function(self, node: ast.FunctionDef):
        params, result = self.m.functions[node.name]
        self.doc(ast.get_docstring(node, clean=False))
        body = node.body
        if ast.get_docstring(node) is not None:
            self.seen, body = body[0].end_lineno, body[1:]
        before = dict(self.x.local)
        self.x.local = {p: t for p, t, _ in params}
        text = [
            f"{safe(p)}: {self.ts(t)}" + ("" if d is None else f" = {self.x.text(d, want=t)}") for p, t, d in params
        ]
        returns = "void" if result == NONE else self.ts(result)
        self.result = result
        head = f"export function {node.name}({', '.join(text)}): {returns} {{"
        if len(head) <= 118:
            self.put(head)
        else:
            self.put(f"export function {node.name}(")
            for t in text:
                self.put(f"  {t},")
            self.put(f"): {returns} {{")
        self.current = node
        self.check_loops(node)
        self.block(body, set(self.x.local))
        self.x.local = before
        self.put("}")

    def check_loops(self, node):
        """Refuses a loop's variable that is read after the loop, or assigned elsewhere too."""
        targets = {
            n.id
            for loop in ast.walk(node)
            if isinstance(loop, ast.For)
            for n in ast.walk(loop.target)
            if isinstance(n, ast.Name)
        }
        inside: set[int] = set()
        for loop in ast.walk(node):
            if not isinstance(loop, (ast.For, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)):
                continue
            names = [n for n in ast.walk(loop) if isinstance(n, ast.Name)]
            own = {n.id for n in names if isinstance(n.ctx, ast.Store)} | (
                {a.arg for a in loop.args.args} if isinstance(loop, ast.Lambda) else set()
            )
            inside |= {id(n) for n in names if n.id in own}
        for n in ast.walk(node):
            if isinstance(n, ast.For):
                own = {t.id for t in ast.walk(n.target) if isinstance(t, ast.Name)}
                for name, places in assigned(n).items():
                    if name in own:
                        self.no(places[0], f"the loop variable `{name}` is assigned")
            if isinstance(n, ast.Name) and n.id in targets and id(n) not in inside:
                self.no(n, f"the loop variable `{n.id}` is used outside its loop")

    # --- Blocks -------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], declared: set[str]):
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
