"""Derivatives of scalar expressions: reverse mode over one tree.

`partials(e, g)` answers, for every read in e, what reaches it of the cotangent g.  A choice (`if`, `max`,
`??`) masks what its branches answer *after* all factors, so a branch not taken contributes exactly 0
even where its derivative is infinite or NaN.  Nothing here knows about loops."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..ir.builders import ONE, TRUE, ZERO, add, call, cond, div, integer, is_const, mul, neg, read, real, sub
from ..ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Index,
    Inside,
    Local,
    Pack,
    Random,
    Read,
    Select,
    Symbol,
    Unary,
    Unknown,
    show,
)
from ..ir.intrinsics import PREDICATES, ROUNDING, ROUTINES
from ..ir.rewriting import transform

Partials = dict[Read, E]  # read -> cotangent


class NoDerivative(Exception):
    """The function has a derivative that the language cannot express (digamma, a routine without `grad`)."""


# f'(x), from the argument x and the value y = f(x).  As PyTorch writes them, so that they agree where
# they overflow, too.
UNARY: dict[str, Callable[[E, E], E]] = {
    "abs": lambda x, y: call("sign", x),
    "exp": lambda x, y: y,
    "exp2": lambda x, y: mul(y, real(math.log(2))),
    "expm1": lambda x, y: add(y, ONE),
    "sin": lambda x, y: call("cos", x),
    "cos": lambda x, y: neg(call("sin", x)),
    "tan": lambda x, y: add(ONE, mul(y, y)),
    "asin": lambda x, y: call("rsqrt", sub(ONE, mul(x, x))),
    "acos": lambda x, y: neg(call("rsqrt", sub(ONE, mul(x, x)))),
    "sinh": lambda x, y: call("cosh", x),
    "cosh": lambda x, y: call("sinh", x),
    "tanh": lambda x, y: sub(ONE, mul(y, y)),
    "asinh": lambda x, y: call("rsqrt", add(mul(x, x), ONE)),
    "acosh": lambda x, y: call("rsqrt", sub(mul(x, x), ONE)),
    "erf": lambda x, y: mul(real(2 / math.sqrt(math.pi)), call("exp", neg(mul(x, x)))),
    "erfc": lambda x, y: mul(real(-2 / math.sqrt(math.pi)), call("exp", neg(mul(x, x)))),
    "erfinv": lambda x, y: mul(real(math.sqrt(math.pi) / 2), call("exp", mul(y, y))),
    "lgamma": lambda x, y: call("digamma", x),
    "rsqrt": lambda x, y: mul(real(-0.5), mul(y, mul(y, y))),
}

# Where the derivative is one over something, g is divided by it: division rounds once.
DIVISOR: dict[str, Callable[[E, E], E]] = {
    "log": lambda x, y: x,
    "log2": lambda x, y: mul(x, real(math.log(2))),
    "log10": lambda x, y: mul(x, real(math.log(10))),
    "log1p": lambda x, y: add(x, ONE),
    "sqrt": lambda x, y: mul(integer(2), y),
    "atan": lambda x, y: add(mul(x, x), ONE),
    "atanh": lambda x, y: sub(ONE, mul(x, x)),
}

FLAT = ["sign", "stop", *ROUNDING, *PREDICATES]  # derivative 0, or none wanted


def partials(e: E, g: E, known: dict[E, E] | None = None) -> Partials:
    """Every read that e depends on smoothly, with its part of the cotangent g.

    known: values that are stored already; a derivative that uses its own result (exp' = exp) reads
    those instead of computing them again.  Raises NoDerivative; `Unknown` stands for the derivative of a
    routine that gives none, which may turn out not to be needed."""
    known = {} if known is None else known
    if is_const(g, 0):
        return {}
    if long(g) and repeats(e):
        return {r: scaled(g, p) for r, p in partials(e, ONE, known).items()}
    value = known.get(e, e)
    match e:
        case Read(tensor, index, fallback):
            here: Partials = {e: g}
            if fallback is None:
                return here
            return merge(here, masked(Inside(read(tensor, index)), {}, partials(fallback, g, known)))
        case Binary("+", left, right):
            return merge(partials(left, g, known), partials(right, g, known))
        case Binary("-", left, right):
            return merge(partials(left, g, known), partials(right, neg(g), known))
        case Binary("*", left, right):
            if left is right:
                return partials(left, mul(g, mul(integer(2), left)), known)
            a, b = unrounded(left), unrounded(right)
            return merge(partials(left, mul(g, b), known), partials(right, mul(g, a), known))
        case Binary("/", left, right):
            return merge(partials(left, div(g, right), known), partials(right, neg(div(mul(g, value), right)), known))
        case Binary("%", left, right):
            return merge(partials(left, g, known), partials(right, neg(mul(g, Binary("//", left, right))), known))
        case Binary("**", left, right):
            return power(left, right, value, g, known)
        case Unary("-", operand):
            return partials(operand, neg(g), known)
        case Select(condition, yes, no):
            return masked(condition, partials(yes, g, known), partials(no, g, known))
        case Cast(kind, operand):
            return partials(operand, g, known) if kind == "f" else {}
        case Call("stored", (operand,)):
            return partials(operand, g, known)
        case Call(name, operands):
            return {} if name in FLAT else intrinsic(name, operands, value, g, known)
        case _ if is_flat(e):
            return {}
        case _:
            raise NotImplementedError(f"no rule for {show(e)}")


def unrounded(e: E) -> E:
    """A factor as gradients have it, which is not rounded to T."""
    match e:
        case Call("stored", (operand,)):
            return operand
        case _:
            return e


def is_flat(e: E) -> bool:
    """Whether the derivative of an operation by its operands is 0, or none is wanted."""
    match e:
        case Constant() | Symbol() | Index() | Pack() | Inside() | Random() | Unary("not" | "~", _):
            return True
        case Binary(operator, _, _):
            return operator not in ("+", "-", "*", "/", "%", "**")
        case Call(name, _):
            return name in FLAT
        case _:
            return False


def long(g: E) -> bool:
    """Whether a cotangent is better written once than once for every read."""
    return not isinstance(g, Read) and any(x.parts() and not isinstance(x, Read) for x in g.parts())


def repeats(e: E) -> bool:
    """Whether e reads one element at several places."""
    if isinstance(e, Read):
        return False
    return len(e.reads) > len(set(e.reads))


def scaled(g: E, p: E) -> E:
    """g * p, with g inside the choices of p, so that 0 stays 0."""
    if is_const(p, 0):
        return ZERO
    match p:
        case Select(condition, yes, no):
            return cond(condition, scaled(g, yes), scaled(g, no))
        case Binary("+", left, right) if isinstance(left, Select) or isinstance(right, Select):
            return add(scaled(g, left), scaled(g, right))
        case _:
            return mul(g, p)


def power(x: E, n: E, value: E, g: E, known: dict[E, E]) -> Partials:
    """value = x ** n.  As PyTorch: 0 where n is 0, and no gradient to n where x is 0 and n is not negative."""
    if is_const(n):
        if n.value == 0:
            return {}
        slope = ONE if n.value == 1 else x if n.value == 2 else Binary("**", x, sub(n, ONE))
        return partials(x, mul(g, mul(n, slope)), known)
    base = masked(Binary("==", n, ZERO), {}, partials(x, mul(g, mul(n, Binary("**", x, sub(n, ONE)))), known))
    flat = Binary("and", Binary("==", x, ZERO), Binary(">=", n, ZERO))
    return merge(base, masked(flat, {}, partials(n, mul(mul(g, value), call("log", x)), known)))


def intrinsic(name: str, operands: tuple[E, ...], value: E, g: E, known: dict[E, E]) -> Partials:
    """value = a call of an intrinsic or of a routine."""
    if name in ROUTINES:
        return routine(name, operands, value, g, known)
    x = operands[0]
    if name in UNARY:
        return partials(x, mul(g, UNARY[name](x, value)), known)
    if name in DIVISOR:
        return partials(x, div(g, DIVISOR[name](x, value)), known)
    if name == "digamma":
        raise NoDerivative(name)
    y = operands[1]
    dx, dy = partials(x, g, known), partials(y, g, known)
    match name:
        case "max":  # equal ones share; a NaN on either side lets both through
            return merge(taken(Binary("<", x, y), x, y, dx), taken(Binary("<", y, x), x, y, dy))
        case "min":
            return merge(taken(Binary(">", x, y), x, y, dx), taken(Binary(">", y, x), x, y, dy))
        case "fmax":
            return masked(Binary("or", Binary(">=", x, y), call("isnan", y)), dx, dy)
        case "fmin":
            return masked(Binary("or", Binary("<=", x, y), call("isnan", y)), dx, dy)
        case "fmod":
            return merge(dx, partials(y, neg(mul(g, call("trunc", div(x, y)))), known))
        case "atan2":
            square = add(mul(y, y), mul(x, x))
            return merge(partials(x, div(mul(g, y), square), known), partials(y, neg(div(mul(g, x), square)), known))
        case "copysign":
            same = Binary("==", call("signbit", x), call("signbit", y))
            flipped = partials(x, neg(g), known)
            return masked(Binary("==", x, ZERO), {}, masked(same, dx, flipped))
        case _:
            raise NotImplementedError(f"no rule for {name}")


def taken(loses: E, x: E, y: E, parts: Partials) -> Partials:
    """What reaches one of two numbers of which the larger, or the smaller, is taken."""
    half = {r: mul(p, real(0.5)) for r, p in parts.items()}
    return masked(loses, {}, masked(Binary("==", x, y), half, parts))


def routine(name: str, operands: tuple[E, ...], value: E, g: E, known: dict[E, E]) -> Partials:
    """value = a call of a routine: by the derivatives that it gives."""
    r = ROUTINES[name]
    env: dict[str, E] = {**dict(zip(r.params, operands, strict=True)), "out": value}
    out: Partials = {}
    for p, x in zip(r.params, operands, strict=True):
        if not x.reads:
            continue
        slope: E = Unknown(name)
        if p in r.slopes:
            slope = transform(r.slopes[p], lambda n: env[n.name] if isinstance(n, Local) else None)
        out = merge(out, partials(x, mul(g, slope), known))
    return out


def merge(*parts: Partials) -> Partials:
    """The sum, read by read."""
    out: Partials = {}
    for part in parts:
        for r, p in part.items():
            out[r] = add(out[r], p) if r in out else p
    return out


def masked(c: E, yes: Partials, no: Partials) -> Partials:
    """yes where c holds, no elsewhere; the factors inside cannot leak through."""
    if c is TRUE:
        return yes
    return {r: cond(c, yes.get(r, ZERO), no.get(r, ZERO)) for r in {**yes, **no}}
