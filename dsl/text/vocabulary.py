"""The words of the language, and what is asked of a tree everywhere: its names, its nodes, where a word stands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..ir.dtypes import TYPES
from ..ir.intrinsics import INTRINSICS
from .source import Source
from .syntax import Dim, Op, Param, Span, X

TENSOR_TYPES = ("Num", "Float", "Int", "Bits", "Bool", "Any")
RESULT_TYPES = (*TENSOR_TYPES, "Int32")
OPTION_TYPES = ("num", "real", "int", "bool", "dim", "dims", "ints", "reals", "dtype", "choice")
ERRORS = ("LinAlgError",)  # kinds of errors that a requirement over elements may make
WARNING = "Warning: "  # a requirement whose message begins so refuses nothing
NOTHING = "none"  # the type of what can only be null, which tells overloads apart: a choice without any text
LISTS = ("ints", "reals")  # options that are several numbers
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
    "stretched": (2, 2),
    "number": (1, 1),
    "floating": (0, 0),
    "ravel": (2, 2),
    "unravel": (2, 2),
    "poly": (2, 64),
}
# The types of elements that `type(x)` may be compared with, as host code numbers them (codegen/data/dtypes.py).
DTYPES = tuple(TYPES)
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


def axis_number(e: X) -> str | None:
    """How the size of an axis is called at the end of its name: "0" that of the first one, "last" that of the last."""
    if e.kind == "num" and e.val == 0:
        return "0"
    return "last" if e.kind == "neg" and e.args[0].kind == "num" and e.args[0].val == 1 else None


def is_tensor(p: Param) -> bool:
    return p.type.name not in OPTION_TYPES


def expanded(op: Op) -> list[str]:
    """The names an op is called by: one, or one for each member of its family."""
    if not op.family:
        return [op.name]
    variable, values = op.family
    return list(dict.fromkeys(op.name.replace(f"{{{variable}}}", str(n)) for n in values))


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
