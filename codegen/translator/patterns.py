"""`match` in TypeScript: cases become `if`, `else if` and `else`.  See statements.py."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from .definitions import Class
from .modules import class_named
from .precedence import AND, CALL, safe
from .subset import ANY, NEVER, Type, plain

if TYPE_CHECKING:
    from .writer import Writer

Bound = tuple[str, str, Type]  # a name, what it stands for, its type


def write_match(w: Writer, s: ast.Match, declared: set[str]) -> None:
    """What a pattern binds is declared first in its block, if that uses it more than once."""
    text, t = subject(w, s)
    for n, case in enumerate(s.cases):
        conditions, bound = pattern(w, case.pattern, text, t)
        if case.guard is not None:
            with w.x.standing({name: (place, kind) for name, place, kind in bound}):
                conditions.append(w.x.truth(case.guard, AND))
        w.comment_lines(case.pattern.lineno)
        if conditions:
            w.put(("} else " if n else "") + f"if ({' && '.join(conditions)}) {{")
        elif n:
            w.put("} else {")
        else:
            w.no(s, "a match whose first case is met by all")
        said = Counter(n.id for s in case.body for n in ast.walk(s) if isinstance(n, ast.Name))
        again = {
            n.id for s in case.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        once = {name: (p, kind) for name, p, kind in bound if said[name] == 1 and name not in again}
        with w.x.standing(once), w.x.scope({name: kind for name, _, kind in bound if name not in once}):
            w.depth += 1
            declare_bound(w, [(name, place) for name, place, _ in bound if said[name] and name not in once], again)
            w.depth -= 1
            w.block(case.body, declared | {name for name, _, _ in bound})
    w.put("}")


def subject(w: Writer, s: ast.Match) -> tuple[str, Type]:
    """What is matched, by a name.  A tuple that is written out is matched item by item, each of which has one."""
    if isinstance(s.subject, ast.Name):
        return w.x.text(s.subject), w.x.type_of(s.subject)
    if isinstance(s.subject, ast.Attribute) and isinstance(s.subject.value, ast.Name):
        return w.x.text(s.subject), w.x.type_of(s.subject)
    if isinstance(s.subject, ast.Tuple) and all(isinstance(e, (ast.Name, ast.Attribute)) for e in s.subject.elts):
        return "", ("items", *((w.x.text(e, CALL), w.x.type_of(e)) for e in s.subject.elts))
    w.put(f"const subject = {w.x.text(s.subject)};")
    return "subject", w.x.type_of(s.subject)


def declare_bound(w: Writer, bound: list[tuple[str, str]], again: set[str]) -> None:
    """Takes fields of one value apart in one statement."""
    taken: dict[str, list[str]] = {}
    for name, place in bound:
        owner, dot, field = place.rpartition(".")
        if not dot or not field.isidentifier() or name in again:
            w.put(f"{'let' if name in again else 'const'} {safe(name)} = {place};")
        else:
            taken.setdefault(owner, []).append(field if field == safe(name) else f"{field}: {safe(name)}")
    for owner, fields in taken.items():
        w.put(f"const {{ {', '.join(fields)} }} = {owner};")


def pattern(w: Writer, p: ast.pattern, text: str, t: Type) -> tuple[list[str], list[Bound]]:
    """What must hold for a value to meet a pattern, and what that binds."""
    match p:
        case ast.MatchAs(pattern=None, name=None):
            return [], []
        case ast.MatchAs(pattern=None, name=str(name)):
            return [], [(name, text, t)]
        case ast.MatchAs(pattern=ast.pattern() as inner, name=str(name)):
            conditions, bound = pattern(w, inner, text, t)
            kind = t
            if isinstance(inner, ast.MatchClass) and (c := named(w, inner)) is not None:
                kind = ("cls", c.name, c.module)
            return conditions, [*bound, (name, text, kind)]
        case ast.MatchSingleton(value=None):
            return [f"{text} === null"], []
        case ast.MatchSingleton(value=bool(value)):
            return [text if value else f"!{text}"], []
        case ast.MatchValue(value=value):
            if t[0] == "literal" and isinstance(value, ast.Constant) and value.value not in t[1:]:
                w.no(p, f"`{ast.unparse(value)}` is none of these texts")
            return [f"{text} === {w.x.text(value, CALL)}"], []
        case ast.MatchOr(patterns=patterns):
            parts = [pattern(w, q, text, t) for q in patterns]
            if any([b[:2] for b in bound] != [b[:2] for b in parts[0][1]] for _, bound in parts):
                w.no(p, "names that alternatives bind to different places")
            return [f"({' || '.join(' && '.join(conditions) or 'true' for conditions, _ in parts)})"], parts[0][1]
        case ast.MatchSequence(patterns=patterns) if t[0] == "items":
            parts = [pattern(w, q, *pair) for q, pair in zip(patterns, t[1:], strict=True)]
            return [c for cs, _ in parts for c in cs], [b for _, bs in parts for b in bs]
        case ast.MatchSequence(patterns=patterns) if plain(t)[0] in ("list", "array", "tuple"):
            return sequence(w, p, patterns, text, plain(t))
        case ast.MatchClass(cls=ast.Name(id="int" | "float" | "str" | "bool" as name), patterns=inside):
            js = {"int": "number", "float": "number", "str": "string", "bool": "boolean"}[name]
            bound = [(q.name, text, (name,)) for q in inside if isinstance(q, ast.MatchAs) and q.name]
            return [f'typeof {text} === "{js}"'], bound
        case ast.MatchClass() if (c := named(w, p)) is not None and not c.interface:
            w.x.used.add(ast.unparse(p.cls).split(".")[0])
            given = [*zip(c.fields, p.patterns, strict=False), *zip(p.kwd_attrs, p.kwd_patterns, strict=True)]
            parts = [pattern(w, q, f"{text}.{field}", field_type(w, q, c.fields.get(field, ANY))) for field, q in given]
            only = plain(t) == ("cls", c.name, c.module) and t[0] != "opt"
            test = [] if only and any(cs for cs, _ in parts) else [f"{text} instanceof {ast.unparse(p.cls)}"]
            return [*test, *(c for cs, _ in parts for c in cs)], [b for _, bs in parts for b in bs]
    w.no(p, "this pattern")


def field_type(w: Writer, q: ast.pattern, t: Type) -> Type:
    return ANY if t == NEVER else t


def named(w: Writer, p: ast.MatchClass) -> Class:
    return class_named(w.m, p, ast.unparse(p.cls))


def sequence(w: Writer, p: ast.AST, patterns: list[ast.pattern], text: str, t: Type) -> tuple[list[str], list[Bound]]:
    """Items by position, and `*rest` at the end."""
    rest = patterns[-1] if patterns and isinstance(patterns[-1], ast.MatchStar) else None
    fixed = patterns[: len(patterns) - (rest is not None)]
    if any(isinstance(q, ast.MatchStar) for q in fixed):
        w.no(p, "* before the end of a pattern")
    items = t[1:] if t[0] == "tuple" else (t[1],) * len(fixed)
    parts = [pattern(w, q, f"{text}[{n}]", i) for n, (q, i) in enumerate(zip(fixed, items, strict=False))]
    conditions = [c for cs, _ in parts for c in cs]
    bound = [b for _, bs in parts for b in bs]
    if rest is not None and rest.name is not None:
        bound.append((rest.name, f"{text}.slice({len(fixed)})", ("list", t[1])))
    if t[0] == "tuple":
        return conditions, bound
    return [f"{text}.length {'>=' if rest is not None else '==='} {len(fixed)}", *conditions], bound
