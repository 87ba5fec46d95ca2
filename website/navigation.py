"""The parts of the site: what the bar at its top names, and the order of the guides.

A new part is a line here and a module that writes its pages with `shell.Shell.write`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from buildtools.paths import ROOT

DOCS = ROOT / "docs"


@dataclass(frozen=True)
class Part:
    """A part of the site.  path: its first page, from the site's root; name: what the bar calls it."""

    name: str
    path: str


PARTS = (
    Part("Start", "guides/start.html"),
    Part("Guides", "guides/index.html"),
    Part("Reference", "reference/index.html"),
    Part("Examples", "examples/index.html"),
    Part("Tests", "tests/index.html"),
    Part("Speed", "benchmark/index.html"),
    Part("Reports", "reports/index.html"),
    Part("Playground", "playground/index.html"),
)

# The guides by subject: pages of docs/ without their ending, in the order in which one reads them.
GUIDES = {
    "Learn": ("start", "tensors", "autograd", "modules", "training", "programs"),
    "Bring your own": ("porting", "exported-programs", "onnx", "small-weights", "web"),
    "Look inside": ("diagnosis", "package", "sizes"),
    "Add to it": ("own-ops", "run-time-ops", "contributing", "language", "design", "releases", "glossary"),
}
# Of pages whose own titles say too little beside others.
TITLES = {"package": "The npm package"}
# Pages that have a place of their own among the reports.
REPORTS = ("coverage", "accuracy", "compile-report")


def source(name: str) -> Path:
    """The Markdown of a guide."""
    return ROOT / "CONTRIBUTING.md" if name == "contributing" else DOCS / f"{name}.md"


def decisions() -> list[Path]:
    """The short pages on what was decided and why, by name."""
    return sorted((DOCS / "decisions").glob("*.md"))
