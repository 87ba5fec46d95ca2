"""Turns the definitions into the npm package `dist/`: generated TypeScript, tsc, esbuild, package.json.

`build` makes everything anew; nothing in the output depends on the folder, the time or the machine.
`pack` makes the tarball that would be published, `lint` asks publint and attw about it."""

from __future__ import annotations

import gc
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import lock, node
from .environment import say
from .paths import DIST, EARLIER, ROOT, SOURCES

if TYPE_CHECKING:  # imported where they are needed: loading them takes a while
    from codegen.earlier import Earlier
    from dsl.opdef import Library

VERSION = "0.1.0"
# Entries beside those that the generator makes: other libraries' spellings, written with what users of the package
# have.
COMPATIBLE = tuple(f"compat/{file.stem}" for file in sorted((ROOT / "compat").glob("*.ts")))
# Parts of the package, by the name that they have in it: bundlers leave out what is not used of one.
PARTS = {
    "autograd": "runtime/autograd/namespace",
    "distributions": "runtime/distributions/index",
    "fft": "namespaces/fft",
    "func": "runtime/nn/func",
    "linalg": "namespaces/linalg",
    "nn": "nn",
    "nn/functional": "namespaces/functional",
    "nn/init": "runtime/nn/init",
    "nn/utils": "runtime/nn/utils/index",
    "optim": "runtime/optim/index",
    "optim/lr_scheduler": "runtime/optim/lr_scheduler/index",
    "optim/swa_utils": "runtime/optim/swa-utils",
    "safetensors": "runtime/files/index",
    "special": "names/special",
    "testing": "runtime/tools/testing",
    "utils": "runtime/datasets/namespace",
    "utils/data": "runtime/datasets/index",
}
# Modules that are imported for what they do, and the entries that import them: bundlers leave out any other module of
# which nothing is used.
EFFECTS = (
    *("runtime/autograd/gradient-methods", "runtime/functions/tensor-methods", "runtime/composite/composite-methods"),
    *("runtime/functions/small-methods", "runtime/devices/webgpu/gpu-names", "runtime/capture/module-method"),
    "runtime/nn/state-files",
    *("runtime/devices/cpu/webassembly", "wasm"),
    *("methods", "core-methods", "index", "functional", "core", *COMPATIBLE),
)
# Classic scripts: entry -> script.
SCRIPTS = {"index.js": "torch.js", "core.js": "torch-core.js"}
# Modules that the generator makes beside those of the files of definitions.
RESERVED = ("routines", "complete", "schedules", "bodies", "callees")


class BuildError(Exception):
    """A mistake in a definition, or a tool refused what the build made; the text is for the author."""


def build(
    dist: Path = DIST, sources: Path = SOURCES, more_ops: Sequence[Path] = (), earlier: Path | None = EARLIER
) -> str:
    """Make the package root `dist` from `ops/`, `codegen/` and `runtime/`; `sources` gets the TypeScript.

    `more_ops`: folders of definitions to compile too.  `earlier`: the folder with what earlier builds made, taken
    where nothing changed; None makes all anew.  Returns the compile report (the text of docs/compile-report.md).
    Raises BuildError for mistakes in definitions, and if TypeScript or esbuild refuse.  Another build into the same
    folder is waited for; one that was interrupted, or a file that was changed by hand, leaves no trace."""
    from codegen.api import package as generator
    from codegen.earlier import Earlier

    from . import by_hand

    kept = Earlier(earlier)
    with lock.alone(sources.parent / f"{sources.name}.lock", say), everything_kept():
        say("compiling the definitions")
        report = generator.generate(sources, definitions(more_ops, earlier=kept), by_hand.found(kept), kept)
        say("compiling TypeScript")
        compile_typescript(sources, dist, anew=earlier is None)
        _describe(dist)
        _classic_scripts(dist)
    return report


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
            ".": {**_required("index", "index"), "types": "./index.d.ts", "default": "./index.js"},
            "./functional": {
                **_required("functional", "index"),
                "types": "./functional.d.ts",
                "default": "./functional.js",
            },
            "./core": {**_required("core", "core"), "types": "./core.d.ts", "default": "./core.js"},
            "./wasm": {**_required("wasm", "index"), "types": "./wasm.d.ts", "default": "./wasm.js"},
            **{f"./{name}": {"types": f"./{name}.d.ts", "default": f"./{name}.js"} for name in COMPATIBLE},
            **{f"./{name}": {"types": f"./{file}.d.ts", "default": f"./{file}.js"} for name, file in PARTS.items()},
            "./package.json": "./package.json",
        },
        # What only Node has, and what stands there in bundles for pages: all bundlers know this field, some no
        # conditions.
        "browser": {"./runtime/platform/node.js": "./runtime/platform/elsewhere.js"},
        "unpkg": "./torch.js",
        "jsdelivr": "./torch.js",
        "engines": {"node": ">=18.4"},
    }


def _required(entry: str, script: str) -> dict[str, Any]:
    """The conditions by which Node's `require` finds an entry: as a module where it can load those, else as a classic
    script."""
    module = {"types": f"./{entry}.d.ts", "default": f"./{entry}.js"}
    return {
        "node": {
            "import": module,
            "module-sync": module,
            "module": module,
            "require": {"types": f"./{script}.d.cts", "default": f"./{script}.cjs"},
        }
    }


def compile_typescript(sources: Path, dist: Path, anew: bool = False) -> None:
    """Makes `dist` hold what TypeScript makes of `sources`, and the JavaScript that lies among them, and nothing
    else."""
    # What tsc remembers lies beside the sources; with it tsc writes only what changed.  Types are checked by
    # `check_types`.
    state = sources.parent / f"{sources.name}.tsbuildinfo"
    finished = [
        file for kind in ("*.js", "*.d.ts") for file in sources.rglob(kind)
    ]  # op data and kernels, with their types
    made = {
        file.relative_to(sources).with_suffix(suffix).as_posix()
        for file in sources.rglob("*.ts")
        if not file.name.endswith(".d.ts")
        for suffix in (".js", ".d.ts")
    }
    # Digests of what tsc read and of what it wrote.  They are gone while it writes: an interrupted build has none, and
    # what it remembers may then not be what lies in `dist`.
    written = sources.parent / f"{sources.name}.written"
    before = _digests(written)
    if anew or not before or any(_digest(dist / name) != digest for name, digest in before["wrote"].items()):
        written.unlink(missing_ok=True)
        before = {}
        shutil.rmtree(dist, ignore_errors=True)
        state.unlink(missing_ok=True)
    for file in finished:
        _copy(file, dist / file.relative_to(sources))
    keep = made | {file.relative_to(sources).as_posix() for file in finished}
    for file in list(dist.rglob("*")):
        if file.is_file() and file.relative_to(dist).as_posix() not in keep:
            file.unlink()
    dist.mkdir(parents=True, exist_ok=True)
    # The settings name this checkout's folders; a build into other folders only changes those.
    config = sources.parent / f"tsconfig.{sources.name}.json"
    (sources.parent / "package.json").write_text('{"type": "module"}\n')  # TypeScript takes the files for modules
    config.write_text(
        json.dumps(
            {
                "extends": str(ROOT / "tsconfig.json"),
                "compilerOptions": {
                    "rootDir": str(sources),
                    "outDir": str(dist),
                    "types": [],
                    "noCheck": True,
                    "incremental": True,
                    "tsBuildInfoFile": str(state),
                },
                "include": [f"{sources}/**/*.ts"],
            },
            indent=1,
        )
    )
    read = hashlib.sha256()  # all that tsc reads: definitions change op data, seldom a signature
    for file in sorted([*sources.rglob("*.ts"), config, ROOT / "tsconfig.json", ROOT / "package-lock.json"]):
        read.update(file.read_bytes())
    if before and before["read"] == read.hexdigest() and before["wrote"].keys() == made:
        return
    written.unlink(missing_ok=True)
    done = node.run([node.compiler(), "--project", config, "--pretty", "false"])
    if done.returncode:
        raise BuildError(_first_lines(done.stdout))
    part = written.with_suffix(".part")
    part.write_text(
        json.dumps({"read": read.hexdigest(), "wrote": {name: _digest(dist / name) for name in sorted(made)}})
    )
    part.replace(written)


def _digests(written: Path) -> dict[str, Any]:
    """What an earlier call noted; empty where there is none, or none that can be read."""
    try:
        found = json.loads(written.read_text())
        return found if {"read", "wrote"} <= found.keys() else {}
    except (OSError, ValueError, AttributeError):
        return {}


def _digest(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def check_types(sources: Path = SOURCES, entry: str | None = None) -> str:
    """What TypeScript, strict, finds in all sources, the generated JavaScript by its comments included; empty for
    nothing.

    A build only lets it write what it reads, which takes half the time: definitions make no mistakes of types, and who
    changes the runtime asks `build.py check`.  `entry`: only what this module reaches is read; what others add to
    classes is not there then."""
    config = sources.parent / f"tsconfig.{sources.name}.all.json"
    config.write_text(
        json.dumps(
            {
                "extends": str(ROOT / "tsconfig.json"),
                "compilerOptions": {
                    "rootDir": str(sources),
                    "types": [],
                    "allowJs": not entry,
                    "checkJs": not entry,
                    "noEmit": True,
                    "declaration": False,
                },
                "include": [] if entry else [f"{sources}/**/*.ts"],
                "files": [str(sources / entry)] if entry else sorted(str(file) for file in sources.rglob("*.js")),
            },
            indent=1,
        )
    )
    return _first_lines(node.run([node.compiler(), "--project", config, "--pretty", "false"]).stdout)


def _copy(file: Path, to: Path) -> None:
    if to.exists() and to.read_bytes() == file.read_bytes():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)


def _first_lines(text: str, most: int = 40) -> str:
    lines = text.strip().splitlines()
    return "\n".join(lines[:most] + [f"... and {len(lines) - most} lines more"] * (len(lines) > most))


def _classic_scripts(dist: Path) -> None:
    """Entries as one script each for a <script> tag, which defines the global `torch`."""
    done = node.run(
        [
            node.tool("esbuild"),
            *(f"{script.removesuffix('.js')}={entry}" for entry, script in SCRIPTS.items()),
            "--bundle",
            "--format=iife",
            "--global-name=torch",
            "--target=es2022",
            "--minify",
            "--sourcemap",
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
        "sideEffects": [f"./{name}.js" for name in EFFECTS] + [f"./{name}" for name in SCRIPTS.values()]
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
