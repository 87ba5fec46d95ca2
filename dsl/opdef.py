"""An op after the front end: its signature with symbols, and its programs.

`dsl.lowering.lower` makes one `OpDef` for each op (a family `conv{D}d` gives one per D).  Everything behind
the front end (gradient, numpy meaning, kernels, TypeScript) reads this and `dsl.ir.program` only.

Names in formulas (`Symbol`):
  sizes            `M`, `N`, components `X0 X1` of a pack of fixed rank
  options          `alpha`, `stride0 stride1` of an `ints[...]` of fixed rank; bool options are
                   conditions; a choice is compared with the *number* of the chosen text
  `dim`            an axis option, already counted from 0
  `has_x`          whether the optional parameter x (tensor or scalar) is given
  `type_x`         the number in DTYPES of the type of tensor x, or that the `dtype` option x asks for
  `inf`, `nan`     never constants, so that no compiler folds them; an option of that name is `nan_`"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .gradients.derivable import Derivable
from .ir.expression import E
from .ir.program import Owned as Owned
from .ir.program import Presence as Presence
from .ir.program import Program, Stmt, Tensor
from .text.syntax import Def, Launch, Module, Sample, Test
from .text.syntax import Op as OpTree
from .text.vocabulary import WARNING

TypeOf = "type_"
MISSING = -2147483648  # a number of a list that is left out: codegen/binding/options.py


def symbol(option: str) -> str:
    """The symbol of an option: its name, or with `_` where that is a constant's (`nan` of nan_to_num)."""
    return option + "_" if option in ("inf", "nan") else option


@dataclass(frozen=True)
class Param:
    """kind: tensor num real int bool dim dims ints reals choice.

    cls, for tensors: Num Float Int Bits Bool Any.
    default: a formula; None with has_default means absent (`?`) or, for `dims`, all axes."""

    name: str
    kind: str
    cls: str = ""
    optional: bool = False
    keyword: bool = False
    default: E | None = None
    has_default: bool = False
    choices: tuple[str, ...] = ()
    rank: int = -1  # lists: fixed length, or -1
    pack: str = ""  # ints[*N] with N of unknown rank: it gives N's rank
    mut: bool = False
    flat: bool = False  # a tensor whose elements are taken in a row, whatever its shape
    instead: str = ""  # what may stand for the tensor: "num", "ints" or nothing
    precise: bool = False  # a number, or a tensor of one element, that 16-bit floats beside it do not round


@dataclass(frozen=True)
class Require:
    holds: E
    message: str  # with {0}, {1}: the values below, {type 0}: the name of a type
    values: tuple[E, ...] = ()

    @property
    def warns(self) -> bool:
        """Whether a call that it does not hold for goes on, and is only warned of."""
        return self.message.startswith(WARNING)


@dataclass(frozen=True)
class Schedule:
    """`schedule TARGET when COND` + one strategy with numbers; TARGET is an op or a kernel shape."""

    target: str
    when: E | None
    strategy: str
    numbers: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class OnWebGPU:
    """What WebGPU runs instead of an op in calls of which `when` holds.  args: for each parameter of that op the number
    of the tensor's parameter, or a formula."""

    op: str
    args: tuple[int | E, ...]
    when: E


@dataclass
class OpDef:
    name: str
    doc: str
    aliases: tuple[str, ...]  # "torch.add", "torch.nn.functional.conv2d"
    params: list[Param]
    tensors: dict[str, Tensor]  # inputs, outputs and temps, by name
    promote: str  # default float sum none  (PyTorch's kinds)
    promoted: list[str]  # the tensor parameters whose types make T
    sizes: list[tuple[str, E]]  # `where`, in order
    requires: list[Require]
    outputs: list[str]
    drop: str = ""  # the dims option whose axes the result loses
    keepdim: str = ""
    forward: Program = field(default_factory=lambda: Program("", {}, [], [], []))
    # `grad x = ...`, lowered: statements for `d_x` that read cotangents `g_<output>`, outputs, inputs and
    # temporaries of the forward program or their own (all in `tensors`; `d_` and `g_` need not be); "": parts of
    # several
    grads: dict[str, list[Stmt]] = field(default_factory=dict)
    nograd: frozenset[str] | None = None  # None: all derived; names: these have none; empty set: none has
    raw: tuple[Launch, ...] = ()
    foreach: bool = False
    numbers: bool = False  # no argument need be a tensor
    random: bool = False
    pointwise: bool = False  # whole-tensor, one output of the inputs' broadcast shape
    schedules: list[Schedule] = field(default_factory=list)
    tests: tuple[Test, ...] = ()
    samples: tuple[Sample, ...] = ()
    modules: tuple[Module, ...] = ()  # classes of torch.nn that call it
    tree: OpTree | None = None
    family: tuple[str, int] | None = None  # ("D", 2) for conv2d
    file: str = ""  # "conv": ops/conv.op
    derivable: Derivable | None = None  # made by dsl.gradients.adjoint, as the gradients are
    gradient: Program | None = None
    gradient2: Program | None = None  # gradients of the gradient program
    complete: bool = False  # whether dsl.gradients.adjoint has made them
    # The ops that look at elements, and what is wrong where a result of them is 0; see dsl/checking/elements.py.
    value_checks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    spared: tuple[E | None, ...] = ()  # for each of them, where it need not be asked
    itself: E | None = None  # when the result is the first argument, no copy of it
    on_webgpu: OnWebGPU | None = None
    source: str = ""  # digest of the texts that it was made from, where a build needs it
    owned: list[Owned] = field(default_factory=list)  # calls whose gradients are not derived


@dataclass
class Library:
    """All definitions, in the order of their files."""

    ops: Mapping[str, OpDef]
    schedules: list[Schedule] = field(default_factory=list)  # for kernel shapes
    routines: dict = field(default_factory=dict)  # dsl.lowering.routines.Routine by name
    defs: dict[str, Def] = field(default_factory=dict)

    @property
    def trees(self) -> dict[str, OpTree]:
        """The ops as they were written, by the names by which formulas call them."""
        return {name: op.tree for name, op in self.ops.items() if op.tree is not None}
