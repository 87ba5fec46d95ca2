"""What the texts of a nest mention: words of the uniform, and other names.

Nothing else says what a kernel needs of the call's environment: the package finds the same in the same texts (runtime/notation.ts)."""

from __future__ import annotations

import re

from ..host.model import Code

TOKEN = re.compile(r"\d[\w.]*|([A-Za-z_][\w.]*)(\(?)")
FIELD = "p."


def texts(code: Code | None) -> list[str]:
    """The texts of a nest for one class of T."""
    if code is None: return []
    return [*(t for a in code.accesses for t in (*a.index, a.guard, a.fallback)), *(t for s in code.steps for t in (s.body, s.pred))]


def mentioned(given: list[str]) -> tuple[list[str], list[str]]:
    """(words of the uniform, without the `p.`, other names but those of functions), as the texts write them, by the alphabet."""
    names = {name for name, call in TOKEN.findall(" ".join(given)) if name and not call}
    words = sorted(name.removeprefix(FIELD) for name in names if name.startswith(FIELD))
    return words, sorted(name for name in names if not name.startswith(FIELD))


def as_defined(name: str) -> str:
    """The name in a definition that kernels write so: see host/names.py."""
    return name.removesuffix("_")
