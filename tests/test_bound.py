"""Arguments bound by the host code mean what the reference evaluates: for every op, calls made of drawn instances
are bound to the same sizes, and give the same results, whatever the layout of the arrays."""

import numpy as np
import pytest
from definitions import LIBRARY, data_of

from codegen.binding.bind import bind
from dsl.testing.instances import instances
from workbench.numpy_runner import meta, run, view

OPS = list(LIBRARY.ops)


def strided(a: np.ndarray) -> np.ndarray:
    """The same elements with gaps between them, last axis first."""
    if a.ndim == 0:
        return a.copy()
    wide = np.zeros([2 * n for n in a.shape[::-1]], a.dtype)
    out = wide[tuple(slice(None, None, 2) for _ in a.shape)].T
    out[...] = a
    return out


@pytest.mark.parametrize("name", OPS)
def test_binding(name):
    op = LIBRARY.ops[name]
    data = data_of(name)
    changed, rng = {p.name for p in op.params if p.mut}, np.random.default_rng(0)
    for n, instance in enumerate(instances(op, 4, seed=3, largest=150)):
        args = instance.arguments(n)
        arrays = {p.name: a for p, a in zip(op.params, args) if p.kind == "tensor" and a is not None}
        if n % 2:
            arrays = {k: a if k in changed else strided(a) for k, a in arrays.items()}
        call = bind(data, [meta(arrays[p.name]) if p.name in arrays else a for p, a in zip(op.params, args)])
        for k in call.env.keys() & instance.env.keys():
            if not k.startswith(("has_", "size_", "type_")):
                assert call.env[k] == pytest.approx(+instance.env[k]), k  # of conditions, 1 or 0
        for k, lengths in call.packs.items():
            if k in instance.packs:
                assert tuple(lengths) == instance.packs[k]
        slots = {s.name: call.slots[i] for i, s in enumerate(data.slots)}
        logical = lambda n, a, like: view(a, slots[n]).reshape(like.shape)
        seed = dict(seed=(instance.env["seed0_"], instance.env["seed1_"]))
        want, got = instance.run(), run(op, data, call, arrays, **seed)
        assert set(got) == set(want)
        for k in want:  # an op that makes its result from sizes alone makes it in the default dtype, float32
            exact = 1e-6 if got[k].dtype == np.float32 else 1e-12
            np.testing.assert_allclose(logical(k, got[k], want[k]), want[k], rtol=exact)
        if op.gradient is None or call.dtype != "float64":
            continue
        made = {k: got[k] for k in op.outputs}
        given = {g: rng.standard_normal(slots[g].shape) for g in op.gradient.inputs if g.startswith("g_")}
        back = run(op, data, call, {**arrays, **made, **given}, program=1, **seed)
        same = {g: logical(g, a, want[g[2:]]) for g, a in given.items()}
        for k, a in instance.run(op.gradient, **{k: want[k] for k in op.outputs}, **same).items():
            assert back[k].shape == arrays[k[2:]].shape
            np.testing.assert_allclose(logical(k, back[k], a), a, rtol=1e-10)
