"""Statements of the subset, translated to TypeScript; see translate.py."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .assignments import annotated_assign, assign, augmented, delete, hoist
from .bindings import assigned, heads, is_name, named_expressions, within
from .patterns import write_match
from .precedence import TERNARY, UNARY, safe
from .sequences import pattern as target_pattern
from .subset import INT, Type, annotation

if TYPE_CHECKING:
    from .writer import Writer


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
        case ast.Call(func=ast.Name(id="enumerate"), args=[xs], keywords=[]) if isinstance(
            s.target, ast.Tuple
        ) and plain_list(w, xs):
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
