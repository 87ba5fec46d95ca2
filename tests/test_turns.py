"""Every case has its turn, whatever their number; a run knows which it is, with git or without."""

import shutil

import pytest
import turns
from turns import number_of, one_in, turn

from buildtools.paths import ROOT


@pytest.mark.parametrize("length", [0, 1, 5, 12])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_turns_come_to_all_cases(count, length):
    cases = list(range(length))
    taken = [one_in(count, iter(cases), commit) for commit in range(count)]
    assert sorted(case for part in taken for case in part) == cases
    assert one_in(count, cases, 0, start=1) == one_in(count, cases, 1)
    assert one_in(count, cases, None) == cases


def test_a_turn_is_known_without_git(monkeypatch):
    monkeypatch.delenv("EVERY_TURN", raising=False)
    monkeypatch.setenv("PATH", "")
    assert turn.__wrapped__() == number_of(ROOT)
    monkeypatch.setenv("EVERY_TURN", "1")
    assert turn.__wrapped__() is None


def test_a_turn_is_known_in_a_copy(monkeypatch, tmp_path):
    """And another's, where a source differs."""
    monkeypatch.delenv("EVERY_TURN", raising=False)
    monkeypatch.setattr(turns, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    shutil.copytree(ROOT / "ops", tmp_path / "ops")
    before = turn.__wrapped__()
    assert before == number_of(tmp_path)
    (tmp_path / "ops" / "activation.op").write_text("op f(x: Num) = x\n")
    assert turn.__wrapped__() not in (before, None)
