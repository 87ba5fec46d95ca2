"""Every op of the library: gradients, and gradients of gradients, against central differences."""

import re
from dataclasses import replace

import numpy as np
import pytest
from definitions import EMPTY, LIBRARY

from buildtools.paths import ROOT
from dsl.gradients.adjoint import complete, second
from dsl.ir.builders import read
from dsl.ir.program import Program, Stmt
from dsl.library import load_text
from dsl.opdef import OpDef
from dsl.testing.gradcheck import Checked, check
from dsl.testing.instance import Instance
from dsl.testing.instances import of_complex

ZERO = "its gradient is zero whatever comes in"
# Ops without a gradient of the gradient, and why.
ONCE = {
    **dict.fromkeys(
        ["div_trunc", "div_floor", "floor", "ceil", "trunc", "round", "round_decimals", "sign", "angle", "bernoulli"],
        ZERO,
    ),
    **dict.fromkeys(
        [
            "bernoulli_fill",
            "filled",
            "uniform_fill",
            "normal_fill",
            "log_normal_fill",
            "exponential_fill",
            "cauchy_fill",
            "geometric_fill",
            "random_fill",
            "random_fill_below",
            "random_fill_whole",
        ],
        ZERO + ": they replace what was there",
    ),
    **dict.fromkeys(["ctc_loss", "ctc_loss_joined"], "PyTorch has none either: refused"),
    **dict.fromkeys(
        ["svdvals", "complex_svdvals", "svd_zeros", "eigvalsh", "eigvals", "complex_eigvals"],
        "its gradient has vectors that the op does not hand out (svd, eigh and eig do): refused",
    ),
}


def derived(op: OpDef) -> Program | None:
    """As in the package: made before the equations of the forward program are solved."""
    return complete(op).gradient


# Losses whose gradient by `log_probs` is, as PyTorch's, the one by the numbers that these are the log-softmax of.
BY_LOGITS = ["ctc_rows", "ctc_loss", "ctc_loss_joined"]
# Rounding whose gradient passes, as PyTorch's, as if it were none; tests/checks/torch-functions.mjs has PyTorch's.
STRAIGHT_THROUGH = ["fake_quantize_per_tensor_affine", "fake_quantize_by_tensors", "fake_quantize_channels"]
# Eigenvectors' phases are not the matrix's: PyTorch's gradient is that of what depends on none.
WITHOUT_PHASE = ["linalg_eig", "complex_eig"]
# Of complex matrices of which one half is read both halves share the gradient; tests/recorded/complex.py has PyTorch's, and
# tests/checks/eigen.mjs compares that of eigenvectors with the gradient of the exponential that they make.
HERMITIAN = ["complex_eigh", "complex_eigvalsh"]
OTHERWISE = {*EMPTY, *BY_LOGITS, *STRAIGHT_THROUGH, *WITHOUT_PHASE, *HERMITIAN}
DERIVED = [n for n, op in LIBRARY.ops.items() if derived(op) is not None and n not in OTHERWISE]


# Formats of weights that hold 256 numbers at least: instances of the usual size have none.
LARGEST = {f"{op}_{form}": 4000 for op in ("linear", "dequantize") for form in ("q4_k", "q6_k")}


# Ops that write to the places an index tensor names: which of two writes to one place wins is not defined.
PLACED = {
    "scatter": "index",
    "index_copy": "index",
    "index_fill_tensor": "index",
    "max_unpool1d": "indices",
    "max_unpool2d": "indices",
    "max_unpool3d": "indices",
    "max_unpool1d_shaped": "indices",
    "max_unpool2d_shaped": "indices",
    "max_unpool3d_shaped": "indices",
}


# Factorisations with further vectors that the matrix does not determine, unless it is square: they have no slope.
UNDETERMINED = {
    "linalg_svd": lambda env: not env["full_matrices"],
    "svd": lambda env: env["some"],
    "linalg_qr": lambda env: env["mode"] == 0,
    "qr": lambda env: env["some"],
    "complex_qr": lambda env: env["mode"] == 0,
    "complex_qr_old": lambda env: env["some"],
}
# Triangles whose gradient has both halves, as PyTorch's, though one is read.
TRIANGLES = {
    "cholesky_solve": "input2",
    "complex_cholesky_solve": "input2",
    "cholesky_inverse": "input",
    "complex_cholesky_inverse": "input",
}


def smooth(name: str, instance: Instance) -> bool:
    """Whether the derivative in this instance is the slope, and not PyTorch's convention."""
    if instance.env.get("has_padding_idx"):
        return False  # that row of an embedding gets none
    if name == "embedding_limited":  # rows are made shorter first, with no gradient
        return (
            np.linalg.norm(instance.views["weight"], instance.env["norm_type"], axis=-1) <= instance.env["max_norm"]
        ).all()
    if name in ("pinv", "complex_pinv", "pinverse"):  # PyTorch's is that of matrices whose singular values all count
        return (
            not instance.env.get("has_atol")
            and not instance.env.get("has_rtol")
            and instance.env.get("rcond", 0) < 1e-6
        )
    if name in UNDETERMINED:
        return UNDETERMINED[name](instance.env) or instance.env["M"] == instance.env["N"]
    if name not in PLACED:
        return True
    index = instance.views[PLACED[name]]
    return len(np.unique(index)) == index.size


def gets_gradient(instance: Instance, name: str, at: tuple) -> bool:
    """Whether an input has a gradient by definition: the boxes of regions whose largest values are taken have none."""
    return (instance.op.name, name) != ("roi_align_max", "boxes")


def counts(instance: Instance, name: str, at: tuple) -> bool:
    """Whether an element's derivative is the slope.  Of matrices of which one half is read PyTorch's gradient has both:
    that of a triangle is right in the half that is read, that of a symmetric matrix is shared by both halves."""
    if not gets_gradient(instance, name, at):
        return False
    if instance.op.name in ("pinv", "complex_pinv"):
        return not instance.env["hermitian"]
    if TRIANGLES.get(instance.op.name) != name:
        return True
    row, column = at[-3:-1] if of_complex(instance.op, name) else at[-2:]
    return column >= row if instance.env["upper"] else column <= row


# Where gradients of gradients are defined, if not everywhere: a condition on the result, in words.
DEFINED = {
    "masked_norm": (lambda out: out != 0, "a row has an element under its mask: the norm of nothing is a kink"),
    "masked_var": (np.isfinite, "more elements are under the mask than the correction takes off"),
    "masked_std": (
        lambda out: np.isfinite(out) & (out != 0),
        "more elements are under the mask than the correction takes off, and differ: at 0 it has a kink",
    ),
    "masked_softmax": (np.isfinite, "a row has an element under its mask"),
}


def defined(name: str, instance: Instance) -> bool:
    return name not in DEFINED or all(
        DEFINED[name][0](a).all() for n, a in instance.run().items() if n in instance.op.outputs
    )


@pytest.mark.parametrize("name", DERIVED)
def test_gradient(name):
    op = LIBRARY.ops[name]
    largest = LARGEST.get(name, 200)
    found = check(op, largest=largest, only=lambda instance: smooth(name, instance), counts=counts)
    assert not found.wrong, "\n".join(found.wrong[:4]) + f"\n{derived(op)}"
    assert found.places


@pytest.mark.parametrize("name", BY_LOGITS)
def test_gradient_by_logits(name):
    text = (
        (ROOT / "ops" / "ctc.op").read_text(encoding="utf-8")
        + """
op ctc_rows_of(logits: Float[*B, T, C], targets: Int[*B, S], lengths: Int[*B], label_counts: Int[*B], blank: int, zero_infinity: bool) -> Float[*B]
    require blank >= 0 and blank < C, "blank must be in label range"
    x[*b, t, c] = logits[*b, t, c]
    f = ctc_rows(x, targets, lengths, label_counts, blank, zero_infinity)
    out[*b] = f.loss[*b]
"""
    )
    soft, count = re.subn(r"(x\[(.*), c\] =) (\w+)\[(.*), c\]", r"\1 \3[\4, c] - log(sum[k] exp(\3[\4, k]))", text)
    assert count == 3
    library, errors, _ = load_text(soft)
    assert not errors
    found = check(complete(library.ops["ctc_rows_of" if name == "ctc_rows" else name]))
    assert not found.wrong, "\n".join(found.wrong[:4])
    assert found.places


@pytest.mark.parametrize("name", WITHOUT_PHASE)
def test_gradient_without_phase(name):
    """Of the eigenvalues and the sizes of the eigenvectors' elements."""
    kind, eigen = ("Complex", "complex_eigen") if name == "complex_eig" else ("Float", "eigen")
    sizes = f"""
op sizes(A: {kind}[*B, N, N]) -> (values: Complex[*B, N], sizes: Float[*B, N, N])
    e = {eigen}(A)
    values[*b, n, c] = e.values[*b, n, c]
    sizes[*b, m, n] = e.vectors[*b, m, n, 0] ** 2 + e.vectors[*b, m, n, 1] ** 2
    grad f = {eigen}(A)
    grad dvectors[*b, m, n, c] = 2 * g.sizes[*b, m, n] * f.vectors[*b, m, n, c]
    grad t = eigen_slope(f.values, f.vectors, g.values, dvectors)
    grad A[*b, i, j{", c" if name == "complex_eig" else ""}] = t[*b, i, j, {"c" if name == "complex_eig" else 0}]
"""
    library, errors, _ = load_text(sizes, beside=LIBRARY)
    assert not errors
    found = check(complete(library.ops["sizes"]))
    assert not found.wrong, "\n".join(found.wrong[:4])
    assert found.places


@pytest.mark.parametrize("name", [n for n in DERIVED if n not in ONCE])
def test_second_derivative(name):
    op = LIBRARY.ops[name]
    found = Checked()
    for count in (1, 8):  # one instance does, unless most of them are left out
        if not found.places:
            found = check(
                op,
                count,
                1,
                LARGEST.get(name, 100),
                twice=True,
                tolerance=1e-3,
                only=lambda instance: smooth(name, instance) and defined(name, instance),
                counts=gets_gradient,
            )
    assert not found.wrong, "\n".join(found.wrong[:4])
    assert found.places


def test_what_has_one_derivative_is_listed(figure):
    """An op without a gradient of its gradient has a reason, and one with a reason has none."""
    assert {n for n in (*DERIVED, *BY_LOGITS) if second(LIBRARY.ops[n], derived(LIBRARY.ops[n])) is None} == set(ONCE)
    figure(f"{len(DERIVED) - len(ONCE)} ops have gradients of gradients, compared with central differences")
    for reason in dict.fromkeys(ONCE.values()):
        figure(f"no gradient of the gradient, {reason}: {', '.join(n for n in ONCE if ONCE[n] == reason)}")
    for name, (_, reason) in DEFINED.items():
        figure(f"gradients of the gradient of {name} are compared only where {reason}")


def test_a_wrong_gradient_is_noticed():
    op = LIBRARY.ops["tanh"]
    right = derived(op)
    wrong = [replace(s, body=read("g_out", s.idx)) if isinstance(s, Stmt) else s for s in right.stmts]
    op = replace(op, gradient=replace(right, stmts=wrong))
    assert check(op).wrong


GOLDEN = [
    "add",
    "matmul_mm",
    "linear",
    "conv2d",
    "conv_transpose1d",
    "max_pool2d",
    "avg_pool1d",
    "softmax",
    "layer_norm",
    "batch_norm",
    "cross_entropy",
    "embedding",
    "cumsum",
    "amax",
    "prod",
    "gelu",
    "scaled_dot_product_attention",
    "pad1d",
    "upsample_nearest1d",
]


@pytest.mark.parametrize("name", GOLDEN)
def test_programs_read_well(name, golden):
    """What is derived, to be read in review."""
    program = derived(LIBRARY.ops[name])
    golden(f"golden/gradient/{name}.ir", f"reads {', '.join(program.inputs)}\n{program}\n")
