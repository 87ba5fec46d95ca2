"""The loop IR: what a definition means, one statement for each loop nest.

    target[index] (= | +=)  reduction over rloops where pred of  body        when condition

A `Stmt` says: for every point of `loops`, the target's element is the body, or the reduction of
the body over `rloops`.  Scalars are trees of `E`.  Sizes stay symbols, and a pack of axes whose
rank is unknown stays one loop, so a program serves all shapes.  Every later pass (adjoint, numpy,
kernels) reads only this, and its print is the format of the golden tests."""

from __future__ import annotations

from dataclasses import dataclass, field

from .expression import E, conjuncts, indices, show, walk

# --- Raw bodies ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BodyLaunch:
    """See dsl.syntax.Launch; `steps` and `over` are formulas of the body's words."""

    name: str
    step: str
    steps: E | None
    over: E
    lanes: int


@dataclass(frozen=True)
class Body:
    """The texts of a raw op."""

    op: str
    wgsl: str
    js: str
    numpy: str
    launches: tuple[BodyLaunch, ...]


@dataclass(frozen=True)
class Raw:
    """A raw body that runs.  inputs: the body's names of the tensors read.  outputs: (the body's name, the tensor) of
    results and scratch memory.  words: (name, kind) of the numbers it gets.  n: which output the statement makes.
    T: the dtype of what the body calls T.  placed: where it stands (dsl.placed.Placed), for its gradient."""

    body: Body
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]
    n: int = 0
    T: str = "T"
    placed: object = field(default=None, compare=False, repr=False)


# --- Programs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loop:
    """A loop from 0.  `extent` is its length; a pack loop has None and runs over the axes of `pack`."""

    name: str
    extent: E | None = None
    pack: str | None = None

    def __repr__(self):
        return f"*{self.name} < {self.pack}" if self.pack else f"{self.name} < {show(self.extent)}"


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

    kind: str
    name: str = ""
    size: E | None = None
    factors: tuple[E, ...] = ()
    option: str = ""
    part: str = "all"
    broadcast: bool = False
    when: E | None = None


@dataclass(frozen=True)
class Tensor:
    """role: input output temp cotangent gradient.  dtype: "T" (the op's promoted type), "int", "bool",
    "own" (an input's own type).  A gradient or cotangent is `like` the tensor it belongs to.
    A `float` accumulator or table that must not follow T is dtype "float"."""

    name: str
    role: str
    dims: tuple[Dim, ...]
    dtype: str = "T"
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
    red: str | None = None
    rloops: tuple[Loop, ...] = ()
    pred: E | None = None
    mode: str = "="
    when: E | None = None  # a condition on options: the host skips the nest
    spread: bool = False

    def __repr__(self):
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


MODES = ("=", "+=", "*=", "max=", "min=")


def overwrites(s: Stmt) -> bool:
    """Whether a statement replaces elements at places read from a tensor."""
    return s.mode == "=" and any(n.op == "read" for e in s.idx for n in walk(e))


def made_by(s: Stmt) -> list[str]:
    """The tensors that come to be with a statement: its target, or all of a raw body's."""
    return [t for _, t in s.body.val.outputs] if s.body.op == "raw" else [s.target]


@dataclass
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

    def __repr__(self):
        return "\n".join(map(repr, self.stmts))


class Fresh:
    """Names for one op: a stem and a number; generated names end in `_`, which users' may not."""

    def __init__(self):
        self.count: dict[str, int] = {}

    def __call__(self, stem: str) -> str:
        stem = stem.rstrip("_").rstrip("0123456789") or "v"
        n = self.count.get(stem, 0)
        self.count[stem] = n + 1
        return f"{stem}{n}_"


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
    if len(ps) != 1 or ps[0].op not in ("<=", ">="):
        return None
    a, b = ps[0].args if ps[0].op == "<=" else ps[0].args[::-1]
    if a.op != "idx" or b.op != "idx" or j.name not in (a.val, b.val):
        return None
    i = b.val if a.val == j.name else a.val
    if any(n.op == "rand" for n in walk(s.body)):
        return None
    if (
        extents.get(i) != j.extent
        or i in indices(s.body)
        or sum(x.op in ("idx", "pack") and x.val == i for x in s.idx) != 1
    ):
        return None
    if any(i in indices(x) and x.op not in ("idx", "pack") for x in s.idx):
        return None
    if s.red.startswith("arg") and a.val != j.name:
        return None
    return i, a.val != j.name
