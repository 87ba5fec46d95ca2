"""Calls of an op on numpy arrays: arguments bound as the package binds them, and the numpy meaning.

`Function` is what authors get from `dsl.op(...)`: it runs the definition itself (dsl/reference.py), not kernels."""

from __future__ import annotations

import numpy as np

from dsl.ir import Program
from dsl.opdef import OpDef
from dsl.reference import evaluate

from .host.bind import bind
from .host.errors import OpError
from .host.model import Bound, Call, Meta
from .opdata import all_tensors, signature

DTYPES = {"bool": np.bool_, "uint8": np.uint8, "int8": np.int8, "int32": np.int32, "float16": np.float16, "float32": np.float32,
          "float64": np.float64}


class Function:
    """One op as a callable on arrays, numbers and options; several results come as a dict by their names."""

    def __init__(self, op: OpDef):
        self.op = op
        self.data = signature(op)
        self.names = list(all_tensors(op))

    def __call__(self, *args, **options):
        call, arrays = self.bind(*args, **options)
        found = self.run(self.op.forward, call, arrays)
        out = {n: found[n] for n in self.op.outputs}
        return next(iter(out.values())) if len(out) == 1 else out or {p.name: found[p.name] for p in self.op.params if p.name in found}

    def bind(self, *args, **options) -> tuple[Call, dict[str, np.ndarray]]:
        """The bound call and the tensors given, by name.  Raises OpError as the package would."""
        values = arranged(self.op, args, options)
        arrays: dict[str, np.ndarray] = {}
        given = []
        for p, v in zip(self.op.params, values):
            if p.kind == "tensor" and v is not None:
                arrays[p.name] = a = as_array(v)
                given.append(Meta(str(a.dtype), list(a.shape), [s // a.itemsize for s in a.strides], 0, np.isscalar(v)))
            else: given.append(list(v) if isinstance(v, (tuple, list)) else v)
        return bind(self.data, given), arrays

    def run(self, program: Program, call: Call, arrays: dict[str, np.ndarray], wanted: list[str] | None = None) -> dict[str, np.ndarray]:
        """A program of the op by its numpy meaning: arrays by name, in their physical shapes."""
        bound = dict(zip(self.names, call.slots))
        T = DTYPES[call.dtype]
        views = {}
        for n, a in arrays.items():
            if n not in program.tensors and n not in program.inputs: continue
            a = a.astype(T, copy=False) if self.op.tensors.get(n) is None or program.tensors[n].dtype == "T" else a
            views[n] = view(a, bound[n])
        packs = {n: tuple(p) for n, p in call.packs.items()}
        found = evaluate(program, call.env, packs, views, dtype=T)
        out: dict[str, np.ndarray] = {}
        for n, a in found.items():
            b = bound[n]
            out[n] = np.empty(b.shape, DTYPES[b.dtype])
            target = view(out[n], b)
            target[...] = a.astype(out[n].dtype) if out[n].dtype != np.bool_ else a != 0
        return out

    def grad(self, arrays: dict[str, np.ndarray], call: Call, cotangents: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The gradients of all tensor arguments, by name, given those of the results."""
        program = self.op.gradient
        if program is None: raise OpError(f"{self.op.name} has no gradient")
        given = {**arrays, **{f"g_{n}": c for n, c in cotangents.items()}}
        if any(n in program.inputs for n in self.op.outputs): given |= {n: a for n, a in self.run(self.op.forward, call, arrays).items()}
        found = self.run(program, call, given)
        return {program.tensors[n].like: a for n, a in found.items()}


def arranged(op: OpDef, args: tuple, options: dict) -> list:
    """Arguments in the order of the parameters, None where nothing was given."""
    places = [p for p in op.params if not p.keyword]
    if len(args) > len(places): raise OpError(f"{op.name} takes at most {len(places)} positional arguments, but got {len(args)}")
    given = {p.name: a for p, a in zip(places, args)}
    for n, v in options.items():
        if n not in {p.name for p in op.params}: raise OpError(f"{op.name} has no option '{n}'")
        given[n] = v
    return [given.get(p.name) for p in op.params]


def as_array(v) -> np.ndarray:
    if np.isscalar(v): return np.asarray(v, np.bool_ if isinstance(v, bool) else np.int32 if isinstance(v, int) else np.float32)
    a = np.asarray(v)
    return a.astype(np.int32) if a.dtype == np.int64 else a


def view(a: np.ndarray, b: Bound) -> np.ndarray:
    """An array along its logical axes, packs at full length."""
    sizes = [n for x in b.axes for n in x.sizes]
    strides = [s * a.itemsize for x in b.axes for s in x.strides]
    return np.lib.stride_tricks.as_strided(a, sizes, strides)
