"""Windows of 3 x 3 points of a contraction as WebAssembly that multiplies sums (codegen/wasm/planning/small_windows.py):
as exact as sums of products, and right where numbers are infinite or none."""

import numpy as np
import pytest

import workbench
from codegen.wasm.planning.plan import plan_wasm
from workbench import function
from workbench.wasm_runner import Wasm

PLAIN, RELAXED, PARTS = Wasm(), Wasm(relaxed=True), Wasm(relaxed=True, parts=3)
ONE = {"padding": [1, 1]}
CASES = [
    ([(1, 16, 8, 8), (16, 16, 3, 3), (16,)], ONE),
    ([(2, 17, 10, 14), (19, 17, 3, 3)], ONE),  # lines that tiles of four do not divide
    ([(1, 36, 16, 28), (44, 18, 3, 3), (44,)], {**ONE, "groups": 2}),
    ([(3, 20, 12, 10), (32, 20, 3, 3)], {"padding": [1, 2]}),
    ([(1, 350, 8, 8), (18, 350, 3, 3)], ONE),  # many channels
    ([(1, 16, 30, 62), (16, 16, 3, 3)], ONE),  # several blocks
]


def numbers(shapes, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def windows_of(arrays, options, name: str = "conv2d") -> list[bool]:
    """For each kernel of a call whether it is computed so."""
    f = workbench.op(name)
    call, wanted = f.planned(tuple(arrays), options, False, "wasm")
    launches = plan_wasm(f.data, 0, call, wanted, [bound.dtype for bound in call.slots])
    return [x.plan.windows is not None for x in launches if x is not None]


@pytest.mark.parametrize("runner", [PLAIN, RELAXED], ids=["plain", "relaxed"])
@pytest.mark.parametrize("shapes, options", CASES)
def test_sums(shapes, options, runner, monkeypatch):
    monkeypatch.setattr(function, "cpu", lambda: runner)
    arrays = numbers(shapes)
    assert windows_of(arrays, options) == [True]
    doubles = [a.astype(np.float64) for a in arrays]
    f, exact = workbench.op("conv2d", on="wasm"), workbench.op("conv2d", on="numpy")
    want = exact(*doubles, **options)
    np.testing.assert_allclose(f(*arrays, **options), want, rtol=0, atol=1e-6 * np.max(np.abs(want)))
    got = f.grad(*arrays, **options)  # whose windows go backwards
    for name, slope in exact.grad(*doubles, **options).items():
        np.testing.assert_allclose(got[name], slope, rtol=0, atol=1e-6 * np.max(np.abs(slope)), err_msg=name)


def test_whole_numbers_are_exact():
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-9, 9, shape).astype(np.float32) for shape in CASES[1][0]]
    np.testing.assert_array_equal(
        workbench.op("conv2d", on="wasm")(*arrays, **ONE), workbench.op("conv2d", on="numpy")(*arrays, **ONE)
    )


def test_parts_come_to_what_the_whole_does(monkeypatch):
    shapes, options = CASES[5]
    found = []
    for runner in (RELAXED, PARTS):
        monkeypatch.setattr(function, "cpu", lambda runner=runner: runner)
        f = workbench.op("conv2d", on="wasm")
        arrays = numbers(shapes)
        found.append([f(*arrays, **options).tobytes(), f.grad(*arrays, **options)["input"].tobytes()])
    assert PARTS.shared > 0 and found[0] == found[1]


def test_what_is_not_finite_stays_where_it_is():
    shapes, options = CASES[1]
    arrays = numbers(shapes)
    arrays[0][0, 3, 4, 5], arrays[0][1, 2, 9, 0], arrays[0][1, 4, 0, 9] = np.inf, np.nan, -np.inf
    want = workbench.op("conv2d", on="numpy")(*(a.astype(np.float64) for a in arrays), **options)
    assert np.isinf(want).any() and np.isnan(want).any() and np.isfinite(want).any()
    np.testing.assert_allclose(workbench.op("conv2d", on="wasm")(*arrays, **options), want, rtol=1e-4, atol=1e-4)
    large = [np.full(shapes[0], 2e37, np.float32), np.zeros(shapes[1], np.float32)]
    large[1][:, 0, 1, 1] = 1  # sums of four of them overflow
    np.testing.assert_array_equal(workbench.op("conv2d", on="wasm")(*large, **options), np.float32(2e37))


@pytest.mark.parametrize(
    "shapes, options",
    [
        ([(1, 8, 8, 8), (16, 8, 3, 3)], ONE),  # few channels
        ([(1, 16, 8, 8), (8, 16, 3, 3)], ONE),
        ([(1, 16, 9, 8), (16, 16, 3, 3)], ONE),  # points without a neighbour
        ([(1, 16, 8, 8), (16, 16, 3, 3)], {"padding": [2, 2], "dilation": [2, 2]}),
        ([(1, 16, 16, 16), (16, 16, 3, 3)], {**ONE, "stride": [2, 2]}),
        ([(1, 16, 8, 8), (16, 16, 5, 5)], {"padding": [2, 2]}),
    ],
)
def test_others(shapes, options):
    assert windows_of(numbers(shapes), options) == [False]


def test_doubles_are_added_up_one_by_one():
    assert windows_of([a.astype(np.float64) for a in numbers(CASES[0][0])], ONE) == [False]
