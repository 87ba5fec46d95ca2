"""The committed reports: what the build made (docs/ledger.md).  A change of it is part of a change's review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .paths import ROOT, SOURCES

if TYPE_CHECKING:  # a heavy import, made where it is needed
    from dsl.opdef import Library

LEDGER = ROOT / "docs" / "ledger.md"


def write(ledger: str) -> None:
    """Bring docs/ledger.md up to date."""
    if not LEDGER.exists() or LEDGER.read_text(encoding="utf-8") != ledger:
        LEDGER.write_text(ledger, encoding="utf-8")


def stale(library: Library, *, update: bool = False) -> list[str]:
    """Generate the package's TypeScript and name the reports that say something else; `update` mends them."""
    from codegen.api import package as generator

    from . import by_hand

    ledger = generator.generate(SOURCES, library, by_hand.found())
    if LEDGER.exists() and LEDGER.read_text(encoding="utf-8") == ledger:
        return []
    if update:
        write(ledger)
        return []
    return [str(LEDGER.relative_to(ROOT))]


def summary(ledger: str) -> str:
    """The ledger's figures without its table."""
    return "\n".join(line.removeprefix("- ") for line in ledger.splitlines() if line.startswith("- "))
