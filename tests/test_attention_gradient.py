"""The gradient of an attention without tensors of pairs: what it answers is what the plain kernels do, whatever the
sizes, strides and masks; and other programs are not taken for it."""

import re
from dataclasses import replace

import numpy as np
import pytest
import test_attention
from definitions import data_of
from test_attention import RULES, f32, flat

from codegen.binding.bind import bind
from codegen.data.nodes import Element, Result, Rounded, mapped
from codegen.planner.attention.attention_gradient import gradient_of
from codegen.planner.attention.pair_formulas import with_steps
from codegen.planner.lines import active
from codegen.planner.plan import plan
from workbench.numpy_runner import meta

OP = "scaled_dot_product_attention"
gpu = test_attention.gpu


def gradients(device, data, args, g, wanted=None):
    """What the schedules answer of the gradients, what the plain kernels do, and the strategies of the kernels of pairs,
    or of all where there are none."""
    args = [*args, *[None] * (len(data.params) - len(args))]
    call = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    program = data.programs[1]
    given = {p.slot for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    wanted = wanted or [slot for slot, of in zip(program.outputs, data.params) if of.slot in given]
    cotangent = next(n for n in program.inputs if data.slots[n].role == "cotangent")
    launches = plan(data, 1, call, wanted, device.facts, RULES)
    storages = {p.slot: flat(a) for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    result = data.outputs[0]
    forward = device.run(data, 0, call, dict(storages), [result], [])[result]
    storages |= {cotangent: flat(g), result: flat(forward)}
    got, plain = (device.run(data, 1, call, dict(storages), wanted, r) for r in (RULES, []))
    strategies = [x.strategy for x in launches]
    of_pairs = [s for s in strategies if "pairs" in s]
    # Beside pairs there is one kernel at most: of each query the result times what reaches it.
    return [(got[slot], plain[slot]) for slot in wanted], of_pairs if len(strategies) - len(
        of_pairs
    ) < 2 else strategies


def equal(pairs):
    for got, wanted in pairs:
        assert np.isfinite(wanted).all() and np.abs(wanted).max() > 0
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("causal", [False, True])
def test_what_a_mask_hides_is_not_summed(gpu, causal):
    """Sums over the keys end at the last that a row sees, those over the queries begin at the first that sees one."""
    data = data_of(OP)
    q, k, v = (meta(f32(2, 3, n, 40)) for n in (65, 130, 130))
    call = bind(data, [q, k, v, None, 0.0, causal, *[None] * (len(data.params) - 6)])
    launches = plan(data, 1, call, data.programs[1].outputs[:3], gpu.facts, RULES)
    codes = [x.code for x in launches if "pairs" in x.strategy]
    loops = [re.findall(r"for \(var first_other = (.+?); first_other < (.+?); ", code) for code in codes]
    assert all(loops) and len(loops) > 2
    for low, high in [pair for found in loops for pair in found]:
        assert (low != "0u" or "first_row" in high) == causal, (low, high)


@pytest.mark.parametrize(
    "queries, keys, features, columns",
    [(65, 130, 40, 40), (16, 200, 7, 5), (100, 33, 16, 128)],
)
@pytest.mark.parametrize("causal", [False, True])
def test_every_size(gpu, queries, keys, features, columns, causal):
    q, k, v = f32(2, 3, queries, features), f32(2, 3, keys, features), f32(2, 3, keys, columns)
    g = f32(2, 3, queries, columns)
    pairs, strategies = gradients(gpu, data_of(OP), [q, k, v, None, 0.0, causal], g)
    assert len(strategies) == (3 if features == columns else 4), strategies
    assert all("pairs" in s for s in strategies), strategies
    # Sums alone take the larger blocks where they have few columns, here all of them.
    assert columns != 5 or [s.split()[1] for s in strategies] == ["32", "64", "64", "64"], strategies
    equal(pairs)


def test_masks(gpu):
    """Numbers that are added to the scores, for each head or for all.  With a mask the gradients of keys and values
    together are of more tensors than a kernel binds on every device: then each has a launch."""
    q, k, v, g = f32(2, 3, 40, 16), f32(2, 3, 50, 16), f32(2, 3, 50, 16), f32(2, 3, 40, 16)
    data = data_of(OP)
    outputs = data.programs[1].outputs
    for shape in [(2, 3, 40, 50), (40, 50)]:
        mask = f32(*shape)
        mask[..., :17] = -np.inf
        mask[..., 8, :] = -np.inf  # a query that sees no key
        mask = np.broadcast_to(mask, (2, 3, 40, 50))
        pairs, strategies = gradients(gpu, data, [q, k, v, mask], g, [outputs[2]])
        assert all("pairs" in s for s in strategies), strategies
        equal(pairs)
    pairs, strategies = gradients(gpu, data, [q, k, v, mask], g, outputs[:3])
    assert len(strategies) == 4 and all("pairs" in s for s in strategies), strategies
    equal(pairs)


def test_masks_of_booleans(gpu):
    """A query that sees no key, and a key that nobody sees, have slopes of 0."""
    q, k, v, g, mask = f32(20, 8), f32(70, 8), f32(70, 8), f32(20, 8), np.random.default_rng(3).random((20, 70)) > 0.5
    mask[3], mask[:, 5] = False, False
    data = data_of("scaled_dot_product_attention_where")
    pairs, strategies = gradients(gpu, data, [q, k, v, mask], g, [data.programs[1].outputs[2]])
    assert all("pairs" in s for s in strategies), strategies
    equal(pairs)
    assert (pairs[0][0][5] == 0).all()


def test_fewer_gradients_and_broadcast_heads(gpu):
    """Only what is asked for is launched; keys that all heads share want a sum over these, which stays as it was."""
    data = data_of(OP)
    q, k, v, g = f32(3, 40, 16), f32(3, 50, 16), f32(3, 50, 16), f32(3, 40, 16)
    pairs, strategies = gradients(gpu, data, [q, k, v], g, [data.programs[1].outputs[2]])
    assert len(strategies) == 2 and all("pairs" in s for s in strategies), strategies
    equal(pairs)
    pairs, strategies = gradients(gpu, data, [q, k[:1], v[:1]], g)
    assert not any("pairs" in s for s in strategies), strategies
    equal(pairs)


def test_programs_that_fusion_made():
    """What one kernel reads or stores in the place of several is rounded as they would: of float32 that says nothing."""

    def rounded(e):
        return Rounded(e) if isinstance(e, (Element, Result)) else mapped(e, rounded)

    data = data_of(OP)
    call = bind(data, [meta(f32(16, 8))] * 3 + [None] * (len(data.params) - 3))
    program = data.programs[1]
    kernels = [k for k in program.kernels if active(data, program, k, call, program.outputs[:3])]
    fused = [
        with_steps(k, k.steps, replace(k.floating, steps=[replace(s, body=rounded(s.body)) for s in k.floating.steps]))
        for k in kernels
    ]
    found = gradient_of(data, fused)
    assert found is not None and [x.by_query for x in found.pairs.sums] == [True, False, False] and found.facts.normal
