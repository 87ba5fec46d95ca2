"""The committed highlighting is what the grammar gives, and it colours what it should."""

import json
import re

from dsl.text.highlight import EXTENSION, FILE, text, text_mate


def test_current():
    for file in (FILE, EXTENSION):
        assert file.read_text(encoding="utf-8") == text(), "run: python -m workbench highlight"


def test_patterns_match():
    parts = text_mate()["repository"]
    assert json.loads(text())["scopeName"] == "source.op"
    assert re.match(parts["item"]["match"], "op conv{D}d(input: Num)")[2] == "conv{D}d"
    assert re.match(parts["clause"]["match"], "    require x > 0")[2] == "require"
    assert not re.match(parts["clause"]["match"], "    required = 2")
    assert re.search(parts["reduction"]["match"], "sum[k] x[k]") and not re.search(
        parts["reduction"]["match"], "sum(x)"
    )
    assert re.fullmatch(parts["number"]["match"], "1e-5") and re.fullmatch(parts["operator"]["match"], "??")
