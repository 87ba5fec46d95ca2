"""The compiler as a wheel, for those who define ops beside the npm package; what is in it says pyproject.toml.

The same sources give the same bytes anywhere: hatchling orders the files and dates them alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from codegen.version import VERSION

from .paths import ROOT
from .typescript import BuildError


def build(folder: Path) -> Path:
    """Makes the wheel in `folder`; returns its path.  Needs the checkout alone.  Raises BuildError."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    made = folder / f"tensorloom-{VERSION}-py3-none-any.whl"
    if done.returncode or not made.exists():
        raise BuildError(f"the wheel cannot be made:\n{done.stdout.strip()}")
    return made
