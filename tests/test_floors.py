"""The house has floors: imports between folders go down only, and few files are in a circle of imports."""

import ast
import json
import re
from collections import Counter

import pytest

from buildtools import node
from buildtools.package import NODE, SCRIPTS
from buildtools.paths import ROOT

# From the lowest floor up; what stands in one line may import each other.  A file belongs to the longest name that its
# path begins with.
TYPESCRIPT = """
runtime/platform version.js
runtime/base
dsl/dtypes.js host wgsl wasm fusion
runtime/elements
runtime/tape
runtime/tensor
runtime/program
dsl codegen runtime/program/computed.js
ops/data ops/routines.js
runtime/devices
ops/kernels
runtime/dispatch
ops needed.js complex-ops.js autocast-rules.js
names
runtime/views
runtime/creation
runtime/functions runtime/complex
runtime/composite runtime/vision
runtime/files
runtime/media runtime/hub
runtime/tools
runtime/autograd
runtime/capture
runtime/datasets
runtime/nn names/modules.js
runtime/optim runtime/distributions runtime/amp
runtime/quantization runtime/interop
runtime/exchange runtime/onnx runtime/gguf runtime/bundle runtime/definitions
runtime namespaces names/core nn.js methods.js core-methods.js order.js core-order.js index.js core.js functional.js wasm.js compiled.js
compat
"""
# The same for Python.  What `import dsl` and `python -m dsl` open is a door to the workbench, and part of it.
PYTHON = """
buildtools/paths.py buildtools/lock.py buildtools/archives.py buildtools/environment.py buildtools/node.py buildtools/gpu.py
dsl/ir dsl/gradients
dsl/text
dsl/checking dsl/lowering dsl/reference dsl/opdef.py dsl/ir/verify.py dsl/gradients/adjoint.py dsl/gradients/multilinear.py
dsl/library.py dsl/catalogue.py dsl/testing
codegen/translator
codegen/data codegen/version.py
codegen/binding codegen/kernels
codegen/planner
codegen/wgsl codegen/wasm codegen/fusion
codegen/api codegen/ahead.py codegen/earlier.py
workbench dsl/__init__.py dsl/__main__.py
tensorloom
buildtools
website
build.py
"""
FILES = 25  # in a folder, at most
CIRCLE = 2  # files that need each other, at most
LINES = 400  # of a file, at most
COLUMNS = 120  # of a line of prose, at most
# Pages that a program writes, whose paragraphs are lists of names or one measurement each.
WRITTEN = ("docs/accuracy.md", "docs/compile-report.md", "docs/coverage.md", "tests/programs/left.md")


def floors(table: str) -> dict[str, int]:
    return {name: n for n, line in enumerate(table.strip().splitlines()) for name in line.split()}


def floor(file: str, table: dict[str, int]) -> tuple[int, str]:
    """The floor of a file and the name that says so."""
    parts = file.split("/")
    for n in range(len(parts), 0, -1):
        name = "/".join(parts[:n])
        if name in table:
            return table[name], name
    raise AssertionError(f"{file} is on no floor; say in tests/test_floors.py on which")


def upward(graph: dict[str, list[str]], table: dict[str, int]) -> list[str]:
    """The imports that go up."""
    return [f"{f} imports {g}" for f, found in graph.items() for g in found if floor(g, table)[0] > floor(f, table)[0]]


def circles(graph: dict[str, list[str]]) -> list[list[str]]:
    """The sets of files that reach each other (Tarjan), the largest first."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in graph.get(file, ()):
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for file in graph:
        if file not in number:
            visit(file)
    return sorted((c for c in found if len(c) > 1), key=len, reverse=True)


def test_a_circle_and_an_import_upward_are_found():
    graph = {"a/x": ["b/y"], "b/y": ["b/z"], "b/z": ["a/x"], "a/w": ["a/x"]}
    assert circles(graph) == [["a/x", "b/y", "b/z"]]
    assert upward(graph, floors("a\nb")) == ["a/x imports b/y"]


@pytest.fixture(scope="module")
def imports(dist) -> dict[str, list[str]]:
    done = node.run([ROOT / "tests" / "imports.mjs", dist])
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)


def test_imports_in_typescript_go_down(imports):
    assert len(imports) > 300
    assert upward(imports, floors(TYPESCRIPT)) == []


def test_who_imports_a_module_for_what_it_does_is_kept_by_bundlers(dist, imports):
    """Of these modules nothing else can be imported, and one that imports them does something, too."""
    kept = {name.removeprefix("./") for name in json.loads((dist / "package.json").read_text())["sideEffects"]}
    assert [f for f, found in imports.items() if f not in kept and kept & set(found)] == []
    assert kept - imports.keys() == {*SCRIPTS.values(), f"{NODE}/**/*.js"}


def python_imports() -> dict[str, list[str]]:
    """What each file of the compiler and its tools imports, also inside of functions, of the same files."""
    folders = [ROOT / name for name in ("dsl", "codegen", "workbench", "tensorloom", "buildtools", "website")]
    files = [ROOT / "build.py", *(f for folder in folders for f in sorted(folder.rglob("*.py")))]
    modules = {".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): f for f in files}
    paths = {name: f.relative_to(ROOT).as_posix() for name, f in modules.items()}
    graph: dict[str, list[str]] = {}
    for name, file in modules.items():
        package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
        found = set()
        for made in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(made, ast.Import):
                found |= {alias.name for alias in made.names}
            elif isinstance(made, ast.ImportFrom):
                base = package[: len(package) - made.level + 1] if made.level else []
                origin = ".".join([*base, *(made.module or "").split(".")]).strip(".")
                found |= {f"{origin}.{a.name}" if f"{origin}.{a.name}" in modules else origin for a in made.names}
        graph[paths[name]] = sorted({paths[m] for m in found if m in modules} - {paths[name]})
    return graph


def test_imports_in_python_go_down():
    graph = python_imports()
    assert len(graph) > 150 and "dsl/opdef.py" in graph["codegen/api/package.py"], len(graph)
    assert upward(graph, floors(PYTHON)) == []


def test_what_ships_knows_no_translator_and_no_writer_of_the_package():
    """Of Python's own library neither `ast` nor a template engine: what is translated stands apart from what translates."""
    folders = (
        "data",
        "binding",
        "kernels",
        "planner",
        "planner/strategies",
        "wasm",
        "wasm/planning",
        "wasm/scalars",
        "wasm/tiles",
        "fusion",
    )
    shipped = ("dsl/ir", "dsl/gradients", *(f"codegen/{name}" for name in folders))
    files = [f for folder in shipped for f in sorted((ROOT / folder).glob("*.py"))]
    taken = {f: set(re.findall(r"^(?:from|import) (\w+)", f.read_text(encoding="utf-8"), re.M)) for f in files}
    assert len(files) > 60 and [f for f, names in taken.items() if names & {"ast", "jinja2", "mypy", "tokenize"}] == []


def test_few_modules_of_typescript_need_each_other(imports):
    assert [c for c in circles(imports) if len(c) > CIRCLE] == []


@pytest.mark.parametrize("folder", ["runtime", "dsl", "codegen", "workbench", "website"])
def test_folders_are_small(folder):
    files = [f for f in (ROOT / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts]
    assert [str(f) for f, n in Counter(f.parent for f in files).items() if n > FILES] == []


def test_names_in_the_runtime_say_one_thing():
    files = sorted((ROOT / "runtime").rglob("*.ts"))
    assert [name for name, n in Counter(f.name for f in files).items() if n > 2 and name != "index.ts"] == []


def test_files_are_short():
    """One subject each; see CONTRIBUTING.md."""
    folders = ("buildtools", "codegen", "compat", "dsl", "ops", "runtime", "tests", "workbench")
    files = [
        f for name in folders for f in (ROOT / name).rglob("*") if f.suffix in (".py", ".ts", ".mjs", ".op", ".j2")
    ]
    sizes = {f.relative_to(ROOT).as_posix(): len(f.read_text(encoding="utf-8").splitlines()) for f in files}
    assert len(sizes) > 1000
    assert {name: n for name, n in sizes.items() if n > LINES} == {}


def prose(page: str) -> list[str]:
    """Its lines but for programs, which are set off by fences or four blanks, and rows of tables."""
    text = re.sub(r"^ *```.*?^ *```", "", page, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return [line for line in text.splitlines() if not line.startswith(("    ", "|"))]


def test_pages_have_120_columns():
    pages = [
        ROOT / "CONTRIBUTING.md",
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "tests").rglob("*.md"),
    ]
    lines = [(f.relative_to(ROOT).as_posix(), line) for f in pages for line in prose(f.read_text(encoding="utf-8"))]
    assert len({name for name, _ in lines}) > 50
    assert {name for name, line in lines if len(line) > COLUMNS} - set(WRITTEN) == set()


def test_files_and_folders_that_are_spoken_of_exist():
    """In comments and pages.  codegen/api and codegen/binding/parts.py speak of what the package is to hold."""
    tops = "dsl|codegen|runtime|ops|tests|buildtools|workbench|compat|bench|docs"
    start = rf"(?<![\w./@\"'-])(?:{tops})"
    file = re.compile(rf"{start}/[a-z_\d./-]*[a-z_\d]\.(?:py|ts|mjs|op|j2|md|names|json|wgsl)\b")
    folder = re.compile(rf"{start}/[a-z_\d/-]*[a-z_\d](?![\w*{{-]|[./][\w.*{{<$])")
    made = "ops/data"  # of the package
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    code = [f for top in ("dsl", "codegen", "runtime", "workbench") for f in (ROOT / top).rglob("*.[pt][ys]")]
    texts = {
        f: f.read_text(encoding="utf-8") for f in [*pages, *code] if f.parent.name != "api" and f.name != "parts.py"
    }
    spoken = [(f, name) for f, text in texts.items() for name in file.findall(text)]
    assert len(spoken) > 200
    assert [f"{f.relative_to(ROOT)}: {name}" for f, name in spoken if not (ROOT / name).exists()] == []
    folders = [(f, name) for f, text in texts.items() for name in folder.findall(text)]
    assert len(folders) > 40
    assert [f"{f.relative_to(ROOT)}: {name}" for f, name in folders if not exists(name) and name != made] == []


def exists(name: str) -> bool:
    """A folder, or a file whose ending is left out."""
    return any((ROOT / f"{name}{end}").exists() for end in ("", ".py", ".ts", ".op"))
