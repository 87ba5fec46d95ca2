"""The syntax tree as text again: one line for each clause, no more brackets than needed.

Parsing the text gives an equal tree.  Comments, line breaks and the way numbers were written are lost."""

from __future__ import annotations

from .syntax import (
    Assign,
    Binder,
    Branch,
    Count,
    Def,
    Dim,
    Launch,
    Let,
    Op,
    Put,
    Require,
    Schedule,
    Setting,
    Step,
    Type,
    X,
)
from .vocabulary import NOTHING

# How tightly a node binds; an operand that binds looser than its place needs brackets.
IF, OR, AND, NOT, COMPARE, BITS, SHIFT, SUM, PRODUCT, TERM, UNARY, POWER, POSTFIX, PRIMARY = range(14)
BINARY = {
    "or": (OR, OR, AND),
    "and": (AND, AND, NOT),
    "&": (BITS, BITS, SHIFT),
    "|": (BITS, BITS, SHIFT),
    "^": (BITS, BITS, SHIFT),
    "<<": (SHIFT, SHIFT, SUM),
    ">>": (SHIFT, SHIFT, SUM),
    "+": (SUM, SUM, PRODUCT),
    "-": (SUM, SUM, PRODUCT),
    "*": (TERM, TERM, UNARY),
    "/": (TERM, TERM, UNARY),
    "//": (TERM, TERM, UNARY),
    "%": (TERM, TERM, UNARY),
    "**": (POWER, POSTFIX, UNARY),
    "??": (POSTFIX, PRIMARY, POSTFIX),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "~="), (COMPARE, BITS, BITS)),
}
SIGNS = {"neg": "-", "~": "~"}


def expression(e: X, place: int = IF) -> str:
    """An expression that may stand where operands bind at least as tightly as `place`."""
    text, binds = written(e)
    return text if binds >= place else f"({text})"


def reaches(e: X) -> bool:
    """Whether e ends in a reduction, which takes all factors that follow."""
    return e.kind == "reduce" or e.kind in SIGNS and reaches(e.args[0])


def ends_in_reduction(e: X) -> bool:
    return reaches(e) or e.kind in BINARY and ends_in_reduction(e.args[1])


def written(e: X) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    a = e.args
    match e.kind:
        case "num":
            return repr(e.val), PRIMARY
        case "name":
            return e.val, PRIMARY
        case "str":
            return f'"{e.val}"', PRIMARY
        case "list":
            return f"[{commas(a)}]", PRIMARY
        case "call":
            return f"{e.val}({commas(a)})", PRIMARY
        case "kw":
            return f"{e.val}={expression(a[0])}", IF
        case "field":
            return f"{expression(a[0], PRIMARY)}.{e.val}", PRIMARY
        case "read":
            return f"{expression(a[0], PRIMARY)}[{commas(a[1:])}]", PRIMARY
        case "spread":
            return f"*{expression(a[0], PRIMARY)}", IF
        case "if":
            return f"{expression(a[1], OR)} if {expression(a[0], OR)} else {expression(a[2])}", IF
        case "not":
            return f"not {expression(a[0], NOT)}", NOT
        case "neg" | "~":
            if reaches(a[0]):
                return SIGNS[e.kind] + written(a[0])[0], PRODUCT
            return SIGNS[e.kind] + expression(a[0], UNARY), UNARY
        case "reduce":
            reducer, binders, condition = e.val
            where = f" if {expression(condition, OR)}" if condition is not None else ""
            return f"{reducer}[{', '.join(map(binder, binders))}{where}] {expression(a[0], PRODUCT)}", PRODUCT
        case "??":
            right = (
                SIGNS[a[1].kind] + expression(a[1].args[0], POSTFIX)
                if a[1].kind in SIGNS
                else expression(a[1], POSTFIX)
            )
            return f"{expression(a[0], PRIMARY)} ?? {right}", SHIFT
    binds, left, right = BINARY[e.kind]
    if binds == SUM and ends_in_reduction(a[0]):
        left = POSTFIX  # not needed, but easier to read; so for `??`
    if binds == TERM and reaches(a[1]):
        return f"{expression(a[0], TERM)} {e.kind} {written(a[1])[0]}", PRODUCT
    return f"{expression(a[0], left)} {e.kind} {expression(a[1], right)}", binds


def commas(args) -> str:
    return ", ".join(map(expression, args))


def binder(b: Binder) -> str:
    name = "*" * b.pack + b.name
    if b.low is not None:
        return f"{name} in {expression(b.low, SUM)} .. {expression(b.high, SUM)}"
    return name if b.high is None else f"{name} < {expression(b.high, SUM)}"


# --- Signature -------------------------------------------------------------------------------------


def dim(d: Dim) -> str:
    match d.kind:
        case "pack":
            text = f"*{d.name}" + (f":{d.rank}" if d.rank else "")
        case "split":
            text = f"({' '.join(d.factors)})"
        case "chosen":
            text = f"{dim(d.of)}@{d.at}"
        case _:
            text = "flat " * d.flat + expression(d.expr, OR if d.when is not None else IF)
    return text if d.when is None else f"{text} if {expression(d.when, OR)}"


def type_text(t: Type) -> str:
    if t.name == "choice" and not t.choices:
        return NOTHING
    name = " | ".join(f'"{c}"' for c in t.choices) if t.choices else "Complex" if t.complex else t.name
    dims = t.dims[:-1] if t.dims and t.complex else t.dims
    shape = "" if dims is None else f"[{', '.join(map(dim, dims))}]"
    like = f" like {t.like}" if t.like else ""
    return name + shape + (f" | {t.instead}" if t.instead else "") + "?" * t.optional + like


def signature(op: Op) -> str:
    """`op name(...) -> ... drop ...`"""
    params, starred = [], False
    for p in op.params:
        if p.keyword and not starred:
            params.append("*")
            starred = True
        params.append(
            "mut " * p.mut
            + f"{p.name}: {type_text(p.type)}"
            + (f" = {expression(p.default)}" if p.default is not None else "")
        )
    if len(op.outputs) > 1:
        result = " -> (" + ", ".join(o.name + (f": {type_text(o.type)}" if o.type else "") for o in op.outputs) + ")"
    else:
        result = f" -> {type_text(op.outputs[0].type)}" if op.outputs[0].type else ""
    if op.drop:
        result += f" drop {op.drop[0]}" + (f" unless {op.drop[1]}" if op.drop[1] else "")
    return f"op {op.name}({', '.join(params)}){result}"


# --- Items -----------------------------------------------------------------------------------------


def assignment(a: Assign) -> str:
    ends = {b.name: b.high for b in a.extents}
    left = [left_index(i, ends) for i in a.index or ()]
    index = "" if a.index is None else f"[{', '.join(left)}]"
    return f"{', '.join([a.name, *(str(x.val) for x in a.also)])}{index} {a.mode} {expression(a.value)}"


def left_index(i: X, ends: dict[str, X]) -> str:
    """An index on the left, with how far it runs where that is said."""
    bare = i.args[0] if i.kind == "spread" else i
    high = ends.get(str(bare.val)) if bare.kind == "name" else None
    return commas((i,)) + (f" < {expression(high, SUM)}" if high is not None else "")


def require(r: Require) -> str:
    return f"require {expression(r.condition)}" + (f', "{r.message}"' if r.message else "")


def launch(x: Launch) -> str:
    steps = f" for {x.step} < {expression(x.steps, SUM)}" if x.steps is not None else ""
    places = ", ".join(map(binder, x.places)) or expression(x.over)
    head = f"launch {x.name}{steps} over {places}" + (f" groups of {x.lanes}" if x.lanes else "")
    return "\n".join([head + ":", *(f"        {line}" for line in block(x.body))]) if x.places else head


def block(steps: tuple[Step, ...]) -> list[str]:
    """The lines of a body."""
    return [line for s in steps for line in step(s)]


def step(s: Step) -> list[str]:
    match s:
        case Put(targets=targets, mode=mode, values=values):
            return [f"{commas(targets)} {mode} {commas(values)}"]
        case Count(ranges=ranges, condition=condition, shared=shared, steps=steps):
            going = "" if condition is None else f" while {expression(condition, OR)}"
            head = f"{'each' if shared else 'for'} {', '.join(map(binder, ranges))}{going}:"
            return [head, *(f"    {line}" for line in block(steps))]
        case Branch(condition=condition, steps=steps, otherwise=otherwise):
            lines = [f"if {expression(condition, OR)}:", *(f"    {line}" for line in block(steps))]
            if len(otherwise) == 1 and isinstance(otherwise[0], Branch) and otherwise[0].chained:
                first, *rest = step(otherwise[0])
                return [*lines, f"else {first}", *rest]
            return [*lines, "else:", *(f"    {line}" for line in block(otherwise))] if otherwise else lines
    return ["break"]


def doc(text: str) -> str:
    if "\n" not in text and '"' not in text:
        return f'"{text}"'
    first, *rest = text.split("\n")
    return "\n".join([f'"""{first}', *(f"    {line}" if line else "" for line in rest), '    """'])


def setting(s: Setting) -> str:
    return s.name + f" as {s.kept}" * (s.kept != s.name) + (f" = {expression(s.value)}" if s.value is not None else "")


def routine(d: Def) -> str:
    def let(t: Let) -> str:
        return f"{', '.join(t.names)} = {commas(t.values)}"

    lines = [f"def {d.name}({', '.join(d.params)})"] + ([doc(d.doc)] if d.doc else [])
    for s in d.steps:
        if isinstance(s, Let):
            lines.append(let(s))
        else:
            goes = f" while {expression(s.condition, OR)}" if s.condition is not None else ""
            lines.append(
                f"for {s.index} in {expression(s.low, SUM)} .. {expression(s.high, SUM)}{goes}: "
                f"{'; '.join(map(let, s.steps))}"
            )
    lines += map(assignment, d.body)
    lines += map(require, d.requires)
    lines += [f"grad {p} = {expression(e)}" for p, e in d.slopes]
    return "\n    ".join(lines) + "\n"


def show(item: Op | Def | Schedule) -> str:
    """An item as text, with a newline at its end."""
    match item:
        case Def() if item.value is None:
            return routine(item)
        case Def():
            return (
                "\n    ".join(
                    [f"def {item.name}({', '.join(item.params)}) = {expression(item.value)}"]
                    + ([doc(item.doc)] if item.doc else [])
                )
                + "\n"
            )
        case Schedule():
            when = f" when {expression(item.when)}" if item.when is not None else ""
            return "\n    ".join([f"schedule {item.target}{when}", *map(expression, item.strategies)]) + "\n"
    op = item
    short = len(op.body) == 1 and (op.body[0].name, op.body[0].index, op.body[0].mode) == ("out", None, "=")
    lines = [signature(op) + (f" = {expression(op.body[0].value)}" if short else "")]
    if op.doc:
        lines.append(doc(op.doc))
    if op.family:
        lines.append(f"for {op.family[0]} in {', '.join(map(str, op.family[1]))}")
    lines += [f"where {'*' * s.pack}{s.name} = {expression(s.value)}" for s in op.sizes]
    if op.aliases:
        lines.append("as " + ", ".join(op.aliases))
    if op.within:
        lines.append(f"within {op.within}")
    if op.complexes:
        lines.append("complex " + ", ".join(op.complexes))
    lines += [
        f"module {m.name}"
        + (f"({', '.join(map(setting, m.settings))})" if m.settings else "")
        + (f' prints "{m.prints}"' if m.prints is not None else "")
        for m in op.modules
    ]
    if op.ignored:
        lines.append("ignore " + ", ".join(op.ignored))
    if op.itself is not None:
        lines.append(f"itself when {expression(op.itself)}")
    if op.on_webgpu is not None:
        call, when = map(expression, op.on_webgpu)
        lines.append(f"webgpu {call} when {when}")
    if op.foreach:
        lines.append("foreach")
    if op.numbers:
        lines.append("numbers")
    if op.modulus:
        lines.append("modulus")
    lines += map(require, (*op.requires, *op.asked))
    if not short:
        lines += map(assignment, op.body)
    lines += [f"scratch {s.name}: {type_text(s.type)}" for s in op.scratch]
    lines += map(launch, op.launches)
    lines += [f"grad {assignment(a)}" for a in op.grads]
    if op.nograd is not None:
        lines.append(("nograd " + ", ".join(op.nograd)).rstrip())
    lines += [
        f"sample {s.name} in " + ("definite" if s.low is None else f"{expression(s.low)} .. {expression(s.high)}")
        for s in op.samples
    ]
    lines += [
        f"test {expression(t.condition)}" + (f' raises "{t.raises}"' if t.raises is not None else "") for t in op.tests
    ]
    return "\n    ".join(lines) + "\n"
