"""Definitions that are hard on the compiler: what numpy makes of them, kernels do, and their slopes are central
differences."""

import numpy as np
import pytest

import workbench

# Draws belong to their places: a temporary, a sum, a transposed result and the gradient see the same numbers.
DRAWS = {
    "transposed": "op f(x: Float[N, M], p: real = 0.5) -> Float[M, N]\n    keep[n, m] = 1 / (1 - p) if rand() >= p else 0\n    out[m, n] = x[n, m] * keep[n, m]\n"
    "    sample p in 0.25 .. 0.75\n",
    "summed": "op f(x: Float[N, M]) -> Float[M]\n    r[n, m] = rand() + 0 * x[n, m]\n    out[m] = sum[n] x[n, m] * r[n, m]\n",
    "along one axis": "op f(x: Float[N, M]) -> Float[N, M]\n    r[m] = rand() + 0 * x[0, m]\n    out[n, m] = x[n, m] * r[m]\n",
    "in a sum": "op f(x: Float[N, M]) -> Float[N]\n    out[n] = sum[m] x[n, m] * rand()\n",
    "in a filter": "op f(x: Float[N, M]) -> Float[N]\n    out[n] = sum[m if rand() < 0.5] x[n, m] ** 2\n",
    "in a sum inside": "op f(x: Float[N, M]) -> Float[N]\n    out[n] = 1 + x[n, 0] * (sum[m] x[0, m] * rand())\n",
    "in a product": "op f(x: Float[N, K], y: Float[K, M]) -> Float[N, M]\n    out[n, m] = sum[k] x[n, k] * y[k, m] * rand()\n",
    "in a growing sum": "op f(x: Float[N]) -> Float[N]\n    out[n] = sum[m if m <= n] x[m] * rand()\n",
    "used in another order": "op f(x: Float[N, M]) -> Float[N, M]\n    r[m, n] = rand() * x[n, m]\n    s[n] = sum[m] x[n, m] ** 2\n    out[n, m] = r[m, n] / (1 + s[n])\n",
    "whole tensors": "op f(x: Float, dim: dim) -> Float\n    r = x * rand()\n    out = r / (1 + sum[dim] r ** 2)\n",
}
# Places that an index names several times, or never.
PLACES = {
    "a coefficient that may be 0": "op f(x: Float[N], s: int) -> Float[N]\n    out[n] = x[n * s] ?? 0\n",
    "one that may be less": "op f(x: Float[N], s: int, t: int) -> Float[N]\n    out[n] = sum[k < 3] x[n * s + k * t] ?? 0.5\n",
    "a product of indices": "op f(x: Float[N, M]) -> Float[N, M]\n    out[n, m] = x[n, n * m] ?? 0\n",
    "divided by what may be 0": "op f(x: Float[N], s: int) -> Float[N]\n    out[n] = x[n // s] ?? 0\n",
    "a remainder by what may be 0": "op f(x: Float[N], s: int) -> Float[N]\n    out[n] = x[n % s] ?? 0\n",
    "an option times a quotient": "op f(x: Float[N], s: int, t: int) -> Float[N]\n    out[n] = x[(n * s) // t] ?? 0\n",
    "made before it is gathered": "op f(x: Float[N], z: Int[N]) -> Float[N]\n    s[b] = x[b] ** 2\n    out[a] = s[z[a]] ?? 0\n",
    "asked for before it is gathered": "op f(x: Float[N], z: Int[N]) -> Float[N]\n    s[b] = x[b] ** 2\n    out[a] = 1.0 * x[a] if inside(s[z[a] - 1]) else 0\n",
    "replaced": 'op f(x: Float[N], y: Float[M], z: Int[M]) -> Float[N]\n    out[n] = x[n] ** 2\n    out[z[m]] = y[m]\n    require M == 1, "one"\n',
    "shared out": "op f(x: Float[N]) -> Float[N, 2]\n    out[n, 0] = x[n] ** 2\n    out[n, 1] = 3 * x[n]\n",
}
# What stands in for a whole number, or a bool, that is not there.
TYPES = {
    "a fraction": "op f(x: Float[N], z: Int[N]) -> Float[N]\n    out[n] = x[n] * (z[n + 1] ?? 0.5)\n",
    "an option": "op f(x: Float[N], z: Int[N], v: real = 0.25) -> Float[N]\n    out[n] = x[n] * (z[n - 1] ?? v)\n    sample v in 0.25 .. 0.75\n",
    "an element": "op f(x: Float[N], z: Int[N]) -> Float[N]\n    out[n] = x[n] ** 2 * (z[n + 1] ?? x[0])\n",
    "for a bool": "op f(x: Float[N], z: Bool[N]) -> Float[N]\n    out[n] = x[n] * (z[n + 1] ?? 2.5)\n",
    "summed first": "op f(x: Float[N], z: Int[N]) -> Float[N]\n    out[n] = x[n] * (sum[k < N] z[n - k] ?? 0.08)\n",
}


@pytest.mark.parametrize("text", [*DRAWS.values(), *PLACES.values(), *TYPES.values()], ids=[*DRAWS, *PLACES, *TYPES])
def test_all_instances_agree(text):
    report = workbench.op(text).check(instances=3)
    assert report, str(report)


def everywhere(text: str, *args) -> list[np.ndarray]:
    f = workbench.op(text)
    return [np.asarray(f.run(target, args, {})) for target in ("numpy", "gpu")]


@pytest.mark.parametrize("red, want", [("max", -(2**31)), ("min", 2**31 - 1), ("sum", 0), ("prod", 1)])
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.float32])
def test_a_reduction_of_nothing(red, want, dtype):
    floats = dtype is np.float32 and red in ("max", "min")
    with np.errstate(all="ignore"):
        answer = np.array({"max": -np.inf, "min": np.inf}[red] if floats else want).astype(dtype)
    for got in everywhere(f"op f(x: Num[N]) -> Num\n    out[] = {red}[n] x[n]\n", np.zeros(0, dtype)):
        assert got == answer
    for got in everywhere(
        f"op f(x: Num[N], y: Num[M]) -> Num[M]\n    out[m] = {red}[n if n > m + 9] x[n]\n",
        np.ones(3, dtype),
        np.ones(2, dtype),
    ):
        assert (got == answer).all()


@pytest.mark.parametrize("shapes", [((3, 0), (0, 2)), ((0, 4), (4, 2)), ((3, 4), (4, 0)), ((0, 0), (0, 0))])
def test_a_contraction_over_nothing(shapes):
    a, b = (np.ones(s, np.float32) for s in shapes)
    text = "op f(x: Float[N, K], y: Float[K, M]) -> Float[N, M]\n    out[n, m] = sum[k] x[n, k] * y[k, m]\n"
    for got in everywhere(text, a, b):
        assert np.array_equal(got, a @ b)
    f = workbench.op(text)
    for f.on in ("numpy", "gpu"):
        found = f.grad(a, b)
        assert np.array_equal(found["x"], np.ones((len(a), b.shape[1]), np.float32) @ b.T)
        assert np.array_equal(found["y"], a.T @ np.ones((len(a), b.shape[1]), np.float32))
