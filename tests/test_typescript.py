"""The generated TypeScript API: its declarations, a user's project, determinism."""

import dataclasses
import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from buildtools import node
from codegen import package
from codegen.ts import modules
from codegen.ts.aliases import names_of
from definitions import LIBRARY

TESTS = Path(__file__).parent
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
    files = sorted(p.relative_to(sources) for p in sources.rglob("*.ts"))
    assert files == sorted(p.relative_to(tmp_path / "other" / "src") for p in (tmp_path / "other" / "src").rglob("*.ts"))
    for f in files: assert (sources / f).read_bytes() == (tmp_path / "other" / "src" / f).read_bytes(), f
    before = {f: (sources / f).stat().st_mtime_ns for f in files}
    package.generate(sources, library())
    assert before == {f: (sources / f).stat().st_mtime_ns for f in files}


def test_a_users_strict_project_type_checks(sources, tmp_path):
    """`tests/user_project` holds what must and (by @ts-expect-error) what must not type-check."""
    root = tmp_path / "node_modules" / "tensorloom"
    (tmp_path / "tsconfig.package.json").write_text(json.dumps({
        "extends": str(package.ROOT / "tsconfig.json"),
        "compilerOptions": {"rootDir": str(sources), "outDir": str(root), "emitDeclarationOnly": True, "types": []},
        "include": [f"{sources}/**/*.ts"]}))
    (sources.parent / "package.json").write_text('{"type": "module"}')
    done = node.run([node.tool("tsc"), "--project", tmp_path / "tsconfig.package.json"])
    assert done.returncode == 0, done.stdout[-4000:]
    (root / "package.json").write_text('{"name": "tensorloom", "type": "module", "exports": {".": {"types": "./index.d.ts", "default": "./index.js"}}}')
    for file in ("main.ts", "tsconfig.json"): shutil.copy(TESTS / "user_project" / file, tmp_path / file)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = node.run([node.tool("tsc"), "--project", tmp_path / "tsconfig.json"])
    assert done.returncode == 0, done.stdout


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
