"""tests/checks on the CPU and on Dawn, and the files of tests/node, which use node's own test runner: one test per file
and device."""

import json
from pathlib import Path

import pytest

from buildtools import gpu, node

HERE = Path(__file__).parent
CHECKS = sorted(file for file in (HERE / "checks").glob("*.mjs") if file.stem != "assert")
NODE_TESTS = sorted((HERE / "node").glob("*.test.mjs"))


def failures(results: dict[str, str | None]) -> str:
    return "\n".join(f"{name}:\n  {error}" for name, error in results.items() if error)


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.stem)
def test_checks(file, device, dist):
    done = node.run([HERE / "node" / "run_checks.mjs", file, device], env=gpu.variables(), timeout=600)
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
