"""Attention as one kernel: what it answers is what the four kernels do, whatever the sizes, strides and masks; and other
programs are not taken for it."""

from dataclasses import replace

import numpy as np
import pytest
from definitions import LIBRARY, data_of

from codegen.api.opdata import op_data, rules
from codegen.binding.bind import bind
from codegen.planner.plan import plan
from dsl.library import load_text
from workbench.numpy_runner import meta
from workbench.wgpu_runner import Gpu

RULES = rules(LIBRARY)
R = np.random.default_rng(7)
f32 = lambda *shape: R.standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    """The device as one that is no CPU: such a one is given blocks."""
    device = Gpu()
    device.facts = replace(device.facts, software=False)
    return device


def flat(a: np.ndarray) -> np.ndarray:
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a.reshape(-1)


def attention(gpu: Gpu, *args, strategy: str) -> tuple[np.ndarray, np.ndarray]:
    """What the chosen strategy answers, and what the plain kernels do."""
    data = data_of("scaled_dot_product_attention")
    args = [*args, *[None] * (len(data.params) - len(args))]
    call = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    launches = plan(data, 0, call, data.outputs, gpu.facts, RULES)
    assert [strategy in x.strategy for x in launches] == [True], [x.strategy for x in launches]
    storages = {p.slot: flat(a) for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    return tuple(gpu.run(data, 0, call, dict(storages), data.outputs, r)[data.outputs[0]] for r in (RULES, []))


@pytest.mark.parametrize(
    "queries, keys, features, columns",
    [(64, 64, 64, 64), (65, 130, 40, 40), (16, 200, 7, 5), (100, 33, 16, 128), (33, 16, 128, 96)],
)
@pytest.mark.parametrize("causal", [False, True])
def test_every_size(gpu, queries, keys, features, columns, causal):
    q, k, v = f32(2, 3, queries, features), f32(2, 3, keys, features), f32(2, 3, keys, columns)
    got, wanted = attention(gpu, q, k, v, None, 0.0, causal, strategy="attention")
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)


def test_views(gpu):
    """Heads out of one projection, and a result whose heads are side by side."""
    x = f32(2, 40, 3, 4, 8)  # batch, time, which of the three, head, feature
    q, k, v = (x[:, :, n].transpose(0, 2, 1, 3) for n in range(3))
    got, wanted = attention(gpu, q, k, v, None, 0.0, True, strategy="attention")
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("shape", [(2, 3, 40, 50), (2, 1, 40, 50), (40, 50), (2, 1, 1, 50)])
def test_masks(gpu, shape):
    """Numbers added to the scores, for each head and query or for all; minus infinity hides a key."""
    q, k, v, mask = f32(2, 3, 40, 16), f32(2, 3, 50, 16), f32(2, 3, 50, 16), f32(*shape)
    mask[..., :17] = -np.inf
    mask = np.broadcast_to(mask, (*shape[:-2], 40, 50))
    got, wanted = attention(gpu, q, k, v, mask, strategy="attention")
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert np.isfinite(got).all()


def test_a_first_block_without_keys(gpu):
    q, k, v, mask = f32(20, 8), f32(150, 8), f32(150, 8), np.zeros((20, 150), np.float32)
    mask[:, :70] = -np.inf
    mask[3] = -np.inf
    got, wanted = attention(gpu, q, k, v, mask, strategy="attention")
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert (got[3] == 0).all() and np.isfinite(got).all()


def test_masks_of_booleans(gpu):
    """A query that sees no key has zeros, as in PyTorch."""
    data = data_of("scaled_dot_product_attention_where")
    q, k, v, mask = f32(20, 8), f32(150, 8), f32(150, 8), R.random((20, 150)) > 0.5
    mask[3] = False
    args = [q, k, v, mask, *[None] * (len(data.params) - 4)]
    call = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    launches = plan(data, 0, call, data.outputs, gpu.facts, RULES)
    assert len(launches) == 1, [x.strategy for x in launches]
    storages = {p.slot: flat(a) for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    got, wanted = (gpu.run(data, 0, call, dict(storages), data.outputs, r)[data.outputs[0]] for r in (RULES, []))
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert (got[3] == 0).all() and np.isfinite(got).all()


def test_numbers_that_are_none_and_large_ones(gpu):
    q, k, v = f32(32, 8), f32(96, 8), f32(96, 8)
    q[5, 0] = np.nan
    q[6] *= 1e4  # scores far apart: the exponentials of differences vanish
    v[40, 2] = np.inf
    got, wanted = attention(gpu, q, k, v, strategy="attention")
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)


WRITTEN = """
op {name}(q: Float[L, E], k: Float[S, E], v: Float[S, V]) -> Float[{result}]
    "Attention in words of its own."
    s[i, j] = {score}
    p = {softmax}(s, -1)
    w[i, j] = {weight}
    out[{out}] = sum[j] w[i, j] * v[j, c]
"""
OTHERS = {  # the result's sizes and indices, a score, a weight, whether it is an attention; rows of nothing may be NaN
    "own_words": ("L, V", "i, c", "3 * (sum[e] k[j, e] * q[i, e]) - 1", "p[i, j]", True),
    "by_columns": ("V, L", "c, i", "sum[e] k[j, e] * q[i, e]", "p[i, j]", True),
    "squares": ("L, V", "i, c", "sum[e] k[j, e] * q[i, e]", "p[i, j] * p[i, j]", False),
    "distances": ("L, V", "i, c", "sum[e] (k[j, e] - q[i, e]) * (k[j, e] - q[i, e])", "p[i, j]", False),
}


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_an_attention(gpu, name, safe):
    """What counts is what kernels say, not what an op is called: others that look like one stay several kernels."""
    result, out, score, weight, one = OTHERS[name]
    softmax = "safe_softmax" if safe else "softmax"
    text = WRITTEN.format(name=name, result=result, out=out, score=score, weight=weight, softmax=softmax)
    library, errors, _ = load_text(text, beside=LIBRARY)
    assert errors == []
    data = op_data(library.ops[name])
    q, k, v = f32(36, 8), f32(44, 8), f32(44, 10)
    q[5, 0], k[:, 0] = -np.inf, np.abs(k[:, 0])  # scores of nothing but minus infinity
    call = bind(data, [meta(q), meta(k), meta(v)])
    launches = plan(data, 0, call, data.outputs, gpu.facts, RULES)
    assert ("attention" in launches[0].strategy) is one, [x.strategy for x in launches]
    storages = {p.slot: flat(a) for p, a in zip(data.params, (q, k, v))}
    got, wanted = (gpu.run(data, 0, call, dict(storages), data.outputs, r)[data.outputs[0]] for r in (RULES, []))
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)


def test_one_query_alone_and_small_devices(gpu):
    """One query has no use for blocks; a device without the memory for them keeps the four kernels."""
    data = data_of("scaled_dot_product_attention")
    rest = [None] * (len(data.params) - 3)
    one = bind(data, [meta(f32(1, 64)), meta(f32(80, 64)), meta(f32(80, 64)), *rest])
    assert len(plan(data, 0, one, data.outputs, gpu.facts, RULES)) > 1
    many = bind(data, [meta(f32(64, 64)), meta(f32(80, 64)), meta(f32(80, 64)), *rest])
    assert len(plan(data, 0, many, data.outputs, gpu.facts, RULES)) == 1
    for small in (replace(gpu.facts, max_shared=8192), replace(gpu.facts, max_threads=64)):
        assert len(plan(data, 0, many, data.outputs, small, RULES)) == 4
