"""tests/checks on the CPU and on Dawn, and the files of tests/node, which use node's own test runner: one test per file
and device."""

import datetime
import json
from pathlib import Path

import pytest

from buildtools import gpu, node

HERE = Path(__file__).parent
CHECKS = sorted(file for file in (HERE / "checks").glob("*.mjs") if file.stem != "assert")
NODE_TESTS = sorted((HERE / "node").glob("*.test.mjs"))


def failures(results: dict[str, str | None]) -> str:
    return "\n".join(f"{name}:\n  {error}" for name, error in results.items() if error)


# How the CPU device may find things otherwise: each day a third of the checks runs so.
SETTINGS = ["moving_memory", "without_webassembly", "many_threads"]
TODAY = CHECKS[datetime.date.today().toordinal() % 3 :: 3]


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.stem)
def test_checks(file, device, dist):
    passes(file, device)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("file", TODAY, ids=lambda file: file.stem)
def test_checks_in_another_setting(file, setting, dist):
    passes(file, "cpu", setting, PROGRAMS="0:300")  # as many are enough beside all of them without a setting


def passes(file: Path, *words: str, **variables: str) -> None:
    env = {**gpu.variables(), **variables}
    done = node.run([HERE / "node" / "run_checks.mjs", file, *words], env=env, timeout=600)
    assert done.returncode == 0, done.stdout
    results = json.loads(done.stdout.splitlines()[-1])
    assert results, "the file has no checks"
    assert not failures(results), failures(results)


@pytest.mark.parametrize("file", NODE_TESTS, ids=lambda file: file.name.removesuffix(".test.mjs"))
def test_node(file, dist, figure):
    done = node.run(
        [file], env=gpu.variables(), timeout=600
    )  # without --test: Node 18's keeps to itself what a file prints
    assert done.returncode == 0, done.stdout
    for line in done.stdout.splitlines():
        if "figure: " in line:
            figure(line.partition("figure: ")[2])
