"""Runs a bound call in numpy: codegen/binding/bind.py says what the arguments mean, dsl/reference/interpreter.py what
comes out."""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np
from numpy.lib.stride_tricks import as_strided

from codegen.data.model import Bound, Call, Meta, Op
from dsl.opdef import OpDef
from dsl.reference.interpreter import evaluate

NAMES = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint32": np.uint32,
    "uint16": np.uint16,
    "uint8": np.uint8,
    "bool": np.bool_,
}


def meta(a: np.ndarray, weak: bool = False) -> Meta:
    """What `bind` needs to know of an array."""
    return Meta(a.dtype.name, list(a.shape), [s // a.itemsize for s in a.strides], 0, weak)


def contiguous(shape) -> list[int]:
    """The strides, in elements, of an array without gaps."""
    out = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        out[i - 1] = out[i] * max(shape[i], 1)
    return out


def view(a: np.ndarray, slot: Bound) -> np.ndarray:
    """The array along a slot's logical axes; those that are stretched have length 1."""
    sizes = [n for axis in slot.axes for n in axis.sizes]
    strides = [s for axis in slot.axes for s in axis.strides]
    sizes = [min(n, 1) if s == 0 else n for n, s in zip(sizes, strides)]
    return as_strided(a, sizes, [s * a.itemsize for s in strides])


def run(
    op: OpDef,
    data: Op,
    call: Call,
    arrays: Mapping[str, np.ndarray],
    program: int = 0,
    wanted: list[str] | None = None,
    seed: tuple[int, int] = (0, 0),
    draw: int = 0,
) -> dict[str, np.ndarray]:
    """Runs a program of an op (0: forward, 1: gradient, 2: gradient of the gradient) on the arguments of a call.

    data: `codegen.api.opdata.op_data(op)`.  arrays: the tensors that the program starts from, in their own
    shapes.  wanted: outputs, by name, all if None.  seed, draw: see dsl.reference.random.  Answers the outputs and the
    parameters that were changed, in the shapes and types that the call gives them."""
    p = (op.forward, op.gradient, op.gradient2)[program]
    if p is None:
        raise ValueError(f"{op.name} has no program {program}")
    slots = {s.name: call.slots[i] for i, s in enumerate(data.slots)}
    env = {**call.env, "seed0_": seed[0], "seed1_": seed[1], "call_": draw}
    views = {n: view(np.asarray(a), slots[n]) for n, a in arrays.items()}
    found = evaluate(p, env, {n: tuple(v) for n, v in call.packs.items()}, views, wanted, NAMES[call.dtype])
    out = {}
    for n, a in found.items():
        changed = not slots[n].fresh
        if changed and not arrays[n].flags.c_contiguous:
            raise ValueError(f"{op.name}: '{n}' is changed in place and must be contiguous")
        out[n] = arrays[n].copy() if changed else np.zeros(slots[n].shape, NAMES[slots[n].dtype])
        target = view(out[n], slots[n])
        target[...] = a.reshape(target.shape)
    return out
