"""How much the tests notice: each of some random mutations gets a build and the tests, until one fails.

A mutation runs in a copy of the working tree, so that nothing here changes.  Test files run quickest first, by the times of a run
without mutations, which must be green.  A mutation that no test notices is printed last: either nothing changed by it (a faster
way, a message), or a test is missing."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from .environment import SetupError, say
from .mutations import Mutation, draw
from .paths import BUILD, CACHE, EARLIER, NODE_MODULES, ROOT, VENV

FOLDER = BUILD / "mutants"
BUILDING = [sys.executable, "-c", "from buildtools import package; package.build()"]
TESTING = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=line", "--rootdir"]
MOST = 3600         # seconds for a mutation; one that takes longer hangs, which is noticed


@dataclass(frozen=True)
class Verdict:
    """noticed: by what; empty if by nothing."""
    mutation: Mutation
    noticed: str
    seconds: float


def mutate(count: int, seed: int, only: str = "", jobs: int = 1) -> int:
    """Try so many mutations, `jobs` at a time; print each verdict and the share that was noticed.  0 if all were."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    order, chosen = tests_by_time(), draw(count, seed, only)
    say(f"{len(chosen)} mutations, {jobs} at a time; seed {seed}")
    copies: queue.Queue[Path] = queue.Queue()
    for n in range(jobs): copies.put(copy(FOLDER / str(n)))
    verdicts: list[Verdict] = []

    def trial(mutation: Mutation) -> None:
        folder = copies.get()
        try: verdict = tried(mutation, folder, order)
        finally: copies.put(folder)
        verdicts.append(verdict)
        print(f"{len(verdicts):4} {mutation}: {verdict.noticed or 'NOT NOTICED'} ({verdict.seconds:.0f} s)", flush=True)

    with ThreadPoolExecutor(jobs) as pool: list(pool.map(trial, chosen))
    missed = [v for v in verdicts if not v.noticed]
    (FOLDER / f"seed-{seed}.json").write_text(json.dumps([{"mutation": str(v.mutation), "noticed": v.noticed, "seconds": v.seconds} for v in verdicts], indent=1))
    print(f"noticed: {len(verdicts) - len(missed)} of {len(verdicts)}", *(f"not noticed: {v.mutation}" for v in missed), sep="\n")
    return 1 if missed else 0


def tests_by_time() -> list[str]:
    """The test files, the quickest first.  Runs all of them once, if that was not done in this checkout."""
    report = FOLDER / "clean.xml"
    if not report.exists():
        say("running all tests without a mutation, for their times")
        done = subprocess.run([*TESTING, str(ROOT), "tests", "--numprocesses=auto", "--dist=worksteal", f"--junitxml={report}"], cwd=ROOT)
        if done.returncode:
            report.unlink(missing_ok=True)
            raise SetupError("mutations tell nothing where tests fail without them")
    seconds: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        seconds[file] = seconds.get(file, 0) + float(case.get("time", 0))
    return sorted((file for file in seconds if (ROOT / file).exists()), key=lambda file: seconds[file])


def copy(folder: Path) -> Path:
    """The working tree in another folder, with what was set up for this one."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if not (ROOT / name).is_file(): continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    for shared in (VENV, NODE_MODULES, CACHE):
        if shared.exists(): (folder / shared.name).symlink_to(shared)
    if EARLIER.exists(): shutil.copytree(EARLIER, folder / EARLIER.relative_to(ROOT))
    return folder


def tried(mutation: Mutation, folder: Path, order: list[str]) -> Verdict:
    """Builds and tests a copy with the mutation, and takes it back."""
    start, file = time.monotonic(), folder / mutation.file
    before = file.read_text()
    try:
        mutation.apply(folder)
        noticed = failed(BUILDING, folder, MOST) and "the build"
        if not noticed:
            files = [f for f in order if concerned(f, mutation)]
            output = failed([*TESTING, str(folder), "-x", *files], folder, MOST)
            noticed = output and next((line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))), "the tests")
    finally: file.write_text(before)
    return Verdict(mutation, noticed, time.monotonic() - start)


def concerned(test: str, mutation: Mutation) -> bool:
    """Whether a test file can notice the mutation: what is only TypeScript is noticed in the package, or by who reads it."""
    return not mutation.file.endswith(".ts") or any(word in (ROOT / test).read_text() for word in ("dist", "runtime"))


def failed(command: list[str], folder: Path, most: float) -> str:
    """What a command says that fails or hangs; empty if all is well."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", start_new_session=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    try: output, _ = process.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "FAILED it hangs"
    return (output or "it failed") if process.returncode else ""
