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
from collections.abc import Iterator
from pathlib import Path

from .definitions import Class, Function, is_for_types
from .modules import EXTERNAL, Project
from .precedence import safe
from .python import PYTHON_TS
from .subset import Type
from .writer import LINE, Writer, generates

__all__ = ["EXTERNAL", "PYTHON_TS", "Project", "translate"]
HELPER_TYPES = ("Guarded",)  # of python.py's, those that are interfaces


def translate(path: str | Path, project: Project | None = None) -> str:
    """The TypeScript of one file; `project`: the modules that are translated together.  Raises `Refused`."""
    path = Path(path).resolve()
    project = project or Project([path], roots=[path.parent])
    module = project.module(project.name_of(path))
    assert module is not None
    if module.refused is not None:
        raise module.refused
    return ModuleWriter(module).module()


class ModuleWriter(Writer):
    """Writes a module: its imports, classes, functions and constants."""

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
