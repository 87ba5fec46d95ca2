"""Invariants of the loop IR: what every pass behind the front end may rely on.

What is found here is a mistake of the compiler, never of a definition, so it is raised.  Nothing here
evaluates anything: whether reads stay inside is for dsl/trials.py."""

from __future__ import annotations

from .axes import Axis, axes
from .expression import INTRINSICS, REDUCTIONS, ROUTINES, E, children, show, walk
from .ir import MODES, Loop, Program, Stmt, Tensor, overwrites
from .opdef import OpDef

OPERATORS = {
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
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
ARITY = {
    "const": 0,
    "sym": 0,
    "idx": 0,
    "pack": 0,
    "rand": 0,
    "cast": 1,
    "inside": 1,
    "if": 3,
    "neg": 1,
    "not": 1,
    "~": 1,
    **dict.fromkeys(OPERATORS, 2),
}
DTYPES = ("T", "int", "bool", "own", "float")


class Unsound(Exception):
    """The message lists all that is wrong, with the statements."""


def verify(p: Program, op: OpDef | None = None):
    """Raises Unsound if the program, or the tensors and given gradients of `op`, break an invariant."""
    found = problems(p) + (op_problems(op) if op is not None else [])
    if found:
        raise Unsound("\n".join(found))


def op_problems(op: OpDef) -> list[str]:
    """All that is wrong with the op's tensors and its given gradients."""
    out = [f"{op.name}: {t.name} has dtype {t.dtype!r}" for t in op.tensors.values() if t.dtype not in DTYPES]
    out += [f"{op.name}: the tensor {t.name} is known as {n}" for n, t in op.tensors.items() if t.name != n]
    out += [f"{op.name}: no tensor for {n}" for n in (*op.outputs, *op.promoted) if n not in op.tensors]
    made = {s.target for s in op.forward.stmts + op.grads.get("", [])}
    for name, stmts in op.grads.items():
        p = Program(
            f"{op.name}: grad {name}",
            op.tensors,
            stmts,
            [n for n, t in op.tensors.items() if t.role != "temp"],
            [f"d_{name}"] if name else [],
        )
        out += problems(p, made)
    return out


def problems(p: Program, made: set[str] = frozenset()) -> list[str]:
    """All that is wrong with a program; `made`: temporaries that exist before it starts."""
    out = [f"no tensor for {n}" for n in (*p.inputs, *p.outputs) if n not in p.tensors]
    there = set(p.inputs) | set(made)
    for s in p.stmts:
        out += [f"{m}, in  {s}" for m in statement(s, p.tensors, there)]
        there.add(s.target)
    out += [f"{n} is an output and never written" for n in p.outputs if n not in there]
    return [f"{p.name}: {m}" for m in out]


def statement(s: Stmt, tensors: dict[str, Tensor], there: set[str]) -> list[str]:
    out: list[str] = []
    target = tensors.get(s.target)
    if target is None:
        return [f"no tensor for the target {s.target}"]
    if target.role == "input" and not target.mut:
        out.append(f"the input {s.target} is written")
    if s.mode not in MODES:
        out.append(f"mode {s.mode}")
    if (s.red is None) != (not s.rloops):
        out.append("a reduction without loops, or loops without a reduction")
    if s.red is not None and s.red not in REDUCTIONS:
        out.append(f"reduction {s.red}")
    if s.body.op == "raw":
        return out + raw(s, tensors, there)
    bound: dict[str, Loop] = {}
    for v in (*s.loops, *s.rloops):
        if v.name in bound:
            out.append(f"two loops {v.name}")
        if (v.extent is None) == (not v.pack):
            out.append(f"the loop {v.name} needs an extent or a pack, not both")
        if v.extent is not None and any(
            n.op
            not in (
                "const",
                "sym",
                "+",
                "-",
                "*",
                "//",
                "%",
                "**",
                "neg",
                "if",
                "call",
                "/",
                "and",
                "or",
                "not",
                "<",
                "<=",
                "==",
                "!=",
                ">",
                ">=",
            )
            for n in walk(v.extent)
        ):
            out.append(f"the host cannot compute the extent of {v.name}")
        bound[v.name] = v
    outer = {v.name for v in s.loops}
    out += index(s.target, s.idx, target, bound)
    for e in s.idx:
        out += expression(e, tensors, bound, there, place=True)
    out += [
        f"the target is indexed by {n.val}, which is no outer loop"
        for e in s.idx
        for n in walk(e)
        if n.op in ("idx", "pack") and n.val not in outer
    ]
    plain = {n.val for e in s.idx for n in walk(e) if n.op in ("idx", "pack")}
    if s.mode == "=" and not s.spread and not overwrites(s) and outer - plain:
        out.append(f"{', '.join(sorted(outer - plain))}: loops that overwrite one element")
    for e in (s.body, s.pred):
        if e is not None:
            out += expression(e, tensors, bound, there)
    if s.when is not None:
        out += [f"`when` depends on {n.op} {n.val}" for n in walk(s.when) if n.op in ("idx", "pack", "read", "rand")]
    return out


def raw(s: Stmt, tensors: dict[str, Tensor], there: set[str]) -> list[str]:
    """A raw body has no loops, reads whole temporaries and is told numbers that the host computes."""
    out = [f"no tensor for {t}" for _, t in s.body.val.outputs if t not in tensors]
    if s.loops or s.rloops or s.idx or s.mode != "=" or s.pred is not None:
        out.append("a raw body in loops")
    if s.target != s.body.val.outputs[s.body.val.n][1]:
        out.append("a raw body under another's name")
    for e in s.body.args:
        if e.op == "read" and (e.args or e.val[0] not in there or tensors[e.val[0]].role == "input"):
            out.append(f"a raw body cannot read {show(e)}")
        out += [
            f"the host cannot compute {show(e)}"
            for n in walk(e)
            if n is not e and n.op in ("idx", "pack", "read", "rand")
        ]
    return out


def index(name: str, at: tuple[E, ...], t: Tensor, bound: dict[str, Loop]) -> list[str]:
    """One index per logical axis, or per axis without `when`; packs by packs."""
    all_axes: list[Axis] = axes(t)
    lasting = [a for a in all_axes if a.when is None]
    if len(at) not in (len(all_axes), len(lasting)):
        return [f"{name} has {len(all_axes)} logical axes and {len(at)} indices"]
    out = []
    for a, e in zip(all_axes if len(at) == len(all_axes) else lasting, at):
        if a.pack and e.op != "pack":
            out.append(f"{name}: the pack {a.pack} is indexed by {show(e)}")
        if not a.pack and e.op == "pack":
            out.append(f"{name}: one axis is indexed by the pack {e.val}")
    return out


def expression(
    e: E, tensors: dict[str, Tensor], bound: dict[str, Loop], there: set[str], place: bool = False
) -> list[str]:
    """`place`: e stands directly inside an index, where a pack may."""
    out: list[str] = []
    if e.op in ("idx", "pack"):
        loop = bound.get(e.val)
        if loop is None:
            out.append(f"no loop for {e.val}")
        elif (e.op == "pack") != bool(loop.pack):
            out.append(f"{e.val} is used as {e.op}")
        if e.op == "pack" and not place:
            out.append(f"the pack {e.val} stands outside an index")
    elif e.op == "read":
        t = tensors.get(e.val[0])
        if t is None:
            return [f"no tensor for {e.val[0]}"]
        if e.val[0] not in there:
            out.append(f"{e.val[0]} is read before it is written")
        out += index(e.val[0], e.args, t, bound)
    elif e.op == "call":
        if (len(ROUTINES[e.val].params) if e.val in ROUTINES else INTRINSICS.get(e.val)) != len(e.args):
            out.append(f"{e.val} of {len(e.args)}")
    elif e.op not in ARITY:
        out.append(f"a node {e.op}")
    elif ARITY[e.op] != len(e.args):
        out.append(f"{e.op} of {len(e.args)}")
    if e.op == "inside" and e.args and e.args[0].op != "read":
        out.append("`inside` of no read")
    for c in children(e):
        out += expression(c, tensors, bound, there, place=e.op == "read" and c in e.args)
    return out
