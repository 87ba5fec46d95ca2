"""The table of derivatives against central differences, and what choices and NaN do to it."""

import math

import numpy as np
import pytest

from dsl.gradients.derive import FLAT, NoDerivative, partials
from dsl.ir.builders import call, cond, integer, read
from dsl.ir.expression import Binary
from dsl.ir.intrinsics import INTRINSICS
from dsl.ir.program import Program, Stmt, Tensor
from dsl.ir.tidy import simplify
from dsl.reference.interpreter import evaluate

RANGES = {
    "acosh": (1.2, 3),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "atanh": (-0.9, 0.9),
    "erfinv": (-0.9, 0.9),
    "log": (0.2, 3),
    "log2": (0.2, 3),
    "log10": (0.2, 3),
    "log1p": (-0.5, 3),
    "sqrt": (0.2, 3),
    "rsqrt": (0.2, 3),
    "lgamma": (0.3, 4),
}
x, y = read("x", []), read("y", [])


def run(e, **views):
    """The value of an expression over the 0-d tensors x and y."""
    tensors = {n: Tensor(n, "input", ()) for n in views} | {"out": Tensor("out", "output", (), "float")}
    p = Program("p", tensors, [Stmt("out", (), (), e)], list(views), ["out"])
    return float(evaluate(p, {}, {}, {n: np.float64(v) for n, v in views.items()}, dtype=np.float64)["out"])


def slopes(e, **views):
    found = partials(e, integer(1))
    return {r.tensor: run(simplify(p), **views) for r, p in found.items()}


@pytest.mark.parametrize("name", [n for n in INTRINSICS if n not in FLAT and n != "digamma"])
def test_intrinsics(name):
    rng = np.random.default_rng(0)
    low, high = RANGES.get(name, (-2, 2))
    e = call(name, x) if INTRINSICS[name] == 1 else call(name, x, y)
    for _ in range(8):
        at = {"x": rng.uniform(low, high), "y": rng.uniform(0.3, 2)}
        got = slopes(e, **at)
        for n in ("x", "y")[: INTRINSICS[name]]:
            up, down = run(e, **{**at, n: at[n] + 1e-6}), run(e, **{**at, n: at[n] - 1e-6})
            assert got.get(n, 0) == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "**", "%"])
def test_operators(op):
    rng = np.random.default_rng(1)
    e = Binary(op, x, y)
    for _ in range(8):
        at = {"x": rng.uniform(0.3, 3), "y": rng.uniform(0.4, 1.1)}
        for n, got in slopes(e, **at).items():
            up, down = run(e, **{**at, n: at[n] + 1e-7}), run(e, **{**at, n: at[n] - 1e-7})
            assert got == pytest.approx((up - down) / 2e-7, rel=1e-5)


def test_every_intrinsic_is_known():
    for name, count in INTRINSICS.items():
        try:
            partials(call(name, *(x, y)[:count]), integer(1))
        except NoDerivative:
            assert name == "digamma"


def test_a_branch_not_taken_adds_nothing():
    """sqrt has slope inf at 0: the choice must win over 0 * inf."""
    e = cond(Binary(">", x, integer(0)), call("sqrt", x), integer(0))
    assert slopes(e, x=0.0)["x"] == 0
    assert slopes(e, x=4.0)["x"] == 0.25


def test_ties_share_and_nan_passes():
    e = call("max", x, y)
    assert slopes(e, x=1.0, y=1.0) == {"x": 0.5, "y": 0.5}
    assert slopes(e, x=2.0, y=1.0) == {"x": 1, "y": 0}
    assert slopes(e, x=math.nan, y=1.0) == {"x": 1, "y": 1}


def test_powers_as_pytorch():
    assert slopes(Binary("**", x, integer(2)), x=-3.0)["x"] == -6
    assert slopes(Binary("**", x, integer(0)), x=0.0) == {}
    assert slopes(Binary("**", x, y), x=0.0, y=0.0) == {"x": 0, "y": 0}
    assert slopes(Binary("**", x, y), x=0.0, y=2.0) == {"x": 0, "y": 0}


def test_abs_is_flat_at_zero():
    assert slopes(call("abs", x), x=0.0) == {"x": 0}


def test_stored_values_are_used():
    e = call("exp", x)
    assert partials(e, integer(1), {e: y})[x] == y
