"""How much the tests notice: each of some random mutations gets a build and the tests, until one fails.

Each mutation has a copy of the working tree (`trial`), so that nothing here changes and many can be tried side by side.
The tests that are likeliest to notice it (`nearest`) run first, for all mutations; those that are still unnoticed meet
all others, the quickest first, as far as time allows.  Which tests there are, and their times, are those of a run
without mutations; what failed there tells nothing and is left out.  A mutation that no test notices is printed last:
either nothing changed by it (a faster way, a message), or a test is missing."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

from ..environment import SetupError, say
from ..paths import ROOT
from . import executed, nearest
from .mutations import Mutation
from .trial import (
    EQUIVALENT,
    FOLDER,
    HANGS,
    NOTICED,
    TESTING,
    UNFINISHED,
    UNNOTICED,
    Part,
    Verdict,
    copy,
    needs_package,
    tried,
)

AT_ONCE = 30  # seconds of tests that run in one process
BY_TIME = (HANGS, "the build hangs")  # to be looked at where the machine is busy


@dataclass(frozen=True)
class Clean:
    """Of a run without mutations.  seconds: of each test that passed, by its address (tests/test_x.py::test_y[z]).
    places: what each ran of the package's modules (`executed`)."""

    seconds: dict[str, float]
    failed: list[str]
    places: dict[str, dict[str, executed.Spans]] = field(default_factory=dict)


def mutate(chosen: list[Mutation], jobs: int, report: Path, near: bool = False, seconds: float = float("inf")) -> int:
    """Try mutations, `jobs` at a time; print each verdict and the share that was noticed.  0 if all were.

    near: with the likeliest tests alone.  seconds: for everything; what is left after the likeliest tests is divided
    among those that they did not notice.  The verdicts are lines of JSON in the file `report`; what a mutation there
    has met already, it does not meet again."""
    begun = time.monotonic()
    report.parent.mkdir(parents=True, exist_ok=True)
    clean, known = clean_run(), read(report, chosen)
    say(
        f"{len(chosen)} mutations, {jobs} at a time; {len(clean.seconds)} tests, {len(clean.failed)} left out that "
        "fail without a mutation"
    )
    verdicts = {m: known.get(m) or Verdict(m, UNFINISHED, "", 0) for m in chosen}
    # A change of the compiler builds everything anew: in a short time, others have more verdicts.
    order = sorted(chosen, key=lambda m: m.file.endswith(".py"))
    writing = threading.Lock()

    def unfinished() -> list[Mutation]:
        return [m for m in order if verdicts[m].outcome == UNFINISHED]

    def trials(some: list[Mutation], last: Callable[[], float], only_near: bool) -> None:
        def one(mutation: Mutation) -> None:
            done = verdicts[mutation].passed

            def choose(built: Path | None) -> list[Part]:
                near_tests, others = selection(mutation, clean, built)
                return near_tests if only_near else near_tests + others

            try:
                verdict = tried(mutation, place(mutation), choose, done, last())
            except Exception:  # of the trial itself, which says nothing of the tests; the others go on
                traceback.print_exc()
                verdict = Verdict(mutation, UNFINISHED, "", 0, done)
            if only_near and verdict.outcome == UNNOTICED:
                verdict = replace(verdict, outcome=UNFINISHED)
            with writing:
                verdicts[mutation] = verdict
                with report.open("a") as file:
                    print(verdict.line(), file=file)
                print(verdict, flush=True)

        free = iter(range(jobs))
        with ThreadPoolExecutor(jobs, initializer=lambda: keep_to(next(free), jobs)) as pool:
            list(pool.map(one, some))

    end = begun + seconds
    trials(unfinished(), lambda: end, True)
    if unfinished() and not near:
        each = (end - time.monotonic()) / -(-len(unfinished()) // jobs)
        trials(unfinished(), lambda: time.monotonic() + each, False)
    for m in chosen:
        if verdicts[m].outcome != UNFINISHED:
            shutil.rmtree(place(m), ignore_errors=True)
    print(summary([verdicts[m] for m in chosen]))
    return 1 if any(v.outcome in (UNNOTICED, UNFINISHED) for v in verdicts.values()) else 0


def summary(verdicts: list[Verdict]) -> str:
    """The share that was noticed of what changes anything, and what was not."""
    count = Counter(v.outcome for v in verdicts)
    changing = len(verdicts) - count[EQUIVALENT]
    lines = [f"noticed: {count[NOTICED]} of {changing} that change anything ({count[EQUIVALENT]} change nothing)"]
    if late := sum(v.by in BY_TIME for v in verdicts):
        lines.append(f"by time alone: {late}")
    return "\n".join(lines + [f"{v.outcome}: {v.mutation}" for v in verdicts if v.outcome in (UNNOTICED, UNFINISHED)])


def place(mutation: Mutation) -> Path:
    """The folder of its copy."""
    return FOLDER / hashlib.sha256(str(mutation).encode()).hexdigest()[:12]


def keep_to(number: int, jobs: int) -> None:
    """Keeps one of several jobs, and what it starts, to its share of the cores: each build would use all of them."""
    if sys.platform == "linux" and jobs > 1:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, set(cores[number::jobs]) or {cores[number % len(cores)]})  # of this thread


def read(report: Path, chosen: Iterable[Mutation]) -> dict[Mutation, Verdict]:
    """What a report says already: the last verdict on each mutation."""
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    last = {line["mutation"]: line for line in lines}
    return {
        m: Verdict(m, line["outcome"], line["by"], line["seconds"], line["passed"], line["said"], line["same"])
        for m in chosen
        if (line := last.get(str(m)))
    }


def clean_run() -> Clean:
    """What all tests say without a mutation.  They run once in a checkout; removing .build/mutants/clean.xml has them
    run again."""
    report, places = FOLDER / "clean.xml", FOLDER / "places"
    if not report.exists():
        say("running all tests without a mutation, for their times")
        folder = copy(FOLDER / "clean")  # a copy as those with mutations: what fails for that tells nothing
        executed.in_modules(folder / "dist")
        shutil.rmtree(places, ignore_errors=True)
        places.mkdir(parents=True)
        parallel = ["--numprocesses=auto", "--dist=worksteal", "-p", executed.__name__, f"--junitxml={report}"]
        subprocess.run(
            [*TESTING, str(folder), "tests", *parallel], cwd=folder, env={**os.environ, executed.PLACES: str(places)}
        )
        shutil.rmtree(folder)
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
    return Clean(passed, failed, executed.read(places))


def selection(mutation: Mutation, clean: Clean, built: Path | None = None) -> tuple[list[Part], list[Part]]:
    """The tests for a mutation, in parts: the likeliest to notice it, and all others, the quickest first.  built: the
    package of it; with that, the likeliest are those that run what it changes there, as long as they are quick."""
    files = {test.partition("::")[0] for test in clean.seconds}
    concern = {file for file in files if concerned(file, mutation)}
    quickest = sorted(clean.seconds, key=clean.seconds.__getitem__)
    running = executed.running(clean.places, executed.changes(ROOT / "dist", built)) if built else set()
    if running:
        running |= {test for test in quickest if test.startswith(nearest.TYPES)}
        spent = itertools.accumulate(clean.seconds[t] for t in quickest if t in running)
        first = [t for t, seconds in zip((t for t in quickest if t in running), spent) if seconds <= nearest.RUNNING]
        first = nearest.addresses(first, clean.failed)
    else:
        first = nearest.first(mutation, clean.seconds, clean.failed)
    before = set(first)
    others = [
        test for test in quickest if test.partition("::")[0] in concern and not before & {test, test.partition("[")[0]}
    ]
    others.sort(key=lambda test: test not in running)
    return list(parts(first, clean)), list(parts(nearest.addresses(others, clean.failed), clean))


def parts(tests: Iterable[str], clean: Clean) -> Iterator[Part]:
    """Tests, as many together as one process runs in AT_ONCE, file by file; those that need no package are first."""
    cases: dict[str, float] = {}
    for test, seconds in clean.seconds.items():
        function = test.partition("[")[0]
        cases[function] = cases.get(function, 0.0) + seconds
    given = list(tests)
    for package in (False, True):
        part, spent = list[str](), 0.0
        for test in given:
            if needs_package(test.partition("::")[0]) != package:
                continue
            seconds = clean.seconds.get(test, cases.get(test, 1.0))
            if part and spent + seconds > AT_ONCE:
                yield Part(sorted(part, key=lambda t: t.partition("::")[0]), spent, package)
                part, spent = [], 0.0
            part.append(test)
            spent += seconds
        if part:
            yield Part(sorted(part, key=lambda t: t.partition("::")[0]), spent, package)


def concerned(test: str, mutation: Mutation) -> bool:
    """Whether a test file can notice the mutation: what is only TypeScript is noticed in the package, or by who reads
    it."""
    return not mutation.file.endswith(".ts") or any(word in (ROOT / test).read_text() for word in ("dist", "runtime"))
