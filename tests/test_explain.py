"""Every kind of error has a page, and the page's examples are true."""

import pytest
from front import errors_of

from dsl.text.diagnostics import CODES
from dsl.text.explain import PAGES, page
from workbench.__main__ import main


def test_every_kind_has_a_page():
    assert set(PAGES) == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_examples(code):
    wrong, right = errors_of(PAGES[code].wrong), errors_of(PAGES[code].right)
    assert [e.code for e in wrong] == [code]
    assert right == []
    assert all(len(line) <= 110 for line in page(code).split("\n"))


def test_command(capsys):
    assert main(["explain", "range"]) == 0
    assert capsys.readouterr().out == page("range")
    assert main(["explain", "rnage"]) == 2
    assert "did you mean `range`?" in capsys.readouterr().err
