"""Each requirement over elements (`require all[n] (weight[n] >= 0), ...`) is met by some elements and broken by others.

They are ops of their own (dsl/checking/elements.py), which answer 1 or 0 for each; elements are drawn at random, edges
and what is not finite among them."""

import random
import zlib

import numpy as np
import pytest
from definitions import LIBRARY

from codegen.data.errors import OpError
from dsl.testing.instances import instances
from workbench.function import Function

FLOATS = (-1e30, -3, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 7, 1e30, np.nan, np.inf, -np.inf)
WHOLE = (-(2**31), -100, -3, -2, -1, 0, 1, 2, 3, 5, 8, 40, 2**31 - 1)
ASKED = [(op.name, name, messages) for op in LIBRARY.ops.values() for name, messages in op.value_checks]


def drawn(a, rng: random.Random):
    """Another array of elements, few of which are unusual: one must be enough to break a requirement."""
    if not isinstance(a, np.ndarray) or not a.size:
        return a
    a = a.copy()
    for _ in range(rng.choice((0, 1, 1, 2, a.size))):
        at = tuple(rng.randrange(n) for n in a.shape)
        a[at] = (
            rng.random() < 0.5
            if a.dtype.kind == "b"
            else rng.choice(FLOATS)
            if a.dtype.kind == "f"
            else np.array(rng.choice(WHOLE)).astype(a.dtype)
        )
    return a


@pytest.mark.parametrize("asker, name, messages", ASKED, ids=[name for _, name, _ in ASKED])
def test_elements_decide(asker, name, messages):
    op = LIBRARY.ops[name]
    ask, rng = Function(op, LIBRARY, on="numpy"), random.Random(zlib.crc32(name.encode()))
    seen = [set() for _ in messages]
    for n, instance in enumerate(instances(op, 12, seed=4, largest=60)):
        for turn in range(40):
            given = {
                p.name: v if turn == 0 else drawn(v, rng)
                for p, v in zip(op.params, instance.arguments(n))
                if v is not None
            }
            try:
                with np.errstate(all="ignore"):
                    said = ask(**given)
            except (OpError, IndexError):
                continue
            for found, answer in zip(seen, said.values() if isinstance(said, dict) else [said]):
                found.add(int(np.asarray(answer)))
        if all(found == {0, 1} for found in seen):
            return
    left = [f"{m}: only {sorted(found)}" for m, found in zip(messages, seen) if found != {0, 1}]
    assert not left, "\n".join(left)
