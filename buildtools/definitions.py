"""Reads ops/ (and folders given with --ops) through the front end; mistakes are printed as it shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .paths import ROOT

OPS = ROOT / "ops"


class WrongDefinitions(Exception):
    """Definitions with mistakes; the text shows each with its place."""


def load(more: Sequence[Path] = ()) -> "dsl.opdef.Library":  # noqa: F821 - imported below, inside .venv
    """All definitions, checked.  Raises WrongDefinitions."""
    from dsl import library
    from dsl.diagnostics import render

    files = [file for folder in (OPS, *more) for file in sorted(folder.glob("*.op"))]
    made, errors, sources = library.load(files)
    if errors:
        raise WrongDefinitions(render(errors, sources))
    return made
