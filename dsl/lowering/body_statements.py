"""Ops whose body is steps: every input is copied into a temporary, row-major and of its full shape, and then the body
is named once for each result (`RawResult`, see dsl.ir.expression)."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import Axis, axes, loop_dim, loop_index
from ..ir.builders import read, sym
from ..ir.expression import E, RawResult, Symbol, walk
from ..ir.program import Body, Loop, Raw, Stmt, Tensor
from ..ir.rewriting import symbols
from ..ir.row_calls import Inlined
from ..opdef import symbol
from ..text.vocabulary import is_tensor
from .bodies import BodyLowering, natural_sizes, symbols_of, tensors_of
from .dims import Item
from .types import output_dtype

OWN = {"Bool": "bool"}


def body_of(work) -> Body:
    """The launches of an op; `work` is its Lowering."""
    tensors = tensors_of(work, [p.name for p in work.op.params if is_tensor(p)])
    made = [BodyLowering(work, tensors) for _ in work.op.launches]
    launches = tuple(w.launch(x) for w, x in zip(made, work.op.launches))
    symbols = symbols_of(launches, made[0].kinds.symbols, tensors)
    return Body(work.opname, launches, tensors, tuple(symbols.items()), natural_sizes(work, tensors, launches))


def uniforms_of(body: Body) -> list[tuple[str, str]]:
    """(name, kind) of each size and option that the body speaks of: "i" whole, "f" real."""
    steps = {x.step for x in body.launches}
    found: dict[str, str] = {n: kind if kind == "f" else "i" for n, kind in body.symbols}
    for n in (m for x in body.launches for e in (x.over, x.steps) if e is not None for m in sorted(symbols(e))):
        if n not in steps:
            found[n] = "i"
    return list(found.items())


def body_statements(work):
    """Adds the statements of an op with a body to `work.stmts`."""
    op, reads = work.op, []
    for p in (p for p in op.params if is_tensor(p)):
        given, name = work.tensors[p.name], f"{p.name}_rows_"
        loops = [Loop(f"i{n}_", a.extent, a.pack or None) for n, a in enumerate(axes(given))]
        at = tuple(map(loop_index, loops))
        dtype = OWN.get(p.type.name, "int") if given.dtype == "own" else given.dtype
        items = [Item("pack" if v.pack else "one", (a,), v.pack or "") for v, a in zip(loops, axes(given))]
        work.declare(Tensor(name, "temp", tuple(map(loop_dim, loops)), dtype), items)
        work.stmts.append(Stmt(name, at, tuple(loops), read(p.name, at)))
        reads.append((p.name, name))
    for s in op.scratch:
        dims, items = work.patterns.of(s.type.dims, result=True)
        work.declare(Tensor(s.name, "temp", dims, output_dtype(s.type.name, op)), items)
    body = body_of(work)
    outputs = [o.name for o in op.outputs] + [s.name for s in op.scratch]
    uniforms = uniforms_of(body)
    args = tuple(read(t, ()) for _, t in reads) + tuple(sym(n) for n, _ in uniforms)
    raw = Raw(
        body, tuple(n for n, _ in reads), tuple((n, n) for n in outputs), tuple(uniforms), inlined=Inlined(None, {}, {})
    )
    work.stmts += raw_statements(raw, args, len(op.outputs))


def own(inlined: Inlined, op):
    """Says of a body that it stands in its own op."""
    inlined.op = op
    inlined.packs.update({a.pack: (Axis(pack=a.pack),) for t in op.tensors.values() for a in axes(t) if a.pack})
    inlined.env.update(
        {
            e.name: e
            for t in op.tensors.values()
            for a in axes(t)
            if a.extent is not None
            for e in walk(a.extent)
            if isinstance(e, Symbol)
        }
    )
    inlined.env.update(
        {
            n: sym(n)
            for n in [
                *(f"count_{pack}" for pack in inlined.packs),
                *(n for n, _ in op.sizes),
                *(symbol(p.name) for p in op.params if p.kind != "tensor"),
            ]
        }
    )


def raw_statements(raw: Raw, args: tuple[E, ...], results: int) -> list[Stmt]:
    """One statement for each result of a body that runs."""
    return [Stmt(t, (), (), RawResult(replace(raw, n=n), args)) for n, (_, t) in enumerate(raw.outputs[:results])]
