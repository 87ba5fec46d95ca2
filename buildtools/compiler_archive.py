"""The compiler as one archive for programs that run it themselves, by Pyodide: the wheel's modules and the libraries
that they need, compiled by the Python that will run them, and the table of the grammar.

`tensorloom/op` loads it (runtime/definitions/run-time-compiler.ts), and the website's op playground."""

from __future__ import annotations

import zipfile
from importlib import metadata
from pathlib import Path

from codegen.version import VERSION

from . import node, wheel
from .paths import ROOT
from .typescript import BuildError

NAME = f"tensorloom-compiler-{VERSION}.zip"
# Of what the wheel requires that which workbench/run_time.py and workbench/playground.py come to import; templates
# where the text of kernels or of a module is asked for.
LIBRARIES = ("lark", "jinja2", "markupsafe")
# Of the wheel what neither of them imports: the command, and what needs numpy or a device.
LEFT_OUT = ("tensorloom/", "dsl/reference/")
KEPT = ("tensorloom/ops/", "tensorloom/grammar/")
MOMENT = (1980, 1, 1, 0, 0, 0)  # the same sources give the same archive


def build(folder: Path) -> Path:
    """Makes the archive in `folder`; returns its path.  Needs the checkout, and Pyodide.  Raises BuildError."""
    made = wheel.build(folder)
    plain = folder / "sources.zip"
    with zipfile.ZipFile(made) as wheel_, zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(wheel_.namelist()):
            if not name.startswith(LEFT_OUT) or name.startswith(KEPT):
                put(archive, name, wheel_.read(name))
        for entry in sorted((e for name in LIBRARIES for e in metadata.files(name) or ()), key=str):
            source = entry.suffix in (".py", ".lark") and ".." not in entry.parts
            if source or "LICENSE" in entry.name.upper():
                put(archive, str(entry), entry.read_binary())
    made.unlink()
    file = folder / NAME
    done = node.run([ROOT / "buildtools" / "precompiled.mjs", plain, file], cwd=ROOT)
    plain.unlink()
    if done.returncode or not file.exists():
        raise BuildError(f"the compiler's archive cannot be made:\n{done.stdout.strip()}")
    return file


def put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, MOMENT), data, zipfile.ZIP_DEFLATED)
