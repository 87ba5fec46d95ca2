"""Options that are no plain numbers: lists, choices, bools, whole numbers, types; and the axes that `dims` options
mark."""

from __future__ import annotations

from ..data.dtypes import FLOAT_CATEGORY, category, fitting, named_dtype
from ..data.errors import IndexError, OpError, decimal
from ..data.model import Env, Meta, Op, Param
from .parts import Arg, entry, number
from .pattern import shape_text

MOST_ELEMENTS = 2147483647
MISSING = -2147483648  # a number of an optional list that is left out


def asked_dtype(op: Op, args: list[Arg]) -> str:
    """The type that an option asks for: the arguments are computed as that; "" if none does."""
    for i, p in enumerate(op.params):
        if p.kind != "dtype":
            continue
        arg = args[i]
        if arg is None:
            return ""
        if not isinstance(arg, str):
            raise OpError(f"{op.name}: '{p.name}' must be a dtype")
        dtype = named_dtype(arg)
        if op.promote == "float" and category(dtype) != FLOAT_CATEGORY:
            raise OpError(
                f"{op.name}: could not infer output dtype. Optional dtype must be a floating point dtype. Got: {dtype}"
            )
        return dtype
    return ""


def option(op: Op, p: Param, arg: Arg, env: Env, ranks: dict[str, int]) -> None:
    name = entry(p.name)
    if is_list(p):
        values = numbers_of(op, p, arg)
        if p.rank < 0:
            if p.pack != "":
                ranks[p.pack] = len(values)
            for j, n in enumerate(values):
                env[f"{name}{j}"] = n
            return
        if len(values) == 1 and (p.pack != "" or not isinstance(arg, list)):
            values = [values[0] for j in range(p.rank)]
        if len(values) != p.rank:
            raise OpError(f"{op.name}: '{p.name}' must be a number or {p.rank} numbers, but got {len(values)}")
        for j, n in enumerate(values):
            env[f"{name}{j}"] = n
    elif p.kind == "choice":
        if isinstance(arg, bool):
            arg = "true" if arg == True else "false"  # noqa: E712 (narrowed by isinstance alone)
        if not isinstance(arg, str):
            raise OpError(f"{op.name}: '{p.name}' must be one of {', '.join(p.choices)}")
        text: str = arg
        if text not in p.choices:
            raise OpError(f"{op.name}: '{p.name}' must be one of {', '.join(p.choices)}, but got '{text}'")
        env[name] = p.choices.index(text)
    elif p.kind == "bool":
        if isinstance(arg, str) or isinstance(arg, list) or isinstance(arg, Meta):
            raise OpError(f"{op.name}: '{p.name}' must be a bool")
        env[name] = 1 if number(arg) != 0 else 0
    elif p.kind != "dims" and p.kind != "dtype":
        if isinstance(arg, str) or isinstance(arg, list) or isinstance(arg, Meta):
            raise OpError(f"{op.name}: '{p.name}' must be a number")
        v = number(arg)
        if (p.kind == "int" or p.kind == "dim") and v != int(v):
            raise OpError(f"{op.name}: '{p.name}' must be a whole number, but got {decimal(v)}")
        env[name] = fitting(op.name, "int32", v) if p.kind == "int" else v


def is_list(p: Param) -> bool:
    return p.kind == "ints" or p.kind == "reals"


def numbers_of(op: Op, p: Param, arg: Arg) -> list[float]:
    """A list of numbers, whole ones if it is not one of reals, from one or several."""
    wanted = "numbers" if p.kind == "reals" else "whole numbers"
    if isinstance(arg, str) or isinstance(arg, Meta):
        raise OpError(f"{op.name}: '{p.name}' must be {wanted}")
    given: list[float | None] = arg if isinstance(arg, list) else [number(arg)]
    values: list[float] = []
    for v in given:
        if v is None:
            if not p.optional or p.kind == "reals":
                raise OpError(f"{op.name}: '{p.name}' must be {wanted}, but got null")
            values.append(MISSING)
        else:
            if p.kind != "reals" and (not abs(v) < MOST_ELEMENTS or v != int(v)):
                raise OpError(f"{op.name}: '{p.name}' must be whole numbers, but got {decimal(v)}")
            values.append(v)
    return values


def take_default(op: Op, p: Param, env: Env) -> None:
    """The default of an option; for a list component by component, where another list's name means its component."""
    if p.default is None:
        return
    if not is_list(p):
        env[entry(p.name)] = p.default(env)
        return
    for j in range(p.rank):
        for q in op.params:
            if is_list(q) and f"{q.name}{j}" in env:
                env[q.name] = env[f"{q.name}{j}"]
        env[f"{p.name}{j}"] = p.default(env)


def listed_sizes(op: Op, args: list[Arg], env: Env, packs: dict[str, list[int]]) -> None:
    """A list with the rank of a pack that tensors have says that pack's sizes: normalized_shape."""
    for i, p in enumerate(op.params):
        if p.kind != "ints" or p.rank >= 0 or p.pack not in packs or args[i] is None:
            continue
        want: list[int] = [int(env[f"{entry(p.name)}{j}"]) for j in range(len(packs[p.pack]))]
        if shape_text(want) != shape_text(packs[p.pack]):
            raise OpError(
                f"{op.name}: Given {p.name}={shape_text(want)}, expected input with shape [*, "
                f"{', '.join([str(n) for n in want])}], but got {shape_text(packs[p.pack])} for these dimensions"
            )


def marked(op: Op, args: list[Arg], env: Env, name: str, shape: list[int]) -> tuple[list[int], list[int]]:
    """The places of the axes that `name`, an option or a `where` size, leaves, and of those that it names: without any,
    all, but none by an empty list for an option that may be absent."""
    if len(shape) > 64:
        raise OpError(f"{op.name}: only tensors with up to 64 dims are supported")
    values: list[float] = [size.value(env) for size in op.sizes if size.name == name]
    everything = True
    for i, p in enumerate(op.params):
        arg = args[i]
        if entry(p.name) != name:
            continue
        if arg is not None:
            values = numbers_of(op, p, arg)
            everything = not p.optional
        elif p.default is not None:
            values = [p.default(env)]
    marks = [everything and len(values) == 0 for n in shape]
    seen: list[int] = []
    for v in values:
        k = normal_dim(op, v, len(shape))
        if k in seen:
            raise OpError(f"{op.name}: dim {k} appears multiple times in the list of dims")
        seen.append(k)
        if k < len(shape):
            marks[k] = True
    kept = [i for i in range(len(shape)) if not marks[i]]
    dropped = [i for i in range(len(shape)) if marks[i]]
    return kept, dropped


def normal_dim(op: Op, dim: float, rank: int) -> int:
    """An axis counted from 0."""
    n = max(rank, 1)
    if dim < -n or dim >= n:
        raise IndexError(
            f"{op.name}: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {decimal(dim)})"
        )
    return int(dim) + n if dim < 0 else int(dim)
