"""Places that an argument names, on a GPU: one off its axis is an error where its value is needed, and nowhere else."""

import numpy as np
import pytest

import dsl

X, I = np.arange(6, dtype=np.float32).reshape(3, 2), lambda *values: np.array(values, np.int32)
CHOICE = """
op choice(x: Float[N], index: Int[M], other: Float[M], far: bool = false) -> Float[M]
    out[m] = (x[index[m]] if index[m] >= 0 else other[m]) + (0 if other[m] > 5 or index[m] < 0 or far else x[index[m]])
"""


@pytest.mark.parametrize("name, args, options, words", [
    ("gather", (X, 0, I([3, 0])), {}, "gather: index 3 is out of bounds for an axis of length 3"),
    ("index_select", (X, 1, I(0, -1)), {}, "index_select: index -1 is out of bounds for an axis of length 2"),
    ("scatter", (X, 1, I([2], [0], [0]), X[:, :1]), {}, "scatter: index 2 is out of bounds for an axis of length 2"),
    ("index_add", (X, 0, I(7), X[:1]), {}, "index_add: index 7 is out of bounds for an axis of length 3"),
    ("embedding", (I(3), X), {}, "embedding: index 3 is out of bounds for an axis of length 3"),
    ("index_select", (X[:, :0], 1, I(0)), {}, "index_select: index 0 is out of bounds for an axis of length 0"),
    ("cross_entropy", (X, I(0, 1, 2), X[0]), {"label_smoothing": 0.1}, "cross_entropy: index 2 is out of bounds for an axis of length 2"),
    ("nll_loss", (X, I(0, 1, 2)), {"ignore_index": 1}, "nll_loss: index 2 is out of bounds for an axis of length 2"),
])
def test_a_place_off_its_axis(name, args, options, words):
    f = dsl.op(name)
    for run in (f.gpu, f.numpy):
        with pytest.raises(IndexError, match=words if run == f.gpu else "out of range for an axis"): run(*args, **options)


@pytest.mark.parametrize("name, args, options", [
    ("nll_loss", (X, I(0, -100, 1)), {}),
    ("cross_entropy", (X, I(9, 0, 1)), {"ignore_index": 9, "reduction": "none"}),
    (CHOICE, (X[:, 0], I(-5, 2, 0), X[:, 1]), {}),
    (CHOICE, (X[:, 0], I(-5, 2, 0), X[:, 1]), {"far": True}),
])
def test_one_whose_value_is_not_needed(name, args, options):
    f = dsl.op(name, on="numpy")
    np.testing.assert_allclose(f.gpu(*args, **options), f(*args, **options), rtol=1e-5)


def test_reads_are_guarded_in_few_words():
    text, = dsl.op(CHOICE).wgsl(X[:, 0], I(0, 1, 2), X[:, 1])
    assert "if ((r0 >= 0) || ((!far && !(r0 < 0)) && !(r2 > 5.0))) { r1 = x[p.at1 + reached(r0, p.length1_0)" in text, text


def test_a_kernel_that_has_no_room_to_tell_stays_on_the_axis():
    names = "abcdefg"
    f = dsl.op(f"op many({', '.join(f'{n}: Float[N]' for n in names)}, index: Int[M]) -> Float[M]\n"
               f"    out[m] = {' + '.join(f'{n}[index[m]]' for n in names[:5])}\n")
    columns = [X[:, 0]] * len(names)
    text, = f.wgsl(*columns, I(1, 9))
    assert "reached" not in text and "clamp(" in text
    np.testing.assert_array_equal(f.gpu(*columns, I(1, 9)), [10, 20])
