"""The example pages as a part of the site: copies of examples/, which find the package where they look for it."""

from __future__ import annotations

import html
import re
import shutil

from buildtools import pages
from buildtools.paths import ROOT
from buildtools.typescript import BuildError

from .shell import Found, Shell

PATH = "examples/index.html"
ABOUT = "Small programs for the browser, with their source: all of it runs in the page, on your device."
# What needs other entries of the package than the one module that the site has.
ELSEWHERE = ("examples/seeds/",)
# What pages load besides their own folders.
LENT = ("examples/shared/", "examples/alice/", "examples/read.mjs")
KINDS = {".html", ".mjs", ".css", ".svg", ".bin", ".js", ".json", ".safetensors", ".txt"}


def write(shell: Shell) -> None:
    """The pages that `build.py serve` lists, what they share, and their index."""
    pages.prepare()
    shown = {path: about for path, about in pages.PAGES.items() if path not in ELSEWHERE}
    for path in (*shown, *LENT):
        for file in sorted((ROOT / path).rglob("*")) or [ROOT / path]:
            if file.suffix in KINDS or file.name == "LICENSE":
                copy = shell.folder / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
    entry = shell.folder / "dist" / "index.js"  # where the pages look for the package
    entry.parent.mkdir(exist_ok=True)
    entry.write_text('export * from "../assets/torch.js";\n', encoding="utf-8")
    entries = [(path, about[0].upper() + about[1:], lead(path)) for path, about in shown.items()]
    shell.write(PATH, "examples.html.j2", title="Examples", about=ABOUT, entries=entries)
    for path, title, what in entries:
        shell.found.append(Found(title, f"{path}index.html", "example", what))


def lead(path: str) -> str:
    """The first sentence below a page's title.  Raises BuildError where it says nothing."""
    text = (ROOT / path / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<p class="lead">(.*?[.])(?=\s)', text, re.DOTALL)
    if found is None:
        raise BuildError(f'{path}index.html does not begin with a sentence: <p class="lead">...</p>')
    return " ".join(html.unescape(re.sub("<[^>]*>", "", found[1])).split())
