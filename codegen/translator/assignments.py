"""Assignments of the subset, translated to TypeScript."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .bindings import annotated, declared_type, reassigned
from .definitions import leaves
from .inferred import span
from .precedence import CALL, EMPTY, safe
from .subset import ANY, NEVER, STR, annotation, optional, plain

if TYPE_CHECKING:
    from .writer import Writer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .writer import Writer

SIGNS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


def hoist(w: Writer, s: ast.stmt, name: str, declared: set[str]) -> None:
    t = annotated(w, s, name) or declared_type(w, name, s)
    if t == ANY:
        w.no(s, f"the type of `{name}` is unknown; annotate its first assignment")
    w.put(f"let {safe(name)}: {w.x.ts(t)};")
    declared.add(name)
    w.x.local[name] = t


def delete(w: Writer, owner: ast.expr, key: ast.expr) -> None:
    t = w.x.kind(owner)
    if t[0] == "list":
        w.put(f"{w.x.text(owner, CALL)}.splice({w.x.text(key)}, 1);")
    elif plain(t[1]) == STR:
        w.put(f"delete {w.x.text(owner, CALL)}[{w.x.text(key)}];")
    else:
        w.put(f"{w.x.text(owner, CALL)}.delete({w.x.text(key)});")


def augmented(w: Writer, s: ast.AugAssign, target: ast.expr, op: ast.operator) -> None:
    t = plain(w.x.type_of(target) if not isinstance(target, ast.Name) else w.x.local.get(target.id, ANY))
    t = plain(w.x.type_of(target)) if t == ANY else t
    text = w.x.text(target)
    if t[0] in ("list", "array") and isinstance(op, ast.Add):
        if t[0] == "list":
            w.put(f"{text}.push(...{w.x.iterable(s.value, CALL)[0]});")
        else:
            w.put(f"{text} = [...{text}, {w.x.spread(s.value)}];")
    elif t[0] == "set" and isinstance(op, ast.BitOr):
        w.put(f"{w.x.helper('addAll')}({text}, {w.x.iterable(s.value)[0]});")
    elif t[0] == "dict" and isinstance(op, ast.BitOr) and plain(t[1]) == STR:
        w.put(f"Object.assign({text}, {w.x.text(s.value)});")
    elif isinstance(op, (ast.FloorDiv, ast.Mod)) or t not in (("int",), ("float",), STR):
        load = ast.copy_location(type(target)(**dict(ast.iter_fields(target))), target)
        whole = ast.BinOp(load, op, s.value)
        w.put(f"{text} = {w.x.text(whole)};")
    else:
        sign = SIGNS.get(type(op)) or w.no(s, "this operator")
        w.put(f"{text} {sign}= {w.x.text(s.value)};")


def keyword(w: Writer, name: str, s: ast.AST) -> str:
    return "let" if reassigned(w, name, s) else "const"


def annotated_assign(w: Writer, s: ast.AnnAssign, name: str, value: ast.expr | None, declared: set[str]) -> None:
    t = annotation(s.annotation, w.m.types, w.m.file)
    if value is None:
        w.put(f"let {safe(name)}: {w.x.ts(t)};")
    else:
        text = w.x.text(value, want=t)
        head = f"{safe(name)}" if name in declared else f"{keyword(w, name, s)} {safe(name)}: {w.x.ts(t)}"
        w.put(f"{head} = {text};")
    declared.add(name)
    w.x.local[name] = t


def assign(w: Writer, s: ast.AST, target: ast.expr, value: ast.expr, declared: set[str], also: str = "") -> None:
    """also: other targets, which are given the same value."""
    match target:
        case ast.Name(id=name):
            if name in declared:
                w.put(f"{safe(name)} = {also}{w.x.text(value, want=w.x.local[name])};")
                return
            t = w.m.inferred.names.get(span(target), ANY)  # type: ignore[arg-type]
            want = t if t not in (ANY, NEVER) else None
            text, own, _ = w.x.expr(value, want)
            t = w.x.type_of(value) if t == ANY else t
            if t == ANY and isinstance(value, ast.Lambda):
                w.no(s, f"`{name}`, a lambda whose parameters have no types: write `def`")
            if t == ANY or t[0] in ("list", "dict", "set") and t[1] in (ANY, NEVER, None):
                w.no(s, f"the type of `{name}` is unknown; annotate it")
            word = keyword(w, name, s)
            # TypeScript would widen a tuple to a list, and narrow a `let` to what it first holds.
            spelled = isinstance(value, (ast.Tuple, ast.Dict, ast.Lambda)) or optional(t) and word == "let"
            spelled |= text.startswith("{") and plain(t)[0] in ("cls", "dict") or text in ("[]", "new Set()", EMPTY)
            spelled |= word == "let" and plain(t)[0] in ("cls", "union", "array")
            t = own if own is not None and plain(own)[0] == "union" and plain(t)[0] == "union" else t
            w.put(f"{word} {safe(name)}{f': {w.x.ts(t)}' if spelled else ''} = {also}{text};")
            declared.add(name)
            w.x.local[name] = t
        case ast.Tuple(elts=targets) if isinstance(value, ast.Tuple) and independent(targets, value):
            for one, part in zip(targets, value.elts, strict=True):
                assign(w, s, one, part, declared)
        case ast.Tuple(elts=names) if all(isinstance(n, (ast.Name, ast.Starred)) for n in names):
            assign_names(w, s, target, value, declared)
        case ast.Tuple(elts=targets) if not any(isinstance(t, ast.Name) and t.id not in declared for t in targets):
            w.put(f"[{', '.join(map(w.x.text, targets))}] = {w.x.text(value)};")
        case ast.Tuple(elts=targets):
            w.no(s, "names and attributes of one value: assign them one by one")
        case ast.Attribute() | ast.Subscript():
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                w.no(s, "assignment to a slice")
            if isinstance(target, ast.Subscript) and (t := w.x.kind(target.value))[0] == "dict" and plain(t[1]) != STR:
                text = w.x.text(value, want=t[2])
                w.put(f"{w.x.text(target.value, CALL)}.set({w.x.text(target.slice)}, {also}{text});")
                return
            want = w.x.expr(target)[1]
            w.put(f"{w.x.text(target)} = {also}{w.x.text(value, want=want)};")
        case _:
            w.no(s, "this target of an assignment")


def independent(targets: list[ast.expr], value: ast.Tuple) -> bool:
    """Whether a value may be stored before the next one is computed: nothing that is stored is read, or may be."""
    stored = [leaf for t in targets for leaf in leaves(t)]
    read = {ast.unparse(n) for v in value.elts for n in ast.walk(v) if isinstance(n, (ast.Name, ast.Attribute))}
    calls = any(isinstance(n, ast.Call) for v in value.elts[1:] for n in ast.walk(v))
    own = all(isinstance(t, ast.Name) or ast.unparse(t).startswith("self.") for t in stored)
    return len(targets) == len(value.elts) and not read & {ast.unparse(t) for t in stored} and (own or not calls)


def assign_names(w: Writer, s: ast.AST, target: ast.Tuple, value: ast.expr, declared: set[str]) -> None:
    names = [n.value if isinstance(n, ast.Starred) else n for n in target.elts]
    ids = [n.id for n in names if isinstance(n, ast.Name)]
    t = w.x.kind(value)
    if t[0] in ("list", "array"):
        t = ("tuple", *(("list", t[1]) if isinstance(n, ast.Starred) else t[1] for n in target.elts))
    if t[0] != "tuple" or len(t) != len(ids) + 1:
        w.no(s, "the value does not fall into as many parts")
    new = [n for n in ids if n not in declared and n != "_"]
    stars = ["..." if isinstance(e, ast.Starred) else "" for e in target.elts]
    shown = ["" if n == "_" else star + safe(n) for n, star in zip(ids, stars, strict=True)]
    while shown and not shown[-1]:
        shown.pop()
    lhs = f"[{', '.join(shown)}]"
    text = w.x.text(value, want=t if isinstance(value, ast.Tuple) else None)
    for n, part, e in zip(ids, t[1:], names, strict=True):
        w.x.local.setdefault(n, w.m.inferred.names.get(span(e), part))  # type: ignore[arg-type]
    if not new:
        return w.put(f"{lhs} = {text};")
    for n in ids:
        if n in new and len(new) < len([i for i in ids if i != "_"]):
            w.put(f"let {safe(n)}: {w.x.ts(w.x.local[n])};")
    if len(new) < len([i for i in ids if i != "_"]):
        declared.update(new)
        return w.put(f"{lhs} = {text};")
    word = "let" if any(reassigned(w, n, s) for n in new) else "const"
    spelled = isinstance(value, ast.Tuple) and word == "let" or isinstance(value, ast.Tuple) and "[]" in text
    parts = [w.x.local[n] for n in ids]
    types = f": [{', '.join(map(w.x.ts, parts))}]" if spelled else ""
    w.put(f"{word} {lhs}{types} = {text};")
    declared.update(new)
    for n, part in zip(ids, parts, strict=True):
        w.x.local[n] = part
