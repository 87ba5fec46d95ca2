"""How much the tests notice: each of some random mutations gets a build and the tests, until one fails.

Each mutation has a copy of the working tree, so that nothing here changes and many can be tried side by side.  The
tests that are likeliest to notice it (`nearest`) run first, for all mutations; those that are still unnoticed meet all
others, the quickest first, as far as time allows.  Which tests there are, and their times, are those of a run without
mutations; what failed there tells nothing and is left out.  A mutation that no test notices is printed last: either
nothing changed by it (a faster way, a message), or a test is missing."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from ..environment import SetupError, say
from ..paths import BUILD, CACHE, NODE_MODULES, ROOT, VENV
from . import nearest
from .mutations import Mutation

FOLDER = BUILD / "mutants"
BUILDING = [sys.executable, "-c", "from buildtools import package; package.build()"]
TESTING = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=line", "--rootdir"]
MOST = 600  # seconds for a build; one that takes longer hangs, which is noticed
AT_ONCE = 30  # seconds of tests that run in one process
SLOWER = 4  # times as long as without mutations, and a minute: what takes longer than that hangs
SET_UP = (VENV, NODE_MODULES, CACHE)
HANGS = "FAILED it hangs"
Part = tuple[list[str], float]  # tests for one process, and the seconds that they take
NOTICED, UNNOTICED, UNFINISHED = "noticed", "unnoticed", "unfinished"


@dataclass(frozen=True)
class Verdict:
    """outcome: NOTICED, UNNOTICED by any test, or UNFINISHED when time was over.  by: what noticed it.  passed: how
    many parts of its tests did not (`selection`)."""

    mutation: Mutation
    outcome: str
    by: str
    seconds: float
    passed: int = 0

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
                "diff": diff(m),
            }
        )


@dataclass(frozen=True)
class Clean:
    """Of a run without mutations.  seconds: of each test that passed, by its address (tests/test_x.py::test_y[z])."""

    seconds: dict[str, float]
    failed: list[str]


def mutate(chosen: list[Mutation], jobs: int, report: Path, near: bool = False, seconds: float = float("inf")) -> int:
    """Try mutations, `jobs` at a time; print each verdict and the share that was noticed.  0 if all were.

    near: with the likeliest tests alone.  seconds: for everything; what is left after the likeliest tests is divided
    among those that they did not notice.  The verdicts are lines of JSON in the file `report`; what a mutation there
    has met already, it does not meet again."""
    begun = time.monotonic()
    report.parent.mkdir(parents=True, exist_ok=True)
    clean, known = clean_run(), read(report)
    say(
        f"{len(chosen)} mutations, {jobs} at a time; {len(clean.seconds)} tests, {len(clean.failed)} left out that "
        "fail without a mutation"
    )
    outcomes = {str(m): known[str(m)][0] if str(m) in known else UNFINISHED for m in chosen}
    passed = {str(m): known[str(m)][1] if str(m) in known else 0 for m in chosen}
    # A change of the compiler builds everything anew: what takes longest begins first.
    order = sorted(chosen, key=lambda m: not m.file.endswith(".py"))
    writing = threading.Lock()

    def unfinished() -> list[Mutation]:
        return [m for m in order if outcomes[str(m)] == UNFINISHED]

    def trials(some: list[Mutation], last: Callable[[], float], only_near: bool) -> None:
        def one(mutation: Mutation) -> None:
            name, done = str(mutation), passed[str(mutation)]
            try:
                near_tests, others = selection(mutation, clean)
                tests = near_tests if only_near else near_tests + others
                verdict = tried(mutation, FOLDER / str(chosen.index(mutation)), tests, done, last())
            except Exception:  # of the trial itself, which says nothing of the tests; the others go on
                traceback.print_exc()
                verdict = Verdict(mutation, UNFINISHED, "", 0, done)
            if only_near and verdict.outcome == UNNOTICED:
                verdict = replace(verdict, outcome=UNFINISHED)
            with writing:
                outcomes[name], passed[name] = verdict.outcome, verdict.passed
                with report.open("a") as file:
                    print(verdict.line(), file=file)
                print(verdict, flush=True)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, some))

    end = begun + seconds
    trials([m for m in unfinished() if not passed[str(m)]], lambda: end, True)
    if unfinished() and not near:
        each = (end - time.monotonic()) / -(-len(unfinished()) // jobs)
        trials(unfinished(), lambda: time.monotonic() + each, False)
    for n in range(len(chosen)):
        shutil.rmtree(FOLDER / str(n), ignore_errors=True)
    missed = [m for m in chosen if outcomes[str(m)] != NOTICED]
    print(
        f"noticed: {len(chosen) - len(missed)} of {len(chosen)}",
        *(f"{outcomes[str(m)]}: {m}" for m in missed),
        sep="\n",
    )
    return 1 if missed else 0


def read(report: Path) -> dict[str, tuple[str, int]]:
    """What a report says already: the last outcome of each mutation, and how many parts of its tests passed."""
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    return {line["mutation"]: (line["outcome"], line["passed"]) for line in lines}


def diff(mutation: Mutation) -> str:
    """What it changes, as `diff -u` shows it."""
    before = (ROOT / mutation.file).read_text()
    after = mutation.of(before)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), mutation.file, mutation.file, n=2)
    return "".join(lines)


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
        file = f"{case.get('classname', '').replace('.', '/')}.py"
        if not (ROOT / file).exists():
            continue
        test = f"{file}::{case.get('name')}"
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


def selection(mutation: Mutation, clean: Clean) -> tuple[list[Part], list[Part]]:
    """The tests for a mutation, in parts: the likeliest to notice it, and all others, the quickest first."""
    first = nearest.first(mutation, clean.seconds, clean.failed)
    files = {test.partition("::")[0] for test in clean.seconds}
    concern, before = {file for file in files if concerned(file, mutation)}, set(first)
    others = [
        test
        for test in sorted(clean.seconds, key=clean.seconds.__getitem__)
        if test.partition("::")[0] in concern and not before & {test, test.partition("[")[0]}
    ]
    return list(parts(first, clean)), list(parts(nearest.addresses(others, clean.failed), clean))


def tried(mutation: Mutation, folder: Path, tests: list[Part], passed: int, last: float) -> Verdict:
    """Runs tests until `last` on a copy with the mutation, in `folder`, which is made and built if it is not there; it
    stays as long as time alone ended a trial.

    passed: how many of the parts need not run."""
    begun = time.monotonic()
    by: str | None = ""
    if not folder.exists():
        copy(folder)
        mutation.apply(folder)
        by = built(folder, last)
        if by is None:
            shutil.rmtree(folder)
    while by == "" and passed < len(tests):
        by = run(folder, tests[passed], last)
        passed += by == ""
    if by:
        shutil.rmtree(folder)
    outcome = UNFINISHED if by is None else NOTICED if by else UNNOTICED
    return Verdict(mutation, outcome, by or "", time.monotonic() - begun, passed)


def built(folder: Path, last: float) -> str | None:
    """What a build of a copy says that fails or hangs, in a word; empty if all is well, None if time was over first."""
    left = last - time.monotonic()
    said = failed(BUILDING, folder, min(left, MOST)) if left > 0 else HANGS
    return None if said == HANGS and left < MOST else "the build" if said else ""


def parts(tests: Iterable[str], clean: Clean) -> Iterator[Part]:
    """Tests, as many together as one process runs in AT_ONCE, file by file; with the seconds they take."""
    cases: dict[str, float] = {}
    for test, seconds in clean.seconds.items():
        function = test.partition("[")[0]
        cases[function] = cases.get(function, 0.0) + seconds
    part, spent = list[str](), 0.0
    for test in tests:
        seconds = clean.seconds.get(test, cases.get(test, 1.0))
        if part and spent + seconds > AT_ONCE:
            yield sorted(part, key=lambda t: t.partition("::")[0]), spent
            part, spent = [], 0.0
        part.append(test)
        spent += seconds
    if part:
        yield sorted(part, key=lambda t: t.partition("::")[0]), spent


def run(folder: Path, part: Part, last: float) -> str | None:
    """Which test of a part fails in a copy with a mutation; empty if none does, None if time was over first."""
    tests, seconds = part
    arguments = folder / "tests.txt"
    arguments.write_text("\n".join(tests))
    left, most = last - time.monotonic(), 60 + SLOWER * seconds
    if left <= 0:
        return None
    # A test that is not there any more (4, 5) is no failure.
    output = failed([*TESTING, str(folder), "-x", f"@{arguments}"], folder, min(left, most), fine=(0, 4, 5))
    if output == HANGS and left < most:
        return None
    found = (line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR")))
    return next(found, "the tests") if output else ""


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
        return HANGS
    return "" if process.returncode in fine else output or "it failed"
