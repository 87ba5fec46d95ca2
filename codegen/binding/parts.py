"""What binding a call takes for some ops only: options other than numbers, axes that an option names, axes seen as
several.

The package gives these to the ops that have such things (`compiled` in ops/data/complete.ts), so that a bundle without
such an op does not hold them; options.py, axes.py and splits.py are what they do, bind.py puts them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..data.model import Axis, Dim, Env, Meta, Op, Param, Slot

Arg = Meta | list[float | None] | float | bool | str | None


@dataclass
class Parts:
    """asked: the type that an option asks for, or "".  option, default: put an option, or what stands for it, into the
    environment.  lists: checks lists against packs.  chosen: the axes that `dim` options choose, and the ranks beside
    them.  marked: which axes of the whole-tensor domain an option keeps and drops.  without: a result's shape where its
    tensors have no axis to choose.  factors, pieces, length: an axis seen as several; its sizes, its logical axes, its
    length."""

    asked: Callable[[Op, list[Arg]], str]
    option: Callable[[Op, Param, Arg, Env, dict[str, int]], None]
    default: Callable[[Op, Param, Env], None]
    lists: Callable[[Op, list[Arg], Env, dict[str, list[int]]], None]
    chosen: Callable[[Op, list[Meta | None], Env, dict[str, int]], None]
    marked: Callable[[Op, list[Arg], Env, str, list[int]], tuple[list[int], list[int]]]
    without: Callable[[Op, Slot, list[Meta | None], list[int], Env, dict[str, list[int]]], list[int]]
    factors: Callable[[Op, Slot, Dim, int, int, Env], None]
    pieces: Callable[[Dim, int, Env], list[Axis]]
    length: Callable[[Dim, Env], int]


def entry(name: str) -> str:
    """The environment's name of an option; inf and nan are constants there."""
    return name + "_" if name == "inf" or name == "nan" else name


def number(arg: Arg) -> float:
    """A number or a bool as a number; 0 for anything else."""
    if isinstance(arg, bool):
        return 1 if arg == True else 0  # noqa: E712 (narrowed by isinstance alone)
    if isinstance(arg, (int, float)):
        return arg
    return 0
