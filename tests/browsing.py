"""Pages of the website in Chromium: what tests look at them with."""

from buildtools.paths import NODE_MODULES

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def accessible(page) -> list[str]:
    """What axe finds wrong with a page."""
    page.evaluate((NODE_MODULES / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document).then(({ violations }) => violations)")
    return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html']}" for v in found]


def watched(browser, address: str, viewport=DESK, **how):
    """A new page; `complaints`: what it says is wrong, what it asks for in vain, and what it asks of elsewhere."""
    page = browser.new_page(viewport=viewport, **how)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.complaints.append(said.text))
    page.on("response", lambda got: got.status >= 400 and page.complaints.append(f"{got.status} {got.url}"))
    # A page may give a request up by itself: the loader of weights does so when it has read their header.
    page.on(
        "requestfailed",
        lambda sent: "ERR_ABORTED" in sent.failure or page.complaints.append(f"{sent.failure} {sent.url}"),
    )
    page.on(
        "request", lambda sent: sent.url.startswith((address, "blob:", "data:")) or page.complaints.append(sent.url)
    )
    return page
