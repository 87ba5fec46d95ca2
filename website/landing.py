"""The first page: what the package is, a network that learns in it, measured figures."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from buildtools.paths import ROOT
from dsl.opdef import Library
from dsl.text.show import show

from . import figures
from .navigation import source
from .playground import pages as playground
from .playground.link import link
from .shell import Shell

DEFINITION = "softmax"
DEMO = ROOT / "examples" / "curve" / "curve.mjs"  # what scripts/landing.mjs shows
PROGRAM = "Train something"  # the heading in docs/start.md under which the program stands


def write(shell: Shell, library: Library) -> None:
    tree = library.ops[DEFINITION].tree
    assert tree is not None
    shell.write(
        "index.html",
        "landing.html.j2",
        title="tensorloom: PyTorch in JavaScript, on WebGPU",
        about="PyTorch's tensors, autograd, modules and optimizers in JavaScript, on WebGPU and the CPU.",
        figures=figures.headline(),
        models=figures.models(),
        program=program(),
        demo=link(playground.PATH, demo()),
        definition=show(tree),
    )


def program() -> str:
    """The first block of code under PROGRAM.  Raises LookupError if there is none."""
    reached = False
    for token in MarkdownIt().parse(source("start").read_text(encoding="utf-8")):
        reached = reached or token.type == "inline" and token.content == PROGRAM
        if reached and token.type == "fence":
            return token.content
    raise LookupError(f"docs/start.md: no code under {PROGRAM!r}")


def demo() -> str:
    """What the page's demo computes as a program for the playground, which plots the same."""
    text = re.sub("^export ", "", DEMO.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = re.sub("\\A(//.*\n)+", "", text).strip()
    shown = playground.HERE.joinpath("demo.mjs").read_text(encoding="utf-8")
    return f'// A network learns a curve from noisy samples\nimport * as torch from "tensorloom";\n\n{text}\n\n{shown}'
