"""`tensorloom build`: the modules of a project's ops, written into its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.api.project import files, project
from codegen.version import VERSION, runs_with
from dsl.text.diagnostics import DefinitionError, render

from .project import Definitions, ProjectError, files_of, load, name_of, package_of, runtime_of

MARK = "compiled by tensorloom"  # stands in the first line of what is written here


@dataclass(frozen=True)
class Built:
    """written, removed: the files that changed; note: what the user should know beside."""

    definitions: Definitions
    written: list[Path]
    removed: list[Path]
    note: str


def build(paths: Sequence[Path], out: Path, language: str = "auto", name: str = "") -> Built:
    """Compiles the definitions in these folders into `out`.  language: "ts", "js" with its types beside it, or "auto":
    TypeScript in a package that has a tsconfig.json.  name: of the project, by default its package's.  Raises
    ProjectError, whose text shows what is wrong."""
    found = files_of(paths)
    note = fitting(out)
    try:
        definitions, errors = load(found, name or name_of(out))
    except DefinitionError as e:
        raise ProjectError(str(e)) from None
    if errors:
        raise ProjectError(render(errors, definitions.sources))
    try:
        made = files(project(definitions.home, definitions.library), typescript(out, language))
    except ValueError as e:
        raise ProjectError(str(e)) from None
    written, removed = write(out, made)
    return Built(definitions, written, removed, note)


def typescript(out: Path, language: str) -> bool:
    if language != "auto":
        return language == "ts"
    package = package_of(out.resolve())
    return (package.parent if package else out).joinpath("tsconfig.json").is_file()


def fitting(out: Path) -> str:
    """What to say of the package that the modules will import.  Raises ProjectError if it is not one for them."""
    there = runtime_of(out)
    if there is None:
        return f"the package is not installed here yet: npm install tensorloom@^{VERSION}"
    version, file = there
    if not runs_with(VERSION, version):
        raise ProjectError(
            f"this is tensorloom {VERSION}, and the package in {file.parent} is {version}, which does not run what "
            f"this compiler makes.\nInstall one that fits the other:  pip install tensorloom=={version}  or  "
            f"npm install tensorloom@{VERSION}"
        )
    return ""


def write(out: Path, made: dict[str, str]) -> tuple[list[Path], list[Path]]:
    """Writes what changed, and removes what an earlier build made and no definition makes any more.  Raises
    ProjectError where a file that nobody generated is in the way."""
    texts = {out / name: text for name, text in made.items()}
    for file in texts:
        if file.exists() and not ours(file):
            raise ProjectError(f"{file} was not made by tensorloom build; it stays, and nothing is written")
    written = []
    for file, text in texts.items():
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written.append(file)
    removed = [f for f in sorted(out.glob("*.?s")) if f not in texts and ours(f)]
    for file in removed:
        file.unlink()
    return written, removed


def ours(file: Path) -> bool:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return MARK in lines.readline()
