"""The main job: the networks of examples/digits learn as PyTorch's do, step by step, wherever the package runs."""

import json
from pathlib import Path

import pytest
from turns import one_in, turn

from buildtools import gpu, node
from buildtools.paths import ROOT

STEPS = 100
RECORDING = json.loads((ROOT / "examples" / "digits" / "recording.json").read_text())["runs"]
IN_PAGE = """async ([how, steps]) => {
  const torch = await import("/dist/index.js");
  if (!await torch.initWebGPUAsync()) throw new Error("no WebGPU in this browser");
  const { readDigits, train } = await import("/examples/digits/digits.mjs");
  const { weights } = await (await fetch("/examples/digits/recording.json")).json();
  const data = readDigits(new Uint8Array(await (await fetch("/examples/digits/digits.bin")).arrayBuffer()));
  const { losses, accuracy, model } = await train(torch, how, data,
    { device: "webgpu", weights: weights[how.split(" ")[0]], steps });
  return { device: String(model.parameters()[0].device), losses, accuracy };
}"""


# On a GPU every network trains in Node or in a page, the other way with another commit (turns.py).
IN_NODE = one_in(2, RECORDING, turn())
IN_CHROMIUM = one_in(2, RECORDING, turn(), start=1)


@pytest.mark.parametrize("how, device", [*((how, "cpu") for how in RECORDING), *((how, "webgpu") for how in IN_NODE)])
def test_in_node(how, device, dist):
    done = node.run([Path(__file__).with_name("digits_run.mjs"), how, device, STEPS], env=gpu.variables(), timeout=600)
    assert done.returncode == 0, done.stdout
    agrees(how, device, json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("how", IN_CHROMIUM)
def test_in_chromium(how, browser, site, dist):
    page = browser.new_page()
    page.goto(f"{site}/tests/browser/blank.html")
    # A page's convolutions run in the same software GPU as Node's, which take all steps: a part shows what differs.
    steps = 15 if how.startswith("cnn") else STEPS
    agrees(how, "webgpu", page.evaluate(IN_PAGE, [how, steps]), steps)
    page.close()


def agrees(how: str, device: str, got: dict, steps: int = STEPS) -> None:
    wanted = RECORDING[how]
    assert got["device"] == device
    assert len(got["losses"]) == steps and len(wanted["losses"]) == STEPS
    off = [abs(a - b) / b for a, b in zip(got["losses"], wanted["losses"])]
    worst = max(range(len(off)), key=off.__getitem__)
    assert off[worst] <= 1e-4, f"step {worst}: loss {got['losses'][worst]}, PyTorch's {wanted['losses'][worst]}"
    assert got["accuracy"] > 0.97 or steps < STEPS
