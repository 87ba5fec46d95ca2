"""A called op's own gradient is what flows through the call: at kinks, where it is not what would be derived, and by
the chain rule."""

import numpy as np
import pytest

from dsl.gradients.adjoint import complete
from dsl.library import load_text
from dsl.testing.gradcheck import check
from workbench.function import Function

# Gradients with factors that nobody would derive: a factor that is missing was derived anew.
TEXT = """
op ramp(input: Float) = max(input, 0)
    as torch.ramp
    grad input = g if input > 0 else 0

op soft(e: Float, dim: dim) -> Float
    as torch.soft
    p = exp(e - max[dim] e)
    out = p / sum[dim] p
    grad e = 7 * out * (g - sum[dim] g * out)

op length(input: Float, dim: dim) -> Float drop dim
    as torch.length
    out = sqrt(sum[dim] input * input)
    part = 0 * out
    grad ratio = g / out if out > 0 else part
    grad input = 3 * input * ratio

op times(a: Float, b: Float) = a * b
    as torch.times
    grad a = 5 * g * b

op fixed(a: Float, b: Float) = a * b
    as torch.fixed
    nograd a

op still(a: Float) = a * a
    as torch.still
    nograd

op gated(x: Float, y: Float) = ramp(x) * y
    as torch.gated

op outer_soft(x: Float, dim: dim) = soft(2 * ramp(x), dim) * x
    as torch.outer_soft

op own_of_own(x: Float) = 11 * twice_ramp(x)
    as torch.own_of_own

op twice_ramp(x: Float) = 2 * ramp(x)
    as torch.twice_ramp
    grad x = 13 * g

op squared(x: Float) = times(x, x)
    as torch.squared

op held(x: Float) = fixed(x, x) + still(x)
    as torch.held

op unit(x: Float, dim: dim) -> Float
    as torch.unit
    n = length(x, dim)
    out = x / n

op either(x: Float, y: Float, mode: "a" | "b" = "a") = ramp(x) if mode == "a" else ramp(y) * 4
    as torch.either

op spread(x: Float, y: Float) = ramp(x + y)
    as torch.spread

op smooth(x: Float) = plain(x) * sin(x)
    as torch.smooth

op plain(x: Float) = x * x * x
    as torch.plain
    grad x = 3 * x * x * g
"""


@pytest.fixture(scope="module")
def ops():
    library, errors, _ = load_text(
        "".join(line + ('\n    "."' if line.startswith("op ") else "") + "\n" for line in TEXT.split("\n"))
    )
    assert not errors
    return {name: Function(op, library, on="numpy") for name, op in library.ops.items()}


def soft(x):
    return np.exp(x) / np.exp(x).sum()


def test_at_a_kink(ops):
    found = ops["gated"].grad([0.0, -1.0, 2.0], [3.0, 3.0, 3.0])
    assert found["x"].tolist() == [0, 0, 3] and found["y"].tolist() == [0, 0, 2]


def test_through_calls_in_calls(ops):
    x = np.array([0.5, -1.0, 2.0])
    p = soft(2 * np.maximum(x, 0))
    through = 7 * p * (x - (x * p).sum())
    assert np.allclose(ops["outer_soft"].grad(x, 0)["x"], p + 2 * through * (x > 0))
    assert ops["own_of_own"].grad([-1.0, 1.0])["x"].tolist() == [143, 143]


def test_what_is_not_said_is_derived_beside_it(ops):
    assert ops["squared"].grad([2.0, -3.0])["x"].tolist() == [5 * 2 + 2, 5 * -3 - 3]
    assert ops["held"].grad([2.0, -3.0])["x"].tolist() == [2, -3]


def test_parts_of_gradients_and_what_the_call_made(ops):
    x = np.array([[3.0, 4.0], [0.6, 0.8]])
    n = np.sqrt((x * x).sum(1, keepdims=True))
    through = -(x / n**2).sum(1, keepdims=True)
    assert np.allclose(ops["unit"].grad(x, 1)["x"], 1 / n + 3 * x / n * through)


@pytest.mark.parametrize("mode", ["a", "b"])
def test_in_a_branch_that_options_choose(ops, mode):
    found = ops["either"].grad([1.0, 0.0], [0.0, 2.0], mode=mode)
    want = {"a": ([1, 0], [0, 0]), "b": ([0, 0], [0, 4])}[mode]
    assert (found["x"].tolist(), found["y"].tolist()) == want


def test_of_tensors_that_are_stretched(ops):
    found = ops["spread"].grad([[1.0], [-5.0]], [[1.0, 2.0, -1.0]])
    assert found["x"].tolist() == [[2], [0]] and found["y"].tolist() == [[1, 1, 0]]


def test_gradients_of_such_gradients(ops):
    op = ops["smooth"].op
    complete(op)
    assert op.owned
    for twice in (False, True):
        found = check(op, 6, twice=twice)
        assert found.places and not found.wrong
