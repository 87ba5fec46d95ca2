"""The documentation's website: its links lead somewhere, every public name has a page, and in Chromium its pages are
accessible, quiet, quick, and no wider than a phone."""

import json
import posixpath
import re
from urllib.parse import unquote

import pytest
from browsing import DESK, PHONE, accessible

import website.build
from buildtools import node
from buildtools.paths import BUILD, ROOT
from codegen.earlier import Earlier
from website import figures, guides, markdown
from website.highlight import highlighted
from website.reference import subjects, typings

# A page of each kind.
KINDS = (
    "index.html",
    "guides/index.html",
    "guides/tensors.html",
    "guides/decisions/types.html",
    "reference/index.html",
    "reference/torch.softmax.html",
    "reference/torch.max.html",
    "reference/torch.nn.Linear.html",
    "reference/torch.optim.Adam.html",
    "reference/Tensor.view.html",
    "examples/index.html",
    "tests/index.html",
    "benchmark/index.html",
    "reports/index.html",
    "reports/accuracy.html",
    "playground/index.html",
    "playground/ops.html",
)
# Public values by name, as JavaScript sees them.
EXPORTS = """
import * as torch from %s;
const names = [];
const walk = (space, prefix) => {
  for (const [name, value] of Object.entries(space)) {
    if (value && value[Symbol.toStringTag] === "Module") walk(value, `${prefix}.${name}`);
    else names.push(`${prefix}.${name}`);
  }
};
walk(torch, "torch");
console.log(JSON.stringify(names));
"""


class Links:
    """The links of a page and the places on it."""

    def __init__(self, text: str):
        self.links = {unquote(link) for link in re.findall(r' (?:href|src)="([^"]+)"', text)}
        self.places = set(re.findall(r' id="([^"]+)"', text))


def test_links_lead_somewhere(documentation):
    pages = {
        f.relative_to(documentation).as_posix(): Links(f.read_text(encoding="utf-8"))
        for f in documentation.rglob("*.html")
    }
    assert len(pages) > 1300
    lost = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"\w+:", link):
                continue
            target, _, place = link.partition("#")
            target = f"{target}index.html" if target.endswith("/") else target
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if (
                target not in pages
                and not (documentation / target).is_file()
                or place
                and not place.startswith("code=")  # what the playgrounds are given
                and place not in pages[target].places
            ):
                lost.append(f"{path}: {link}")
    assert not lost, lost[:20]


def test_every_public_name_has_a_page(documentation, dist):
    known = json.loads((documentation / "reference" / "names.json").read_text())
    assert all((documentation / page).is_file() for page in set(known.values()))
    script = EXPORTS % json.dumps((dist / "index.js").as_uri())
    done = node.run(["--input-type=module", "--eval", script])
    exported = json.loads(done.stdout.splitlines()[-1])
    assert len(exported) > 1200
    assert [name for name in exported if name not in known] == []


def test_the_reference_is_sorted_as_pytorchs_users_look_for_it(documentation):
    """All headings are named in one list, none is a file of this repository; what is for users is under one of them."""
    known = json.loads((documentation / "reference" / "names.json").read_text())
    index = (documentation / "reference" / "index.html").read_text()
    headings = re.findall(r"<h2 id=[^>]*>(.*?)</h2>", index)
    assert headings == [name for name in subjects.SUBJECTS if name in headings] and len(headings) > 40
    listed = {f"reference/{page}" for page in re.findall(r'<li data-names="[^"]*"><a href="([^"]+)"', index)}
    left = set(known.values()) - listed
    assert sorted(left) == [
        "reference/torch._safe_softmax.html",
        "reference/torch.nn.init._calculate_fan_in_and_fan_out.html",
        "reference/torch.nn.modules.batchnorm._BatchNorm.html",
    ]
    under = {}
    for section in index.split('<section class="subject">')[1:]:
        (heading,) = re.findall(r"<h2 id=[^>]*>(.*?)</h2>", section)
        for names in re.findall(r'<li data-names="([^"]*)"', section):
            under.update(dict.fromkeys(names.split(), heading))
    for name, heading in {
        "torch.fill": "Creation",
        "torch.abs_": "Arithmetic",
        "torch.squeeze_copy": "Shapes and views",
        "torch.linalg.svd": "Factorizations and solvers",
        "torch.softmax": "Activations",
        "torch.ctc_loss": "Losses",
        "torch.is_tensor": "Types",
        "torch.from_pixels": "Canvas, video and sound",
        "torch.amp.GradScaler": "Mixed precision",
        "torch.random.fork_rng": "Random numbers",
    }.items():
        assert under[name] == heading, name


# What only TypeScript says: lists as T[], unions by bars, functions by arrows, names of its declarations.
TYPES = re.compile(r"\breadonly\b|=&gt;|\w\[\]|\S \| \S|(Options|Class|unknown)\b|^<code>[A-Z]</code>$|__")


def test_the_reference_says_in_words_what_is_taken_and_given(documentation):
    told, seen = [], 0
    for page in sorted((documentation / "reference").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        rows = re.findall(r'<tr><th scope="row"><code>.*?</code></th><td>(.*?)</td>', text)
        rows += re.findall(r"<dt>Gives</dt>\s*<dd>(.*?)</dd>", text)
        seen += len(rows)
        told += [f"{page.stem}: {row}" for row in rows if TYPES.search(row)]
    assert seen > 4000 and told == []


def test_every_page_of_the_reference_says_what_it_is_about(documentation):
    known = json.loads((documentation / "reference" / "names.json").read_text())
    pages = set(known.values())
    assert len(pages) > 1000
    silent = [page for page in pages if '<meta name="description"' not in (documentation / page).read_text()]
    assert sorted(silent) == []


def test_members_of_tensors_have_pages_and_what_only_the_runtime_uses_has_none(documentation, dist):
    """What editors complete after a tensor is what the reference tells."""
    known = json.loads((documentation / "reference" / "names.json").read_text())
    tensor = next(v for v in typings.read(dist, Earlier(None)) if v.name == "torch.Tensor")
    members = {m.name: m for m in tensor.members}
    assert members.keys() > {"dtype", "device", "grad", "requires_grad", "is_leaf", "ndim", "view"}
    assert members.keys().isdisjoint({"node", "currentNode", "lay", "receive", "hiddenGradient", "viewRule"})
    assert [name for name in members if f"Tensor.{name}" not in known] == []
    assert [name for name, m in members.items() if not m.text and m.kind == "property"] == []


def test_titles_of_guides_tell_them_apart(documentation):
    index = (documentation / "guides" / "index.html").read_text(encoding="utf-8")
    titles = re.findall(r"<li><a [^>]*><strong>(.*?)</strong>", index)
    assert len(titles) > 15 and len(set(titles)) == len(titles) and "tensorloom" not in titles


# Of boxes that stand side by side between lines: the share of their frame that they fill.
FILLED = """() => [...document.querySelectorAll(".figures, .tally")].map((frame) =>
  [...frame.children].reduce((sum, { offsetWidth, offsetHeight }) => sum + offsetWidth * offsetHeight, 0) /
    (frame.clientWidth * frame.clientHeight))"""


def test_guides_and_reports_are_no_wider_than_a_phone(documentation, opened):
    """Whatever their texts hold: code in blocks of either kind, tables, formulas."""
    page = opened("guides/index.html", viewport=PHONE)
    paths = [
        file.relative_to(documentation).as_posix()
        for part in ("guides", "reports")
        for file in (documentation / part).rglob("*.html")
    ]
    wide = []
    for path in paths:
        page.goto(f"{page.url.partition('/guides')[0].partition('/reports')[0]}/{path}")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wide.append(path)
    assert len(paths) > 30 and wide == []


@pytest.mark.parametrize("path", KINDS)
def test_pages_are_accessible_quiet_and_narrow(path, opened):
    """By axe, in both themes; at a phone's width nothing scrolls sideways, and rows of figures have no holes."""
    for theme, viewport in (("light", DESK), ("dark", PHONE)):
        page = opened(path, viewport=viewport, color_scheme=theme)
        assert accessible(page) == [], theme
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert all(share > 0.95 for share in page.evaluate(FILLED))
        (BUILD / "screenshots").mkdir(parents=True, exist_ok=True)
        name = f"website-{path.replace('/', '-').removesuffix('.html')}-{theme}.png"
        page.screenshot(path=BUILD / "screenshots" / name)


def test_the_search_finds_names_and_guides(opened):
    page = opened("guides/start.html")
    page.keyboard.press("/")
    for asked, wanted in (
        ("softmax", "torch.softmax"),
        ("max_pool2d", "torch.max_pool2d"),
        ("learning rate", "Training"),
    ):
        page.fill("dialog.search input", asked)
        page.wait_for_selector("#search-found li")
        assert any(wanted in title for title in page.locator("#search-found strong").all_inner_texts()[:6]), asked
    page.fill("dialog.search input", "torch.softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**/reference/torch.softmax.html")


def test_an_example_runs_in_the_page(opened):
    page = opened("reference/torch.softmax.html")
    page.wait_for_selector(".example .run")
    page.locator(".example code").first.fill("torch.softmax(torch.tensor([[0, 1], [2, 2]]), 1)")
    page.click(".example .run")
    page.wait_for_selector(".example output.ran")
    assert page.inner_text(".example output") == "[[0.268941, 0.731059], [0.5, 0.5]]"
    page.locator(".example code").first.fill("torch.softmax(torch.tensor([1]), 3)")
    page.click(".example .run")
    page.wait_for_selector(".example output.failed")
    assert "Dimension out of range" in page.inner_text(".example output")


def test_recorded_answers_are_replayed_in_the_page(opened, figure):
    page = opened("tests/index.html?device=cpu&ops=^(softmax|nn.functional.conv2d|sort|svd)$")
    page.select_option("#tier", "all")
    page.click("#start")
    page.wait_for_selector("body[data-state=done], body[data-state=failed]", timeout=60_000)
    said = page.input_value("#report")
    figure(f"the page of tests: {said.splitlines()[3]}")
    assert re.search(r"answers: \d\d+ right, 0 wrong", said) and "operators all right: 4 of 4" in said
    assert page.locator("#rows tr").count() == 4 and page.inner_text("#message") == ""


@pytest.mark.parametrize("name", ["torch.nn.LayerNorm", "torch.optim.LBFGS"])
def test_an_example_with_statements_gives_what_is_printed(opened, name):
    page = opened(f"reference/{name}.html")
    printed = page.inner_text(".example output")
    page.click(".example .run")
    page.wait_for_selector(".example output.ran")
    assert page.inner_text(".example output") == printed


def test_both_libraries_are_measured_in_the_page(opened):
    page = opened("benchmark/index.html?device=cpu&budget=20&only=matmul,step")
    page.click("#start")
    page.wait_for_selector("body[data-state=done], body[data-state=failed]", timeout=60_000)
    for row in ("matmul", "step"):
        ours, theirs, share = page.locator(f"#row-{row} td").all_inner_texts()
        assert float(ours.split()[0]) > 0 and float(theirs.split()[0]) > 0 and share.endswith(" x")
    assert page.inner_text("#message") == "" and "TensorFlow.js 4" in page.input_value("#report")


def test_pages_of_modules_and_optimizers_say_what_they_take_and_compute(documentation):
    """From the definitions and the sources: settings, defaults, formulas, the gradient, PyTorch's page."""
    text = lambda name: (documentation / "reference" / f"{name}.html").read_text(encoding="utf-8")
    adam, conv, softmax = text("torch.optim.Adam"), text("torch.nn.Conv2d"), text("torch.softmax")
    assert "[0.9, 0.999]" in adam and 'class="katex"' in adam and "ops/optim.op" in adam
    assert "<code>padding_mode</code>" in conv and "&#34;zeros&#34;" in conv
    assert "https://docs.pytorch.org/docs/stable/generated/torch.softmax.html" in softmax
    assert softmax.count('class="katex"') == 5 and "float tensor" in softmax and "ops/reduce.op" in softmax
    assert 'href="torch.softmax.html"' in text("torch.nn.Softmax")


@pytest.mark.parametrize(
    ("name", "parameters"),
    {
        # Arguments by place or by name, which one list of the many that the type allows names.
        "torch.kl_div": {
            "input": "float tensor of any shape: logarithms of probabilities",
            "target": "tensor of the same shape: probabilities",
            "reduction": "number. 0: the loss of each element, 1: their mean, 2: their sum",
            "log_target": "true or false: whether <code>target</code> holds logarithms, too",
        },
        # What a type says of them, and what it says by name beside what is given by place.
        "torch.distributions.Dirichlet": {
            "concentration": "positive tensor [*, shares]; the larger, the nearer a share is to its mean",
            "validate_args": "true or false. Whether parameters and values are checked; on unless "
            "<code>set_default_validate_args(false)</code> said otherwise.",
        },
        # A parameter that is called options, and no value of an overload's switch.
        "torch.compile": {"options": "means nothing here"},
        "torch.func.grad": {
            "has_aux": "true or false: whether <code>f</code> answers a list of the value and something else"
        },
    }.items(),
)
def test_comments_say_what_parameters_are(name, parameters, documentation):
    text = (documentation / "reference" / f"{name}.html").read_text(encoding="utf-8")
    rows = dict(re.findall(r'<tr><th scope="row"><code>([^<]*)</code></th><td>(.*?)</td>', text))
    assert {parameter: rows.get(parameter) for parameter in parameters} == parameters
    if name == "torch.kl_div":  # what is taken where nothing is given, of the function that another one makes callable
        assert "<td><code>false</code></td>" in text
    if name != "torch.compile":
        return
    assert rows.keys() == {"model", "fullgraph", "dynamic", "mode", "backend", "options", "disable"}


@pytest.mark.parametrize(
    ("name", "calls", "gives"),
    [
        ("Tensor.view", "tensor.view(size)\ntensor.view(dtype)", "tensor"),
        ("torch.atleast_1d", "torch.atleast_1d(tensors)\ntorch.atleast_1d(tensor)", "list of tensors or tensor"),
        ("torch.rand", "torch.rand(size, { generator, dtype, device, requires_grad })", "tensor"),
    ],
)
def test_pages_of_functions_by_hand_show_each_way_to_call_them(name, calls, gives, documentation):
    text = (documentation / "reference" / f"{name}.html").read_text(encoding="utf-8")
    (shown,) = re.findall(r'<div class="code call"[^>]*>(.*?)</div>', text, re.S)
    assert re.sub(r"<[^>]+>", "", shown).strip() == calls
    assert f"<dt>Gives</dt><dd>{gives}</dd>" in text


def test_the_theme_is_kept(opened):
    page = opened("index.html", color_scheme="light")
    page.click(".theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_reports_can_be_filtered(opened):
    page = opened("reports/accuracy.html")
    all_rows = page.locator("tbody tr:visible").count()
    page.fill(".filter [type=search]", "acos")
    assert page.locator("tbody tr:visible").count() in range(1, 5) and all_rows > 100
    page.fill(".filter [type=search]", "")
    page.check(".filter [type=checkbox]")
    assert 10 < page.locator("tbody tr:visible").count() < all_rows


def test_earlier_versions_stay_beside_the_new_one(tmp_path):
    """A folder that holds a site of another version keeps it, and each names the other."""
    site = tmp_path / "site"
    (site / "assets").mkdir(parents=True)
    (site / "index.html").write_text("old")
    (site / "versions.json").write_text(json.dumps({"current": {"name": "0.0.9", "path": ""}, "others": []}))
    website.build.keep_earlier(site, "0.1.0")
    assert [f.name for f in site.iterdir()] == ["v0.0.9"] and (site / "v0.0.9" / "index.html").read_text() == "old"
    website.build.write_versions(website.build.Shell(site, "0.1.0"))
    assert json.loads((site / "versions.json").read_text())["others"] == [{"name": "0.0.9", "path": "v0.0.9/"}]
    kept = json.loads((site / "v0.0.9" / "versions.json").read_text())
    assert kept["current"]["name"] == "0.0.9" and kept["others"] == [{"name": "0.1.0", "path": "../"}]
    website.build.keep_earlier(site, "0.1.0")
    assert (site / "v0.0.9" / "index.html").exists()


def test_a_link_to_no_page_is_an_error(tmp_path):
    page = ROOT / "docs" / "start.md"
    with pytest.raises(guides.MissingPage, match="lost.md"):
        markdown.rendered("[here](lost.md)", lambda target: guides.place(f"docs/{target}"))
    assert guides.page(page, "guides/start.html").title == "Start"


def test_figures_are_those_of_the_pages():
    text = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    for model in figures.models():
        row = next(line for line in text.splitlines() if line.startswith(f"| {model.name} "))
        _, _, ours, *_, torch, _ = row.split("|")
        assert (float(ours.split()[0]), float(torch)) == (model.ours, model.torch), model
    assert len(figures.headline()) == 4


def test_definitions_are_coloured():
    html = highlighted('op f(x: Float) -> Float = sum(x)\n    "Adds."\n    as torch.f\n', "op")
    for kind, text in (("k", "op"), ("nf", "f"), ("kt", "Float"), ("s2", '"Adds."'), ("k", "as")):
        assert f'<span class="{kind}">{text}</span>' in html, (kind, html)
