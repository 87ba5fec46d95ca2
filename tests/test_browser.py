"""The package in headless Chromium, under a Content-Security-Policy without eval: tests/checks, and the classic
script."""

from pathlib import Path

import pytest
from test_node import CHECKS, failures

RUN = """async ([file, device]) => {
  const torch = await import("/dist/index.js");
  if (device === "webgpu" && !await torch.initWebGPUAsync()) throw new Error("no WebGPU in this browser");
  const { run } = await import("/tests/checks/assert.mjs");
  return run((await import(file)).default, torch, device);
}"""


@pytest.fixture
def page(browser, site, dist):
    page = browser.new_page()
    page.goto(f"{site}/tests/browser/blank.html")
    yield page
    page.close()


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.stem)
def test_checks(file: Path, device, page):
    results = page.evaluate(RUN, [f"/tests/checks/{file.name}", device])
    assert results, "the file has no checks"
    assert not failures(results), failures(results)


def test_the_classic_script_defines_torch_and_nothing_else(browser, site, dist):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{site}/tests/browser/blank.html")
    before = set(page.evaluate("Object.getOwnPropertyNames(globalThis)"))
    page.goto(f"{site}/tests/browser/classic.html")
    assert set(page.evaluate("Object.getOwnPropertyNames(globalThis)")) - before == {"torch"}
    assert page.evaluate("torch.tensor([[1, 2], [3, 4]]).matmul(torch.tensor([[1, 0], [0, 2]])).tolist()") == [
        [1, 4],
        [3, 8],
    ]
    assert not errors
    page.close()


def test_a_worker_computes(page):
    page.evaluate("""() => new Promise((done, failed) => {
      const worker = new Worker("/tests/browser/worker.mjs", { type: "module" });
      worker.onmessage = ({ data }) => data.error ? failed(new Error(data.error)) : done();
      worker.onerror = (event) => failed(new Error(event.message));
    })""")
