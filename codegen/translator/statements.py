"""Statements of the subset, translated to TypeScript; see translate.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from .expressions import CALL, EMPTY, TERNARY, UNARY, safe
from .inferred import span
from .modules import leaves
from .patterns import write_match
from .sequences import pattern as target_pattern
from .subset import ANY, INT, NEVER, STR, Type, annotation, optional, plain

if TYPE_CHECKING:
    from .translate import Writer

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


def within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and its parts, but those of functions that are defined in it."""
    yield node
    for n in ast.iter_child_nodes(node):
        if isinstance(n, ast.FunctionDef):
            continue
        yield from within(n)


def uses(node: ast.AST) -> set[str]:
    """The names a statement reads or assigns, but for those that its own loops bind."""
    bound = {
        n.id
        for loop in ast.walk(node)
        if isinstance(loop, (ast.For, ast.comprehension))
        for n in ast.walk(loop.target)
        if isinstance(n, ast.Name)
    }
    named = {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - bound | named


def assigned(node: ast.AST) -> dict[str, list[ast.AST]]:
    """The plain names a statement assigns anywhere inside, in order, with the assignments.  What a function inside
    assigns is its own, but for what it says `nonlocal` of."""
    out: dict[str, list[ast.AST]] = {}
    for n in within(node):
        if isinstance(n, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            for target in (leaf for t in targets for leaf in leaves(t)):
                one = target.value if isinstance(target, ast.Starred) else target
                if isinstance(one, ast.Name):
                    out.setdefault(one.id, []).append(n)
    for f in ast.walk(node):
        if isinstance(f, ast.FunctionDef) and f is not node:
            names = {n for s in ast.walk(f) if isinstance(s, ast.Nonlocal) for n in s.names}
            for name, places in assigned(f).items() if names else ():
                if name in names:
                    out.setdefault(name, []).extend(places)
    return out


def reassigned(w: Writer, name: str, s: ast.AST) -> bool:
    """Whether a name assigned by s is assigned again in the function (so it is `let`)."""
    return any(n is not s for n in assigned_in(w.current).get(name, ()))


@lru_cache(maxsize=4)
def assigned_in(function: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    return assigned(function)


def declared_type(w: Writer, name: str, s: ast.AST) -> Type:
    """The type of a name that s assigns anywhere inside, as mypy knows it where it is first assigned."""
    for n in within(s):
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store):
            found = w.m.inferred.names.get(span(n)) or w.m.inferred.types.get(span(n))  # type: ignore[arg-type]
            if found is not None and found != ANY:
                return found
    return ANY


def hoist(w: Writer, s: ast.stmt, name: str, declared: set[str]) -> None:
    t = annotated(w, s, name) or declared_type(w, name, s)
    if t == ANY:
        w.no(s, f"the type of `{name}` is unknown; annotate its first assignment")
    w.put(f"let {safe(name)}: {w.x.ts(t)};")
    declared.add(name)
    w.x.local[name] = t


def annotated(w: Writer, s: ast.stmt, name: str) -> Type | None:
    for n in within(s):
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.target.id == name:
            return annotation(n.annotation, w.m.types, w.m.file)
    return None


def statement(w: Writer, s: ast.stmt, declared: set[str], later: set[str]) -> None:
    """Writes s.  `later`: names that later statements of the block use."""
    compound = isinstance(s, (ast.If, ast.For, ast.While, ast.Match, ast.Try, ast.FunctionDef))
    if compound and not isinstance(s, ast.FunctionDef):
        # What a compound statement assigns and a later statement uses is declared before it.
        for name in assigned(s):
            if name not in declared and name in later:
                hoist(w, s, name, declared)
    inner = [n for f in within(s) for n in named_expressions(f)] if compound else named_expressions(s)
    for c in within(s):
        if isinstance(c, ast.comprehension) and named_expressions(c):
            w.no(s, "`:=` in a comprehension: its conditions are asked of all items first")
    for n in inner:
        if n not in declared and (not compound or n in heads(s)):
            hoist(w, s, n, declared)
    match s:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Expr(value=ast.Call()):
            w.put(w.x.text(s.value) + ";")
        case ast.Expr(value=ast.Yield(value=value)) if value is not None:
            w.put(f"yield {w.x.text(value)};")
        case ast.Expr(value=ast.YieldFrom(value=value)):
            w.put(f"yield* {w.x.iterable(value, UNARY)[0]};")
        case ast.Assign(targets=[target]):
            assign(w, s, target, s.value, declared)
        case ast.Assign(targets=targets) if all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets[1:]):
            rest = [w.x.text(t) for t in targets[1:]]
            assign(w, s, targets[0], s.value, declared, " = ".join([*rest, ""]))
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as place, ast.Name(id=name) as target]):
            assign(w, s, target, s.value, declared)
            assign(w, s, place, ast.copy_location(ast.Name(name), target), declared)
        case ast.Assign(targets=[*others, ast.Name(id=name) as last], value=value) if all(map(is_name, others)):
            assign(w, s, last, value, declared)
            for other in others:
                same = value if isinstance(value, ast.Constant) else ast.copy_location(ast.Name(name), last)
                assign(w, s, other, same, declared)
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            annotated_assign(w, s, name, value, declared)
        case ast.AnnAssign(target=ast.Attribute() as place, value=value) if value is not None:
            want = annotation(s.annotation, w.m.types, w.m.file)
            w.put(f"{w.x.text(place)} = {w.x.text(value, want=want)};")
        case ast.AugAssign(target=target, op=op):
            augmented(w, s, target, op)
        case ast.Return(value=None):
            w.put("return;")
        case ast.Return(value=value) if value is not None:
            w.put(f"return {w.x.text(value, want=w.result)};")
        case ast.Raise():
            w.put(f"throw {raised(w, s)};")
        case ast.Assert(test=test):
            w.put(f"{w.x.helper('assertTrue')}({w.x.truth(test)});")
        case ast.Break():
            w.put("break;")
        case ast.Continue():
            w.put("continue;")
        case ast.Pass() | ast.Nonlocal():
            return
        case ast.Delete(targets=[ast.Subscript(value=owner, slice=key)]):
            delete(w, owner, key)
        case ast.If():
            write_if(w, s, declared, "if")
        case ast.While(orelse=[]):
            w.put(f"while ({w.x.truth(s.test)}) {{")
            w.trailing_head(s)
            w.block(s.body, declared)
            w.put("}")
        case ast.For(orelse=[]):
            write_for(w, s, declared)
        case ast.Match():
            write_match(w, s, declared)
        case ast.Try(orelse=[]):
            write_try(w, s, declared)
        case ast.FunctionDef(decorator_list=[]):
            w.inner_function(s, declared)
        case _:
            w.no(s, f"{type(s).__name__} is not in the subset that is translated")
    if not compound:
        w.trailing(s)


def is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def named_expressions(node: ast.AST) -> list[str]:
    """The names that `:=` binds in an expression or a simple statement."""
    return [n.target.id for n in within(node) if isinstance(n, ast.NamedExpr)]


def heads(s: ast.stmt) -> set[str]:
    """The names that `:=` binds in the conditions of a compound statement, and in what a loop goes through."""
    match s:
        case ast.If(test=test, orelse=orelse):
            chained = [n for o in orelse if isinstance(o, ast.If) for n in heads(o)] if len(orelse) == 1 else []
            return {*named_expressions(test), *chained}
        case ast.While(test=test):
            return set(named_expressions(test))
        case ast.For(iter=iterated):
            return set(named_expressions(iterated))
        case ast.Match(subject=subject, cases=cases):
            return {*named_expressions(subject), *(n for c in cases if c.guard for n in named_expressions(c.guard))}
    return set()


def raised(w: Writer, s: ast.Raise) -> str:
    match s.exc:
        case None:
            return "error"
        case ast.Call(
            func=ast.Name(id="NotImplementedError" | "AssertionError" | "ValueError" | "TypeError"), args=args
        ):
            return f"new Error({', '.join(map(w.x.text, args))})"
        case ast.Call() as made:
            return w.x.text(made)
        case ast.Name(id=name) if name in w.x.local:
            return safe(name)
    w.no(s, "`raise` of this")


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


def write_if(w: Writer, s: ast.If, declared: set[str], word: str) -> None:
    start = len(w.lines)
    w.put(f"{word} ({w.x.truth(s.test)}) {{" if word == "if" else f"}} else if ({w.x.truth(s.test)}) {{")
    w.trailing_head(s)
    w.block(s.body, declared)
    if len(s.orelse) == 1 and isinstance(s.orelse[0], ast.If) and s.orelse[0].col_offset == s.col_offset:
        w.depth += 1
        w.comment_lines(s.orelse[0].lineno)
        w.depth -= 1
        return write_if(w, s.orelse[0], declared, "else if")
    if s.orelse:
        w.put("} else {")
        w.block(s.orelse, declared)
    simple = len(w.lines) == start + 2 and not isinstance(s.body[0], (ast.If, ast.For, ast.While, ast.Match))
    if word == "if" and not s.orelse and simple and "//" not in w.lines[start]:
        one = w.lines[start][:-1] + w.lines[start + 1].strip()
        if len(one) <= 100 and w.lines[start + 1].strip().startswith(("return", "throw", "continue", "break")):
            w.lines[start:] = [one]
            return
    w.put("}")


def write_try(w: Writer, s: ast.Try, declared: set[str]) -> None:
    """One `except` for one or several classes, or `finally`."""
    w.put("try {")
    w.block(s.body, declared)
    if len(s.handlers) > 1:
        w.no(s, "several `except`")
    for h in s.handlers:
        kinds = h.type.elts if isinstance(h.type, ast.Tuple) else [h.type] if h.type is not None else []
        names = [k.id for k in kinds if isinstance(k, ast.Name) and k.id in w.m.classes]
        if not names or len(names) < len(kinds):
            w.no(h, "`except` takes classes of the modules that are translated")
        w.x.used.update(names)
        error = safe(h.name) if h.name else "error"
        w.put(f"}} catch ({error}) {{")
        tests = " || ".join(f"{error} instanceof {n}" for n in names)
        w.depth += 1
        w.put(f"if (!({tests})) throw {error};")
        w.depth -= 1
        with w.x.scope({h.name: w.m.types[names[0]]} if h.name else {}):
            w.block(h.body, declared | ({h.name} if h.name else set()))
    if s.finalbody:
        w.put("} finally {")
        w.block(s.finalbody, declared)
    w.put("}")


def write_for(w: Writer, s: ast.For, declared: set[str]) -> None:
    """Counting loops become `for (let i...)`, loops over others `for (const x of ...)`."""
    inner = set(declared)
    before = dict(w.x.local)
    first: list[str] = []

    def bind(target: ast.expr, t: Type) -> str:
        param, names = target_pattern(w.x, target, t)
        w.x.local.update(names)
        inner.update(names)
        return param

    match s.iter:
        case ast.Call(func=ast.Name(id="range"), args=args):
            low = w.x.text(args[0]) if len(args) > 1 else "0"
            high = w.x.text(args[1] if len(args) > 1 else args[0], TERNARY + 1)
            step = ast.unparse(args[2]) if len(args) > 2 else "1"
            i = bind(s.target, INT)
            if step == "1":
                head = f"for (let {i} = {low}; {i} < {high}; {i}++)"
            elif step == "-1":
                head = f"for (let {i} = {low}; {i} > {high}; {i}--)"
            elif step.isdigit():
                head = f"for (let {i} = {low}; {i} < {high}; {i} += {step})"
            else:
                w.no(s, "the step of a range must be a constant")
        case ast.Call(func=ast.Name(id="enumerate"), args=[xs]) if isinstance(s.target, ast.Tuple) and plain_list(
            w, xs
        ):
            source, t = w.x.source(xs)
            if not isinstance(xs, (ast.Name, ast.Attribute)):
                name = f"{safe(ast.unparse(s.target.elts[0]))}_items"
                w.put(f"const {name} = {source};")
                source = name
            i = bind(s.target.elts[0], INT)
            x = bind(s.target.elts[1], t)
            head, first = f"for (let {i} = 0; {i} < {source}.length; {i}++)", [f"const {x} = {source}[{i}];"]
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range"), args=[n])]):
            i = bind(s.target, INT)
            head = f"for (let {i} = {w.x.text(n, 10)} - 1; {i} >= 0; {i}--)"
        case _:
            source, t = w.x.iterable(s.iter)
            own = {n.id for n in ast.walk(s.target) if isinstance(n, ast.Name)}
            word = "let" if own & assigned(s).keys() else "const"
            head = f"for ({word} {bind(s.target, t)} of {source})"
    w.put(head + " {")
    w.trailing_head(s)
    w.depth += 1
    for line in first:
        w.put(line)
    w.depth -= 1
    w.block(s.body, inner)
    w.put("}")
    w.x.local = before


def plain_list(w: Writer, node: ast.expr) -> bool:
    """Whether what is gone through is an array as it stands."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("zip", "range", "enumerate"):
        return False
    return w.x.kind(node)[0] in ("list", "array", "tuple")
