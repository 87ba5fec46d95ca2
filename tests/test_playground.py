"""What the op playground's page is told of a text (workbench/playground.py): without numpy, as in the page, and as
right as the package and numpy are."""

import json
import subprocess
import sys

import numpy as np
import pytest

import workbench
from buildtools import node
from buildtools.paths import ROOT
from dsl.library import standard
from dsl.testing.examples import flat
from website.playground import ops as op_playground
from website.playground.link import link
from workbench import examples_data
from workbench.playground import alone, answer, page

SWISH = "op swish(x: Float, b: real = 1) = x * sigmoid(b * x)\n"
WITHOUT = """
import json, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "ml_dtypes", "wgpu", "wasmtime"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from workbench.playground import answer
print(answer(sys.stdin.read()))
"""


def test_a_text_is_compiled_without_numpy():
    asked = json.dumps({"text": SWISH, "inputs": {"x": "64x1000"}})
    done = subprocess.run([sys.executable, "-c", WITHOUT], input=asked, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(answer(asked))


def test_all_that_is_shown_of_an_op():
    found = page(SWISH, {"x": "64x1000", "b": "2"})
    op = found["op"]
    f = workbench.op(SWISH)
    assert found["errors"] == [] and found["ops"] == ["swish"] and [*found["made"]["functions"]] == ["swish"]
    assert found["module"] == "" and "export function swish(" in page(SWISH, module=True)["module"]
    assert (
        op["formula"]
        == r"\begin{aligned} \mathrm{out} &= x \cdot \operatorname{sigmoid}\left(b \cdot x\right) \end{aligned}"
    )
    assert op["derived"] == "derived" and r"\overline{x} &=" in op["gradient"] and "d_x[" in op["program"]
    assert op["parameters"][1] == {"name": "b", "what": "number", "default": "1", "text": "2"}
    assert op["arguments"] == {
        "args": [{"tensor": None, "shape": [64, 1000], "dtype": "float32"}, {"value": 2}],
        "options": {},
    }
    shape = np.zeros((64, 1000), np.float32)
    assert [part["title"] for part in op["kernels"]] == ["The call", "Its gradient"]
    for part, gradient in zip(op["kernels"], (False, True)):
        assert part["wasm"] == f.wasm(shape, b=2, gradient=gradient)
        assert len(part["wgsl"]) == 1 and part["wgsl"][0].startswith("// ") and "@compute" in part["wgsl"][0]


@pytest.mark.parametrize(
    "text, line, message, label",
    [
        (SWISH.replace("sigmoid", "sigmod"), 1, "unknown function `sigmod`", "did you mean `sigmoid`?"),
        ("\n" + SWISH.replace("b * x)", "b * y)"), 2, "unknown name `y`", ""),
        ("op f(x: Flot) = x\n", 1, "", "did you mean `Float`?"),
        ("op f(x: Float) = x +\n", 1, "", ""),
    ],
)
def test_mistakes_are_told_with_their_places(text, line, message, label):
    found = page(text)
    (error,) = found["errors"]
    assert error["line"] == line and message in error["message"] and label in error["label"]
    assert 0 <= error["from"] < error["to"] <= len(text) + 1 and "op" not in found


def test_places_are_counted_as_editors_do():
    """A letter outside of the first plane has two units in JavaScript."""
    (error,) = page('op f(x: Float) = x\n    "😀" 1\n')["errors"]
    (plain,) = page('op f(x: Float) = x\n    "ab" 1\n')["errors"]
    assert error["from"] == plain["from"]


def test_definitions_of_the_library_are_tried_out_as_they_are():
    """With the functions of formulas that they call; whatever was looked at before."""
    shelf = standard()
    for name in ("softmax", "exp", "cross_entropy", "conv2d", "eq", "sort", "add"):
        op = shelf.ops[name]
        found = page(alone(op))
        assert found["errors"] == [] and found["op"] is not None, name
    assert "def logistic(" in alone(shelf.ops["silu"])


def test_a_name_that_is_called_beneath_is_refused():
    """The library's `sigmoid` calls `logistic`, which would be this one."""
    mine = "def logistic(x) = x\n\nop f(x: Float) = sigmoid(logistic(x))\n"
    (error,) = page(mine)["errors"]
    assert "which ops that are called here call in their turn" in error["message"]
    assert page(mine.replace("sigmoid", "tanh"))["errors"] == []


def test_arguments_that_do_not_fit_are_told():
    text = "op mm(a: Float[M, K], b: Float[K, N]) -> Float[M, N]\n    out[m, n] = sum[k] a[m, k] * b[k, n]\n"
    first = page(text)["op"]
    assert [p["text"] for p in first["parameters"]] == ["2x3", "3x4"] and first["problem"] == ""
    for inputs, said in (
        ({"a": "2x3", "b": "2x4"}, "these shapes do not go together"),
        ({"a": "[[1, 2], [3]]", "b": "2x4"}, "different lengths"),
        ({"a": "2x3", "b": "what"}, "write its elements"),
        ({"a": "2x3:float7", "b": "3x4"}, "no type 'float7'"),
        ({"a": '[["x"]]', "b": "3x4"}, "no number"),
    ):
        op = page(text, inputs)["op"]
        assert said in op["problem"] and op["kernels"] == [], inputs


def test_the_op_that_is_asked_for_is_shown():
    text = SWISH + "\nop twice(x: Float) = 2 * x\n"
    assert page(text)["op"]["name"] == "twice" and page(text, None, "swish")["op"]["name"] == "swish"
    assert page(text)["ops"] == ["swish", "twice"]
    assert page("") == {"errors": [], "ops": []} and page("# nothing\n")["errors"] == []


@pytest.mark.parametrize("file", sorted(op_playground.DEFINITIONS.glob("*.op")), ids=lambda f: f.stem)
def test_examples_are_right(file):
    found = page(op_playground.example(file)["code"])
    assert found["errors"] == [] and found["op"]["problem"] == "" and all("why" not in t for t in found["tests"])
    assert workbench.op(file.read_text(encoding="utf-8"), on="numpy").check(2)


RUN = """
import { readFileSync } from "node:fs";
import * as torch from %s;
import { runTest } from %s;
const found = [];
for (const test of JSON.parse(readFileSync(%s, "utf8"))) found.push(await runTest(test, torch, {}));
console.log(JSON.stringify(found));
"""


def test_tests_run_in_javascript_as_in_numpy(dist, tmp_path, figure):
    """All of the library's, with its own functions in the place of a visitor's; with other numbers they fail."""
    shelf, asked = standard(), []
    for op in map(shelf.ops.__getitem__, shelf.trees):
        if op.aliases and op.name != "cdist_of_order":  # its test asks it for what another overload takes
            asked += examples_data.in_order(op, shelf.library, shelf.sources[op.file])
    left = [t for t in asked if "why" in t]
    asked = [t for t in asked if "why" not in t]
    wrong = [{**t, "want": {"value": [12345.0]}} for t in asked[:100] if "want" in t]
    file = tmp_path / "tests.json"
    file.write_text(json.dumps(asked + wrong))
    scripts = ROOT / "website" / "scripts" / "playground" / "op_tests.mjs"
    program = RUN % tuple(json.dumps(x) for x in ((dist / "index.js").as_uri(), scripts.as_uri(), str(file)))
    done = node.run(["--input-type=module", "-e", program])
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout.splitlines()[-1])
    failed = [(t["text"], r["said"]) for t, r in zip(asked, found) if not r["holds"]]
    figure(f"tests of definitions run as the op playground does: {len(asked)}, {len(left)} it cannot run")
    assert failed == [], "\n".join(map(str, failed))
    assert len(asked) > 500 and len(left) < len(asked) / 20
    assert not any(r["holds"] for r in found[len(asked) :])


def test_shared_definitions_are_packed_as_the_page_does():
    text = SWISH + "# ü\n"
    _, _, packed = link("ops.html", text).partition("#")
    script = (ROOT / "website" / "scripts" / "playground" / "share.mjs").as_uri()
    program = f'import {{ unpacked }} from "{script}";\nconsole.log(JSON.stringify(await unpacked("#{packed}")));'
    assert json.loads(node.run(["--input-type=module", "-e", program]).stdout) == text


def test_elements_are_counted_as_numpy_does():
    from workbench.examples_data import dtype

    assert [dtype(x) for x in ([1, 2], [1.0, 2], [True], [[]])] == ["int64", "float64", "bool", "float64"]
    assert flat([[1, 2], [3, 4]])[0] == (2, 2)
