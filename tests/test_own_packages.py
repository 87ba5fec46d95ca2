"""Packages with ops of their own (examples/packages), built by strangers: outside of the checkout, with the wheel of the
compiler and the tarball of the package, and nothing else."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from buildtools import gpu, node, package, release, wheel
from buildtools.paths import NODE_MODULES, ROOT
from buildtools.typescript import BuildError
from codegen.version import VERSION, runs_with

PACKAGES = ROOT / "examples" / "packages"


@pytest.fixture(scope="module")
def compiler(tmp_path_factory) -> dict[str, str]:
    """The environment in which `python -m tensorloom` is what the wheel holds."""
    folder = tmp_path_factory.mktemp("compiler")
    made = wheel.build(folder)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(folder / "site"), str(made)], check=True)
    return {"PYTHONPATH": str(folder / "site"), "XDG_CACHE_HOME": str(folder / "cache")}


@pytest.fixture(scope="module")
def tarball(tmp_path_factory, dist):
    return package.pack(tmp_path_factory.mktemp("tarball"), dist)


@pytest.fixture(scope="module")
def project(tmp_path_factory, compiler, tarball):
    """project(name): a copy of an example with the tarball installed and its ops compiled."""
    made = {}

    def copied(name: str):
        if name not in made:
            folder = made[name] = tmp_path_factory.mktemp("packages") / name
            ignored = shutil.ignore_patterns("node_modules", "lib", "package-lock.json")
            shutil.copytree(PACKAGES / name, folder, ignore=ignored)
            shutil.rmtree(folder / "src" / "ops", ignore_errors=True)
            described = json.loads((folder / "package.json").read_text())
            described.pop("devDependencies", None)  # TypeScript is the checkout's: nothing is fetched here
            (folder / "package.json").write_text(json.dumps(described))
            install = [*node.npm(), "install", "--offline", "--no-audit", "--no-fund", "--no-save"]
            subprocess.run([*install, "--loglevel=error", str(tarball)], cwd=folder, env=node.environment(), check=True)
            os.symlink(NODE_MODULES / "webgpu", folder / "node_modules" / "webgpu")
            done = tensorloom(compiler, folder, "build", "ops", "--out", "src/ops")
            assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
            if (folder / "tsconfig.json").exists():
                compiled = node.run([node.compiler(), "--project", folder / "tsconfig.json", "--pretty", "false"])
                assert compiled.returncode == 0, compiled.stdout
        return made[name]

    return copied


def tensorloom(compiler, folder, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tensorloom", *words],
        cwd=folder,
        env=os.environ | compiler,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", ["gated-units", "stencils"])
def test_an_example_passes_its_tests_on_both_devices(project, name):
    folder = project(name)
    for on in ("cpu", "webgpu"):
        done = node.run(
            ["--test", *sorted((folder / "test").glob("*.mjs"))], cwd=folder, env=gpu.variables() | {"ON": on}
        )
        assert done.returncode == 0, done.stdout


def test_definitions_are_tried_out(project, compiler):
    done = tensorloom(compiler, project("gated-units"), "test", "-k", "swiglu", "--instances", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "swiglu: all is well" in done.stdout and "1 op, nothing wrong" in done.stdout and "geglu" not in done.stdout
    said = tensorloom(compiler, project("gated-units"), "explain", "swiglu", "x=64x256", "gate=64x256").stdout
    assert "x: float32[64, 256]" in said and "@compute" in said
    assert "no errors in 1 file" in tensorloom(compiler, project("stencils"), "check").stdout


def test_what_is_not_called_is_left_out(project, tmp_path):
    folder = project("gated-units")
    entry = folder / "entry.mjs"
    entry.write_text('import { reglu } from "./src/ops/index.js";\nconsole.log(reglu);\n')
    out = tmp_path / "bundle.js"
    done = node.run([node.tool("esbuild"), entry, "--bundle", "--format=esm", f"--outfile={out}"], cwd=folder)
    assert done.returncode == 0, done.stdout
    text = out.read_text()
    assert "gated_units.reglu" in text and "gated_units.swiglu" not in text and "gated_units.geglu" not in text


def test_a_second_build_changes_nothing_and_removes_what_nothing_makes(project, compiler, tmp_path):
    folder = project("gated-units")
    shutil.copytree(folder / "ops", tmp_path / "ops")
    (tmp_path / "package.json").write_text('{"name": "other"}')
    (tmp_path / "ops" / "more.op").write_text('op twice(x: Float) = 2 * x\n    "Twice."\n')
    build = lambda: tensorloom(compiler, tmp_path, "build", "--out", "made", "--language", "ts")
    first = build()
    assert "wrote made/more.ts" in first.stdout and "npm install tensorloom@^" in first.stderr
    assert "nothing changed" in build().stdout
    (tmp_path / "ops" / "more.op").unlink()
    assert "removed made/more.ts" in build().stdout
    (tmp_path / "made" / "gates.ts").write_text("// mine\n")
    refused = build()
    assert refused.returncode == 1 and "was not made by tensorloom build" in refused.stderr


def test_versions_are_compared(project, compiler, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(project("gated-units"), folder, symlinks=True)
    described = folder / "node_modules" / "tensorloom" / "package.json"
    described.write_text(json.dumps(json.loads(described.read_text()) | {"version": "0.9.1"}))
    done = tensorloom(compiler, folder, "build", "--out", "src/ops")
    assert done.returncode == 1
    for words in (f"this is tensorloom {VERSION}", "is 0.9.1", "pip install tensorloom==0.9.1"):
        assert words in done.stderr
    program = 'import { compiledBy } from "tensorloom/compiled";\ncompiledBy("0.2.0");'
    ran = node.run(["--input-type=module", "-e", program], cwd=folder)
    assert ran.returncode and "ops compiled by tensorloom 0.2.0 do not run with tensorloom" in ran.stdout


@pytest.mark.parametrize(
    "made, there, fits",
    [
        ("0.1.0", "0.1.0", True),
        ("0.1.2", "0.1.0", False),
        ("0.1.0", "0.1.5", True),
        ("0.1.0", "0.2.0", False),
        ("1.2.0", "1.10.3", True),
        ("1.2.0", "2.0.0", False),
        ("1.2.0", "1.1.9", False),
    ],
)
def test_which_versions_fit(made, there, fits, dist):
    assert runs_with(made, there) == fits
    text = (dist / "runtime/definitions/compiled-by.js").read_text()
    lines = text[text.index("const numbers") :].replace("return compiled;", "").replace("export function", "function")
    ran = node.run(["--input-type=module", "-e", f'const VERSION = "{there}";\n{lines}\ncompiledBy("{made}");'])
    assert (ran.returncode == 0) == fits, ran.stdout


def test_both_archives_are_the_same_bytes_twice(tmp_path, tarball, dist):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    first, second = (wheel.build(folder) for folder in folders)
    assert first.read_bytes() == second.read_bytes()
    assert package.pack(folders[0], dist).read_bytes() == tarball.read_bytes()


MISTAKES = {
    "op f(x: Float) = x\n    as torch.f\n": "is not this project's to give",
    "op f(x: Float) = softmaxx(x)\n": "did you mean `softmax`",
    "op relu(x: Float) = x\nop g(x: Float) = 2 * x\n": "",
    "def logistic(x) = x\nop g(x: Float) = silu(logistic(x))\n": "they would call this one",
    "schedule map when n > 1\n    flat(workgroup=64)\n": "kinds of kernels are scheduled in the library",
    "op f(x: Float) = x\n    test f([1.0]) == [2]\n": "this test fails",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_shown(tmp_path, text):
    """In this process: what a project may not say, and that the library's names are known."""
    from click.testing import CliRunner

    from tensorloom.commands import cli

    (tmp_path / "mine.op").write_text(text)
    done = CliRunner().invoke(cli, ["check", str(tmp_path)])
    if MISTAKES[text]:
        assert done.exit_code == 1 and MISTAKES[text] in done.output, done.output
    else:
        assert done.exit_code == 0, done.output


def test_notes_are_a_section_of_the_changelog():
    text = "# Changes\n\n## 0.2.0\n\n- Second.\n\n## 0.1.0\n\n- First.\n"
    assert release.changes(text, "0.2.0") == "- Second."
    assert release.changes(text, "0.1.0") == "- First."
    with pytest.raises(BuildError, match="no section `## 0.3.0`.* it has 0.2.0, 0.1.0"):
        release.changes(text, "0.3.0")
    assert release.changes(release.CHANGELOG.read_text(), VERSION)
