"""Each process gets as many tests as pytest-xdist gives it, each test once, and short ones last."""

import pytest
from order import MANY, parts


@pytest.mark.parametrize(
    "lengths", [[3], [MANY + 1], [5, 300, 7, 900, 20, 1, 250], [40] * 9 + [110], [MANY, 2 * MANY, 2]], ids=str
)
@pytest.mark.parametrize("processes", [2, 3, 5])
def test_parts(lengths, processes):
    given = parts(lengths, processes)
    assert len(given) == processes
    tests = [(file, n) for part in given for file, first, end in part for n in range(first, end)]
    assert sorted(tests) == [(file, n) for file, length in enumerate(lengths) for n in range(length)]
    for part in given:
        few = [lengths[file] <= MANY for file, *_ in part]
        assert few == sorted(few, reverse=True), "files of few tests come first"


def test_parts_are_those_of_the_scheduler():
    lengths = [5, 300, 7, 900, 20, 1, 250]
    sizes = [sum(end - first for _, first, end in part) for part in parts(lengths, 3)]
    assert sizes == [494, 494, 495]
