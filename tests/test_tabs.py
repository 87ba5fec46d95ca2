"""Many tabs and workers of one origin: they share files that were brought, and nothing else."""

from __future__ import annotations

import contextlib
import http.server
import json
import struct
import threading
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

from buildtools.browser import COMPILING, serve
from buildtools.paths import ROOT

TABS = 4
BEGIN = """([name, ...args]) => {
  globalThis.work = import("/tests/browser/tab.mjs").then((tab) => tab[name](...args));
  globalThis.work.catch(() => {});
}"""
END = "() => globalThis.work"


@pytest.fixture(scope="module")
def origin():
    with serve(ROOT, policy=f"{COMPILING}; connect-src *") as address:  # files come from elsewhere
        yield address


@pytest.fixture
def tabs(browser, origin):
    """Several tabs of one browser's window: they have one cache, one OPFS and one set of locks."""
    window = browser.new_context()
    for _ in range(TABS):
        window.new_page().goto(f"{origin}/tests/browser/blank.html")
    yield window.pages
    window.close()


def at_once(tabs, calls: list[list[Any]]) -> list[Any]:
    """What tabs answer that work at the same time."""
    for tab, call in zip(tabs, calls, strict=True):
        tab.evaluate(BEGIN, call)
    return [tab.evaluate(END) for tab in tabs]


class Slow(http.server.BaseHTTPRequestHandler):
    """A server of one file of weights, whose second half it keeps back until it is told."""

    asked: list[str]
    go_on: threading.Event
    values = array("f", range(400_000))
    header = json.dumps({"w": {"dtype": "F32", "shape": [len(values)], "data_offsets": [0, 4 * len(values)]}}).encode()
    data = struct.pack("<Q", len(header)) + header + values.tobytes()

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.data)))
        self.send_header("ETag", '"one"')
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        half = len(self.data) // 2
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # who asked is gone
            self.wfile.write(self.data[:half])
            self.wfile.flush()
            self.go_on.wait(60)
            self.wfile.write(self.data[half:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def slow() -> Iterator[tuple[str, type[Slow]]]:
    handler = type("Handler", (Slow,), {"asked": [], "go_on": threading.Event()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/w.safetensors", handler
        handler.go_on.set()
        server.shutdown()


def until(tab, true) -> None:
    for _ in range(600):
        if true():
            return
        tab.wait_for_timeout(50)
    raise AssertionError("it did not come to that")


def test_a_file_that_all_want_is_brought_once(tabs, slow):
    address, server = slow
    server.go_on.set()
    wanted = {"w": pytest.approx(sum(Slow.values))}
    calls = [["brought", address] if i % 2 else ["inWorker", "brought", address] for i in range(TABS)]
    assert at_once(tabs, calls) == [wanted] * TABS
    assert len(server.asked) == 1, server.asked


def test_a_tab_that_closes_while_it_brings_a_file_keeps_it_from_nobody(tabs, slow):
    address, server = slow
    first, *others = tabs
    first.evaluate(BEGIN, ["brought", address])
    until(first, lambda: server.asked)
    for tab in others:
        tab.evaluate(BEGIN, ["brought", address])
    assert len(server.asked) == 1, "they wait for the first"
    first.close()
    until(others[0], lambda: len(server.asked) == 2)
    server.go_on.set()
    assert [tab.evaluate(END) for tab in others] == [{"w": pytest.approx(sum(Slow.values))}] * len(others)
    assert len(server.asked) == 2, server.asked


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_tabs_and_workers_that_train_at_once_train_as_alone(device, tabs):
    seeds = [1, 1, 2, 3]
    calls = [
        ["trained", device, seed] if i % 2 else ["inWorker", "trained", device, seed] for i, seed in enumerate(seeds)
    ]
    together = at_once(tabs, calls)
    assert together[0] == together[1] and len({tuple(losses) for losses in together}) == len(set(seeds))
    tabs[0].evaluate(BEGIN, ["trained", device, 3])
    assert tabs[0].evaluate(END) == together[3]


def test_what_one_tab_or_worker_sets_no_other_sees(tabs):
    sizes = [1_000_001, 2, 4, 3]
    calls = [["own", size] if i % 2 else ["inWorker", "own", size] for i, size in enumerate(sizes)]
    for size, (grad, deterministic, held) in zip(sizes, at_once(tabs, calls), strict=True):
        assert (grad, deterministic) == (size % 2 == 0, size % 3 == 0)
        assert 4 * size <= held < 4 * size + 1000
