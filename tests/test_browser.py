"""The package in headless Chromium, under a Content-Security-Policy without eval: tests/checks, and the classic
script.

A page loads the package as one file, which takes a sixth of the time of its hundreds of modules; the tests of policies
and threads load those.  It runs several files of checks, one after the other.  With WebGPU it runs a sixth of each
file's checks, the first, the seventh and so on: its GPU process is the Dawn and the SwiftShader that test_node.py runs
all of them on, and what a page adds (loading, a policy, the way to that process) is the same for all.  On the CPU it
runs a third: its engine is Node's, but newer.  Files about what a page does otherwise run whole."""

from pathlib import Path

import pytest
from test_node import ALONE, PARTS, TOGETHER, cases, failures

from buildtools.browser import COMPILING, POLICY, serve
from buildtools.paths import ROOT

SHARES = {"webgpu": 6, "cpu": 3}  # of a file's checks one in so many runs
WHOLE = {"files", "media", "memory", "modes", "runtime"}  # what a page does otherwise than Node

RUN = """async ([file, device, module, every = 1]) => {
  const torch = await import(`/dist/${module}`);
  const gpu = device === "webgpu", { run } = await import("/tests/checks/assert.mjs");
  if (gpu && !(globalThis.begun ??= await torch.initWebGPUAsync())) throw new Error("no WebGPU in this browser");
  const results = await run((await import(file)).default, torch, device, every);
  if (gpu) await torch.defaultDevice().synchronize(); // what the GPU has to say of this file it does not say of the next
  return results;
}"""


# A page whose policy lets it make WebAssembly, and the kernels of which make some.
KERNELS = """async () => {
  const torch = await import("/dist/index.js"), { linear } = await import("/dist/runtime/devices/cpu/linear-memory.js");
  const x = torch.arange(100).float().reshape(10, 10), answer = await x.softmax(0).add(x.sqrt().square()).sum().item();
  return [answer, linear()?.bytes ?? 0];
}"""


@pytest.fixture(scope="module")
def opened(browser, dist):
    """opened(address): a new page there; the one before is closed, so that there is one at a time."""
    page = None

    def open_page(address: str, told=lambda message: None):
        nonlocal page
        if page is not None:
            page.close()
        page = browser.new_page()
        page.on("console", told)
        page.goto(f"{address}/tests/browser/blank.html")
        return page

    yield open_page
    if page is not None:
        page.close()


@pytest.fixture
def page(opened, site):
    return opened(site)


@pytest.fixture(scope="module")
def shared(opened, site):
    """shared(device, module): a page for one file after another on that device, and another page after some of them.
    shared(device, module, new=True): a page of which no file has run."""
    page, files, on = None, 0, ("", "")

    def open_page(device: str, module: str, new: bool = False):
        nonlocal page, files, on
        if page is None or page.is_closed() or new or files == TOGETHER or (device, module) != on:
            page, files, on = opened(site), 0, (device, module)
        files += 1
        return page

    return open_page


@pytest.mark.parametrize(("device", "file"), cases("cpu", "webgpu"))
def test_checks(device, file: Path, shared):
    module = "index.js" if file.stem in PARTS else "torch.module.js"
    page = shared(device, module, new=file.stem in ALONE)
    every = 1 if file.stem in WHOLE else SHARES[device]
    try:
        results = page.evaluate(RUN, [f"/tests/checks/{file.name}", device, module, every])
    except Exception:
        page.close()  # what is left of it is nobody's
        raise
    assert results, "the file has no checks"
    assert not failures(results), failures(results)


@pytest.mark.parametrize("allowed", [False, True], ids=["refused", "allowed"])
def test_a_policy_decides_about_webassembly(allowed, opened):
    """Refused, tensors are in arrays and kernels in JavaScript, and a page is told so once."""
    with serve(ROOT, policy=COMPILING if allowed else POLICY) as address:
        told = []
        page = opened(address, lambda message: told.append(message.text))
        answer, linear = page.evaluate(KERNELS)
        for file in ["memory", "inplace", "autograd"] if allowed else []:
            results = page.evaluate(RUN, [f"/tests/checks/{file}.mjs", "cpu", "index.js"])
            assert results and not failures(results), failures(results)
    assert abs(answer - 4960) < 0.01
    assert (linear > 0) == allowed
    assert len([text for text in told if text.startswith("slow: the CPU computes without WebAssembly")]) == (
        not allowed
    )


THREADS = """async () => {
  const torch = await import("/dist/index.js"), { sharing } = await import("/dist/runtime/devices/cpu/threads.js");
  const x = torch.rand([300, 300]), hash = async (y) => Array.from(new Int32Array((await y.data()).buffer)).join();
  torch.set_num_threads(1);
  const wanted = await hash(x.matmul(x));
  torch.set_num_threads(3);
  Object.assign(sharing, { part: 8, worth: 0 });
  let right = true, alone = 0;
  for (let tries = 0; tries < 300 && sharing.kernels < 5 && alone < 5; tries++) {
    alone += torch.get_num_threads() === 1; // refused by now, which a worker can be late
    right &&= await hash(x.matmul(x)) === wanted;
    await new Promise((done) => setTimeout(done, 10));
  }
  return [right, sharing.kernels > 0, torch.get_num_threads()];
}"""


@pytest.mark.parametrize(
    "isolated, workers, threads",
    [(True, "blob:", 3), (True, "'none'", 1), (False, "blob:", 1)],
    ids=["threads", "refused workers", "a page that is not isolated"],
)
def test_threads_of_a_page(isolated, workers, threads, opened):
    """An isolated page has threads if its policy lets it; others compute on one and are told so once."""
    policy = f"{POLICY}; script-src 'self' 'wasm-unsafe-eval'; worker-src {workers}"
    with serve(ROOT, policy=policy, isolated=isolated) as address:
        told = []
        page = opened(address, lambda message: told.append(message.text))
        assert page.evaluate(THREADS) == [True, threads > 1, threads]
        if threads > 1:
            for file in ["memory", "inplace", "autograd"]:
                results = page.evaluate(RUN, [f"/tests/checks/{file}.mjs", "cpu", "index.js"])
                assert results and not failures(results), failures(results)
    assert len([text for text in told if text.startswith("slow: the CPU computes on one thread")]) == (threads == 1)


def test_the_classic_script_defines_torch_and_nothing_else(page, site):
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    before = set(page.evaluate("Object.getOwnPropertyNames(globalThis)"))
    page.goto(f"{site}/tests/browser/classic.html")
    made = set(page.evaluate("Object.getOwnPropertyNames(globalThis)")) - before
    assert made == {"torch", "devtoolsFormatters"}  # the list that Chrome asks how to show objects
    assert page.evaluate("torch.tensor([[1, 2], [3, 4]]).matmul(torch.tensor([[1, 0], [0, 2]])).tolist()") == [
        [1, 4],
        [3, 8],
    ]
    assert not errors


def test_a_worker_computes(page):
    page.evaluate("""() => new Promise((done, failed) => {
      const worker = new Worker("/tests/browser/worker.mjs", { type: "module" });
      worker.onmessage = ({ data }) => data.error ? failed(new Error(data.error)) : done();
      worker.onerror = (event) => failed(new Error(event.message));
    })""")
