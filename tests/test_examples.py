"""The tests inside definitions hold for the numpy meaning, and one that does not is noticed."""

from functools import cache

import pytest
from definitions import LIBRARY
from front import errors_of

from codegen.data.errors import OpError
from dsl.testing.examples import check_tests
from workbench.function import Function


def test_every_test_of_the_library_holds():
    assert sum(len(op.tests) for op in LIBRARY.ops.values()) > 200
    failed = check_tests(
        LIBRARY.ops.values(), cache(lambda name: Function(LIBRARY.ops[name], LIBRARY).numpy), (OpError, IndexError)
    )
    assert [(op.name, e.label) for op, e in failed] == []


@pytest.mark.parametrize(
    "test, label",
    [
        ("f([1, 2]) == [2, 4]", None),
        ("f([1, 2]) == [2, 5]", "got [2, 4]"),
        ("f([1, 2]) == [[2, 4]]", "got [2, 4]"),
        ("f(3) == 6", None),
        ("f([1.0]) ~= [2.0000001]", None),
        ("f([1.0]) == [2.0000001]", "got [2]"),
        ("f([1.0]) ~= [2.1]", "got [2]"),
        ("f([nan]) == [nan]", None),
        ("f([nan]) ~= [nan]", None),
        ("f([-inf]) == [-inf]", None),
        ("f([0.1]) == [1 / 5]", None),
        ('f([1], by=-1) raises "negative"', None),
        ('f([1], by=-1) raises "positive"', "raises: f: by is negative: -1"),
        ('f([1]) raises "negative"', "nothing is raised; got [2]"),
        ("f([1], by=-1) == [2]", "the call is refused: f: by is negative: -1"),
    ],
)
def test_one_test(test, label):
    text = (
        f'op f(input: Num, by: int = 2) = by * input\n    require by > 0, "by is negative: {{by}}"\n    test {test}\n'
    )
    assert [e.label for e in errors_of(text)] == ([label] if label else [])


def test_several_results():
    text = "op f(input: Num) -> (low: Num, high: Num)\n    low = min(input)\n    high = max(input)\n"
    assert errors_of(text + "    test f([1, 3]).high == 3\n") == []
    assert [e.label for e in errors_of(text + "    test f([1, 3]) == 3\n")] == [
        "the call has several results: name one, `.low` or `.high`"
    ]


def test_once_for_a_family():
    text = (
        "op f{D}d(input: Num[*X:D]) -> Num[*X]\n    for D in 1, 2\n    out[*i] = input[*i]\n    test f1d([1]) == [2]\n"
    )
    assert [e.message for e in errors_of(text)] == ["f1d: this test fails"]
