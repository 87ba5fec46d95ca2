"""Bodies of steps and calls of ops over rows: in numpy, on the GPU, and their gradients of both orders by central
differences."""

import numpy as np
import pytest

import workbench

TEXT = """
op backwards(input: Num[*B, N]) -> Num[*B, N]
    "The rows backwards; its gradient calls another op with a body."
    where R = numel(B)
    launch turn over b < R, i < N: out[b, i] = input[b, N - 1 - i]
    grad both = turned(g)
    grad input[*b, i] = both.twice[*b, i] - both.once[*b, i]

op turned(input: Num[*B, N]) -> (once: Num[*B, N], twice: Num[*B, N])
    "The rows backwards, and twice that, by a workgroup for each row, in as many launches as a row has elements."
    where R = numel(B)
    scratch kept: Num[*B, N]
    launch keep over b < R groups of 32:
        each i < N: once[b, i] = input[b, i]
        each i < N: kept[b, N - 1 - i] = once[b, N - 1 - i]
    launch step for n < N over b < R:
        once[b, n] = kept[b, N - 1 - n]
        twice[b, n] = kept[b, N - 1 - n] + kept[b, N - 1 - n]
    grad input[*b, i] = g.once[*b, N - 1 - i] + 2 * g.twice[*b, N - 1 - i]

op moved(x: Float[M, N, *K]) -> Float[M, *K, N]
    "Called with several axes before the rows."
    y[m, *k, n] = x[m, n, *k] ** 2
    z = backwards(y)
    out[m, *k, n] = z[m, *k, n] * x[m, n, *k]

op inner(x: Float[*B, N], scale: real = 1) -> Float[*B, N]
    require scale > 0, "scale must be positive, got {scale}"
    y[*b, n] = scale * x[*b, n] ** 2
    z = backwards(y)
    out[*b, n] = z[*b, n] + x[*b, n]

op chained(x: Float[*B, N], twice: real = 2) -> Float[*B, N]
    "A formula that calls a formula that calls a body."
    y[*b, n] = x[*b, n] ** 2
    z = inner(y, scale=twice)
    out[*b, n] = z[*b, n] * x[*b, n]

op rowless(x: Float[N]) -> Float[N]
    "No axes before the rows, the result at once."
    out = backwards(x)

op whole(indices: Int[*B, N], x: Float[N]) -> Float[*B, N]
    "What T is in the callee is a whole number here."
    turned_indices = backwards(indices)
    out[*b, n] = x[n] * turned_indices[*b, n]

op doubled(x: Float[N]) -> Float[N]
    "Of two results one is read: nothing comes back through the other."
    z = turned(x)
    out[n] = z.twice[n] * x[n]
"""


@pytest.mark.parametrize("name", ["backwards", "turned", "moved", "chained", "rowless", "whole", "doubled"])
def test_meaning_gradients_and_gpu(name):
    report = workbench.op(TEXT, name).check()
    assert report, report
    assert any("slopes" in f.done for f in report.findings)


def test_values():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(workbench.op(TEXT, "chained").numpy(x), (2 * x[..., ::-1] ** 4 + x**2) * x)
    np.testing.assert_array_equal(workbench.op(TEXT, "whole").numpy(np.array([[1, 2, 3]]), x[1]), [[9, 8, 5]])


def test_requirements_of_the_callee_hold_at_a_call():
    with pytest.raises(Exception, match="scale must be positive, got -1"):
        workbench.op(TEXT, "chained").numpy(np.ones((2, 3)), twice=-1)


def test_bodies_are_given_what_lies_without_gaps():
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(workbench.op(TEXT, "backwards").numpy(x.T), x.T[:, ::-1])
