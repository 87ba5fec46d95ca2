"""Layout, habits and types of the sources, as `python3 build.py lint` checks them."""

import pytest

from buildtools import lint


@pytest.mark.parametrize("tool", lint.tools())
def test_has_nothing_to_say(tool):
    assert lint.complaint(tool) == ""
