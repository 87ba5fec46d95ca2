"""The syntax tree as mathematics, in LaTeX: the formulas of a definition, for pages and notebooks.

An index stands below its tensor, a bold one for several axes; a bar is the gradient of the loss by what stands below
it.  `dsl/text/latex_programs.py` prints loop programs, such as derived gradients, with the same signs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .show import BINARY, COMPARE, IF, NOT, POSTFIX, PRIMARY, PRODUCT, SHIFT, SUM, TERM, UNARY
from .syntax import Assign, Binder, Op, Size, X

GREEK = {"alpha", "beta", "gamma", "delta", "lambda", "mu", "nu", "rho", "sigma", "tau", "theta", "phi", "pi"}
SYMBOLS = {"lambd": r"\lambda", "eps": r"\varepsilon", "inf": r"\infty", "nan": r"\mathrm{NaN}"}
SIGNS = {
    "and": r"\land", "or": r"\lor", "&": r"\mathbin{\&}", "|": r"\mathbin{|}", "^": r"\oplus", "<<": r"\ll",
    ">>": r"\gg", "+": "+", "-": "-", "%": r"\bmod", "==": "=", "!=": r"\ne", "<": "<", "<=": r"\le", ">": ">",
    ">=": r"\ge", "~=": r"\approx", "*": r"\cdot",
}  # fmt: skip
FUNCTIONS = {
    **{name: rf"\{name}" for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min")},
    "log": r"\ln", "log2": r"\log_2", "log10": r"\log_{10}", "asin": r"\arcsin", "acos": r"\arccos",
    "atan": r"\arctan", "asinh": r"\operatorname{arsinh}", "acosh": r"\operatorname{arcosh}",
    "atanh": r"\operatorname{artanh}", "sign": r"\operatorname{sgn}", "lgamma": r"\ln\Gamma", "digamma": r"\psi",
}  # fmt: skip
# Functions that are written around their argument.
AROUND = {
    "abs": (r"\left|", r"\right|"),
    "floor": (r"\left\lfloor ", r" \right\rfloor"),
    "ceil": (r"\left\lceil ", r" \right\rceil"),
    "sqrt": (r"\sqrt{", "}"),
}
BIG = {"sum": r"\sum", "prod": r"\prod", "max": r"\max", "min": r"\min"}
TERMS = 5  # of a polynomial that is written out
DIGITS = 7  # of a number


def name(text: str) -> str:
    """`input` upright, `x` slanted, `t0_` with its number below, `d_input` and `g_out` with a bar."""
    bar = re.fullmatch(r"(?:dd|gg|d|g)_(\w*[A-Za-z]\w*)", text)
    if bar and not bar[1].startswith("_"):
        return rf"\overline{{{name(bar[1])}}}"
    if text in SYMBOLS:
        return SYMBOLS[text]
    stem, number = re.fullmatch(r"(.*?)(\d*)_?", text).groups()  # type: ignore[union-attr]
    if stem in GREEK:
        made = rf"\{stem}"
    elif len(stem) == 1:
        made = stem
    else:
        made = rf"\mathrm{{{escaped(stem or text)}}}"
    return made if not number or not stem else f"{made}_{{{number}}}"


def number(value: float) -> str:
    text = repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.{DIGITS}g}"
    digits, _, exponent = text.partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits


def formula(e: X, place: int = IF) -> str:
    """An expression that may stand where operands bind at least as tightly as `place`."""
    text, binds = printed(e)
    return text if binds >= place else rf"\left({text}\right)"


def commas(args: Iterable[X]) -> str:
    return r",\, ".join(map(formula, args))


def printed(e: X) -> tuple[str, int]:
    """The LaTeX, and how tightly it binds."""
    a = e.args
    match e.kind:
        case "num":
            return number(e.val), PRIMARY  # type: ignore[arg-type]
        case "name" if e.val in ("true", "false", "all", "none"):
            return rf"\text{{{e.val}}}", PRIMARY
        case "name":
            return name(str(e.val)), PRIMARY
        case "str":
            return rf"\texttt{{{escaped(str(e.val))}}}", PRIMARY
        case "list":
            return rf"\left[{commas(a)}\right]", PRIMARY
        case "kw":
            return rf"{name(str(e.val))}{{=}}{formula(a[0])}", IF
        case "field":
            return rf"{formula(a[0], PRIMARY)}.{name(str(e.val))}", PRIMARY
        case "read":
            return subscript(formula(a[0], PRIMARY), a[1:]), PRIMARY
        case "spread":
            return bold(a[0]), PRIMARY
        case "if":
            return cases(e), PRIMARY
        case "not" if a[0].kind == "==":
            return printed(X("!=", a[0].args))
        case "not":
            return rf"\lnot {formula(a[0], NOT)}", NOT
        case "neg":
            return f"-{formula(a[0], UNARY)}", SUM
        case "~":
            return rf"{{\sim}}{formula(a[0], UNARY)}", UNARY
        case "reduce":
            return reduction(e), PRODUCT
        case "??":
            return rf"{formula(a[0], PRIMARY)} \text{{ or }} {formula(a[1], POSTFIX)}", SHIFT
        case "call":
            return call(e)
        case "/":
            return rf"\frac{{{formula(a[0])}}}{{{formula(a[1])}}}", TERM
        case "//":
            return rf"\left\lfloor {formula(a[0], TERM)} / {formula(a[1], UNARY)} \right\rfloor", PRIMARY
        case "**":
            return rf"{{{formula(a[0], PRIMARY)}}}^{{{formula(a[1])}}}", POSTFIX
    binds, left, right = BINARY[e.kind]
    if e.kind == "*" and a[0].kind == "num" and a[1].kind not in ("num", "neg", "*", "**"):
        return rf"{formula(a[0])}\,{formula(a[1], right)}", binds
    return f"{formula(a[0], left)} {SIGNS[e.kind]} {formula(a[1], right)}", binds


def escaped(text: str) -> str:
    return re.sub(r"([_#%&$])", r"\\\1", text)


def subscript(base: str, args: Sequence[X]) -> str:
    """A tensor at an index; one whose name has a number below it in braces, for TeX takes no two."""
    below = r",\,".join(map(formula, args))
    return rf"{{{base}}}_{{{below}}}" if "_" in base else rf"{base}_{{{below}}}"


def bold(e: X) -> str:
    """An index over several axes."""
    return rf"\mathbf{{{escaped(str(e.val))}}}" if e.kind == "name" else formula(e)


def call(e: X) -> tuple[str, int]:
    a, called = e.args, str(e.val)
    if called in ("stop", "stored"):  # the same value
        return printed(a[0])
    if called in AROUND:
        before, after = AROUND[called]
        return f"{before}{formula(a[0])}{after}", PRIMARY
    match called:
        case "rsqrt":
            return rf"\frac{{1}}{{\sqrt{{{formula(a[0])}}}}}", TERM
        case "expm1":
            return rf"e^{{{formula(a[0])}}} - 1", SUM
        case "log1p":
            return rf"\ln\left(1 + {formula(a[0], PRODUCT)}\right)", PRIMARY
        case "exp2":
            return rf"2^{{{formula(a[0])}}}", POSTFIX
        case "rand":
            return r"\mathcal{U}(0, 1)", PRIMARY
        case "given":
            return rf"{formula(a[0])} \text{{ is given}}", COMPARE
        case "numel":
            return rf"\left|{formula(a[0])}\right|", PRIMARY
        case "inside":
            return rf"{formula(a[0])} \text{{ is inside}}", COMPARE
        case "poly" if len(a) <= TERMS + 1:
            return polynomial(a[0], a[1:])
    if called in ("sum", "prod", "mean", "any", "all", "product", "argmax", "argmin") and len(a) == 1:
        sign = BIG.get("prod" if called == "product" else called, rf"\operatorname{{{called}}}")
        return f"{sign} {formula(a[0], PRODUCT)}", PRODUCT
    head = FUNCTIONS.get(called) or rf"\operatorname{{{escaped(called)}}}"
    return rf"{head}\left({commas(a)}\right)", PRIMARY


def polynomial(x: X, coefficients: Sequence[X]) -> tuple[str, int]:
    terms = []
    for power, c in enumerate(coefficients):
        if c.kind == "num" and c.val == 0:
            continue
        base = "" if power == 0 else formula(x, PRIMARY) if power == 1 else f"{formula(x, PRIMARY)}^{{{power}}}"
        factor = "" if base and c.kind == "num" and c.val == 1 else formula(c, TERM)
        terms.append(rf"{factor}\,{base}" if factor and base else factor + base)
    return " + ".join(terms), SUM


def cases(e: X) -> str:
    """A choice, and those in its place for the rest, as lines with a brace."""
    lines = []
    while e.kind == "if":
        condition, yes, e = e.args[0], e.args[1], e.args[2]
        lines.append(rf"{formula(yes)} & \text{{if }} {formula(condition)}")
    lines.append(rf"{formula(e)} & \text{{otherwise}}")
    return r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"


def reduction(e: X) -> str:
    reducer, binders, condition = e.val  # type: ignore[misc]
    words = reducer.replace("arg", r"arg\,", 1) if reducer.startswith("arg") else reducer
    sign = BIG.get(reducer, rf"\operatorname*{{{words}}}")
    below = r",\; ".join(map(binder, binders))
    if condition is not None:
        lines = [below, *map(formula, conjuncts(condition))]
        below = rf"\substack{{{(chr(92) * 2).join(lines)}}}" if len(lines) > 2 else r",\; ".join(lines)
    return f"{sign}_{{{below}}} {formula(e.args[0], PRODUCT)}"


def conjuncts(e: X) -> list[X]:
    """What an `and` is made of."""
    return [part for a in e.args for part in conjuncts(a)] if e.kind == "and" else [e]


def binder(b: Binder) -> str:
    index = rf"\mathbf{{{b.name}}}" if b.pack else name(b.name)
    if b.low is not None and b.high is not None:
        return rf"{formula(b.low)} \le {index} < {formula(b.high)}"
    return index if b.high is None else f"{index} < {formula(b.high)}"


# --- Statements ------------------------------------------------------------------------------------

MODES = {
    "=": "=",
    "+=": r"\mathrel{+}=",
    "*=": r"\mathrel{\cdot}=",
    "max=": r"\overset{\max}{=}",
    "min=": r"\overset{\min}{=}",
}


def assignment(a: Assign, bar: bool = False) -> str:
    """`e_{i} &= ...`, to be aligned; bar: it gives the gradient of what it names."""
    left = name(f"d_{a.name}" if bar else a.name)
    if a.index is not None:
        left = subscript(left, a.index)
    left = r",\, ".join([left, *(name(str(x.val)) for x in a.also)])
    return f"{left} &{MODES[a.mode]} {formula(a.value)}"


def size(s: Size) -> str:
    """A computed size."""
    left = rf"\mathbf{{{s.name}}}" if s.pack else name(s.name)
    return f"{left} &= {formula(s.value)}"


def aligned(lines: Sequence[str]) -> str:
    """Lines with their signs of equality below each other."""
    return r"\begin{aligned} " + r" \\[0.4em] ".join(lines) + r" \end{aligned}"


def body(op: Op) -> str:
    """What an op means; nothing for one that is a body of steps."""
    return aligned([assignment(a) for a in op.body]) if op.body else ""


def gradient(op: Op) -> str:
    """The gradients that a definition gives; nothing where all are derived."""
    renamed = {o.name: o.name for o in op.outputs}
    only = op.outputs[0].name if len(renamed) == 1 else ""
    return aligned([assignment(cotangents(a, only), bar=True) for a in op.grads]) if op.grads else ""


def cotangents(a: Assign, only: str) -> Assign:
    """`g` and `g.values` as names of what is barred."""

    def renamed(e: X) -> X:
        if e.kind == "name" and e.val == "g" and only:
            return X("name", val=f"g_{only}")
        if e.kind == "field" and e.args[0].kind == "name" and e.args[0].val == "g":
            return X("name", val=f"g_{e.val}")
        val = e.val
        if e.kind == "reduce" and val[2] is not None:  # type: ignore[index]
            val = (val[0], val[1], renamed(val[2]))  # type: ignore[index]
        return X(e.kind, tuple(renamed(x) for x in e.args), val)

    return replace(a, value=renamed(a.value))
