"""What the modules that are translated define: classes, functions, constants and types, read before any body is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

from .definitions import ROOT, Class, Function, absolute, dataclass_of, default, is_for_types, leaves, pairs
from .inferred import Inferred, inferred, span
from .subset import ANY, NONE, Refused, Type, annotation, plain, refuse

# Python module -> the TypeScript file that has the same functions and is not made from it.
EXTERNAL = {
    "errors": "../runtime/base/errors.js",
    "render": "../wgsl/templates.js",
    "computed": "../runtime/program/computed.js",
}
# Package of Python -> folder of TypeScript.
# In the package a folder holds what is of one floor: what plans a call, kernels from programs, programs.
HOMES = {
    **dict.fromkeys(
        (
            *("codegen.data", "codegen.binding"),
            *("codegen.planner", "codegen.planner.attention", "codegen.planner.strategies"),
        ),
        "host",
    ),
    **dict.fromkeys(("codegen.wasm", "codegen.wasm.planning", "codegen.wasm.scalars", "codegen.wasm.tiles"), "wasm"),
    "codegen.fusion": "fusion",
    "codegen.kernels": "codegen",
    **dict.fromkeys(("dsl", "dsl.ir", "dsl.gradients"), "dsl"),
}
IGNORED = {"__future__", "abc", "dataclasses", "collections.abc", "functools", "math", "struct", "typing"}


class Project:
    """Modules that are translated together, and those that they import.  roots: the folders that imports begin in."""

    def __init__(self, paths: Iterable[Path], roots: Iterable[Path] = (ROOT,)):
        self.roots = [Path(r).resolve() for r in roots]
        self.modules: dict[str, Module] = {}
        self.loaded: list[Module] = []
        asked = {self.name_of(p): p for p in map(Path.resolve, paths)}
        self.known = inferred(self.closure(asked), self.roots)
        for name in asked:
            self.module(name)

    def closure(self, modules: dict[str, Path]) -> dict[str, Path]:
        """These modules and all that they import."""
        found: dict[str, Path] = {}
        todo = list(modules.items())
        while todo:
            name, path = todo.pop()
            if name in found:
                continue
            found[name] = path
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    full = absolute(name, node)
                    names = [full, *(f"{full}.{alias.name}" for alias in node.names)]
                    todo += [(n, p) for n in names if (p := self.path_of(n)) is not None]
        return found

    def name_of(self, path: Path) -> str:
        """The full name of a module."""
        for root in self.roots:
            if path.is_relative_to(root):
                return ".".join(path.relative_to(root).with_suffix("").parts)
        return path.stem

    def path_of(self, name: str) -> Path | None:
        found = (root / (name.replace(".", "/") + ".py") for root in self.roots)
        return next((p for p in found if p.exists()), None)

    def module(self, name: str) -> Module | None:
        """A module by its full name, with all that it imports; None if it is no file below the roots."""
        if name not in self.modules and (path := self.path_of(name)) is not None:
            self.loaded = []
            self.load(name, path)
            fresh = self.loaded
            for m in fresh:
                m.attempt(Module.name_types)
            for m in fresh:  # an alias may be made of those of modules that it imports
                m.attempt(Module.take_types)
                m.attempt(Module.declare_aliases)
            for m in fresh:
                m.attempt(Module.take_types)
            for step in (Module.declare_functions, Module.declare_classes, Module.take_values):
                for m in fresh:
                    m.attempt(step)
        return self.modules.get(name)

    def load(self, name: str, path: Path) -> None:
        module = Module(name, path, self)
        self.modules[name] = module
        module.attempt(Module.find_imports)
        self.loaded.append(module)  # after those that it imports

    def shortest(self, t: Type, defines: str = "") -> Type:
        """A type with the names that the modules give to its unions, but for one that it defines."""
        if t[0] == "alias":
            return t
        made: Type = (t[0], *(self.shortest(part, defines) if isinstance(part, tuple) else part for part in t[1:]))
        if made[0] != "union":
            return made
        parts = frozenset(made[1:])
        for module in self.modules.values():
            for alias in module.types.values():
                if (
                    alias[0] == "alias"
                    and alias[1] != defines
                    and plain(alias)[0] == "union"
                    and frozenset(plain(alias)[1:]) == parts
                ):
                    return alias
        return made

    def class_of(self, t: Type) -> Class | None:
        if t[0] != "cls":
            return None
        module = self.module(t[2])
        return None if module is None else module.classes.get(t[1])


class Module:
    """What a file defines and imports.  names: of what it imports -> (module, its name there).  refused: what is wrong
    with it."""

    def __init__(self, name: str, path: Path, project: Project):
        self.name, self.path, self.file, self.project = name, path, path.name, project
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.inferred: Inferred = project.known.get(name, Inferred())
        self.refused = Refused(self.inferred.errors[0]) if self.inferred.errors else None
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, Function] = {}
        self.constants: dict[str, Type] = {}
        self.types: dict[str, Type] = {}
        self.names: dict[str, tuple[Module, str]] = {}
        self.imported: dict[str, Module] = {}  # modules, by the name that stands for them
        self.external = name.rsplit(".", 1)[-1] in EXTERNAL

    def attempt(self, step: Callable[[Module], None]) -> None:
        """One step of reading it; what is wrong is kept for who translates it."""
        if self.refused is None:
            try:
                step(self)
            except Refused as refused:
                self.refused = refused

    def no(self, node: ast.AST, message: str) -> NoReturn:
        refuse(node, self.file, message)

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements, also those that stand under `if TYPE_CHECKING`."""
        return [s for n in self.tree.body for s in (n.body if is_for_types(n) else [n])]

    def where(self, other: Module) -> str:
        """The import of another module's TypeScript."""
        last = other.name.rsplit(".", 1)[-1]
        if last in EXTERNAL:
            return EXTERNAL[last]
        here, there = self.home(), other.home()
        return f"./{last}.js" if here == there else f"{'../' * (here.count('/') + 1)}{there}/{last}.js"

    @property
    def output(self) -> str:
        """Its TypeScript's path in the package, without the ending."""
        return f"{self.home()}/{self.name.rpartition('.')[2]}".lstrip("/")

    def home(self) -> str:
        package = self.name.rpartition(".")[0]
        return HOMES.get(package, package.replace(".", "/"))

    # --- Imports ---

    def find_imports(self) -> None:
        for node in self.body:
            match node:
                case ast.ImportFrom(module=name, level=0) if name in IGNORED:
                    pass
                case ast.ImportFrom(names=names):
                    full = absolute(self.name, node)
                    for alias in names:
                        self.find(node, full, alias)
                case ast.Import(names=[ast.alias(name="math")]):
                    pass
                case ast.Import() if not self.external:
                    self.no(node, "`import`: write `from ... import`")

    def find(self, node: ast.stmt, full: str, alias: ast.alias) -> None:
        own, project = alias.asname or alias.name, self.project
        if alias.name == "decimal":
            return
        inner = f"{full}.{alias.name}" if full else alias.name
        if (path := project.path_of(inner)) is not None:
            if inner not in project.modules:
                project.load(inner, path)
            self.imported[own] = project.modules[inner]
            return
        path = project.path_of(full)
        if path is None:
            if self.external:
                return
            self.no(node, f"import of {full}")
        if full not in project.modules:
            project.load(full, path)
        self.names[own] = (project.modules[full], alias.name)

    def take_types(self) -> None:
        for own, module in self.imported.items():
            for name, t in module.types.items():
                if t[0] == "cls":
                    self.types[f"{own}.{name}"] = ("alias", f"{own}.{name}", t, module.name)
        for own, (other, name) in self.names.items():
            if name in other.classes:
                self.classes[own] = other.classes[name]
            if name in other.types:
                self.types[own] = other.types[name]

    def take_values(self) -> None:
        for own, (other, name) in self.names.items():
            if name in other.names:
                other, name = self.names[own] = other.names[name]
            if name in other.functions:
                self.functions[own] = other.functions[name]
            if name in other.constants:
                self.constants[own] = other.constants[name]

    # --- Definitions ---

    def name_types(self) -> None:
        """Notes the names of classes, which annotations may use before they are defined."""
        for node in self.body:
            if isinstance(node, ast.ClassDef):
                self.types[node.name] = ("cls", node.name, self.name)
                self.classes[node.name] = Class(node.name, self.name, node)

    def declare_aliases(self) -> None:
        for node in self.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.is_type(value):
                    self.types[name] = ("alias", name, self.type_of(value), self.name)
                case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=value) if value:
                    self.types[name] = ("alias", name, self.type_of(value), self.name)

    def type_of(self, node: ast.expr) -> Type:
        return annotation(node, self.types, self.file)

    def is_type(self, node: ast.expr) -> bool:
        match node:
            case ast.BinOp(op=ast.BitOr(), left=left):
                return self.is_type(left)
            case ast.Subscript(value=ast.Name(id=name)):
                return name in ("list", "dict", "set", "tuple", "Callable", "Literal", "Sequence", "Mapping")
            case ast.Name(id=name):
                return name in self.types
        return False

    def declare_functions(self) -> None:
        for node in self.body:
            match node:
                case ast.FunctionDef(name=name):
                    self.functions[name] = self.function(node)
                case ast.Assign(targets=[ast.Name(id=name)]) if name in self.types:
                    pass
                case ast.AnnAssign(target=ast.Name(id=name)) if name not in self.types:
                    self.constants[name] = self.type_of(node.annotation)
                case ast.Assign(targets=targets):
                    for t in (t for target in targets for t in leaves(target)):
                        if isinstance(t, ast.Name):
                            self.constants[t.id] = self.inferred.names.get(span(t), ANY)  # type: ignore[arg-type]

    def declare_classes(self) -> None:
        for node in self.body:
            if isinstance(node, ast.ClassDef):
                self.declare_class(node, self.classes[node.name])

    def function(self, node: ast.FunctionDef, method: bool = False) -> Function:
        a = node.args
        if a.kwarg or a.posonlyargs:
            self.no(node, "** and / parameters")
        every = [*a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
        defaults = [None] * (len(a.args) - len(a.defaults)) + a.defaults
        values = [*defaults, *([None] if a.vararg else []), *a.kw_defaults]
        if a.vararg and a.kwonlyargs:
            self.no(node, "parameters behind * parameters")
        if method:
            every, values = every[1:], values[1:]
        params = []
        for p, v in zip(every, values, strict=True):
            if p.annotation is None:
                self.no(p, f"parameter `{p.arg}` has no type")
            else:
                t = self.type_of(p.annotation)
                params.append((p.arg, ("array", t) if p is a.vararg else t, v))
        result = NONE if node.returns is None else self.type_of(node.returns)
        return Function(node.name, params, result, node, a.vararg is not None)

    def declare_class(self, node: ast.ClassDef, c: Class) -> None:
        c.data, c.frozen, c.value = dataclass_of(node)
        for base in node.bases:
            match base:
                case ast.Name(id="Exception" | "ValueError" | "RuntimeError"):
                    c.exception = True
                case ast.Name(id="ABC"):
                    c.abstract = True
                case ast.Name(id="Protocol"):
                    c.data = True
                case ast.Name(id=name) if name in self.classes and c.base is None:
                    c.base = self.classes[name]
                    c.base.extended = True
                    c.exception, c.interned = c.base.exception, c.base.interned
                    c.fields, c.defaults = dict(c.base.fields), dict(c.base.defaults)
                case _:
                    self.no(base, "this base of a class")
        for k in node.keywords:
            if k.arg != "metaclass" or ast.unparse(k.value) != "Interned":
                self.no(node, f"the keyword {k.arg} of a class")
            c.interned = True
        for f in node.body:
            match f:
                case ast.AnnAssign(target=ast.Name(id=name)):
                    c.fields[name] = self.type_of(f.annotation)
                    c.own.append(name)
                    if f.value is not None:
                        c.defaults[name] = default(f.value)
                case ast.FunctionDef(name=name):
                    self.declare_method(f, c)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case _:
                    self.no(f, f"{type(f).__name__} in a class")
        if "__init__" in c.methods and not c.exception:
            for n in ast.walk(c.methods["__init__"].node or node):
                match n:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if name not in c.fields:
                        c.fields[name] = ANY
                        c.own.append(name)
            for n in ast.walk(c.methods["__init__"].node or node):
                match n:
                    case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                        c.fields[name] = self.type_of(n.annotation)
                    case ast.Assign(targets=[target], value=value):
                        for one, text in pairs(target, value):
                            if isinstance(one, ast.Attribute) and c.fields.get(one.attr) == ANY:
                                c.fields[one.attr] = self.assigned(text, c.methods["__init__"])

    def assigned(self, value: ast.expr, init: Function) -> Type:
        """The type of an attribute without annotation: a parameter's, or what mypy says of the value."""
        if isinstance(value, ast.Name):
            for name, t, _ in init.params:
                if name == value.id:
                    return t
        return self.inferred.types.get(span(value), ANY)  # type: ignore[arg-type]

    def declare_method(self, node: ast.FunctionDef, c: Class) -> None:
        names = [d.id for d in node.decorator_list if isinstance(d, ast.Name)]
        if node.name.startswith("__") and node.name not in ("__init__", "__repr__", "__str__", "__call__"):
            return  # what only Python asks
        made = self.function(node, "staticmethod" not in names)
        if c.data and any(ast.unparse(b) == "Protocol" for b in c.node.bases):
            c.fields[node.name] = made.result
            c.own.append(node.name)
            return
        if {"property", "cached_property"} & set(names):
            c.properties.add(node.name)
            if "cached_property" in names:
                c.cached.add(node.name)
        c.methods[node.name] = made


def class_named(m: Module, node: ast.AST, name: str) -> Class:
    """A class by the name it has in the module, which may be `module.Name`."""
    first, dot, last = name.partition(".")
    found = m.imported[first].classes.get(last) if dot and first in m.imported else m.classes.get(name)
    return found or m.no(node, f"`{name}` is no class that is translated")
