"""What a release consists of, in .build/release: the archives, their digests, and notes.  Nothing is published."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from codegen.version import VERSION

from . import compiler_archive, package, wheel
from .paths import BUILD, ROOT
from .typescript import BuildError

FOLDER = BUILD / "release"
CHANGELOG = ROOT / "CHANGELOG.md"
NOTES = """# tensorloom {version}

{changes}

## Install

    npm install tensorloom@{version}
    pip install tensorloom=={version}     # the compiler, for ops of your own

{digests}
"""


def make(folder: Path = FOLDER) -> list[Path]:
    """Makes the release of the built package; returns its files.  Raises BuildError."""
    said = changes(CHANGELOG.read_text(encoding="utf-8"), VERSION)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archives = [package.pack(folder), compiler_archive.build(folder), wheel.build(folder)]
    digests = "".join(f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in archives)
    sums, notes = folder / "SHA256SUMS", folder / "NOTES.md"
    sums.write_text(digests)
    shown = "".join(f"    {line}\n" for line in digests.splitlines())
    notes.write_text(NOTES.format(version=VERSION, changes=said, digests=shown.rstrip()), encoding="utf-8")
    return [*archives, sums, notes]


def changes(changelog: str, version: str) -> str:
    """The section of a version, without its heading.  Raises BuildError if there is none, or nothing in it."""
    sections = re.split(r"^## (\S+)[^\n]*\n", changelog, flags=re.M)
    found = dict(zip(sections[1::2], sections[2::2]))
    if not found.get(version, "").strip():
        there = ", ".join(found) or "none"
        raise BuildError(f"CHANGELOG.md has no section `## {version}`, or nothing is in it; it has {there}")
    return found[version].strip()
