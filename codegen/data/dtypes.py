"""Types of elements: classes, promotion, what may be cast in place.

Promotion is PyTorch's.  Types fall into three categories, bool < integral < floating; a tensor with
axes outranks one without, and that outranks a plain number, unless the lower rank's category is
higher.  `int64` is a name of int32 here, so it never appears.  Nothing here knows shapes."""

from __future__ import annotations

from .errors import OpError, decimal
from .model import Meta

BOOL_CATEGORY = 0
INT_CATEGORY = 1
FLOAT_CATEGORY = 2

DTYPES: list[str] = ["bool", "uint8", "int8", "int32", "float16", "float32", "float64"]

# The names under which a type may be asked for.
DTYPE_NAMES: dict[str, str] = {
    "bool": "bool",
    "uint8": "uint8",
    "int8": "int8",
    "int32": "int32",
    "int": "int32",
    "int64": "int32",
    "long": "int32",
    "float16": "float16",
    "half": "float16",
    "float32": "float32",
    "float": "float32",
    "float64": "float64",
    "double": "float64",
}


def category(dtype: str) -> int:
    """0 bool, 1 integral, 2 floating."""
    if dtype == "bool":
        return BOOL_CATEGORY
    return FLOAT_CATEGORY if dtype.startswith("float") else INT_CATEGORY


def compute_class(dtype: str) -> str:
    """How elements of this type are computed: "f" floating, "i" integral (bool as 0 and 1 too)."""
    return "f" if dtype.startswith("float") else "i"


def byte_size(dtype: str) -> int:
    """Bytes of one element in a typed array."""
    if dtype == "float64":
        return 8
    if dtype == "float16":
        return 2
    return 4 if dtype == "float32" or dtype == "int32" else 1


def holds(dtype: str, value: float) -> bool:
    """Whether a whole-number type has room for a number; negative ones count down from the end of uint8, as in PyTorch.
    Others hold any."""
    if category(dtype) != INT_CATEGORY:
        return True
    if dtype == "int32":
        return value >= -2147483648 and value <= 2147483647
    if dtype == "int8":
        return value >= -128 and value <= 127
    return value <= 255 and (value >= 0 or value >= -255 and value == int(value))


def held(op: str, dtype: str, value: float) -> float:
    """The number; an error where the type has no room for it."""
    if holds(dtype, value):
        return value
    raise OpError(f"{op}: {decimal(value)} does not fit into {dtype}")


def promote_types(a: str, b: str) -> str:
    """The smallest type that holds both (torch.promote_types)."""
    if a == b:
        return a
    if a == "bool":
        return b
    if b == "bool":
        return a
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    if category(a) == INT_CATEGORY:
        return "int32"  # uint8 with int8 is int16 in PyTorch: 32 bits hold it
    return a if DTYPES.index(a) > DTYPES.index(b) else b


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
            default_float if category(low) == FLOAT_CATEGORY else "int32" if category(low) == INT_CATEGORY else "bool"
        )
    if high == "":
        return of_numbers
    return of_numbers if category(low) > category(high) else high


def promoted_type(kind: str, metas: list[Meta], default_float: str = "float32") -> str:
    """T of a call whose promotion is `kind`: default, float (whole numbers become floats), sum (bool and
    8-bit become int32), none (one type, as it came: the common type)."""
    dtype = result_type(metas, default_float)
    if dtype == "":
        return default_float
    if kind == "float" and category(dtype) != FLOAT_CATEGORY:
        return default_float
    if kind == "sum" and category(dtype) != FLOAT_CATEGORY:
        return "int32"
    return dtype


def named_dtype(name: str) -> str:
    """The type that a name means: "long" is int32."""
    if name not in DTYPE_NAMES:
        raise OpError(f"unknown dtype {name}")
    return DTYPE_NAMES[name]


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
