"""Statements of the host subset, translated to TypeScript; see translate.py."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache

from .expressions import AND, CALL, TERNARY, safe
from .subset import INT, NONE, STR, Refused, annotation, join, optional, plain


def uses(node: ast.AST) -> set[str]:
    """The names a statement reads or assigns, but for those that its own loops bind."""
    bound = {
        n.id
        for loop in ast.walk(node)
        if isinstance(loop, (ast.For, ast.comprehension))
        for n in ast.walk(loop.target)
        if isinstance(n, ast.Name)
    }
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - bound


def assigned(node: ast.AST) -> dict[str, list[ast.AST]]:
    """The plain names a statement assigns anywhere inside, in order, with the assignments."""
    out: dict[str, list[ast.AST]] = {}
    for n in ast.walk(node):
        if isinstance(n, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            for t in targets:
                for name in t.elts if isinstance(t, ast.Tuple) else [t]:
                    if isinstance(name, ast.Name):
                        out.setdefault(name.id, []).append(n)
    return out


def reassigned(w, name: str, s: ast.stmt) -> bool:
    """Whether a name assigned by s is assigned again in the function (so it is `let`)."""
    return any(n is not s for n in assigned_in(w.current).get(name, ()))


@lru_cache(maxsize=1)
def assigned_in(function: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    return assigned(function)


def statement(w, s: ast.stmt, declared: set[str], later: set[str]):
    """Writes s.  `later`: names that later statements of the block use."""
    compound = isinstance(s, (ast.If, ast.For, ast.While, ast.Match))
    if compound:
        # What a compound statement assigns and a later statement uses is declared before it.
        for name, places in assigned(s).items():
            if name not in declared and name in later:
                t = None
                for p in places:
                    t = join(t, place_type(w, s, p, name))
                if t is None:
                    w.no(s, f"the type of `{name}` is unknown; annotate its first assignment")
                w.put(f"let {safe(name)}: {w.ts(t)};")
                declared.add(name)
                w.x.local[name] = t
    match s:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Expr(value=ast.Call()):
            w.put(w.x.text(s.value) + ";")
        case ast.Assign(targets=[target]):
            assign(w, s, target, s.value, declared)
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            t = annotation(s.annotation, w.m.types, w.m.file)
            text = w.x.text(s.value, want=t)
            if name in declared:
                w.put(f"{safe(name)} = {text};")
            else:
                w.put(f"{keyword(w, name, s)} {safe(name)}: {w.ts(t)} = {text};")
            declared.add(name)
            w.x.local[name] = t
        case ast.AugAssign(target=target, op=op):
            if isinstance(op, (ast.FloorDiv, ast.Mod)) or plain(w.x.expr(target)[1]) not in (("int",), ("float",), STR):
                whole = ast.copy_location(ast.BinOp(target, op, s.value), s)
                if plain(w.x.expr(target)[1])[0] == "list":
                    w.put(f"{w.x.text(target)}.push(...{w.x.text(s.value, CALL)});")
                else:
                    w.put(f"{w.x.text(target)} = {w.x.text(whole)};")
            else:
                sign = {
                    ast.Add: "+",
                    ast.Sub: "-",
                    ast.Mult: "*",
                    ast.Div: "/",
                    ast.Pow: "**",
                    ast.BitOr: "|",
                    ast.BitAnd: "&",
                    ast.LShift: "<<",
                    ast.RShift: ">>",
                }.get(type(op)) or w.no(s, "this operator")
                w.put(f"{w.x.text(target)} {sign}= {w.x.text(s.value)};")
        case ast.Return(value=None):
            w.put("return;")
        case ast.Return(value=value):
            w.put(f"return {w.x.text(value, want=w.result)};")
        case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=[message]), cause=None):
            w.x.used.add(name)
            w.put(f"throw new {name}({w.x.text(message)});")
        case ast.Break():
            w.put("break;")
        case ast.Continue():
            w.put("continue;")
        case ast.Pass():
            return
        case ast.Delete(targets=[ast.Subscript(value=owner, slice=key)]):
            if w.x.kind(owner)[0] == "list":
                w.put(f"{w.x.text(owner, CALL)}.splice({w.x.text(key)}, 1);")
            else:
                w.put(f"delete {w.x.text(owner, CALL)}[{w.x.text(key)}];")
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
        case _:
            w.no(s, f"{type(s).__name__} is not in the host subset")
    if not compound:
        w.trailing(s)


def place_type(w, s, p, name):
    """The type of what the assignment p inside s gives to `name`; None where it cannot be known yet."""
    if isinstance(p, ast.AnnAssign):
        return annotation(p.annotation, w.m.types, w.m.file)
    if isinstance(p, ast.AugAssign):
        return None
    try:
        t = w.x.expr(p.value)[1]
    except Refused:  # its value uses names that are bound only inside s
        return None
    if isinstance(p.targets[0], ast.Tuple):
        names = [e.id for e in p.targets[0].elts]
        return t[1 + names.index(name)] if t and t[0] == "tuple" else None
    return t


def keyword(w, name: str, s) -> str:
    return "let" if reassigned(w, name, s) else "const"


def assign(w, s, target, value, declared: set[str]):
    match target:
        case ast.Name(id=name):
            if name in declared:
                w.put(f"{safe(name)} = {w.x.text(value, want=w.x.local[name])};")
                return
            text, t, _ = w.x.expr(value)
            if t is None or t == NONE or t[0] in ("list", "dict") and t[1] is None:
                w.no(s, f"the type of `{name}` is unknown; annotate it")
            word = keyword(w, name, s)
            # TypeScript would widen a tuple to a list, and narrow a `let` to what it first holds.
            spelled = (
                f": {w.ts(t)}" if isinstance(value, (ast.Tuple, ast.Dict)) or optional(t) and word == "let" else ""
            )
            if text.startswith("{") and t[0] in ("cls", "dict"):
                spelled = f": {w.ts(t)}"
            w.put(f"{word} {safe(name)}{spelled} = {text};")
            declared.add(name)
            w.x.local[name] = t
        case ast.Tuple(elts=names) if all(isinstance(n, ast.Name) for n in names):
            t = w.x.kind(value)
            if t[0] != "tuple" or len(t) != len(names) + 1:
                w.no(s, "the value does not fall into as many parts")
            new = [n.id for n in names if n.id not in declared]
            lhs = f"[{', '.join(safe(n.id) for n in names)}]"
            text = w.x.text(value)
            for n, part in zip(names, t[1:]):
                w.x.local.setdefault(n.id, part)
            if not new:
                w.put(f"{lhs} = {text};")
            elif len(new) < len(names):
                w.no(s, "some of these names are new and some are not")
            else:
                word = "let" if any(reassigned(w, n, s) for n in new) else "const"
                w.put(f"{word} {lhs} = {text};")
                declared.update(new)
                for n, part in zip(names, t[1:]):
                    w.x.local[n.id] = part
        case ast.Attribute() | ast.Subscript():
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                w.no(s, "assignment to a slice")
            want = w.x.expr(target)[1]
            w.put(f"{w.x.text(target)} = {w.x.text(value, want=want)};")
        case _:
            w.no(s, "this target of an assignment")


def write_if(w, s: ast.If, declared, word: str):
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
    if word == "if" and not s.orelse and s.body[0].lineno == s.lineno and len(w.lines) == start + 2:
        one = w.lines[start][:-1] + w.lines.pop().strip()  # as short as Python's
        if len(one) <= 118:
            w.lines[start] = one
            return
        w.lines.append("  " * w.depth + "  " + one[len(w.lines[start]) - 1 :])
    w.put("}")


def write_for(w, s: ast.For, declared):
    """Counting loops become `for (let i...)`, loops over lists `for (const x of ...)`."""
    inner = set(declared)
    before = dict(w.x.local)
    first: list[str] = []

    def bind(target, t):
        param, names = w.x.pattern(target, t)
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
        case ast.Call(func=ast.Name(id="enumerate"), args=[xs]) if isinstance(s.target, ast.Tuple) and not is_pairing(
            xs
        ):
            source, t = w.x.source(xs)
            if not isinstance(xs, (ast.Name, ast.Attribute)):
                w.put(f"const {safe(s.target.elts[0].id)}_items = {source};")
                source = f"{safe(s.target.elts[0].id)}_items"
            i = bind(s.target.elts[0], INT)
            x = bind(s.target.elts[1], t)
            head, first = f"for (let {i} = 0; {i} < {source}.length; {i}++)", [f"const {x} = {source}[{i}];"]
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range"), args=[n])]):
            i = bind(s.target, INT)
            head = f"for (let {i} = {w.x.text(n, 10)} - 1; {i} >= 0; {i}--)"
        case _:
            source, t = w.x.source(s.iter)
            head = f"for (const {bind(s.target, t)} of {source})"
    w.put(head + " {")
    w.trailing_head(s)
    w.depth += 1
    for line in first:
        w.put(line)
    w.depth -= 1
    w.block(s.body, inner)
    w.put("}")
    w.x.local = before


def is_pairing(node) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("zip", "range", "enumerate")
    )


# --- Patterns --------------------------------------------------------------------------------------

Bound = tuple[str, str, tuple]  # a name, what it stands for, its type


def write_match(w, s: ast.Match, declared):
    """Cases become `if`, `else if` and `else`; what a pattern binds is declared first in its block, if that uses it
    more than once."""
    subject = s.subject
    if not isinstance(subject, ast.Name):
        text, t, _ = w.x.expr(subject)
        w.put(f"const subject = {text};")
    else:
        text, t = w.x.text(subject), w.x.expr(subject)[1]
    text = "subject" if not isinstance(subject, ast.Name) else text
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
        once = {name: (place, kind) for name, place, kind in bound if said[name] == 1}
        with w.x.standing(once), w.x.scope({name: kind for name, _, kind in bound if name not in once}):
            w.depth += 1
            declare_bound(w, [(name, place) for name, place, _ in bound if said[name] > 1])
            w.depth -= 1
            w.block(case.body, declared | {name for name, _, _ in bound})
    w.put("}")


def declare_bound(w, bound: list[tuple[str, str]]):
    """Takes fields of one value apart in one statement."""
    taken: dict[str, list[str]] = {}
    for name, place in bound:
        owner, dot, field = place.rpartition(".")
        if not dot or not field.isidentifier():
            w.put(f"const {safe(name)} = {place};")
        else:
            taken.setdefault(owner, []).append(field if field == safe(name) else f"{field}: {safe(name)}")
    for owner, fields in taken.items():
        w.put(f"const {{ {', '.join(fields)} }} = {owner};")


def pattern(w, p: ast.pattern, text: str, t) -> tuple[list[str], list[Bound]]:
    """What must hold for a value to meet a pattern, and what that binds."""
    match p:
        case ast.MatchAs(pattern=None, name=None):
            return [], []
        case ast.MatchAs(pattern=None, name=name):
            return [], [(name, text, t)]
        case ast.MatchAs(pattern=inner, name=name):
            conditions, bound = pattern(w, inner, text, t)
            kind = w.x.types[inner.cls.id] if isinstance(inner, ast.MatchClass) else t
            return conditions, [*bound, (name, text, kind)]
        case ast.MatchSingleton(value=None):
            return [f"{text} === null"], []
        case ast.MatchValue(value=value):
            return [f"{text} === {w.x.text(value, CALL)}"], []
        case ast.MatchOr(patterns=patterns):
            parts = [pattern(w, q, text, t) for q in patterns]
            if any(bound for _, bound in parts):
                w.no(p, "names bound by alternatives")
            return [f"({' || '.join(' && '.join(conditions) for conditions, _ in parts)})"], []
        case ast.MatchSequence(patterns=patterns) if plain(t)[0] == "list":
            parts = [pattern(w, q, f"{text}[{n}]", plain(t)[1]) for n, q in enumerate(patterns)]
            return [f"{text}.length === {len(patterns)}", *(c for cs, _ in parts for c in cs)], [
                b for _, bs in parts for b in bs
            ]
        case ast.MatchClass(cls=ast.Name(id=name)) if name in w.x.classes and w.x.classes[name].frozen:
            fields = w.x.classes[name]
            w.x.used.add(name)
            given = [*zip(fields, p.patterns), *zip(p.kwd_attrs, p.kwd_patterns)]
            parts = [pattern(w, q, f"{text}.{field}", fields[field]) for field, q in given]
            return [f"{text} instanceof {name}", *(c for cs, _ in parts for c in cs)], [
                b for _, bs in parts for b in bs
            ]
    w.no(p, "this pattern")
