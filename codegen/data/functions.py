"""The functions of kernels by name, and what follows from which one it is.

What they compute say codegen/wgsl, codegen/wasm and, without WebAssembly, runtime/devices/cpu/functions.ts."""

from __future__ import annotations

# Of whole numbers, beside those that are of floats, too.
INTEGER = ["floor_divide_int", "fmod_int", "power_int", "remainder_int"]
# Of whole numbers of T, whose result must fit into T: else the run reports a fault.
CHECKED = [
    "abs_checked",
    "add_checked",
    "cut_checked",
    "cut_long",
    "floor_divide_checked",
    "multiply_checked",
    "narrow_checked",
    "power_checked",
    "shift_left_checked",
    "signed_checked",
    "subtract_checked",
    "trunc_divide_checked",
]
# What looks at indices and at values of tensors.
CHECKS = ["check_bounds", "in_bounds", "check_value"]


def may_report(name: str) -> bool:
    """Whether a function may report a fault."""
    return name in CHECKED or name in CHECKS


# What the function of a routine is called: a routine may have the name of something else, such as `divide`.
OF_FLOATS, OF_INTEGERS = "_routine", "_routine_int"


def routine_name(name: str, kind: str) -> str:
    """The function of a routine of the library for numbers of a kind."""
    return name + (OF_INTEGERS if kind == "i" else OF_FLOATS)


def routine_of(name: str) -> str:
    """The routine whose function of floats has a name; of another function the name."""
    return name[: -len(OF_FLOATS)] if name.endswith(OF_FLOATS) else name


def of_integers(name: str) -> bool:
    """Whether a function is a routine's for whole numbers."""
    return name.endswith(OF_INTEGERS)
