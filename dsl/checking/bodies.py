"""Ops whose body is steps: their shapes, launches and gradients; names are dsl/checking/body_names.py's."""

from __future__ import annotations

from ..text.syntax import Launch, Op
from ..text.vocabulary import is_tensor, word
from .body_names import check_steps
from .constants import number
from .scope import Thing

MOST_LANES = 256  # of a workgroup that every device has


def check_body(walk, op: Op):
    """`walk`: the op's Formulas."""
    for x in op.scratch if not op.launches else ():
        walk.error("syntax", "a scratch tensor belongs to a body of steps", x.span, "this op has none")
    if not op.launches:
        return
    if op.body:
        walk.error("syntax", f"`{op.name}` has a formula and steps", op.body[0].span, "an op is one or the other")
    check_shapes(walk, op)
    for x in op.launches:
        check_launch(walk, x)
    if not walk.errors:
        check_steps(walk, op)
    check_slopes(walk, op)


def check_slopes(walk, op: Op):
    """Gradients of a body are not derived."""
    floats = [p for p in op.params if is_tensor(p) and p.type.name in ("Float", "Num", "Any")]
    if all(o.type is not None and o.type.name in ("Int", "Int32", "Bool") for o in op.outputs) or op.nograd == ():
        return
    given = {a.name for a in op.grads} | set(op.nograd or ())
    for p in floats:
        if p.name not in given:
            walk.error(
                "grad",
                f"the gradient of `{p.name}` cannot be derived from a body",
                word(walk.source, p.span, p.name),
                help=(f"write  grad {p.name} = ...,  or  nograd {p.name}",),
            )


def check_shapes(walk, op: Op):
    """A body sees rows: any number of leading axes as one, then axes of known sizes."""
    for what, name, t, at in [
        *(("parameter", p.name, p.type, p.span) for p in op.params if is_tensor(p)),
        *(("result", o.name, o.type, o.span) for o in op.outputs),
        *(("scratch tensor", s.name, s.type, s.span) for s in op.scratch),
    ]:
        if t is None or t.dims is None or not t.name:
            walk.error(
                "rank",
                f"the {what} `{name}` of a body needs a type and a shape",
                at,
                help=(f"write  {name}: Num[*B, N]",),
            )
        elif t.optional:
            walk.error("type", f"the {what} `{name}` of a body cannot be left out", at, "leave the `?` out")
        for n, d in enumerate(t.dims or () if t is not None else ()):
            if d.when is not None or d.kind not in ("size", "pack") or d.kind == "pack" and (n or d.rank is not None):
                walk.error(
                    "rank", "a body takes a leading pack and plain sizes", d.span, "this is another kind of axis"
                )
    for p in op.params:
        if p.mut:
            walk.error("type", "a body does not change its arguments", p.span, "leave `mut` out")


def check_launch(walk, x: Launch):
    """How many threads a launch has, and how often it runs."""
    if x.lanes and not 1 <= x.lanes <= MOST_LANES:
        walk.error("size", f"a workgroup has 1 to {MOST_LANES} threads, not {x.lanes}", x.span)
    if x.steps is not None:
        number(walk, x.steps, "the number of launches")
    if x.step and x.step in walk.scope.things:
        walk.error(
            "name",
            f"`{x.step}` means something already",
            word(walk.source, x.span, x.step),
            "here it counts the launches",
        )
    elif x.step:
        walk.things[x.step] = Thing("size", x.step, x.span)
    number(walk, x.over, "the size of a launch")
    if x.step:
        walk.things.pop(x.step, None)
