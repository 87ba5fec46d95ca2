"""Every case has its turn, whatever their number."""

import pytest
from turns import one_in


@pytest.mark.parametrize("length", [0, 1, 5, 12])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_turns_come_to_all_cases(count, length):
    cases = list(range(length))
    taken = [one_in(count, iter(cases), commit) for commit in range(count)]
    assert sorted(case for part in taken for case in part) == cases
    assert one_in(count, cases, 0, start=1) == one_in(count, cases, 1)
    assert one_in(count, cases, None) == cases
