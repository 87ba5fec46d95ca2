"""What no call reaches: overloads whose calls an earlier op of the same name takes, and ops that nothing calls.

Ops of one name are tried in the order of their files: those whose kinds, ranks and types fit, and of several the first
that binds (`choose` in runtime/dispatch/op-arguments.ts, codegen/binding/binding.py).  An overload is dead where an
earlier op fits and binds whenever it does.  That is decided from the signatures alone, and only where they decide it:
`require` and shapes that differ leave it open."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from ..ir.builders import is_binary
from ..ir.expression import E, Symbol, walk
from ..ir.program import Dim
from ..ir.rewriting import transform
from ..opdef import OpDef, Param, symbol
from ..text.diagnostics import Error, did_you_mean
from ..text.source import Source
from ..text.syntax import Op, Span
from ..text.vocabulary import LISTS, nodes_in
from .recurrences import RUNS

# Types that a tensor parameter takes, and options of a kind that another one's values fit, too.
TYPES = {
    "Num": {"float", "int", "bool"},
    "Any": {"float", "int", "bool"},
    "Float": {"float"},
    "Int": {"int"},
    "Bits": {"int", "bool"},
    "Bool": {"bool"},
}
WIDER = {"real": ("num", "int", "dim"), "num": ("int", "dim"), "int": ("dim",), "dims": ("dim",)}


def alias_span(op: Op, source: Source, n: int) -> Span:
    """Where the n-th name of an op stands in its `as` clauses."""
    return clause_word(op, source, "as", op.aliases[n], op.aliases[:n].count(op.aliases[n]))


def clause_word(op: Op, source: Source, first: str, text: str, skip: int = 0) -> Span:
    """Where a dotted name stands in the clauses that begin with a word."""
    for m in re.finditer(rf"\n {{4}}{first} [^\n]*(?:\n {{5,}}[^\n]*)*", source.text[op.span[0] : op.span[1]]):
        found = list(re.finditer(rf"(?<![\w.{{}}]){re.escape(text)}(?![\w.{{}}])", m[0]))
        if skip < len(found):
            return op.span[0] + m.start() + found[skip].start(), op.span[0] + m.start() + found[skip].end()
        skip -= len(found)
    return op.name_span


# --- Overloads -------------------------------------------------------------------------------------


def dead_overloads(ops: Iterable[OpDef], sources: dict[str, Source]) -> list[Error]:
    """Names under which an op is never run.  ops: in the order in which they are tried; sources: of each file's
    stem."""
    before: dict[str, list[OpDef]] = {}
    errors: dict[tuple[str, Span], Error] = {}
    for op in ops:
        for n, alias in enumerate(op.aliases):
            space, name = alias.rsplit(".", 1)
            # A function of `torch` is a method, too: an earlier one takes the calls of a method of that name alone.
            earlier = [
                *before.get(alias, ()),
                *(before.get(f"torch.{name}", ()) if space == "Tensor" and not name.endswith("_") else ()),
            ]
            taker = next((o for o in earlier if takes_all(o, op)), None)
            before.setdefault(alias, []).append(op)
            if taker is None or op.tree is None or op.file not in sources:
                continue
            at = alias_span(op.tree, sources[op.file], n)
            where = sources[taker.file] if taker.file in sources and taker.tree is not None else None
            nearby = where is not None and where.path == sources[op.file].path
            errors.setdefault(
                (op.file, at),
                Error(
                    "name",
                    f"no call of `{alias}` reaches `{op.name}`",
                    at,
                    f"`{taker.name}` takes them all",
                    ((taker.tree.name_span, "tried before, with the same or wider parameters"),) if nearby else (),
                    ("let a parameter, or a `require` of the earlier one, tell them apart, or leave the name out",)
                    + (
                        ()
                        if nearby or where is None
                        else (f"`{taker.name}` is in {where.path}, line {where.place(taker.tree.name_span[0])[0] + 1}",)
                    ),
                    sources[op.file].path,
                ),
            )
    return list(errors.values())


def takes_all(a: OpDef, b: OpDef) -> bool:
    """Whether `a` fits and binds whenever `b` does, as far as signatures say."""
    there = {p.name: p for p in a.params}
    own = {p.name for p in b.params}
    places = [p.name for p in a.params if not p.keyword], [p.name for p in b.params if not p.keyword]
    if places[0][: len(places[1])] != places[1] or not own <= there.keys() or b.numbers and not a.numbers:
        return False
    if any(
        not p.optional and not p.has_default or p.kind in ("dim", "dims", *LISTS) for p in a.params if p.name not in own
    ):
        return False
    if not all(wider(there[p.name], p) for p in b.params):
        return False
    wanted = [r.holds for r in a.requires if not r.warns]
    if not set(wanted) <= {r.holds for r in b.requires} or any(s not in b.sizes for s in a.sizes):
        return False
    floats = all(p.cls == "Float" for p in b.params if p.kind == "tensor")
    if not floats and a.promote != b.promote and any(p.kind == "num" for p in a.params):
        return False  # a number must fit T
    return shapes(a, b) and made_of_given(a)


def wider(p: Param, q: Param) -> bool:
    """Whether a parameter takes what another one takes."""
    left_out = lambda p: p.optional or p.has_default
    if left_out(q) and not left_out(p):
        return False
    if p.kind == "tensor" == q.kind:
        return TYPES[p.cls] >= TYPES[q.cls] and (p.flat or not q.flat) and q.instead in ("", p.instead)
    if p.kind == q.kind == "choice":
        return set(p.choices) >= set(q.choices)
    return (p.kind == q.kind or q.kind in WIDER.get(p.kind, ())) and (p.rank, p.pack != "") == (q.rank, q.pack != "")


def shapes(a: OpDef, b: OpDef) -> bool:
    """Whether shapes that fit b's patterns fit a's: they are the same, or a takes one tensor of any shape."""
    given = [p.name for p in a.params if p.kind == "tensor"]
    if (
        len(given) == 1
        and (dims := a.tensors[given[0]].dims)
        and len(dims) == 1
        and dims[0].kind in ("domain", "pack")
        and not dims[0].option
    ):
        return True
    return [p.name for p in b.params if p.kind == "tensor"] == given and pattern(a, given) == pattern(b, given)


def pattern(op: OpDef, given: list[str]) -> list[list[Dim]]:
    """The tensors' shapes, with axes and sizes numbered in the order in which they appear."""
    numbers: dict[str, str] = {}
    options = {symbol(p.name) for p in op.params if p.kind != "tensor"}

    def number(name: str) -> str:
        return numbers.setdefault(name, f"#{len(numbers)}") if name and name not in options else name

    def numbered(e: E | None) -> E | None:
        return e and transform(e, lambda n: Symbol(number(n.name)) if isinstance(n, Symbol) else None)

    return [
        [
            replace(
                d,
                name=number(d.name),
                size=numbered(d.size),
                factors=tuple(map(numbered, d.factors)),
                when=numbered(d.when),
            )
            for d in op.tensors[n].dims
        ]
        for n in given
    ]


def made_of_given(op: OpDef) -> bool:
    """Whether the sizes of results are those of arguments: a computed one might be negative."""
    sizes = [
        e
        for t in op.tensors.values()
        if t.role == "output"
        for d in t.dims
        for e in (d.size, *d.factors)
        if isinstance(e, E)
    ]
    taken = {symbol(p.name) for p in op.params if p.kind != "tensor"} | {n for n, _ in op.sizes}
    return not any(isinstance(n, Symbol) and n.name in taken or is_binary(n, "-", "//") for e in sizes for n in walk(e))


def unknown_complexes(ops: Iterable[OpDef], known: Collection[str], sources: dict[str, Source]) -> list[Error]:
    """Names after `complex` that no op has."""
    return [
        Error(
            "name",
            f"there is no op `{name}`",
            clause_word(op.tree, sources[op.file], "complex", name),
            did_you_mean(name, known) or "what complex numbers get in its place stands here",
            path=sources[op.file].path,
        )
        for op in ops
        if op.tree is not None and op.file in sources
        for name in op.tree.complexes
        if name not in known
    ]


# --- Ops -------------------------------------------------------------------------------------------


def uncalled(ops: dict[str, OpDef], named: Collection[str]) -> list[OpDef]:
    """Ops that nobody can call: without a name in PyTorch, in no formula of an op that can be, not what recurrences of
    formulas become, and not in `named`, what others call."""
    called = [
        n
        for n, op in ops.items()
        if op.aliases or n in named or n == RUNS or op.tree is None or op.tree.question or op.tree.complexes
    ]
    seen = set(called)
    for name in called:
        tree = ops[name].tree
        if tree is None:
            continue
        for e in (*(a.value for a in (*tree.body, *tree.grads)), *(tree.on_webgpu or ())):
            for n in nodes_in(e):
                if n.kind == "call" and n.val in ops and n.val not in seen:
                    seen.add(n.val)
                    called.append(n.val)
    return [op for n, op in ops.items() if n not in seen]


def uncalled_errors(ops: list[OpDef], sources: dict[str, Source]) -> list[Error]:
    """Each definition once, whatever family it makes."""
    found = {(op.file, op.tree.name_span): op for op in reversed(ops)}
    return [
        Error(
            "name",
            f"nothing can call `{op.name}`",
            at,
            "it has no name in PyTorch, and no op that has one calls it",
            help=(f"give it one:  as torch.{op.name}",),
            path=sources[file].path,
        )
        for (file, at), op in reversed(found.items())
    ]
