"""A row's sum of weights times what reaches them is made of the result that they go into, where that is linear in them."""

import pytest
from definitions import LIBRARY

from dsl.gradients.adjoint import complete
from dsl.library import load_text

OP = """
op average(score: Float[*B, L, S], value: Float[*B, S, V]) -> Float[{shape}]
    "Values by weights."
    w = softmax(score, -1)
    {body}
"""
# What is made of the weights, and whether the gradient goes through the result.
LINEAR = {
    "as they are": ("*B, L, V", "out[*b, i, v] = sum[j] w[*b, i, j] * value[*b, j, v]", True),
    "turned": ("*B, V, L", "out[*b, v, i] = sum[j] value[*b, j, v] * w[*b, i, j]", True),
    "scaled, some left out": (
        "*B, L, V",
        "k[*b, i, j] = w[*b, i, j] / 0.75 if rand() >= 0.25 else 0\n"
        "    out[*b, i, v] = sum[j] -3 * k[*b, i, j] * value[*b, j, v]",
        True,
    ),
    "squares": ("*B, L, V", "out[*b, i, v] = sum[j] w[*b, i, j] * w[*b, i, j] * value[*b, j, v]", False),
    "and more": ("*B, L, V", "out[*b, i, v] = sum[j] (w[*b, i, j] + 1) * value[*b, j, v]", False),
    "over queries": ("*B, S, V", "out[*b, j, v] = sum[i] w[*b, i, j] * value[*b, j, v]", False),
    "largest": ("*B, L, V", "out[*b, i, v] = max[j] w[*b, i, j] * value[*b, j, v]", False),
    "moved": ("*B, L, V", "out[*b, i, v] = sum[j] (w[*b, i - 1, j] ?? 0) * value[*b, j, v]", False),
    "twice": (
        "*B, L, V",
        "t[*b, i] = sum[j] w[*b, i, j] * value[*b, j, 0]\n"
        "    out[*b, i, v] = t[*b, i] + sum[j] w[*b, i, j] * value[*b, j, v]",
        False,
    ),
    "only moved": ("*B, L, S", "out[*b, i, j] = w[*b, i, j] * value[*b, j, 0]", False),
}


@pytest.mark.parametrize("name", LINEAR)
def test_which_sums_go_through_the_result(name):
    shape, body, through = LINEAR[name]
    library, errors, _ = load_text(OP.format(shape=shape, body=body), beside=LIBRARY)
    assert errors == []
    op = complete(library.ops["average"])
    shown = [str(s) for s in op.gradient.stmts]
    found = [s for s in shown if "g_out[" in s and " out[" in s and "value" not in s]
    assert len(found) == through, shown
