"""Formulas -> scalar expressions of the loop IR.

One class for both notations.  What a name means depends on the context: in index notation tensors are
indexed; in a whole-tensor formula a tensor's name is its element at the loops of the formula's axes.
Reductions come out as `Reduce`, which only lower.py sees:
it hoists each into a statement of its own."""

from __future__ import annotations

import math
from dataclasses import replace

from ..ir.axes import extent, loop_index
from ..ir.builders import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    add,
    call,
    cond,
    conj,
    div,
    floordiv,
    idx,
    integer,
    is_binary,
    is_const,
    mul,
    neg,
    pack,
    read,
    real,
    sub,
    sym,
)
from ..ir.expression import Binary, Constant, E, Inside, Random, Read, Symbol, Unary, walk
from ..ir.intrinsics import INTRINSICS, ROUTINES
from ..opdef import MISSING, Presence, TypeOf, symbol
from ..text.syntax import X
from ..text.vocabulary import DTYPES, axis_number
from .context import Context, Mistake
from .dims import Item
from .scalar_nodes import COMPARISONS, folded, horner, product
from .types import kind

BINARY = {"+": add, "-": sub, "*": mul, "/": div, "//": floordiv}


class Formulas:
    """`op` is the lowering of one op (dsl.lowering.lower.Lowering): its patterns, tensors, options."""

    def __init__(self, op):
        self.op = op

    def lower(self, e: X, c: Context) -> E:
        match e.kind:
            case "num":
                return real(e.val) if isinstance(e.val, float) else integer(e.val)
            case "name":
                return self.name(e, c)
            case "str":
                raise Mistake("type", "a text can only be compared with an option", e.span)
            case "neg":
                return neg(self.lower(e.args[0], c))
            case "not" | "~":
                return Unary(e.kind, self.lower(e.args[0], c))
            case "if":
                return cond(self.lower(e.args[0], c), self.lower(e.args[1], c), self.lower(e.args[2], c))
            case "and":
                return conj(self.lower(e.args[0], c), self.lower(e.args[1], c)) or TRUE
            case "read":
                return self.access(e, c)
            case "??":
                return self.missing(e, c)
            case "reduce":
                return self.op.reduction(e, c)
            case "call":
                return self.call(e, c)
            case "field":
                return self.field(e, c)
        if e.kind in COMPARISONS and (choice := self.choice(e)) is not None:
            return choice
        if e.kind in BINARY:
            return in_32_bits(BINARY[e.kind](self.lower(e.args[0], c), self.lower(e.args[1], c)), e)
        if len(e.args) == 2:
            return folded(e.kind, self.lower(e.args[0], c), self.lower(e.args[1], c))
        raise Mistake("syntax", "this cannot stand in a formula", e.span)

    def choice(self, e: X) -> E | None:
        """`reduction == "mean"`: the number of the text among the option's; `type(x) == "bool"`: that among all
        types."""
        for a, b in (e.args, e.args[::-1]):
            if b.kind == "str" and a.kind == "call" and a.val == "type":
                return Binary(e.kind, self.call(a, Context()), integer(DTYPES.index(b.val)))
            if b.kind == "str" and a.kind == "name" and a.val in self.op.options:
                choices = self.op.options[a.val].choices
                if b.val in choices:
                    return Binary(e.kind, sym(a.val), integer(choices.index(b.val)))
                raise Mistake(
                    "option",
                    f'`{a.val}` is never "{b.val}"',
                    b.span,
                    "it is one of " + ", ".join(f'"{v}"' for v in choices),
                )
        return None

    # --- Names -----------------------------------------------------------------------------------

    def name(self, e: X, c: Context) -> E:
        n, op = e.val, self.op
        if n in c.names:
            return c.names[n]
        if n in c.loops:
            kind, loops = c.loops[n]
            if kind == "one":
                return idx(loops.name)
            if kind == "pack":
                raise Mistake("index", f"`{n}` stands for any number of axes, so no arithmetic is possible", e.span)
            if c.component is None:
                raise Mistake("index", f"`{n}` stands for several axes", e.span, f"write *{n}")
            return idx(loops[c.component].name)
        if n in ("inf", "nan"):
            return sym(symbol(n) if n in op.options else n)
        if n == "pi":
            return real(math.pi)
        if n in ("true", "false"):
            return TRUE if n == "true" else FALSE
        if n in op.scalars:
            return op.scalar(n, c)
        if op.is_tensor(n):
            return self.element(n, e, c)
        rank = op.patterns.rank.get(n)
        if rank is not None:
            if c.component is None:
                raise Mistake("index", f"`{n}` stands for several axes", e.span, "write it inside *( ) or product( )")
            return sym(f"{n}{c.component}")
        if n in op.families:
            return integer(op.families[n])
        return sym(n)

    def element(self, n: str, e: X, c: Context) -> E:
        """A tensor named without an index."""
        t = self.op.tensor(n)
        if c.whole is None:
            if self.op.items[t] == []:
                return read(t, ())
            raise Mistake("rank", f"`{n}` has axes, so it needs an index here", e.span)
        return read(t, [loop_index(c.whole[k]) for k in self.op.axis_keys(t)])

    def field(self, e: X, c: Context) -> E:
        """`g.values`: the gradient of one result."""
        t = part(e)
        if c.whole is None:
            raise Mistake("index", f"`{e.args[0].val}.{e.val}` needs an index here", e.span)
        return read(t, [loop_index(c.whole[k]) for k in self.op.axis_keys(t)])

    def missing(self, e: X, c: Context) -> E:
        """`a ?? b`: outside the tensor, or for an absent argument."""
        a, b = e.args
        fallback = self.lower(b, c)
        absent = self.absent(a)
        if a.kind == "read" and not absent:
            value = self.access(a, c)
            if not isinstance(value, Read):
                return value
            if not self.wider(fallback, value):
                return read(value.tensor, value.index, fallback)
            return cond(Inside(value), read(value.tensor, value.index, ZERO), fallback)
        if not absent:
            raise Mistake(
                "option", "`??` needs an access, or an argument that may be absent", a.span, "this is always there"
            )
        value = self.lower(a, c)
        return cond(conj(*(sym(Presence + n) for n in absent)), value, fallback)

    def wider(self, e: E, r: E) -> bool:
        """Whether e may be a number that the tensor of the read r cannot hold, so that both become floats."""
        kinds = {p: t.name for p, t in self.op.options.items()}
        fraction = any(
            is_binary(n, "/")
            or isinstance(n, Random)
            or isinstance(n, Constant)
            and n.value != int(n.value)
            or isinstance(n, Symbol)
            and kinds.get(n.name) == "real"
            for n in walk(e)
        )
        dtype = self.op.tensors[r.tensor].dtype
        if dtype == "T":
            return fraction and self.op.whole_T
        return dtype in ("int", "int32", "bool", "own") and (
            fraction or any(isinstance(n, Read) and kind(n, self.op.tensors) == "t" for n in walk(e))
        )

    def absent(self, e: X) -> list[str]:
        """Optional parameters that e takes, outside other `??`."""
        if e.kind == "??":
            return []
        own = [e.val] if e.kind == "name" and e.val in self.op.optional else []
        return list(dict.fromkeys(own + [n for a in e.args for n in self.absent(a)]))

    # --- Accesses --------------------------------------------------------------------------------

    def access(self, e: X, c: Context) -> E:
        base, given = e.args[0], e.args[1:]
        n = base.val if base.kind == "name" else part(base)
        t = self.op.tensor(n)
        return read(t, self.index(t, given, c, e))

    def index(self, t: str, given, c: Context, e: X) -> list[E]:
        if t not in self.op.items:
            raise Mistake("name", f"`{t}` is used before it is assigned", e.span)
        items = self.op.items[t]
        if len(items) != len(given):
            raise Mistake(
                "rank", f"`{t}` takes {len(items)} index{'es' * (len(items) != 1)}, but gets {len(given)}", e.span
            )
        return [i for item, x in zip(items, given) for i in self.places(item, x, c)]

    def places(self, item: Item, x: X, c: Context) -> list[E]:
        if item.kind == "one":
            if x.kind == "spread":
                raise Mistake("index", "this axis is one, not a pack", x.span)
            return [self.lower(x, c)]
        if x.kind != "spread":
            raise Mistake("index", f"`*{item.name}` is a pack of axes", x.span, "write *name")
        inner = x.args[0]
        if item.kind == "pack":
            if inner.kind == "name" and inner.val in c.loops and c.loops[inner.val][0] == "pack":
                return [pack(c.loops[inner.val][1].name)]
            raise Mistake("index", f"`*{item.name}` may have any rank, so only a bare index can stand here", x.span)
        return [self.lower(inner, c.at(j)) for j in range(len(item.axes))]

    # --- Calls -----------------------------------------------------------------------------------

    def call(self, e: X, c: Context) -> E:
        n, a, op = e.val, e.args, self.op
        if n in op.defs:
            d = op.defs[n]
            if d.steps:
                return call(n, *(self.lower(x, c) for x in a))
            return self.lower(
                d.value, replace(c, names={**c.names, **dict(zip(d.params, (self.lower(x, c) for x in a)))})
            )
        if n in ROUTINES and n not in op.defs:
            return call(n, *(self.lower(x, c) for x in a))
        if n == "poly":
            return horner(self.lower(a[0], c), [self.lower(x, c) for x in a[1:]])
        if n == "rand":
            return Random(op.site())
        if n == "given":
            return self.given(a[0].val, c)
        if n == "type":
            return sym(TypeOf + a[0].val)
        if n in ("rank", "numel", "size"):
            return self.measure(n, e)
        if n == "floating":
            return sym(n)
        if n == "number":
            return sym(f"number_{a[0].val}")
        if n in ("fits", "same", "stretched"):
            return sym(f"{n}_{a[0].val}_{a[1].val}")
        if n == "axis":
            if c.component is None:
                raise Mistake("index", "`axis()` needs a pack of known rank around it", e.span)
            return integer(c.component)
        if n == "nth":
            place = self.lower(a[1], c)
            if not isinstance(place, Constant):
                raise Mistake("option", "which of the numbers must be known here", a[1].span)
            if a[0].val in c.loops:
                return idx(c.loops[a[0].val][1][int(place.value)].name)
            return sym(f"{a[0].val}{place.value}")
        if n == "inside":
            r = self.access(a[0], c)
            return Inside(r)
        if n == "product":
            r = op.patterns.rank_in(a[0]) or self.loops_rank(a[0], c)
            if r is None:
                raise Mistake("index", "`product` needs a pack of known rank", e.span)
            out = ONE
            for j in range(r):
                out = mul(out, self.lower(a[0], c.at(j)))
            return out
        if n == "ravel":
            return self.ravel(a[0], a[1], c)
        if n == "unravel":
            return self.unravel(e, c)
        if n in INTRINSICS and len(a) == INTRINSICS[n]:
            return call(n, *(self.lower(x, c) for x in a))
        if len(a) == 1:
            return op.reduction(e, c)  # sum(x), over everything
        raise Mistake("name", f"`{n}` cannot be called here", e.span)

    def ravel(self, place: X, sizes: X, c: Context) -> E:
        """`ravel(i, X)`: the number of the place i among all of axes as long as X says, the last one fastest."""
        r = self.op.patterns.rank_in(sizes)
        if r is None:
            raise Mistake("index", "`ravel` needs the sizes of a pack of known rank", sizes.span)
        out = ZERO
        for j in range(r):
            out = add(mul(out, self.lower(sizes, c.at(j))), self.lower(place, c.at(j)))
        return out

    def unravel(self, e: X, c: Context) -> E:
        """`unravel(n, X)`: the place whose number is n, component by component."""
        number, sizes = e.args
        r = self.op.patterns.rank_in(sizes)
        if r is None or c.component is None:
            raise Mistake("index", "`unravel` gives one number for each axis of a pack", e.span, "write it inside *( )")
        inner = ONE
        for j in range(c.component + 1, r):
            inner = mul(inner, self.lower(sizes, c.at(j)))
        out = floordiv(self.lower(number, c.at(None)), inner)
        return out if c.component == 0 else Binary("%", out, self.lower(sizes, c))

    def given(self, n: str, c: Context) -> E:
        """Whether an argument is given; of a list with a known length, whether this number of it is."""
        whole = sym(Presence + n)
        listed = c.component is not None and n in self.op.options and self.op.options[n].name == "ints"
        return conj(whole, Binary("!=", sym(f"{n}{c.component}"), integer(MISSING))) if listed else whole

    def loops_rank(self, e: X, c: Context) -> int | None:
        if e.kind == "name" and e.val in c.loops and c.loops[e.val][0] == "fixed":
            return len(c.loops[e.val][1])
        return next((r for a in e.args if (r := self.loops_rank(a, c)) is not None), None)

    def measure(self, n: str, e: X) -> E:
        if (
            len(e.args) != (2 if n == "size" else 1)
            or e.args[0].kind != "name"
            or n == "size"
            and axis_number(e.args[1]) is None
        ):
            raise Mistake(
                "syntax",
                f"`{n}` takes the name of a tensor or a pack{' and the number of an axis' * (n == 'size')}",
                e.span,
            )
        what = e.args[0].val
        rank = self.op.patterns.rank.get(what)
        if n == "rank":
            return integer(rank) if rank is not None else sym(f"rank_{what}")
        if n == "size":
            return sym(f"size_{what}_{axis_number(e.args[1])}")
        if what in self.op.options:
            return sym("count_dropped")  # numel(dim): how many elements a reduction takes together
        if self.op.is_tensor(what):
            return product(extent(a) for item in self.op.items[self.op.tensor(what)] for a in item.axes)
        return product(sym(f"{what}{j}") for j in range(rank)) if rank is not None else sym(f"count_{what}")


def in_32_bits(value: E, e: X) -> E:
    """What constants came to in `e`, where 32 bits hold it."""
    if is_const(value) and value.kind == "i" and not -(2**31) <= value.value < 2**31:
        raise Mistake("syntax", f"this comes to {value.value}, which does not fit into 32 bits", e.span)
    return value


def part(e: X) -> str:
    """The tensor that `g.values`, the gradient of a result, or `sorted.values`, a result of a call, names."""
    base = e.args[0].val
    return f"g_{e.val}" if base == "g" else f"{base}_{e.val}_"
