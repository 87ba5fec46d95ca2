"""Types of elements: classes, promotion, what may be cast in place.

Promotion is PyTorch's.  Types fall into three categories, bool < integral < floating; a tensor with
axes outranks one without, and that outranks a plain number, unless the lower rank's category is
higher.  Nothing here knows shapes."""

from __future__ import annotations

from dsl.ir.dtypes import OTHER_NAMES, TYPES, is_floating

from .errors import OpError, decimal
from .model import Meta

BOOL_CATEGORY = 0
INT_CATEGORY = 1
FLOAT_CATEGORY = 2

DTYPES: list[str] = list(TYPES)

# Elements beyond which a temporary's memory costs more than digits are worth.
LARGE = 65536


def category(dtype: str) -> int:
    """0 bool, 1 integral, 2 floating."""
    kind = TYPES[dtype].kind
    return BOOL_CATEGORY if kind == "b" else FLOAT_CATEGORY if kind == "f" else INT_CATEGORY


def compute_class(dtype: str) -> str:
    """How elements of this type are computed: "f" floating, "i" integral (bool as 0 and 1 too)."""
    return "f" if is_floating(dtype) else "i"


def number_kind(dtype: str) -> str:
    """The same where whole numbers of 64 bits are a kind of their own, "l"."""
    return "l" if dtype == "int64" else compute_class(dtype)


def temporary_dtype(dtype: str, elements: int, large: int) -> str:
    """What the CPU stores elements between a program's kernels as: float32 as doubles, which saves digits, where there
    are fewer than `large`."""
    return "float64" if dtype == "float32" and elements < large else dtype


def holds(dtype: str, value: float) -> bool:
    """Whether a whole-number type has room for a number; negative ones count down from the end of those without a sign,
    as in PyTorch.  Others hold any."""
    t = TYPES[dtype]
    if category(dtype) != INT_CATEGORY:
        return True
    if t.bits == 64:
        return value >= -(2.0**63) and value < 2.0**63
    if t.kind == "i":
        return value >= -(2.0 ** (t.bits - 1)) and value <= 2.0 ** (t.bits - 1) - 1
    return value <= 2.0**t.bits - 1 and (value >= 0 or value > -(2.0**t.bits) and value == int(value))


def fitting(op: str, dtype: str, value: float) -> float:
    """The number; an error where the type has no room for it."""
    if holds(dtype, value):
        return value
    raise OpError(f"{op}: {decimal(value)} does not fit into {dtype}")


def promote_types(a: str, b: str) -> str:
    """The smallest type that holds both (torch.promote_types)."""
    if a == b:
        return a
    if category(a) != category(b) and not (is_alone(a) and b == "bool" or is_alone(b) and a == "bool"):
        return a if category(a) > category(b) else b
    if category(a) == FLOAT_CATEGORY:
        if TYPES[a].bits == TYPES[b].bits:
            return "float32"  # float16 and bfloat16
        return a if TYPES[a].bits > TYPES[b].bits else b
    if is_alone(a) or is_alone(b):
        raise OpError(f"promotion of uint16 and uint32 is not supported, attempted to promote {a} and {b}")
    if TYPES[a].bits == TYPES[b].bits:
        return "int16"  # uint8 and int8
    return a if TYPES[a].bits > TYPES[b].bits else b


def is_alone(dtype: str) -> bool:
    """Whether no other type of whole numbers goes with this one, as in PyTorch."""
    return TYPES[dtype].kind == "u" and TYPES[dtype].bits > 8


def can_cast(source: str, target: str) -> bool:
    """Whether a result of type `source` may be stored in place into `target`."""
    return category(source) <= category(target)


def result_type(metas: list[Meta], default_float: str = "float32") -> str:
    """torch.result_type: the common type of tensors and numbers (those are `weak`).

    A number's type says only its category: a floating one beside whole tensors gives `default_float`."""
    full = ""
    flat = ""
    weak = ""
    for m in metas:
        if m.weak:
            weak = m.dtype if weak == "" else promote_types(weak, m.dtype)
        elif len(m.shape) > 0:
            full = m.dtype if full == "" else promote_types(full, m.dtype)
        else:
            flat = m.dtype if flat == "" else promote_types(flat, m.dtype)
    return combine(combine(full, flat, ""), weak, default_float)


def combine(high: str, low: str, default_float: str) -> str:
    """The type of a group of arguments with that of a group of lower rank ("" = none there).  `default_float`
    is set where the lower group is plain numbers: they have no width of their own."""
    if low == "":
        return high
    of_numbers = low
    if default_float != "":
        of_numbers = (
            default_float if category(low) == FLOAT_CATEGORY else "int64" if category(low) == INT_CATEGORY else "bool"
        )
    if high == "":
        return of_numbers
    return of_numbers if category(low) > category(high) else high


def promoted_type(kind: str, metas: list[Meta], default_float: str = "float32") -> str:
    """T of a call whose promotion is `kind`: default, float (whole numbers become floats), sum (bool and
    whole numbers become int64), none (one type, as it came: the common type)."""
    dtype = result_type(metas, default_float)
    if dtype == "":
        return default_float
    if kind == "float" and category(dtype) != FLOAT_CATEGORY:
        return default_float
    if kind == "sum" and category(dtype) != FLOAT_CATEGORY:
        return "int64"
    return dtype


def named_dtype(name: str) -> str:
    """The type that a name means: "long" is int64."""
    found = OTHER_NAMES[name] if name in OTHER_NAMES else name
    if found not in TYPES:
        raise OpError(f"unknown dtype {name}")
    return found


def accepts(cls: str, dtype: str) -> bool:
    """Whether a tensor parameter of class Num Float Int Bits Bool Any takes this type."""
    if cls == "Any":
        return True
    if cls == "Num":
        return True
    if cls == "Float":
        return category(dtype) == FLOAT_CATEGORY
    if cls == "Int":
        return category(dtype) == INT_CATEGORY
    if cls == "Bits":
        return category(dtype) != FLOAT_CATEGORY
    return dtype == "bool"
