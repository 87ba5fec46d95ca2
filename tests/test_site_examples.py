"""The first page's demo and the example pages of the website in Chromium: they run, and complain of nothing."""

import base64
import json
import re
import time
import zlib

import pytest
from browsing import PHONE, accessible

from buildtools import pages
from buildtools.paths import BUILD
from website import examples


def test_the_first_page_is_painted_within_a_second(opened, figure):
    page = opened("index.html")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    figure(f"first contentful paint of the website's first page: {painted:.0f} ms")
    assert painted < 1000


def test_the_network_of_the_first_page_fits_every_curve(opened, figure):
    """What is left of its error is the noise of the samples: 0.0064, of which it learns some by heart."""
    page = opened("index.html?device=cpu")
    for function in page.locator("#demo-function option").all_inner_texts():
        began = time.monotonic()
        page.evaluate("document.getElementById('demo').dataset.state = ''")
        page.select_option("#demo-function", function)
        page.wait_for_selector("#demo[data-state=done]", timeout=60_000)
        loss = float(page.inner_text("#demo-loss"))
        figure(f"the first page's demo, {function}: loss {loss} after {time.monotonic() - began:.1f} s")
        assert loss < 0.009 and page.inner_text("#demo-message") == "", function


def test_the_demo_opens_in_the_playground(opened):
    """With the function that is chosen, and comes to what the first page showed."""
    page = opened("index.html?device=cpu&steps=2")
    page.select_option("#demo-function", "a corner")
    page.wait_for_selector("#demo[data-state=done]")
    link = page.locator("#demo-open")
    assert link.inner_text() == "Open in the playground"
    packed = base64.urlsafe_b64decode(link.evaluate("link => link.hash.slice('#code='.length)") + "==")
    assert 'FUNCTIONS["a corner"]' in zlib.decompress(packed, wbits=-15).decode()
    page.goto(link.evaluate("link => link.href.replace('#', '?device=cpu#')"))
    page.wait_for_selector("#run:not([disabled])")
    page.click("#run")
    page.wait_for_selector("#output:is([data-state=done], [data-state=failed])", timeout=60_000)
    assert page.locator("#output .uplot").count() == 2
    (BUILD / "screenshots").mkdir(parents=True, exist_ok=True)
    page.screenshot(path=BUILD / "screenshots" / "website-demo-in-playground.png")
    found = re.search(r"loss ([\d.e-]+)", page.inner_text("#output"))
    assert found and float(found[1]) < 0.009


# A page runs, asks for weights, or has done what it does: its program is loaded.
BEGUN = "body:is([data-state=running], [data-state=asking], [data-state=done])"


def test_every_example_page_of_the_site_runs(documentation, opened, figure):
    """It complains of nothing, asks for nothing that is not there, is accessible and no wider than a phone in the site's
    frame, whose way back and whose theme it has.  No training is waited for."""
    began = time.monotonic()
    paths = sorted(f.relative_to(documentation).as_posix() for f in documentation.glob("examples/*/index.html"))
    asking = []
    for path in paths:
        page = opened(f"{path}?device=cpu", viewport=PHONE, color_scheme="light")
        page.wait_for_selector(BEGUN)
        if page.get_attribute("body", "data-state") == "asking":
            asking.append(path)
            with page.expect_response(re.compile(r"[.](safetensors|pth)$"), timeout=60_000) as got:
                page.click("#asking")
            assert got.value.ok
        assert accessible(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        page.click(".theme")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 19)", path
        assert accessible(page) == [], f"{path}, dark"
        assert page.evaluate("document.querySelector('.brand').href").endswith("/index.html")
        assert page.inner_text("#message") == "" and page.complaints == [], path
        page.close()
    assert len(paths) == len(pages.PAGES) - len(examples.ELSEWHERE)
    assert asking == [f"examples/{name}/index.html" for name in ("search", "style", "teach")]
    figure(f"the website's {len(paths)} example pages looked at in {time.monotonic() - began:.0f} s")


@pytest.mark.parametrize("name", ["search", "style", "teach"])
def test_an_example_says_that_its_weights_are_not_on_the_site(name, opened):
    page = opened("examples/index.html")
    lacking = json.dumps({w: {"megabytes": 19, "there": False} for w in ("search/minilm", "teach/lite0")})
    page.route("**/weights.json", lambda route: route.fulfill(body=lacking))
    page.goto(page.url.replace("index.html", f"{name}/index.html?device=cpu"))
    page.wait_for_selector("body[data-state=missing]")
    assert "lacks the network's weights (19 MB)" in page.inner_text("#message")


def test_an_example_page_of_the_site_trains(opened):
    page = opened("examples/curve/index.html?steps=30&device=cpu")
    page.wait_for_selector("body[data-state=done], body[data-state=failed]", timeout=60_000)
    assert page.inner_text("#message") == "" and float(page.inner_text("#loss")) < 0.5
