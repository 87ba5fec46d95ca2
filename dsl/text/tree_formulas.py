"""Lark's tree of formulas, shapes and types to the syntax tree; definitions follow in dsl/text/tree.py."""

from __future__ import annotations

from lark import v_args
from lark.visitors import Transformer_NonRecursive

from .syntax import (
    Binder,
    Dim,
    Type,
    X,
)
from .tree_values import (
    Unreadable,
    given,
    number,
    place,
    text,
    token_place,
)
from .vocabulary import NOTHING


@v_args(meta=True)
class Formulas(Transformer_NonRecursive):
    """One method for each rule or alias of grammar/op.lark that stands within a line."""

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
        name, dims, instead, optional = c
        if str(name) == NOTHING and dims is None and instead is None and optional is None:
            return Type("choice", None, True, (), span=place(m))
        if str(name) != "Complex":
            return Type(str(name), dims, optional is not None, (), text(instead) or "", place(m))
        # Numbers of two parts: floats with a last axis of length 2, which nobody writes.
        if dims is None:
            raise Unreadable("complex numbers have a shape:  Complex[*B]", token_place(name))
        parts = Dim("size", expr=X("num", (), 2, token_place(name)), span=token_place(name))
        return Type("Float", (*dims, parts), optional is not None, (), text(instead) or "", place(m), complex=True)

    def choices(self, m, c):
        return tuple(str(t[1:-1]) for t in c)

    def choice(self, m, c):
        return Type("choice", None, c[1] is not None, c[0], span=place(m))
