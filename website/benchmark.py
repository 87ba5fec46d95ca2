"""The page that measures this package beside TensorFlow.js on the reader's machine.

TensorFlow.js is a development dependency, for this page alone: scripts/benchmark.mjs brings it, and the WebAssembly of
its processor backend lies beside."""

from __future__ import annotations

import json
import shutil

from buildtools.paths import NODE_MODULES

from .shell import Found, Shell

PATH = "benchmark/index.html"
ABOUT = "This package beside TensorFlow.js, measured on your own machine."
TFJS = NODE_MODULES / "@tensorflow"


def write(shell: Shell) -> None:
    version = json.loads((TFJS / "tfjs-core" / "package.json").read_text(encoding="utf-8"))["version"]
    shell.write(PATH, "benchmark.html.j2", title="Speed", about=ABOUT, tfjs=version)
    shell.found.append(Found("Speed on your machine", PATH, "page", ABOUT))
    folder = shell.folder / "assets" / "tfjs"
    folder.mkdir(parents=True, exist_ok=True)
    for file in (TFJS / "tfjs-backend-wasm" / "dist").glob("*.wasm"):
        shutil.copyfile(file, folder / file.name)
