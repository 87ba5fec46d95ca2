"""Checks of what is known before an op runs: sizes, defaults, conditions and their messages, samples and tests.
None of them may look at elements of tensors."""

from __future__ import annotations

import re
from dataclasses import replace

from ..lowering.renaming import arguments
from ..text.diagnostics import Error, did_you_mean
from ..text.parse import parse_formula
from ..text.source import Source
from ..text.syntax import Op, X
from ..text.vocabulary import ERRORS, FUNCTIONS, WARNING, is_tensor, nodes_in, word
from .accesses import Place, check_field
from .calls import check_call
from .scope import CONSTANTS
from .shapes import KINDS

WHOLE = Place()  # a formula over whole tensors, sizes and options
ELEMENTS = ("reduce", "read", "spread", "??", "field", "list")
ARITHMETIC = ("num", "neg", "+", "-", "*", "/", "//", "%", "**")
BITWISE = ("~", "&", "|", "^", "<<", ">>")
COMPARISON = ("name", "not", "and", "or", "==", "!=", "<", "<=", ">", ">=")
SHORT = {
    "name": "a name",
    "read": "an access",
    "reduce": "a reduction",
    "call": "a call",
    "list": "a list",
    "str": "a text",
    "field": "a result's name",
}


def check_clauses(walk, op: Op, source: Source, clean: bool):
    """Sizes, defaults, conditional axes, `require` and `sample`; `walk` is the op's `Formulas`, `clean` says
    whether its signature has no mistakes so far."""
    from .groups import check_asked

    for r in op.requires:
        if not r.message:
            check_asked(walk, r)
            continue
        before = len(walk.errors)
        number(walk, r.condition, "a condition")
        if not r.group:
            message(walk, r, source)
        else:
            walk.errors[before:] = [
                replace(
                    e,
                    help=(
                        *e.help,
                        f"the group `{r.group}` speaks of it",
                    ),
                )
                for e in walk.errors[before:]
            ]
    for r in op.requires + op.asked:
        kind = re.match(r"(\w+Error): ", r.message)
        if kind and (kind[1] not in ERRORS or r in op.requires):
            walk.error(
                "name",
                f"`{kind[1]}` is no kind of error"
                if kind[1] not in ERRORS
                else f"`{kind[1]}` is said of elements only",
                r.span,
                did_you_mean(kind[1], ERRORS),
                help=(f"a requirement over elements may begin with: {', '.join(ERRORS)}",),
            )
    for r in op.asked:
        if r.message.startswith(WARNING):
            walk.error("name", "what only warns looks at no elements", r.span, "this is an op of its own; it refuses")
        if r.unless is not None:
            number(walk, r.unless, "where a requirement is not asked")
        if "{" in r.message:
            walk.error(
                "syntax", "the message of a requirement over elements has no values", r.span, "leave the braces out"
            )
    if op.itself is not None:
        itself(walk, op)
    if op.on_webgpu is not None:
        on_webgpu(walk, *op.on_webgpu)
    for s in op.samples:
        sample(walk, s, source)
    if not clean:
        return
    for s in op.sizes:
        number(walk, s.value, "a size")
    for p in op.params:
        if p.default is not None and p.default.kind not in ("str", "list") and p.default.val != "all":
            number(walk, p.default, "a default")
    shapes = [p.type.dims for p in op.params] + [o.type.dims for o in op.outputs if o.type]
    for d in [d for dims in shapes for d in dims or ()]:
        for e in (d.expr, d.when):
            if e is not None:
                number(walk, e, "a shape")


def number(walk, e: X, what: str):
    """A formula of sizes and options."""

    def late(n: X) -> bool:
        """Whether a node is an access, a reduction, a draw, or a call of an op."""
        if n.kind != "call":
            return n.kind in ELEMENTS
        return n.val == "rand" or n.val in walk.vocabulary.ops and n.val not in FUNCTIONS

    wrong = next(filter(late, nodes_in(e)), None)
    bits = next((n for n in nodes_in(e) if n.kind in BITWISE), None)
    if wrong:
        walk.error("size", f"{what} is known before the op runs", wrong.span, f"{SHORT.get(wrong.kind, 'this')} is not")
    elif bits:
        walk.error("size", f"{what} is computed with numbers, not with their bits", bits.span)
    else:
        walk.visit(e, WHOLE)


def itself(walk, op: Op):
    """When an op's result is its first argument."""
    number(walk, op.itself, "when an op answers its argument")
    first, at = op.params[0] if op.params else None, op.itself.span
    if first is None or not is_tensor(first) or first.type.optional or first.mut:
        walk.error(
            "option", f"`{op.name}` cannot answer its first argument", at, "that is no tensor that is always there"
        )
    elif len(op.outputs) != 1:
        walk.error("option", f"`{op.name}` cannot answer its first argument", at, "it has several results")


def on_webgpu(walk, call: X, when: X):
    """What WebGPU runs instead of an op: a call of another one, with tensors by their names and numbers."""
    number(walk, when, "when WebGPU runs another op")
    callee = walk.vocabulary.ops.get(call.val) if call.kind == "call" else None
    if callee is None:
        walk.error("name", "WebGPU runs another op instead", call.span, "this is no call of one")
        return
    check_call(walk, call)
    for p, value in arguments(call, callee):
        if not is_tensor(p):
            number(walk, value, "an argument")
        elif value.kind != "name" or walk.things.get(value.val, None) is None:
            walk.error("type", f"`{p.name}` of `{callee.name}` is a tensor, given by its name", value.span)


def message(walk, r, source: Source):
    """The formulas in the braces of a message."""
    start = source.text.rfind('"', r.span[0], r.span[1] - 1) + 1
    for m in re.finditer(r"\{([^{}]*)\}", r.message):
        formula = parse_formula(source, start + m.start(1), start + m.end(1))
        if isinstance(formula, Error):
            walk.error(
                "syntax", "this is no formula", (start + m.start(), start + m.end()), formula.label or formula.message
            )
        else:
            number(walk, formula, "a message")


def sample(walk, s, source: Source):
    at = word(source, (s.span[0] + 6, s.span[1]), s.name)
    thing = walk.scope.things.get(s.name)
    if not thing:
        walk.error(
            "name",
            f"unknown name `{s.name}`",
            at,
            did_you_mean(s.name, walk.scope.of_kind("tensor", "option")),
            name=s.name,
        )
    elif thing.kind not in ("tensor", "option", "size"):
        walk.error("name", f"`{s.name}` is no parameter and no size", at, f"it is {KINDS[thing.kind]}")
    for bound in (s.low, s.high) if s.low is not None else ():
        wrong = next((n for n in nodes_in(bound) if n.kind not in ARITHMETIC[:6]), None)
        if wrong:
            walk.error(
                "test", "samples are drawn between two numbers", wrong.span, f"{SHORT.get(wrong.kind, 'this')} is none"
            )


# --- Tests -----------------------------------------------------------------------------------------


def check_test(walk, e: X, raises: bool, own: list[str]):
    """A test compares a call, or names what a call raises; its arguments are numbers, texts and lists."""
    before = len(walk.errors)
    if raises:
        if e.kind != "call":
            walk.error("test", "`raises` follows a call", e.span, "nothing is called here")
    elif e.kind not in ("==", "~=") or any(x.kind in ("==", "~=") for x in e.args):
        walk.error("test", "a test compares", e.span, help=("write  f(...) == value,  or `~=` for about",))
    nodes = list(nodes_in(e))
    if len(walk.errors) == before and not any(c.kind == "call" and c.val in own for c in nodes):
        walk.error("test", f"this test does not call `{own[0]}`", e.span)
    compared = () if raises else e.args if e.kind in ("==", "~=") else (e,)
    for n in nodes:
        if n.kind == "call":
            called(walk, n, raises)
        elif n.kind == "name" and n.val not in (*CONSTANTS, "all"):
            walk.error(
                "name",
                f"unknown name `{n.val}`",
                n.span,
                did_you_mean(n.val, CONSTANTS) or "a test has numbers only",
                name=n.val,
            )
        elif n.kind == "field" and n.args[0].kind == "call":
            if n.args[0].val in walk.vocabulary.ops:
                check_field(walk, n, (n.span[1] - len(n.val), n.span[1]))
        elif n.kind == "list" and not even(n):
            walk.error("test", "the rows of this list differ in length", n.span)
        elif n.kind in ARITHMETIC[1:] and any(x.kind not in (*ARITHMETIC, "name") for x in n.args):
            wrong = next(x for x in n.args if x.kind not in (*ARITHMETIC, "name"))
            walk.error(
                "test", "tests compute with numbers only", wrong.span, f"this is {SHORT.get(wrong.kind, 'no number')}"
            )
        elif n.kind not in ("num", "name", "str", "list", "kw", *ARITHMETIC) and n is not e:
            walk.error("test", "a test has numbers only", n.span)
    if any(x.kind == "str" for x in compared):
        walk.error("test", "a test compares numbers", e.span)


def called(walk, n: X, raises: bool):
    names = list(walk.vocabulary.ops)
    if n.val not in names:
        label = did_you_mean(n.val, names) or (
            "only ops are called in tests" if n.val in walk.vocabulary.functions() else ""
        )
        walk.error("name", f"unknown op `{n.val}`", (n.span[0], n.span[0] + len(n.val)), label, name=n.val)
    elif not raises:
        check_call(walk, n)


def even(e: X) -> bool:
    """Whether the rows of a list have one shape, as far down as it is written."""

    def shape(x: X):
        if x.kind != "list":
            return ()
        inner = {shape(y) for y in x.args}
        if None in inner or len(inner) > 1:
            return None
        return (len(x.args), *next(iter(inner), ()))

    return shape(e) is not None
