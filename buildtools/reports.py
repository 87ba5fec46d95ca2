"""The committed reports: what the build made (docs/ledger.md).  A change of it is part of a change's review."""

from __future__ import annotations

from .paths import ROOT, SOURCES

LEDGER = ROOT / "docs" / "ledger.md"


def write(ledger: str) -> None:
    """Bring docs/ledger.md up to date."""
    if not LEDGER.exists() or LEDGER.read_text(encoding="utf-8") != ledger:
        LEDGER.write_text(ledger, encoding="utf-8")


def stale(library: dsl.opdef.Library, *, update: bool = False) -> list[str]:  # noqa: F821
    """Generate the package's TypeScript and name the reports that say something else; `update` mends them."""
    from codegen import package as generator

    ledger = generator.generate(SOURCES, library)
    if LEDGER.exists() and LEDGER.read_text(encoding="utf-8") == ledger:
        return []
    if update:
        write(ledger)
        return []
    return [str(LEDGER.relative_to(ROOT))]


def summary(ledger: str) -> str:
    """The ledger's figures without its table."""
    return "\n".join(line.removeprefix("- ") for line in ledger.splitlines() if line.startswith("- "))
