"""A folder of definitions beside the package's own (`build.py --ops`): their types, and calls of them."""

import json
import shutil

import pytest

from buildtools import node, package
from buildtools.paths import EARLIER, ROOT

DEFINITIONS = """
op bump(mut x: Float, *, by: real = 1)
    "Adds a number, in place."
    as torch.bump
    x = x + by

op mix_both(mut a: Float, mut b: Float, w: real = 0.5)
    "Both become what lies between them."
    as torch.mix_both
    m = a + w * (b - a)
    a = m
    b = m

op spill(mut a: Float, w: real = 0.5) -> Float
    "What is taken away."
    as torch.nn.functional.spill
    out = a * w
    a = a * (1 - w)

op reglu(x: Float, y: Float) = relu(x) * y
    "One half gates the other."
    as torch.reglu

op ends(input: Float[*B, N], mut seen: Float[N]) -> (first: Float[*B], last: Float[*B])
    "Both ends of each row."
    as torch.ends
    require N > 0, "there is nothing in a row"
    first[*b] = input[*b, 0]
    last[*b] = input[*b, N - 1]
    seen[n] = seen[n] + 1
"""

USER = """
import * as torch from "tensorloom";
const x = torch.zeros([2]), y = torch.ones([2]), F = torch.nn.functional;
const nothing: void = torch.bump(x, { by: 2 });
const none: void = x.bump();
torch.mix_both(x, y);
torch.mix_both(x, y, 0.25);
x.mix_both(y, { w: 0 });
const taken: torch.Tensor = F.spill(x), { first, last } = torch.ends(x, y);
const options: torch.BumpOptions = { by: 1 };
// @ts-expect-error there is no result
torch.bump(x, options).add(1);
// @ts-expect-error a number is no tensor that can change
torch.bump(1);
export { nothing, none, taken, first, last };
"""

CALLS = """
import * as torch from "tensorloom";
const x = torch.zeros([2]), y = torch.ones([2]), w = torch.ones([2], { requires_grad: true }), z = w.mul(2);
const said = (f) => { try { f(); return ""; } catch (e) { return `${e.name}: ${e.message}`; } };
const out = { nothing: [torch.bump(x, { by: 2 }), x.bump(), torch.mix_both(x, y, 0.25)].map((v) => v === undefined) };
Object.assign(out, { x: await x.tolist(), taken: await torch.nn.functional.spill(y).tolist(), left: await y.tolist() });
Object.assign(out, { leaf: said(() => torch.bump(w)), part: said(() => torch.bump(z)), view: said(() => torch.ones([1]).expand([2]).bump()) });
torch.no_grad(() => torch.bump(w));
const at = torch.tensor([-1, 0, 2], { dtype: "float32", requires_grad: true });
torch.reglu(at, torch.full([3], 3)).sum().backward();
console.log(JSON.stringify({ ...out, w: await w.tolist(), gate: await at.grad.tolist() }));
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the package built with those definitions."""
    folder = tmp_path_factory.mktemp("added")
    (folder / "ops").mkdir()
    (folder / "ops" / "added.op").write_text(DEFINITIONS)
    package.build(folder / "node_modules" / "tensorloom", folder / ".build" / "src", [folder / "ops"], EARLIER)
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    return folder


def test_a_strict_project_that_calls_them_compiles(project):
    """Types of results, of none, and of what is changed: every name in the package's declarations is declared."""
    (project / "main.ts").write_text(USER)
    shutil.copy(ROOT / "tests" / "user_project" / "tsconfig.json", project)
    done = node.run([node.compiler(), "--project", project, "--skipLibCheck", "false"], cwd=project)
    assert done.returncode == 0, done.stdout


def test_an_op_that_only_changes_its_arguments_answers_nothing_and_loses_no_gradient(project):
    (project / "calls.mjs").write_text(CALLS)
    out = json.loads(node.run(["calls.mjs"], cwd=project).stdout)
    assert out["nothing"] == [True, True, True] and out["x"] == [2.5, 2.5] and out["taken"] == out["left"] == [1.25, 1.25]
    assert "leaf Variable" in out["leaf"] and out["leaf"].startswith("AutogradError: bump:")
    assert out["part"].startswith("AutogradError: bump: 'x' requires a gradient") and "single memory location" in out["view"]
    assert out["w"] == [2, 2]
    assert out["gate"] == [0, 0, 3], "relu says that it has no slope at zero"
