"""Turns the definitions into the npm package `dist/`: generated TypeScript, tsc, esbuild, package.json.

`build` makes everything anew; nothing in the output depends on the folder, the time or the machine.
`pack` makes the tarball that would be published, `lint` asks publint and attw about it."""

from __future__ import annotations

import gc
import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.version import VERSION

from . import lock, node
from .environment import say
from .paths import DIST, EARLIER, NODE_MODULES, ROOT, SOURCES
from .typescript import BuildError, compile_typescript

if TYPE_CHECKING:  # imported where they are needed: loading them takes a while
    from codegen.earlier import Earlier
    from dsl.opdef import Library

# Entries beside those that the generator makes: other libraries' spellings, written with what users of the package
# have.
COMPATIBLE = tuple(f"compat/{file.stem}" for file in sorted((ROOT / "compat").glob("*.ts")))
# Parts of the package, by the name that they have in it: bundlers leave out what is not used of one.
PARTS = {
    "amp": "runtime/amp/index",
    "autograd": "runtime/autograd/namespace",
    "bundle": "runtime/bundle/index",
    "distributions": "runtime/distributions/index",
    "fft": "namespaces/fft",
    "func": "runtime/nn/func",
    "hub": "runtime/hub/index",
    "linalg": "namespaces/linalg",
    "media": "runtime/media/index",
    "nn": "nn",
    "nn/functional": "namespaces/functional",
    "nn/init": "runtime/nn/init",
    "nn/utils": "runtime/nn/utils/index",
    "onnx": "runtime/onnx/both-ways",
    "optim": "runtime/optim/index",
    "optim/lr_scheduler": "runtime/optim/lr_scheduler/index",
    "optim/swa_utils": "runtime/optim/swa-utils",
    "safetensors": "runtime/files/index",
    "special": "names/special",
    "testing": "runtime/tools/testing",
    "utils": "runtime/datasets/namespace",
    "utils/data": "runtime/datasets/index",
}
# The same of what the whole does not hold: what few programs have models of, and what ops of other projects import.
BESIDE = {
    "compiled": "compiled",
    "compiled/bodies": "ops/data/bodies",
    "compiled/callees": "ops/data/callees",
    "compiled/routines": "ops/data/routines",
    "gguf": "runtime/gguf/index",
    "op": "runtime/definitions/index",
    "quantization": "runtime/quantization/index",
}
# Modules that are imported for what they do, and the entries that import them: bundlers leave out any other module of
# which nothing is used.
EFFECTS = (
    *("runtime/autograd/gradient-methods", "runtime/functions/tensor-methods", "runtime/composite/composite-methods"),
    *("runtime/functions/node-hooks", "runtime/functions/small-methods"),
    *("runtime/devices/webgpu/gpu-names", "runtime/capture/module-method"),
    *("runtime/nn/state-files", "runtime/nn/member-views", "runtime/devices/meta", "runtime/media/web-names"),
    *("runtime/devices/cpu/webassembly", "wasm"),
    *("methods", "core-methods", "index", "functional", "core", *COMPATIBLE),
)
# Classic scripts: entry -> script.
SCRIPTS = {"index.js": "torch.js", "core.js": "torch-core.js"}
# The same as one module each, for import maps and networks that deliver packages.
SINGLE = {"index.js": "torch.module.js", "core.js": "torch-core.module.js"}
# What runs a bundled model, which stands in its module.
PLAYER = {f"runtime/bundle/{name}.js": f"runtime/bundle/{name}.script.js" for name in ("player", "player-functions")}
# The folder of what Node reads, which leaves nothing out: a hundred files instead of seven hundred are loaded in half
# the time.  Every entry is there under its own name, with what several have in common in files between them, so that a
# program has each module once however it is imported.  esbuild keeps no order among modules that are imported for what
# they do, so none of these may need another to be first.
NODE = "in-node"
ENTRIES = ("index", "functional", "core", "wasm", *COMPATIBLE, *PARTS.values(), *BESIDE.values())
# Modules that the generator makes beside those of the files of definitions.
RESERVED = ("routines", "complete", "schedules", "bodies", "callees")


def build(
    dist: Path = DIST, sources: Path = SOURCES, more_ops: Sequence[Path] = (), earlier: Path | None = EARLIER
) -> str:
    """Make the package root `dist` from `ops/`, `codegen/` and `runtime/`; `sources` gets the TypeScript.

    `more_ops`: folders of definitions to compile too.  `earlier`: the folder with what earlier builds made, taken
    where nothing changed; None makes all anew.  Returns the compile report (the text of docs/compile-report.md).
    Raises BuildError for mistakes in definitions, and if TypeScript or esbuild refuse.  Another build into the same
    folder is waited for; one that was interrupted, or a file that was changed by hand, leaves no trace."""
    from codegen.ahead import beside
    from codegen.api import package as generator
    from codegen.earlier import Earlier

    from . import by_hand

    kept = Earlier(earlier)
    with lock.alone(sources.parent / f"{sources.name}.lock", say), everything_kept():
        say("compiling the definitions")
        # What knows nothing of definitions is made on another core, and found here.
        others = [partial(made, kept) for made in (generator.host, by_hand.found, bundled)]
        with beside(*others) if kept.folder else nullcontext():
            library = definitions(more_ops, earlier=kept)
        report = generator.generate(sources, library, by_hand.found(kept), kept, bundled(kept))
        say("compiling TypeScript")
        compile_typescript(sources, dist, anew=earlier is None)
        _describe(dist)
        _single_files(dist)
        _for_node(dist)
    return report


def bundled(earlier: Earlier) -> dict[str, str]:
    """Modules of the package that other tools make, by their paths among the sources."""
    return {
        "runtime/onnx/model-proto.js": onnx_messages(earlier, "read"),
        "runtime/onnx/model-writer.js": onnx_messages(earlier, "write"),
    }


def onnx_messages(earlier: Earlier, way: str) -> str:
    """The module that reads, or writes, ONNX's messages, made of the standard's schema, which PyPI's `onnx` brings."""
    script = ROOT / "buildtools" / "onnx_messages.mjs"
    found = importlib.util.find_spec("onnx")
    assert found is not None and found.origin is not None
    schema = Path(found.origin).with_name("onnx-ml.proto")
    tools = (NODE_MODULES / ".package-lock.json").read_text(encoding="utf-8")

    def made() -> str:
        done = node.run([script, schema, way], cwd=ROOT)
        if done.returncode:
            raise BuildError(f"what is to {way} ONNX's messages cannot be made:\n{done.stdout}")
        return done.stdout

    return earlier.get(made, "onnx messages", way, script.read_text(encoding="utf-8"), schema.read_text(), tools)


def definitions(more: Sequence[Path] = (), instances: int = 0, earlier: Earlier | None = None) -> Library:
    """The definitions of ops/ and of the folders `more`, with their gradients; their tests are run.

    `instances`: in so many small random instances of each op, reads outside a tensor are looked for, and every op must
    be one that somebody can call, as always those of the folders `more`.  `earlier`: what passed in an earlier build
    (codegen.earlier.Earlier).  Raises BuildError."""
    from codegen.earlier import Earlier
    from dsl.text.diagnostics import DefinitionError
    from workbench.library import load

    from . import by_hand

    files = sorted((ROOT / "ops").glob("*.op"))
    taken, added = {*RESERVED, *(file.stem for file in files)}, []
    for folder in more:
        added += additional(folder, taken)
    files += added
    whole, kept = files if instances else added, earlier or Earlier(None)
    try:
        return load(files, instances, kept, whole, by_hand.found(kept))
    except DefinitionError as error:
        raise BuildError(str(error)) from None


def additional(folder: Path, taken: set[str]) -> list[Path]:
    """The files of definitions in a folder that is compiled, too.  taken: names that a generated module has already;
    those of the files are added.  Raises BuildError."""
    files = sorted(folder.glob("*.op"))
    if not files:
        raise BuildError(
            f"--ops {folder}: " + ("there is no .op file in it" if folder.is_dir() else "there is no such folder")
        )
    for file in files:
        if file.stem in taken:
            raise BuildError(
                f"--ops {folder}: {file.name} has the name of another module of the package; call it otherwise"
            )
        taken.add(file.stem)
    return files


@contextmanager
def everything_kept() -> Iterator[None]:
    """Without looks for garbage: the compiler's trees all stay until the end, and going through them takes a tenth of
    its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def pack(folder: Path, dist: Path = DIST) -> Path:
    """`npm pack` of the package into `folder`; returns the tarball's path."""
    done = subprocess.run(
        [*node.npm(), "pack", "--loglevel=error", "--pack-destination", str(folder)],
        cwd=dist,
        env=node.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise BuildError(f"npm pack:\n{done.stdout}")
    return folder / f"{description()['name']}-{VERSION}.tgz"


def lint(tarball: Path) -> str:
    """What publint (strict) and attw (for an ESM-only package) find in a tarball; empty for nothing."""
    findings = []
    tools: list[list[str | Path]] = [
        [node.tool("publint"), "run", tarball, "--strict"],
        [node.tool("attw"), tarball, "--profile", "esm-only", "--no-color"],
    ]
    for words in tools:
        done = node.run(words)
        # publint would have conditions in `imports` for a `browser` field, which Parcel does not read by itself.
        said = [
            line
            for line in re.findall(r"^\d+\. .*", done.stdout, re.M)
            if "pkg.browser with an object value" not in line
        ]
        if done.returncode or said or "Warnings" in done.stdout:
            findings.append(done.stdout.strip())
    return "\n\n".join(findings)


def description() -> dict[str, Any]:
    """The package's own package.json, but for `sideEffects`."""
    return {
        "name": "tensorloom",
        "version": VERSION,
        "description": "PyTorch's tensors and autograd in JavaScript, on WebGPU and the CPU, compiled from one "
        "definition per op",
        "keywords": ["pytorch", "tensor", "autograd", "webgpu", "wgsl", "deep-learning"],
        "license": "MIT",
        "type": "module",
        "main": "./index.js",
        "types": "./index.d.ts",
        "exports": {
            ".": _exported("index", "index"),
            "./functional": _exported("functional", "index"),
            "./core": _exported("core", "core"),
            "./wasm": _exported("wasm", "index"),
            **{f"./{name}": _exported(name) for name in COMPATIBLE},
            **{f"./{name}": _exported(file) for name, file in (PARTS | BESIDE).items()},
            **{
                f"./{file}": {"types": f"./{Path(entry).stem}.d.ts", "default": f"./{file}"}
                for entry, file in SINGLE.items()
            },
            "./package.json": "./package.json",
        },
        # What only Node has, and what stands there in bundles for pages: all bundlers know this field, some no
        # conditions.
        "browser": {"./runtime/platform/node.js": "./runtime/platform/elsewhere.js"},
        "unpkg": "./torch.js",
        "jsdelivr": "./torch.js",
        "engines": {"node": ">=18.4"},
        # WebGPU in Node, for those who want it.
        "peerDependencies": {"webgpu": ">=0.2"},
        "peerDependenciesMeta": {"webgpu": {"optional": True}},
    }


def _exported(entry: str, script: str = "") -> dict[str, Any]:
    """The conditions by which an entry is found: bundlers, also those for Node, get the package's modules, of which
    they leave out what is not called, and Node what it loads sooner.  script: the classic script that its `require`
    finds before 20.19, which cannot load modules."""
    types = {"types": f"./{entry}.d.ts"}
    module, loaded = ({**types, "default": f"./{folder}{entry}.js"} for folder in ("", f"{NODE}/"))
    required = {"require": {"types": f"./{script}.d.cts", "default": f"./{script}.cjs"}} if script else {}
    return {"node": {"module": module, "import": loaded, "module-sync": loaded, **required}, **module}


def _single_files(dist: Path) -> None:
    """Entries as one file each: a script for a <script> tag, which defines the global `torch`, and a module."""
    _bundled(dist, SCRIPTS, "--minify", "--format=iife", "--global-name=torch", "--sourcemap")
    _bundled(dist, SINGLE, "--minify", "--format=esm", "--sourcemap")
    _bundled(dist, PLAYER, "--minify", "--format=iife", "--global-name=player")


def _for_node(dist: Path) -> None:
    """All entries, split into files that they share, and beside them the scripts that one of them reads."""
    shutil.rmtree(dist / NODE, ignore_errors=True)
    _bundled(
        dist,
        {f"{entry}.js": f"{NODE}/{entry}.js" for entry in ENTRIES},
        "--format=esm",
        "--splitting",
        f"--chunk-names={NODE}/[name]-[hash]",
    )
    for script in PLAYER.values():
        shutil.copyfile(dist / script, dist / NODE / script)


def _bundled(dist: Path, files: dict[str, str], *form: str) -> None:
    done = node.run(
        [
            node.tool("esbuild"),
            *(f"{file.removesuffix('.js')}={entry}" for entry, file in files.items()),
            "--bundle",
            *form,
            "--target=es2022",
            "--legal-comments=none",
            "--outdir=.",
            # Said here, or esbuild would heed a tsconfig.json in any folder above the output.
            '--tsconfig-raw={"compilerOptions": {"alwaysStrict": true}}',
            "--platform=node",
            "--log-level=warning",
        ],
        cwd=dist,
    )
    if done.returncode or done.stdout.strip():
        raise BuildError(done.stdout.strip())


# What `require` finds in a Node that cannot load modules by it (before 20.19): the classic script, whose global is what
# it exports.
REQUIRED = """// For `require` in Node before 20.19: what {script} defines.  Newer ones load {entry}.
const {{ readFileSync }} = require("node:fs"), {{ join }} = require("node:path");

const file = join(__dirname, "{script}");
module._compile(`${{readFileSync(file, "utf8")}}\nmodule.exports = torch;`, file);
"""
REQUIRED_TYPES = """// @ts-ignore: TypeScript before 5.8 refuses to read a module's types here
export * from "./{entry}";
"""


def _describe(dist: Path) -> None:
    described = description() | {
        "sideEffects": [f"./{name}.js" for name in EFFECTS]
        + [f"./{name}" for name in (*SCRIPTS.values(), *SINGLE.values(), f"{NODE}/**/*.js")]
    }
    (dist / "package.json").write_text(json.dumps(described, indent=2) + "\n")
    for entry, script in SCRIPTS.items():
        (dist / entry).with_suffix(".cjs").write_text(REQUIRED.format(script=script, entry=entry))
        (dist / entry).with_suffix(".d.cts").write_text(REQUIRED_TYPES.format(entry=entry))
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, dist / name)
    shutil.copyfile(ROOT / "docs" / "package.md", dist / "README.md")


def size(dist: Path = DIST) -> dict[str, int]:
    """Bytes of the package: all files, and the classic script alone."""
    files = [file for file in dist.rglob("*") if file.is_file()]
    return {"package": sum(file.stat().st_size for file in files), "torch.js": (dist / "torch.js").stat().st_size}
