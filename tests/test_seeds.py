"""The programs of examples/seeds answer right: in Node on both devices, and in headless Chromium on both."""

import json
from pathlib import Path

import pytest
from test_pages import FINISHED

from buildtools import gpu, node
from buildtools.paths import ROOT

SEEDS = ROOT / "examples" / "seeds"
NO_GPU = "Object.defineProperty(navigator, 'gpu', { value: { requestAdapter: async () => null } })"
IN_PAGE = "async (name) => (await import(`/examples/seeds/${name}.mjs`)).answers"


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_in_node(device, dist):
    done = node.run([Path(__file__).with_name("seeds_run.mjs"), device], env=gpu.variables(), cwd=SEEDS, timeout=120)
    assert done.returncode == 0, done.stdout
    right(json.loads(done.stdout.splitlines()[-1]), device)


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_in_chromium(device, browser, site, dist):
    page = browser.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    if device == "cpu":
        page.add_init_script(NO_GPU)
    page.goto(f"{site}/examples/seeds/index.html")
    page.wait_for_selector(FINISHED, timeout=120_000)
    assert page.inner_text("#message") == "" and complaints == []
    right({name: page.evaluate(IN_PAGE, name) for name in ("webgpu_torch", "tensorjs", "torch_js")}, device)
    assert "floatArray: [[8, 10, 12], [14, 16, 18]]" in page.inner_text("#webgpu_torch")
    page.close()


def right(answers: dict, device: str) -> None:
    assert {name: program["device"] for name, program in answers.items()} == dict.fromkeys(answers, device)

    got, ones = answers["webgpu_torch"], [[1, 1, 1], [1, 1, 1]]
    assert got["floatArray"] == [[8, 10, 12], [14, 16, 18]] and got["mapped"] == [1, 2, 3, 4, 5, 6]
    assert got["gradients"] == [ones, ones, ones]
    assert got["abs"] == got["abs2"] == got["applied"] == [[1, 2, 3], [4, 5, 6]]
    assert got["sum"] == got["sum2"] == [[6, -6, 6], [-6, 6, -6]]
    assert got["product"] == [[3, 3], [7, 7]] and got["cubed"] == [3, 12, 27] and got["scaled"] == [4, 5, 6, 7, 8, 9]

    got = answers["tensorjs"]
    assert len(got["losses"]) == 60 and got["losses"][-1] < 1e-3 < got["losses"][0]
    assert got["matmul"] == [[22, 28], [49, 64]] and got["values"] == [22, 28, 49, 64] and got["shape"] == [2, 2]

    got, wanted = answers["torch_js"], json.loads((SEEDS / "answers.json").read_text())["scores"]
    for row, expected in zip(got["scores"], wanted, strict=True):
        assert row == pytest.approx(expected, abs=1e-5)
    assert got["twin"] == got["scores"]
    assert (got["data"], got["length"], got["inPlace"], got["negatives"]) == ("Float32Array", 128, True, 0)
    assert got["strided"] == [[[[27.0] * 3] * 3] * 2]
