"""Rows that are reduced in single floats (codegen/wasm/planning/rows.py): as exact as PyTorch's, whatever their length,
and right where numbers are infinite or none.

A row's kernel in a compiled program takes doubles where a map that has gone into it needs them, and then differs from
eager calls by units in the last place: docs/decisions/webassembly-is-printed-from-the-same-nodes.md."""

import numpy as np
import pytest

import workbench
from codegen.data.dtypes import temporary_dtype
from codegen.wasm.planning.plan import plan_wasm
from workbench import function
from workbench.wasm_runner import Wasm

SIZES = [31, 32, 35, 64, 256, 1027, 2100]  # short rows are doubles; 256 points are a block
RUNNERS = [Wasm(), Wasm(relaxed=True)]
LARGE = 1000  # elements of a temporary that is not kept as doubles: in the package many more
CLOSE = {"rtol": 3e-6, "atol": 3e-7}


@pytest.fixture(autouse=True, params=RUNNERS, ids=["plain", "relaxed"])
def runner(request, monkeypatch) -> Wasm:
    monkeypatch.setattr(function, "cpu", lambda: request.param)
    monkeypatch.setattr(request.param, "large", LARGE)
    return request.param


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    s = x - x.max(-1, keepdims=True)
    return s - np.log(np.exp(s).sum(-1, keepdims=True))


EXACT = {
    "softmax": (-1, softmax),
    "log_softmax": (-1, log_softmax),
    "logsumexp": ([-1], lambda x: x.max(-1) + np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1))),
    "sum": ([-1], lambda x: x.sum(-1)),
    "mean": ([-1], lambda x: x.mean(-1)),
    "var": ([-1], lambda x: x.var(-1, ddof=1)),
    "amax": ([-1], lambda x: x.max(-1)),
}


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", EXACT)
def test_exact(name, size):
    x = numbers(5, size) * np.float32(3)
    dim, exact = EXACT[name]
    got, want = workbench.op(name, on="wasm")(x, dim), exact(x.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=3e-6, atol=3e-8 * size if name == "sum" else 3e-7)  # where terms cancel


@pytest.mark.parametrize("name", EXACT)
def test_which(name):
    """Long rows of single floats are computed in them, short ones and doubles are not."""
    f = workbench.op(name)
    for dtype, size, floats in [("float32", 64, True), ("float32", 31, False), ("float64", 64, False)]:
        call, wanted = f.planned((np.zeros((3, size), dtype), EXACT[name][0]), {}, False, "wasm")
        found = plan_wasm(f.data, 0, call, wanted, [bound.dtype for bound in call.slots])
        assert any(x.plan.floats for x in found if x is not None) == floats, (dtype, size)


def test_long_sums():
    """A million tenths: floats that are added up one after another would be off by a thousandth."""
    x = np.full((1, 1 << 20), 0.1, np.float32)
    want = float(x[0, 0]) * (1 << 20)
    assert abs(workbench.op("sum", on="wasm")(x, [-1])[0] - want) < 2e-7 * want


def test_not_numbers():
    x = numbers(6, 70)
    x[0, 3], x[1, 68], x[2, :5], x[3], x[4, 9] = np.nan, np.nan, -np.inf, -np.inf, np.inf
    with np.errstate(invalid="ignore"):
        for name in ["softmax", "log_softmax"]:
            got = workbench.op(name, on="wasm")(x, -1)
            np.testing.assert_allclose(got, EXACT[name][1](x.astype(np.float64)), err_msg=name, **CLOSE)
    got = workbench.op("softmax", on="wasm")(x, -1)
    assert (got[2, :5] == 0).all() and np.isnan(got[[0, 1, 3, 4]]).all()
    np.testing.assert_array_equal(workbench.op("amax", on="wasm")(x, [-1]), x.max(-1))


def test_exponentials_far_out():
    """What is below the normal numbers may be 0, and large numbers are not too large."""
    x = np.zeros((1, 64), np.float32)
    x[0, :8] = [-80, -86, -87.5, -90, -100, -104.5, -1000, -3e38]
    got, want = workbench.op("softmax", on="wasm")(x, -1), softmax(x.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=np.finfo(np.float32).tiny)
    np.testing.assert_allclose(got[0, 0], want[0, 0], rtol=1e-6)
    large = np.full((1, 64), 3e38, np.float32)
    large[0, 1] = -3e38
    np.testing.assert_allclose(workbench.op("logsumexp", on="wasm")(large, [-1]), [3e38], rtol=1e-6)


ATTEND = "scaled_dot_product_attention"
ATTENTION = {"query": numbers(2, 40, 16), "key": numbers(2, 40, 16, seed=1), "value": numbers(2, 40, 16, seed=2)}


def is_single(a) -> bool:
    return isinstance(a, np.ndarray) and a.dtype == np.float32


@pytest.mark.parametrize(
    "name, given",
    [
        ("softmax", {"input": numbers(9, 100), "dim": 1}),
        ("log_softmax", {"input": numbers(9, 100), "dim": 1}),
        (
            "layer_norm",
            {"input": numbers(9, 100), "normalized_shape": [100], "weight": numbers(100), "bias": numbers(100, seed=1)},
        ),
        ("cross_entropy", {"input": numbers(9, 100), "target": np.arange(9) * 7}),
        (ATTEND, {**ATTENTION, "is_causal": True}),
        (ATTEND, {**ATTENTION, "attn_mask": numbers(40, 40)}),
    ],
)
def test_gradients(name, given):
    """And the results themselves."""
    doubles = {k: a.astype(np.float64) if is_single(a) else a for k, a in given.items()}
    f, exact = workbench.op(name, on="wasm"), workbench.op(name, on="numpy")
    want = exact(**doubles)
    np.testing.assert_allclose(f(**given), want, rtol=2e-5, atol=2e-6)
    g = numbers(*want.shape, seed=2)
    got, want = f.grad(**given, cotangent=g), exact.grad(**doubles, cotangent=g.astype(np.float64))
    for k in want:
        np.testing.assert_allclose(got[k], want[k], rtol=2e-5, atol=4e-6, err_msg=k)


def test_maps_that_go_on():
    """The weights of attention and the gradient of cross entropy are made of a row's largest number and sum."""
    x, t = numbers(64, 100), np.zeros(64, np.int64)
    for name, given, program in [("cross_entropy", {"input": x, "target": t}, 1), (ATTEND, ATTENTION, 0)]:
        f = workbench.op(name)
        call, wanted = f.planned((), given, program == 1, "wasm")
        sizes = [int(np.prod(bound.shape)) for bound in call.slots]
        kept = [temporary_dtype(bound.dtype, size, LARGE) for bound, size in zip(call.slots, sizes)]
        types = [k if s.role == "temp" else bound.dtype for s, bound, k in zip(f.data.slots, call.slots, kept)]
        found = plan_wasm(f.data, program, call, wanted, types)
        assert any(x.plan.floats for x in found if x is not None and x.plan.kernel.shape == "map"), name


class Guarded(Wasm):
    """Memory with a pattern behind what a run may use."""

    def grow(self, size: int):
        super().grow(size)
        self.memory.write(self.store, BEHIND, size - len(BEHIND))
        self.behind = size - len(BEHIND)


BEHIND = bytes([0xA5]) * 4096


@pytest.mark.parametrize(
    "name, shape, options",
    [
        ("softmax", (64, 640), {"dim": 0}),
        ("var", (64, 640), {"dim": [0]}),
        ("layer_norm", (64, 512), {"normalized_shape": [512]}),
    ],
)
def test_nothing_is_written_behind_scratch_memory(monkeypatch, name, shape, options):
    """What a block of columns and a row keep lies in the memory that the plan asks for."""
    wasm = Guarded()
    monkeypatch.setattr(function, "cpu", lambda: wasm)
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    workbench.op(name, on="wasm")(x, **options)
    assert bytes(wasm.memory.read(wasm.store, wasm.behind, wasm.behind + len(BEHIND))) == BEHIND
