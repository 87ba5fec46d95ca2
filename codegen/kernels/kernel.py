"""Program -> kernels: which statements share one, and in what shape.

A `Kernel` here still holds expression trees; `codegen/kernels/formulas.py` makes nodes of them, and
`codegen/planner` and `codegen/wasm` print those.  Pointwise temporaries are put in place where they are used
(pointwise.py), a reduction takes the formula that uses its result as its last step, statements over the same rows
become one `reduce` kernel (fuse.py).  Nothing here depends on sizes: what does is left to `planner/plan.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dsl.ir.builders import idx, is_loop, pack
from dsl.ir.expression import E, Reduction
from dsl.ir.program import Loop, Mode, Raw, is_made
from dsl.ir.rewriting import indices, maybe_subst, subst, symbols

Shape: TypeAlias = Literal["map", "reduce", "contract", "scan", "scatter", "raw"]
StepKind: TypeAlias = Literal["reduce", "store"]
LETTERS = "ijklmnqrstuvw"  # for loops; `p` is the uniform's name in a kernel


@dataclass(frozen=True)
class Access:
    """A place where a kernel reads or writes a tensor; `Element(3)` is the value that access 3 read.

    index: one expression per logical axis; a bare index or pack is a strided axis, anything else is
    computed (and may hold `Element(1)` where the index itself was read by access 1).
    guard: read only where this holds (None: always); fallback: the value elsewhere."""

    tensor: str
    index: tuple[E, ...]
    guard: E | None = None
    fallback: E | None = None


@dataclass(frozen=True)
class Step:
    """`reduce` makes a value; `store` writes it to access `target`.  In `body` and `pred` `Element(0)` stands for what
    access 0 read and `Result(0)` for what step 0 came to: a reduction's value or what a store stored.

    result: the step's place among the steps, by which it is known; -1 where no step uses what it comes to."""

    kind: StepKind
    result: int
    body: E
    red: Reduction | None = None
    pred: E | None = None
    inner: bool = False  # a store at every point of rloops as well
    target: int = -1
    mode: Mode = "="

    @property
    def name(self) -> str:
        """The variable with its result."""
        return f"acc{self.result}" if self.result >= 0 else ""


@dataclass(frozen=True)
class Kernel:
    """shape: map reduce contract scan scatter raw; see data.model.Kernel.

    A kernel with `spread` is a map of one store, or one sum with the store of its value."""

    shape: Shape
    loops: tuple[Loop, ...]
    rloops: tuple[Loop, ...]
    accesses: tuple[Access, ...]
    steps: tuple[Step, ...]
    when: E | None = None
    spread: bool = False
    left: tuple[int, ...] = ()  # contract: accesses of factor A of the product
    reverse: bool = False  # scan
    raw: Raw | None = None
    uniforms: tuple[E, ...] = ()  # raw: what each of its uniforms is
    makes: tuple[str, ...] = ()  # outputs, gradients and changed inputs this kernel is needed for


def named_loops(kernel: Kernel) -> frozenset[str]:
    """The loops used in arithmetic: anywhere but alone in an axis of an access."""
    used: set[str] = set()
    for a in kernel.accesses:
        for i in a.index:
            if not is_loop(i):
                used |= indices(i)
        used |= indices(a.guard) | indices(a.fallback)
    for s in kernel.steps:
        used |= indices(s.body) | indices(s.pred)
    for loop in kernel.loops + kernel.rloops:
        used |= indices(loop.extent)
    return frozenset(used)


def plainly_named(kernel: Kernel) -> Kernel:
    """The kernel with a letter for each loop that a pass of the compiler named: kernels are read, and kernels that do
    the same look the same."""
    loops = kernel.loops + kernel.rloops
    parts = [
        *(l.extent for l in loops),
        *(e for a in kernel.accesses for e in (*a.index, a.guard, a.fallback)),
        *(e for s in kernel.steps for e in (s.body, s.pred)),
    ]
    taken = {l.name for l in loops}.union(
        *map(symbols, parts), {a.tensor for a in kernel.accesses}
    )  # kernels call buffers by tensors
    free = [c for c in LETTERS if c not in taken]
    names = dict(zip([l.name for l in loops if is_made(l.name)], free, strict=False))
    if not names:
        return kernel
    env: dict[str, E] = {
        l.name: pack(names[l.name]) if l.pack else idx(names[l.name]) for l in loops if l.name in names
    }

    def loop(l: Loop) -> Loop:
        return Loop(names.get(l.name, l.name), maybe_subst(l.extent, env), l.pack)

    def access(a: Access) -> Access:
        index = tuple([subst(i, env) for i in a.index])
        return Access(a.tensor, index, maybe_subst(a.guard, env), maybe_subst(a.fallback, env))

    return replace(
        kernel,
        loops=tuple(map(loop, kernel.loops)),
        rloops=tuple(map(loop, kernel.rloops)),
        accesses=tuple(map(access, kernel.accesses)),
        steps=tuple([replace(s, body=subst(s.body, env), pred=maybe_subst(s.pred, env)) for s in kernel.steps]),
    )
