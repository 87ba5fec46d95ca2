"""The loop IR: what a definition means, one statement for each loop nest.

    target[index] (= | +=)  reduction over rloops where pred of  body        when condition

A `Stmt` says: for every point of `loops`, the target's element is the body, or the reduction of
the body over `rloops`.  Scalars are expressions (dsl/ir/expression.py).  Sizes stay symbols, and a pack of axes whose
rank is unknown stays one loop, so a program serves all shapes.  Every later pass (adjoint, numpy,
kernels) reads only this, and its print is the format of the golden tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from .builders import conjuncts, is_binary, is_loop
from .expression import E, Index, Random, RawResult, Reduction, show, walk
from .rewriting import indices
from .steps import Range, Step

if TYPE_CHECKING:
    from .row_calls import Inlined

DimKind: TypeAlias = Literal["one", "pack", "split", "chosen", "domain"]
Part: TypeAlias = Literal["all", "kept"]
Role: TypeAlias = Literal["input", "output", "temp", "cotangent", "gradient"]
Dtype: TypeAlias = Literal["T", "int", "int32", "bool", "own", "float"]
Mode: TypeAlias = Literal["=", "+=", "*=", "max=", "min="]

# --- Bodies of steps -------------------------------------------------------------------------------


@dataclass(frozen=True)
class BodyLaunch:
    """See dsl.text.syntax.Launch; `steps` and `over` are formulas of the body's uniforms, `body` is what is done at
    each of the places. kinds: of the locals that the body assigns."""

    name: str
    step: str
    steps: E | None
    over: E
    lanes: int
    places: tuple[Range, ...] = ()
    body: tuple[Step, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class BodyTensor:
    """A tensor as a body sees it: row-major, all axes of a leading pack as one.  kind: "f", "i", "b" or "T"."""

    name: str
    kind: str
    extents: tuple[E, ...]


@dataclass(frozen=True)
class Body:
    """What an op does that is no formula: launches with steps over its tensors.  symbols: (name, kind) of the sizes and
    options that the steps speak of; natural: those that are never negative."""

    op: str
    launches: tuple[BodyLaunch, ...]
    tensors: tuple[BodyTensor, ...]
    symbols: tuple[tuple[str, str], ...]
    natural: frozenset[str]


@dataclass(frozen=True, eq=False)
class Raw:
    """A body that runs.  inputs: the body's names of the tensors read.  outputs: (the body's name, the tensor) of
    results and scratch memory.  uniforms: (name, kind) of the numbers it gets.  n: which output the statement makes.
    T: the dtype of what the body calls T.  inlined: where it stands (dsl.ir.row_calls.Inlined), for its gradient."""

    body: Body
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    uniforms: tuple[tuple[str, str], ...]
    n: int = 0
    T: Dtype = "T"
    inlined: Inlined | None = field(default=None, repr=False)


# --- Programs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loop:
    """A loop from 0.  `extent` is its length; a pack loop has None and runs over the axes of `pack`."""

    name: str
    extent: E | None = None
    pack: str | None = None

    @property
    def length(self) -> E:
        """The extent of a loop that has one."""
        assert self.extent is not None
        return self.extent

    def __repr__(self) -> str:
        return f"*{self.name} < {self.pack}" if self.pack else f"{self.name} < {show(self.length)}"


@dataclass(frozen=True)
class Dim:
    """One entry of a tensor's shape pattern; how its physical axes are seen as logical axes.

    one     an axis of length `size`; `name` is the size it binds when it is a plain name
    pack    any number of axes, named `name`; `broadcast`: they may be 1 or missing
    split   one physical axis seen as len(factors) logical ones, outermost first
    chosen  the axis that option `option` names: `factors` if it is also split, else `name`/`size`
    domain  every axis of a whole tensor, broadcast: the pack `I`.  With `option` (a `dim` or `dims`
            option) they fall into two packs, `kept` and `dropped`; `part` says which this tensor has:
            "all" = both, "kept" = only the kept ones

    With `when`, the axis exists only if that condition on options holds; an index in its place counts
    for nothing when it does not.
    """

    kind: DimKind
    name: str = ""
    size: E | None = None
    factors: tuple[E, ...] = ()
    option: str = ""
    part: Part = "all"
    broadcast: bool = False
    when: E | None = None


@dataclass(frozen=True)
class Tensor:
    """role: input output temp cotangent gradient.  dtype: "T" (the op's promoted type), "int", "bool",
    "own" (an input's own type).  A gradient or cotangent is `like` the tensor it belongs to, and has its shape; an
    output is `like` the input in whose type it is stored, where it is computed in T and yet has not that type.
    A `float` accumulator or table that must not follow T is dtype "float"."""

    name: str
    role: Role
    dims: tuple[Dim, ...]
    dtype: Dtype = "T"
    like: str = ""
    optional: bool = False
    mut: bool = False


@dataclass(frozen=True)
class Stmt:
    """One loop nest; see the head of this file.

    `spread` marks a gradient of a tensor that may have been broadcast: axes of a pack that the
    target lacks (or has with length 1) are summed instead of stored."""

    target: str
    idx: tuple[E, ...]
    loops: tuple[Loop, ...]
    body: E
    red: Reduction | None = None
    rloops: tuple[Loop, ...] = ()
    pred: E | None = None
    mode: Mode = "="
    when: E | None = None  # a condition on options: the host skips the kernel
    spread: bool = False

    @property
    def finds_index(self) -> bool:
        """Whether its reduction answers where the greatest or least value stands."""
        return self.red == "argmax" or self.red == "argmin"

    @property
    def expressions(self) -> tuple[E, ...]:
        """Its body, its filter and its indices."""
        return (self.body, *self.idx) if self.pred is None else (self.body, self.pred, *self.idx)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The tensors that it reads."""
        return frozenset([r.tensor for e in self.expressions for r in e.reads])

    def __repr__(self) -> str:
        s = f"{self.target}[{', '.join(map(show, self.idx))}] {self.mode} "
        over = ", ".join(map(repr, self.rloops))
        where = f" if {show(self.pred)}" if self.pred is not None else ""
        if self.red:
            s += f"{self.red}[{over}{where}] {show(self.body)}"
        else:
            s += show(self.body) + ("   " + where.strip() if where else "")
        if self.spread:
            s += "   spread"
        return s + (f"   when {show(self.when)}" if self.when is not None else "")


MODES: tuple[Mode, ...] = ("=", "+=", "*=", "max=", "min=")


def overwrites(s: Stmt) -> bool:
    """Whether a statement replaces elements at indices read from a tensor."""
    return s.mode == "=" and any(e.reads for e in s.idx)


def made_by(s: Stmt) -> list[str]:
    """The tensors that come to be with a statement: its target, or all of a body's."""
    return [t for _, t in s.body.raw.outputs] if isinstance(s.body, RawResult) else [s.target]


@dataclass(eq=False)
class Program:
    """Statements in order over named tensors.  `inputs` and `outputs` name tensors; a gradient
    program's inputs are the op's inputs and outputs it saves, and the cotangents.

    A `+=` statement adds onto what its target holds.  Of the statements for one target whose `when`
    holds, the first says whether that must be zero: who runs a program fills a target with zeros if its
    first such statement is `+=` (it need not reach every element) or if there is none.  A `=` statement
    that comes first reaches every element, unless several `=` statements for one target share them out.
    `=` statements under conditions that exclude each other are alternatives.  A `=` statement whose place is
    read from a tensor replaces elements of what its target holds; of several at one place one stays."""

    name: str
    tensors: dict[str, Tensor]
    stmts: list[Stmt]
    inputs: list[str]
    outputs: list[str]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.stmts))


def is_made(name: str) -> bool:
    """Whether the compiler made a name: those end in `_`, which users' may not (dsl/checking)."""
    return name.endswith("_")


class Fresh:
    """Names for one op: a stem and a number."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}

    def __call__(self, stem: str) -> str:
        stem = stem.rstrip("_").rstrip("0123456789") or "v"
        n = self.count.get(stem, 0)
        self.count[stem] = n + 1
        return f"{stem}{n}_"

    def take(self, name: str) -> None:
        """Keeps a name, if it is like those made here, from being made."""
        if not is_made(name):
            return
        stem = name[:-1].rstrip("0123456789")
        number = name[len(stem) : -1]
        self.count[stem] = max(self.count.get(stem, 0), (int(number) if number else 0) + 1)


def unused(stmts: list[Stmt], tensors: dict[str, Tensor]) -> Fresh:
    """A source of names that no tensor and no loop here has."""
    fresh = Fresh()
    for n in [*tensors, *(v.name for s in stmts for v in s.loops + s.rloops)]:
        fresh.take(n)
    return fresh


def running(s: Stmt) -> tuple[str, bool] | None:
    """The outer loop along which a filtered reduction only grows (`j <= i`), and whether it grows from the end.  A
    running argmax or argmin names the last of equal values, any other the first."""
    if (
        s.red not in ("sum", "prod", "max", "min", "argmax", "argmin")
        or len(s.rloops) != 1
        or s.rloops[0].pack
        or s.spread
    ):
        return None
    j, extents = s.rloops[0], {l.name: l.extent for l in s.loops}
    ps = conjuncts(s.pred)
    if len(ps) != 1 or not is_binary(p := ps[0], "<=", ">="):
        return None
    a, b = (p.left, p.right) if p.operator == "<=" else (p.right, p.left)
    if not isinstance(a, Index) or not isinstance(b, Index) or j.name not in (a.loop, b.loop):
        return None
    i = b.loop if a.loop == j.name else a.loop
    if any(isinstance(n, Random) for n in walk(s.body)):
        return None
    if extents.get(i) != j.extent or i in indices(s.body) or sum(is_loop(x) and x.loop == i for x in s.idx) != 1:
        return None
    if any(i in indices(x) and not is_loop(x) for x in s.idx):
        return None
    if s.finds_index and a.loop != j.name:
        return None
    return i, a.loop != j.name


# --- What derivation asks of an op ------------------------------------------------------------------

Presence = "has_"  # before the name of a parameter: whether it is given


# Names that mean a number in every definition.
CONSTANTS = ("inf", "nan", "pi", "true", "false")


@dataclass(frozen=True)
class Owned:
    """A call in a formula of an op that says its gradients, lowered (dsl.text.syntax.Own).

    results: what the call makes; stmts: what makes the gradients, in order, from the cotangents `g_<result>`; targets:
    those that are the gradient of a tensor -> that tensor."""

    results: tuple[str, ...]
    inner: tuple[str, ...]
    args: tuple[str, ...]
    complete: bool
    stmts: list[Stmt]
    targets: dict[str, str]
