"""The committed reports: what the build made (docs/compile-report.md).  A change of it is part of a change's review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .paths import EARLIER, ROOT, SOURCES

if TYPE_CHECKING:  # a heavy import, made where it is needed
    from dsl.opdef import Library

REPORT = ROOT / "docs" / "compile-report.md"


def write(report: str) -> None:
    """Bring docs/compile-report.md up to date."""
    if not REPORT.exists() or REPORT.read_text(encoding="utf-8") != report:
        REPORT.write_text(report, encoding="utf-8")


def stale(library: Library, *, update: bool = False) -> list[str]:
    """Generate the package's TypeScript and name the reports that say something else; `update` mends them."""
    from codegen.api import package as generator
    from codegen.earlier import Earlier

    from . import by_hand
    from .package import bundled

    earlier = Earlier(EARLIER)
    report = generator.generate(SOURCES, library, by_hand.found(), earlier, bundled(earlier))
    if REPORT.exists() and REPORT.read_text(encoding="utf-8") == report:
        return []
    if update:
        write(report)
        return []
    return [str(REPORT.relative_to(ROOT))]


def summary(report: str) -> str:
    """The compile report's figures without its table."""
    return "\n".join(line.removeprefix("- ") for line in report.splitlines() if line.startswith("- "))
