"""The reports as pages that people read: a summary first, then tables that can be filtered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from buildtools.paths import ROOT

from . import guides
from .figures import Figure, accuracy, compiled, coverage
from .shell import Found, Shell


@dataclass(frozen=True)
class Report:
    """name: its page below reports/; file: in the repository; about: what it answers, in a sentence; figures: its
    summary; faults: what the box "only" beside the filter is called, or nothing where there is none."""

    name: str
    file: Path
    about: str
    figures: Callable[[], list[Figure]] = list
    faults: str = ""


REPORTS = (
    Report(
        "coverage",
        ROOT / "docs" / "coverage.md",
        "Which of PyTorch's operators answer as PyTorch does, on each device, and which of its names are here.",
        coverage,
        "only what is not right",
    ),
    Report(
        "accuracy",
        ROOT / "docs" / "accuracy.md",
        "The largest error of every pointwise function, beside PyTorch's own.",
        accuracy,
        "only with a reason",
    ),
    Report(
        "compile-report",
        ROOT / "docs" / "compile-report.md",
        "What became of each op: how its gradient came about, its kernels, its bytes.",
        compiled,
    ),
    Report(
        "speed",
        ROOT / "bench" / "README.md",
        "Milliseconds beside PyTorch's on the same machine, on a GPU and on a processor.",
    ),
)


def write(shell: Shell) -> None:
    """The reports and their index.  Raises MissingPage."""
    titles = {}
    for report in REPORTS:
        path = f"reports/{report.name}.html"
        page = guides.page(report.file, path)
        titles[report.name] = page.title
        shell.write(
            path,
            "report.html.j2",
            title=page.title,
            about=report.about,
            page=page,
            report=report,
            figures=report.figures(),
        )
        shell.found.append(Found(page.title, path, "report", report.about))
    shell.write(
        "reports/index.html",
        "reports.html.j2",
        title="Reports",
        about="What is right, how exact, how fast, and what the compiler made.",
        reports=REPORTS,
        titles=titles,
    )
