"""The syntax tree: what a file of definitions says, before anything is checked.

Every node keeps its span, a pair of offsets into the source file, so that any later pass can
point at the place it speaks of.  Nodes compare by content, not by position."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Span = tuple[int, int]


def spot():
    return field(default=(0, 0), compare=False, repr=False)


@dataclass(frozen=True)
class X:
    """An expression.

    kind      args                         val
    num                                    int or float
    str                                    the text
    name                                   the name
    list      elements
    call      arguments, `kw` last         function name
    kw        (value,)                     argument name
    field     (object,)                    field name                     x.values
    read      (name, *indices)                                            x[i, *b]
    spread    (index,)                                                    *b  or  *(y*stride + k)
    reduce    (body,)                      (reducer, binders, filter)     sum[k if k < n] ...
    ??        (value, fallback)
    if        (condition, then, else)
    neg ~ not (operand,)
    + - * / // % ** == != < <= > >= and or & | ^ << >>      (left, right)
    """

    kind: str
    args: tuple[X, ...] = ()
    val: object = None
    span: Span = spot()


@dataclass(frozen=True)
class Binder:
    """One index of a reduction: `k`, `k < n`, `k in a .. b`, `*k`, `*k < kernel_size`."""

    name: str
    pack: bool = False
    low: X | None = None
    high: X | None = None
    span: Span = spot()


@dataclass(frozen=True)
class Dim:
    """One entry of a shape.

    size    `M`, `3`, `N + M`       expr
    pack    `*B`, `*X:D`            name, rank (the family variable, or None: any rank)
    split   `(groups C)`            factors, outermost first; literal numbers stay text
    chosen  `K@dim`, `(2 N)@dim`    of (a size or split Dim), at (the option or `where` size that names the axis)

    flat: the one axis of a parameter whose elements are taken in a row, whatever its shape.
    `when` is the condition of `1 if keepdim`: the entry exists only where it holds (None: always).
    """

    kind: str
    name: str | None = None
    rank: str | None = None
    factors: tuple[str, ...] = ()
    of: Dim | None = None
    at: str | None = None
    expr: X | None = None
    when: X | None = None
    flat: bool = False
    span: Span = spot()


# What stands for a tensor that may be a number: one that is rounded to T, or one that 16 bits of T do not round.
NUMBERS = ("num", "real")


@dataclass(frozen=True)
class Type:
    """`Float[*B, N]?`, `Num | num`, `ints[*K]`, `"mean" | "sum"`; dims None means a whole tensor of any shape.

    instead: what may stand for the tensor, "num", "real" or "ints".
    complex: whether it was written `Complex`: floats whose last axis holds a number's two parts.
    like: of a result, the parameter in whose type it is answered, whatever T is."""

    name: str
    dims: tuple[Dim, ...] | None = None
    optional: bool = False
    choices: tuple[str, ...] = ()
    instead: str = ""
    span: Span = spot()
    complex: bool = field(default=False, repr=False)
    like: str = field(default="", repr=False)


@dataclass(frozen=True)
class Param:
    name: str
    type: Type
    default: X | None = None
    mut: bool = False
    keyword: bool = False  # stands after `*`
    span: Span = spot()


@dataclass(frozen=True)
class Output:
    name: str
    type: Type | None  # None: the type of the formula
    span: Span = spot()


@dataclass(frozen=True)
class Assign:
    """`out[m, n] = value`; index None is a whole-tensor assignment.

    extents: the indices on the left that say how far they run, as in `unit[i < N, j < N] = ...`; also: the further
    names in `U, S, V = svd_rows(a, full)`, which takes a result each."""

    name: str
    index: tuple[X, ...] | None
    mode: str  # =  +=  *=  max=  min=
    value: X
    span: Span = spot()
    name_span: Span = spot()
    extents: tuple[Binder, ...] = ()
    also: tuple[X, ...] = ()

    def targets(self) -> tuple[Assign, ...]:
        """It and what it assigns besides, each by itself."""
        return (self, *(replace(self, name=x.val, name_span=x.span) for x in self.also))


@dataclass(frozen=True)
class Size:
    """`where *Y = (X + 2*padding - K) // stride + 1`"""

    name: str
    pack: bool
    value: X
    span: Span = spot()


@dataclass(frozen=True)
class Require:
    condition: X
    message: str  # with {expressions} in braces; "": the condition calls a group of requirements
    span: Span = spot()
    group: str = field(default="", compare=False)  # the group from which it comes
    unless: X | None = None  # of one over elements: where it need not be asked, which types and numbers decide


@dataclass(frozen=True)
class Sample:
    """`sample x in 0.1 .. 3`: where random inputs for tests are drawn.  `sample x in definite` (no bounds): x holds
    symmetric positive-definite matrices."""

    name: str
    low: X | None
    high: X | None
    span: Span = spot()


@dataclass(frozen=True)
class Test:
    """`test f(1) == 2`, `~=` for about, or `test f(1) raises "message"`."""

    condition: X  # the comparison, or the call when `raises` is set
    raises: str | None = None
    span: Span = spot()


@dataclass(frozen=True)
class Setting:
    """A parameter that a module keeps, under a name of its own or the same; with a value, one that its user does not
    choose."""

    name: str
    kept: str
    value: X | None = None
    span: Span = spot()


@dataclass(frozen=True)
class Module:
    """`module ReflectionPad{D}d(padding, mode = "reflect") prints "{*padding}"`: a class in torch.nn that calls the
    op."""

    name: str  # may hold {D}
    settings: tuple[Setting, ...] = ()
    prints: str | None = None  # what stands between the parentheses of a printed module, with {holes}
    span: Span = spot()


@dataclass(frozen=True)
class Put:
    """`a[i], b = b, a[i]`: all values first, then all targets, which are names or accesses."""

    targets: tuple[X, ...]
    mode: str  # =  +=  -=  *=  max=  min=
    values: tuple[X, ...]
    span: Span = spot()


@dataclass(frozen=True)
class Count:
    """`for k in low .. high while condition:`, or, shared, `each i < M, j < N:`, and what stands below it."""

    ranges: tuple[Binder, ...]
    condition: X | None
    shared: bool
    steps: tuple[Step, ...] = ()
    span: Span = spot()


@dataclass(frozen=True)
class Branch:
    """`if condition:` and what stands below it and below its `else`; chained: it stands behind another one's `else`."""

    condition: X
    steps: tuple[Step, ...] = ()
    otherwise: tuple[Step, ...] = ()
    chained: bool = False
    span: Span = spot()


@dataclass(frozen=True)
class Leave:
    """`break`."""

    span: Span = spot()


Step = Put | Count | Branch | Leave


@dataclass(frozen=True)
class Launch:
    """`launch merge for pass < passes over b < R, i < N:` and the steps that are taken for each of these places.

    step, steps: the word that counts the launches, and how many there are (None: one).  lanes: threads of
    the workgroup that each place gets; 0: it gets one thread.  over: the number of places.  below: where its steps
    stand."""

    name: str
    step: str | None
    steps: X | None
    over: X
    lanes: int = 0
    span: Span = spot()
    places: tuple[Binder, ...] = ()
    below: Span = spot()
    body: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Scratch:
    """`scratch other: Int[*B, N]`: memory of a body that outlasts a launch."""

    name: str
    type: Type
    span: Span = spot()


@dataclass(frozen=True)
class Own:
    """A call in a formula of an op that says its gradients, put in place by dsl/lowering/inline.py: those gradients
    over the caller's names.

    results: what the call makes; inner: all that its statements assign.  args: the tensors whose gradients are said, or
    that have none; complete: whether those are all, so that nothing of `inner` is derived."""

    results: tuple[str, ...]
    inner: tuple[str, ...]
    args: tuple[str, ...]
    grads: tuple[Assign, ...]
    complete: bool


@dataclass(frozen=True)
class Op:
    name: str  # may hold {D}
    params: tuple[Param, ...]
    outputs: tuple[Output, ...]
    drop: tuple[str, str | None] | None = None  # (dim, keepdim)
    body: tuple[Assign, ...] = ()
    grads: tuple[Assign, ...] = ()
    doc: str = ""
    aliases: tuple[str, ...] = ()
    modules: tuple[Module, ...] = ()
    family: tuple[str, tuple[int, ...]] | None = None  # ("D", (1, 2, 3))
    sizes: tuple[Size, ...] = ()
    requires: tuple[Require, ...] = ()
    samples: tuple[Sample, ...] = ()
    tests: tuple[Test, ...] = ()
    nograd: tuple[str, ...] | None = None  # () : none of the parameters
    launches: tuple[Launch, ...] = ()
    scratch: tuple[Scratch, ...] = ()
    ignored: tuple[str, ...] = ()  # options that are accepted and change nothing
    itself: X | None = None  # when the result is the first argument, no copy of it
    complexes: tuple[str, ...] = field(default=(), repr=False)  # ops of which it is what complex numbers get
    # The call that WebGPU runs instead, and when.
    on_webgpu: tuple[X, X] | None = field(default=None, repr=False)
    foreach: bool = False
    numbers: bool = False  # numbers alone will do where tensors may be numbers
    within: str = field(default="", repr=False)  # the function of PyTorch that it is a step of, as errors name it
    modulus: bool = field(default=False, repr=False)  # of complex numbers it takes the absolute values
    # Requirements over elements, once they are an op of their own: dsl/checking/elements.py.
    asked: tuple[Require, ...] = field(default=(), compare=False, repr=False)
    # Calls in its formulas whose gradients are not derived.
    owns: tuple[Own, ...] = field(default=(), compare=False, repr=False)
    # Whether it says what another op takes or has made.
    question: bool = field(default=False, compare=False, repr=False)
    span: Span = spot()
    name_span: Span = spot()


@dataclass(frozen=True)
class Let:
    """`a, b = b, a + b`: all values first, then all names."""

    names: tuple[str, ...]
    values: tuple[X, ...]
    span: Span = spot()


@dataclass(frozen=True)
class Repeat:
    """`for k in low .. high while condition: steps`; without a condition None."""

    index: str
    low: X
    high: X
    condition: X | None
    steps: tuple[Let, ...]
    span: Span = spot()


@dataclass(frozen=True)
class Def:
    """`def hat(d) = max(1 - abs(d), 0)`: a formula with a name, put in place where it is called.

    Without a formula (value None) it is one of three things.  Steps, which end with `out`, are a function of its own in
    kernels; slopes: its derivative by a parameter, as (parameter, formula).  A body is over tensors: its statements are
    put into the op that calls it.  Requires are a group of requirements."""

    name: str
    params: tuple[str, ...]
    value: X | None
    steps: tuple[Let | Repeat, ...] = ()
    slopes: tuple[tuple[str, X], ...] = ()
    doc: str = ""
    body: tuple[Assign, ...] = ()
    requires: tuple[Require, ...] = ()
    span: Span = spot()
    name_span: Span = spot()


@dataclass(frozen=True)
class Variant:
    """`or max(input, other: Num) -> Num = ...`: another signature of the op above it, before that fills in what it does
    not say.

    params: one without a type is the parameter as that op has it; None stands for all that are not named.  clauses:
    those that it says."""

    name: str
    params: tuple[Param | None, ...]
    outputs: tuple[Output, ...] | None
    drop: tuple[str, str | None] | None
    clauses: dict[str, tuple]
    span: Span = spot()
    name_span: Span = spot()


@dataclass(frozen=True)
class Schedule:
    """`schedule matmul when M >= 64` + strategies; the target is an op or a kind of statement."""

    target: str
    when: X | None
    strategies: tuple[X, ...]  # call nodes
    span: Span = spot()
