"""How much the tests notice: each of some random mutations gets a build and the tests, until one fails.

A mutation runs in a copy of the working tree, so that nothing here changes.  The tests that are likeliest to notice it
(`nearest`) run first, in one process for each mutation; all others follow for those that are still unnoticed, in
several.  Which tests there are, and their times, are those of a run without mutations; what failed there tells nothing
and is left out.  A mutation that no test notices is printed last: either nothing changed by it (a faster way, a
message), or a test is missing."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from . import nearest
from .environment import SetupError, say
from .mutations import Mutation
from .paths import BUILD, CACHE, NODE_MODULES, ROOT, VENV

FOLDER = BUILD / "mutants"
BUILDING = [sys.executable, "-c", "from buildtools import package; package.build()"]
TESTING = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=line", "--rootdir"]
MOST = 3600  # seconds for a mutation; one that takes longer hangs, which is noticed
PROCESSES = 4  # of the tests that follow
SET_UP = (VENV, NODE_MODULES, CACHE)


@dataclass(frozen=True)
class Verdict:
    """noticed: by what; empty if by nothing."""

    mutation: Mutation
    noticed: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.mutation}: {self.noticed or 'NOT NOTICED'} ({self.seconds:.0f} s)"


@dataclass(frozen=True)
class Clean:
    """Of a run without mutations.  seconds: of each test that passed, by its address (tests/test_x.py::test_y[z])."""

    seconds: dict[str, float]
    failed: list[str]


def mutate(chosen: list[Mutation], jobs: int, name: str, near: bool = False) -> int:
    """Try mutations, `jobs` at a time; print each verdict and the share that was noticed.  0 if all were.

    near: with the likeliest tests alone.  Verdicts stay in .build/mutants/NAME.json; a mutation that is there is not
    tried again."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    clean, report = clean_run(), FOLDER / f"{name}.json"
    verdicts: dict[str, dict[str, Any]] = json.loads(report.read_text()) if report.exists() else {}
    say(
        f"{len(chosen)} mutations, {jobs} at a time; {len(clean.seconds)} tests, {len(clean.failed)} left out that "
        "fail without a mutation"
    )
    folders: queue.Queue[Path] = queue.Queue()
    for n in range(jobs):
        folders.put(copy(FOLDER / str(n)))

    def trial(trying: Callable[[Mutation, Path, Clean], Verdict], stage: str, mutation: Mutation) -> None:
        folder = folders.get()
        try:
            verdict = trying(mutation, folder, clean)
        finally:
            folders.put(folder)
        verdicts[str(mutation)] = {"noticed": verdict.noticed, "by": stage, "seconds": round(verdict.seconds)}
        report.write_text(json.dumps(verdicts, indent=1))
        print(f"{len(verdicts):4} {stage} {verdict}", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(partial(trial, tried_near, "near"), [m for m in chosen if str(m) not in verdicts]))

    def missed() -> list[Mutation]:
        return [m for m in chosen if not verdicts[str(m)]["noticed"]]

    with ThreadPoolExecutor(max(1, jobs // PROCESSES)) as pool:
        if not near:
            list(pool.map(partial(trial, tried_far, "all"), [m for m in missed() if verdicts[str(m)]["by"] == "near"]))
    print(
        f"noticed: {len(chosen) - len(missed())} of {len(chosen)}", *(f"not noticed: {m}" for m in missed()), sep="\n"
    )
    return 1 if missed() else 0


def clean_run() -> Clean:
    """What all tests say without a mutation.  They run once in a checkout; removing .build/mutants/clean.xml has them
    run again."""
    report = FOLDER / "clean.xml"
    if not report.exists():
        say("running all tests without a mutation, for their times")
        subprocess.run(
            [*TESTING, str(ROOT), "tests", "--numprocesses=auto", "--dist=worksteal", f"--junitxml={report}"], cwd=ROOT
        )
    if not report.exists():
        raise SetupError("pytest did not finish")
    passed, failed = {}, []
    for case in ElementTree.parse(report).iter("testcase"):
        test = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(test)
        elif case.find("skipped") is None:
            passed[test] = float(case.get("time", 0))
    return Clean(passed, failed)


def copy(folder: Path) -> Path:
    """The working tree in another folder, with what was set up and built for this one."""
    shutil.rmtree(folder, ignore_errors=True)
    inside = FOLDER.relative_to(ROOT).parts
    left_out = lambda at, names: [
        n
        for n in names
        if (part := (Path(at) / n).relative_to(ROOT).parts) == inside
        or len(part) == 1
        and n.startswith(".")
        and n not in (BUILD.name, ".ci", ".gitignore")
        or ROOT / n in SET_UP
        or n == "__pycache__"
    ]
    shutil.copytree(ROOT, folder, ignore=left_out)
    for shared in SET_UP:
        if shared.exists():
            (folder / shared.name).symlink_to(shared)
    return folder


def tried_near(mutation: Mutation, folder: Path, clean: Clean) -> Verdict:
    """Builds a copy with the mutation and runs the likeliest tests on it."""
    return tried(mutation, folder, nearest.first(mutation, clean.seconds, clean.failed))


def tried_far(mutation: Mutation, folder: Path, clean: Clean) -> Verdict:
    """Builds a copy with the mutation and runs all other tests on it, the quickest files first."""
    by_file: dict[str, float] = defaultdict(float)
    for test, seconds in clean.seconds.items():
        by_file[test.partition("::")[0]] += seconds
    files = [f for f in sorted(by_file, key=by_file.__getitem__) if (ROOT / f).exists() and concerned(f, mutation)]
    tests = [test for f in files for test in clean.seconds if test.startswith(f"{f}::")]
    return tried(
        mutation, folder, nearest.addresses(tests, clean.failed), f"--numprocesses={PROCESSES}", "--dist=worksteal"
    )


def tried(mutation: Mutation, folder: Path, tests: list[str], *words: str) -> Verdict:
    """Builds and tests a copy with the mutation, and takes it back.  words: more for pytest."""
    start, file = time.monotonic(), folder / mutation.file
    before = file.read_text()
    try:
        mutation.apply(folder)
        noticed = failed(BUILDING, folder, MOST) and "the build"
        if tests and not noticed:  # pytest without any would run all
            arguments = folder / "tests.txt"
            arguments.write_text("\n".join([*words, *tests]))
            # A test that is not there any more (4, 5) is no failure.
            output = failed([*TESTING, str(folder), "-x", f"@{arguments}"], folder, MOST, fine=(0, 4, 5))
            noticed = output and next(
                (line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))),
                "the tests",
            )
    finally:
        file.write_text(before)
    return Verdict(mutation, noticed, time.monotonic() - start)


def concerned(test: str, mutation: Mutation) -> bool:
    """Whether a test file can notice the mutation: what is only TypeScript is noticed in the package, or by who reads
    it."""
    return not mutation.file.endswith(".ts") or any(word in (ROOT / test).read_text() for word in ("dist", "runtime"))


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
        return "FAILED it hangs"
    return "" if process.returncode in fine else output or "it failed"
