"""The example pages: what they load beside dist/, and the server that shows them."""

from __future__ import annotations

import os
import shutil
import threading

from .environment import say
from .paths import NODE_MODULES, ROOT, SITE

CHARTS = ROOT / "examples" / "shared" / "uplot"
PAGES = {
    "examples/curve/": "a network learns a curve",
    "examples/digits/": "handwritten digits",
    "examples/draw/": "draw a digit and see it read",
    "examples/field/": "a network that is a picture",
    "examples/automaton/": "cells that grow a picture",
    "examples/gpt/": "a small GPT learns to write",
    "examples/balance/": "an agent balances a pole",
    "examples/seeds/": "the programs it began with",
}


def prepare() -> None:
    """Copies the plotting library (uPlot, MIT) from node_modules to where the pages find it.  It is no part of the
    package.

    Several processes may do so at once, while others read the files."""
    CHARTS.mkdir(parents=True, exist_ok=True)
    for name in ("dist/uPlot.esm.js", "dist/uPlot.min.css", "LICENSE"):
        given, file = NODE_MODULES / "uplot" / name, CHARTS / name.rpartition("/")[2]
        if file.exists() and file.read_bytes() == given.read_bytes():
            continue
        part = file.with_suffix(f".{os.getpid()}")
        shutil.copyfile(given, part)
        part.replace(file)


def serve(port: int) -> None:
    """Serves the checkout to this machine's browsers until the program is interrupted."""
    from . import browser

    with browser.serve(ROOT, port, policy=browser.CODE_POLICY) as address:
        say(f"{address}/{SITE.relative_to(ROOT)}/")
        say(f"{address}/examples/")
        for page, about in PAGES.items():
            print(f"    {address}/{page:<18} {about}")
        print("Ctrl-C ends it.", flush=True)
        threading.Event().wait()
