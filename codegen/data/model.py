"""What an op is once it is compiled: the data that the package carries and Python runs.

This folder is *host* code: it decides everything about a call that is not arithmetic on elements
(which shapes, which type, which kernel, which sizes and strides).  It is written in the subset of
Python that `codegen/translator/translate.py` turns into TypeScript, so Python and the package decide
alike, from one text.  Here: the classes.  A field of type `Fn` is a formula over the environment
of a call: a Python lambda here, an arrow function there.

Vocabulary.  An *environment* maps names to numbers: sizes, options, `has_x` (1 when the optional
tensor x is given), components of option lists (`stride0`).  Booleans are 0 and 1, a choice is the
number of the chosen text.  A *pack* is a list of axes whose rank only a call knows.  A tensor has
physical axes (shape, strides) and, through its pattern, *logical* axes: what an index in a
definition stands for.  Strides count elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .nodes import Node

Env = dict[str, float]
Fn = Callable[[Env], float]

# --- An op -----------------------------------------------------------------------------------------


@dataclass
class Dim:
    """One entry of a shape pattern; see dsl.ir.program.Dim."""

    kind: str  # one pack split chosen domain
    name: str  # the size or pack it binds, or ""
    size: Fn | None  # the length, where it is computed
    factors: list[str]  # split: names (or literal numbers) of the parts, outermost first
    option: str  # chosen, domain: the option that names the axes, or ""
    part: str  # domain: "all" or "kept"
    broadcast: bool  # pack: axes of length 1 and missing leading axes stretch
    when: Fn | None  # the axis exists only when this holds


@dataclass
class Slot:
    """A tensor of an op's programs.  role: input output temp cotangent gradient."""

    name: str
    role: str
    dtype: str  # "T" (promoted), "own" (the argument's), "int64", "int32", "bool", "float32"
    dims: list[Dim]
    like: int  # cotangent, gradient: the slot whose shape it has; output: the one in whose type it is stored; else -1
    mut: bool


@dataclass
class Param:
    """A parameter as a caller sees it, in PyTorch's order.

    kind: tensor num real int bool dim dims ints reals choice.  cls (tensors): Num Float Int Bits Bool Any."""

    name: str
    kind: str
    cls: str
    optional: bool  # None is accepted, and means absent
    keyword: bool  # only in the options object
    default: Fn | None  # evaluated after the tensors are bound
    has_default: bool
    choices: list[str]
    rank: int  # lists: how many, -1 if the length is the caller's
    pack: str  # lists: the pack whose rank it gives or has, where one number stands for all; or ""
    slot: int  # tensors: number of the slot; else -1
    flat: bool = False  # tensors: given as a row of its elements, whatever its shape was
    instead: str = ""  # tensors: "num" or "ints" may be given, too
    precise: bool = False  # tensors: one element is not rounded to the 16 bits of T


@dataclass
class Require:
    """A precondition with its message; `values` fill the message's {0}, {1}, ..., as a type's name {type 0}."""

    holds: Fn
    message: str
    values: list[Fn]  # for a type its number in DTYPES


@dataclass
class Size:
    """`where Y = ...`: a size computed from those that the arguments bound."""

    name: str
    value: Fn


@dataclass
class Loop:
    name: str
    extent: Fn | None  # None: a pack
    pack: str
    named: bool  # used in arithmetic, so it keeps a variable of its own


@dataclass
class Access:
    """A place where a kernel reads or writes a tensor.  axes[i] names the loop that alone indexes
    logical axis i, or is "" where the index is computed (its formula is then in the code)."""

    slot: int
    axes: list[str]
    kind: str  # what the element is computed as: "T" "f" "i" "b"


@dataclass
class Step:
    """What a kernel does in order: `reduce` into a local value, or `store` into a tensor."""

    kind: str
    name: str  # the local value: accN of the reduction, or of the stored value
    red: str  # sum prod max min any all argmax argmin, "" for a store
    value: str  # computed as "T" "f" "i" "b"
    inner: bool  # a store made at every point of rloops too
    target: int  # store: the access written, else -1
    mode: str  # "=", "+=", "*=", "max=" or "min="
    compared: str = "T"  # argmax, argmin: what they compare, "T" "f" "i"


def is_arg(step: Step) -> bool:
    """Whether a step finds where the greatest or least value stands."""
    return step.red == "argmax" or step.red == "argmin"


@dataclass
class ReadCode:
    """The formulas of one access: an index for each computed logical axis (None for the others), when
    to read at all (None: always) and what stands in its place (None: 0)."""

    index: list[Node | None]
    guard: Node | None
    fallback: Node | None


@dataclass
class StepCode:
    pred: Node | None  # None: always
    body: Node


@dataclass
class Code:
    """The formulas of a kernel for one class of T: floating point or whole numbers."""

    accesses: list[ReadCode]
    steps: list[StepCode]


@dataclass
class UniformField:
    """A scalar that the formulas use as a `Uniform`: from the environment to the kernel's uniform.  `value`: a formula,
    where it is no entry of the environment."""

    name: str
    kind: str  # "f" "i" "T"
    value: Fn | None


@dataclass
class RawLaunch:
    """A function of a body, launched `steps` times (None: once) with the uniform `step` counting, at `over` places:
    formulas of the body's uniforms.  lanes: threads of each place's workgroup; 0: a place is one thread."""

    name: str
    step: str
    steps: Fn | None
    over: Fn
    lanes: int


@dataclass
class Raw:
    """names: what the body calls the tensor of each access.  dtype: what it calls T, "T" where that is the op's.  text:
    WGSL.  helpers: the functions of the prelude that it calls.  steps: what it does, in the notation of statements.py,
    which knows tensors by the numbers of their accesses."""

    names: list[str]
    dtype: str
    text: str
    launches: list[RawLaunch]
    helpers: list[str]
    steps: str


@dataclass
class Kernel:
    """One kernel's worth of a program.

    shape: map       stores at every point of `loops`
           reduce    reductions over `rloops`, then stores (softmax, layer_norm, sum)
           contract  a sum of products A * B, then a store
           scan      a reduction over a growing range of `rloops[0]`
           scatter   a store whose target index is read from a tensor or not solvable
           raw       a body of steps"""

    shape: str
    when: Fn | None
    loops: list[Loop]
    rloops: list[Loop]
    spread: bool  # see dsl.ir.program.Stmt.spread
    accesses: list[Access]
    steps: list[Step]
    left: list[int]  # contract: the accesses of factor A; the others of step 0 are B's
    floating: Code | None  # T is a float; None: never happens
    integral: Code | None  # T is an integer or bool
    uniforms: list[UniformField]
    constants: list[str]  # environment entries (0/1 or a choice's number) baked into the text
    reverse: bool  # scan: from the end
    makes: list[int]  # the output/gradient slots this kernel is needed for
    number: int  # place in the program: names the CPU kernel
    raw: Raw | None = None


@dataclass
class Program:
    """inputs: the slots that must be given; outputs: those it answers, in order."""

    inputs: list[int]
    outputs: list[int]
    saves: list[
        list[int]
    ]  # gradient programs: what each output needs of the inputs; `~` those that are not held (dsl/gradients/saving.py)
    kernels: list[Kernel]


@dataclass
class Schedule:
    """When `when` holds of a kernel's facts, run it with this strategy and these numbers."""

    kernel: str  # the shape it is for
    when: Fn | None
    strategy: str
    numbers: dict[str, float]


@dataclass
class Function:
    """A function of WGSL.  calls: the other functions that it calls, of the prelude or of those that travel with
    ops.  steps: of a routine what it does, in the notation of statements.py."""

    name: str
    text: str
    calls: list[str]
    steps: str = ""


@dataclass
class Op:
    """programs[0] computes the outputs, programs[1] the gradients of the inputs, programs[2] the
    gradients of programs[1]'s outputs with respect to its inputs."""

    name: str
    params: list[Param]
    slots: list[Slot]
    promote: str  # default float sum none: how T follows from the arguments
    promoted: list[int]  # the slots whose types are promoted to T
    sizes: list[Size]
    requires: list[Require]
    outputs: list[int]  # slots
    output_names: list[str]
    drop: str  # the `dims` option whose axes the result loses, or ""
    keepdim: str  # the option that keeps them, or ""
    random: bool
    programs: list[Program]
    schedules: list[Schedule]
    numbers: bool = False  # no argument need be a tensor
    elementwise: bool = False  # a list of tensors side by side is one long tensor to it: codegen/kernels/elementwise.py
    routines: list[Function] = field(
        default_factory=list
    )  # what the kernels call and the prelude lacks; each calls only earlier ones


# --- A call ----------------------------------------------------------------------------------------


@dataclass
class Meta:
    """A tensor argument as the host sees it.  `weak`: a JavaScript or Python number."""

    dtype: str
    shape: list[int]
    strides: list[int]
    offset: int
    weak: bool


@dataclass
class Axis:
    """A logical axis: one length and stride, or those of a pack."""

    sizes: list[int]
    strides: list[int]


@dataclass
class Bound:
    """A slot in a call: where its elements are.  `given`: there is a tensor, an argument's or one to be allocated;
    `fresh`: it is to be, contiguous."""

    dtype: str
    shape: list[int]
    strides: list[int]
    offset: int
    axes: list[Axis]
    given: bool
    fresh: bool = False


@dataclass
class Call:
    """A bound call: everything the arguments' shapes, types and options decide.  kept, dropped: the axes that a `dim`
    option keeps and drops."""

    env: Env
    packs: dict[str, list[int]]
    dtype: str  # T
    slots: list[Bound]
    kept: list[int]
    dropped: list[int]


# --- A launch on the CPU ---------------------------------------------------------------------------


@dataclass
class Dims:
    """Anonymous loops after collapsing, outermost first (their order is kept): lengths, and for each
    access its stride along each of them."""

    sizes: list[int]
    strides: list[list[int]]  # [access][dim]


@dataclass
class CpuLaunch:
    """One kernel in a call on the CPU; the same for all shapes of kernel.

    Named loops are loops of the kernel, which takes their extents from the environment.  A map
    kernel with `spread` has its summed axes in `reduce`; so has a contract kernel.  In a row, scan or
    scatter kernel with `spread` they stay in `outer`: the kernel adds in order.
    `outer` and `reduce` have one more entry of strides than there are accesses where the kernel
    draws random numbers: the row-major place of the point among the kernel's `loops`; `axes` then
    has there one stride for each named loop of `loops`."""

    offsets: list[int]  # for each access: its first element
    outer: Dims
    reduce: Dims
    axes: list[list[int]]  # for each access: strides of the logical axes that no anonymous loop indexes
    lengths: list[list[int]]  # and the lengths of those axes


# --- A launch on the GPU ---------------------------------------------------------------------------


@dataclass
class Launch:
    """One dispatch.  Binding 0 of group 0 is the uniform buffer, binding i + 1 the tensor slots[i]; a slot
    of -1 is memory for `scratch` 32-bit elements that only the launches of this kernel share.

    uniforms, kinds: numbers and how they lie in the uniform, "u" u32, "i" i32, "f" f32.  seeds: the place of
    seed0, seed1 and the call's number among them, for random draws, or -1.  fault: the place of the number of the
    four words in which a run tells what is wrong, or -1.  groups: workgroups along x, y, z.  together: how many kernels
    it runs as one."""

    kernel: int
    strategy: str
    code: str
    slots: list[int]
    written: list[bool]
    uniforms: list[float]
    kinds: list[str]
    seeds: int
    fault: int
    groups: list[int]
    scratch: int
    together: int = 1
