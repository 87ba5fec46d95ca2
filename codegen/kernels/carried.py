"""Programs and their kernels as the package has them (data/model.py), whoever makes them: the build, or the package
itself where it derives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dsl.gradients.derivable import Derivable
from dsl.gradients.saving import needed, saved
from dsl.ir.axes import axes
from dsl.ir.builders import loop_of
from dsl.ir.expression import E, Symbol, show
from dsl.ir.program import Dim, Loop, Program, Tensor, made_by

from ..data import model
from ..data.formulas import formulas_of
from ..data.model import Code
from ..data.names import safe_name
from ..data.nodes import Option, Uniform, nodes_of
from .computed import computed
from .context import KernelContext
from .formulas import code, compared, kinds
from .hoist import hoisted
from .kernel import Access, Kernel, Step, named_loops
from .kinds import tensor_kind

DTYPES = {"T": "T", "own": "own", "int": "int32", "int32": "int32", "bool": "bool", "float": "float32"}


def used(p: Program) -> list[Tensor]:
    """The tensors of a program that its statements speak of, or a caller."""
    names = {*p.inputs, *p.outputs}
    for s in p.stmts:
        names |= {*made_by(s), *s.inputs}
    return [t for t in p.tensors.values() if t.name in names]


def needs(d: Derivable, first: Program, p: Program, number: dict[str, int]) -> list[list[int]]:
    """For each output of a gradient program the inputs that it depends on; of those not saved for it, `~` their
    number.  first: the first gradient program."""
    kept = {n: saved(d, first.tensors[n].like) for n in first.outputs}
    every = {t for names in kept.values() for t in names}
    out: list[list[int]] = []
    for output in p.outputs:
        read = needed(p, output)
        own = kept[output] if p is first else every
        free = {n for n in read if p.tensors[n].role in ("input", "output")} - own
        out.append([~number[n] if n in free else number[n] for n in p.inputs if n in read])
    return out


def slot(t: Tensor, number: dict[str, int]) -> model.Slot:
    like = number.get(t.like, -1) if t.like else -1
    dtype = "int64" if t.role == "output" and t.dtype == "int" else DTYPES[t.dtype]
    return model.Slot(t.name, t.role, dtype, [dim(d) for d in t.dims], like, t.mut)


def dim(d: Dim) -> model.Dim:
    plain = isinstance(d.size, Symbol) and d.size.name == d.name
    size = None if plain else d.size
    option = d.option + "_" if d.option in ("inf", "nan") else d.option
    factors = [show(f) for f in d.factors]
    return model.Dim(d.kind, d.name, computed(size), factors, option, d.part, d.broadcast, computed(d.when))


def kernel(
    op: KernelContext,
    n: Kernel,
    place: int,
    tensors: dict[str, Tensor],
    number: dict[str, int],
    watched: Callable[[KernelContext, Kernel], tuple[Kernel, frozenset[int]]] | None = None,
) -> model.Kernel:
    """A kernel of statements.  number: of each tensor's slot.  watched: which accesses of a forward program report;
    a gradient meets the places that it met."""
    named = named_loops(n)
    n, hosts = hoisted(op, n)
    op = replace(op, reals=op.reals | {*hosts})  # each is one
    reported: frozenset[int] = frozenset()
    if watched is not None:
        n, reported = watched(op, n)
    values, compares = kinds(op, n, tensors), compared(op, n, tensors)
    floating = code(op, n, tensors, False, reported) if op.floating else None
    integral = code(op, n, tensors, True, reported, watched is not None) if op.integral else None
    uniforms, constants = scalars(op, floating, integral, hosts)
    return model.Kernel(
        n.shape,
        computed(n.when),
        [loop(v, named) for v in n.loops],
        [loop(v, named) for v in n.rloops],
        n.spread,
        [access(op, a, tensors, number) for a in n.accesses],
        [step(s, values[k], compares[k]) for k, s in enumerate(n.steps)],
        list(n.left),
        floating,
        integral,
        uniforms,
        constants,
        n.reverse,
        [number[m] for m in n.makes],
        place,
    )


def raw_kernel(
    op: KernelContext,
    n: Kernel,
    place: int,
    tensors: dict[str, Tensor],
    number: dict[str, int],
    body: model.Raw,
    uniforms: list[model.UniformField],
) -> model.Kernel:
    """A kernel with a body, which serves every class of T.  uniforms: the body's; the first are this kernel's."""
    code = Code([], [])
    return model.Kernel(
        n.shape,
        computed(n.when),
        [],
        [],
        False,
        [access(op, a, tensors, number) for a in n.accesses],
        [
            model.Step(
                s.kind, s.name, "", tensor_kind(op, tensors[n.accesses[s.target].tensor]), False, s.target, s.mode, "T"
            )
            for s in n.steps
        ],
        [],
        code if op.floating else None,
        code if op.integral else None,
        [replace(w, value=computed(n.uniforms[k]) if k < len(n.uniforms) else None) for k, w in enumerate(uniforms)],
        [],
        False,
        [number[m] for m in n.makes],
        place,
        body,
    )


def loop(v: Loop, named: frozenset[str]) -> model.Loop:
    return model.Loop(v.name, computed(v.extent), v.pack or "", v.name in named)


def access(op: KernelContext, a: Access, tensors: dict[str, Tensor], number: dict[str, int]) -> model.Access:
    t = tensors[a.tensor]
    places = [loop_of(i) for i in a.index]
    if len(places) != len(axes(t)):
        places = []  # every axis of t is absent here
    return model.Access(number[a.tensor], places, tensor_kind(op, t))


def step(s: Step, kind: str, compared: str) -> model.Step:
    return model.Step(s.kind, s.name, s.red or "", kind, s.inner, s.target, s.mode, compared)


def scalars(
    op: KernelContext, floating: Code | None, integral: Code | None, hosts: dict[str, E]
) -> tuple[list[model.UniformField], list[str]]:
    """(uniforms, options that are constants of the kernel), of those that a kernel's formulas use."""
    said: dict[str, str] = {}
    constants: dict[str, str] = {}
    for c in (floating, integral):
        for e in formulas_of(c) if c is not None else []:
            for x in nodes_of(e):
                if isinstance(x, Uniform):
                    said[safe_name(x.name)] = x.name
                elif isinstance(x, Option):
                    constants[safe_name(x.name)] = x.name
    return [uniform(op, said[key], hosts) for key in sorted(said)], [constants[key] for key in sorted(constants)]


def uniform(op: KernelContext, name: str, hosts: dict[str, E]) -> model.UniformField:
    if name in hosts:
        return model.UniformField(name, "f", computed(hosts[name]))
    kinds = {"num": "T", "real": "f"}
    return model.UniformField(name, "f" if name in ("inf", "nan") else kinds.get(op.kind(name), "i"), None)
