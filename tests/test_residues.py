"""Strided windows that are read backwards run residue by residue on a GPU: what they answer is what one kernel does."""

import numpy as np
import pytest
from definitions import data_of
from test_attention import RULES, f32, flat

from codegen.binding.bind import bind
from codegen.planner import plan as planner
from workbench.numpy_runner import meta
from workbench.wgpu_runner import Gpu


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    return Gpu()


@pytest.mark.parametrize(
    "size, window, stride, padding, dilation, launches, products",
    [(9, 3, 2, 1, 1, 4, 4), (8, 1, 2, 0, 1, 4, 1), (7, 3, 1, 1, 1, 1, 1)],
)
def test_gradients_of_strided_windows(gpu, monkeypatch, size, window, stride, padding, dilation, launches, products):
    """products: launches that sum any; the points between those that a window of one reads have none."""
    data = data_of("conv2d")
    x, w = f32(2, 32, size, size), f32(32, 32, window, window)
    args = [x, w, None, stride, padding, dilation]
    args = [*args, *[None] * (len(data.params) - len(args))]
    call = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    program = data.programs[1]
    cotangent = next(n for n in program.inputs if data.slots[n].role == "cotangent")
    g = f32(*call.slots[cotangent].shape)
    wanted = program.outputs[:1]
    storages = {0: flat(x), 1: flat(w), cotangent: flat(g)}
    monkeypatch.setattr(planner, "WORTH_PARTS", 1)
    made = planner.plan(data, 1, call, wanted, gpu.facts, RULES)
    assert len([x for x in made if "tiled" in x.strategy or "reduce" in x.strategy]) == launches, [
        x.strategy for x in made
    ]
    assert len([x for x in made if "tiled" in x.strategy]) == products, [x.strategy for x in made]
    # Where one point of a window is read, places move in even steps, and are walked along.
    assert stride == 1 or "p.step" not in next(x.code for x in made if "tiled" in x.strategy)
    got, plain = (gpu.run(data, 1, call, dict(storages), wanted, r)[wanted[0]] for r in (RULES, []))
    np.testing.assert_allclose(got, plain, rtol=1e-4, atol=1e-5)
