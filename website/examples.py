"""The example pages as a part of the site: copies of examples/ in the site's frame, which find the package where they
look for it."""

from __future__ import annotations

import html
import re
import shutil

from markupsafe import Markup

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
KINDS = {".mjs", ".css", ".svg", ".bin", ".js", ".json", ".safetensors", ".pth", ".txt"}


def write(shell: Shell) -> None:
    """The pages that `build.py serve` lists, what they share, and their index.  Published weights are on the site if
    they are in examples/ (buildtools/weights.py); the pages say so where they are not."""
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
    read = {path: Page(path) for path in shown}
    for page in read.values():
        page.write(shell)
    entries = [(path, about[0].upper() + about[1:], read[path].lead) for path, about in shown.items()]
    shell.write(PATH, "examples.html.j2", title="Examples", about=ABOUT, entries=entries)
    for path, title, what in entries:
        shell.found.append(Found(title, f"{path}index.html", "example", what))


class Page:
    """What a page's index.html consists of.  Raises BuildError where it has no such part."""

    def __init__(self, path: str):
        self.path = f"{path}index.html"
        self.text = (ROOT / self.path).read_text(encoding="utf-8")
        self.title = html.unescape(self.part("<title>(.*?)</title>"))
        self.sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)">', self.text)
        self.program = self.part("<main>(.*)</main>")
        first = self.part(r'<p class="lead">(.*?[.])(?=\s)')
        self.lead = " ".join(html.unescape(re.sub("<[^>]*>", "", first)).split())
        self.part(r'<script type="(module)" src="page.mjs"></script>')

    def part(self, pattern: str) -> str:
        found = re.search(pattern, self.text, re.DOTALL)
        if found is None:
            raise BuildError(f"{self.path} has no {pattern}")
        return found[1]

    def write(self, shell: Shell) -> None:
        """The page with the site's bar, search and foot around its own parts."""
        program = Markup(self.program)  # noqa: S704  (it is the repository's own text)
        shell.write(
            self.path, "example.html.j2", title=self.title, about=self.lead, sheets=self.sheets, program=program
        )
