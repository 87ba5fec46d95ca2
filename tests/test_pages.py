"""The example pages in headless Chromium: they train, the loss falls, nothing complains; a screenshot of each is
kept."""

import base64
import time

import pytest

from buildtools import pages
from buildtools.browser import COMPILING, serve
from buildtools.paths import BUILD, ROOT

# A selector: under the pages' Content-Security-Policy a condition would be text that is evaluated.
FINISHED = "body[data-state=done], body[data-state=failed]"


@pytest.fixture(scope="module")
def site(dist):
    """The address under which `build.py serve` would show the pages."""
    pages.bring_weights()
    with serve(ROOT, policy=COMPILING) as address:
        yield address


@pytest.fixture
def opened(browser, site):
    """opened(path): the page, once it has trained; a screenshot of it lies in .build/screenshots/."""
    page = browser.new_page(viewport={"width": 1000, "height": 1150})
    page.set_default_timeout(120_000)  # milliseconds: other tests use the machine, too
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))

    def open_(path: str, name: str):
        page.goto(f"{site}/examples/{path}")
        page.wait_for_selector(f"body[data-state=asking], {FINISHED}")
        if page.locator("#asking").count():  # it wants weights
            page.click("#asking")
        page.wait_for_selector(FINISHED)
        assert page.inner_text("#message") == "" and complaints == []
        (BUILD / "screenshots").mkdir(parents=True, exist_ok=True)
        shot = page.screenshot(path=BUILD / "screenshots" / f"{name}.png", full_page=True)
        assert len(shot) > 20_000, "the picture is empty"
        return page

    yield open_
    page.close()


def inked(page, selector: str, colour: tuple[int, int, int]) -> int:
    """How many of a chart's pixels have the colour of its line."""
    return page.evaluate(
        """([selector, colour]) => {
      const canvas = document.querySelector(selector), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && colour.every((c, k) => Math.abs(data[i + k] - c) < 24)) count++;
      return count;
    }""",
        [f"{selector} canvas", colour],
    )


ORANGE, BLUE = (217, 72, 15), (47, 95, 222)


@pytest.mark.parametrize(
    "device, function, steps, bound", [("cpu", "waves", 250, 0.02), ("webgpu", "a corner", 40, 0.04)]
)
def test_the_curve(device, function, steps, bound, opened):
    page = opened(f"curve/?steps={steps}&device={device}&function={function}", f"curve-{device}")
    assert page.inner_text("#where") == {"cpu": "CPU", "webgpu": "WebGPU"}[device]
    assert page.inner_text("#step") == f"{steps} / {steps}"
    assert float(page.inner_text("#loss")) < bound
    assert inked(page, "#curve", BLUE) > 800 and inked(page, "#losses", ORANGE) > 400


def test_the_digits(opened):
    page = opened("digits/?steps=30&how=mlp adam", "digits")
    assert page.inner_text("#where") == "WebGPU"
    assert page.inner_text("#step") == "30 / 30"
    assert float(page.inner_text("#loss")) < 0.5
    assert float(page.inner_text("#accuracy").split()[0]) > 80
    assert page.locator("#digits figure").count() == 44 and page.locator("#digits .wrong").count() < 12
    assert inked(page, "#losses", ORANGE) > 400


SEVEN = [(0.3, 0.25), (0.7, 0.25), (0.5, 0.55), (0.42, 0.85)]
ONE = [(0.5, 0.15), (0.5, 0.85)]


def test_a_drawn_digit_is_read_and_learned(opened):
    page = opened("draw/?steps=60&device=cpu&seed=0", "draw")

    def drawn(places: list[tuple[float, float]]) -> str:
        """Draws a line through places of the paper; the digit that it is taken for."""
        page.click("#clear")
        page.wait_for_selector("#said:text-is('–')")
        box = page.locator("#drawing").bounding_box()
        at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]
        page.mouse.move(*at[0])
        page.mouse.down()
        for x, y in at[1:]:
            page.mouse.move(x, y, steps=6)
        page.mouse.up()
        page.wait_for_selector("#bars[aria-busy=false]")
        return page.inner_text("#said")

    assert drawn(SEVEN) == "7" and drawn(ONE) == "1"
    for _ in range(2):  # the user says that such a line is a 4, which it then is
        drawn(ONE)
        page.click(".guess >> nth=4")
        page.wait_for_selector("#said:text-is('–')")
    assert page.locator("#own figure").count() == 2
    assert drawn(ONE) == "4" and drawn(SEVEN) == "7"


# The signal to noise of the picture's mean colour, which a network that has learned nothing else may say everywhere.
CONSTANT = """() => {
  const canvas = document.getElementById("wanted"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const variances = [0, 1, 2].map((channel) => {
    const values = Array.from(data).filter((_, i) => i % 4 === channel).map((value) => value / 255), middle = mean(values);
    return mean(values.map((value) => (value - middle) ** 2));
  });
  return -10 * Math.log10(mean(variances));
}"""


def test_the_field(opened):
    page = opened("field/?steps=40&device=cpu&picture=letters", "field")
    assert page.inner_text("#step") == "40 / 40"
    assert float(page.inner_text("#noise").split()[0]) > page.evaluate(CONSTANT) + 4
    assert page.evaluate("document.getElementById('learned').width") == 320


def test_the_painter(opened):
    page = opened("style/?steps=25&device=cpu&picture=hills&manner=strokes", "style")
    assert page.inner_text("#step") == "25 / 25"
    assert float(page.inner_text("#loss")) < 8  # at first, with the picture as it was: 22
    assert page.evaluate("document.getElementById('painted').width") == 160
    assert inked(page, "#losses", ORANGE) > 200


def test_the_writer(opened):
    page = opened("gpt/?steps=60&device=cpu&seed=0", "gpt")
    assert page.inner_text("#step") == "60 / 60"
    assert float(page.inner_text("#loss")) < 2.75  # at random: 3.9; by how often each letter is there: 3.1
    samples = page.locator("#written li").all_inner_texts()
    assert [sample.partition("\n")[0] for sample in samples] == ["after step 50", "after step 0"]
    assert all(len(sample.partition("\n")[2].replace("\n", " ")) > 150 for sample in samples)
    # What it writes has learned where words end: one letter in five or six is a blank.
    blanks = [sample.partition("\n")[2].count(" ") for sample in samples]
    assert 15 < blanks[0] < 50 and blanks[1] < 15, samples
    assert inked(page, "#losses", ORANGE) > 300
    page.fill("#text", "too short")
    page.click("#start")
    page.wait_for_selector("#message:has-text('a text of at least 192 letters is needed; this one has 9')")


def test_the_search(opened):
    page = opened("search/?device=cpu", "search")
    assert page.inner_text("#count") == "44 / 44"
    first = "#found li:first-child"
    beds = {
        "A warm bed and breakfast cost forty euros a night.",
        "The hotel keeps a room ready for guests who arrive after midnight.",
        "You can pitch a tent in the meadow behind the farm.",
    }
    assert page.inner_text(first).partition("\n")[0] in beds
    page.fill("#asked", "musicians")
    page.wait_for_selector(f"{first}:text-matches('orchestra|violin|choir')")
    page.fill("#text", "One sentence alone.\nAnother about apes.")
    page.dispatch_event("#text", "change")
    page.wait_for_selector("#count:text-is('2 / 2')")
    page.fill("#asked", "monkeys")
    page.wait_for_selector(f"{first}:text-matches('apes')")
    # What it has read when it is stopped can be searched; many lines alike take long enough for that.
    page.evaluate("document.querySelector('#text').value = 'A sentence about trains.\\n'.repeat(4001)")
    page.dispatch_event("#text", "change")
    page.wait_for_selector("#count:text-matches('^[1-9][0-9]* / 4001')")
    page.click("#stop")
    page.wait_for_selector("body[data-state='done']")
    read, _, whole = page.inner_text("#count").partition(" / ")
    assert 0 < int(read) < int(whole) == 4001
    page.fill("#asked", "railways")
    page.wait_for_selector(f"{first}:text-matches('trains')")


# Pictures of stripes or of rings, each in colours and places of its own, as data: addresses.
DRAWN = """([kind, count]) => Array.from({ length: count }, (_, n) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 160, height: 120 }), paint = canvas.getContext("2d");
  const hue = (n * 137) % 360;
  paint.fillStyle = `hsl(${hue} 40% 80%)`;
  paint.fillRect(0, 0, 160, 120);
  paint.strokeStyle = paint.fillStyle = `hsl(${hue + 150} 60% 35%)`;
  paint.lineWidth = 5;
  for (let k = 0; k < 7; k++) {
    if (kind === "stripes") paint.fillRect(0, 16 * k + n, 160, 8);
    else {
      paint.beginPath();
      paint.arc(70 + 4 * n, 60, 9 * k + 3, 0, 7);
      paint.stroke();
    }
  }
  return canvas.toDataURL().split(",")[1];
})"""


def test_the_teacher(opened):
    page = opened("teach/?device=cpu&steps=20", "teach-empty")
    assert page.inner_text("#loaded") == "19 MB" and page.is_disabled("#learn")

    def drawn(kind: str, count: int) -> list:
        pictures = page.evaluate(DRAWN, [kind, count])
        return [
            {"name": f"{kind}{n}.png", "mimeType": "image/png", "buffer": base64.b64decode(picture)}
            for n, picture in enumerate(pictures)
        ]

    asked = {kind: drawn(kind, 5)[-1] for kind in ("stripes", "rings")}
    for n, kind in enumerate(asked):
        page.locator("#classes [type=text]").nth(n).fill(kind)
        page.locator("#classes [type=file]").nth(n).set_input_files(drawn(kind, 4))
    page.wait_for_selector("#count:text-is('8')")
    page.locator(".thumbs canvas").first.click()  # forgotten
    page.wait_for_selector("#count:text-is('7')")
    for what in ("head", "whole"):
        page.select_option("#what", what)
        page.click("#learn")
        page.wait_for_selector("body[data-state=running]")
        page.wait_for_selector(FINISHED)
        assert page.inner_text("#step") == "20 / 20" and float(page.inner_text("#loss")) < 0.45
        for kind, picture in asked.items():
            page.set_input_files("#try", [picture])
            page.wait_for_selector(f"#said li:first-child:has-text('{kind}')")
    # A third class by the webcam, which a test pattern plays.
    page.click("#camera")
    page.wait_for_selector("#video:not([hidden])")
    hold = page.locator(".hold").nth(2)
    hold.hover()
    page.mouse.down()
    page.wait_for_selector("#classes .card:nth-child(3) .thumbs canvas:nth-child(3)")
    page.mouse.up()
    page.select_option("#what", "head")
    page.click("#learn")
    page.wait_for_selector("body[data-state=running]")
    page.wait_for_selector(FINISHED)
    page.wait_for_selector("#said li:first-child:has-text('Class 3')")
    page.screenshot(path=BUILD / "screenshots" / "teach.png", full_page=True)
    page.click("#camera")
    page.wait_for_selector("#video", state="hidden")
    assert page.inner_text("#message") == ""


def test_the_diffusion(opened):
    page = opened("diffusion/?weights=none&steps=3&digit=7&device=cpu&seed=0", "diffusion-learning")
    assert page.inner_text("#step") == "3 / 3" and float(page.inner_text("#loss")) > 0
    page = opened("diffusion/?device=cpu&seed=0", "diffusion")
    assert page.inner_text("#drawn") == "24 steps"
    dark = """() => {
      const canvas = document.getElementById("pictures"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, i) => i % 4 === 0 && value < 90).length / (canvas.width * canvas.height);
    }"""
    assert 0.06 < page.evaluate(dark) < 0.25  # ink, as in the digits that it has seen: 0.13 with the paper around them


def test_the_pole(opened):
    page = opened("balance/?updates=14&device=cpu&seed=0", "balance")
    assert page.inner_text("#update") == "14 / 14"
    assert int(page.inner_text("#stood").split()[0]) > 60  # at random: 22
    page.wait_for_selector("#age:has-text('s')")  # the one that the visitor may push drives
    assert inked(page, "section:has(#cart)", ORANGE) > 800  # its pole


def test_the_automaton(opened):
    page = opened("automaton/?steps=30&device=cpu&picture=fish&seed=0", "automaton")
    assert page.inner_text("#step") == "30 / 30"
    # By the rule that nobody has trained the one cell stays alone.
    living = """() => {
      const canvas = document.getElementById("grown"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, i) => i % 4 === 3 && value > 20).length;
    }"""
    deadline = time.monotonic() + 30
    while page.evaluate(living) < 40 and time.monotonic() < deadline:
        page.wait_for_timeout(100)
    assert page.evaluate(living) >= 40


def test_the_list_leads_to_every_page(browser, site):
    page = browser.new_page()
    page.goto(f"{site}/examples/index.html")
    links = page.eval_on_selector_all(".list a", "links => links.map((link) => link.getAttribute('href'))")
    assert {f"examples/{link}" for link in links} == set(pages.PAGES)
    for link in links:
        assert page.request.get(f"{site}/examples/{link}").ok
    page.close()
