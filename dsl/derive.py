"""Derivatives of scalar expressions: reverse mode over one tree.

`partials(e, g)` answers, for every read in e, what reaches it of the cotangent g.  A choice (`if`, `max`,
`??`) masks what its branches answer *after* all factors, so a branch not taken contributes exactly 0
even where its derivative is infinite or NaN.  Nothing here knows about loops."""

from __future__ import annotations

import math
from collections.abc import Callable

from .expression import (
    ONE,
    ROUTINES,
    TRUE,
    ZERO,
    E,
    add,
    call,
    cond,
    div,
    is_const,
    lift,
    mul,
    neg,
    read,
    reads,
    sub,
    transform,
)

Partials = dict[E, E]  # read -> cotangent


class NoDerivative(Exception):
    """The function has a derivative that the language cannot express (digamma, a routine without `grad`)."""


# f'(x), from the argument x and the value y = f(x).  As PyTorch writes them, so that they agree where
# they overflow, too.
UNARY: dict[str, Callable[[E, E], E]] = {
    "abs": lambda x, y: call("sign", x),
    "exp": lambda x, y: y,
    "exp2": lambda x, y: mul(y, lift(math.log(2))),
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
    "erf": lambda x, y: mul(lift(2 / math.sqrt(math.pi)), call("exp", neg(mul(x, x)))),
    "erfc": lambda x, y: mul(lift(-2 / math.sqrt(math.pi)), call("exp", neg(mul(x, x)))),
    "erfinv": lambda x, y: mul(lift(math.sqrt(math.pi) / 2), call("exp", mul(y, y))),
    "lgamma": lambda x, y: call("digamma", x),
    "rsqrt": lambda x, y: mul(lift(-0.5), mul(y, mul(y, y))),
}

# Where the derivative is one over something, g is divided by it: division rounds once.
DIVISOR: dict[str, Callable[[E, E], E]] = {
    "log": lambda x, y: x,
    "log2": lambda x, y: mul(x, lift(math.log(2))),
    "log10": lambda x, y: mul(x, lift(math.log(10))),
    "log1p": lambda x, y: add(x, ONE),
    "sqrt": lambda x, y: mul(lift(2), y),
    "atan": lambda x, y: add(mul(x, x), ONE),
    "atanh": lambda x, y: sub(ONE, mul(x, x)),
}

FLAT = {"sign", "floor", "ceil", "round", "trunc", "isnan", "isinf", "signbit", "stop"}  # derivative 0, or none wanted
FLAT_OPS = {
    "const",
    "sym",
    "idx",
    "pack",
    "inside",
    "rand",
    "not",
    "~",
    "//",
    "<",
    "<=",
    "==",
    "!=",
    ">",
    ">=",
    "and",
    "or",
    "&",
    "|",
    "^",
    "<<",
    ">>",
}


def partials(e: E, g: E, known: dict[E, E] | None = None) -> Partials:
    """Every read that e depends on smoothly, with its part of the cotangent g.

    known: values that are stored already; a derivative that uses its own result (exp' = exp) reads
    those instead of computing them again.  Raises NoDerivative; a node
    `unknown` stands for the derivative of a routine that gives none, which may turn out not to be needed."""
    known = known or {}
    if is_const(g, 0):
        return {}
    if long(g) and repeats(e):
        return {r: scaled(g, p) for r, p in partials(e, ONE, known).items()}
    a = e.args

    def go(x: E, by: E) -> Partials:
        return partials(x, by, known)

    match e.op:
        case "read":
            tensor, fallback = e.val
            here = {e: g}
            if fallback is None:
                return here
            return merge(here, masked(E("inside", (read(tensor, a),)), {}, go(fallback, g)))
        case "+":
            return merge(go(a[0], g), go(a[1], g))
        case "-":
            return merge(go(a[0], g), go(a[1], neg(g)))
        case "*":
            if a[0] == a[1]:
                return go(a[0], mul(g, mul(lift(2), a[0])))
            return merge(go(a[0], mul(g, a[1])), go(a[1], mul(g, a[0])))
        case "/":
            return merge(go(a[0], div(g, a[1])), go(a[1], neg(div(mul(g, known.get(e, e)), a[1]))))
        case "%":
            return merge(go(a[0], g), go(a[1], neg(mul(g, E("//", a)))))
        case "neg":
            return go(a[0], neg(g))
        case "if":
            return masked(a[0], go(a[1], g), go(a[2], g))
        case "**":
            return power(e, g, known)
        case "cast":
            return go(a[0], g) if e.val == "f" else {}
        case "call":
            return function(e, g, known)
        case op if op in FLAT_OPS:
            return {}
    raise NotImplementedError(f"no rule for {e.op}")


def long(g: E) -> bool:
    """Whether a cotangent is better written once than once for every read."""
    return g.op != "read" and bool(g.args) and any(x.args and x.op != "read" for x in g.args)


def repeats(e: E) -> bool:
    """Whether e reads one element at several places."""
    if e.op == "read":
        return False
    found = reads(e)
    return len(found) > len(set(found))


def scaled(g: E, p: E) -> E:
    """g * p, with g inside the choices of p, so that 0 stays 0."""
    if is_const(p, 0):
        return ZERO
    if p.op == "if":
        return cond(p.args[0], scaled(g, p.args[1]), scaled(g, p.args[2]))
    if p.op == "+" and any(x.op == "if" for x in p.args):
        return add(scaled(g, p.args[0]), scaled(g, p.args[1]))
    return mul(g, p)


def power(e: E, g: E, known: dict[E, E]) -> Partials:
    """x ** n.  As PyTorch: 0 where n is 0, and no gradient to n where x is 0 and n is not negative."""
    x, n = e.args
    if is_const(n):
        slope = ONE if n.val == 1 else x if n.val == 2 else E("**", (x, lift(n.val - 1)))
        base = {} if n.val == 0 else partials(x, mul(g, mul(n, slope)), known)
        return base
    base = masked(E("==", (n, ZERO)), {}, partials(x, mul(g, mul(n, E("**", (x, sub(n, ONE))))), known))
    flat = E("and", (E("==", (x, ZERO)), E(">=", (n, ZERO))))
    return merge(base, masked(flat, {}, partials(n, mul(mul(g, known.get(e, e)), call("log", x)), known)))


def function(e: E, g: E, known: dict[E, E]) -> Partials:
    """A call of an intrinsic."""
    name, a = e.val, e.args
    if name in FLAT:
        return {}
    if name in ROUTINES:
        return routine(e, g, known)
    if name in UNARY:
        return partials(a[0], mul(g, UNARY[name](a[0], known.get(e, e))), known)
    if name in DIVISOR:
        return partials(a[0], div(g, DIVISOR[name](a[0], known.get(e, e))), known)
    if name == "digamma":
        raise NoDerivative(name)
    x, y = a
    dx, dy = partials(x, g, known), partials(y, g, known)
    match name:
        case "max" | "min":  # equal ones share; a NaN on either side lets both through
            loses = "<" if name == "max" else ">"
            tie = E("==", (x, y))
            half = lambda d: {r: mul(p, lift(0.5)) for r, p in d.items()}
            return merge(
                masked(E(loses, (x, y)), {}, masked(tie, half(dx), dx)),
                masked(E(loses, (y, x)), {}, masked(tie, half(dy), dy)),
            )
        case "fmax" | "fmin":
            first = E("or", (E(">=" if name == "fmax" else "<=", (x, y)), call("isnan", y)))
            return masked(first, dx, dy)
        case "fmod":
            return merge(dx, partials(y, neg(mul(g, call("trunc", div(x, y)))), known))
        case "atan2":
            square = add(mul(y, y), mul(x, x))
            return merge(partials(x, div(mul(g, y), square), known), partials(y, neg(div(mul(g, x), square)), known))
        case "copysign":
            same = E("==", (call("signbit", x), call("signbit", y)))
            flipped = partials(x, neg(g), known)
            return masked(E("==", (x, ZERO)), {}, masked(same, dx, flipped))
    raise NotImplementedError(f"no rule for {name}")


def routine(e: E, g: E, known: dict[E, E]) -> Partials:
    """A call of a routine: by the derivatives that it gives."""
    r = ROUTINES[e.val]
    env = {**dict(zip(r.params, e.args)), "out": known.get(e, e)}
    out: Partials = {}
    for p, x in zip(r.params, e.args):
        if not reads(x):
            continue
        slope = (
            transform(r.slopes[p], lambda n: env[n.val] if n.op == "hole" else None)
            if p in r.slopes
            else E("unknown", (), e.val)
        )
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
    if c == TRUE:
        return yes
    return {r: cond(c, yes.get(r, ZERO), no.get(r, ZERO)) for r in {**yes, **no}}
