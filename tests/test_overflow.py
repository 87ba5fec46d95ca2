"""Whole numbers that do not fit into 32 bits: the numpy meaning and the GPU refuse the same; see
tests/checks/overflow.mjs for the package."""

import numpy as np
import pytest
from definitions import LIBRARY, data_of

import workbench
from codegen.planner.writer import kernel_functions

MOST, LEAST = 2**31 - 1, -(2**31)
I = lambda *values: np.array(values, np.int32)
U = lambda *values: np.array(values, np.uint8)


@pytest.mark.parametrize(
    "name, args, options",
    [
        ("add", (I(MOST), I(1)), {}),
        ("sub", (I(LEAST), I(1)), {}),
        ("mul", (I(65536), I(65536)), {}),
        ("neg", (I(LEAST),), {}),
        ("abs", (I(LEAST),), {}),
        ("pow", (I(2), I(31)), {}),
        ("pow", (I(2), I(64)), {}),
        ("bitwise_left_shift", (I(1), I(31)), {}),
        ("bitwise_left_shift", (I(1), I(64)), {}),
        ("floor_divide", (I(LEAST), I(-1)), {}),
        ("sum", (I(MOST, 1),), {}),
        ("prod", (I(65536, 65536), 0), {}),
        ("cumsum", (I(MOST, 1, -9), 0), {}),
        ("cumprod", (I(65536, 65536), 0), {}),
        ("dot", (I(65536, 1), I(65536, 1)), {}),
        ("mm", (I([65536, 1]), I([65536], [1])), {}),
        ("scatter_add", (I(MOST), 0, I(0), I(1)), {}),
        ("index_add", (I(0), 0, I(0), I(65536)), {"alpha": 65536}),
        ("trace", (I([MOST, 0], [0, 1]),), {}),
    ],
)
def test_what_does_not_fit(name, args, options):
    f = workbench.op(name)
    if name in ("sum", "prod", "cumsum", "cumprod", "trace"):  # to int64, which has 32 bits on a GPU alone
        want = getattr(np, name)(args[0].astype(np.int64))
        assert np.array_equal(f.numpy(*args, **options), want)
        assert np.array_equal(workbench.op(name, on="wasm")(*args, **options), want)
    else:
        with pytest.raises(OverflowError, match="the result does not fit into int32"):
            f.numpy(*args, **options)
    with pytest.raises(OverflowError, match="the result does not fit into int32"):
        f.gpu(*args, **options)


@pytest.mark.parametrize(
    "name, args, options, want",
    [
        ("add", (I(MOST - 1), I(1)), {}, [MOST]),
        ("pow", (I(-2), I(31)), {}, [LEAST]),
        ("bitwise_left_shift", (I(-1, 0), I(31, 64)), {}, [LEAST, 0]),
        ("sum", (I(MOST, MOST, LEAST, LEAST),), {}, -2),
        ("prod", (I(65536, 65536, 0), 0), {}, 0),
        ("dot", (I(65536, 65536), I(65536, -65536)), {}, 0),
        ("cumsum", (I(MOST, -1, 1), 0), {}, [MOST, MOST - 1, MOST]),
        ("div_trunc", (I(16777217, LEAST), I(1, 1)), {"rounding_mode": "trunc"}, [16777217, LEAST]),
        ("add", (U(200), U(100)), {}, [44]),
        ("mul", (U(200), U(200)), {}, [64]),
        ("pow", (U(3), U(9)), {}, [227]),
        ("dot", (U(200, 200), U(2, 2)), {}, 32),
    ],
)
def test_what_fits_or_wraps(name, args, options, want):
    f = workbench.op(name)
    for run in (f.numpy, f.gpu):
        np.testing.assert_array_equal(run(*args, **options), want)


def test_floats_pay_nothing():
    f = workbench.op("add")
    (text,) = f.wgsl(np.ones(4, np.float32), np.ones(4, np.float32))
    assert "checked" not in text and "fault" not in text


def test_gradients_check_nothing():
    for op in LIBRARY.ops.values():
        for program in data_of(op.name).programs[1:]:
            names = [
                name for n in program.kernels for c in (n.floating, n.integral) if c for name in kernel_functions(c)
            ]
            assert not any("_checked" in name or "wide" in name for name in names), op.name
