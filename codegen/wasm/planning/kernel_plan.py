"""What the kernel of a launch is printed from, and what a launch is.

See the package's docstring for how launches are run."""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.ir.dtypes import TYPES

from ...data.dtypes import number_kind
from ...data.model import Call, Code, Kernel, Op, UniformField
from ...data.nodes import Constant, Element, Node, Option, Random, Result, Uniform
from ...planner.contract import Product
from ...planner.lines import Line, Resolved
from ...planner.writer import infinite, is_bool
from .margins import Margins
from .sharing import Sharing
from .straight import Straight

BYTES: dict[str, int] = {name: TYPES[name].bytes for name in TYPES}
COLUMN_ARRAYS = 4  # formulas of results that are computed once for each column of a block
TILE_ROWS = 6  # of a tile of a contraction, with an instruction that multiplies and adds
FEW_ROWS = 4  # of one without, and where there are not many


@dataclass
class SmallWindows:
    """Windows of a contraction whose products are of sums (small_windows.py).  elements, weights: their accesses.
    backwards: whether windows go backwards through elements, down and along.  along: tiles of a line of windows, up to
    a multiple of four; lines: pairs of such lines in a block."""

    elements: int
    weights: int
    backwards: list[bool]
    along: int
    lines: int


@dataclass
class Plan:
    """What a kernel is printed from.  types: for each access how its elements lie in memory, "" where there is no
    tensor; used: the accesses that formulas need and those that are written; numbers, uniforms: where parameters stand
    in the launch's block, those of the plan and those that formulas take, by their names; across: whether the last
    outer line is taken several points at once, reductions and all.  product: of a contraction in tiles, whose lines are
    those of batch, rows, columns and depth.  even: which indices became strides of the lines.
    singles: whether products are added up in single floats, several at once; margins: the copy that one of them is
    read from.  sharing: what threads share out, if anything.  kept: the reduction of a row whose values a later step
    asks for again, or -1.  ones: the parameters that are 1 in this call, which formulas are printed without.  split:
    the outer line of few points whose formulas are printed for each of them, since they ask which it is, or -1.
    columns: how many neighbours of the last outer line go together through the rows of a reduction, or 0.  guard: what
    says which products are left out of a sum, where zeros are multiplied instead.  low: whether tiles have few rows.
    windows: those of a contraction whose products are of sums, if any.
    part: which points of the kernel it computes, where that is not all.  floats: whether rows are computed in single
    floats, four at once (rows.py)."""

    op: Op
    kernel: Kernel
    call: Call
    code: Code
    outer: list[Line]
    reduce: list[Line]
    r: Resolved
    types: list[str]
    used: list[int]
    even: Straight
    ones: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    uniforms: dict[str, int] = field(default_factory=dict)
    across: bool = False
    product: Product | None = None
    singles: bool = False
    margins: Margins | None = None
    sharing: Sharing | None = None
    kept: int = -1
    split: int = -1
    columns: int = 0
    guard: Node | None = None
    low: bool = False
    windows: SmallWindows | None = None
    part: str = ""
    floats: bool = False

    def kept_bytes(self) -> int:
        """Of a value of a row that is kept."""
        return 4 if self.floats else 8


@dataclass
class WasmLaunch:
    """A kernel in a call.  why: "", or why it is not to be had as WebAssembly.  slots: tensors, whose addresses
    in bytes are the first parameters: that of the storage + shifts[n].  kinds, values: the parameters, "i" int32 and
    "f" float64.
    seeds: the place of seed0, seed1 and the call's number, or -1.
    uniforms: the parameters that the environment of a call decides, the last before the seeds.
    scratch: bytes of memory, 16-aligned, that slot -1 stands for and nobody else uses meanwhile.
    depends: the parameters that must be the same where another call runs the same plan (`rewordable`).
    plan: what it is printed from.
    more: launches that go with it, in which other points of the kernel are computed.
    begin: the number of the parameter that says the first point of the part that is computed; that of its end follows;
    -1: see Sharing for the next four.
    reads, stores: the slots of a kernel that is shared out."""

    kernel: int
    why: str
    plan: Plan | None
    depends: list[UniformField] = field(default_factory=list)
    key: str = ""
    slots: list[int] = field(default_factory=list)
    shifts: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    seeds: int = -1
    uniforms: list[UniformField] = field(default_factory=list)
    scratch: int = 0
    more: list[WasmLaunch] = field(default_factory=list)
    begin: int = -1
    points: int = 0
    grain: int = 0
    work: int = 0
    shares: int = 0
    reads: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)


def option(k: Plan, name: str) -> int:
    return int(k.call.env[name]) if name in k.call.env else 0


def settled(k: Plan, e: Node) -> Node:
    """What stands for an option, or for a number that is no parameter."""
    match e:
        case Option(name=name):
            return Constant("b" if is_bool(k.op, name) else "i", option(k, name))
        case Uniform(name=name) if name == "inf" or name == "nan":
            return Constant("f", infinite(name))
        case Uniform(name=name) if name in k.ones:
            return Constant("f", 1)
        case Element(access=n) if k.types[n] == "":
            other = k.code.accesses[n].fallback
            return other if other is not None else Constant(kind_of(k, e), 0)
        case _:
            return e


def nested(lines: list[Line], n: int) -> bool:
    """Whether access n goes through some lines as if they were one: the last, gone on with."""
    for d in range(1, len(lines)):
        if lines[d - 1].strides[n] != lines[d].strides[n] * lines[d].size:
            return False
    return len(lines) > 0


def kind_of(k: Plan, e: Node) -> str:
    """The kind of a node without operands."""
    match e:
        case Element(access=n):
            kind = k.kernel.accesses[n].kind
            return number_kind(k.call.dtype) if kind == "T" else kind
        case Uniform(name=name):
            for w in k.kernel.uniforms:
                if w.name == name:
                    return number_kind(k.call.dtype) if w.kind == "T" else w.kind
            return "f"
        case Constant(kind=kind):
            return kind
        case Result(step=n):
            kind = k.kernel.steps[n].value
            return number_kind(k.call.dtype) if kind == "T" else kind
        case Random():
            return "f"
        case _:
            return "i"
