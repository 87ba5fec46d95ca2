"""One statement of a program in numpy, evaluated over its whole loop space, some points at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..ir.builders import is_binary
from ..ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Index,
    Inside,
    Pack,
    Random,
    Read,
    Select,
    Symbol,
    Unary,
    walk,
)
from ..ir.program import Stmt, overwrites, running
from . import scalars
from .random import uniform
from .sizes import constant

if TYPE_CHECKING:
    from .interpreter import Run

LARGEST = 1 << 23  # points evaluated at once


@dataclass(frozen=True)
class Outside:
    """A place where a read without `??`, or a store, leaves its tensor."""

    stmt: Stmt
    read: Read  # the read, or for a store a read of the same element
    axis: int  # of the array, packs expanded
    value: int
    length: int


@dataclass(frozen=True)
class Collision:
    """An element that gets a second value."""

    stmt: Stmt
    place: tuple[int, ...]


class Statement:
    """One statement over its loop space, of which axis i of every array here is loop axis i."""

    def __init__(self, run: Run, s: Stmt):
        self.run_, self.s = run, s
        self.ranges: list[tuple[int, int]] = []
        self.place: dict[str, tuple[int, int]] = {}  # loop -> its first axis, how many
        for v in s.loops + s.rloops:
            lengths = run.packs[v.pack] if v.pack else (int(constant(v.extent, run.env)),)
            self.place[v.name] = len(self.ranges), len(lengths)
            self.ranges += [(0, n) for n in lengths]
        self.kept = sum(self.place[v.name][1] for v in s.loops)
        self.guard = np.True_  # where the value being evaluated counts

    def run(self):
        """Evaluates in slices along the longest axis that is not reduced, where that is needed."""
        points = math.prod(max(b - a, 0) for a, b in self.ranges)
        full = list(self.ranges)
        lengths = [b for _, b in full[: self.kept]]
        if points <= LARGEST or not lengths or max(lengths) < 2:
            return self.store(self.value())
        axis = int(np.argmax(lengths))
        step = max(1, lengths[axis] * LARGEST // points)
        for start in range(0, lengths[axis], step):
            self.ranges[axis] = start, min(start + step, lengths[axis])
            self.store(self.value())
        self.ranges = full

    # --- Scalars ---

    def shape(self) -> tuple[int, ...]:
        return tuple(b - a for a, b in self.ranges)

    def axis(self, i: int) -> np.ndarray:
        """The values of loop axis i, along that axis."""
        return counted(*self.ranges[i], i, len(self.ranges))

    def eval(self, e: E):
        """An array that broadcasts over the loop space, or a plain number."""
        match e:  # the most frequent first
            case Read():
                return self.read(e)
            case Binary("and" | "or", left, right):
                x = self.eval(left)
                if scalars.plain(x) and bool(x) == (e.operator == "or"):
                    return bool(x)
                if scalars.plain(x):
                    return scalars.binary(e.operator, x, self.eval(right))
                going = x if e.operator == "and" else np.logical_not(x)
                return scalars.binary(e.operator, x, self.under(going, right))
            case Binary(operator, left, right):
                return scalars.binary(operator, self.eval(left), self.eval(right))
            case Constant():
                return e.literal
            case Symbol(name):
                return self.run_.env[name]
            case Index(loop):
                return self.axis(self.place[loop][0])
            case Select(condition, yes, no):
                c = self.eval(condition)
                if scalars.plain(c):
                    return self.eval(yes if c else no)
                x, y = self.under(c, yes), self.under(np.logical_not(c), no)
                return np.where(c, scalars.number(x), scalars.number(y))
            case Inside(read):
                return self.locate(Read(read.tensor, read.index, read))[1]
            case Random(draw):
                return self.draw(draw)
            case Cast(kind, operand):
                return scalars.cast(kind, self.eval(operand), self.run_.floating)
            case Call("stored", (operand,)):
                return scalars.stored(self.eval(operand), self.run_.T, self.run_.compute)
            case Call(name, operands):
                return scalars.call(name, *[self.eval(x) for x in operands])
            case Unary(operator, operand):
                return scalars.unary(operator, self.eval(operand))
        raise ValueError(f"no value of a statement: {e}")

    def under(self, c: np.ndarray, e: E):
        """e, which counts only where c holds."""
        before, self.guard = self.guard, self.guard & (c != 0)
        try:
            return self.eval(e)
        finally:
            self.guard = before

    def draw(self, site: int) -> np.ndarray:
        env, place = self.run_.env, np.zeros((), np.int64)
        for v in self.s.loops:
            first, rank = self.place[v.name]
            for i in range(first, first + rank):
                lengths = self.run_.packs[v.pack] if v.pack else (int(constant(v.extent, env)),)
                place = place * lengths[i - first] + self.axis(i)
        return uniform((env["seed0_"], env["seed1_"]), env["call_"], site, place).astype(self.run_.floating)

    def components(self, tensor: str, index: tuple[E, ...], shape: tuple[int, ...], outside: bool = False) -> list:
        """An index for each axis of the array: a loop axis number where a loop stands alone, else values.
        outside: of a temporary, with something said for what is not there; so an axis of length 1 is not stretched."""
        if not index:
            return [0] * len(shape)  # axes that exist only under another `when`
        out: list = []
        for e in index:
            if isinstance(e, Pack):
                first, rank = self.place[e.loop]
                out += range(first, first + rank)
            elif isinstance(e, Index):
                out.append(self.place[e.loop][0])
            else:
                out.append(np.asarray(self.eval(e)))
        if len(out) != len(shape):
            raise ValueError(f"{tensor} has {len(shape)} axes here, but {len(out)} indices")
        return [
            0
            if isinstance(i, int) and n == 1 and not outside and self.ranges[i][1] > 1
            else (i,)
            if isinstance(i, int)
            else i
            for i, n in zip(out, shape)
        ]

    def cut(self, r: E) -> bool:
        t = self.run_.program.tensors.get(r.tensor)
        return r.fallback is not None and t is not None and t.role == "temp"

    def locate(self, r: E):
        """Where a read falls: an index array for each axis, clamped, and whether it is inside."""
        tensor = self.run_.array(r.tensor)
        inside, at = np.True_, []
        for axis, (part, n) in enumerate(
            zip(self.components(r.tensor, r.index, tensor.shape, self.cut(r)), tensor.shape)
        ):
            i = self.axis(part[0]) if isinstance(part, tuple) else np.asarray(part)
            here = (i >= 0) & (i < n)
            if r.fallback is None:
                self.legal(r, axis, i, n, ~here & self.guard)
            inside = inside & here
            at.append(np.minimum(np.maximum(i, 0), max(n - 1, 0)).astype(np.int64, copy=False))
        return at, inside

    def legal(self, r: E, axis: int, i: np.ndarray, length: int, wrong: np.ndarray):
        """Notes or raises an access outside its tensor."""
        if not wrong.any():
            return
        value = int(np.broadcast_to(i, np.shape(wrong))[wrong].flat[0])
        if self.run_.audit is None:
            raise IndexError(f"{r.tensor}: index {value} is out of range for an axis of length {length}")
        self.run_.audit.append(Outside(self.s, r, axis, value, length))

    def read(self, r: E):
        name, fallback = r.tensor, r.fallback
        tensor = self.run_.array(name)
        parts = self.components(name, r.index, tensor.shape, self.cut(r))
        loops = [p[0] for p in parts if isinstance(p, tuple)]
        simple = all(isinstance(p, (tuple, int)) for p in parts) and len(set(loops)) == len(loops)
        if simple and all(self.ranges[p[0]][1] <= n for p, n in zip(parts, tensor.shape) if isinstance(p, tuple)):
            cut = tensor[tuple([slice(*self.ranges[p[0]]) if isinstance(p, tuple) else 0 for p in parts])]
            shape = [1] * len(self.ranges)
            for i in loops:
                shape[i] = self.ranges[i][1] - self.ranges[i][0]
            return cut.transpose(sorted(range(len(loops)), key=loops.__getitem__)).reshape(shape)
        at, inside = self.locate(r)
        if tensor.size == 0:
            value = np.zeros(np.broadcast_shapes(np.shape(inside), *(np.shape(i) for i in at)), tensor.dtype)
        else:
            value = np.asarray(tensor[tuple(at)])
        return value if fallback is None else np.where(inside, value, self.eval(fallback))

    # --- Reductions ---

    def value(self) -> np.ndarray:
        """The value at every point of `loops` (of the whole kernel where there is no reduction)."""
        s = self.s
        if s.red is None:
            return self.eval(s.body) if s.pred is None else self.under(np.asarray(self.eval(s.pred)), s.body)
        if s.red == "sum" and s.pred is None and (product := self.contracted()) is not None:
            return product
        keep = None
        if s.pred is not None:
            self.guard = keep = np.broadcast_to(np.asarray(self.eval(s.pred), bool), self.shape())
        body = np.broadcast_to(np.asarray(self.eval(s.body)), self.shape())
        self.guard = np.True_
        return self.reduce(body, keep)

    def reduce(self, body: np.ndarray, keep: np.ndarray | None) -> np.ndarray:
        red, over = self.s.red, tuple(range(self.kept, len(self.ranges)))
        wide = np.float64 if body.dtype.kind == "f" else np.int64
        where = True if keep is None else keep
        if red in ("sum", "prod"):
            return getattr(np, red)(body, over, wide, where=where)
        if red in ("any", "all"):
            return getattr(np, red)(body != 0, over, where=where)
        greatest = red in ("max", "argmax")
        own = body.dtype == np.uint32 or body.dtype == np.int64 == self.run_.T
        worst = (
            (-math.inf if greatest else math.inf)
            if body.dtype.kind == "f"
            else getattr(np.iinfo(body.dtype if own else np.int32), "min" if greatest else "max")
        )
        if body.dtype == bool:
            body = body.astype(np.int32)
        best = (np.max if greatest else np.min)(body, over, keepdims=True, initial=worst, where=where)
        if not self.s.finds_index:
            return best.reshape(best.shape[: self.kept])
        wins = ((body == best) | (body != body)) & where
        if not wins.size:
            return np.zeros(best.shape[: self.kept], np.int64)
        wins = wins.reshape(*wins.shape[: self.kept], -1)
        return np.argmax(wins, -1) if running(self.s) is None else wins.shape[-1] - 1 - np.argmax(wins[..., ::-1], -1)

    def contracted(self) -> np.ndarray | None:
        """A sum of a product, by einsum over what each factor depends on; None for anything else."""
        factors = list(flattened(self.s.body))
        if len(factors) < 2 or any(isinstance(n, Random) for f in factors for n in walk(f)):
            return None
        operands: list = []
        for f in factors:
            v = np.asarray(self.eval(f))
            v = v.reshape([1] * (len(self.ranges) - v.ndim) + list(v.shape)) if v.ndim else v
            used = [i for i in range(v.ndim) if v.shape[i] != 1]
            wide = np.float64 if v.dtype.kind == "f" else np.int64
            operands += [v.reshape([v.shape[i] for i in used]).astype(wide), used]
        shape = self.shape()
        missing = [i for i in range(len(shape)) if shape[i] != 1 and not any(i in u for u in operands[1::2])]
        for i in missing:
            operands += [np.ones(shape[i], np.int64), [i]]
        if len(shape) > 50:
            return None
        out = [i for i in range(self.kept) if shape[i] != 1]
        return np.einsum(*operands, out, optimize=True).reshape(shape[: self.kept])

    # --- Stores ---

    def store(self, value):
        s, array = self.s, self.run_.target(self.s)
        reduced = s.red is not None
        space = self.shape()[: self.kept] if reduced else self.shape()
        value = np.asarray(value)
        if value.shape != space:
            value = np.broadcast_to(value, space)
        if reduced:
            self.ranges, ranges = self.ranges[: self.kept], self.ranges
        try:
            self.put(
                array,
                value,
                None if reduced or s.pred is None else np.broadcast_to(np.asarray(self.eval(s.pred), bool), space),
            )
        finally:
            if reduced:
                self.ranges = ranges

    def put(self, array: np.ndarray, value: np.ndarray, keep: np.ndarray | None):
        s = self.s
        self.guard, before = np.True_ if keep is None else keep, self.guard
        parts = self.components(s.target, s.idx, array.shape)
        self.guard = before
        if keep is None and (region := self.region(parts, array.shape)) is not None:
            return self.fill(array, region, value)
        at = [self.axis(p[0]) if isinstance(p, tuple) else np.asarray(p) for p in parts]
        at = [np.broadcast_to(i, value.shape).astype(np.int64) for i in at]
        if keep is not None:
            at, value = [i[keep] for i in at], value[keep]
        for axis, (i, n) in enumerate(zip(at, array.shape)):
            self.legal(Read(s.target, s.idx, None), axis, i, n, (i < 0) | (i >= n))
        self.once(array, at)
        if self.run_.audit:
            return
        value = value.astype(array.dtype) if array.dtype.kind != "f" else value
        if overwrites(s):
            array[tuple(i.ravel() for i in at)] = value.ravel()  # in order: the last one stays
        elif s.mode == "=" and not s.spread:
            array[tuple(at)] = value
        elif s.mode == "=" or s.mode == "+=":
            if s.mode == "=" and self.first():
                array[...] = 0
            wide = array.astype(np.float64) if array.dtype.kind == "f" else array.copy()
            np.add.at(wide, tuple(at), value)
            array[...] = wide
        else:
            {"*=": np.multiply, "max=": np.maximum, "min=": np.minimum}[s.mode].at(array, tuple(at), value)
        self.fit(array)

    def region(self, parts: list, lengths: tuple[int, ...]) -> tuple[slice, ...] | None:
        """What a plain store fills at once: an element of an array for each point of the loops, in their order."""
        loops = [part[0] if isinstance(part, tuple) else -1 for part in parts]
        if self.s.mode != "=" or self.s.spread or loops != list(range(len(self.ranges))):
            return None
        inside = all(end <= n for (_, end), n in zip(self.ranges, lengths))
        return tuple([slice(*r) for r in self.ranges]) if inside else None

    def fill(self, array: np.ndarray, region: tuple[slice, ...], value: np.ndarray):
        self.once(array, region)
        if self.run_.audit:
            return
        array[region] = value if array.dtype.kind == "f" else value.astype(array.dtype)
        self.fit(array)

    def once(self, array: np.ndarray, at: Sequence):
        """Notes for an audit, which has found nothing yet, an element that gets a second value."""
        s = self.s
        if self.run_.audit is None or self.run_.audit or not array.ndim or not array.size:
            return
        if s.mode != "=" or s.spread or overwrites(s) or s.target in self.run_.given:
            return
        there = self.run_.stored.setdefault(s.target, np.zeros(array.shape, np.int32))
        np.add.at(there, tuple(at), 1)
        if (there > 1).any():
            self.run_.audit.append(Collision(s, tuple(int(i) for i in np.argwhere(there > 1)[0])))

    def fit(self, array: np.ndarray):
        """Refuses whole numbers of T that do not fit into 32 bits."""
        run = self.run_
        if run.T != np.int32 or run.program.tensors[self.s.target].dtype != "T" or not array.size:
            return
        if array.min() < -(2**31) or array.max() >= 2**31:
            raise OverflowError(f"{self.s.target}: the result does not fit into int32")

    def first(self) -> bool:
        """Whether these are the first points of the kernel (it may run in slices)."""
        return all(a == 0 for a, _ in self.ranges)


@lru_cache(1 << 12)
def counted(first: int, end: int, axis: int, rank: int) -> np.ndarray:
    """The whole numbers from `first` to before `end` along one of so many axes; not to be changed."""
    values = np.arange(first, end, dtype=np.int32).reshape([-1 if j == axis else 1 for j in range(rank)])
    values.setflags(write=False)
    return values


def flattened(e: E):
    """The factors of a product."""
    if is_binary(e, "*"):
        yield from flattened(e.left)
        yield from flattened(e.right)
    else:
        yield e
