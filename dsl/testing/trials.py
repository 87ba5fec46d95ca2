"""Reads outside a tensor: a definition is tried in small random instances (dsl/testing/instances.py), and an access
that leaves its tensor is answered as an error with the counterexample.  That none is found proves nothing."""

from __future__ import annotations

import numpy as np

from ..ir.expression import show
from ..ir.rewriting import symbols
from ..opdef import OpDef, Presence
from ..reference.interpreter import BodyError
from ..reference.sizes import constant
from ..reference.statements import Collision, Outside
from ..text.diagnostics import Error
from ..text.source import Source
from ..text.syntax import Op, X
from ..text.vocabulary import axes_of, names_in, nodes_in, text_of, word
from .instance import Instance
from .instances import instances, outside, unmet


def check_reads(op: OpDef, source: Source, count: int = 60) -> list[Error]:
    """At most one mistake that a small random instance shows: an access without `??` that leaves its tensor, an element
    that gets two values, an argument used although it is absent, axes that do not fit."""
    if op.tree is None:
        return []
    try:
        found = outside(op, count)
    except KeyError as e:
        absent = next((p for p in op.params if p.optional and e.args == (p.name,)), None)
        if absent is None:
            raise
        use = next((n for a in op.tree.body for n in names_in(a.value) if n.val == absent.name), None)
        return [
            Error(
                "option",
                f"`{absent.name}` may be absent where it is used",
                use.span if use else op.tree.name_span,
                help=(f"say what it is then:  {absent.name} ?? 0",),
            )
        ]
    except BodyError as e:
        return [Error("rank", f"`{op.name}` fails in a small case", op.tree.name_span, str(e))]
    except (ValueError, IndexError) as e:
        return [Error("rank", f"the axes of `{op.name}` do not fit in a small case", op.tree.name_span, str(e))]
    if found and isinstance(found[0], Collision):
        return [collision_error(op.tree, *found)]
    return [outside_error(op, op.tree, source, *found)] if found else []


def check_instances(op: OpDef) -> list[Error]:
    """That some small instance of the op meets its requirements: else whatever is tried of it has tried nothing."""
    if next(instances(op, 1, legal=False), None) is not None:
        return []
    missed = unmet(op)
    if not missed:
        return [
            Error(
                "outside",
                f"no small instance of `{op.name}` could be drawn",
                op.tree.name_span,
                "its checks compared nothing",
            )
        ]
    spans = {r.message.split("{")[0]: r.span for r in op.tree.requires}
    span = next((at for start, at in spans.items() if missed[0].message.startswith(start)), op.tree.name_span)
    return [
        Error(
            "outside",
            f"no random instance of `{op.name}` met this requirement",
            span,
            "its checks compared nothing",
            help=("say where sizes and options lie:  sample N in 16 .. 32",),
        )
    ]


def check_itself(op: OpDef, count: int = 12) -> list[Error]:
    """That the formula gives the first argument wherever the op says that it answers that: callers get no copy."""
    if op.itself is None:
        return []
    first, result = op.params[0].name, op.outputs[0]
    keeps = op.promote != "float" or op.params[0].cls == "Float"
    alike = keeps and op.tensors[first].dtype == op.tensors[result].dtype
    for w in instances(op, count) if alike else ():
        x, out = w.views[first], w.run()[result]
        if constant(op.itself, w.env) and not (x.shape == out.shape and np.array_equal(x, out)):
            break
    else:
        if alike:
            return []
    return [
        Error(
            "outside",
            f"the result of `{op.name}` is not always `{first}` where it is to answer that itself",
            op.tree.itself.span,
            help=("the formula says the same:  " + f"{result} = {first} if ... else ...",),
        )
    ]


def collision_error(tree: Op, found: Collision, instance: Instance) -> Error:
    target = found.stmt.target
    a = next((a for a in reversed(tree.body) if a.name == target and a.index), None)
    case = ", ".join(
        f"{n} = {text(instance.env[n])}"
        for n in dict.fromkeys(n for v in found.stmt.loops if v.extent is not None for n in sorted(symbols(v.extent)))
    )
    return Error(
        "index",
        f"an element of `{target}` gets two values",
        (a.name_span[0], a.index[-1].span[1] + 1) if a else tree.name_span,
        f"{target}[{', '.join(map(str, found.place))}] does" + (f" when {case}" if case else ""),
        help=(
            f"to add them, write  {target}[...] = 0,  then  {target}[...] += ...",
            "or reduce over what falls together:  sum[i if ...] ...",
        ),
    )


def outside_error(op: OpDef, tree: Op, source: Source, found: Outside, instance: Instance) -> Error:
    tensor = found.read.tensor
    case = ", ".join(f"{name} = {text(instance.env[name])}" for name in sizes_of(found, op, instance))
    node, index = place_of(tree, found, instance)
    a = next((a for a in tree.body if a.name == found.stmt.target), None)
    if index is None and a is not None and a.index is None:  # whole tensors, such as what a call answers
        return Error(
            "outside",
            f"`{a.name}` can be longer than what is assigned to it",
            a.value.span,
            f"an axis of it has {extent(found.length)}" + (f" when {case}" if case else ""),
            help=(f"say how long `{a.name}` is:  where ... = ...",),
        )
    store = node is None
    span = word(source, tree.span, tensor) if index is None else index.span
    what = f"this index can leave `{tensor}`" if store else f"this read can leave `{tensor}`"
    label = f"is {found.value}" + (f" when {case}" if case else "") + f": the axis has {extent(found.length)}"
    help = ["or rule it out:  require ..."]
    if node is not None:
        help.insert(0, f"say what lies outside:  {text_of(source, node.span)} ?? 0")
    else:
        help = ["rule it out:  require ..."]
    return Error("outside", what, span, label, help=tuple(help))


def extent(length: int) -> str:
    return f"0 .. {length - 1}" if length else "no elements"


def text(value) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def sizes_of(found: Outside, op: OpDef, instance: Instance) -> list[str]:
    """The sizes and options that the index and the lengths of the tensor speak of; at most four."""
    tensor = op.tensors.get(found.read.tensor)
    lengths = [d.size for d in tensor.dims if d.size is not None] if tensor else []
    names: dict[str, None] = {}
    for e in (*lengths, *found.read.index):
        names |= dict.fromkeys(sorted(symbols(e)))
    presences = {Presence + p.name for p in op.params}
    return [n for n in names if n in instance.env and n not in presences][:4]


def place_of(tree: Op, found: Outside, instance: Instance) -> tuple[X | None, X | None]:
    """The access in the text (None: the left side of an assignment) and its index on the axis concerned."""
    tensor = found.read.tensor
    covered = {id(n.args[0]) for a in tree.body for n in nodes_in(a.value) if n.kind == "??"}
    reads = [
        n
        for a in tree.body
        for e in (*(a.index or ()), a.value)
        for n in nodes_in(e)
        if n.kind == "read" and n.args[0].kind == "name" and n.args[0].val == tensor and id(n) not in covered
    ]
    lefts = [a.index for a in tree.body if a.name == tensor and a.index]
    p = next((p for p in tree.params if p.name == tensor), None) or next(
        (o for o in tree.outputs if o.name == tensor), None
    )
    entry = entry_of(axes_of(p.type.dims) if p and p.type else None, found.axis, instance)
    index = found.read.index
    wanted = show(index[entry]).replace(" ", "") if entry is not None and entry < len(index) else ""

    def likeness(indices: tuple[X, ...]) -> int:
        """How much an access looks like the one that failed: the same words, then no bare index."""
        if entry is None or entry >= len(indices):
            return 0
        i = indices[entry]
        words = {n.val for n in nodes_in(i) if n.kind == "name"}
        return sum(w in wanted for w in words) + (
            i.kind not in ("name", "spread") or i.args != () and i.args[0].kind != "name"
        )

    best = max(reads, key=lambda n: likeness(n.args[1:]), default=None)
    indices = best.args[1:] if best is not None else max(lefts, key=likeness, default=())
    return best, indices[entry] if entry is not None and entry < len(indices) else None


def entry_of(axes: tuple[str, ...] | None, axis: int, instance: Instance) -> int | None:
    """Which index stands for an axis of the array, whose packs are expanded."""
    if axes is None:
        return axis
    at = 0
    for n, name in enumerate(axes):
        at += len(instance.packs.get(name[1:], ())) if name.startswith("*") else 1
        if axis < at:
            return n
    return None
