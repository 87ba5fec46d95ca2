"""Options and fixtures for all Python tests."""

import gc
import os
import sys
from pathlib import Path

import crashes
import order
import pytest
from crashes import FIGURES

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS.parent))  # so that `pytest` finds the packages from anywhere


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expected outputs instead of comparing with them"
    )


def pytest_configure(config):
    from buildtools import gpu

    config.pluginmanager.register(crashes)
    gc.set_threshold(20_000)  # kernels' trees stay; looks through them for garbage took a fourteenth of the time
    gpu.enter()  # wgpu in this process, Dawn in the ones it starts; fails without a WebGPU
    # What a process has freed it keeps: a software GPU's compiler takes and frees much, each time from the system.
    os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(10**9))
    os.environ.setdefault("MALLOC_TOP_PAD_", str(2**26))
    preload = f'--require "{(TESTS / "preloaded.cjs").as_posix()}"'
    if preload not in os.environ.get("NODE_OPTIONS", ""):
        os.environ["NODE_OPTIONS"] = f"{os.environ.get('NODE_OPTIONS', '')} {preload}".strip()


@pytest.hookimpl(trylast=True)  # behind `-k`
def pytest_collection_modifyitems(config, items):
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    if processes > 1:
        items[:] = order.dealt(items, processes)


FOUND = pytest.StashKey[list]()
COLLECTED = {"figures": FIGURES, "found": FOUND}


@pytest.fixture
def figure(request):
    """figure(text): a measured number, shown at the end of the run."""
    return request.config.stash.setdefault(FIGURES, []).append


@pytest.fixture
def todays(request):
    """todays(): a block in which a seed of the day decides (tests/day.py)."""
    from day import told

    test = request.node.nodeid.replace("[", "'[", 1) + "'" * ("[" in request.node.nodeid)
    return lambda: told(test, request.config.stash.setdefault(FOUND, []).append)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        for name, key in COLLECTED.items():
            session.config.workeroutput[name] = session.config.stash.get(key, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """A process of several has ended: its figures are shown with all others."""
    for name, key in COLLECTED.items():
        node.config.stash.setdefault(key, []).extend(getattr(node, "workeroutput", {}).get(name, []))


def pytest_terminal_summary(terminalreporter, config):
    for text in config.stash.get(FIGURES, []):
        terminalreporter.write_line(f"measured: {text}")
    if found := config.stash.get(FOUND, []):
        terminalreporter.section("FAULTS that a seed of the day found; no test fails for them", "!", red=True)
        for text in found:
            terminalreporter.write_line(text)


@pytest.fixture(scope="session")
def dist() -> Path:
    """The built package."""
    from buildtools.paths import DIST

    assert (DIST / "package.json").exists(), "dist/ is not built: python3 build.py"
    return DIST


@pytest.fixture(scope="module")
def browser(request):
    """A headless Chromium with WebGPU.  Not for longer than a file of tests: its GPU process never rests."""
    from buildtools.browser import chromium

    with chromium() as started:
        crashes.watch(started, request.config)
        yield started


@pytest.fixture(scope="session")
def site() -> str:
    """The address under which the checkout is served on this machine."""
    from buildtools import pages
    from buildtools.browser import serve
    from buildtools.paths import ROOT

    pages.prepare()
    with serve(ROOT) as address:
        yield address


@pytest.fixture(scope="session")
def of_all(request, tmp_path_factory) -> Path:
    """A temporary folder that all processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def documentation(dist, of_all) -> Path:
    """The folder of the documentation's website, which one of a run's processes makes for all."""
    import website.build
    from buildtools import lock, package, pages
    from buildtools.paths import EARLIER
    from codegen.earlier import Earlier

    folder = of_all / "website"
    with lock.alone(folder.with_suffix(".lock"), print):
        if not folder.exists():
            pages.bring_weights()
            part = folder.with_suffix(".part")
            website.build.build(package.definitions(earlier=Earlier(EARLIER)), dist, part)
            part.rename(folder)
    return folder


@pytest.fixture
def opened(browser, documentation):
    """opened(path, **how): a page of the website at rest; what it complained of or asked of elsewhere fails the
    test."""
    from browsing import watched

    from buildtools.browser import CODE_POLICY, serve

    pages = []

    def open_(path: str, **how):
        pages.append(watched(browser, address, **how))
        pages[-1].goto(f"{address}/{path}")
        pages[-1].wait_for_load_state("networkidle")
        return pages[-1]

    with serve(documentation, policy=CODE_POLICY) as address:
        yield open_
        said = [text for page in pages for text in page.complaints]
        for page in pages:
            page.close()
    assert not said


@pytest.fixture
def golden(request):
    """golden(path, text): the text must be what the file (relative to tests/) holds."""

    def compare(path: str, text: str):
        file = TESTS / path
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"tests/{path} is missing; make it with --update-golden and read it"
        assert file.read_text(encoding="utf-8") == text, f"tests/{path} is not what is printed now; see --update-golden"

    return compare
