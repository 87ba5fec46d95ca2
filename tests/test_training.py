"""Training in earnest: a GPT, an LSTM and a network with batch normalisation follow the loss that PyTorch recorded,
within 1 %, from the same weights.  On the CPU for all 200 steps; on a GPU, which software plays where tests usually
run, for as many as SECONDS allow after the kernels are compiled; TRAINING=all runs all steps."""

import json
import os

import pytest

from buildtools import gpu, node
from buildtools.paths import ROOT

EXAMPLES = {"gpt": "gpt.mjs", "lstm": "lstm.mjs", "batchnorm": "cnn.mjs"}
STEPS, SECONDS, LEAST, WITHIN = 200, 4, 2, 0.01
ALL = os.environ.get("TRAINING") == "all"
FOLLOW = """async ([root, name, file, device, options]) => {
  const torch = await import(`${root}/dist/index.js`);
  if (device === "webgpu" && !await torch.initWebGPUAsync()) throw new Error("no WebGPU");
  const { train } = await import(`${root}/examples/${name}/${file}`), { follow } = await import(`${root}/examples/follow.mjs`);
  return follow(train, new URL(`${root}/examples/${name}/`), device, options);
}"""


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_recording_is_a_measure(name):
    curve = recorded(name)
    assert len(curve["losses"]) == STEPS and curve["rounding"] < WITHIN / 5
    assert curve["losses"][-1] < 0.75 * curve["losses"][0], "it learns"


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_steps_on_the_cpu(name, dist, figure):
    assert follows(name, "the CPU", in_node(name, "cpu", {}), figure) == STEPS


@pytest.mark.parametrize("where", ["Dawn", "Chromium"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_on_a_gpu(name, where, browser, site, dist, figure):
    options = {} if ALL else {"seconds": SECONDS}
    done = in_node(name, "webgpu", options) if where == "Dawn" else in_chromium(name, options, browser, site)
    assert follows(name, f"{where}, WebGPU", done, figure) >= (STEPS if ALL else LEAST)


def recorded(name: str) -> dict:
    return json.loads((ROOT / "examples" / name / "curve.json").read_text())


def in_node(name: str, device: str, options: dict) -> dict:
    words = json.dumps([ROOT.as_uri(), name, EXAMPLES[name], device, options])
    done = node.run(
        ["--input-type=module", "--eval", f"console.log(JSON.stringify(await ({FOLLOW})({words}))); process.exit(0);"],
        env=gpu.variables(),
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def in_chromium(name: str, options: dict, browser, site) -> dict:
    page = browser.new_page()
    page.goto(f"{site}/tests/browser/blank.html")
    done = page.evaluate(FOLLOW, [site, name, EXAMPLES[name], "webgpu", options])
    page.close()
    return done


def follows(name: str, where: str, done: dict, figure) -> int:
    """How many steps ran; each within 1 % of PyTorch's."""
    wanted, got = recorded(name)["losses"], done["losses"]
    off = [abs(a - b) / b for a, b in zip(got, wanted)]
    worst = max(range(len(off)), key=off.__getitem__)
    assert all(x <= WITHIN for x in off), f"step {worst}: loss {got[worst]}, PyTorch's {wanted[worst]}"
    figure(
        f"{name} on {where}: {len(got)} of {STEPS} steps in {done['seconds']:.0f} s, at most {off[worst]:.1e} from PyTorch's loss"
    )
    return len(got)
