"""The generated TypeScript API: its declarations, a user's project, determinism."""

import dataclasses
import json
from functools import cache
from pathlib import Path

import pytest

from buildtools import node, package as build
from codegen import package
from codegen.ts import modules
from codegen.ts.aliases import names_of
from definitions import LIBRARY

GOLDEN = ["add", "clamp", "gelu", "sum", "max", "conv2d", "matmul_mm", "cross_entropy", "embedding", "dropout", "var", "pad2d"]


@cache
def library(): return LIBRARY


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The package's TypeScript, generated."""
    out = tmp_path_factory.mktemp("package") / "src"
    package.generate(out, library())
    return out


@pytest.mark.parametrize("name", GOLDEN)
def test_declarations_are_as_agreed(name, golden):
    op = library().ops[name]
    text = modules.ops_module(op.file, [op])
    start = text.index("export ")
    golden(f"golden/typescript/{name}.ts", text[start:])


def test_overloads_tell_an_axis_from_another_tensor():
    """`x.max(1)` is along an axis: where an op is overloaded so, the other operand is no number."""
    methods = names_of(library()).methods
    signatures = modules.method_row("max", methods["max"], False)["signatures"]
    assert {"max(other: Tensor): Tensor", "max(dim: number, options?: MaxOptions): MaxResult"} <= set(signatures)
    assert not any("other: TensorOrNumber" in s for s in signatures)


def test_every_name_is_unique_in_its_namespace():
    for space, table in names_of(library()).namespaces.items():
        for name, ops in table.items():
            assert len({op.name for op in ops}) == len(ops), f"{space}.{name}"


def test_two_builds_are_byte_equal_and_leave_unchanged_files_alone(sources, tmp_path):
    package.generate(tmp_path / "other" / "src", package.load())
    listed = lambda folder: sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    files = listed(sources)
    assert files == listed(tmp_path / "other" / "src")
    for f in files: assert (sources / f).read_bytes() == (tmp_path / "other" / "src" / f).read_bytes(), f
    before = {f: (sources / f).stat().st_mtime_ns for f in files}
    package.generate(sources, library())
    assert before == {f: (sources / f).stat().st_mtime_ns for f in files}


def test_everything_generated_type_checks(sources):
    """Op data and kernels, too, which a build leaves unread; a user's project is compiled in test_package."""
    (sources.parent / "package.json").write_text('{"type": "module"}')
    assert build.check_types(sources) == ""


def plain(value):
    """Op data as JSON; formulas only as being there."""
    if dataclasses.is_dataclass(value): return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list): return [plain(v) for v in value]
    return "formula" if callable(value) else value


def test_data_written_short_is_completed_to_what_it_was(sources, tmp_path):
    ops = [op for op in library().ops.values() if op.file in ("activation", "conv", "loss", "index", "random")]
    (tmp_path / "main.ts").write_text("\n".join([
        f'import {{ compiled }} from "{sources}/ops/data/complete.js";',
        *(f'import * as {f} from "{sources}/ops/data/{f}.js";' for f in sorted({op.file for op in ops})),
        f"const all = [{', '.join(f'{op.file}.{modules.binding(op.name)}' for op in ops)}];",
        'console.log(JSON.stringify(all.map((d: any) => compiled(d, []).op), (_, v) => typeof v === "function" ? "formula" : v));']))
    bundle = tmp_path / "main.mjs"
    done = node.run([node.tool("esbuild"), tmp_path / "main.ts", "--bundle", "--format=esm", f"--outfile={bundle}", "--log-level=warning"])
    assert done.returncode == 0, done.stdout
    for op, got in zip(ops, json.loads(node.run([bundle]).stdout), strict=True): assert got == plain(package.op_data(op)), op.name
