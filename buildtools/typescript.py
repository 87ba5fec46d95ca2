"""TypeScript to JavaScript, and what its compiler finds: only what changed is written anew."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from . import node
from .paths import ROOT, SOURCES


class BuildError(Exception):
    """A mistake in a definition, or a tool refused what the build made; the text is for the author."""


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
