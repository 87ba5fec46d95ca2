"""Every op of the library: gradients, and for the main ones gradients of gradients, against central differences."""

import numpy as np
import pytest

from dsl.adjoint import complete, gradient
from dsl.gradcheck import check
from dsl.ir import Stmt, read, replace
from dsl.worlds import World
from definitions import EMPTY, LIBRARY

DERIVED = [n for n, op in LIBRARY.ops.items() if gradient(op) is not None and n not in EMPTY]
MAIN = ["add", "mul", "div", "pow", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "gelu", "silu", "softplus", "maximum", "where", "clamp",
        "sum", "mean", "prod", "amax", "var", "logsumexp", "softmax", "log_softmax", "cumsum", "cumprod", "matmul_mm", "linear", "bilinear",
        "conv1d", "conv2d", "conv_transpose1d", "max_pool1d", "avg_pool1d", "upsample_linear1d", "upsample_nearest1d", "embedding",
        "gather", "scatter_add", "pad1d", "layer_norm", "group_norm", "batch_norm", "cross_entropy", "mse_loss",
        "binary_cross_entropy_with_logits", "scaled_dot_product_attention", "dropout", "triu", "roll_one", "pixel_shuffle"]


# Ops that write to the places an index tensor names: which of two writes to one place wins is not defined.
PLACED = {"scatter": "index", "index_copy": "index", "index_fill_tensor": "index", "max_unpool1d": "indices", "max_unpool2d": "indices",
          "max_unpool3d": "indices", "max_unpool1d_shaped": "indices", "max_unpool2d_shaped": "indices", "max_unpool3d_shaped": "indices"}


# Factorisations with further vectors that the matrix does not determine, unless it is square: they have no slope.
UNDETERMINED = {"linalg_svd": lambda env: not env["full_matrices"], "svd": lambda env: env["some"],
                "linalg_qr": lambda env: env["mode"] == 0, "qr": lambda env: env["some"]}


def smooth(name: str, world: World) -> bool:
    """Whether the derivative in this world is the slope, and not PyTorch's convention."""
    if world.env.get("has_padding_idx"): return False           # that row of an embedding gets none
    if name in UNDETERMINED: return UNDETERMINED[name](world.env) or world.env["M"] == world.env["N"]
    if name not in PLACED: return True
    index = world.views[PLACED[name]]
    return len(np.unique(index)) == index.size


@pytest.mark.parametrize("name", DERIVED)
def test_gradient(name):
    op = LIBRARY.ops[name]
    found = check(op, only=lambda world: smooth(name, world))
    assert not found.wrong, "\n".join(found.wrong[:4]) + f"\n{gradient(op)}"
    assert found.places


@pytest.mark.parametrize("name", MAIN)
def test_second_derivative(name):
    found = check(LIBRARY.ops[name], 3, 1, 120, twice=True, tolerance=1e-3)
    assert not found.wrong, "\n".join(found.wrong[:4])
    assert found.places


def test_a_wrong_gradient_is_noticed():
    op = LIBRARY.ops["tanh"]
    right = gradient(op)
    wrong = [replace(s, body=read("g_out", s.idx)) if isinstance(s, Stmt) else s for s in right.stmts]
    op = replace(op, gradient=replace(right, stmts=wrong))
    assert check(op).wrong


GOLDEN = ["add", "matmul_mm", "linear", "conv2d", "conv_transpose1d", "max_pool2d", "avg_pool1d", "softmax", "layer_norm", "batch_norm",
          "cross_entropy", "embedding", "cumsum", "amax", "prod", "gelu", "scaled_dot_product_attention", "pad1d", "upsample_nearest1d"]


@pytest.mark.parametrize("name", GOLDEN)
def test_programs_read_well(name, golden):
    """What is derived, to be read in review."""
    program = complete(LIBRARY.ops[name]).gradient
    golden(f"golden/gradient/{name}.ir", f"reads {', '.join(program.inputs)}\n{program}\n")
