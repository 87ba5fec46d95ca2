"""What ops are composed of: definitions over tensors, groups of requirements, several results, variants.

Each is a way of writing: what is written so means what the same op means that is written out."""

import numpy as np
import pytest

import workbench
from dsl.text.parse import parse_text

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)

COMPOSED = """
def moments(x, power)
    "The mean of a power along the last axis."
    total[*b] = sum[k] x[*b, k] ** power
    out[*b] = total[*b] / size(x, 0)

def reduced(loss, how) = loss if how == "none" else sum(loss) if how == "sum" else mean(loss)

def spread(x, N)
    first = moments(x, 1)
    out[*b, i < N, j < N] = first[*b] if i == j else 0

op pair(a: Float[*B, N]) -> (low: Float[*B], high: Float[*B])
    low[*b] = min[n] a[*b, n]
    high[*b] = max[n] a[*b, n]

def shifted(x)
    start[b] = 1.0
    out[a, b] = x[a, b] - start[b]

op apart(input: Float[N, M], other: Float[N]) -> Float[N, M]
    "The caller's index b is another axis than the definition's."
    twice[b] = 2 * other[b]
    s = shifted(input)
    out[b, c] = s[b, c] * twice[b]

op told(input: Float[*B, N], how: "none" | "sum" | "mean" = "mean") -> Float = reduced((input - 1) ** 2, how)

op written(input: Float, how: "none" | "sum" | "mean" = "mean") -> Float
    loss = (input - 1) ** 2
    out = loss if how == "none" else sum(loss) if how == "sum" else mean(loss)

op both(input: Float[*B, N]) -> (low: Float[*B], gap: Float[*B])
    low, high = pair(input)
    gap[*b] = high[*b] - low[*b]

op diagonal(input: Float[*B, N]) -> Float[*B, 2, 2]
    out = spread(input, 2)
"""


def made(name: str):
    return workbench.op(COMPOSED, name, "numpy")


def test_a_definition_over_tensors_means_its_statements():
    for how in ("none", "sum", "mean"):
        assert np.array_equal(made("told")(X, how), made("written")(X, how))
        slopes = [made(n).grad(X, how=how, wrt="input") for n in ("told", "written")]
        assert np.array_equal(*slopes) and slopes[0].any()


def test_results_have_names_of_their_own():
    found = made("both")(X)
    assert np.array_equal(found["low"], X.min(-1)) and np.allclose(found["gap"], X.max(-1) - X.min(-1))
    slope = made("both").grad(X, wrt="input", cotangent={"low": np.ones((2, 3)), "gap": np.zeros((2, 3))})
    assert np.array_equal(slope, X == X.min(-1, keepdims=True))


def test_indices_of_a_definition_are_its_own():
    a, b = X[0], X[0, :, 0]
    assert np.allclose(made("apart")(a, b), (a - 1) * 2 * b[:, None])


def test_an_index_on_the_left_says_how_far_it_runs():
    want = np.zeros((2, 3, 2, 2), np.float32)
    want[..., 0, 0] = want[..., 1, 1] = X.sum(-1) / 2
    assert np.allclose(made("diagonal")(X), want)


VARIANTS = """
op f(input: Num[*A, N@dim], dim: dim, *, scale: real = 1) -> Num[*A]
    "Its text."
    as torch.f, Tensor.f_
    where M = N + 1
    where K = 2
    require N > 0, "nothing to add"
    sample scale in 1 .. 2
    out[*a] = scale * sum[k] input[*a, k]
    grad input[*a, k] = scale * g[*a]
    test f([1.0], 0) == 1
or f_twice(..., scale: real = 2)
    "Another default."
or f_all(input: Num) -> Num
    as torch.f
    require numel(input) > 0, "nothing"
    out = sum(input)
or f_wide(input, dim, other: Num, *, scale) -> Num[*A, K]
    where K = 3
    out[*a, i] = scale * (sum[k] input[*a, k]) + i
"""
WRITTEN = """
op f(input: Num[*A, N@dim], dim: dim, *, scale: real = 1) -> Num[*A]
    "Its text."
    as torch.f, Tensor.f_
    where M = N + 1
    where K = 2
    require N > 0, "nothing to add"
    sample scale in 1 .. 2
    out[*a] = scale * sum[k] input[*a, k]
    grad input[*a, k] = scale * g[*a]
    test f([1.0], 0) == 1
op f_twice(input: Num[*A, N@dim], dim: dim, *, scale: real = 2) -> Num[*A]
    "Another default."
    as torch.f, Tensor.f_
    require N > 0, "nothing to add"
    sample scale in 1 .. 2
    out[*a] = scale * sum[k] input[*a, k]
    grad input[*a, k] = scale * g[*a]
op f_all(input: Num) -> Num
    "Its text."
    as torch.f
    require numel(input) > 0, "nothing"
    out = sum(input)
op f_wide(input: Num[*A, N@dim], dim: dim, other: Num, *, scale: real = 1) -> Num[*A, K]
    "Its text."
    as torch.f, Tensor.f_
    where K = 3
    require N > 0, "nothing to add"
    sample scale in 1 .. 2
    out[*a, i] = scale * (sum[k] input[*a, k]) + i
"""


def test_a_variant_is_its_op_where_it_says_nothing():
    (short, errors, _), (long, _, _) = parse_text(VARIANTS), parse_text(WRITTEN)
    assert errors == [] and short == long


GROUP = """
def fits_in(x, most, name)
    require numel(x) <= most, "{name}: at most {most} elements, but {numel(x)}"
    require all[*b, i] (x[*b, i] >= 0), "negative"
    require N > 1, "rows of {N}"

op asks(input: Float[*B, N]) -> Float[*B, N]
    require fits_in(input, 6, "asks")
    out[*b, i] = input[*b, i]
"""


@pytest.mark.parametrize(
    "given, message",
    [
        (np.ones((2, 4)), "asks: at most 6 elements, but 8"),
        (np.ones((2, 1)), "rows of 1"),
        (-np.ones((1, 2)), "negative"),
    ],
)
def test_a_group_asks_all_that_it_says(given, message):
    f = workbench.op(GROUP, "asks", "numpy")
    assert f(np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(Exception, match=message):
        f(given)
