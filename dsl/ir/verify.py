"""Invariants of the loop IR: what every pass behind the front end may rely on, asked after each of them.

What is found here is a mistake of the compiler, never of a definition, so it is raised.  Nothing here
evaluates anything: whether reads stay inside is for dsl/testing/trials.py.  Of kernels codegen/kernels/sound.py asks
the same."""

from __future__ import annotations

from collections.abc import Collection

from ..opdef import OpDef
from .axes import Axis, axes
from .expression import (
    REDUCTIONS,
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Element,
    Index,
    Local,
    Pack,
    RawResult,
    Read,
    Reduce,
    Result,
    Select,
    Symbol,
    Unary,
    Unknown,
    show,
    union,
)
from .intrinsics import INTRINSICS, ROUTINES
from .program import MODES, Loop, Program, Stmt, Tensor, overwrites

BITS = ("&", "|", "^", "<<", ">>")
DTYPES = ("T", "int", "int32", "bool", "own", "float")


class Unsound(Exception):
    """The message lists all that is wrong, with the statements."""


def verify(p: Program, after: str, op: OpDef | None = None, unknown: bool = False) -> None:
    """Raises Unsound if the program, or the tensors and given gradients of `op`, break an invariant.  after: the pass
    that made it; unknown: whether derivatives may be unknown as yet."""
    found = problems(p, (), unknown) + (op_problems(op) if op is not None else [])
    if found:
        raise Unsound("\n".join([f"after {after}: {m}" for m in found]))


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


def problems(p: Program, made: Collection[str] = (), unknown: bool = False) -> list[str]:
    """All that is wrong with a program; `made`: temporaries that exist before it starts."""
    out = [f"no tensor for {n}" for n in (*p.inputs, *p.outputs) if n not in p.tensors]
    there = set(p.inputs) | set(made)
    for s in p.stmts:
        out += [f"{m}, in  {s}" for m in statement(s, p.tensors, there, unknown)]
        there.add(s.target)
    out += [f"{n} is an output and never written" for n in p.outputs if n not in there]
    return [f"{p.name}: {m}" for m in out]


def statement(s: Stmt, tensors: dict[str, Tensor], there: set[str], unknown: bool) -> list[str]:
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
    if isinstance(s.body, RawResult):
        return out + raw(s, s.body, tensors, there)
    bound: dict[str, Loop] = {}
    for v in (*s.loops, *s.rloops):
        if v.name in bound:
            out.append(f"two loops {v.name}")
        if (v.extent is None) == (not v.pack):
            out.append(f"the loop {v.name} needs an extent or a pack, not both")
        if v.extent is not None and not of_host(v.extent):
            out.append(f"the host cannot compute the extent of {v.name}")
        bound[v.name] = v
    outer = {v.name for v in s.loops}
    out += index(s.target, s.idx, target)
    check = Check(tensors, bound, there, unknown)
    for e in s.idx:
        check.visit(e, place=True)
    used = union([e.loops for e in s.idx])
    check.found += [f"the target is indexed by {n}, which is no outer loop" for n in sorted(used - outer)]
    if s.mode == "=" and not s.spread and not overwrites(s) and outer - used:
        check.found.append(f"{', '.join(sorted(outer - used))}: loops that overwrite one element")
    check.visit(s.body)
    if s.pred is not None:
        check.visit(s.pred)
    if s.when is not None and not of_host(s.when):
        check.found.append(f"the host cannot compute `when`: {show(s.when)}")
    return out + check.found


def of_host(e: E) -> bool:
    """Whether the host computes it before any element is known: from sizes, options and constants."""
    match e:
        case Constant() | Symbol():
            return True
        case Binary(operator, left, right):
            return operator not in BITS and of_host(left) and of_host(right)
        case Unary("-" | "not", operand):
            return of_host(operand)
        case Select() | Call() | Cast():
            return all(of_host(p) for p in e.parts())
        case _:
            return False


def raw(s: Stmt, body: RawResult, tensors: dict[str, Tensor], there: set[str]) -> list[str]:
    """A body has no loops, reads whole temporaries and takes numbers that the host computes."""
    out = [f"no tensor for {t}" for _, t in body.raw.outputs if t not in tensors]
    if s.loops or s.rloops or s.idx or s.mode != "=" or s.pred is not None:
        out.append("a body in loops")
    if s.target != body.raw.outputs[body.raw.n][1]:
        out.append("a body under another's name")
    given = body.operands[: len(body.raw.inputs)]
    for e in given:
        if not isinstance(e, Read) or e.index or e.tensor not in there or tensors[e.tensor].role == "input":
            out.append(f"a body cannot read {show(e)}")
    return out + [f"the host cannot compute {show(e)}" for e in body.uniforms if not of_host(e)]


def index(name: str, at: tuple[E, ...], t: Tensor) -> list[str]:
    """One index per logical axis, or per axis without `when`; packs by packs."""
    all_axes: list[Axis] = axes(t)
    lasting = [a for a in all_axes if a.when is None]
    if len(at) not in (len(all_axes), len(lasting)):
        return [f"{name} has {len(all_axes)} logical axes and {len(at)} indices"]
    out = []
    for a, e in zip(all_axes if len(at) == len(all_axes) else lasting, at, strict=True):
        if a.pack and not isinstance(e, Pack):
            out.append(f"{name}: the pack {a.pack} is indexed by {show(e)}")
        if not a.pack and isinstance(e, Pack):
            out.append(f"{name}: one axis is indexed by the pack {e.loop}")
    return out


class Check:
    """What is wrong with the expressions of one statement; each is looked at once, however often it stands there."""

    def __init__(self, tensors: dict[str, Tensor], bound: dict[str, Loop], there: set[str], unknown: bool):
        self.tensors, self.bound, self.there, self.unknown = tensors, bound, there, unknown
        self.found: list[str] = []
        self.seen: set[E] = set()

    def visit(self, e: E, place: bool = False) -> None:
        """`place`: e stands directly inside an index, where a pack may."""
        if isinstance(e, Pack) and not place:
            self.found.append(f"the pack {e.loop} stands outside an index")
        if e in self.seen:
            return
        self.seen.add(e)
        match e:
            case Index(name):
                if name not in self.bound:
                    self.found.append(f"no loop for {name}")
                elif self.bound[name].pack:
                    self.found.append(f"{name} is used as one index, but runs over a pack")
            case Pack(name):
                if name not in self.bound:
                    self.found.append(f"no loop for {name}")
                elif not self.bound[name].pack:
                    self.found.append(f"{name} is used as a pack, but runs over one axis")
            case Read(tensor, at, _):
                if tensor not in self.tensors:
                    self.found.append(f"no tensor for {tensor}")
                    return
                if tensor not in self.there:
                    self.found.append(f"{tensor} is read before it is written")
                self.found += index(tensor, at, self.tensors[tensor])
                for i in at:
                    self.visit(i, place=True)
            case Call(name, operands):
                if (len(ROUTINES[name].params) if name in ROUTINES else INTRINSICS.get(name)) != len(operands):
                    self.found.append(f"{name} of {len(operands)}")
            case Unknown() if self.unknown:
                pass
            case RawResult() | Reduce() | Unknown() | Local() | Element() | Result():
                self.found.append(f"{show(e)} stands inside a statement")
        for p in e.parts():
            self.visit(p, place=isinstance(e, Read) and isinstance(p, Pack) and p in e.index)
