"""Bundled models (tensorloom/bundle): PyTorch's answers on both devices, in Node, in a page and in a worker, without the
package; how large they are; what is refused."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from buildtools import gpu, node
from buildtools.browser import serve
from buildtools.paths import ROOT

HERE = Path(__file__).parent / "bundle"
# Networks whose way depends on values.
NOT_BUNDLED = ("branch", "loop")
# The page has its script in itself, and WebAssembly asks for a word of its own.
POLICY = "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'"
MOST = 60_000  # bytes of MobileNetV2's module, gzipped; 27,900 when this was written


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    with tarfile.open(HERE.parent / "exchange" / "models.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    return folder


def results(script: str, *words: object) -> dict:
    done = node.run([HERE / script, *map(str, words)], env=gpu.variables(), cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def told(failures: dict) -> str:
    return "\n".join(f"{name}: {error}" for name, error in failures.items())


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_networks(device, models, tmp_path, dist):
    found = results("networks.mjs", models, tmp_path, device)
    for name in NOT_BUNDLED:
        assert "bundle: a value is read" in found.pop(name)
    failures = {name: error for name, error in found.items() if error}
    assert not failures, told(failures)
    assert len(found) >= 40


def test_mobile_net_is_small(tmp_path, dist):
    assert results("mobile_net.mjs", tmp_path)["gzipped"] < MOST
    text = (tmp_path / "model.mjs").read_text(encoding="utf-8")
    assert 'from "' not in text and "import{" not in text


def test_what_cannot_be_bundled_says_why(tmp_path, dist):
    failures = {name: e for name, e in results("refused.mjs", tmp_path).items() if e}
    assert not failures, told(failures)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, dist) -> Path:
    """The folder that `build.py bundle` makes of the documentation's program."""
    folder = tmp_path_factory.mktemp("site") / "exported"
    done = node.run([ROOT / "buildtools" / "bundle.mjs", ROOT / "tests" / "files" / "exported.pt2", folder, "s31=2"])
    assert done.returncode == 0, done.stdout
    assert sorted(p.name for p in folder.iterdir()) == ["index.html", "model.d.mts", "model.mjs", "weights.safetensors"]
    shutil.copyfile(HERE / "worker.mjs", folder / "worker.mjs")
    return folder


RUN = """async (device) => {
  const model = await (await import("./model.mjs")).load({ device });
  return { device: model.device, ...(await model.run({ input: new Float32Array(8).fill(1) })) };
}"""
IN_A_WORKER = """(device) => new Promise((resolve, reject) => {
  const worker = new Worker("worker.mjs", { type: "module" });
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.onmessage = ({ data }) => resolve({ device: data.device, error: data.error, ...data.outputs });
  worker.postMessage({ module: "./model.mjs", inputs: { input: new Float32Array(8).fill(1) }, device });
})"""


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
@pytest.mark.parametrize("script", [RUN, IN_A_WORKER], ids=["page", "worker"])
def test_a_page_and_a_worker(script, device, exported, browser):
    with serve(exported, policy=POLICY) as address:
        page = browser.new_page()
        page.goto(f"{address}/index.html")
        answer = page.evaluate(script, device)
        page.close()
    assert answer.get("error") is None
    assert answer["device"] == device
    # as docs/exported-programs.md's program answers: both rows are the same
    output = answer["output"]
    assert len(output) == 6
    assert output[:3] == pytest.approx(output[3:])
    assert all(abs(x) > 0 for x in output)


def test_the_page_beside_it_runs_the_model(exported, browser):
    with serve(exported, policy=POLICY) as address:
        page = browser.new_page()
        page.goto(f"{address}/index.html")
        page.wait_for_selector("#run:not([disabled])")
        page.click("#run")
        page.wait_for_selector("#table tr")
        assert "ms" in page.inner_text("#said")
        assert page.locator("#table tr").count() == 6
        page.close()


def test_typings_are_strict(exported, tmp_path):
    shutil.copytree(exported, tmp_path / "exported")
    (tmp_path / "use.mts").write_text(
        'import { load, type Outputs } from "./exported/model.mjs";\n'
        'const model = await load({ device: "cpu" });\n'
        "const outputs: Outputs = await model.run({ input: new Float32Array(8) });\n"
        "export const first: number = outputs.output[0]!;\n"
    )
    (tmp_path / "tsconfig.json").write_text(
        json.dumps(
            {
                "compilerOptions": {
                    **{"strict": True, "noEmit": True, "target": "es2022", "module": "nodenext"},
                    **{"lib": ["es2022", "dom"], "types": []},
                },
                "files": ["use.mts"],
            }
        )
    )
    done = node.run([node.compiler(), "-p", tmp_path])
    assert done.returncode == 0, done.stdout
