"""Places that an argument names, on a GPU: one off its axis is an error where its value is needed, and nowhere else."""

from itertools import product
from random import Random

import numpy as np
import pytest

import workbench
from codegen.kernels.bounds_checks import fewest
from dsl.ir.builders import sym

X, I = np.arange(6, dtype=np.float32).reshape(3, 2), lambda *values: np.array(values, np.int32)
CHOICE = """
op choice(x: Float[N], index: Int[M], other: Float[M], far: bool = false) -> Float[M]
    out[m] = (x[index[m]] if index[m] >= 0 else other[m]) + (0 if other[m] > 5 or index[m] < 0 or far else x[index[m]])
"""


@pytest.mark.parametrize(
    "name, args, options, words",
    [
        ("gather", (X, 0, I([3, 0])), {}, "gather: index 3 is out of bounds for an axis of length 3"),
        ("index_select", (X, 1, I(0, -1)), {}, "index_select: index -1 is out of bounds for an axis of length 2"),
        (
            "scatter",
            (X, 1, I([2], [0], [0]), X[:, :1]),
            {},
            "scatter: index 2 is out of bounds for an axis of length 2",
        ),
        ("index_add", (X, 0, I(7), X[:1]), {}, "index_add: index 7 is out of bounds for an axis of length 3"),
        ("embedding", (I(3), X), {}, "embedding: index 3 is out of bounds for an axis of length 3"),
        ("index_select", (X[:, :0], 1, I(0)), {}, "index_select: index 0 is out of bounds for an axis of length 0"),
        (
            "cross_entropy",
            (X, I(0, 1, 2), X[0]),
            {"label_smoothing": 0.1},
            "cross_entropy: index 2 is out of bounds for an axis of length 2",
        ),
        (
            "nll_loss",
            (X, I(0, 1, 2)),
            {"ignore_index": 1},
            "nll_loss: index 2 is out of bounds for an axis of length 2",
        ),
    ],
)
def test_a_place_off_its_axis(name, args, options, words):
    f = workbench.op(name)
    for run in (f.gpu, f.numpy):
        with pytest.raises(IndexError, match=words if run == f.gpu else "out of range for an axis"):
            run(*args, **options)


@pytest.mark.parametrize(
    "name, args, options",
    [
        ("nll_loss", (X, I(0, -100, 1)), {}),
        ("cross_entropy", (X, I(9, 0, 1)), {"ignore_index": 9, "reduction": "none"}),
        (CHOICE, (X[:, 0], I(-5, 2, 0), X[:, 1]), {}),
        (CHOICE, (X[:, 0], I(-5, 2, 0), X[:, 1]), {"far": True}),
    ],
)
def test_one_whose_value_is_not_needed(name, args, options):
    f = workbench.op(name, on="numpy")
    np.testing.assert_allclose(f.gpu(*args, **options), f(*args, **options), rtol=1e-5)


@pytest.mark.parametrize(
    "place", ["0 - 2", "abs(i - i) - 2", "min(i - i, -1)", "~2", "(7 & 3) - 5", "(-1 if far else 4) - 2", "7 // 2 - 4"]
)
def test_a_place_that_is_known_before(place):
    """WGSL computes what depends on nothing when a kernel is compiled, and refuses what does not fit there."""
    f = workbench.op(
        f"op f(x: Float[N], far: bool = false) -> Float[N]\n    out[i] = (x[{place}] ?? 0.5) * x[i] + (3 if far else 2)"
    )
    for far in (False, True):
        np.testing.assert_allclose(f.gpu(X[:, 1], far=far), f.numpy(X[:, 1], far=far))


def test_reads_are_guarded_in_few_words():
    (text,) = workbench.op(CHOICE).wgsl(X[:, 0], I(0, 1, 2), X[:, 1])
    assert (
        "if ((r0 >= 0) || ((!far_ && !(r0 < 0)) && !(r2 > 5.0))) { r1 = x_[p.at1 + check_bounds(r0, p.length1_0)"
        in text
    ), text


@pytest.mark.parametrize("read, tells", [("abcde", True), ("abcdef", False)])
def test_a_kernel_that_has_no_room_to_tell_stays_on_the_axis(read, tells):
    f = workbench.op(
        f"op many({', '.join(f'{n}: Float[N]' for n in read)}, index: Int[M]) -> Float[M]\n"
        f"    out[m] = {' + '.join(f'{n}[index[m]]' for n in read)}\n"
    )
    columns = [X[:, 0]] * len(read)
    (text,) = f.wgsl(*columns, I(1, 9))
    assert ("check_bounds" in text, "clamp(" in text) == (tells, not tells)
    if not tells:
        np.testing.assert_array_equal(f.gpu(*columns, I(1, 9)), [12, 24])


@pytest.mark.parametrize("store", ["+=", "max="])
@pytest.mark.parametrize("more, tells", [("abcde", True), ("abcdef", False)])
def test_nothing_is_stored_at_a_place_off_its_axis(store, more, tells):
    f = workbench.op(
        f"op put(input: Float[N], index: Int[M], {', '.join(f'{n}: Float[M]' for n in more)}) -> Float[N]\n"
        f"    out[n] = input[n]\n    out[index[m]] {store} {' + '.join(f'{n}[m]' for n in more)}\n    nograd\n"
    )
    values = [X[:, 0], I(9, 1, -1), *[np.full(3, 5, np.float32)] * len(more)]
    text = f.wgsl(*values)[-1]
    assert ("if (in_bounds(r" in text, "if (u32(r" in text) == (tells, not tells), text
    if not tells:
        np.testing.assert_array_equal(f.gpu(*values), [0, 32 if store == "+=" else 30, 4])


def test_a_gradient_stores_nothing_off_an_axis():
    np.testing.assert_array_equal(
        workbench.op("embedding", on="gpu").grad(I(9, 1, -1), X, wrt="weight"), [[0, 0], [1, 1], [0, 0]]
    )


@pytest.mark.parametrize("index", ["-1", "0 - 3", "-2147483647", "2147483647", "N", "N - 9"])
@pytest.mark.parametrize("target", ["gpu", "numpy", "wasm"])
def test_a_constant_place_off_its_axis_gives_the_default(index, target):
    f = workbench.op(f"op f(x: Float[N]) -> Float[N]\n    out[i] = (x[{index}] ?? -0.5) + x[i]", on=target)
    np.testing.assert_array_equal(f(X[:, 0]), X[:, 0] - 0.5)
    np.testing.assert_array_equal(f.grad(X[:, 0], cotangent=X[:, 1])["x"], X[:, 1])


def test_when_a_value_is_needed_is_said_in_fewer_words():
    draw, names = Random(7), [sym(name) for name in "abc"]
    a, b, c = names
    cases = [
        [frozenset({(e, draw.random() < 0.5) for e in draw.sample(names, draw.randint(0, 3))}) for _ in range(n)]
        for n in range(1, 5)
        for _ in range(40)
    ]
    for found in cases:
        said = fewest(found)
        for values in product([False, True], repeat=3):
            given = dict(zip(names, values))
            before, after = (any(all(given[e] == holds for e, holds in p) for p in paths) for paths in (found, said))
            assert before == after, (found, said)
        assert sum(map(len, said)) <= sum(map(len, found))
    assert fewest([frozenset({(a, True), (b, True)}), frozenset({(a, True), (b, False)})]) == [frozenset({(a, True)})]
    assert fewest([frozenset({(a, True)}), frozenset({(a, True), (c, True)})]) == [frozenset({(a, True)})]
