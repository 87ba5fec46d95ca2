"""Tables of numbers in definitions (dsl/checking/tables.py): what they say, on every target, and what is no table."""

import numpy as np
import pytest
from front import checked

import workbench
from dsl.catalogue import Catalogue
from dsl.text.layout import formatted

LAPLACE = """op laplace(x: Float[H, W]) -> Float[H, W]
    "How far each element lies below the four beside it."
    w = [[0, 1, 0],
         [1, -4, 1],
         [0, 1, 0]]
    out[y, z] = sum[i, j] w[i, j] * (x[y + i - 1, z + j - 1] ?? 0)
"""
MIXED = """op mixed(x: Float[N], b: real = 2) -> Float[N]
    step = [-1, 0, 2]
    w = [b, 1 - b, 0.5]
    out[n] = sum[k] w[k] * (x[n + step[k]] ?? 0)
"""


def laplace(x):
    p = np.pad(x, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x


def mixed(x, b=2.0):
    p = np.pad(x, (1, 2))
    return b * p[: len(x)] + (1 - b) * x + 0.5 * p[3:]


@pytest.mark.parametrize("on", ["numpy", "wasm", "gpu"])
def test_a_table_is_what_stands_in_it(on):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(5, 6)).astype(np.float32), rng.normal(size=9).astype(np.float32)
    np.testing.assert_allclose(workbench.op(LAPLACE, on=on)(x), laplace(x), rtol=1e-5, atol=1e-5)
    f = workbench.op(MIXED, on=on)
    np.testing.assert_allclose(f(y, b=3), mixed(y, 3), rtol=1e-5, atol=1e-5)
    slopes = [mixed(e).sum() for e in np.eye(9)]  # it is linear
    np.testing.assert_allclose(f.grad(y)["x"], slopes, rtol=1e-5, atol=1e-5)


def test_gradients_and_kernels_are_as_of_any_formula():
    for text in (LAPLACE, MIXED):
        assert workbench.op(text).check(3)


def test_elements_are_found_by_halves(golden):
    """And fused into what reads them: no memory is made for a table."""
    f = workbench.op(
        "op pick(x: Float[N]) -> Float[N]\n    w = [3, 1, 4, 1, 5, 9, 2, 6]\n    out[i] = w[i % 8] * x[i]\n"
    )
    x = np.ones(20, np.float32)
    np.testing.assert_array_equal(f(x), ([3, 1, 4, 1, 5, 9, 2, 6] * 3)[:20])
    (kernel,) = f.wgsl(x)
    golden("golden/ir/table.txt", f"{f.op.forward}\n\n{f.op.gradient}\n\n{kernel}")


def test_the_longest_table():
    numbers = [(7 * n) % 64 for n in range(64)]
    rows = ", ".join(str(numbers[n : n + 8]) for n in range(0, 64, 8))
    f = workbench.op(
        f"op at(n: Int[N]) -> Int[N]\n    w = [{rows}]\n    out[i] = w[n[i] // 8 % 8, n[i] % 8]\n", on="numpy"
    )
    np.testing.assert_array_equal(f(np.arange(64)), numbers)


def test_tables_stand_in_definitions_over_tensors_and_in_whole_tensor_formulas():
    """Also where another text calls what has one; the indices that are made have names of their own."""
    text = """def smooth(x, N)
    w = [0.5, 0.5]
    out[n < N] = sum[k] w[k] * (x[n + k] ?? 0)

op near(x: Float[N], w_at0: Float[N]) -> Float[N]
    w = [1, 2]
    y = smooth(x, N)
    out[i] = w[i % 2] * y[i] + w_at0[i]
"""
    f = workbench.op(text, on="numpy")
    np.testing.assert_allclose(f([1.0, 2, 3], [0.0, 1, 0]), [1.5, 6, 1.5])
    whole = workbench.op("op scaled(x: Float) -> Float\n    w = [1, 0.5]\n    out = x * sum(w)\n", on="numpy")
    np.testing.assert_allclose(whole([2.0, 4.0]), [3, 6])


def test_a_catalogue_has_tables_too(tmp_path):
    file = tmp_path / "mixed.op"
    file.write_text(MIXED)
    assert str(Catalogue([file]).ops["mixed"].forward) == str(workbench.op(MIXED, on="numpy").op.forward)


def test_layout_keeps_rows_below_each_other():
    assert formatted(LAPLACE) == LAPLACE


@pytest.mark.parametrize(
    "lines, message",
    [
        ("    w = [x, 1]\n    out[i] = w[i % 2]\n", "`x` takes 1 index, but gets none"),
        ("    w = [i, 1]\n    out[i] = w[i % 2] * x[i]\n", "unknown name `i`"),
        ("    w = [1, 2]\n    out[i] = w[i] * x[i]\n", "this read can leave `w`"),
        ("    w = [1, 2]\n    w = [1, 2]\n    out[i] = w[i % 2] * x[i]\n", "`w` is assigned twice"),
        ('    w = ["a", 2]\n    out[i] = w[i % 2] * x[i]\n', "a text is no number"),
        ("    w[k < 2] = [1, 2]\n    out[i] = w[i % 2] * x[i]\n", "a list is no number"),
    ],
)
def test_mistakes_in_tables_are_those_of_any_formula(lines, message):
    errors, _ = checked(f"op f(x: Float[N]) -> Float[N]\n{lines}")
    assert [e.message for e in errors][:1] == [message]
