"""What earlier builds made, kept on disk, so that a build makes only what changed.

A thing is found again by a digest of all that it was made from, the compiler's own sources included; so it never
has to be told what changed, and losing the folder costs time only.  What is kept is nobody's format: it is
pickled, and goes with the next change of the compiler."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from dsl.checking.recurrences import RUNS, recurs
from dsl.library import members
from dsl.text.syntax import Def, Op

Made = TypeVar("Made")

ROOT = Path(__file__).parents[1]
COMPILER = ("dsl", "codegen", "workbench", "grammar")
COMPILERS = 3  # of which things are kept: switching between two states of a checkout stays cheap
WORD = re.compile(r"[A-Za-z_]\w*")


class Earlier:
    """A folder of things made by this compiler; without a folder, everything is made anew.

    One build at a time uses an object; builds in several processes may share the folder."""

    def __init__(self, folder: Path | None):
        self.folder = folder and folder / compiler()
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        os.utime(self.folder)
        for old in sorted(folder.iterdir(), key=lambda f: f.stat().st_mtime)[:-COMPILERS]:
            shutil.rmtree(old, ignore_errors=True)

    def find(self, kind: str, *source: str):
        """What was kept of a kind under its sources, or None."""
        if not self.keeps(source):
            return None
        try:
            return pickle.loads(self.file(kind, *source).read_bytes())
        except (FileNotFoundError, EOFError, pickle.UnpicklingError):
            return None

    def has(self, kind: str, *source: str) -> bool:
        return self.keeps(source) and self.file(kind, *source).exists()

    def keeps(self, source: tuple[str, ...]) -> bool:
        """Whether things of these sources are kept: not those of a definition whose source nobody knows, which would
        be found again for any other of its name."""
        return self.folder is not None and all(source)

    def keep(self, made: Made, kind: str, *source: str) -> Made:
        if not self.keeps(source):
            return made
        file = self.file(kind, *source)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
        part.replace(file)  # so that no other process reads half of it
        return made

    def get(self, make: Callable[[], Made], kind: str, *source: str) -> Made:
        """What was kept, or what `make` makes now."""
        found = self.find(kind, *source)
        return self.keep(make(), kind, *source) if found is None else found

    def file(self, kind: str, *source: str) -> Path:
        return self.folder / f"{kind}-{digest(*source)}"


class Sources:
    """The definitions' texts: for each, a digest of all that it is made from.

    Where it stands in its file is no part of that: only messages show it, and what is kept is without mistakes."""

    def __init__(self, parsed, stems: list[str]):
        self.texts: dict[str, str] = {}
        self.stems: dict[str, str] = {}  # a definition's name -> its file
        for (items, _, source), stem in zip(parsed, stems):
            for item in items:
                names = (
                    [item.name]
                    if isinstance(item, Def)
                    else [n for n, _ in members(item)]
                    if isinstance(item, Op)
                    else []
                )
                self.texts |= dict.fromkeys(names, source.text[item.span[0] : item.span[1]])
                self.stems |= dict.fromkeys(names, stem)
        self.named = {
            name: [n for n in dict.fromkeys(WORD.findall(text)) if n in self.texts] for name, text in self.texts.items()
        }

    def of(self, item: Op) -> str:
        """The digest of a definition with its file and doc, and of the definitions that it names, and those they
        name."""
        found = dict.fromkeys(name for name, _ in members(item))
        todo = [*found]
        if recurs(item) and RUNS in self.texts:
            found[RUNS] = None
            todo.append(RUNS)
        for name in todo:
            new = [n for n in self.named[name] if n not in found]
            found |= dict.fromkeys(new)
            todo += new
        return digest(self.stems[todo[0]], item.doc, *dict.fromkeys(self.texts[n] for n in found))


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


@cache
def compiler() -> str:
    """The digest of the compiler's sources and of the Python that runs it."""
    files = [
        f for folder in COMPILER for f in (ROOT / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts
    ]
    return digest(sys.version, *(f"{f.relative_to(ROOT)}\0{f.read_text(encoding='utf-8')}" for f in sorted(files)))
