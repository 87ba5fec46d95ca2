"""What names mean: the vocabulary of the language and of a library, and the scope of one op.

Facts only; the checks are in dsl/checking/signature.py, dsl/checking/formulas.py and dsl/checking/names.py."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..ir.expression import INTRINSICS
from ..ir.program import CONSTANTS as CONSTANTS
from ..text.source import Source
from ..text.syntax import Def, Dim, Op, Param, Span, Type, X

TENSOR_TYPES = ("Num", "Float", "Int", "Bits", "Bool", "Any")
OPTION_TYPES = ("num", "real", "int", "bool", "dim", "dims", "ints", "dtype", "choice")
REDUCERS = ("sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin")

# Function -> fewest and most arguments.  Reducers called like functions reduce a whole tensor.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(REDUCERS, (1, 1)),
    **{name: (n, n) for name, n in INTRINSICS.items()},
    "max": (1, 2),
    "min": (1, 2),
    "rand": (0, 0),
    "product": (1, 1),
    "inside": (1, 1),
    "rank": (1, 1),
    "numel": (1, 1),
    "size": (2, 2),
    "given": (1, 1),
    "type": (1, 1),
    "nth": (2, 2),
    "axis": (0, 0),
    "fits": (2, 2),
    "same": (2, 2),
    "number": (1, 1),
    "floating": (0, 0),
    "ravel": (2, 2),
    "unravel": (2, 2),
    "poly": (2, 64),
}
# The types of elements that `type(x)` may be compared with, as host code numbers them (codegen/data/dtypes.py).
DTYPES = ("bool", "uint8", "int8", "int32", "float16", "float32", "float64")
# Where names of ops may stand, after PyTorch's modules.
SPACES = (
    "torch",
    "torch.nn.functional",
    "torch.linalg",
    "torch.special",
    "torch.fft",
    "torch.masked",
    "torch.signal.windows",
    "Tensor",
)


@dataclass(frozen=True)
class Thing:
    """What a name of an op stands for.

    kind   tensor option size pack rank local output gradient
    axes   for things that take indices: one text for each, `*B` for a pack of axes; None: unknown"""

    kind: str
    name: str
    span: Span
    type: Type | None = None
    axes: tuple[str, ...] | None = None
    parts: tuple[str, ...] = ()  # of a gradient with several outputs: g.values


@dataclass
class Scope:
    """The names of one op."""

    op: Op
    source: Source
    things: dict[str, Thing] = field(default_factory=dict)

    @property
    def fixed(self) -> set[str]:
        """Packs whose rank the definition gives: `*X:D`, and those of `where`."""
        shapes = [p.type.dims for p in self.op.params] + [o.type.dims for o in self.op.outputs if o.type]
        return {d.name for dims in shapes for d in dims or () if d.rank} | {s.name for s in self.op.sizes if s.pack}

    def of_kind(self, *kinds: str) -> list[str]:
        return [n for n, t in self.things.items() if t.kind in kinds]

    def axis_options(self) -> list[str]:
        return [n for n, t in self.things.items() if t.kind == "option" and t.type and t.type.name in ("dim", "dims")]


@dataclass
class Vocabulary:
    """All definitions of a library: ops by the names they can be called by, and formulas."""

    ops: dict[str, Op] = field(default_factory=dict)
    defs: dict[str, Def] = field(default_factory=dict)

    @staticmethod
    def of(items: Iterable) -> Vocabulary:
        """Of two definitions with one name the first counts."""
        v = Vocabulary()
        for item in items:
            if isinstance(item, Op):
                for name in expanded(item):
                    v.ops.setdefault(name, item)
            elif isinstance(item, Def):
                v.defs.setdefault(item.name, item)
        return v

    def functions(self) -> list[str]:
        return [*FUNCTIONS, *self.defs, *self.ops]


def is_tensor(p: Param) -> bool:
    return p.type.name not in OPTION_TYPES


def expanded(op: Op) -> list[str]:
    """The names an op is called by: one, or one for each member of its family."""
    if not op.family:
        return [op.name]
    variable, values = op.family
    return list(dict.fromkeys(op.name.replace(f"{{{variable}}}", str(n)) for n in values))


def derived(op: Op) -> dict[str, str]:
    """Names that an op's tensors, packs and lists bring with them, and what they are; see dsl/opdef.py."""
    out: dict[str, str] = {}
    tensors, outputs = [p.name for p in op.params if is_tensor(p)], [o.name for o in op.outputs]
    for p in op.params:
        if p.type.optional:
            out[f"has_{p.name}"] = f"whether `{p.name}` is given"
        if is_tensor(p) or p.type.name == "dtype":
            out[f"type_{p.name}"] = f"the type of `{p.name}`"
        if is_tensor(p):
            out |= {f"rank_{p.name}": f"the rank of `{p.name}`", f"size_{p.name}_0": f"the first size of `{p.name}`"}
    cotangents = {f"g_{n}": f"the gradient of `{n}`" for n in outputs}
    slopes = {f"d_{n}": f"the gradient by `{n}`" for n in tensors}
    twice = {f"gg_{n}": f"a gradient by `{n}`" for n in tensors} | {
        f"dd_{n}": f"a gradient by `{n}`" for n in (*tensors, *outputs, *cotangents)
    }
    return out | cotangents | slopes | twice


def axes_of(dims: tuple[Dim, ...] | None) -> tuple[str, ...] | None:
    """One text for each index that a tensor with this shape takes."""
    if dims is None:
        return None
    out: list[str] = []
    for d in dims:
        inner = d.of if d.kind == "chosen" and d.of else d
        if inner.kind == "pack":
            out.append(f"*{inner.name}")
        elif inner.kind == "split":
            out += inner.factors
        else:
            out.append(str(inner.expr.val) if inner.expr and inner.expr.kind in ("name", "num") else "an axis")
    return tuple(out)


def text_of(source: Source, span: Span) -> str:
    """The source of a span on one line, comments left out."""
    lines = [re.sub(r"#.*", "", line) for line in source.text[span[0] : span[1]].split("\n")]
    return re.sub(r"\s+", " ", " ".join(lines)).strip()


def word(source: Source, span: Span, name: str, skip: int = 0) -> Span:
    """Where a name stands inside a span; the whole span if it does not.  `skip` earlier ones are passed over."""
    found = [
        m.span()
        for m in re.finditer(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", source.text[span[0] : span[1]])
    ]
    return (span[0] + found[skip][0], span[0] + found[skip][1]) if skip < len(found) else span


def header(op: Op, source: Source) -> Span:
    """The span of an op's first line with its continuations."""
    m = re.compile(r"\n {4}(?=[^ \t\n#])").search(source.text, op.name_span[1], op.span[1])
    return op.span[0], m.start() if m else op.span[1]


def names_in(e: X | None) -> Iterable[X]:
    """All name nodes of an expression, left to right, those inside filters and ranges included."""
    if e is None:
        return
    if e.kind == "name":
        yield e
    if e.kind == "reduce":
        for b in e.val[1]:
            yield from names_in(b.low)
            yield from names_in(b.high)
        yield from names_in(e.val[2])
    for a in e.args:
        yield from names_in(a)


def nodes_in(e: X | None) -> Iterable[X]:
    """All nodes of an expression, outermost first."""
    if e is None:
        return
    yield e
    if e.kind == "reduce":
        for b in e.val[1]:
            yield from nodes_in(b.low)
            yield from nodes_in(b.high)
        yield from nodes_in(e.val[2])
    for a in e.args:
        yield from nodes_in(a)
