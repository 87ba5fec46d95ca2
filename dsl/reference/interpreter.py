"""The meaning of a program, in numpy: every statement evaluated over its whole loop space.

Slow for large shapes and exact: sums and products accumulate in float64.  It knows shapes and numbers
only as given (`dsl.testing.instances` or `codegen.binding.bind` make them), never how a kernel would run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..ir.axes import axes
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
    RawResult,
    Read,
    Select,
    Symbol,
    Unary,
    is_binary,
    walk,
)
from ..ir.program import Program, Raw, Stmt, Tensor, overwrites, running
from ..ir.tidy import live
from . import body_run, scalars
from .random import uniform

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


def evaluate(
    program: Program,
    env: dict,
    packs: dict[str, tuple[int, ...]],
    views: dict[str, np.ndarray],
    wanted: list[str] | None = None,
    dtype=None,
    audit: list[Outside | Collision] | None = None,
) -> dict[str, np.ndarray]:
    """Runs a program; answers its outputs (those in `wanted`) and the parameters it changed, by name.

    env: sizes, options, `has_x`; for random numbers `seed0_`, `seed1_`, `call_`.  packs: the full lengths of
    each pack.  views: arrays in logical axis order, each pack at its full rank, axes that broadcast with
    length 1; absent optional tensors are left out.  dtype: the op's type T, else the common type of the
    inputs that have it.  audit: collects accesses that leave their tensor, without it they raise IndexError, and
    elements that get two values.  Results have logical axes too."""
    env = {"inf": math.inf, "nan": math.nan, "seed0_": 0, "seed1_": 0, "call_": 0, **env}
    if dtype is None:
        own = [v.dtype for n, v in views.items() if n in program.tensors and program.tensors[n].dtype == "T"]
        dtype = np.result_type(*own) if own else np.dtype(np.float32)
    run = Run(program, env, packs, dict(views), np.dtype(dtype), audit)
    with np.errstate(all="ignore"):
        return run.all(wanted)


def extents(t: Tensor, env: dict, packs: dict[str, tuple[int, ...]]) -> list[int]:
    """The lengths of a tensor's logical axes, packs expanded and not broadcast."""
    out: list[int] = []
    for a in axes(t):
        if a.when is not None and not constant(a.when, env):
            out += [1] * (len(packs[a.pack]) if a.pack else 1)
        elif a.pack:
            out += packs[a.pack]
        else:
            out.append(int(constant(a.extent, env)))
    return out


def constant(e: E, env: dict):
    """The number that a formula over sizes and options has."""
    match e:
        case Constant():
            return e.literal
        case Symbol(name):
            return env[name]
        case Select(condition, yes, no):
            return constant(yes if constant(condition, env) else no, env)
        case Binary("and", left, right):
            return constant(left, env) and constant(right, env)
        case Binary("or", left, right):
            return constant(left, env) or constant(right, env)
        case Binary(operator, left, right):
            return scalars.binary(operator, constant(left, env), constant(right, env))
        case Call(name, operands):
            return scalars.call(name, *[constant(x, env) for x in operands])
        case Unary(operator, operand):
            return scalars.unary(operator, constant(operand, env))
        case Cast(kind, operand):
            return scalars.cast(kind, constant(operand, env), np.dtype(float)).item()
    raise ValueError(f"the host cannot compute {e}")


class BodyError(ValueError):
    """A numpy body that fails, or makes something else than it declares."""


@cache
def compiled(text: str, op: str):
    """The numpy body of a raw op."""
    return compile(text, f"<numpy body of {op}>", "exec")


class Run:
    """One evaluation: the arrays of all tensors so far."""

    def __init__(
        self,
        program: Program,
        env: dict,
        packs: dict,
        views: dict[str, np.ndarray],
        T: np.dtype,
        audit: list[Outside | Collision] | None,
    ):
        self.program, self.env, self.packs, self.T, self.audit = program, env, packs, T, audit
        # Whole numbers have room to be found too large; 8-bit types wrap.
        self.compute = (
            np.dtype(np.float32)
            if T == np.float16
            else T
            if T.kind == "f"
            else np.dtype(np.int64 if T == np.int32 else np.int32)
        )
        self.floating = self.compute if self.compute.kind == "f" else np.dtype(np.float32)
        self.arrays: dict[str, np.ndarray] = {}
        for n, v in views.items():
            kind = program.tensors[n].dtype if n in program.tensors else "own"
            self.arrays[n] = v.astype(self.kind(kind)) if kind != "own" else v
        self.shapes = {n: v.shape for n, v in views.items()}
        self.given = set(views)
        self.changed: list[str] = []
        self.stored: dict[str, np.ndarray] = {}  # for an audit: the elements that have a value
        self.bodies: dict[tuple, dict] = {}  # raw bodies that have run, by their outputs

    def kind(self, dtype: str) -> np.dtype:
        return {"T": self.compute, "int": np.dtype(np.int32), "bool": np.dtype(bool), "float": self.floating}.get(
            dtype, self.compute
        )

    def all(self, wanted: list[str] | None) -> dict[str, np.ndarray]:
        p = self.program
        outputs = p.outputs if wanted is None else wanted
        mutable = [n for n in dict.fromkeys(s.target for s in p.stmts) if n in self.given]
        for s in live(p.stmts, [*outputs, *mutable]):
            if s.when is not None and not constant(s.when, self.env):
                continue
            if self.absent(s.target):
                continue
            if isinstance(s.body, RawResult):
                self.raw(s)
            else:
                Kernel(self, s).run()
        results = {}
        for n in [*outputs, *(m for m in self.changed if m not in outputs)]:
            if not self.absent(n):
                results[n] = self.array(n).astype(self.T) if p.tensors[n].dtype == "T" else self.array(n)
        return results

    def raw(self, s: Stmt):
        """What the numpy body of a raw op makes of its inputs; run once for all results."""
        call = s.body.raw
        if call.body.tensors:
            return self.steps(call, s)
        if call.outputs not in self.bodies:
            scope = {"np": np, "floating": self.kind(call.T).kind == "f"}
            scope |= {n: self.array(t) for n, t in zip(call.inputs, s.body.tensors)}
            scope |= {n: constant(e, self.env) for (n, _), e in zip(call.words, s.body.words)}
            try:
                exec(compiled(call.body.numpy, call.body.op), scope)
            except Exception as e:
                raise BodyError(f"the `numpy` body of `{call.body.op}` fails: {type(e).__name__}: {e}") from e
            self.bodies[call.outputs] = scope
        name = call.outputs[call.n][0]
        if name not in self.bodies[call.outputs]:
            raise BodyError(f"the `numpy` body of `{call.body.op}` makes no `{name}`")
        value, target = np.asarray(self.bodies[call.outputs][name]), self.target(s)
        if value.shape != target.shape:
            raise BodyError(
                f"the `numpy` body of `{call.body.op}` makes `{name}` of shape {list(value.shape)}, not "
                f"{list(target.shape)}"
            )
        target[...] = value

    def steps(self, call: Raw, s: Stmt):
        """What the steps of a raw op make of its inputs; they run once for all results."""
        if call.outputs in self.bodies:
            return
        arrays = {n: np.ascontiguousarray(self.array(t)) for n, t in zip(call.inputs, s.body.tensors)}
        for name, target in call.outputs:
            t = self.program.tensors[target]
            arrays[name] = np.zeros(self.shape(target), self.kind(t.dtype))
        env = {n: constant(e, self.env) for (n, _), e in zip(call.words, s.body.words)}
        packs = {n: v for n, v in self.env.items() if n.startswith("count_")}
        try:
            body_run.run(call.body, arrays, {**packs, **env})
        except Exception as e:
            raise BodyError(f"the body of `{call.body.op}` fails: {type(e).__name__}: {e}") from e
        self.bodies[call.outputs] = arrays
        for name, target in call.outputs:
            self.arrays[target] = arrays[name]

    def array(self, n: str) -> np.ndarray:
        """What n holds; zeros if no statement reached it.  Raises KeyError for an absent parameter."""
        if n not in self.arrays and self.program.tensors[n].role == "input":
            raise KeyError(n)
        if n not in self.arrays:
            self.arrays[n] = np.zeros(self.shape(n), self.kind(self.program.tensors[n].dtype))
        return self.arrays[n]

    def absent(self, target: str) -> bool:
        """Whether target is an optional tensor that was not given, or its gradient."""
        t = self.program.tensors[target]
        if t.role == "input":
            return target not in self.given
        return t.role == "gradient" and t.like not in self.given and not self.env.get("has_" + t.like, 1)

    def shape(self, target: str) -> tuple[int, ...]:
        t = self.program.tensors[target]
        if target in self.shapes:
            return self.shapes[target]
        if t.like in self.shapes:
            return self.shapes[t.like]
        return tuple(extents(t, self.env, self.packs))

    def target(self, s: Stmt) -> np.ndarray:
        """The array that s writes: a copy of what a caller gave, or zeros."""
        n = s.target
        if n not in self.arrays:
            self.array(n)
        elif n in self.given and n not in self.changed:
            self.arrays[n] = self.arrays[n].copy()
        if n in self.given and n not in self.changed:
            self.changed.append(n)
        return self.arrays[n]


class Kernel:
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
        a, b = self.ranges[i]
        return np.arange(a, b, dtype=np.int32).reshape([-1 if j == i else 1 for j in range(len(self.ranges))])

    def eval(self, e: E):
        """An array that broadcasts over the loop space, or a plain number."""
        match e:
            case Constant():
                return e.literal
            case Symbol(name):
                return self.run_.env[name]
            case Index(loop):
                return self.axis(self.place[loop][0])
            case Read():
                return self.read(e)
            case Inside(read):
                return self.locate(Read(read.tensor, read.index, read))[1]
            case Random(draw):
                return self.draw(draw)
            case Cast(kind, operand):
                return scalars.cast(kind, self.eval(operand), self.run_.floating)
            case Call(name, operands):
                return scalars.call(name, *[self.eval(x) for x in operands])
            case Unary(operator, operand):
                return scalars.unary(operator, self.eval(operand))
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
            case Select(condition, yes, no):
                c = self.eval(condition)
                if scalars.plain(c):
                    return self.eval(yes if c else no)
                x, y = self.under(c, yes), self.under(np.logical_not(c), no)
                return np.where(c, scalars.number(x), scalars.number(y))
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
            at.append(np.clip(i, 0, max(n - 1, 0)).astype(np.int64))
        return at, inside

    def legal(self, r: E, axis: int, i: np.ndarray, length: int, wrong: np.ndarray):
        """Notes or raises an access outside its tensor."""
        if not np.any(wrong):
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
            cut = tensor[tuple(slice(*self.ranges[p[0]]) if isinstance(p, tuple) else 0 for p in parts)]
            order = np.argsort(loops, kind="stable")
            shape = [1] * len(self.ranges)
            for i in loops:
                shape[i] = self.ranges[i][1] - self.ranges[i][0]
            return cut.transpose(order).reshape(shape)
        at, inside = self.locate(r)
        if tensor.size == 0:
            value = np.zeros(np.broadcast_shapes(np.shape(inside), *(np.shape(i) for i in at)), tensor.dtype)
        else:
            value = tensor[tuple(np.broadcast_arrays(*at))] if at else tensor
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
        worst = (
            (-math.inf if red.endswith("max") else math.inf)
            if body.dtype.kind == "f"
            else (np.iinfo(np.int32).min if red.endswith("max") else np.iinfo(np.int32).max)
        )
        if body.dtype == bool:
            body = body.astype(np.int32)
        best = getattr(np, red[-3:])(body, over, keepdims=True, initial=worst, where=where)
        if not red.startswith("arg"):
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
        value = np.broadcast_to(np.asarray(value), space)
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
        parts = self.components(s.target, s.idx, array.shape)
        at = [self.axis(p[0]) if isinstance(p, tuple) else np.asarray(p) for p in parts]
        at = [np.broadcast_to(i, value.shape).astype(np.int64) for i in at]
        if keep is not None:
            at, value = [i[keep] for i in at], value[keep]
        for axis, (i, n) in enumerate(zip(at, array.shape)):
            self.legal(Read(s.target, s.idx, None), axis, i, n, (i < 0) | (i >= n))
        if (
            self.run_.audit is not None
            and s.mode == "="
            and not s.spread
            and not overwrites(s)
            and s.target not in self.run_.given
        ):
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

    def once(self, array: np.ndarray, at: list):
        """Notes an element that gets a second value."""
        if self.run_.audit or not array.ndim or not array.size:
            return
        there = self.run_.stored.setdefault(self.s.target, np.zeros(array.shape, np.int32))
        np.add.at(there, tuple(at), 1)
        if (there > 1).any():
            self.run_.audit.append(Collision(self.s, tuple(int(i) for i in np.argwhere(there > 1)[0])))

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


def flattened(e: E):
    """The factors of a product."""
    if is_binary(e, "*"):
        yield from flattened(e.left)
        yield from flattened(e.right)
    else:
        yield e
