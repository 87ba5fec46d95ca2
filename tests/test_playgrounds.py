"""The website's playgrounds in Chromium: programs and definitions that one types are run in the page."""

import re

import pytest
from browsing import PHONE, accessible

from buildtools.paths import BUILD


@pytest.fixture
def play(opened):
    """play(code, **how): the playground's page after it ran a program, and what it then shows."""

    def play_(code: str, path: str = "playground/index.html?device=cpu", **how):
        page = opened(path, **how)
        page.wait_for_selector("#run:not([disabled])")
        page.click(".cm-content")
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(code)
        page.click("#run")
        page.wait_for_selector("#output:is([data-state=done], [data-state=failed])", timeout=60_000)
        return page, page.inner_text("#output")

    return play_


def test_the_playground_shows_numbers_pictures_and_curves(play):
    page, said = play(
        'import * as t from "tensorloom";\n'
        "const x = t.arange(6).reshape(2, 3);\nconsole.log('x is', x, { a: [1, 2] });\n"
        "show(x.float().div(5), 'six greys');\nplot([3, 1, 2]);\nx.zero_();"
    )
    assert page.inner_text("#status").startswith("done on the CPU")
    assert "x is" in said and '{"a":[1,2]}' in said and "[2, 3] on cpu" in said
    assert page.locator("#output td").all_inner_texts() == list("012345")  # as it was when it was printed
    assert (
        page.evaluate("document.querySelector('canvas.picture').getContext('2d').getImageData(2, 1, 1, 1).data[0]")
        == 255
    )
    assert page.locator("#output .uplot").count() == 1


def test_the_playground_tells_the_line_of_an_error(play):
    _, said = play("const x = torch.ones([2]);\n\nx.add(torch.ones([3]));")
    assert "OpError: add:" in said and "(line 3)" in said


def test_the_playground_stops_and_shares_programs(opened):
    page = opened("playground/index.html?device=cpu")
    page.select_option("#example", "1")
    page.click("#share")
    page.wait_for_selector("#status:has-text('link')")
    again = opened(f"playground/index.html?device=cpu{page.evaluate('location.hash')}")
    again.wait_for_selector("#run:not([disabled])")
    assert "nn.Sequential" in again.inner_text(".cm-content")
    again.click(".cm-content")
    again.keyboard.press("Control+A")
    again.keyboard.insert_text("console.log('begun');\nfor (;;) await 0;")
    again.keyboard.press("Control+Enter")
    again.wait_for_selector("#status:has-text('running')")
    again.click("#run")
    again.wait_for_selector("#output[data-state=stopped]")
    assert again.inner_text("#status") == "stopped" and again.inner_text("#run").startswith("Run")


def test_the_playground_completes_names_of_the_package(opened):
    page = opened("playground/index.html?device=cpu")
    page.wait_for_selector("#run:not([disabled])")
    for typed, wanted in (("torch.nn.functional.cross_e", "cross_entropy"), ("x.add(1).soft", "softmax")):
        page.click(".cm-content")
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        # Waits: the list of the first letters may still be there when the last are typed.
        labels = page.locator(".cm-tooltip-autocomplete li .cm-completionLabel")
        labels.filter(has_text=re.compile(f"^{wanted}$")).wait_for()


SQUASH = """op squash(x: Float[*B, N], soft: real = 1) -> Float[*B, N]
    "Rows that are at most one long."
    length[*b] = sqrt(sum[n] x[*b, n] ** 2)
    out[*b, n] = x[*b, n] / (soft + length[*b])
    test squash([3.0, 4.0]) == [0.5, 0.6666666666666666]
    test squash([3.0, 4.0], 0) ~= [0.6, 0.7]
"""


@pytest.fixture
def define(opened):
    """define(text, **how): the op playground's page after what was typed was compiled and run."""

    def rest(page):
        page.wait_for_selector(
            "#output:is([data-state=done], [data-state=mistaken], [data-state=failed])", timeout=90_000
        )

    def define_(text: str, path: str = "playground/ops.html?device=cpu", page=None, **how):
        page = page or opened(path, **how)
        rest(page)
        if text:
            page.click(".cm-content")
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(text)
            rest(page)
        return page

    return define_


def test_a_definition_is_compiled_and_run_while_it_is_typed(define):
    """By the compiler in the page, its own numbers, and the package's gradients; in the dark, on a phone."""
    page = define(SQUASH, viewport=PHONE, color_scheme="dark")
    assert page.inner_text("#status").startswith("ran on the CPU") and page.inner_text("#mistakes") == ""
    assert page.inner_text("#signature").startswith("op squash(x: Float[*B, N], soft: real = 1)")
    assert page.locator("#formula .katex").count() == 1 and page.locator("#gradient .katex").count() == 1
    assert page.inner_text("#derived") == "derived from the formula"
    assert page.inner_text("#passed") == "1 of 2 fail" and "got [0.6, 0.8]" in page.inner_text("#tests .wrong")
    assert page.locator("#ran td").count() > 0
    page.fill("#input-x", "[[0.0, 2.0]]")
    page.wait_for_selector("#ran:has-text('[1, 2] on cpu')")
    assert page.locator("#ran td").all_inner_texts() == ["0", "0.66667", "0.33333", "0.11111"]
    page.click("summary:has-text('WGSL')")
    assert "@compute" in page.inner_text("#wgsl") and "playground" not in page.inner_text("#count-wgsl")
    page.click("summary:has-text('WebAssembly')")
    assert "func run" in page.inner_text("#wasm")
    assert accessible(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.screenshot(path=BUILD / "screenshots" / "website-playground-ops-squash-dark.png", full_page=True)


def test_mistakes_of_a_definition_are_shown_where_they_are(define):
    page = define(SQUASH.replace("sqrt", "sqrtt"))
    said = page.inner_text("#mistakes")
    assert "line 3" in said and "unknown function sqrtt" in said and "did you mean sqrt?" in said
    assert page.inner_text("#status") == "1 mistake" and page.locator(".cm-lintRange-error").inner_text() == "sqrtt"
    assert accessible(page) == []
    define(SQUASH, page=page)
    assert page.inner_text("#mistakes") == "" and page.locator(".cm-lintRange-error").count() == 0
    page.fill("#input-x", "[[1, 2], [3]]")
    page.wait_for_selector("#ran .failed")
    assert "lists of different lengths" in page.inner_text("#ran")


def test_a_definition_is_shared_with_its_call(define):
    page = define(SQUASH)
    page.fill("#input-x", "[[0.0, 2.0]]")
    page.wait_for_selector("#ran:has-text('[1, 2] on cpu')")
    page.click("#share")
    page.wait_for_selector("#status:has-text('link')")
    again = define("", f"playground/ops.html?device=cpu{page.evaluate('location.hash')}")
    assert "op squash" in again.inner_text(".cm-content") and again.input_value("#input-x") == "[[0.0, 2.0]]"
    assert again.locator("#ran td").all_inner_texts() == ["0", "0.66667", "0.33333", "0.11111"]
