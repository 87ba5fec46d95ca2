"""Measured figures, read from the pages that hold them: bench/README.md, docs/coverage.md, docs/compile-report.md,
docs/package.md.  Nothing is measured or typed here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from buildtools.paths import ROOT

from .markdown import plain

# The models on the first page, by their names in the table "Whole models" of bench/README.md.
SHOWN = (
    "MobileNetV2, batch 1",
    "ResNet-18, batch 1",
    "GPT-2 small, one token at 256",
    "BERT base, 8x128",
    "a block of a diffusion UNet, 320x64x64",
    "LSTM over 35 steps, a training step",
)


@dataclass(frozen=True)
class Table:
    """A table of a Markdown page: the heading that it stands under, its columns, its rows of texts."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> int:
        """The place of the one column whose head contains `name`.  Raises ValueError."""
        (place,) = [n for n, head in enumerate(self.columns) if name in head]
        return place


def tables(file: Path) -> list[Table]:
    """All tables of a page."""
    heading, rows = "", list[list[str]]()
    found: list[Table] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(file.read_text(encoding="utf-8"))
    for n, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = plain(tokens[n + 1].children or ())
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(plain(tokens[n + 1].children or ()))
        elif token.type == "table_close":
            found.append(Table(heading, tuple(rows[0]), tuple(tuple(row) for row in rows[1:])))
    return found


@dataclass(frozen=True)
class Model:
    """A model on a GPU, in milliseconds of a call when calls follow each other: ours compiled, and CUDA PyTorch's."""

    name: str
    ours: float
    torch: float

    @property
    def share(self) -> float:
        """Our speed as a share of PyTorch's."""
        return self.torch / self.ours


def models(names: Sequence[str] = SHOWN) -> list[Model]:
    """What bench/README.md says of whole models.  Raises KeyError for a model that it does not have."""
    (table,) = [
        t
        for t in tables(ROOT / "bench" / "README.md")
        if t.heading.startswith("Whole models") and "launches" in t.columns
    ]
    ours, torch = table.column("torch.compile"), table.columns.index("torch")
    rows = {row[0]: row for row in table.rows}
    return [Model(name, pipelined(rows[name][ours]), pipelined(rows[name][torch])) for name in names]


def pipelined(cell: str) -> float:
    """Of `waiting / pipelined`, in milliseconds."""
    return float(cell.split("/")[1])


@dataclass(frozen=True)
class Figure:
    """A number of the first page, what it counts, and the page that it is from."""

    value: str
    what: str
    page: str


def headline() -> list[Figure]:
    """The numbers of the first page."""
    coverage = tables(ROOT / "docs" / "coverage.md")[0]
    right = [re.match(r"(\d+) of (\d+)", row[2]) for row in coverage.rows]
    counts = [(int(m[1]), int(m[2])) for m in right if m]
    report = (ROOT / "docs" / "compile-report.md").read_text(encoding="utf-8")
    ops = re.search(r"^- ops: (\d+)", report, re.M)
    derived = re.search(r"gradients: derived (\d+), given by a `grad` clause (\d+)", report)
    names = re.search(r"Of the others ([\d,]+) of ([\d,]+) are there", (ROOT / "docs" / "coverage.md").read_text())
    assert ops and derived and names
    return [
        Figure(
            f"{sum(a for a, _ in counts)} of {sum(b for _, b in counts)}",
            "operators of PyTorch's database answer as recorded, gradients included",
            "reports/coverage.html",
        ),
        Figure(ops[1], "ops, each written once as a formula", "reports/compile-report.html"),
        Figure(derived[1], "gradients derived by the compiler", "reports/compile-report.html"),
        Figure(names[1], "of PyTorch's public names", "reports/coverage.html"),
    ]
