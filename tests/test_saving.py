"""What gradients read of an op's tensors, and which of those are saved (dsl/gradients/saving.py): by what PyTorch allows
to be changed in place."""

import pytest
from definitions import LIBRARY

import workbench
from dsl.gradients.adjoint import complete
from dsl.gradients.saving import needed, saved


def kept(op, parameter):
    """For the gradient of a parameter: what is saved, and what is read beside that."""
    complete(op)
    output = next(n for n in op.gradient.outputs if op.gradient.tensors[n].like == parameter)
    read = {n for n in needed(op.gradient, output) if n in op.tensors and op.tensors[n].role in ("input", "output")}
    return " ".join(sorted(read & saved(op.derivable, parameter))), " ".join(
        sorted(read - saved(op.derivable, parameter))
    )


@pytest.mark.parametrize(
    "name, parameter, wanted",
    [
        ("div", "other", ("input other", "")),
        ("mul", "input", ("other", "")),
        ("exp", "input", ("out", "")),
        ("tanhshrink", "input", ("", "input")),
        ("softsign", "input", ("input", "")),
        ("normalize", "input", ("input", "")),
        ("l1_loss", "input", ("", "input target")),
        ("cross_entropy", "input", ("target weight", "input")),
        ("scatter_add", "src", ("index", "")),
        ("softmax", "input", ("out", "")),
        ("layer_norm", "input", ("weight", "input")),
        ("matmul_mm", "input", ("other", "")),
        ("inv", "input", ("out", "input")),
        ("linalg_solve", "other", ("", "input")),
        ("embedding", "weight", ("input", "")),
        ("amax", "input", ("input out", "")),
    ],
)
def test_kept(name, parameter, wanted):
    assert kept(LIBRARY.ops[name], parameter) == wanted


@pytest.mark.parametrize(
    "formula, wanted",
    [
        ("x * y", ("y", "")),
        ("(x + 1) * y", ("y", "")),
        ("exp(x)", ("out", "")),
        ("exp(x) + y", ("", "x")),
        ("exp(x + y)", ("out", "")),
        ("stop(x) * x", ("", "x")),
        ("x / (y + 1)", ("", "y")),
        ("x if y > 0 else 0", ("", "y")),
        ("sin(x) / y", ("x y", "")),
        ("abs(x - y)", ("", "x y")),
        ("(x - y) ** 2", ("", "x y")),
        ("x ** 2", ("x", "")),
        ("stop(x * y) + x", ("", "")),
    ],
)
def test_formulas(formula, wanted):
    f = workbench.op(f"op fresh(x: Float, y: Float) -> Float\n    out = {formula}")
    assert kept(f.op, "x") == wanted


def test_places_in_tensors_are_questions_of_sizes():
    f = workbench.op(
        "op fresh(x: Float[N], y: Float[K]) -> Float[N]\n    out[n] = x[n] * 2 if inside(y[n + 1]) else x[n]"
    )
    assert kept(f.op, "x") == ("", "")
