"""Lark's tree to the syntax tree of `dsl.syntax`, each node with its span.

Only shape is decided here, no meaning; numbers are read, strings lose their quotes, and texts between
three quotes lose their common indentation."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import dedent

from lark import Token, v_args
from lark.visitors import Transformer_NonRecursive

from .syntax import (
    Assign,
    Binder,
    Code,
    Def,
    Dim,
    Launch,
    Let,
    Module,
    Op,
    Output,
    Param,
    Repeat,
    Require,
    Sample,
    Schedule,
    Scratch,
    Setting,
    Size,
    Test,
    Type,
    X,
)

# Clauses that an op may have only once, and what they are called.
ONCE = {"doc": "text", "family": "`for`", "nograd": "`nograd`", "foreach": "`foreach`", "numbers": "`numbers`"}


class Unreadable(Exception):
    """A token that the grammar allows but that cannot be read; `span` is its place."""

    def __init__(self, message: str, span):
        super().__init__(message)
        self.message, self.span = message, span


def place(meta):
    return (0, 0) if meta.empty else (meta.start_pos, meta.end_pos)


def token_place(t: Token):
    return (t.start_pos, t.end_pos)


def text(t: Token | None) -> str | None:
    return None if t is None else str(t)


def given(children) -> tuple:
    return tuple(c for c in children if c is not None)


def number(t: Token) -> int | float:
    if len(t) > 40:
        raise Unreadable("this number is too long", token_place(t))
    if t.startswith("0x"):
        value = int(t, 16)
    else:
        value = float(t) if any(c in t for c in ".eE") else int(t)
    if isinstance(value, int) and value > 2**31:
        raise Unreadable(
            f"this whole number does not fit into 32 bits; as a float it is  {float(value)!r}", token_place(t)
        )
    if value == float("inf"):
        raise Unreadable("this number is too large", token_place(t))
    return value


def quoted(t: Token) -> str:
    return cleandoc(t[3:-3]) if t.startswith('"""') else str(t[1:-1]).strip()


@v_args(meta=True)
class Build(Transformer_NonRecursive):
    """One method for each rule or alias of grammar/op.lark."""

    # Expressions
    def number(self, m, c):
        return X("num", (), number(c[0]), place(m))

    def name(self, m, c):
        return X("name", (), str(c[0]), place(m))

    def string(self, m, c):
        return X("str", (), str(c[0][1:-1]), place(m))

    def list(self, m, c):
        return X("list", given(c), None, place(m))

    def call(self, m, c):
        return X("call", given(c[1:]), str(c[0]), place(m))

    def keyword(self, m, c):
        return X("kw", (c[1],), str(c[0]), place(m))

    def field(self, m, c):
        return X("field", (c[0],), str(c[1]), place(m))

    def access(self, m, c):
        return X("read", (c[0], *c[1]), None, place(m))

    def index_list(self, m, c):
        return given(c)

    def spread(self, m, c):
        return X("spread", (c[0],), None, place(m))

    def or_else(self, m, c):
        return X("??", (c[0], c[1]), None, place(m))

    def sign(self, m, c):
        return X("neg" if c[0] == "-" else "~", (c[1],), None, place(m))

    def binary(self, m, c):
        return X(str(c[1]), (c[0], c[2]), None, place(m))

    def negation(self, m, c):
        return X("not", (c[0],), None, place(m))

    def both(self, m, c):
        return X("and", (c[0], c[1]), None, place(m))

    def either(self, m, c):
        return X("or", (c[0], c[1]), None, place(m))

    def conditional(self, m, c):
        return X("if", (c[1], c[0], c[2]), None, place(m))

    def chain(self, m, c):
        """`a <= i < b` is `a <= i and i < b`."""
        parts = [X(str(op), (a, b), None, (a.span[0], b.span[1])) for a, op, b in zip(c[::2], c[1::2], c[2::2])]
        e = X(parts[0].kind, parts[0].args, None, place(m)) if len(parts) == 1 else parts[0]
        for p in parts[1:]:
            e = X("and", (e, p), None, place(m))
        return e

    def binders(self, m, c):
        return tuple(c)

    def binder(self, m, c):
        return Binder(str(c[0]), False, None, c[1], place(m))

    def ranged(self, m, c):
        return Binder(str(c[0]), False, c[1], c[2], place(m))

    def pack_binder(self, m, c):
        return Binder(str(c[0]), True, None, c[1], place(m))

    def reduction(self, m, c):
        return X("reduce", (c[3],), (str(c[0]), c[1], c[2]), place(m))

    # Signature
    def dims(self, m, c):
        return given(c)

    def size_dim(self, m, c):
        return Dim("size", expr=c[0], when=c[1] if len(c) > 1 else None, span=place(m))

    def flat_dim(self, m, c):
        return Dim("size", expr=X("name", (), str(c[0]), token_place(c[0])), flat=True, span=place(m))

    def pack_dim(self, m, c):
        return Dim("pack", str(c[0]), rank=text(c[1]), when=c[2], span=place(m))

    def split_dim(self, m, c):
        return Dim("split", factors=c[0].factors, when=c[1], span=place(m))

    def chosen_dim(self, m, c):
        return Dim("chosen", of=c[0], at=str(c[1]), when=c[2], span=place(m))

    def chosen_size(self, m, c):
        return Dim("size", expr=c[0], span=place(m))

    def split(self, m, c):
        return Dim("split", factors=tuple(c), span=place(m))

    def factor(self, m, c):
        return str(c[0])

    def type(self, m, c):
        return Type(str(c[0]), c[1], c[3] is not None, (), text(c[2]) or "", place(m))

    def choices(self, m, c):
        return tuple(str(t[1:-1]) for t in c)

    def choice(self, m, c):
        return Type("choice", None, c[1] is not None, c[0], span=place(m))

    def param(self, m, c):
        return Param(str(c[1]), c[2], c[3], c[0] is not None, span=place(m))

    def keyword_only(self, m, c):
        return place(m)

    def output_type(self, m, c):
        return c[0] if isinstance(c[0], Type) else Type("", c[0], span=place(m))

    def output(self, m, c):
        return Output(str(c[0]), c[1], place(m))

    def drop(self, m, c):
        return (str(c[0]), text(c[1]))

    def single(self, m, c):
        return (Output("out", c[0], place(m)),), c[1]

    def several(self, m, c):
        return tuple(c[:-1]), c[-1]

    # Clauses
    def names(self, m, c):
        return tuple(map(str, c))

    def doc(self, m, c):
        return ("doc", quoted(c[0]), place(m))

    def path(self, m, c):
        return ".".join(map(str, c))

    def alias(self, m, c):
        return ("aliases", tuple(c), place(m))

    def setting(self, m, c):
        return Setting(str(c[0]), str(c[1] or c[0]), c[2], place(m))

    def module(self, m, c):
        text = None if c[-1] is None else str(c[-1])[1:-1]
        return ("modules", Module(str(c[0]), tuple(s for s in c[1:-1] if s is not None), text, place(m)), place(m))

    def family(self, m, c):
        return ("family", (str(c[0]), tuple(map(number, c[1:]))), place(m))

    def size(self, m, c):
        return ("sizes", Size(str(c[1]), c[0] is not None, c[2], place(m)), place(m))

    def require(self, m, c):
        return ("requires", Require(c[0], str(c[1][1:-1]), place(m)), place(m))

    def sample(self, m, c):
        bounds = (c[3], c[5]) if len(c) == 6 else (None, None)
        return ("samples", Sample(str(c[1]), *bounds, place(m)), place(m))

    def target(self, m, c):
        return c[0], c[1]

    def assign(self, m, c):
        return ("body", self.assignment(m, c), place(m))

    def grad(self, m, c):
        return ("grads", self.assignment(m, c), place(m))

    def nograd(self, m, c):
        return ("nograd", c[0] or (), place(m))

    def test(self, m, c):
        return ("tests", Test(c[0], None if c[1] is None else str(c[1][1:-1]), place(m)), place(m))

    def language(self, m, c):
        return str(c[0])

    def code(self, m, c):
        return ("code", Code(c[0], dedent(str(c[1][3:-3])).strip("\n").rstrip(), place(m)), place(m))

    def scratch(self, m, c):
        return ("scratch", Scratch(str(c[0]), c[1], place(m)), place(m))

    def ignore(self, m, c):
        return ("ignored", c[0], place(m))

    def foreach(self, m, c):
        return ("foreach", True, place(m))

    def numbers(self, m, c):
        return ("numbers", True, place(m))

    def launch(self, m, c):
        name, step, steps, over, lanes = c
        return (
            "launches",
            Launch(str(name), text(step), steps, over, 0 if lanes is None else number(lanes), place(m)),
            place(m),
        )

    def assignment(self, m, c):
        (name, index), mode, value = c
        return Assign(str(name), index, str(mode), value, place(m), token_place(name))

    # Items
    def params(self, m, c):
        out, keyword = [], False
        for p in c:
            if isinstance(p, tuple):
                if keyword:
                    raise Unreadable("there is a second `*` among the parameters", p)
                keyword = True
            else:
                out.append(Param(p.name, p.type, p.default, p.mut, keyword, p.span))
        return tuple(out)

    def op(self, m, c):
        name, params, result, value, *clauses = c
        outputs, drop = result or ((Output("out", None, token_place(name)),), None)
        parts: dict[str, list] = {}
        if value is not None:
            parts["body"] = [Assign("out", None, "=", value, value.span, token_place(name))]
        for kind, v, where in clauses:
            if kind in ONCE and kind in parts:
                raise Unreadable(f"this definition has a second {ONCE[kind]}", where)
            parts.setdefault(kind, []).append(v)
        fields = {k: v[0] if k in ONCE else tuple(v) for k, v in parts.items()}
        fields["ignored"] = tuple(n for group in parts.get("ignored", ()) for n in group)
        fields["aliases"] = tuple(a for group in parts.get("aliases", ()) for a in group)
        return Op(str(name), params or (), outputs, drop, span=place(m), name_span=token_place(name), **fields)

    def let(self, m, c):
        if str(c[1]) != "=":
            raise Unreadable("a step of a `def` is a plain assignment", place(m))
        if len(c[0]) != len(c) - 2:
            raise Unreadable(f"{len(c[0])} names, but {len(c) - 2} values", place(m))
        return Let(c[0], tuple(c[2:]), place(m))

    def steps(self, m, c):
        return ("steps", tuple(c), place(m))

    def repeat(self, m, c):
        return ("steps", (Repeat(str(c[0]), c[1], c[2], c[3], tuple(c[4:]), place(m)),), place(m))

    def slope(self, m, c):
        if str(c[1]) != "=":
            raise Unreadable("a derivative is a plain assignment", place(m))
        return ("slopes", (str(c[0]), c[2]), place(m))

    def function(self, m, c):
        name, params, value, *clauses = c
        steps = tuple(s for kind, group, _ in clauses if kind == "steps" for s in group)
        slopes = tuple(s for kind, s, _ in clauses if kind == "slopes")
        docs = [text for kind, text, _ in clauses if kind == "doc"]
        for kind, _, where in clauses:
            if kind == "steps" and value is not None:
                raise Unreadable("this `def` has a formula already", where)
            if kind == "slopes" and value is not None:
                raise Unreadable("the derivative of a formula is derived", where)
        if value is None and not steps:
            raise Unreadable("this `def` says nothing", token_place(name))
        return Def(str(name), params or (), value, steps, slopes, docs[0] if docs else "", place(m), token_place(name))

    def schedule(self, m, c):
        return Schedule(c[0], c[1], tuple(c[2:]), place(m))
