"""Functions as WebAssembly, at the ends of their domains and near zeros: as exact as what numpy makes of them."""

import numpy as np
import pytest

import workbench
from workbench.wasm_runner import Wasm

RELAXED = Wasm(relaxed=True)
POINTS = np.concatenate(
    [
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -1e-310, 709.7, 709.8, -745.0, -746.0]),
        np.random.default_rng(1).standard_normal(400),
        np.random.default_rng(2).standard_normal(400) * 10.0 ** np.random.default_rng(3).integers(-300, 300, 400),
        np.random.default_rng(4).uniform(-40, 40, 400),
        np.arange(-400, 400) * (np.pi / 2),  # near zeros of sines
        np.random.default_rng(5).uniform(-2.5e6, 2.5e6, 400),
    ]
)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "sinh",
        "cosh",
        "tanh",
        "sqrt",
        "sigmoid",
        "erf",
        "erfc",
        "sin",
        "cos",
        "tan",
    ],
)
@pytest.mark.parametrize("relaxed", [False, True])
def test_functions(name, relaxed, monkeypatch):
    """In doubles to a few units in the last place, in single floats rounded correctly, but for near ties."""
    if relaxed:
        monkeypatch.setattr(workbench.function, "cpu", lambda: RELAXED)
    f = workbench.op(name, on="wasm")
    with np.errstate(all="ignore"):
        want = f.numpy(POINTS)
        same = np.signbit(f(POINTS)) == np.signbit(want)
        assert np.all(same | np.isnan(want))
        np.testing.assert_array_equal(np.isnan(f(POINTS)), np.isnan(want))
        np.testing.assert_allclose(f(POINTS), want, rtol=2e-15, atol=5e-324)
        floats = POINTS.astype(np.float32)
        exact = f.numpy(floats.astype(np.float64))
        got = f(floats)
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(rounded))
    assert np.all((np.signbit(got) == np.signbit(rounded)) | np.isnan(exact))
    finite = np.isfinite(exact) & np.isfinite(got)
    unit = np.spacing(np.abs(exact[finite]).astype(np.float32)).astype(float)
    assert np.max(np.abs(got[finite] - exact[finite]) / unit, initial=0) < 0.501


def test_powers():
    """Of every sign, of zeros, infinities and what is no number; in single floats rounded correctly, but for near ties."""
    f = workbench.op("pow", on="wasm")
    special = np.array([0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 2.5, 1e30, -1e30, 16777217, np.inf, -np.inf, np.nan])
    x, y = (a.reshape(-1).astype(np.float32) for a in np.meshgrid(special, special))
    rng = np.random.default_rng(0)
    x = np.concatenate([x, rng.uniform(0, 3, 4000).astype(np.float32), np.float32(10) ** rng.uniform(-38, 38, 4000)])
    y = np.concatenate([y, rng.uniform(-60, 60, 4000).astype(np.float32), rng.uniform(-3, 3, 4000)])
    x, y = x.astype(np.float32), y.astype(np.float32)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        got = f(x, y)
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    assert np.all((np.signbit(got) == np.signbit(rounded)) | np.isnan(exact))
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(finite, np.isfinite(got))
    unit = np.spacing(np.abs(exact[finite]).astype(np.float32)).astype(float)
    assert np.max(np.abs(got[finite] - exact[finite]) / unit) < 0.502
