"""The meaning of a program, in numpy: every statement evaluated over its whole loop space.

Slow for large shapes and exact: sums and products accumulate in float64.  It knows shapes and numbers
only as given (`dsl.testing.instances` or `codegen.binding.bind` make them), never how a kernel would run."""

from __future__ import annotations

import math

import numpy as np

from ..ir.dtypes import is_floating, is_rounded
from ..ir.expression import RawResult
from ..ir.program import Program, Stmt, Tensor
from ..ir.tidy import live
from . import body_run
from .sizes import constant, extents
from .statements import Collision, Outside, Statement


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


class BodyError(ValueError):
    """A body that fails."""


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
        # Whole numbers have room to be found too large; narrow types and uint32 wrap.
        self.compute = (
            np.dtype(np.float32)
            if is_rounded(T.name)
            else T
            if is_floating(T.name) or T == np.uint32
            else np.dtype(np.int64 if T in (np.int32, np.int64) else np.int32)
        )
        self.floating = self.compute if self.compute.kind == "f" else np.dtype(np.float32)
        self.arrays: dict[str, np.ndarray] = {}
        for n, v in views.items():
            kind = program.tensors[n].dtype if n in program.tensors else "own"
            self.arrays[n] = v.astype(self.kind(kind)) if kind != "own" else v
        self.shapes = {n: v.shape for n, v in views.items()}
        self.types = {n: v.dtype for n, v in views.items()}
        self.given = set(views)
        self.changed: list[str] = []
        self.stored: dict[str, np.ndarray] = {}  # for an audit: the elements that have a value
        self.bodies: dict[tuple, dict] = {}  # bodies of steps that have run, by their outputs

    def kind(self, dtype: str) -> np.dtype:
        return {
            "T": self.compute,
            "int": np.dtype(np.int32),
            "int32": np.dtype(np.int32),
            "bool": np.dtype(bool),
            "float": self.floating,
        }.get(dtype, self.compute)

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
                Statement(self, s).run()
        results = {}
        for n in [*outputs, *(m for m in self.changed if m not in outputs)]:
            if not self.absent(n):
                results[n] = (
                    self.array(n).astype(self.result_type(p.tensors[n])) if p.tensors[n].dtype == "T" else self.array(n)
                )
        return results

    def result_type(self, t: Tensor) -> np.dtype:
        """The type of a result that is computed in T."""
        return self.types[t.like] if t.role == "output" and t.like in self.types else self.T

    def raw(self, s: Stmt):
        """What the steps of a body make of its inputs; they run once for all results."""
        call = s.body.raw
        if call.outputs in self.bodies:
            return
        arrays = {n: np.ascontiguousarray(self.array(t)) for n, t in zip(call.inputs, s.body.tensors)}
        for name, target in call.outputs:
            t = self.program.tensors[target]
            arrays[name] = np.zeros(self.shape(target), self.kind(t.dtype))
        env = {n: constant(e, self.env) for (n, _), e in zip(call.uniforms, s.body.uniforms)}
        packs = {n: self.env[n] for n in (f"count_{p}" for p in self.packs) if n in self.env}
        try:
            body_run.run(call.body, arrays, {**packs, **env})
        except Exception as e:
            raise BodyError(f"the body of `{call.body.op}` fails: {type(e).__name__}: {e}") from e
        self.bodies[call.outputs] = arrays
        for name, target in call.outputs:
            self.arrays[target] = arrays[name]

    def array(self, n: str) -> np.ndarray:
        """What n holds; zeros if no statement wrote it.  Raises KeyError for an absent parameter."""
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
        if t.role != "output" and t.like in self.shapes:
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
