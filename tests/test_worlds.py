"""Small worlds: legal, repeatable, varied; and counterexamples for reads outside."""

import numpy as np
import pytest

from dsl.library import load_text
from dsl.worlds import outside, worlds
from definitions import EMPTY, LIBRARY


def only(text: str):
    """The one op of a text."""
    library, errors, _ = load_text(text)
    assert not errors, errors
    return next(iter(library.ops.values()))


@pytest.mark.parametrize("name", [n for n in LIBRARY.ops if n not in EMPTY])
def test_every_op_has_legal_worlds(name):
    found = list(worlds(LIBRARY.ops[name], 3))
    assert found
    for w in found: assert not w.leaves()


def test_the_same_seed_gives_the_same_worlds():
    first, again = (list(worlds(LIBRARY.ops["conv2d"], 4, seed=5)) for _ in range(2))
    for a, b in zip(first, again):
        assert a.env == b.env
        for n in a.views: np.testing.assert_array_equal(a.views[n], b.views[n])
    assert [w.env for w in worlds(LIBRARY.ops["conv2d"], 4, seed=6)] != [w.env for w in first]


def test_options_optional_tensors_and_broadcasting_vary():
    found = list(worlds(LIBRARY.ops["conv1d"], 40))
    assert {w.env["has_bias"] for w in found} == {0, 1} and len({w.env["stride0"] for w in found}) > 1
    shapes = [(w.views["input"].shape, w.views["other"].shape) for w in worlds(LIBRARY.ops["add"], 40)]
    assert any(a != b for a, b in shapes) and {len(a) for a, _ in shapes} == {0, 1, 2}


def test_indices_stay_in_bounds_and_samples_in_their_range():
    for w in worlds(LIBRARY.ops["embedding"], 20): assert w.views["input"].max() < w.env["V"]
    for w in worlds(LIBRARY.ops["log"], 20): assert w.views["input"].min() >= 0.1


def test_a_read_outside_is_found():
    op = only("op shift(x: Num[N]) -> Num[N]\n    out[i] = x[i + 1]\n")
    found, world = outside(op)
    assert (found.axis, found.value) == (0, world.env["N"]) and found.length == world.env["N"]


def test_a_fallback_or_a_requirement_rules_it_out():
    assert outside(only("op shift(x: Num[N]) -> Num[N]\n    out[i] = x[i + 1] ?? 0\n")) is None
    pick = "op pick(x: Num[N], k: int) -> Num[]\n    {}out[] = x[k]\n"
    assert outside(only(pick.format(""))) is not None
    assert outside(only(pick.format('require k >= 0 and k < N, "k"\n    '))) is None


def test_a_branch_not_taken_does_not_count():
    assert outside(only("op shift(x: Num[N]) -> Num[N]\n    out[i] = x[i + 1] if i + 1 < N else 0\n")) is None
