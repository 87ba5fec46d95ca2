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

# Gradients that are PyTorch's convention and not the derivative of the formula.
CONVENTION = {"embedding"}              # the row `padding_idx` gets none


def slopes(program, world, inputs, name, given, prefix):
    return handmade.difference(program, world.env, world.packs, dict(inputs), name, given, prefix, places=4)


@pytest.mark.parametrize("name", DERIVED)
def test_gradient(name):
    op, rng, checked = LIBRARY.ops[name], np.random.default_rng(0), 0
    first = gradient(op)
    for world in worlds(op, 5, largest=200):
        out = world.run()
        given = {"g_" + n: rng.standard_normal(np.shape(a)) for n, a in out.items() if np.asarray(a).dtype.kind == "f"}
        got = world.run(first, **out, **given)
        for d, a in got.items():
            n = d[2:]
            assert a.shape == world.views[n].shape and np.isfinite(a).all()
            if name in CONVENTION and world.env.get("has_padding_idx"): continue
            for at, slope in slopes(op.forward, world, world.views, n, given, "g_"):
                assert a[at] == pytest.approx(slope, rel=2e-4, abs=2e-5), f"{d}{list(at)} of {world.env} {first}"
                checked += 1
    assert checked, "no world was drawn in which anything could be checked"
