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


ROUNDED = 0.51  # units in the last place that a correctly rounded result shows, as the report rounds it


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
    return [Model(name, first(rows[name][ours]), first(rows[name][torch])) for name in names]


def first(cell: str) -> float:
    """The measured milliseconds of `7.5 (7.2 since)`."""
    return float(cell.split()[0])


@dataclass(frozen=True)
class Figure:
    """A number of the first page, what it counts, and the page that it is from."""

    value: str
    what: str
    page: str


def said(page: str, pattern: str) -> re.Match[str]:
    """What a page of docs/ says.  Raises ValueError where it does not."""
    found = re.search(pattern, (ROOT / "docs" / page).read_text(encoding="utf-8"), re.M)
    if found is None:
        raise ValueError(f"docs/{page} says nothing like {pattern!r}")
    return found


def right(device: str) -> str:
    """`577 of 578`: how many operators answer as PyTorch does, of those that are scored."""
    table = tables(ROOT / "docs" / "coverage.md")[0]
    cells = [re.match(r"(\d+) of (\d+)", row[table.column(device)]) for row in table.rows]
    counts = [(int(m[1]), int(m[2])) for m in cells if m]
    return f"{sum(a for a, _ in counts)} of {sum(b for _, b in counts)}"


def coverage() -> list[Figure]:
    names = said("coverage.md", r"Of the others ([\d,]+) of ([\d,]+) are there, ([\d.]+) %")
    page = "reports/coverage.html"
    return [
        Figure(right("cpu"), "operators of PyTorch's database answer as recorded, gradients included", page),
        Figure(right("webgpu"), "of them on WebGPU", page),
        Figure(f"{names[3]} %", f"of PyTorch's public names are here: {names[1]} of {names[2]}", page),
    ]


def compiled() -> list[Figure]:
    ops = said("compile-report.md", r"^- ops: (\d+)")
    derived = said("compile-report.md", r"gradients: derived (\d+), given by a `grad` clause (\d+)")
    bodies = said("compile-report.md", r"^- bodies of steps: (\d+)")
    page = "reports/compile-report.html"
    return [
        Figure(ops[1], "ops, each written once as a formula", page),
        Figure(derived[1], "gradients derived by the compiler", page),
        Figure(derived[2], "given in the definition, for exactness or PyTorch's conventions", page),
        Figure(bodies[1], "bodies of steps, where no formula says it", page),
    ]


def accuracy() -> list[Figure]:
    found = said("accuracy.md", r"^(\d+) functions; at (\d+) of them")
    (table,) = tables(ROOT / "docs" / "accuracy.md")
    page, exact = "reports/accuracy.html", 0
    for row in table.rows:
        exact += float(row[table.column("cpu")].split(" ")[0] or "inf") <= ROUNDED
    return [
        Figure(found[1], "pointwise functions, measured over arguments of every size", page),
        Figure(str(exact), f"correctly rounded on the CPU, or within {ROUNDED} units in the last place", page),
        Figure(
            found[2],
            "where an error is more than one unit and more than twice PyTorch's; the reason stands beside it",
            page,
        ),
    ]


def headline() -> list[Figure]:
    """The numbers of the first page."""
    operators, _, names = coverage()
    ops, derived, *_ = compiled()
    return [operators, ops, derived, names]
