"""Which `foreach` ops may go over many tensors as over one: found out from what they compute."""

import pytest
from definitions import LIBRARY

from codegen.api.opdata import op_data
from codegen.kernels.elementwise import elementwise
from dsl.library import load_text

STEP = 'op f({params})\n    "A step."\n    foreach\n    {body}\n'


def found(params: str, *body: str) -> bool:
    library, errors, _ = load_text(STEP.format(params=params, body="\n    ".join(body)))
    assert errors == []
    return elementwise(library.ops["f"])


@pytest.mark.parametrize(
    "params, body",
    [
        ("mut x: Float, y: Float, *, lr: real", ["x = x - lr * y"]),
        ("mut x: Float, mut y: Float?, *, first: bool", ["y = x if first else x + (y ?? 0)", "x = x * (y ?? 2)"]),
        ("mut x: Float, total: Float[], *, most: real", ["x = x * min(most / total, 1)"]),
        ("mut x: Float[*B], y: Float[*B]", ["t = exp(y)", "x = x + t * t"]),
    ],
)
def test_each_element_by_itself(params, body):
    assert found(params, *body)


@pytest.mark.parametrize(
    "params, body",
    [
        ("mut x: Float, y: Float", ["x = x - mean(y)"]),  # depends on other elements
        ("mut x: Float[*B], y: Float[*B]", ["x = x + y / numel(B)"]),  # on the size
        ("mut x: Float[N], y: Float[N]", ["x[i] = x[i] + y[i]"]),  # an axis of its own, not any
        ("mut x: Float[*B, N], y: Float[N]", ["x[*b, i] = x[*b, i] * y[i]"]),  # tensors of other shapes
        ("mut x: Float[*B, N]", ["x[*b, i] = x[*b, i] * i"]),  # on the place
        ("mut x: Float[*B, N], y: Float[*B, N]", ["x[*b, i] = y[*b, N - 1 - i]"]),  # on another place
    ],
)
def test_what_depends_on_more(params, body):
    assert not found(params, *body)


def test_the_optimizers():
    ops = [op for op in LIBRARY.ops.values() if op.foreach]
    others = {op.name for op in ops if not op_data(op).elementwise}
    assert others == {"adafactor_step", "adafactor_vector_step"} and len(ops) > 15


def test_lists_only():
    assert not any(elementwise(op) for op in LIBRARY.ops.values() if not op.foreach)
