"""The generated TypeScript API: its declarations, a user's project, determinism."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest
from definitions import KEPT, LIBRARY, packaged

from buildtools import by_hand, node, typescript
from buildtools.package import bundled
from buildtools.paths import EARLIER, SOURCES
from codegen.api import compiled, modules, package
from codegen.api.aliases import names_of
from codegen.earlier import Earlier
from dsl.library import load_text

IMPORTED = re.compile(r"^import (?:type )?(?:\{([^}]*)\}|\* as (\w+))", re.M)
GOLDEN = [
    "add",
    "clamp",
    "gelu",
    "sum",
    "max",
    "conv2d",
    "matmul_mm",
    "cross_entropy",
    "embedding",
    "dropout",
    "var",
    "pad2d",
]


@pytest.mark.parametrize("name", GOLDEN)
def test_declarations_are_as_agreed(name, golden):
    op = LIBRARY.ops[name]
    text = modules.ops_module(op.file, [op])
    start = text.index("export ")
    golden(f"golden/typescript/{name}.ts", text[start:])


def test_overloads_tell_an_axis_from_another_tensor():
    """`x.max(1)` is along an axis: where an op is overloaded so, the other operand is no number."""
    methods = names_of(LIBRARY).methods
    signatures = modules.method_row("max", methods["max"], False)["signatures"]
    assert {"max(other: Tensor): Tensor", "max(dim: number, options?: MaxOptions): MaxResult"} <= set(signatures)
    assert not any("other: TensorOrNumber" in s for s in signatures)


def test_every_name_is_unique_in_its_namespace():
    for space, table in names_of(LIBRARY).namespaces.items():
        for name, ops in table.items():
            assert len({op.name for op in ops}) == len(ops), f"{space}.{name}"


def test_files_that_come_out_the_same_are_left_alone(dist, tmp_path):
    sources = shutil.copytree(SOURCES, tmp_path / "src")
    before = {f: f.stat().st_mtime_ns for f in sources.rglob("*")}
    earlier = Earlier(EARLIER)
    package.generate(sources, LIBRARY, by_hand.found(), earlier, bundled(earlier))
    assert before == {f: f.stat().st_mtime_ns for f in sources.rglob("*")}


def test_everything_generated_type_checks(dist):
    """Op data and kernels, too, which a build leaves unread; a user's project is compiled in test_package."""
    assert typescript.check_types(SOURCES) == ""


def test_functional_calls_no_method_that_only_the_whole_package_has(dist):
    """`tensorloom/functional` installs no methods, so nothing that it reaches may need `x.view()` or `x.add()`, which
    TypeScript then does not know."""
    assert typescript.check_types(SOURCES, "functional.ts") == ""


def imported(text: str) -> set[str]:
    """The names that a module imports, as it calls them."""
    return {
        name.split(" as ")[-1].strip()
        for names, whole in IMPORTED.findall(text)
        for name in (names or whole).split(",")
    }


def test_an_op_may_be_called_like_what_its_modules_import(dist, tmp_path):
    """Whatever modules of ops and of names import, in the package and in a library of ops with those names."""
    of_package = [*SOURCES.glob("ops/*.ts"), *SOURCES.glob("ops/data/*.js"), *SOURCES.glob("names/*.ts")]
    found = set().union(*(imported(f.read_text()) for f in of_package)) - {f"{op}Op" for op in LIBRARY.ops}
    left = {name for name in found if re.fullmatch(r"[a-z]\w*[^_]", name)}
    assert left <= {"math", "stateless"}, left  # of routines and modules, which are named in another way
    words = sorted({name.removesuffix("_") for name in found if name.endswith("_")} | {"args", "tensor", "op"})
    assert {
        "data",
        "compiled",
        "run",
        "calls",
        "requiring",
        "more",
        "bodies",
        "routines",
        "overload",
    } <= set(words)
    text = "op {0}(input: Any, dim: dim, keepdim: bool = false, *, dtype: dtype?) -> Num drop dim unless keepdim\n    as torch.{0}\n    out = sum[dim] input\n"
    library, errors, _ = load_text("\n".join(text.format(w) for w in words), "words.op")
    assert not errors
    for path, text in package.ops_files(library, Earlier(None))[0].items():
        if "words" not in path or path.endswith(".d.ts"):
            continue
        if "kernels" not in path:
            assert not imported(text) & set(words), path
        file = tmp_path / Path(path).name
        file.write_text(text)
        done = node.run([node.tool("esbuild"), file, f"--outfile={tmp_path / 'made.js'}", "--log-level=warning"])
        assert done.returncode == 0, f"{path}: {done.stdout}"


def plain(value):
    """Op data as JSON; formulas only as being there."""
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return "formula" if callable(value) else value


def test_data_written_short_is_completed_to_what_it_was(dist, tmp_path):
    """All that the package knows of every op, from its text: codegen/api/notation.py and runtime/program/notation.ts
    are each other's opposite."""
    ops = list(LIBRARY.ops.values())
    (tmp_path / "main.ts").write_text(
        "\n".join(
            [
                f'import {{ compiled }} from "{SOURCES}/ops/data/complete.js";',
                f'import {{ withFormulas }} from "{SOURCES}/runtime/program/notation-formulas.js";',
                *(f'import * as {f} from "{SOURCES}/ops/data/{f}.js";' for f in sorted({op.file for op in ops})),
                f"const all = [{', '.join(f'{op.file}.{modules.binding(op.name)}' for op in ops)}];",
                "const ops = all.map((d: any) => compiled(d).op);",
                "for (const op of ops) for (const program of op.programs) program.kernels.forEach(withFormulas);",
                'console.log(JSON.stringify(ops, (_, v) => typeof v === "function" ? "formula" : v));',
            ]
        )
    )
    bundle = tmp_path / "main.mjs"
    done = node.run(
        [
            node.tool("esbuild"),
            tmp_path / "main.ts",
            "--bundle",
            "--format=esm",
            f"--outfile={bundle}",
            "--log-level=warning",
        ]
    )
    assert done.returncode == 0, done.stdout
    for op, got in zip(ops, json.loads(node.run([bundle]).stdout), strict=True):
        data = packaged(op.name)
        own = compiled.packaged(op, compiled.data_of(op, KEPT))  # another copy: its bodies are replaced by names
        named = compiled.with_named_bodies(op, own)  # whose length decides what is carried
        assert got == plain(compiled.without_derived(op, data) if compiled.carried_of(op, named)[1] else data), op.name
