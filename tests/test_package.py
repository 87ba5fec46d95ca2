"""The npm package as a stranger gets it: packed, installed in an empty project, imported, type-checked, bundled."""

import gzip
import json
import re
import shutil
import subprocess

import pages
import pytest

from buildtools import node, package
from buildtools.paths import ROOT
from codegen.api import core
from codegen.api.compiled import TRAINED


@pytest.fixture(scope="module")
def tarball(dist, tmp_path_factory):
    return package.pack(tmp_path_factory.mktemp("pack"), dist)


@pytest.fixture(scope="module")
def project(tarball, tmp_path_factory):
    """An empty project with the tarball installed and nothing else."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"name": "stranger", "private": true, "type": "module"}')
    done = subprocess.run(
        [*node.npm(), "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", str(tarball)],
        cwd=folder,
        env=node.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [file.name for file in (folder / "node_modules").iterdir() if file.name[0] != "."] == ["tensorloom"]
    return folder


@pytest.mark.parametrize("which", ["oldest", "chosen"])
def test_an_esm_project_imports_it(project, which):
    script = (
        "import * as torch from 'tensorloom'; import {add} from 'tensorloom/functional';"
        "console.log(JSON.stringify(await torch.tensor([1, 2]).add(torch.tensor([3, 4])).tolist()), typeof add)"
    )
    chosen = node.bundled() if which == "oldest" else node.executable()
    done = node.run(["--input-type=module", "--eval", script], cwd=project, node=chosen)
    assert done.stdout.strip() == "[4,6] function"


def test_the_functional_entry_works_alone(project):
    """Without what other entries load before it, and with modules and optimizers, which must not need methods of
    tensors."""
    script = """
        import { add, einsum, matmul, nn, ones, optim, relu, set_slow_warnings, tensor, to } from "tensorloom/functional";
        set_slow_warnings(false);
        const x = tensor([[1, 2]], { requires_grad: true });
        relu(add(matmul(x, tensor([[3], [4]])), 1)).backward();
        const model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)), step = optim.LBFGS(model.parameters());
        await step.step(() => { step.zero_grad(); const loss = nn.functional.mse_loss(model(ones([4, 2])), ones([4, 1])); loss.backward(); return loss; });
        console.log(JSON.stringify([await x.grad.tolist(), await to(einsum("ij,j->i", ones([2, 3]), ones([3])), "int32").tolist()]));
    """
    assert node.run(["--input-type=module", "--eval", script], cwd=project).stdout.strip() == "[[[3,4]],[3,3]]"


def test_the_cpu_interprets_kernels_until_a_compiler_is_imported(project):
    """With what every bundler keeps of the functional entry alone, which says so once, and beside `tensorloom/wasm`."""
    script = """
        import { add, linalg, matmul, sort, tensor } from "tensorloom/functional";
        const { Instance } = WebAssembly; let compiled = 0;
        WebAssembly.Instance = class extends Instance { constructor(...given) { super(...given); compiled++; } };
        const warnings = []; console.warn = (text) => warnings.push(text);
        const x = tensor([[2, 1], [1, 3]]), sum = add(matmul(x, x), sort(x).values), { L } = linalg.cholesky_ex(x);
        console.log(JSON.stringify([await sum.tolist(), Math.round((await L.data())[3] ** 2 * 2), compiled > 3, warnings]));
    """
    with_compiler, alone = (
        json.loads(node.run(["--input-type=module", "--eval", text + script], cwd=project).stdout)
        for text in ('import "tensorloom/wasm";', "")
    )
    answer = [[[6, 7], [6, 13]], 5]
    assert with_compiler == [*answer, True, []]
    assert alone[:3] == [*answer, False] and len(alone[3]) == 1 and 'import "tensorloom/wasm"' in alone[3][0], alone


def test_the_core_entry_holds_what_it_lists(project, dist):
    """All of core.names as functions, and a network that is trained with nothing else; the script for pages defines the
    same."""
    listed = core.listed(core.LIST.read_text(encoding="utf-8"))
    assert len(listed) > 100
    script = f"""
        import vm from "node:vm"; import {{ readFileSync }} from "node:fs";
        import * as torch from "tensorloom/core";
        const spaces = {{ torch, functional: torch.nn.functional, linalg: torch.linalg }}, missing = [];
        for (const [space, name] of {json.dumps(listed)}) if (typeof spaces[space][name] !== "function") missing.push(name);
        const script = vm.runInThisContext(readFileSync({json.dumps(str(dist / "torch-core.js"))}, "utf8") + "; torch");
        const F = torch.nn.functional;
        torch.manual_seed(0);
        const x = torch.randn([32, 1, 8, 8]).add(torch.randn([32, 1, 1, 1])), y = x.sum([1, 2, 3]).gt(0).long();
        const w = torch.randn([4, 1, 3, 3]).mul_(0.3).requires_grad_(), v = torch.randn([2, 4]).mul_(0.3).requires_grad_(), losses = [];
        for (let step = 0; step < 60; step++) {{
          const loss = F.cross_entropy(F.linear(F.adaptive_avg_pool2d(F.gelu(F.conv2d(x, w)), 1).flatten(1), v), y);
          loss.backward();
          torch.no_grad(() => {{ for (const p of [w, v]) {{ p.sub_(p.grad.mul(0.5)); p.grad = null; }} }});
          losses.push(await loss.item());
        }}
        const same = Object.keys(torch).sort().join() === Object.keys(script).sort().join();
        console.log(JSON.stringify([missing, same, "optim" in torch, losses[0] > 0.6, losses[59] < losses[0] / 2, String(torch.tensor([1, 2]))]));
    """
    done = node.run(["--input-type=module", "--eval", script], cwd=project)
    assert json.loads(done.stdout) == [[], True, False, True, True, "tensor([1., 2.])"], done.stdout


def test_a_strict_typescript_project_compiles(project):
    """`tests/user_project` holds what must and (by @ts-expect-error) what must not type-check; so must the
    documentation's TypeScript."""
    typed = [program for page in pages.PAGES for program in pages.programs(page) if program.typed]
    assert typed
    for n, program in enumerate(typed):
        (project / f"page{n}.ts").write_text(program.text)
    for file in ("main.ts", "tsconfig.json"):
        shutil.copy(ROOT / "tests" / "user_project" / file, project)
    for settings in ([], ["--module", "esnext", "--moduleResolution", "bundler"]):
        done = node.run([node.compiler(), "--project", project, *settings], cwd=project)
        assert done.returncode == 0, done.stdout


def test_types_of_webgpu_are_declared_for_every_typescript(dist):
    """TypeScript's own library has them since version 6; a project that checks the types of libraries needs them all."""
    declared = (dist / "runtime" / "devices" / "webgpu" / "gpu-names.d.ts").read_text()
    for file in dist.rglob("*.d.ts"):
        text = re.sub(r"(?s:/\*.*?\*/)|//.*", "", file.read_text())
        for name in set(re.findall(r"(?<![\w.$])GPU[A-Z]\w+", text)):
            here = re.search(rf"(?:interface|class|type) {name}\b|import .*\b{name}\b", text)
            assert here or f"interface {name} " in declared, f"{file}: {name}"


def test_publint_and_attw_find_nothing(tarball):
    assert package.lint(tarball) == ""


def test_it_depends_on_nothing_and_evaluates_no_text(dist):
    described = json.loads((dist / "package.json").read_text())
    assert not {"dependencies", "optionalDependencies"} & described.keys()
    # What brings WebGPU to Node is installed by who wants it.
    assert described["peerDependencies"].keys() == {"webgpu"}
    assert described["peerDependenciesMeta"] == {"webgpu": {"optional": True}}
    for file in dist.rglob("*.js"):
        assert not re.search(r"(?<![\w$.])eval\([^)]|\bnew Function\b", file.read_text()), (
            file
        )  # model.eval() is a method


@pytest.mark.parametrize("file", [*package.SCRIPTS.values(), *package.SINGLE.values()])
def test_maps_of_single_files_lead_to_sources(dist, file):
    """Each says where its map is; that names files of the package, holds their texts, and every line has a place."""
    text = (dist / file).read_text()
    found = json.loads((dist / re.search(r"//# sourceMappingURL=(\S+)\s*$", text)[1]).read_text())
    assert len(found["sources"]) > 50 and len(found["sources"]) == len(found["sourcesContent"])
    for source, content in zip(found["sources"], found["sourcesContent"], strict=True):
        assert (dist / source).read_text() == content, source
    assert len(found["mappings"].split(";")) >= len(text.splitlines()) - 2


@pytest.mark.parametrize("entry, file", package.SINGLE.items())
def test_a_module_of_one_file_is_the_entry(dist, entry, file):
    """It imports nothing, exports the same names, and works."""
    program = f"""
        import * as one from {json.dumps((dist / file).as_uri())};
        import * as all from {json.dumps((dist / entry).as_uri())};
        console.log(JSON.stringify([
          Object.keys(one).sort(), Object.keys(all).sort(), await one.tensor([1, 2]).add(1).tolist(),
        ]));
    """
    one, many, sums = json.loads(node.run(["--input-type=module", "-e", program]).stdout.splitlines()[-1])
    assert one == many
    assert sums == [2, 3]
    assert not re.search(r"^import |[;}]import[ {*\"']", (dist / file).read_text(), re.M)


def test_node_loads_every_entry_from_few_files(project, dist, figure):
    """What Node finds by an entry's name are the names of its module, the classes of other entries among them, and none
    of the modules that bundlers get."""
    exported = {
        name.removeprefix("."): at["node"] for name, at in package.description()["exports"].items() if "node" in at
    }
    assert len(exported) == len(package.ENTRIES)
    script = f"""
        const dist = {json.dumps(f"{dist.as_uri()}/")}, found = {{}};
        for (const [name, {{ module }}] of Object.entries({json.dumps(exported)})) {{
          const [node, modules] = [await import("tensorloom" + name), await import(dist + module.default)];
          found[name] = [Object.keys(node).sort().join(), Object.keys(modules).sort().join()];
        }}
        const [torch, {{ Linear }}, {{ tensor, no_grad }}, {{ Adam }}] = await Promise.all(
          ["", "/nn", "/functional", "/optim"].map((name) => import("tensorloom" + name)),
        );
        const same = [torch.nn.Linear === Linear, torch.tensor === tensor, torch.no_grad === no_grad, torch.optim.Adam === Adam];
        console.log(JSON.stringify([found, same]));
    """
    found, same = json.loads(node.run(["--input-type=module", "--eval", script], cwd=project).stdout.splitlines()[-1])
    assert {name: own for name, (own, names) in found.items() if own != names} == {}
    assert same == [True] * 4
    loaded = set()
    following = [dist / package.NODE / "index.js"]
    while following:
        file = following.pop()
        if file not in loaded:
            loaded.add(file)
            following += [
                (file.parent / name).resolve()
                for name in re.findall(r'^(?:\} from|import) "(\.[^"]+)";', file.read_text(), re.M)
            ]
    assert all((dist / package.NODE).resolve() in file.resolve().parents for file in loaded)
    assert 10 < len(loaded) < 200
    figure(f"Node loads {len(loaded)} files for the whole package")


def test_a_minified_bundle_says_the_same_names(project):
    """Minifiers shorten the names of classes, which errors and printed models show."""
    shutil.copy(ROOT / "tests" / "minified.mjs", project)
    # A class of a user's own has the name that the minifier gave it.
    done = node.run(
        [
            node.tool("esbuild"),
            "minified.mjs",
            "--bundle",
            "--minify",
            "--format=esm",
            "--outfile=minified.out.mjs",
            "--log-level=error",
        ],
        cwd=project,
    )
    assert done.returncode == 0, done.stdout
    plain, small = (json.loads(node.run([file], cwd=project).stdout) for file in ("minified.mjs", "minified.out.mjs"))
    assert len(plain) > 250
    assert [found for found in plain if "." in found[0] and found[1] != found[0].rpartition(".")[2]] == []
    assert [
        (a, b) for a, b in zip(plain, small, strict=True) if a != b and "Own" not in a[1] and "Mine" not in a[1]
    ] == []


def test_what_a_module_does_on_import_is_said_to_bundlers(dist):
    """A module that is not among package.json's `sideEffects` may be left out, so on import it changes at most what it
    defines."""
    listed = json.loads((dist / "package.json").read_text())["sideEffects"]
    for file in dist.rglob("*.js"):
        if f"./{file.relative_to(dist).as_posix()}" in listed or dist / package.NODE in file.parents:
            continue
        text = re.sub(r"`(?:[^`\\]|\\.)*`", "``", file.read_text())
        for line in re.findall(
            r"^(?!import|export|const|let|class|function|async |if \(disposeSymbol)[A-Za-z(\[].*", text, re.M
        ):
            own = re.match(r"(?:titled|limited|Object\.define\w+)\((\w+)", line)
            assert own and re.search(rf"^(?:export )?(?:class|const) {own[1]}\b", text, re.M), f"{file}: {line}"


def bundled(project, name, text):
    """Bytes of a program that esbuild has bundled as NAME.out.js, and of that gzipped."""
    (project / f"{name}.js").write_text(text)
    words = ["--bundle", "--minify", "--format=esm", "--external:webgpu", "--log-level=warning"]
    done = node.run([node.tool("esbuild"), f"{name}.js", *words, f"--outfile={name}.out.js"], cwd=project)
    assert done.returncode == 0, done.stdout
    made = (project / f"{name}.out.js").read_bytes()
    return len(made), len(gzip.compress(made, 9))


# A program that trains a network, as its first lines import what it uses: the idioms of docs/package.md, in its order.
TRAINING = """
const model = new nn.Sequential(new nn.Linear(2, 16), new nn.ReLU(), new nn.Linear(16, 1));
const optimizer = new optim.Adam(model.parameters(), { lr: 0.05 });
const x = torch.tensor([[0, 1], [1, 0], [1, 1], [0, 0]]), y = torch.tensor([[1], [1], [0], [0]]), losses = [];
for (let step = 0; step < 40; step++) {
  optimizer.zero_grad();
  const loss = F.mse_loss(model(x), y);
  loss.backward();
  optimizer.step();
  losses.push(await loss.item());
}
console.log(losses[39] < losses[0] / 2);
"""
PARTS = """import * as nn from "tensorloom/nn"; import * as F from "tensorloom/nn/functional";
import * as optim from "tensorloom/optim";"""
IDIOMS = {
    "parts": f'import {{ tensor }} from "tensorloom/functional"; {PARTS} const torch = {{ tensor }};',
    "wasm": f'import * as torch from "tensorloom/functional"; import "tensorloom/wasm"; {PARTS}',
    "gpu": f'import * as torch from "tensorloom/functional"; {PARTS} await torch.initWebGPUAsync();',
    "core": f'import * as torch from "tensorloom/core"; {PARTS}',
    "whole": 'import * as torch from "tensorloom"; const { nn, optim } = torch, F = nn.functional;',
}


def test_what_a_network_costs_however_it_is_imported(project, figure):
    """docs/package.md states the size of each idiom; each program trains."""
    packed = {}
    for name, imports in IDIOMS.items():
        packed[name] = bundled(project, f"idiom-{name}", imports + TRAINING)[1]
        done = node.run([f"idiom-{name}.out.js"], cwd=project)
        assert done.stdout.endswith("true\n"), (name, done.stdout)  # the CPU may say that it interprets
    assert packed["parts"] < 73_000, packed
    kilobytes = [round(size / 1000) for size in packed.values()]
    figure(f"kB gzipped, a network with Adam: {dict(zip(packed, kilobytes))}")
    table = (ROOT / "docs" / "package.md").read_text(encoding="utf-8").partition("| A network with Adam")[2]
    said = [int(row.rpartition("|")[0].rpartition("|")[2]) for row in table.split("\n\n")[0].splitlines()[2:]]
    assert said == kilobytes, packed


def test_parts_of_the_package_are_imported_by_their_names(project):
    """Each is what the whole holds under that name; what makes files of models is in parts alone."""
    names = [name for name in package.PARTS if name not in ("autograd", "bundle")]
    script = (
        "import * as torch from 'tensorloom'; const wrong = [], functions = [], alone = ['export', 'ONNXProgram'];\n"
    )
    script += "".join(f"import * as part{n} from 'tensorloom/{name}';\n" for n, name in enumerate(names))
    for n, name in enumerate(names):
        script += f"for (const key of Object.keys(part{n}).filter((key) => !alone.includes(key))) "
        holder = "torch" if name == "media" else f"torch.{name.replace('/', '.')}"
        script += f"if ({holder}[key] !== part{n}[key]) "
        script += f"wrong.push('{name}.' + key); functions.push(Object.keys(part{n}).length);\n"
    script += "import { grad } from 'tensorloom/autograd'; if (grad !== torch.autograd.grad) wrong.push('grad');\n"
    script += "console.log(JSON.stringify([wrong, functions]));"
    found = json.loads(node.run(["--input-type=module", "--eval", script], cwd=project).stdout)
    assert found[0] == [] and min(found[1]) > 0, found


def test_a_network_without_files_says_how_one_is_read(project):
    """`load_state_dict` of the whole package reads files; of a part, what `load` made of one."""
    script = """
        import { Linear } from "tensorloom/nn"; import { load, save } from "tensorloom/functional";
        const a = Linear(2, 1), b = Linear(2, 1);
        await save(a.state_dict(), "part.safetensors");
        const said = await b.load_state_dict("part.safetensors").catch((error) => `${error.constructor.name}: ${error.message}`);
        b.load_state_dict(await load("part.safetensors"));
        await import("tensorloom");
        await Linear(2, 1).load_state_dict("part.safetensors");
        console.log(JSON.stringify([said, (await a.weight.data()).join() === (await b.weight.data()).join()]));
    """
    done = node.run(["--input-type=module", "--eval", script], cwd=project)
    said, same = json.loads(done.stdout.splitlines()[-1])
    assert said.startswith("OpError: load_state_dict: ") and "load_state_dict(await load(file))" in said and same


def test_a_bundle_holds_only_the_ops_it_uses(project, dist, figure):
    sizes, packed = {}, {}
    for name, text in {
        "few": "import {add, matmul, relu, tensor} from 'tensorloom/functional'; console.log(add, matmul, relu, tensor)",
        "one": "import {add, tensor} from 'tensorloom/functional'; console.log(add, tensor)",
        "fast": "import 'tensorloom/wasm'; import {add, matmul, relu, tensor} from 'tensorloom/functional';"
        "console.log(add, matmul, relu, tensor)",
        "core": "import * as torch from 'tensorloom/core'; console.log(torch)",
        "all": "import * as torch from 'tensorloom'; console.log(torch)",
    }.items():
        sizes[name], packed[name] = bundled(project, name, text)
        assert node.run([f"{name}.out.js"], cwd=project).returncode == 0, name
    assert sizes["one"] < sizes["all"] / 2, sizes
    # The core with both devices and what derives gradients.
    assert packed["few"] < 46_300, packed
    assert packed["fast"] < 96_850, packed
    # Complex numbers, programs whose sizes vary and what became of them in words, products with weights of few bits,
    # attention and its gradient without tensors of pairs; in the whole, all distributions, pictures, sound, torch.hub;
    # mixed precision; convolutions by fewer products, by residues; eigenvalues of any matrix, real or complex.
    assert packed["core"] < 268_500, packed
    assert packed["all"] < 666_000, packed
    few, fast, core, whole = (round(packed[name] / 1000) for name in ("few", "fast", "core", "all"))
    figure(f"kB gzipped: four ops {few}, with tensorloom/wasm {fast}, core {core}, whole {whole}")
    said = " ".join((ROOT / "docs" / "package.md").read_text(encoding="utf-8").split())
    for words in (f" {core} kB gzipped instead of {whole},", f"comes to {few} kB ", f"({fast - few} kB)"):
        assert words in said, f"docs/package.md does not say {words!r}"


def test_gradients_that_most_programs_run_are_carried(project):
    """Their first way back derives nothing: the ops' gradient programs are there before it."""
    script = f"""
        import {{ readdirSync }} from "node:fs";
        const dist = new URL("./", import.meta.resolve("tensorloom/package.json")), programs = {{}};
        for (const file of readdirSync(new URL("ops/", dist)).filter((name) => name.endsWith(".js")))
          for (const [name, one] of Object.entries(await import(new URL("ops/" + file, dist))))
            if (one.op) programs[name.replace(/Op$/, "")] = one.op.programs.length;
        console.log(JSON.stringify({json.dumps(sorted(TRAINED))}.map((name) => programs[name])));
    """
    found = json.loads(node.run(["--input-type=module", "--eval", script], cwd=project).stdout)
    assert found == [2] * len(TRAINED), dict(zip(sorted(TRAINED), found))
