"""Ops that a JavaScript program defines while it runs (runtime/definitions): the compiler's answers, and what the
package makes of them.  Pyodide itself runs in the op playground's tests (tests/test_playgrounds.py)."""

import json
import re
import subprocess
import sys

import pytest

import workbench
from buildtools import node
from buildtools.compiler_archive import LEFT_OUT, LIBRARIES
from buildtools.paths import ROOT
from workbench.run_time import answer, compiled

SWISH = "op swish(x: Float, b: real = 1) = x * sigmoid(b * x)\n"
# Everything that data has beyond numbers and texts: routines and bodies of its own and of the library, formulas of
# sizes, requirements over elements, names, overloads, complex numbers, results in place, tables, classes of modules.
ALL = (
    SWISH
    + """
def laguerre(x, n)
    "Laguerre's polynomial of degree n."
    a, b = 1, 1 - x
    for k in 1 .. n while not isnan(b): a, b = b, ((2 * k + 1 - x) * b - k * a) / (k + 1)
    out = b if n > 0 else 1
    grad x = 1 if n == 1 else 0

op lag(x: Float, n: int)
    out = laguerre(x, n)

op first(x: Float[N], k: int) -> Float[M]
    where M = min(N, k)
    as first, leading
    require k > 0, "k must be positive, got {k}"
    require all[n] (x[n] >= 0), "nothing may be negative"
    itself when k == 7
    out[i] = x[i]

op first_of_rows(x: Float[B, N], k: int) -> Float[B, M]
    where M = min(N, k)
    as first
    out[b, i] = x[b, i]

op raised(a: Float[*B, N]) -> Float[*B, N]
    where R = numel(B)
    launch raise over b < R groups of 64:
        each i < N: out[b, i] = a[b, i] + 1
    grad a = g

op blurred(x: Float[N]) -> Float[N]
    w = [0.25, 0.5, 0.25]
    out[i] = sum[k] w[k] * (x[i + k - 1] ?? 0)

op ordered(x: Float[N]) -> (values: Float[N], places: Int[N])
    o = order_of_rows(x)
    places[i] = o[i]
    values[i] = x[o[i]]

op joined(re: Float[N], im: Float[N]) -> Complex[N]
    out[n, c] = re[n] if c == 0 else im[n]

op powers(z: Complex[N]) -> Float[N]
    as power
    out[n] = z[n, 0] ** 2 + z[n, 1] ** 2

op power_of_rows(z: Complex[B, N]) -> Float[B]
    as power
    out[b] = sum[n, c] z[b, n, c] ** 2

op gated(x: Float, limit: real, slope: real = 0.5) -> Float
    module Gate(limit as below, slope)
    module Open(slope, limit = 0) prints "{slope}"
    require slope < 4, "slope must be below 4, got {slope}"
    out = x if x > limit else slope * x

op add_to(mut x: Float, y: Float)
    x = x + y
"""
)
# Stands for a Pyodide that is loaded: the same Python, in a process of its own.
STAND_IN = """
import { execFileSync } from "node:child_process";
const asked = (request) => execFileSync(%s, ["-c", "import sys; from workbench.run_time import answer; print(answer(sys.stdin.read()))"],
  { input: request, cwd: %s, encoding: "utf8" });
const unpacked = [];
const pyodide = {
  unpackArchive: (bytes, kind) => unpacked.push([new TextDecoder().decode(bytes), kind]),
  pyimport(name) {
    if (name !== "workbench.run_time") throw new Error(name);
    if (unpacked.at(-1)[0] !== "archive") throw new Error("Traceback\\nModuleNotFoundError: No module named 'workbench'");
    return { answer: asked };
  },
};
"""
PROGRAM = (
    """
import * as torch from %s;
import { DefinitionError, loadCompiler, opsOf } from %s;
"""
    + STAND_IN
    + """
const archive = new TextEncoder().encode("archive"), compiler = await loadCompiler(archive, { pyodide });
const refused = async (f) => {
  try {
    await f();
    return null;
  } catch (error) {
    return [error.constructor.name, error.message, error.line ?? 0, error.column ?? 0];
  }
};
const found = {};
async function complexOnes() {
  const z = torch.view_as_complex(torch.tensor([[1, 2], [3, 4]])).requires_grad_();
  ops.power(z).sum().backward();
  return {
    powers: [await ops.power(z).tolist(), await ops.power(torch.stack([z, z])).tolist(), await ops.power(torch.tensor([2, 3])).tolist()],
    slope: await torch.view_as_real(z.grad).tolist(),
    // What is linear takes complex numbers by their parts.
    blurred: await torch.view_as_real(ops.blurred(z)).tolist(),
  };
}
async function modules() {
  const gate = new ops.Gate({ below: 1 }), net = torch.nn.Sequential(ops.Open(2), gate);
  return [await net(torch.tensor([-1, 0.5, 2])).tolist(), String(net), gate instanceof torch.nn.Module, (await refused(() => ops.Gate(1, 4)))[1], (await refused(() => ops.Gate()))[1]];
}
const ops = compiler.ops(%s);
found.names = Object.keys(ops);
for (const device of ["cpu", "webgpu"]) {
  if (device === "webgpu" && !(await torch.initWebGPUAsync())) continue;
  torch.setDefaultDevice(device);
  const x = torch.tensor([0.5, 1, 2], { requires_grad: true }), y = torch.tensor([1, 2, 3], { requires_grad: true });
  ops.swish(x, { b: 2 }).add(ops.lag(x, 1)).add(ops.raised(x)).add(ops.blurred(x)).sum().backward();
  const [values, places] = ops.ordered(torch.tensor([3, 1, 2])), changed = torch.tensor([1, 2]);
  ops.add_to(changed, torch.tensor([1, 1]));
  // A gradient of a gradient is derived in the package.
  const s = ops.swish(y).sum(), [once] = torch.autograd.grad(s, [y], { create_graph: true }), [twice] = torch.autograd.grad(once.sum(), [y]);
  found[device] = {
    slopes: await x.grad.tolist(),
    twice: await twice.tolist(),
    first: [await ops.leading(torch.tensor([1, 2, 3]), { k: 2 }).tolist(), await ops.first(torch.tensor([[1, 2, 3]]), 2).tolist()],
    ordered: [await values.tolist(), await places.tolist()],
    changed: await changed.tolist(),
    joined: String(await torch.view_as_real(ops.joined(torch.tensor([1]), torch.tensor([2]))).tolist()),
    profiled: ops.swish.name,
    ...(await complexOnes()),
    modules: await modules(),
  };
}
torch.setDefaultDevice("cpu");
found.refused = {
  element: await refused(() => ops.first(torch.tensor([-1]), 2)),
  number: await refused(() => ops.first(torch.tensor([1]), 0)),
  mistake: await refused(() => compiler.op("op f(x: Float) = x\\n\\nop g(x: Float) = yy\\n")),
  several: await refused(() => compiler.op("op f(x: Float) = x\\n\\nop g(x: Float) = 2 * x\\n")),
  absent: await refused(() => compiler.op("op f(x: Float) = x\\n", "g")),
  nothing: await refused(() => compiler.op("# nothing\\n")),
  name: await refused(() => loadCompiler(archive, { pyodide, name: "a b" })),
  archive: await refused(() => loadCompiler(new Uint8Array(3), { pyodide })),
  pyodide: await refused(() => loadCompiler(archive, { pyodide: "/no/such/folder" })),
  version: await refused(() => opsOf({ ...compiler.compile("op f(x: Float) = x\\n"), version: "9.0.0" })),
};
found.typed = (await refused(() => compiler.op("op f(x: Flot) = x\\n")))[0] === "DefinitionError" && DefinitionError.prototype instanceof Error;
found.chosen = await compiler.op("op f(x: Float) = x\\n\\nop g(x: Float) = 2 * x\\n", { name: "g" })(torch.tensor([2])).tolist();
console.log(JSON.stringify(found));
"""
)


@pytest.fixture(scope="module")
def found(dist):
    values = (
        (dist / "index.js").as_uri(),
        (dist / "runtime/definitions/index.js").as_uri(),
        sys.executable,
        str(ROOT),
        ALL,
    )
    done = node.run(["--input-type=module", "-e", PROGRAM % tuple(map(json.dumps, values))])
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def test_answers_are_data_alone():
    """And come without numpy and without templates."""
    made = compiled(ALL, "own")["made"]
    assert made == json.loads(json.dumps(made))
    assert made["functions"]["first"] == ["first", "first_of_rows"] and made["ops"][0]["data"]["name"] == "own.swish"
    assert json.loads(answer(json.dumps({"text": SWISH, "home": "own"})))["made"]["version"] == made["version"]


def test_a_program_defines_ops_that_run_on_every_device(found):
    assert {"swish", "lag", "first", "leading", "raised", "blurred", "ordered"} <= set(found["names"])
    f = workbench.op(SWISH, on="numpy")
    slopes = f.grad([0.5, 1.0, 2.0], b=2)["x"] + 1 + 1 + [0.75, 1, 0.75]
    devices = [d for d in ("cpu", "webgpu") if d in found]
    assert devices == ["cpu", "webgpu"]
    for device in devices:
        got = found[device]
        assert got["slopes"] == pytest.approx(list(slopes), rel=1e-5)
        step = 1e-3
        for y, second in zip((1.0, 2.0, 3.0), got["twice"]):
            up, down = (float(f.grad([y + d])["x"][0]) for d in (step, -step))
            assert second == pytest.approx((up - down) / (2 * step), abs=1e-3)
        assert got["first"] == [[1, 2], [[1, 2]]] and got["ordered"] == [[1, 2, 3], [1, 2, 0]]
        assert got["powers"] == [[5, 25], [30, 30], [4, 9]] and got["slope"] == [[2, 4], [6, 8]]
        assert got["blurred"] == [[1.25, 2], [1.75, 2.5]]
        assert got["modules"] == [
            [-1, 0.25, 2],
            "Sequential(\n  (0): Open(2.0)\n  (1): Gate(below=1.0, slope=0.5)\n)",
            True,
            "Gate: slope must be below 4, got 4",
            "Gate: missing required argument 'below'",
        ]
        assert got["changed"] == [2, 3] and got["joined"] == "1,2" and got["profiled"] == "swish"


@pytest.mark.parametrize(
    "what, kind, message",
    [
        ("element", "OpError", "own.first: nothing may be negative"),
        ("number", "OpError", "own.first: k must be positive, got 0"),
        ("mistake", "DefinitionError", "3:18: unknown name `yy`"),
        ("several", "OpError", "op: the text defines several ops, name one of them: f, g"),
        ("absent", "OpError", "op: the text defines no 'g', but f"),
        ("nothing", "OpError", "op: the text defines no op"),
        ("name", "OpError", "loadCompiler: 'a b' cannot be a name of ops"),
        ("archive", "OpError", "loadCompiler: the archive holds no compiler: ModuleNotFoundError: No module named"),
        ("pyodide", "OpError", "loadCompiler: Pyodide cannot be loaded from /no/such/folder/"),
        ("version", "Error", "ops compiled by tensorloom 9.0.0 do not run with"),
    ],
)
def test_what_cannot_be_is_refused(found, what, kind, message):
    told = found["refused"][what]
    assert told[0] == kind and told[1].startswith(message), told
    assert told[2:] == ([3, 18] if what == "mistake" else [0, 0])


def test_mistakes_have_types_and_ops_are_chosen_by_name(found):
    assert found["typed"] and found["chosen"] == [4]


def test_the_page_s_programs_run_with_pyodide_on_the_oldest_node(dist, documentation):
    """docs/run-time-ops.md as it is printed, with the files that the website serves."""
    page = (ROOT / "docs" / "run-time-ops.md").read_text()
    program = "\n".join(re.findall("```mts\n(.*?)```", page, re.DOTALL))
    for printed, here in (
        ("/files/tensorloom-compiler-0.1.0.zip", documentation / "assets" / "pyodide" / "compiler.zip"),
        ("/files/pyodide/", documentation / "assets" / "pyodide"),
        ('"tensorloom"', json.dumps((dist / "index.js").as_uri())),
        ('"tensorloom/op"', json.dumps((dist / "runtime/definitions/index.js").as_uri())),
    ):
        assert printed in program
        program = program.replace(printed, str(here))
    program += "console.log(process.version, JSON.stringify(await x.grad.sub(x.mul(2).sigmoid()).ne(0).any().item()));"
    oldest = subprocess.run(
        [node.bundled(), "--input-type=module", "-e", program], capture_output=True, text=True, timeout=120
    )
    assert oldest.returncode == 0, oldest.stderr
    assert oldest.stdout.splitlines() == ["1 26 unknown name `y`", "v18.4.0 true"]


IMPORTED = """
import json, sys
from workbench import playground, run_time
run_time.compiled(sys.argv[1], "own")
quick = [*sys.modules]
playground.page(sys.argv[1], {"x": "64x1000"}, module=True)
print(json.dumps([quick, [*sys.modules]]))
"""


def test_the_archive_has_what_is_imported():
    """buildtools/compiler_archive.py leaves out what neither face of the compiler imports."""
    done = subprocess.run([sys.executable, "-c", IMPORTED, SWISH], capture_output=True, text=True, cwd=ROOT, check=True)
    quick, names = json.loads(done.stdout)
    folders = tuple(folder.rstrip("/").replace("/", ".") for folder in LEFT_OUT)
    assert [n for n in names if n.startswith(folders)] == []
    used = {n.partition(".")[0] for n in names} - sys.stdlib_module_names
    assert {n for n in used if not n.startswith("_")} <= {
        *LIBRARIES,
        "codegen",
        "dsl",
        "workbench",
        "platformdirs",
        "interegular",
    }
    assert not {"jinja2", "numpy"} & {*quick}
