"""A folder of definitions beside the package's own (`build.py --ops`): their types, and calls of them."""

import json
import shutil

import numpy as np
import pytest
from definitions import LIBRARY

from buildtools import node, package
from buildtools.paths import EARLIER, NODE_MODULES, ROOT
from codegen.data.errors import OpError
from dsl.library import load_text
from workbench.function import Function

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

op settle(input: Float, way: "there" | "back" | "both" = "back", *, slow: bool = false)
    "Itself, where there is something."
    as torch.settle
    require numel(input) > 0 and (way != "both" or not slow), "nothing goes {way}, slow {slow}, for {numel(input)}"
    out = input * (2 if way == "both" else 1)

op settle_there(input: Float, slow: bool)
    "The same, there."
    as torch.settle_there
    out = settle(input, "there", slow=slow)

op ends(input: Float[*B, N], mut seen: Float[N]) -> (first: Float[*B], last: Float[*B])
    "Both ends of each row."
    as torch.ends
    require N > 0, "there is nothing in a row"
    first[*b] = input[*b, 0]
    last[*b] = input[*b, N - 1]
    seen[n] = seen[n] + 1

op ends_of(x: Int[N, M]) -> (low: Int[N], high: Int[N], where_low: Int[N])
    "The ends of each row of whole numbers."
    as torch.ends_of
    low[n] = min[m] x[n, m]
    high[n] = max[m] x[n, m]
    where_low[n] = argmin[m] x[n, m]

op ends_above(x: Int[N, M], floor: int) -> (low: Int[N], high: Int[N])
    "The ends of what is above a number."
    as torch.ends_above
    low[n] = min[m if x[n, m] > floor] x[n, m]
    high[n] = max[m if x[n, m] > floor] (2 * x[n, m] - 1)

op ends_until(x: Int[N, M]) -> (low: Int[N, M], high: Int[N, M])
    "The ends of what comes before each element."
    as torch.ends_until
    low[n, m] = min[j if j < m] x[n, j]
    high[n, m] = max[j if j < m] x[n, j]

op ends_of_windows(x: Int[N], k: int) -> (low: Int[N], high: Int[N])
    "The ends of the next `k` elements."
    as torch.ends_of_windows
    require k >= 0, "no window is shorter than nothing"
    low[n] = min[j < k] x[n + j] ?? 7
    high[n] = max[j < k] x[n + j] ?? 7

op ends_of_all(x: Int[*A, M]) -> (low: Int[], high: Int[], real: Float[])
    "The ends of everything."
    as torch.ends_of_all
    low[] = min[*a, m] x[*a, m]
    high[] = max[*a, m] x[*a, m]
    real[] = max[*a, m] x[*a, m] * 0.5

op share_of_bits(x: Bits[N]) -> Float[]
    "How many are not zero, as a fraction."
    as torch.share_of_bits
    out[] = mean[n] (1 if x[n] != 0 else 0)
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

# Arguments of ops for so many elements -> what the message says.
SETTLED = [
    ("settle", 0, [], {}, "nothing goes back, slow false, for 0"),
    ("settle", 0, ["there"], {"slow": True}, "nothing goes there, slow true, for 0"),
    ("settle", 2, ["both"], {"slow": True}, "nothing goes both, slow true, for 2"),
    ("settle", 2, ["both"], {}, ""),
    ("settle", 2, ["back"], {"slow": True}, ""),
    ("settle_there", 0, [True], {}, "nothing goes there, slow true, for 0"),
    ("settle_there", 1, [True], {}, ""),
]


NOTHING = """
import * as torch from "tensorloom";
const on = process.argv[2], ints = { dtype: torch.int32, device: on };
if (on === "webgpu") await torch.initWebGPUAsync();
const x = torch.tensor([[3, -4], [5, 6]], ints), none = torch.zeros([2, 0], ints), out = {};
const all = async (name, results) => { out[name] = await Promise.all([...results].map((r) => r.tolist())); };
await all("above", torch.ends_above(x, 4));
await all("above none", torch.ends_above(none, 4));
await all("until", torch.ends_until(x));
await all("windows", torch.ends_of_windows(torch.tensor([1, 2], ints), 0));
await all("wide windows", torch.ends_of_windows(torch.tensor([1, 20], ints), 2));
await all("all", torch.ends_of_all(none));
await all("large", torch.ends_of_all(torch.tensor([16777217, 2147483647], ints)));
await all("share", [torch.share_of_bits(torch.tensor([true, false], { device: on })), torch.share_of_bits(torch.tensor([4, 0, 0, 1], ints))]);
await all("of", torch.ends_of(x));
const { low, high } = torch.ends_of(none);
await all("of none", [low, high]);
console.log(JSON.stringify(out, (_, v) => (v === Infinity ? "inf" : v === -Infinity ? "-inf" : v)));
process.exit(0);
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the package built with those definitions."""
    folder = tmp_path_factory.mktemp("added")
    (folder / "ops").mkdir()
    (folder / "ops" / "added.op").write_text(DEFINITIONS)
    package.build(folder / "node_modules" / "tensorloom", folder / ".build" / "src", [folder / "ops"], EARLIER)
    (folder / "node_modules" / "webgpu").symlink_to(NODE_MODULES / "webgpu")
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
    assert (
        out["nothing"] == [True, True, True] and out["x"] == [2.5, 2.5] and out["taken"] == out["left"] == [1.25, 1.25]
    )
    assert "leaf Variable" in out["leaf"] and out["leaf"].startswith("AutogradError: bump:")
    assert (
        out["part"].startswith("AutogradError: bump: 'x' requires a gradient")
        and "single memory location" in out["view"]
    )
    assert out["w"] == [2, 2]
    assert out["gate"] == [0, 0, 3], "relu says that it has no slope at zero"


def test_messages_name_choices_and_bools(project):
    """In Python and in the package; a number says nothing to who chose a text."""
    library, errors, _ = load_text(DEFINITIONS, beside=LIBRARY)
    assert not errors
    said = lambda error: str(error).partition(": ")[2]
    for name, size, args, options, wanted in SETTLED:
        try:
            Function(library.ops[name], library).numpy(np.zeros(size, np.float32), *args, **options)
        except OpError as error:
            assert said(error) == wanted
        else:
            assert wanted == ""
    (project / "settled.mjs").write_text(f"""
import * as torch from "tensorloom";
const said = (f) => {{ try {{ f(); return ""; }} catch (e) {{ return e.message; }} }};
console.log(JSON.stringify({json.dumps(SETTLED)}.map(([name, size, args, options]) => said(() => torch[name](torch.zeros([size]), ...args, options)))));
""")
    assert [m.partition(": ")[2] for m in json.loads(node.run(["settled.mjs"], cwd=project).stdout)] == [
        wanted for *_, wanted in SETTLED
    ]


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_least_and_largest_of_no_whole_numbers_are_the_ends_of_32_bits(project, device):
    (project / "nothing.mjs").write_text(NOTHING)
    done = node.run(["nothing.mjs", device], cwd=project)
    most, least = 2**31 - 1, -(2**31)
    assert json.loads(done.stdout) == {
        "above": [[most, 5], [least, 11]],
        "above none": [[most] * 2, [least] * 2],
        "until": [[[most, 3], [most, 5]], [[least, 3], [least, 5]]],
        "windows": [[most] * 2, [least] * 2],
        "wide windows": [[1, 7], [20, 20]],
        "all": [most, least, "-inf"],
        "large": [2**24 + 1, most, 2**30],
        "share": [0.5, 0.5],
        "of": [[-4, 5], [3, 6], [1, 0]],
        "of none": [[most] * 2, [least] * 2],
    }
