"""Recurrences in formulas (dsl/checking/recurrences.py): against a loop on every target, gradients, mistakes."""

import numpy as np
import pytest
from definitions import LIBRARY

import workbench
from dsl.testing.gradcheck import check
from workbench.function import Function, device

HEAD = 'op f(x: Float[*B, T], a: Float[*B, T]) -> Float[*B, T]\n    "A recurrence."\n'
FORWARD = HEAD + "    out[*b, t] = a[*b, t] * (out[*b, t - 1] ?? 0) + x[*b, t]\n"
BACK = HEAD + "    out[*b, t] = a[*b, t] * (out[*b, t + 1] ?? 2) + x[*b, t]\n"
# Formula in the place of the last line, and what one step makes of the element before, x and a.
STEPS = {
    "a[*b, t] * (out[*b, t - 1] ?? 0) + x[*b, t]": lambda h, x, a: a * h + x,
    "x[*b, t] - (out[*b, t - 1] ?? 0) * a[*b, t] / 2": lambda h, x, a: x - h * a / 2,
    "(out[*b, t - 1] ?? 0) + tanh(a[*b, t]) * x[*b, t]": lambda h, x, a: h + np.tanh(a) * x,
    "-(x[*b, t] - (out[*b, t - 1] ?? 0)) if a[*b, t] > 0 else x[*b, t]": lambda h, x, a: h - x if a > 0 else x,
    "a[*b, t] * ((out[*b, t - 1] ?? 0) + x[*b, t]) + (out[*b, t - 1] ?? 0)": lambda h, x, a: a * (h + x) + h,
}


def run(step, x, a, first=0.0, back=False):
    out = np.zeros(x.shape)
    for at in np.ndindex(x.shape[:-1]):
        h = first
        for t in range(x.shape[-1])[:: -1 if back else 1]:
            out[(*at, t)] = h = step(h, float(x[(*at, t)]), float(a[(*at, t)]))
    return out


def drawn(*shape):
    rng = np.random.default_rng(sum(shape))
    return rng.normal(size=shape).astype(np.float32), rng.uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("formula", STEPS)
def test_a_recurrence_is_a_loop(formula):
    f = workbench.op(f"{HEAD}    out[*b, t] = {formula}\n", on="numpy")
    x, a = drawn(2, 3, 5)
    np.testing.assert_allclose(f(x, a), run(STEPS[formula], x, a), rtol=1e-5, atol=1e-6)
    assert check(f.op, 2).wrong == []


@pytest.mark.parametrize("on", ["wasm", "gpu"])
@pytest.mark.parametrize("text, back, first", [(FORWARD, False, 0.0), (BACK, True, 2.0)])
@pytest.mark.parametrize("shape", [(3, 7), (2, 1000), (1, 257), (520, 260), (0, 300), (2, 0)])
def test_kernels_and_parts(on, text, back, first, shape):
    """Rows of a thread each, and rows in parts; and the gradients, which run the other way."""
    f = workbench.op(text, on=on)
    x, a = drawn(*shape)
    step = lambda h, x, a: a * h + x
    np.testing.assert_allclose(f(x, a), run(step, x, a, first, back), rtol=2e-5, atol=2e-5)
    if shape[0] in (1, 2):
        want = Function(f.op, f.library, f.source, "numpy").grad(x.astype(np.float64), a.astype(np.float64))
        got = f.grad(x, a)
        for name in ("x", "a"):
            np.testing.assert_allclose(got[name], want[name], rtol=2e-4, atol=2e-4)
    assert device() is not None


def test_an_endless_product_comes_after_nothing():
    """Parts in which factors multiply to infinity, before which there is nothing yet."""
    f = workbench.op(FORWARD, on="wasm")
    x, a = np.zeros((1, 300), np.float32), np.full((1, 300), 1e20, np.float32)
    assert not np.any(f(x, a))


def test_other_axes_stay_where_they_are():
    text = 'op f(x: Float[N, T, C], a: Float[C]) -> Float[N, T, C]\n    "A."\n'
    text += "    h[n, t, c] = a[c] * (h[n, t + 1, c] ?? 0) + x[n, t, c]\n    out[n, t, c] = 2 * h[n, t, c]\n"
    f = workbench.op(text, on="numpy")
    assert f(np.ones((1, 3, 2)), np.array([1.0, 0.5])).tolist() == [[[6, 3.5], [4, 3], [2, 2]]]
    assert check(f.op, 2).wrong == []


@pytest.mark.parametrize(
    "formula, said",
    [
        ("tanh(out[t - 1] ?? 0) + x[t]", "not linear in the element"),
        ("(out[t - 1] ?? 0) * (out[t - 1] ?? 0)", "not linear in the element"),
        ("out[t - 1] + x[t]", "nothing says what comes before the first"),
        ("(out[t - 2] ?? 0) + x[t]", "not beside the one it makes"),
        ("(out[t - 1] ?? 0) + (out[t + 1] ?? 0)", "along one index and one way"),
        ("(out[t - 1] ?? 0) + 2 * (out[t - 1] ?? 1)", "two values before its first"),
    ],
)
def test_what_is_no_recurrence(formula, said):
    with pytest.raises(workbench.DefinitionError, match=said):
        workbench.op(f'op f(x: Float[T]) -> Float[T]\n    "F."\n    out[t] = {formula}\n')


def test_the_op_that_runs_them_is_there():
    assert LIBRARY.ops["linear_recurrence"].gradient2 is not None
