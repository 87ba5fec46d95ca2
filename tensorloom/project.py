"""The definitions of a project: a folder of .op files beside the code of a package that depends on `tensorloom`.

They may call the library's ops, and are found in the project's own package. Nothing is written here."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dsl.catalogue import Catalogue, hidden
from dsl.gradients import adjoint
from dsl.library import definition_files, lower
from dsl.opdef import Library, OpDef
from dsl.text.diagnostics import Error
from dsl.text.home import home_of
from dsl.text.parse import parse_file
from dsl.text.places import OPS
from dsl.text.source import Source
from workbench.checkup import mistakes
from workbench.function import Function, standard

INSTANCES = 10  # small cases of each op in which reads outside a tensor are looked for
OWN_NAMES = ("index",)  # of modules that are written beside those of the files


class ProjectError(Exception):
    """What keeps a project from being compiled; the text is for its author."""


@dataclass(frozen=True)
class Definitions:
    """home: the project's name in messages.  library: its ops, which may call those of `everything`."""

    home: str
    library: Library
    everything: Library
    sources: list[Source]

    def source(self, op: OpDef) -> Source:
        return next(s for s in self.sources if Path(s.path).stem == op.file)

    def function(self, name: str, on: str | None = None) -> Function:
        """One of its ops as a Python function."""
        op = self.library.ops[name]
        return Function(op, self.everything, self.source(op), on)


def files_of(paths: Iterable[Path], modules: bool = True) -> list[Path]:
    """The files of definitions in folders, or files.  modules: each is to become one of the project's.  Raises
    ProjectError where there are none."""
    found: list[Path] = []
    for path in paths:
        files = definition_files(path)
        if not path.exists() or not files:
            raise ProjectError(
                f"{path}: there is no .op file in this folder" if path.is_dir() else f"{path}: there is no such folder"
            )
        found += files
    stems: dict[str, Path] = {}
    for file in found if modules and not is_library(found) else ():
        if stems.setdefault(file.stem, file) != file:
            raise ProjectError(f"{file} and {stems[file.stem]} would be one module; call one of them otherwise")
        if not re.fullmatch(r"[A-Za-z]\w*", file.stem) or file.stem in OWN_NAMES:
            raise ProjectError(f"{file}: a module gets the file's name; call it otherwise, with letters, digits and _")
    return found


def is_library(files: Iterable[Path]) -> bool:
    """Whether these are the library's own definitions."""
    return all(f.resolve().parent == OPS for f in files)


def load(
    files: Sequence[Path], home: str, instances: int = INSTANCES, tests: bool = True
) -> tuple[Definitions, list[Error]]:
    """The definitions, and their mistakes: tests that fail and, in so many small random instances of each op, reads
    outside a tensor are among them.  tests: whether those are run, and gradients made.  The library's own files are
    taken as its own.  Raises DefinitionError for a gradient that cannot be."""
    shelf = Catalogue(definition_files(OPS))
    parsed = [parse_file(f) for f in files]
    library, errors, sources = lower(parsed, [f.stem for f in files], shelf, home="" if is_library(files) else home)
    errors += [] if is_library(files) else hidden(parsed, shelf)
    everything = Library(ChainMap(dict(library.ops), shelf.ops), shelf.library.schedules)
    if tests and not errors:
        errors += mistakes(everything, sources, instances, ops=list(library.ops.values()))
        for op in library.ops.values() if not errors else ():
            adjoint.complete(op)
    return Definitions(home, library, everything, sources), errors


# --- The package that the project is ---------------------------------------------------------------


def package_of(folder: Path) -> Path | None:
    """The package.json of the package that a folder belongs to."""
    return next((f for p in (folder, *folder.parents) if (f := p / "package.json").is_file()), None)


def name_of(folder: Path) -> str:
    """What ops of the package that a folder belongs to are called in messages."""
    file = package_of(folder.resolve())
    return home_of((read(file).get("name") or file.parent.name) if file else folder.resolve().name)


def read(file: Path) -> dict:
    """Raises ProjectError for what is no JSON."""
    try:
        made = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise ProjectError(f"{file} cannot be read: {e}") from None
    return made if isinstance(made, dict) else {}


def runtime_of(folder: Path) -> tuple[str, Path] | None:
    """The version of the package `tensorloom` that code in a folder imports, and where it is."""
    resolved = folder.resolve()
    for p in (resolved, *resolved.parents):
        file = p / "node_modules" / "tensorloom" / "package.json"
        if file.is_file():
            return str(read(file).get("version", "?")), file
    return None


def library_names() -> list[str]:
    """The names of the library's ops, as formulas call them."""
    return [*standard().trees]
