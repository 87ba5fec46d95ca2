"""Programs of torch.export: each operator, whole networks, and files that are none.

What PyTorch answers is recorded by tests/exchange/record_aten.py, random_operators.py and record_models.py."""

import json
import tarfile
from pathlib import Path

import pytest

from buildtools import gpu, node
from buildtools.paths import ROOT

HERE = Path(__file__).parent / "exchange"


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for archive in (
        f"{name}.tar.xz"
        for name in ("models", "detectors", "numbers", "regions", "rare", "halves", "lists", "nests", "earlier-*")
    ):
        for file in HERE.glob(archive):
            with tarfile.open(file) as tar:
                tar.extractall(folder, filter="data")
    return folder


def passes(script: str, *words: object) -> dict:
    done = node.run([HERE / script, *words], env=gpu.variables(), cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stdout
    results = json.loads(done.stdout.splitlines()[-1])
    failures = [f"{name}: {error}" for name, error in results.items() if error]
    assert not failures, "\n".join(failures)
    return results


@pytest.mark.parametrize(("device", "least"), [("cpu", 331), ("webgpu", 331)])
def test_operators(device, least, dist):
    assert len(passes("operators.mjs", device)) >= least


def test_every_operator_that_was_found_is_found(dist):
    assert len(passes("found.mjs")) >= 759


@pytest.mark.parametrize("how", [("cpu",), ("cpu", "compiled"), ("webgpu",)], ids=" ".join)
def test_operators_with_random_arguments(how, tmp_path, dist):
    with tarfile.open(HERE / "operators.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    assert len(passes("programs.mjs", tmp_path, *how)) >= 360


@pytest.mark.parametrize(("device", "least"), [("cpu", 164), ("webgpu", 164)])
def test_programs(device, least, models, dist):
    assert len(passes("programs.mjs", models, device)) >= least


def test_compiled_programs(models, dist):
    passes("programs.mjs", models, "cpu", "compiled")


def test_what_cannot_be_read_or_called_says_why(models, dist):
    passes("refused.mjs", models)


def test_damaged_archives_end_in_an_error_or_an_answer(models, dist):
    passes("damaged.mjs", models, 5, 300)
