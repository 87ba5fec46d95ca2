"""Contractions as WebAssembly, in tiles, in few rows and with what a condition leaves out: they mean what numpy makes of
them, forward and gradient."""

import numpy as np
import pytest

import workbench
from codegen.wasm.module import kernel_text, wasm_kernel
from codegen.wasm.planning.plan import plan_wasm
from workbench.wasm_runner import Wasm

PLAIN = Wasm()
RELAXED = Wasm(relaxed=True)


def same_as_in_doubles(f, arrays: list[np.ndarray], options: dict, tolerance: float) -> None:
    """Values and gradients in WebAssembly are those of numpy in doubles, within a share of the largest."""
    doubles = tuple(a.astype(np.float64) for a in arrays)
    want = f.run("numpy", doubles, options)
    np.testing.assert_allclose(
        f.run("wasm", tuple(arrays), options), want, rtol=0, atol=np.max(np.abs(want)) * tolerance
    )
    slopes = []
    for target in ("wasm", "numpy"):
        f.on = target
        slopes.append(f.grad(*(arrays if target == "wasm" else doubles), **options))
    for k, exact in slopes[1].items():
        np.testing.assert_allclose(slopes[0][k], exact, rtol=0, atol=np.max(np.abs(exact)) * tolerance)


@pytest.mark.parametrize("dtype, runner", [(np.float32, PLAIN), (np.float32, RELAXED), (np.float64, PLAIN)])
@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("matmul_mm", [(300, 270), (270, 301)], {}),
        ("matmul_mm", [(5, 9), (9, 500)], {}),
        ("matmul_mm", [(131, 257), (257, 9)], {}),
        ("bmm", [(3, 20, 30), (3, 30, 40)], {}),
        ("linear", [(7, 3, 64), (50, 64), (50,)], {}),
        ("conv1d", [(2, 6, 40), (8, 6, 5), (8,)], {"padding": [2]}),
        ("conv2d", [(2, 5, 13, 14), (8, 5, 3, 3), (8,)], {"padding": [1, 1], "stride": [2, 1]}),
        ("conv2d", [(2, 6, 13, 14), (8, 3, 3, 3)], {"groups": 2, "dilation": [2, 2]}),
        ("conv_transpose2d", [(2, 6, 7, 8), (6, 5, 3, 3)], {"stride": [2, 2], "padding": [1, 1]}),
        ("conv_transpose2d", [(2, 9, 7, 9), (9, 8, 3, 2)], {"stride": [3, 2], "dilation": [2, 3]}),
        ("conv_transpose2d", [(1, 9, 12, 12), (9, 8, 3, 3)], {"stride": [4, 6], "padding": [1, 0]}),
        ("conv2d", [(2, 8, 23, 24), (16, 8, 4, 3)], {"padding": [1, 1], "stride": [2, 4], "dilation": [3, 2]}),
    ],
)
def test_contractions(name, shapes, options, dtype, runner, monkeypatch):
    """In blocks that do not divide their lines, forward and gradient; tiles have six rows where there is relaxed SIMD,
    and four elsewhere."""
    monkeypatch.setattr(workbench.function, "cpu", lambda: runner)
    f = workbench.op(name)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(dtype) for s in shapes]
    call, _ = f.bind(tuple(arrays), options, "wasm")
    launches = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots])
    assert any(x is not None and (x.plan.product is not None or x.plan.singles) for x in launches)
    same_as_in_doubles(f, arrays, options, 2e-6 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("conv_transpose2d", [(2, 6, 7, 8), (6, 5, 3, 3)], {"stride": [2, 2], "padding": [1, 1]}),
        ("conv2d", [(2, 5, 13, 14), (8, 5, 3, 3)], {"padding": [1, 1], "stride": [3, 2]}),
    ],
)
def test_infinite_factors(name, shapes, options):
    """What a condition leaves out of a sum in tiles is not multiplied by 0: only sums that meet an infinity hold one."""
    f = workbench.op(name)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s) for s in shapes]
    arrays[0][0, 1, 3, 4] = np.inf
    arrays[1][2, 1, 1, 0] = -np.inf
    want = f.run("numpy", tuple(arrays), options)
    assert np.isinf(want).any() and np.isfinite(want).any()
    np.testing.assert_allclose(f.run("wasm", tuple(arrays), options), want, rtol=1e-9, atol=1e-9)
    slopes = []
    for target in ("wasm", "numpy"):
        f.on = target
        slopes.append(f.grad(*arrays, **options))
    for k, exact in slopes[1].items():
        np.testing.assert_allclose(slopes[0][k], exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relaxed_tiles(dtype, monkeypatch):
    """The same where engines have relaxed SIMD."""
    monkeypatch.setattr(workbench.function, "cpu", lambda: RELAXED)
    f = workbench.op("matmul_mm", on="wasm")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((70, 300)), rng.standard_normal((300, 41))
    close = {"rtol": 0, "atol": 1e-4 if dtype == np.float32 else 1e-12}
    np.testing.assert_allclose(f(a.astype(dtype), b.astype(dtype)), a @ b, **close)
    call, _ = f.bind((a.astype(dtype), b.astype(dtype)), {}, "wasm")
    launches = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [s.dtype for s in call.slots])
    assert "relaxed_madd" in kernel_text(wasm_kernel(launches[0], True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("matmul_mm", [(1, 67), (67, 35)], {}),
        ("matmul_mm", [(3, 5), (5, 4)], {}),
        ("linear", [(1, 70), (21, 70), (21,)], {}),
        ("linear", [(2, 3), (21, 3)], {}),
        ("bmm", [(3, 1, 30), (3, 30, 41)], {}),
        ("bmm", [(3, 2, 30), (3, 30, 3)], {}),
        ("conv2d", [(2, 5, 9, 23), (5, 1, 3, 3), (5,)], {"padding": [1, 1], "groups": 5}),
        ("conv2d", [(2, 5, 11, 22), (10, 1, 3, 3)], {"padding": [1, 1], "stride": [2, 2], "groups": 5}),
        ("conv2d", [(1, 4, 12, 12), (4, 2, 3, 2)], {"padding": [3, 0], "dilation": [2, 3], "groups": 2}),
        ("conv2d", [(1, 4, 3, 5), (4, 1, 7, 7)], {"padding": [3, 3], "groups": 4}),
        ("conv1d", [(3, 2, 40), (2, 2, 5), (2,)], {"padding": [4], "stride": [3]}),
        ("conv3d", [(1, 2, 5, 6, 7), (2, 1, 3, 3, 3)], {"padding": [1, 0, 1], "groups": 2}),
        ("conv_transpose2d", [(2, 3, 5, 6), (3, 1, 3, 3)], {"padding": [1, 1], "groups": 3}),
    ],
)
def test_few_rows(name, shapes, options, dtype):
    """Contractions that are too small on one side for tiles, forward and gradient."""
    f = workbench.op(name)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(dtype) for s in shapes]
    same_as_in_doubles(f, arrays, options, 1e-6 if dtype == np.float32 else 1e-14)
