"""What the hand-written TypeScript has, as TypeScript's own parser reads it (by_hand.mjs)."""

from __future__ import annotations

import json

from codegen.api.by_hand import FOLDERS, ByHand, sources
from codegen.earlier import Earlier

from . import node
from .environment import SetupError
from .paths import ROOT

SCRIPT = ROOT / "buildtools" / "by_hand.mjs"


def found(earlier: Earlier = Earlier(None)) -> ByHand:
    """Read anew only if a source changed.  Raises SetupError if there is no TypeScript to read it."""
    texts = [part for file in sources().items() for part in file]
    return earlier.get(read, "by hand", SCRIPT.read_text(encoding="utf-8"), *texts)


def read() -> ByHand:
    done = node.run([SCRIPT, *FOLDERS], cwd=ROOT)
    if done.returncode:
        raise SetupError(f"the hand-written TypeScript cannot be read:\n{done.stdout}")
    made = json.loads(done.stdout)
    exports = {module: frozenset(names) for module, names in made["exports"].items()}
    return ByHand(exports, frozenset(made["methods"]), frozenset(made["ops"]))
