"""A test whose browser dies runs once more; one that fails by itself does not (tests/crashes.py)."""

import crashes
import pytest
from playwright.sync_api import Error

pytest_plugins = ["pytester"]

# The test meets what `endings` says, one after the other, each in the browser that was made last.
RUN = """
import pytest
from playwright.sync_api import Error

made, endings = [], [{endings}]

@pytest.fixture(scope="module")
def browser():
    made.append("browser")
    return len(made)

def test_in_a_page(browser):
    assert browser == len(made)
    if endings:
        raise endings.pop(0)

def test_browsers():
    assert len(made) == {browsers}
"""
PAGE_DIES = 'Error("Page.evaluate: Target crashed")'
BROWSER_DIES = 'Error("Page.goto: Target page, context or browser has been closed")'
WRONG = 'AssertionError("Target crashed, says a check")'
RUNS = {  # endings, how many browsers there were, and the outcome
    "all_is_well": ([], 1, "passed"),
    "a_page_dies": ([PAGE_DIES], 2, "passed"),
    "a_browser_dies": ([BROWSER_DIES], 2, "passed"),
    "it_dies_again": ([PAGE_DIES, PAGE_DIES], 2, "failed"),
    "it_fails_after_that": ([PAGE_DIES, WRONG], 2, "failed"),
    "it_fails": ([WRONG], 1, "failed"),
}


def test_which_tests_run_once_more(pytester):
    for name, (endings, browsers, _) in RUNS.items():
        pytester.makepyfile(**{f"test_{name}": RUN.format(endings=", ".join(endings), browsers=browsers)})
    told = []

    class Told:
        def pytest_unconfigure(self, config):
            told.extend(config.stash[crashes.FIGURES])

    run = pytester.inline_run("-p", "no:xdist", plugins=[crashes, Told()])
    called = [report for report in run.getreports("pytest_runtest_logreport") if report.when == "call"]
    outcomes = {report.nodeid.removeprefix("test_"): report.outcome for report in called}
    assert outcomes == {
        **{f"{name}.py::test_in_a_page": outcome for name, (_, _, outcome) in RUNS.items()},
        **{f"{name}.py::test_browsers": "passed" for name in RUNS},
    }
    died = [name for name, (_, browsers, _) in RUNS.items() if browsers > 1]
    assert len(told) == len(died) and all(f"test_{name}.py" in text for name, text in zip(sorted(died), told)), told


def test_what_playwright_says_of_a_dead_page(browser, request):
    page = browser.new_page()
    with pytest.raises(Error, match="ABORTED"):
        page.goto("chrome://crash")
    with pytest.raises(Error) as raised:
        page.evaluate("1 + 1")
    page.close()
    assert crashes.DIED.match(f"playwright._impl._errors.{raised.typename}: {raised.value}"), raised.value
    assert request.config.stash[crashes.CAUSES]
