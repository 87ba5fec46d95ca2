"""The compiler for the op playground's page: Pyodide, the compiler's wheel and the libraries that it needs, all of them
files of the site; and the package as modules that compiled ops import."""

from __future__ import annotations

import json
import shutil
import zipfile
from importlib import metadata
from pathlib import Path

from buildtools import wheel
from buildtools.paths import NODE_MODULES

from ..bundling import bundle

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
# Of what the wheel requires that which workbench/playground.py comes to import, and what that requires.
LIBRARIES = ("lark", "jinja2", "markupsafe", "platformdirs")
MOMENT = (1980, 1, 1, 0, 0, 0)  # the same sources give the same archive
# The entries of the package that generated modules import (codegen/api/project.py), by their files here.
ENTRIES = {
    "torch": "index.js",
    "compiled": "compiled.js",
    "bodies": "ops/data/bodies.js",
    "callees": "ops/data/callees.js",
    "routines": "ops/data/routines.js",
}


def write(assets: Path, dist: Path) -> None:
    """Into assets/pyodide and assets/playground-package.  dist: the built package.  Raises BuildError."""
    folder = assets / "pyodide"
    folder.mkdir(parents=True, exist_ok=True)
    for name in PYODIDE:
        shutil.copyfile(NODE_MODULES / "pyodide" / name, folder / name)
    made = wheel.build(folder)
    archives = [libraries(folder / "libraries.zip"), made.rename(made.with_suffix(".zip"))]
    (folder / "compiler.json").write_text(json.dumps([f.name for f in archives]), encoding="utf-8")
    package(assets / "playground-package", dist)


def libraries(file: Path) -> Path:
    """An archive of the libraries' sources with their licences, as they are installed here."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in sorted((e for name in LIBRARIES for e in metadata.files(name) or ()), key=str):
            source = entry.suffix in (".py", ".lark") and ".." not in entry.parts
            if source or "LICENSE" in entry.name.upper():
                archive.writestr(zipfile.ZipInfo(str(entry), MOMENT), entry.read_binary(), zipfile.ZIP_DEFLATED)
    return file


def package(folder: Path, dist: Path) -> None:
    bundle([f"{name}={dist / file}" for name, file in ENTRIES.items()], folder)
