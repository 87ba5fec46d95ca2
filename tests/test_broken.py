"""Every mistake in tests/broken/*.op is answered with exactly the text beside it, and never with a traceback."""

from pathlib import Path

import pytest
from front import checked

from dsl.text.diagnostics import CODES, render

FILES = sorted((Path(__file__).parent / "broken").glob("*.op"))


def report(path: Path) -> str:
    return render(*checked(path.read_text(encoding="utf-8"), path.name))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_printed_exactly(path, golden):
    text = report(path)
    assert text, "a broken definition passed"
    golden(f"broken/{path.stem}.txt", text + "\n")


def test_every_kind_of_error_has_a_file():
    kinds = {f.stem.split("_")[0] for f in FILES}
    assert set(CODES) <= kinds
    for f in FILES:
        kind = f.stem.split("_")[0]
        if kind in CODES:
            assert f"error[{kind}]" in f.with_suffix(".txt").read_text(encoding="utf-8"), f.name
