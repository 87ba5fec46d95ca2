"""Every op of the library: gradients, and gradients of gradients, against central differences in float64, on
small worlds drawn from the op's own signature."""

from pathlib import Path

import numpy as np
import pytest

import handmade
from dsl.adjoint import gradient, second
from dsl.library import load
from dsl.reference import evaluate
from dsl.worlds import worlds

LIBRARY = load(Path(__file__).parent.parent / "ops")[0]
DERIVED = [n for n, op in LIBRARY.ops.items() if op.forward is not None and gradient(op) is not None]

MAIN = ["add", "mul", "div", "pow", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "gelu", "silu", "softplus", "maximum", "where", "clamp",
        "sum", "mean", "prod", "amax", "var", "logsumexp", "softmax", "log_softmax", "cumsum", "cumprod", "matmul_mm", "linear", "bilinear",
        "conv1d", "conv2d", "conv_transpose1d", "max_pool1d", "avg_pool1d", "upsample_linear1d", "upsample_nearest1d", "embedding",
        "gather", "scatter_add", "pad1d", "layer_norm", "group_norm", "batch_norm", "cross_entropy", "mse_loss",
        "binary_cross_entropy_with_logits", "scaled_dot_product_attention", "dropout", "triu", "roll", "pixel_shuffle"]

# Gradients that are PyTorch's convention and not the derivative of the formula.
CONVENTION = {"embedding"}              # the row `padding_idx` gets none


@pytest.mark.parametrize("name", MAIN)
def test_second_derivative(name):
    """The gradients of the gradient program, with respect to all it reads."""
    op, rng, checked = LIBRARY.ops[name], np.random.default_rng(1), 0
    first, twice = gradient(op), second(op)
    for world in worlds(op, 3, seed=1, largest=120):
        out = {n: a for n, a in world.run().items() if n in op.outputs}
        inputs = {**world.views, **out, **{"g_" + n: rng.standard_normal(np.shape(a)) for n, a in out.items() if np.asarray(a).dtype.kind == "f"}}
        grads = evaluate(first, world.env, world.packs, inputs, dtype=np.float64)
        given = {"gg_" + n[2:]: rng.standard_normal(a.shape) for n, a in grads.items()}
        got = evaluate(twice, world.env, world.packs, {**inputs, **given}, dtype=np.float64)
        for n in first.inputs:
            if n not in inputs or inputs[n].dtype.kind != "f": continue
            a = got.get("dd_" + n, np.zeros(inputs[n].shape))
            for at, slope in slopes(first, world, inputs, n, given, "gg_"):
                if not np.isfinite(slope): continue
                assert a[at] == pytest.approx(slope, rel=5e-4, abs=5e-5), f"dd_{n}{list(at)} of {world.env}"
                checked += 1
    assert checked


def slopes(program, world, inputs, name, given, prefix):
    return handmade.difference(program, world.env, world.packs, dict(inputs), name, given, prefix, places=4)


@pytest.mark.parametrize("name", DERIVED)
def test_gradient(name):
    op, rng, checked = LIBRARY.ops[name], np.random.default_rng(0), 0
    first = gradient(op)
    for world in worlds(op, 5, largest=200):
        out = {n: a for n, a in world.run().items() if n in op.outputs}
        given = {"g_" + n: rng.standard_normal(np.shape(a)) for n, a in out.items() if np.asarray(a).dtype.kind == "f"}
        got = world.run(first, **out, **given)
        for d, a in got.items():
            n = d[2:]
            assert a.shape == world.views[n].shape
            if name in CONVENTION and world.env.get("has_padding_idx"): continue
            for at, slope in slopes(op.forward, world, world.views, n, given, "g_"):
                if not np.isfinite(slope): continue     # the mean of no element, a row masked as a whole
                assert a[at] == pytest.approx(slope, rel=2e-4, abs=2e-5), f"{d}{list(at)} of {world.env} {first}"
                checked += 1
    assert checked, "no world was drawn in which anything could be checked"
