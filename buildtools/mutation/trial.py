"""One mutation: a copy of the working tree with it, a build there, and tests until one fails.

Tests that need no package run before the build, which takes most of the time.  A mutation whose package is what it is
without it, byte for byte, changes nothing, if it is no change of the compiler, whose own words may differ.  A test
that fails must fail again alone: one that fails now and then says nothing."""

from __future__ import annotations

import difflib
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..paths import BUILD, CACHE, NODE_MODULES, ROOT, VENV
from .mutations import Mutation

FOLDER = BUILD / "mutants"
BUILDING = [sys.executable, "-c", "from buildtools import package; package.build()"]
TESTING = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=line", "--rootdir"]
MOST = 600  # seconds for a build
SLOWER = 4  # times as long as without mutations, and a minute: what takes longer than that hangs
SET_UP = (VENV, NODE_MODULES, CACHE)
KEPT = ("src", "earlier")  # what a build goes on from, and what it is made of: not websites and weights
HANGS = "FAILED it hangs"
BUILT = ".built"  # a file in a copy that is built
SAID = 3000  # characters at the end of what a failure says
NOTICED, UNNOTICED, UNFINISHED, EQUIVALENT = "noticed", "unnoticed", "unfinished", "changes nothing"
PACKAGE = re.compile(r"dist|DIST|node|site|documentation|browser|opened|\.mjs|package\.build")
COMPILER = re.compile(r"\b(dsl|codegen|workbench|buildtools|tensorloom|front|interpreter\w*|random_definitions)\b")


class Part(NamedTuple):
    """Tests for one process, the seconds that they take, and whether they need the package."""

    tests: list[str]
    seconds: float
    package: bool = True


@dataclass(frozen=True)
class Verdict:
    """outcome: NOTICED, UNNOTICED by any test, UNFINISHED when time was over, or EQUIVALENT.  by: what noticed it.
    passed: how many parts of its tests did not (`selection`).  said: the end of what the build or the test said.
    same: whether its package is the one without it."""

    mutation: Mutation
    outcome: str
    by: str
    seconds: float
    passed: int = 0
    said: str = ""
    same: bool = False

    def __str__(self) -> str:
        return f"{self.mutation}: {self.by or self.outcome} ({self.seconds:.0f} s)"

    def line(self) -> str:
        """For the report: JSON."""
        m = self.mutation
        return json.dumps(
            {
                "mutation": str(m),
                "outcome": self.outcome,
                "by": self.by,
                "seconds": round(self.seconds),
                "passed": self.passed,
                "same": self.same,
                "said": self.said,
                "diff": diff(m),
            }
        )


def diff(mutation: Mutation) -> str:
    """What it changes, as `diff -u` shows it."""
    before = (ROOT / mutation.file).read_text()
    after = mutation.of(before)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), mutation.file, mutation.file, n=2)
    return "".join(lines)


@cache
def needs_package(file: str) -> bool:
    """Whether a test file asks for what a build makes."""
    return bool(PACKAGE.search((ROOT / file).read_text()))


@cache
def sees_compiler(file: str) -> bool:
    """Whether a test file asks for more than what a build makes."""
    return bool(COMPILER.search((ROOT / file).read_text()))


def copy(folder: Path) -> Path:
    """The working tree in another folder, with what was set up and built for this one."""
    shutil.rmtree(folder, ignore_errors=True)

    def left_out(at: str, names: list[str]) -> set[str]:
        inside = Path(at).relative_to(ROOT).parts
        if inside == (BUILD.name,):
            return {n for n in names if not n.startswith(KEPT)}
        top = {n for n in names if n.startswith(".") and n not in (BUILD.name, ".ci", ".gitignore")}
        return {n for n in names if n == "__pycache__" or not inside and (n in top or ROOT / n in SET_UP)}

    shutil.copytree(ROOT, folder, ignore=left_out)
    for shared in SET_UP:
        if shared.exists():
            (folder / shared.name).symlink_to(shared)
    return folder


def tried(
    mutation: Mutation, folder: Path, choose: Callable[[Path | None], list[Part]], passed: int, last: float
) -> Verdict:
    """Runs tests until `last` on a copy with the mutation, in `folder`, which is made if it is not there, and built
    for the first part that needs that; it stays as long as time alone ended a trial.

    choose: the tests, for a mutation of TypeScript by the package that is built of it.  passed: how many of the parts
    need not run."""
    begun = time.monotonic()
    built, by, said = folder / BUILT, "", ""

    def verdict(outcome: str) -> Verdict:
        return Verdict(mutation, outcome, by, time.monotonic() - begun, passed, said[-SAID:], same)

    same = built.exists() and built.read_text() == "same"
    if begun >= last:
        return verdict(UNFINISHED)
    if not folder.exists():
        made = copy(folder.with_suffix(".part"))
        mutation.apply(made)
        made.rename(folder)  # a copy that was interrupted is not taken for one
    typescript = mutation.file.endswith(".ts")
    tests = [] if typescript else choose(None)
    while passed < len(tests) or not built.exists() or typescript:
        if built.exists() and typescript:
            tests, typescript = choose(folder / "dist"), False
            continue
        part = tests[passed] if passed < len(tests) else None
        if not built.exists() and (part is None or part.package):
            said = build(folder, last)
            if said == UNFINISHED:
                said = ""
                return verdict(UNFINISHED)
            if said:
                by = "the build hangs" if said == HANGS else "the build"
                break
            same = same_package(folder)
            built.write_text("same" if same else "other")
            if same and not mutation.file.endswith(".py"):
                shutil.rmtree(folder)
                return verdict(EQUIVALENT)
            continue
        assert part is not None
        # A package that is the same shows nothing new to tests that see nothing else.
        seen = [t for t in part.tests if not same or sees_compiler(t.partition("::")[0])]
        found = run(folder, Part(seen, part.seconds, part.package), last) if seen else ("", "")
        if found is None:
            return verdict(UNFINISHED)
        by, said = found
        if by:
            break
        passed += 1
    if by:
        shutil.rmtree(folder)
    return verdict(NOTICED if by else UNNOTICED)


def build(folder: Path, last: float) -> str:
    """What a build of a copy says that fails or hangs; empty if all is well, UNFINISHED if time was over first or the
    machine stopped it."""
    left = last - time.monotonic()
    if left <= 0:
        return UNFINISHED
    said = failed(BUILDING, folder, min(left, MOST))
    return UNFINISHED if said == HANGS and left < MOST or said.startswith(KILLED) else said


def same_package(folder: Path) -> bool:
    """Whether a copy's package is that of the tree that it is a copy of, but for maps to the sources."""
    one, other = ROOT / "dist", folder / "dist"
    names = [
        {file.relative_to(d).as_posix() for file in d.rglob("*") if file.is_file() and file.suffix != ".map"}
        for d in (one, other)
    ]
    return names[0] == names[1] and all(filecmp.cmp(one / n, other / n, shallow=False) for n in names[0])


def run(folder: Path, part: Part, last: float) -> tuple[str, str] | None:
    """Which test of a part fails in a copy with a mutation, also when it runs once more, and what it says; empty texts
    if none does, None if time was over first."""
    tests, alone = part.tests, False
    for _ in range(5):
        arguments = folder / "tests.txt"
        arguments.write_text("\n".join(tests))
        left, most = last - time.monotonic(), 60 + SLOWER * part.seconds
        if left <= 0:
            return None
        # A test that is not there any more (4, 5) is no failure.
        output = failed([*TESTING, str(folder), "-x", f"@{arguments}"], folder, min(left, most), fine=(0, 4, 5))
        if output == HANGS:
            return None if left < most else (HANGS, output)
        found = [line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        by = found[0] if found else "the tests" if output else ""
        if alone and by or not by and not alone:
            return by, output
        tests, alone = (part.tests, False) if alone else ([by.partition(" ")[2]] if found else part.tests, True)
    return by, output


KILLED = "it was killed"


def failed(command: list[str], folder: Path, most: float, fine: tuple[int, ...] = (0,)) -> str:
    """What a command says that fails or hangs; empty if all is well.  fine: exit statuses of those that do not fail."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        output, _ = process.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return HANGS
    if process.returncode == -signal.SIGKILL:  # for want of memory
        return f"{KILLED}: {output}"
    return "" if process.returncode in fine else output or "it failed"
