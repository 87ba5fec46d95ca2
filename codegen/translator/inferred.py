"""What mypy knows of the modules that are translated: the type of every expression, and whether they are sound.

Types are mypy's, so a name has the type that it is narrowed to where it stands.  Here they become subset.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isgetsetdescriptor, ismemberdescriptor
from os import devnull
from pathlib import Path

from mypy import build, nodes
from mypy import types as checked
from mypy.errors import CompileError
from mypy.modulefinder import BuildSource
from mypy.options import Options

from .subset import ANY, BOOL, FLOAT, INT, NEVER, NONE, STR, Type, union

Span = tuple[int, int, int, int]
SIMPLE = {"int": INT, "float": FLOAT, "bool": BOOL, "str": STR, "object": ANY}
ARRAYS = ("Sequence", "MutableSequence", "Collection")
ITERABLES = {"Iterable", "Iterator", "Generator", "range", "reversed", "enumerate", "zip", "map", "filter"}
ITERABLES |= {"dict_values", "ValuesView", "dict_items", "ItemsView"}
SETS = ("set", "frozenset", "AbstractSet", "KeysView", "dict_keys")


def span(node: ast.AST) -> Span | None:
    """Where a node stands; None for one that the translator made."""
    if not isinstance(node, ast.expr | ast.pattern) or not hasattr(node, "lineno"):
        return None
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


@dataclass
class Inferred:
    """Of one module, by position.  names: what assigned and bound names are declared as.  errors: mypy's messages."""

    types: dict[Span, Type] = field(default_factory=dict)
    names: dict[Span, Type] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def inferred(modules: Mapping[str, Path], roots: Iterable[Path]) -> dict[str, Inferred]:
    """What is known of modules, by their full names.  roots: the folders that imports begin in."""
    options = Options()
    options.export_types = options.preserve_asts = options.check_untyped_defs = options.namespace_packages = True
    options.disallow_untyped_defs = options.disallow_incomplete_defs = options.disallow_any_generics = True
    options.explicit_package_bases, options.follow_imports, options.python_version = True, "skip", (3, 11)
    options.mypy_path, options.incremental, options.cache_dir = [str(r) for r in roots], False, devnull
    sources = [BuildSource(str(path), name, None) for name, path in modules.items()]
    try:
        result = build.build(sources, options)
    except CompileError as error:
        return {name: Inferred(errors=said(error.messages, path)) for name, path in modules.items()}
    made = {name: read(result.files[name], result.types) for name in modules}
    for name, path in modules.items():
        made[name].errors = said(result.errors, path)
    return made


def said(messages: list[str], path: Path) -> list[str]:
    """mypy's messages of a file, as the translator's own are."""
    found = []
    for message in messages:
        place, _, text = message.partition(": error: ")
        file, _, line = place.rpartition(":")
        if text and (Path(file).resolve() == path or not line.isdigit()):
            found.append(f"{path.name}:{line}: {text.rsplit('  [')[0]}")
    return found


ELSEWHERE = {"node", "info", "type", "analyzed", "names", "fullname", "var"}  # what is no part of a node's text


def parts(o: nodes.Node) -> Iterator[nodes.Node]:
    """What a node is made of.  (mypy's visitors are compiled, and no class here can be one of them.)"""
    own = getattr(o, "__dict__", {})  # where mypy is not compiled
    todo: list[object] = [getattr(o, name, None) for name in attributes(type(o))]
    todo += [value for name, value in own.items() if name not in ELSEWHERE]
    while todo:
        match todo.pop():
            case nodes.Node() as part:
                yield part
            case list() | tuple() as several:
                todo += several


ATTRIBUTES: dict[type, list[str]] = {}


def attributes(kind: type) -> list[str]:
    if kind not in ATTRIBUTES:
        found = [n for c in kind.__mro__ for n, d in vars(c).items() if isgetsetdescriptor(d) or ismemberdescriptor(d)]
        ATTRIBUTES[kind] = [n for n in found if n not in ELSEWHERE]
    return ATTRIBUTES[kind]


def read(tree: nodes.MypyFile, types: Mapping[nodes.Expression, checked.Type]) -> Inferred:
    """The types of a module's expressions."""
    found, seen = Inferred(), set()
    todo: list[nodes.Node] = [tree]
    while todo:
        o = todo.pop()
        if id(o) in seen:
            continue
        seen.add(id(o))
        todo += parts(o)
        if not isinstance(o, nodes.Expression) or o.end_line is None or o.end_column is None:
            continue
        at = o.line, o.column, o.end_line, o.end_column
        # a comprehension stands where its generator does
        if (t := types.get(o)) is not None and not (isinstance(o, nodes.GeneratorExpr) and at in found.types):
            found.types[at] = converted(t)
        if isinstance(o, nodes.NameExpr) and isinstance(o.node, nodes.Var) and o.node.type is not None:
            found.names.setdefault(at, converted(o.node.type))
    return found


def converted(t: checked.Type, inside: tuple[str, ...] = ()) -> Type:
    """A type of mypy as one of the subset's; ANY where the subset has none.  inside: the aliases that it is part of."""
    if isinstance(t, checked.TypeAliasType) and t.alias is not None and not t.args:
        full = t.alias.fullname
        module, _, name = full.rpartition(".")
        stands = ANY if full in inside else converted(checked.get_proper_type(t), (*inside, full))
        return ("alias", name, stands, module)
    t = checked.get_proper_type(t)
    match t:
        case checked.NoneType():
            return NONE
        case checked.UninhabitedType():
            return NEVER
        case checked.TypeVarType():
            return ("var", t.name)
        case checked.LiteralType():
            return ("literal", t.value) if isinstance(t.value, str) else converted(t.fallback, inside)
        case checked.UnionType():
            return union([converted(item, inside) for item in t.items])
        case checked.TupleType():
            return ("tuple", *(converted(item, inside) for item in t.items))
        case checked.CallableType():
            return ("fn", converted(t.ret_type, inside), *(converted(a, inside) for a in t.arg_types))
        case checked.Instance():
            return instance(t.type.fullname, [converted(a, inside) for a in t.args])
    return ANY


def instance(full: str, args: list[Type]) -> Type:
    module, _, name = full.rpartition(".")
    if module not in ("builtins", "typing", "_collections_abc", "collections.abc", "collections"):
        return ("cls", name, module)
    if name in SIMPLE:
        return SIMPLE[name]
    if name == "list":
        return ("list", args[0])
    if name == "bytes":
        return ("array", INT)
    if name == "tuple" or name in ARRAYS:
        return ("array", args[0])
    if name in ("dict", "Mapping", "MutableMapping"):
        return ("dict", *args)
    if name in SETS:
        return ("set", args[0])
    if name in ITERABLES:
        if name in ("dict_items", "ItemsView"):
            return ("iter", ("tuple", args[0], args[1]))
        if name == "enumerate":
            return ("iter", ("tuple", INT, args[0]))
        return ("iter", INT if name == "range" else args[1] if name == "dict_values" else args[0])
    return ANY if module != "builtins" else ("cls", name, module)
