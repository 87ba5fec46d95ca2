"""PyTorch's public names: docs/coverage.md says which the package has."""

import pytest

from buildtools import names


def test_the_page_lists_what_the_package_has(dist):
    assert not names.stale(), "docs/coverage.md: python3 build.py check --update"


def test_a_name_that_is_there_has_no_reason_to_be_absent(dist, monkeypatch):
    """What absent.names says of a name that the package has, or that PyTorch has not, is out of date."""
    known = names.absences()
    for space, pattern in (("torch", "relu"), ("nn", "Conv4d")):
        line = names.Absent(names.WITHOUT, "for a test", space, pattern)
        monkeypatch.setattr(names, "absences", lambda line=line: [*known, line])
        with pytest.raises(names.NamesError, match=f"{space}: {pattern}"):
            names.states()
