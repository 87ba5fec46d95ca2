"""What derivation knows of an op, and its gradient programs, order after order (dsl/gradients/reverse.py reverses one).

Names: the cotangent of tensor t is `g_t`, its gradient `d_t`.  The program of order 2 derives that of order 1 by its
own inputs: cotangents of `d_x` are `gg_x`, gradients `dd_x`, `dd_out`, `dd_g_out`; and so on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..ir.conditions import either
from ..ir.expression import E, Unknown, union, walk
from ..ir.program import Owned, Program, Stmt, Tensor, made_by
from ..ir.tidy import statement_reads, tidy
from .common_sums import added_once
from .derive import NoDerivative
from .reverse import Reverse
from .solve import Sizes, tighten

FLOATING = ("T", "float", "own")
Check = Callable[[Program, str, bool], None]  # a program, the pass that made it, whether derivatives may be unknown


@dataclass
class Derivable:
    """tensors: inputs, outputs and temporaries, also those of `grads` alone.  wanted: the tensor parameters that may
    have a gradient.  stmts: the forward program, its equations not solved yet.  grads: what is said of gradients, "":
    parts of several.  check: what looks at programs between passes."""

    name: str
    tensors: dict[str, Tensor]
    outputs: list[str]
    wanted: list[str]
    stmts: list[Stmt]
    grads: dict[str, list[Stmt]]
    owned: list[Owned]
    sizes: Sizes
    check: Check


def spoken(stmts: list[Stmt], grads: dict[str, list[Stmt]], owned: list[Owned]) -> set[str]:
    """The tensors that an op's statements, and the gradients that it says, speak of."""
    out: set[str] = set()
    for made in [stmts, *grads.values(), *[own.stmts for own in owned]]:
        for s in made:
            out |= {*made_by(s), *s.inputs}
    return out


def first(d: Derivable) -> Program | None:
    """The gradients of an op's tensor parameters, or None if it has none.

    inputs: the op's inputs, its outputs and the cotangents `g_<output>` that the statements read.
    outputs: `d_<param>` for every differentiable parameter, of its shape; a parameter without an output
    here has gradient zero.  A cotangent that a caller lacks is zero.  Raises NoDerivative."""
    outputs = [n for n in d.outputs if d.tensors[n].role == "output" and d.tensors[n].dtype in FLOATING]
    if not d.wanted or not outputs:
        return None
    tensors = {**d.tensors}
    seeds = {n: "g_" + n for n in outputs}
    for n, g in seeds.items():
        tensors[g] = replace(tensors[n], name=g, role="cotangent", like=n, optional=False)
    said = [s for made in d.grads.values() for s in made] + [s for own in d.owned for s in own.stmts]
    stmts = widened([s for s in d.stmts if tensors[s.target].role != "input"], said)
    reverse = Reverse(stmts, tensors, seeds, d.wanted, "d_", d.grads, d.sizes, d.owned)
    back = reverse.run()
    made = [s for s in stmts if tensors[s.target].role != "output"]
    given = [n for n, t in d.tensors.items() if t.role in ("input", "output")] + list(seeds.values())
    stored = [s for s in stmts if tensors[s.target].role == "output"]
    return checked(d, d.name + "_gradient", reverse, made + back, given, stored)


def later(d: Derivable, before: Program, order: int) -> Program | None:
    """The gradients of the gradient program of order `order - 1` with respect to its own inputs.

    inputs: those of that program and the cotangents of its outputs.
    outputs: one for each input of that program that is a differentiable parameter, a floating output or a cotangent,
    and on which its gradients depend.  None if there is none.  Raises NoDerivative."""
    tensors = {**d.tensors, **before.tensors}
    seeds = {n: "g" * order + "_" + tensors[n].like for n in before.outputs}
    for n, g in seeds.items():
        tensors[g] = replace(tensors[n], name=g, role="cotangent")
    wanted = [
        n
        for n in before.inputs
        if tensors[n].role == "cotangent"
        or tensors[n].dtype in FLOATING
        and (tensors[n].role == "output" or n in d.wanted)
    ]
    reverse = Reverse(before.stmts, tensors, seeds, wanted, "d" * order + "_", {}, d.sizes)
    back = reverse.run()
    name = d.name + ("_second" if order == 2 else f"_{order}")
    return checked(d, name, reverse, [*before.stmts, *back], before.inputs + list(seeds.values()), [])


def checked(
    d: Derivable, name: str, reverse: Reverse, stmts: list[Stmt], given: list[str], stored: list[Stmt]
) -> Program | None:
    """The tidy program of these statements, checked before and after.  Raises NoDerivative."""
    if not reverse.results:
        return None
    outputs = list(reverse.results.values())
    d.check(Program(name, reverse.tensors, stmts, given, outputs), "reverse", True)
    made = finished(name, reverse, stmts, given, stored)
    if made is not None:
        d.check(made, "tidy", False)
    return made


def finished(name: str, reverse: Reverse, stmts: list[Stmt], given: list[str], stored: list[Stmt]) -> Program | None:
    """The tidy program of these statements, with the inputs it reads.  Raises NoDerivative."""
    outputs = list(reverse.results.values())
    if not outputs:
        return None
    stmts = tidy([tighten(s, reverse.fresh, reverse.sizes) for s in stmts], reverse.tensors, outputs, stored)
    fewer = added_once(stmts, reverse.tensors, reverse.fresh)
    if fewer != stmts:
        stmts = tidy(fewer, reverse.tensors, outputs, stored)
    for s in stmts:
        for e in s.expressions:
            for n in walk(e):
                if isinstance(n, Unknown):
                    raise NoDerivative(n.routine)
    used = union([s.inputs for s in stmts])
    inputs = [n for n in given if n in used]
    names = inputs + [n for n in reverse.tensors if n not in inputs and any(n in made_by(s) for s in stmts)]
    return Program(name, {n: reverse.tensors[n] for n in names}, stmts, inputs, outputs)


def widened(stmts: list[Stmt], explicit: list[Stmt]) -> list[Stmt]:
    """The forward statements, with temporaries also made where a hand-written gradient reads them.

    `when` of a temporary with one statement only says that nothing else in the forward program needs it."""
    readers: dict[str, list[E | None]] = {}
    out: list[Stmt] = []

    def note(s: Stmt) -> None:
        for r in statement_reads(s):
            readers.setdefault(r.tensor, []).append(s.when)

    for s in explicit:
        note(s)
    for s in reversed(stmts):
        made = s
        if s.when is not None and s.target in readers and sum(o.target == s.target for o in stmts) == 1:
            made = replace(s, when=either([s.when, *readers[s.target]]))
        if s.target in readers:
            note(made)
        out.append(made)
    return out[::-1]
