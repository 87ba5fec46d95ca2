"""The compiler for the op playground's page: Pyodide and the compiler's archive, all of them files of the site; and the
package as modules that what it compiles runs with."""

from __future__ import annotations

import shutil
from pathlib import Path

from buildtools import compiler_archive
from buildtools.paths import NODE_MODULES

from ..bundling import bundle

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
# The entries of the package that the page imports, by their files here.
ENTRIES = {"torch": "index.js", "op": "runtime/definitions/index.js"}


def write(assets: Path, dist: Path) -> None:
    """Into assets/pyodide and assets/playground-package.  dist: the built package.  Raises BuildError."""
    folder = assets / "pyodide"
    folder.mkdir(parents=True, exist_ok=True)
    for name in PYODIDE:
        shutil.copyfile(NODE_MODULES / "pyodide" / name, folder / name)
    compiler_archive.build(folder).rename(folder / "compiler.zip")
    bundle([f"{name}={dist / file}" for name, file in ENTRIES.items()], assets / "playground-package")
