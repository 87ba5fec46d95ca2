"""The example pages: what they load beside dist/, and the server that shows them."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from . import weights
from .environment import SetupError, say
from .paths import NODE_MODULES, ROOT, SITE

# Libraries that pages load: the folder of a page -> files of node_modules.  uPlot (MIT) draws charts, tokenizers
# (Apache-2.0) cuts sentences into what networks read.
LIBRARIES = {
    "shared/uplot": ("uplot/dist/uPlot.esm.js", "uplot/dist/uPlot.min.css", "uplot/LICENSE"),
    "search/tokenizers": ("@huggingface/tokenizers/dist/tokenizers.min.mjs", "@huggingface/tokenizers/LICENSE"),
}
# Published weights that pages show, and which of them are there: pages ask for no others.
WEIGHTS = (weights.MINILM, weights.EFFICIENTNET)
THERE = ROOT / "examples" / "shared" / "weights.json"
PAGES = {
    "examples/curve/": "a network learns a curve",
    "examples/digits/": "handwritten digits",
    "examples/draw/": "draw a digit and see it read",
    "examples/field/": "a network that is a picture",
    "examples/style/": "a picture in the manner of another",
    "examples/automaton/": "cells that grow a picture",
    "examples/gpt/": "a small GPT learns to write",
    "examples/diffusion/": "digits out of noise",
    "examples/search/": "search by meaning",
    "examples/teach/": "teach it what you show",
    "examples/balance/": "an agent balances a pole",
    "examples/seeds/": "the programs it began with",
}


def prepare() -> None:
    """Copies the libraries of pages from node_modules to where the pages find them, none of which is part of the
    package, and writes which weights are there.

    Several processes may do so at once, while others read the files."""
    for folder, given in LIBRARIES.items():
        for source in (NODE_MODULES / name for name in given):
            put(ROOT / "examples" / folder / source.name, source.read_bytes())
    sizes = {
        w.folder.relative_to(ROOT / "examples").as_posix(): {"megabytes": w.size, "there": w.there} for w in WEIGHTS
    }
    put(THERE, json.dumps(sizes).encode())


def put(file: Path, content: bytes) -> None:
    """Write a file whole, if it is not there as it should be."""
    if file.exists() and content == file.read_bytes():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(file)


def bring_weights() -> None:
    """Downloads the published weights of pages; where that cannot be, says so, and the pages that miss them do."""
    for published in WEIGHTS:
        try:
            weights.bring(published)
        except SetupError as error:
            say(str(error))
    prepare()


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
