"""tests/checks on the CPU and on Dawn, and the files of tests/node, which use node's own test runner: one test per file
and device.

A process runs several files of checks, one after the other: most of what one would take on the CPU is its start, and
on a GPU they share pipelines.  One where each tensor grows memory, which takes longer with each kernel that a process
has made: WebAssembly's instances on it all learn of it.  On Dawn and there the package is loaded as one file, a third
of the time; elsewhere as Node's entry, but for settings and files that change or import modules of the package."""

import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest
from turns import turn

from buildtools import gpu, lock, node
from buildtools.mutation.executed import PLACES
from buildtools.paths import DIST

HERE = Path(__file__).parent
CHECKS = sorted(file for file in (HERE / "checks").glob("*.mjs") if file.stem != "assert")
NODE_TESTS = sorted((HERE / "node").glob("*.test.mjs"))
SETTINGS = ["moving_memory", "without_webassembly", "many_threads"]  # how the CPU device may find things otherwise
# Files in a process, on the CPU and on a GPU, where each takes longer; alone where it is noted what each test runs.
TOGETHER, FEW = (1, 1) if PLACES in os.environ else (18, 13)
ALONE = {"memory", "modes"}  # files that count what their process holds
READING = {"greedy-files"}  # files that have a reader refuse what it gets: on the CPU alone, without a setting
# Files of what a GPU does, which have no setting: the formula beside it takes the interpreter a quarter of an hour.
OF_GPUS = {"winograd"}
PARTS = {"quantised"}  # files that import modules of the package of their own, which must be of the same package

Results = dict[str, str | None]


def failures(results: Results) -> str:
    return "\n".join(f"{name}:\n  {error}" for name, error in results.items() if error)


def cases(*values: str) -> list:
    """Each file with each of them: all files with one, then all with the next."""
    return [
        pytest.param(value, file, id=f"{file.stem}-{value}")
        for value in values
        for file in CHECKS
        if value == "cpu" or file.stem not in READING and (value == "webgpu" or file.stem not in OF_GPUS)
    ]


@pytest.mark.parametrize(("device", "file"), cases("cpu", "webgpu"))
def test_checks(device, file, dist, checked):
    passes(checked(file, device, "-"))


def cases_of(commit: int | None) -> list:
    """All files in all settings, or each file in the one that is its turn."""
    everything = cases(*SETTINGS)
    if commit is None:
        return everything
    setting = {file: SETTINGS[(at + commit) % len(SETTINGS)] for at, file in enumerate(CHECKS)}
    return [case for case in everything if case.values[0] == setting[case.values[1]]]


@pytest.mark.parametrize(("setting", "file"), cases_of(turn()))
def test_checks_in_another_setting(setting, file, dist, checked):
    passes(checked(file, "cpu", setting))


def test_turns_bring_every_file_in_every_setting():
    of_turns = [case.id for commit in range(len(SETTINGS)) for case in cases_of(commit)]
    assert sorted(of_turns) == sorted(case.id for case in cases_of(None))


def passes(results: Results | str) -> None:
    assert isinstance(results, dict), results
    assert results, "the file has no checks"
    assert not failures(results), failures(results)


@pytest.fixture(scope="module")
def checked(request, of_all):
    """checked(file, device, setting): what the file's checks answer, or why there is no answer."""
    items = [item for item in request.session.items if item.path == request.path and "checked" in item.fixturenames]
    asked = [
        (str(given["file"]), given.get("device", "cpu"), given.get("setting", "-"))
        for given in (item.callspec.params for item in items)
    ]

    def check(file: Path, device: str, setting: str) -> Results | str:
        wanted = (str(file), device, setting)
        group = group_of(wanted, asked)
        answers = of_all / f"checks-{Path(group[0][0]).stem}-{device}-{setting}.json"
        # Tests of a group may be several processes', which share the answers; one that asks meanwhile waits.
        with lock.alone(answers.with_suffix(".lock"), lambda _: None):
            known = json.loads(answers.read_text()) if answers.exists() else {}
            if str(file) not in known:
                known |= run_together([one for one in group[group.index(wanted) :] if one[0] not in known])
                answers.write_text(json.dumps(known))
        return known[str(file)]

    return check


def group_of(one: tuple[str, str, str], asked: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """What a process runs, of what is asked for on a device in a setting."""
    together, alone = (FEW, ALONE | PARTS) if one[1] == "webgpu" else (TOGETHER, ALONE)
    if one[2] == "moving_memory" or Path(one[0]).stem in alone:
        return [one]
    same = [other for other in asked if other[1:] == one[1:] and Path(other[0]).stem not in alone]
    first = same.index(one) // together * together
    return same[first : first + together]


def run_together(batch: list[tuple[str, str, str]]) -> dict[str, Results | str]:
    """What each file answers, by its path; of files behind one with which the process ended there is nothing."""
    _, device, setting = batch[0]
    # Beside all programs without a setting 300 are enough.
    env = {**gpu.variables(), **({} if setting == "-" else {"PROGRAMS": "0:300"})}
    try:
        script = HERE / "node" / "run_checks.mjs"
        files = [file for file, _, _ in batch]
        done = node.run([script, device, *loaded(device, setting, files), *files], env=env, timeout=900)
        said, end = done.stdout, f"ended with {done.returncode}"
    except subprocess.TimeoutExpired as error:
        said, end = (error.stdout or b"").decode(errors="replace"), "did not end in 900 s"
    lines = [json.loads(line.removeprefix("checks ")) for line in said.splitlines() if line.startswith("checks ")]
    answers: dict[str, Results | str] = {x["file"]: x["results"] for x in lines}
    for file in files:
        if file not in answers:
            return {**answers, file: f"the process {end}:\n{said[-4000:]}"}
    return answers


def loaded(device: str, setting: str, files: list[str]) -> tuple[str, str]:
    """The setting that run_checks.mjs brings about, and the module under dist/ that is the package."""
    one_file = PLACES not in os.environ and PARTS.isdisjoint(Path(file).stem for file in files)
    if one_file and device == "webgpu":
        return setting, "torch.module.js"
    if one_file and setting == "moving_memory":
        return "-", os.path.relpath(with_setting(setting), DIST)
    return setting, "in-node/index.js" if one_file and setting != "many_threads" else "index.js"


@cache
def with_setting(setting: str) -> Path:
    """A file with the package and a setting, which changes modules of it."""
    folder = Path(tempfile.mkdtemp())
    given, package = (json.dumps(path.as_posix()) for path in (HERE / "node" / f"{setting}.mjs", DIST / "index.js"))
    (folder / "entry.mjs").write_text(f"import {given};\nexport * from {package};\n")
    how = ["--bundle", "--format=esm", "--platform=node", "--log-level=warning", f"--outfile={folder / 'torch.mjs'}"]
    done = node.run([node.tool("esbuild"), folder / "entry.mjs", *how])
    assert done.returncode == 0, done.stdout
    return folder / "torch.mjs"


@pytest.mark.parametrize("file", NODE_TESTS, ids=lambda file: file.name.removesuffix(".test.mjs"))
def test_node(file, dist, figure):
    done = node.run(
        [file], env=gpu.variables(), timeout=600
    )  # without --test: Node 18's keeps to itself what a file prints
    assert done.returncode == 0, done.stdout
    for line in done.stdout.splitlines():
        if "figure: " in line:
            figure(line.partition("figure: ")[2])
