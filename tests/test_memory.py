"""Memory of a training loop in Chromium, and `using`, which Node 18 does not know."""

import os

from buildtools import node
from buildtools.browser import COMPILING, serve
from buildtools.paths import ROOT

SECONDS, MOST, LEAST = None if os.environ.get("TRAINING") == "all" else 5, 8 << 20, 1 << 16
LOOP = """async ([idle, seconds]) => {
  const torch = await import("/dist/index.js"), { growth, heldWhileTraining } = await import("/tests/training_loop.mjs");
  const { idleDevice } = await import("/tests/node/idle_device.mjs");
  if (!await torch.initWebGPUAsync(idle ? { device: idleDevice() } : {})) throw new Error("no WebGPU in this browser");
  const held = await heldWhileTraining(torch, "webgpu", seconds ? { seconds } : {});
  return { ...held, growth: growth(held.device), most: Math.max(...held.device) };
}"""
ON_THE_CPU = """async () => {
  const torch = await import("/dist/index.js"), { heldWhileTraining } = await import("/tests/training_loop.mjs");
  const { linear } = await import("/dist/runtime/devices/cpu/linear-memory.js");
  const { steps, seconds } = await heldWhileTraining(torch, "cpu");
  return [steps, seconds, linear().bytes];
}"""
LEFT = "async () => (await import('/dist/index.js')).memory().webgpu.bytes"
USING = """async (address) => {
  const torch = await import(address), buffers = () => torch.memory().cpu.buffers;
  const kept = torch.ones([3]), before = buffers();
  {
    using x = torch.ones([1000]), y = x.mul(x);
    if (buffers() !== before + 2) throw new Error("two buffers were made");
  }
  const after = buffers();
  return [after - before, await kept.tolist()];
}"""


def loop(browser, site, figure, what, *options) -> dict:
    page = browser.new_page()
    page.goto(f"{site}/tests/browser/blank.html")
    held = page.evaluate(LOOP, list(options))
    held["left"] = left(page)
    page.close()
    figure(
        f"{held['steps']} steps without dispose in Chromium on {what}: at most {held['most'] / 2**20:.1f} MiB, "
        f"in the second half {held['growth']:.2f} of the first, {held['left']} bytes after a collection ({held['seconds']:.0f} s)"
    )
    return held


def left(page) -> int:
    """The bytes of tensors that are left when the collector has looked everywhere."""
    session = page.context.new_cdp_session(page)
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
        page.wait_for_timeout(20)  # what it found comes back between two tasks
    return page.evaluate(LEFT)


def test_10_000_steps_in_chromium_on_the_cpu(browser, dist, figure):
    """Tensors lie in linear memory, which never shrinks."""
    with serve(ROOT, policy=COMPILING) as address:
        page = browser.new_page()
        page.goto(f"{address}/tests/browser/blank.html")
        steps, seconds, linear = page.evaluate(ON_THE_CPU)
        page.close()
    figure(
        f"{steps} steps without dispose in Chromium on the CPU: {linear / 2**20:.1f} MiB of memory ({seconds:.0f} s)"
    )
    assert steps == 10_000 and 0 < linear < 2**25, linear


def test_10_000_steps_in_chromium_on_a_gpu_that_does_no_work(browser, site, dist, figure):
    held = loop(browser, site, figure, "an idle GPU", True, None)
    assert held["steps"] == 10_000 and held["most"] < MOST and held["left"] < LEAST, held


def test_as_many_steps_in_chromium_as_the_time_allows(browser, site, dist, figure):
    """On a real GPU that is all 10,000; TRAINING=all waits for them."""
    held = loop(browser, site, figure, "its WebGPU", False, SECONDS)
    assert held["steps"] > 1 and held["most"] < MOST and held["left"] < LEAST, held


def test_using_frees_at_the_end_of_the_block_in_chromium(browser, site, dist):
    page = browser.new_page()
    page.goto(f"{site}/tests/browser/blank.html")
    assert page.evaluate(USING, "/dist/index.js") == [0, [1, 1, 1]]
    page.close()


def test_using_frees_at_the_end_of_the_block_in_a_newer_node(dist):
    done = node.run(
        [
            "--input-type=module",
            "--eval",
            f"console.log(JSON.stringify(await ({USING})('{(ROOT / 'dist' / 'index.js').as_uri()}')))",
        ],
        node=node.newest(),
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "[0,[1,1,1]]", done.stdout
