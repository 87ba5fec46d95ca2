"""`python -m workbench`: checks files of definitions, explains kinds of errors, prints definitions."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from dsl.library import load
from dsl.text.diagnostics import CODES, did_you_mean, render, to_json
from dsl.text.explain import page
from dsl.text.highlight import EXTENSION, FILE
from dsl.text.highlight import text as highlighting
from dsl.text.parse import parse_file
from dsl.text.places import ROOT
from dsl.text.show import show
from dsl.text.syntax import Op, Schedule
from dsl.text.vocabulary import expanded

from .checkup import mistakes


def main(arguments: list[str] | None = None, program: str = "python -m workbench") -> int:
    """Runs one command; answers the exit status: 0, or 1 if there are mistakes, 2 for a wrong command, 3 if
    the compiler itself is wrong."""
    parser = argparse.ArgumentParser(prog=program, description="The op language at the command line.")
    commands = parser.add_subparsers(dest="command")
    c = commands.add_parser("check", help="report the mistakes in files of definitions")
    c.add_argument("paths", nargs="+", help="files, or folders with .op files")
    c.add_argument("--json", action="store_true", help="for editors: a list of errors")
    c.add_argument("--quick", action="store_true", help="do not run tests, nor look for reads outside a tensor")
    c = commands.add_parser("explain", help="what a kind of error means")
    c.add_argument("code", nargs="?", help="the word in error[...]; without it the kinds are listed")
    c = commands.add_parser("show", help="print a definition as it was understood")
    c.add_argument("name")
    c.add_argument("--ops", default="ops", help="the folder to look in")
    commands.add_parser("highlight", help=f"write the highlighting for editors, {FILE.parent.name}/{FILE.name}")
    a = parser.parse_args(arguments)
    if a.command is None:
        parser.print_help()
        return 0
    return {"check": check, "explain": explain, "show": definition, "highlight": highlight}[a.command](a)


def files_of(paths: list[str]) -> list[Path]:
    return [f for p in map(Path, paths) for f in (sorted(p.glob("*.op")) if p.is_dir() else [p])]


def companions(files: list[Path]) -> list[Path]:
    """The other files of definitions in their folders, whose `def`s they may call."""
    asked = {f.resolve() for f in files}
    return [f for folder in sorted({f.parent for f in asked}) for f in sorted(folder.glob("*.op")) if f not in asked]


def check(a) -> int:
    step = "reading the definitions"
    try:
        files = files_of(a.paths)
        library, errors, sources = load(files, beside=companions(files))

        def begin(what: str):
            nonlocal step
            step = what

        if not a.quick:
            errors += mistakes(library, sources, begin=begin)
    except Exception:
        return internal(step)
    if a.json:
        print(to_json(errors, sources))
    elif errors:
        print(render(errors, sources))
    else:
        print(f"no errors in {len(files)} file{'s' * (len(files) != 1)}")
    return 1 if errors else 0


def internal(step: str) -> int:
    """Says that the compiler failed, where, and where its traceback is."""
    file = ROOT / ".build" / "failure.txt"
    file.parent.mkdir(exist_ok=True)
    file.write_text(traceback.format_exc(), encoding="utf-8")
    print(
        f"the compiler failed while {step}; this is a mistake of the compiler, not of the definition.\n"
        f"What happened is written in {file.relative_to(ROOT)}",
        file=sys.stderr,
    )
    return 3


def explain(a) -> int:
    if a.code in CODES:
        print(page(a.code), end="")
    elif a.code is None:
        print("The kinds of errors are: " + " ".join(CODES))
    else:
        hint = did_you_mean(a.code, CODES) or "they are: " + " ".join(CODES)
        print(f"no kind of error is called `{a.code}`; {hint}", file=sys.stderr)
        return 2
    return 0


def definition(a) -> int:
    items = [item for f in files_of([a.ops]) for item in parse_file(f)[0]]
    names = {item.name: item for item in items if not isinstance(item, Schedule)}
    names |= {n: item for item in items if isinstance(item, Op) for n in expanded(item)}
    if a.name not in names:
        print(f"no definition is called `{a.name}`; {did_you_mean(a.name, names)}".rstrip("; "), file=sys.stderr)
        return 2
    print(show(names[a.name]), end="")
    return 0


def highlight(a) -> int:
    for file in (FILE, EXTENSION):
        file.write_text(highlighting(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
