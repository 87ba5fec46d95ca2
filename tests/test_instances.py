"""Small random instances: legal, repeatable, varied; and counterexamples for reads outside."""

import numpy as np
import pytest
from definitions import LIBRARY

from dsl.library import load_text
from dsl.testing.instances import instances, outside
from dsl.testing.trials import check_instances, check_itself


def only(text: str):
    """The one op of a text."""
    library, errors, _ = load_text(text)
    assert not errors, errors
    return next(iter(library.ops.values()))


@pytest.mark.parametrize("name", LIBRARY.ops)
def test_every_op_has_legal_instances(name):
    found = list(instances(LIBRARY.ops[name], 3))
    assert found
    for w in found:
        assert not w.leaves()


def test_the_same_seed_gives_the_same_instances():
    first, again = (list(instances(LIBRARY.ops["conv2d"], 4, seed=5)) for _ in range(2))
    for a, b in zip(first, again):
        assert a.env == b.env
        for n in a.views:
            np.testing.assert_array_equal(a.views[n], b.views[n])
    assert [w.env for w in instances(LIBRARY.ops["conv2d"], 4, seed=6)] != [w.env for w in first]


def test_options_optional_tensors_and_broadcasting_vary():
    found = list(instances(LIBRARY.ops["conv1d"], 40))
    assert {w.env["has_bias"] for w in found} == {0, 1} and len({w.env["stride0"] for w in found}) > 1
    shapes = [(w.views["input"].shape, w.views["other"].shape) for w in instances(LIBRARY.ops["add"], 40)]
    assert any(a != b for a, b in shapes) and {len(a) for a, _ in shapes} == {0, 1, 2}


def test_indices_stay_in_bounds_and_samples_in_their_range():
    for w in instances(LIBRARY.ops["embedding"], 20):
        assert w.views["input"].max() < w.env["V"]
    for w in instances(LIBRARY.ops["log"], 20):
        assert w.views["input"].min() >= 0.1


def test_a_read_outside_is_found():
    op = only("op shift(x: Num[N]) -> Num[N]\n    out[i] = x[i + 1]\n")
    found, instance = outside(op)
    assert (found.axis, found.value) == (0, instance.env["N"]) and found.length == instance.env["N"]


def test_a_fallback_or_a_requirement_rules_it_out():
    assert outside(only("op shift(x: Num[N]) -> Num[N]\n    out[i] = x[i + 1] ?? 0\n")) is None
    pick = "op pick(x: Num[N], k: int) -> Num[]\n    {}out[] = x[k]\n"
    assert outside(only(pick.format(""))) is not None
    assert outside(only(pick.format('require k >= 0 and k < N, "k"\n    '))) is None


def test_a_branch_not_taken_does_not_count():
    assert outside(only("op shift(x: Num[N]) -> Num[N]\n    out[i] = x[i + 1] if i + 1 < N else 0\n")) is None


TIED = """op heads(x: Float[N, E], w: Float[E, K], group: int) -> Float[N, K]
    require E == group * 3, "heads"
    require K % group == 0 and K > group, "groups"
    require N >= 16, "rows"
    out[n, k] = sum[e] x[n, e] * w[e, k]
"""


def test_sizes_that_requirements_tie_together_are_drawn_together():
    found = list(instances(only(TIED), 20))
    assert len(found) == 20 and {w.env["E"] // w.env["group"] for w in found} == {3}
    assert len({w.env["K"] for w in found}) > 2 and min(w.env["N"] for w in found) >= 16


def test_sizes_and_options_are_drawn_where_a_sample_says():
    text = "op f(x: Num[N], a: int, b: real) -> Num[N]\n    {}out[n] = x[n] * a + b\n"
    found = list(
        instances(
            only(text.format("sample N in 16 .. 32\n    sample a in 5 .. 6\n    sample b in 0.1 .. 0.2\n    ")), 20
        )
    )
    assert {w.env["a"] for w in found} == {5, 6} and all(
        16 <= w.env["N"] <= 32 and 0.1 <= w.env["b"] <= 0.2 for w in found
    )


def test_that_no_instance_meets_a_requirement_is_said():
    text = 'op f(x: Num[N]) -> Num[N]\n    {}require N * N == 400, "N should be {{20}}, not {{N}}"\n    out[n] = x[n]\n'
    (error,) = check_instances(only(text.format("")))
    assert (
        error.message == "no random instance of `f` met this requirement"
        and error.label == "its checks compared nothing"
    )
    assert check_instances(only(text.format("sample N in 20 .. 20\n    "))) == []


def test_what_answers_its_argument_has_a_formula_that_gives_it():
    text = "op f(x: Float, on: bool = true)\n    itself when not on\n    out = 2 * x if on else {}\n"
    assert check_itself(only(text.format("x"))) == []
    (error,) = check_itself(only(text.format("x + 1")))
    assert error.message == "the result of `f` is not always `x` where it is to answer that itself"
    (error,) = check_itself(only("op f(x: Num) -> Float = x\n    itself when true\n"))
    assert "answer that itself" in error.message
