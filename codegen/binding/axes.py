"""Axes of patterns that a `dim` option chooses, and the ranks of the packs on both sides of them."""

from __future__ import annotations

from ..data.errors import OpError, decimal
from ..data.model import Env, Meta, Op, Slot
from .options import normal_dim
from .pattern import has_kind, physical, present


def chosen(op: Op, metas: list[Meta | None], env: Env, ranks: dict[str, int]) -> None:
    """Makes every `dim` option that names an axis of a pattern count from 0, and binds the ranks of the packs beside
    them."""
    choose_axes(op, metas, env)
    for i, slot in enumerate(op.slots):
        meta: Meta | None = metas[i]
        if meta is not None and has_kind(slot.dims, "chosen"):
            ranks_beside(slot, len(physical(slot, meta)[0]), chosen_axis(slot, env), ranks)


def ranks_beside(slot: Slot, rank: int, axis: int, ranks: dict[str, int]) -> None:
    chosen = -1
    before = 0
    for i, d in enumerate(slot.dims):
        if d.kind == "chosen":
            chosen = i
    for i in range(chosen):
        d = slot.dims[i]
        if d.kind != "pack":
            before += 1
    for i, d in enumerate(slot.dims):
        if d.kind != "pack" or d.name in ranks:
            continue
        ranks[d.name] = axis - before if i < chosen else rank - axis - 1 - (len(slot.dims) - chosen - 2)


def chosen_axis(slot: Slot, env: Env) -> int:
    for d in slot.dims:
        if d.kind == "chosen":
            return int(env[d.option])
    return -1


def choose_axes(op: Op, metas: list[Meta | None], env: Env) -> None:
    """Makes every `dim` option that names an axis of a pattern count from 0."""
    done: list[str] = []
    for i, slot in enumerate(op.slots):
        meta: Meta | None = metas[i]
        if meta is None:
            continue
        for d in slot.dims:
            if d.kind != "chosen":
                continue
            if d.option in done:
                if len(meta.shape) > 0 and env[d.option] >= len(meta.shape):
                    raise OpError(
                        f"{op.name}: '{slot.name}' has {len(meta.shape)} dimensions, too few for dimension "
                        f"{decimal(env[d.option])}; it is {meta.dtype}, and whole numbers as classes are torch.long"
                    )
                continue
            done.append(d.option)
            for size in op.sizes:
                if size.name == d.option:
                    env[d.option] = size.value(env)
            env[d.option] = normal_dim(op, env[d.option], len(meta.shape))


def without(
    op: Op, slot: Slot, metas: list[Meta | None], shape: list[int], env: Env, packs: dict[str, list[int]]
) -> list[int]:
    """The shape of a result whose tensors have no axes at all where one is chosen: it has none there, too."""
    return without_chosen(slot, shape, env, packs) if without_axes(op, slot, metas) else shape


def without_axes(op: Op, result: Slot, metas: list[Meta | None]) -> bool:
    """Whether a tensor that gives a result its other axes has no axes at all where one is chosen: then the result has
    none, too."""
    if has_kind(result.dims, "domain"):
        return False
    for i, slot in enumerate(op.slots):
        meta: Meta | None = metas[i]
        if meta is None or len(meta.shape) > 0 or not has_kind(slot.dims, "chosen"):
            continue
        for d in slot.dims:
            for e in result.dims:
                if d.kind == "pack" and e.kind == "pack" and d.name == e.name:
                    return True
    return False


def without_chosen(slot: Slot, shape: list[int], env: Env, packs: dict[str, list[int]]) -> list[int]:
    """A result's shape without the axis of length 1 that stands for the chosen one, if it has just one axis besides its
    packs."""
    single: list[int] = []
    at = 0
    for d in slot.dims:
        if not present(d, env):
            continue
        if d.kind != "pack":
            single.append(at)
        at += len(packs[d.name]) if d.kind == "pack" else 1
    if len(single) != 1 or shape[single[0]] != 1:
        return shape
    return shape[: single[0]] + shape[single[0] + 1 :]
