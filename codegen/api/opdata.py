"""OpDef -> model.Op: an op as the package carries it, with formulas that run here and print as TypeScript."""

from __future__ import annotations

from functools import cache

from dsl.ir.expression import Call, walk
from dsl.ir.intrinsics import ROUTINES
from dsl.ir.program import Presence, Program, Raw, Tensor
from dsl.ir.rewriting import symbols
from dsl.ir.steps import expressions
from dsl.lowering.routines import Routine
from dsl.lowering.types import symbol_kinds
from dsl.opdef import Library, OnWebGPU, OpDef, Schedule, symbol

from ..data import model
from ..data.functions import routine_name
from ..kernels import kernel as build
from ..kernels import procedures
from ..kernels.bounds_checks import watched
from ..kernels.carried import DTYPES, kernel, needs, raw_kernel, slot, used
from ..kernels.context import KernelContext
from ..kernels.elementwise import elementwise
from ..kernels.fused import kernels
from ..kernels.host_formula import formula
from ..kernels.verified import verify
from ..planner.writer import checks, kernel_functions
from ..wgsl import prelude, routines
from ..wgsl.bodies import printed_body
from ..wgsl.names import plain_name
from .literal import literal
from .notation import written_procedure


def op_data(op: OpDef) -> model.Op:
    """Everything that host code and kernels need to know of an op, but its CPU kernels."""
    tensors = all_tensors(op)
    number = {name: n for n, name in enumerate(tensors)}
    programs = [program(op, p, tensors, number) for p in (op.forward, op.gradient, op.gradient2) if p is not None]
    return signature(op, tensors, number, programs)


def signature(
    op: OpDef, tensors: dict[str, Tensor] | None = None, number: dict[str, int] | None = None, programs=()
) -> model.Op:
    """What binding a call needs; without programs, nothing can run."""
    if tensors is None or number is None:
        tensors = all_tensors(op)
        number = {name: n for n, name in enumerate(tensors)}
    return model.Op(
        op.name,
        [param(p, number) for p in op.params],
        [slot(t, number) for t in tensors.values()],
        op.promote,
        [number[n] for n in op.promoted],
        [model.Size(n, formula(e)) for n, e in op.sizes],
        [model.Require(formula(r.holds), r.message, [formula(v) for v in r.values]) for r in op.requires],
        [number[n] for n in op.outputs],
        list(op.outputs),
        op.drop,
        op.keepdim,
        op.random,
        list(programs),
        [schedule(s) for s in op.schedules],
        op.numbers,
        bool(programs) and elementwise(op),
        routines_of(programs),
    )


def routines_of(programs: list[model.Program]) -> list[model.Function]:
    """The rare functions and routines that kernels call, with all that those call: each after what it calls."""
    made, calls, steps = prelude.rare() | routines.functions(), prelude.calls(), routine_steps(tuple(ROUTINES.values()))
    kernels = [n for p in programs for n in p.kernels]
    said = {name for n in kernels for code in (n.floating, n.integral) if code for name in kernel_functions(code)}
    said |= {name for n in kernels if n.raw for name in n.raw.helpers}
    said |= {name for p in programs[:1] for n in p.kernels if n.integral for s in n.steps for name in checks(n, s, "i")}
    found: dict[str, model.Function] = {}

    def bring(name: str):
        if name in found or name not in made:
            return
        for called in sorted(calls[name]):
            bring(called)
        found[name] = model.Function(name, made[name], calls[name], steps.get(name, ""))

    for name in sorted(said | derivatives(said) if len(programs) > 1 else said):
        bring(name)
    return [*found.values()]


@cache
def routine_steps(loaded: tuple[Routine, ...]) -> dict[str, str]:
    """Name -> what it does, of every routine, for floats and, where it may have those, whole numbers."""
    return {
        routine_name(r.name, "i" if integral else "f"): written_procedure(procedures.routine(r, integral))
        for r in loaded
        for integral in ((False, True) if r.integral else (False,))
    }


# Rare functions in the derivatives of others.
SLOPES = {"sinh_of": ["cosh_of"], "cosh_of": ["sinh_of"], "lgamma_of": ["digamma_of"]}


def derivatives(names: set[str]) -> set[str]:
    """The functions that derivatives of any order of such kernels may call."""
    found: set[str] = set()
    todo, routines_of_floats = [*names], {routine_name(r.name, "f"): r for r in ROUTINES.values()}
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        todo += SLOPES.get(name, [])
        r = routines_of_floats.get(name)
        if r is not None:
            calls = {n.name for e in r.slopes.values() for n in walk(e) if isinstance(n, Call)}
            todo += [routine_name(n, "f") if n in ROUTINES else f"{n}_of" for n in calls]
    return found


def takes_parts(op: OpDef) -> bool:
    """Whether binding a call of the op needs more than tensors, broadcasting and numbers: codegen/binding/parts.py."""
    dims = [d for t in all_tensors(op).values() for d in t.dims]
    return any(p.kind not in ("tensor", "num", "real") for p in op.params) or any(d.option or d.factors for d in dims)


def schedule(s: Schedule) -> model.Schedule:
    return model.Schedule(s.target, formula(s.when), s.strategy, dict(s.numbers))


def rules(library: Library) -> list[model.Schedule]:
    """The schedules for shapes of kernels, which planning on a GPU takes beside an op's own."""
    return [schedule(s) for s in library.schedules]


def all_tensors(op: OpDef, programs: int = 3) -> dict[str, Tensor]:
    """The tensors of so many of its programs: parameters first, then results, then the rest."""
    found: dict[str, Tensor] = {}
    for t in (*(op.tensors[p.name] for p in op.params if p.kind == "tensor"), *(op.tensors[n] for n in op.outputs)):
        found[t.name] = t
    for p in (op.forward, op.gradient, op.gradient2)[:programs]:
        if p is None:
            continue
        for t in used(p):
            found.setdefault(t.name, t)
        if p is op.forward and op.gradient is not None and op.derivable is not None:
            found |= {n: found.get(n, t) for n, t in op.derivable.tensors.items()}
    return found


def param(p, number: dict[str, int]) -> model.Param:
    return model.Param(
        p.name,
        p.kind,
        p.cls,
        p.optional,
        p.keyword,
        formula(p.default),
        p.has_default,
        list(p.choices),
        p.rank,
        p.pack,
        number[p.name] if p.kind == "tensor" else -1,
        p.flat,
        p.instead,
        p.precise,
    )


def context(op: OpDef) -> KernelContext:
    """What the formulas of the op's kernels ask of its signature."""
    options = {symbol(p.name): p.kind for p in op.params if p.kind != "tensor"}
    reals = frozenset(name for name, kind in symbol_kinds(op).items() if name not in options)
    asked = op.outputs if op.tree is not None and op.tree.question else []
    return KernelContext(
        options,
        reals,
        {p.name: p.cls for p in op.params if p.kind == "tensor"},
        asked,
        has_floats(op),
        has_integers(op),
        frozenset([Presence + p.name for p in op.params]),
    )


def program(op: OpDef, p: Program, tensors: dict[str, Tensor], number: dict[str, int]) -> model.Program:
    """One of the op's programs."""
    made = kernels(p)
    return model.Program(
        [number[n] for n in p.inputs],
        [number[n] for n in p.outputs],
        saves(op, p, number),
        [op_kernel(op, n, i, tensors, number, p is op.forward) for i, n in enumerate(made)],
    )


def on_webgpu(instead: OnWebGPU) -> str:
    """What runtime/dispatch/on-webgpu.ts is told: the op, its arguments, and when."""
    args = [x if isinstance(x, int) else formula(x) for x in instead.args]
    return f"() => {instead.op}Op, {literal(args)}, {formula(instead.when)}"


def saves(op: OpDef, p: Program, number: dict[str, int]) -> list[list[int]]:
    """For each output of a program what it needs of the inputs."""
    if p is op.forward:
        return [[number[n] for n in p.inputs] for _ in p.outputs]
    assert op.gradient is not None and op.derivable is not None
    return needs(op.derivable, op.gradient, p, number)


def op_kernel(
    op: OpDef, n: build.Kernel, place: int, tensors: dict[str, Tensor], number: dict[str, int], forward: bool
) -> model.Kernel:
    if n.raw is not None:
        return raw_kernel(context(op), n, place, tensors, number, body(n.raw), body_uniforms(n.raw))
    made = kernel(context(op), n, place, tensors, number, watched if forward else None)
    verify(made, symbol_kinds(op))
    return made


def body(source: Raw) -> model.Raw:
    """What a raw kernel runs."""
    launches = [
        model.RawLaunch(x.name, x.step, formula(x.steps), formula(x.over), x.lanes) for x in source.body.launches
    ]
    names = [*source.inputs, *(name for name, _ in source.outputs)]
    dtype = DTYPES[source.T]
    made = printed_body(source.body)
    helpers = [name for name in made.helpers if name in prelude.functions()]
    steps = written_procedure(procedures.body(source.body, names))
    return model.Raw([plain_name(n) for n in names], dtype, made.text, launches, helpers, steps)


def body_uniforms(source: Raw) -> list[model.UniformField]:
    """The uniforms of a body; the values of all but `inf` and `nan` are its kernels'."""
    kinds = {"T": "T" if source.T == "T" else "i"}
    uniforms = [model.UniformField(name, kinds.get(kind, kind), None) for name, kind in source.uniforms]
    said = {n for x in source.body.launches for e in expressions(x.body) for n in symbols(e)}
    return uniforms + [model.UniformField(name, "f", None) for name in ("inf", "nan") if name in said]


def has_floats(op: OpDef) -> bool:
    """Whether T may be a floating type."""
    return op.promote in ("float", "none") or any(
        p.cls in ("Num", "Float", "Any") for p in op.params if p.name in op.promoted
    )


def has_integers(op: OpDef) -> bool:
    """Whether T may be a whole-number type or bool."""
    return op.promote != "float" and any(p.cls != "Float" for p in op.params if p.name in op.promoted)
