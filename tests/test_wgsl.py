"""Kernels for WebGPU: every op's compile and mean what the reference evaluates, forward and gradient."""

import numpy as np
import pytest
from definitions import LIBRARY, data_of, drawn
from turns import one_in, turn

from codegen.api.opdata import rules
from codegen.binding.bind import bind
from codegen.planner.plan import plan
from workbench.numpy_runner import meta, run
from workbench.wgpu_runner import Gpu

RULES = rules(LIBRARY)
TOLERANCE = {"rtol": 2e-4, "atol": 2e-5}


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    return Gpu()


def single(a):
    """float64 as float32: the GPU has no doubles."""
    return a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a


def strided(a: np.ndarray) -> np.ndarray:
    """The same elements with gaps between them, last axis first."""
    if a.ndim == 0:
        return a.copy()
    wide = np.zeros([2 * n for n in a.shape[::-1]], a.dtype)
    out = wide[tuple(slice(None, None, 2) for _ in a.shape)].T
    out[...] = a
    return out


def memory(a: np.ndarray) -> np.ndarray:
    """The flat memory that a view walks through."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a.reshape(-1)


def compare(got: np.ndarray, want: np.ndarray, what: str):
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, err_msg=what, equal_nan=True, **TOLERANCE)
    else:
        np.testing.assert_array_equal(got, want, what)


@pytest.mark.parametrize("name", LIBRARY.ops)
def test_op(gpu, name):
    """With schedules and without: the same results; of contiguous tensors, and of strided ones with the next commit
    (turns.py)."""
    op = LIBRARY.ops[name]
    data = data_of(name)
    number = {s.name: i for i, s in enumerate(data.slots)}
    changed = {p.name for p in op.params if p.mut}
    found = drawn(op, 2, seed=5)
    for n, instance in one_in(len(found), found, turn(), start=[*LIBRARY.ops].index(name)):
        rng = np.random.default_rng(n)  # the same numbers whichever turn it is
        args = [single(a) for a in instance.arguments(n)]
        arrays = {p.name: a for p, a in zip(op.params, args) if p.kind == "tensor" and a is not None}
        if n % 2:
            arrays = {k: a if k in changed else strided(a) for k, a in arrays.items()}
        call = bind(data, [meta(arrays[p.name]) if p.name in arrays else a for p, a in zip(op.params, args)])
        seed = (instance.env["seed0_"], instance.env["seed1_"])
        want = run(op, data, call, arrays, seed=seed)
        storages = {number[k]: memory(a) for k, a in arrays.items()}
        for got in ways(gpu, data, 0, call, storages, [number[o] for o in op.outputs], seed):
            for k in op.outputs:
                compare(got[number[k]].reshape(want[k].shape), want[k], f"{name}.{k}")
        if op.gradient is None or not call.dtype.startswith("float"):
            continue
        made = {k: single(np.asarray(want[k])) for k in op.outputs}
        given = {
            g: single(rng.standard_normal(call.slots[number[g]].shape))
            for g in op.gradient.inputs
            if g.startswith("g_")
        }
        back = run(op, data, call, {**arrays, **made, **given}, program=1, seed=seed)
        for k, a in {**made, **given}.items():
            storages[number[k]] = np.ascontiguousarray(a).reshape(-1)
        wanted = [number[o] for o in op.gradient.outputs if o in back]
        for got in ways(gpu, data, 1, call, storages, wanted, seed):
            for k in back:
                if number[k] in got:
                    compare(got[number[k]].reshape(back[k].shape), back[k], f"{name}.{k}")


def ways(gpu: Gpu, data, program: int, call, storages, wanted, seed):
    """The results as scheduled, and without schedules where that makes other launches."""
    launches = lambda rules: plan(data, program, call, wanted, gpu.facts, rules)
    yield gpu.run(data, program, call, storages, wanted, RULES, (*seed, 0))
    if launches(RULES) != launches([]):
        yield gpu.run(data, program, call, storages, wanted, [], (*seed, 0))
