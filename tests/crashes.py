"""A browser's process that dies under a test (killed for memory, say) is no answer to what the test asks: it is asked
once more, in a fresh browser, and the run tells of it at its end.  A second death fails, and so does any failing check.
"""

import re

import pytest
from _pytest.runner import runtestprotocol

# How Playwright says that the process of a page, or the whole browser, is gone.
DIED = re.compile(r"playwright\._impl\._errors\.\w*Error: .*(Target crashed|Page crashed|has been closed)")
FIGURES = pytest.StashKey[list]()
CAUSES = pytest.StashKey[list]()


def watch(browser, config) -> None:
    """Note what Chromium knows of each process of a page that dies: `oom`, or a signal: 9 is the system's killer."""
    causes = config.stash.setdefault(CAUSES, [])
    session = browser.new_browser_cdp_session()
    session.on("Target.targetCrashed", lambda event: causes.append(f"{event['status']}, {event['errorCode']}"))
    session.send("Target.setDiscoverTargets", {"discover": True})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if "browser" not in item.fixturenames:
        return None  # as every other test runs
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    item.config.stash.setdefault(CAUSES, []).clear()
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if said := death(reports):
        item.session._setupstate.teardown_exact(None)  # no fixture of the dead browser stays
        causes = "; ".join(item.config.stash[CAUSES]) or "of a cause it does not tell"
        figures = item.config.stash.setdefault(FIGURES, [])
        figures.append(f"the browser died ({causes}) in {item.nodeid}, which ran once more: {said}")
        item._initrequest()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def death(reports) -> str | None:
    """What Playwright said if it was a death by which a test failed."""
    crashes = (getattr(report.longrepr, "reprcrash", None) for report in reports if report.failed)
    messages = (crash.message.splitlines()[0] for crash in crashes if crash)
    return next((message for message in messages if DIED.match(message)), None)
