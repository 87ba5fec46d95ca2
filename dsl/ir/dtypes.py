"""The types of elements: the one table of what they are.

What follows from a type alone is asked of it here; which type comes of several is codegen/data/dtypes.py's, its array
and name in JavaScript runtime/elements/dtype.ts's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Dtype:
    """kind: "b" truth values, "i" whole numbers, "u" those without a sign, "f" floats.
    bits: of an element, as files hold it.
    bytes: of one on the CPU, where 16-bit floats lie as float32.
    word: WGSL's type of one on a GPU, "" where there is none.  There int64 takes 32 bits, and what they do not hold is
    an error."""

    kind: str
    bits: int
    bytes: int
    word: str


# In the order of their numbers: new ones are added at the end.
TYPES: dict[str, Dtype] = {
    "bool": Dtype("b", 8, 1, "u32"),
    "uint8": Dtype("u", 8, 1, "i32"),
    "int8": Dtype("i", 8, 1, "i32"),
    "int32": Dtype("i", 32, 4, "i32"),
    "float16": Dtype("f", 16, 4, "f16"),
    "float32": Dtype("f", 32, 4, "f32"),
    "float64": Dtype("f", 64, 8, ""),
    "int16": Dtype("i", 16, 2, "i32"),
    "uint16": Dtype("u", 16, 2, "i32"),
    "uint32": Dtype("u", 32, 4, "u32"),
    "bfloat16": Dtype("f", 16, 4, "f32"),
    "int64": Dtype("i", 64, 8, "i32"),
}
OTHER_NAMES: dict[str, str] = {
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}


def is_floating(dtype: str) -> bool:
    return TYPES[dtype].kind == "f"


def is_rounded(dtype: str) -> bool:
    """Whether elements are floats that are computed in more bits than they have."""
    return is_floating(dtype) and TYPES[dtype].bits == 16


def is_narrow(dtype: str) -> bool:
    """Whether whole numbers of a type wrap: all but int32, which must fit, and int64, which must on a GPU."""
    return not is_floating(dtype) and dtype != "int32" and dtype != "int64"
