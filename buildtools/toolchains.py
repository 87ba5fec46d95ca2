"""The tools that users bundle and run the package with, for tests: each installed by itself from
tests/toolchains/tools/TOOL/package-lock.json into .cache/toolchains/TOOL, once per content of that file.

No other command needs them, and none of them is in node_modules: all together they are half a gigabyte."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import node
from .archives import unpack
from .environment import SetupError, say
from .paths import CACHE, ROOT

LOCKS = ROOT / "tests" / "toolchains" / "tools"


def installed(tool: str) -> Path:
    """The folder with the tool's node_modules.  Raises SetupError where it cannot be installed."""
    folder, given = CACHE / "toolchains" / tool, LOCKS / tool
    stamp, wanted = folder / "stamp", hashlib.sha256((given / "package-lock.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return folder
    say(f"installing {tool}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(given / name, folder)
    # Not `ci`, which refuses a lock file in which packages for other systems are missing, as registries that keep few
    # of them make.
    done = subprocess.run(
        [*node.npm(), "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=folder,
        env=node.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise SetupError(f"installing {tool} failed:\n{done.stdout.strip()}")
    stamp.write_text(wanted)
    return folder


def project(tool: str | None, tarball: Path, files: dict[str, Path | str], at: Path | None = None) -> Path:
    """An empty project with the packed package, these files and the tool.

    It is the folder `at`, outside of this checkout, whose node_modules have more than a stranger's (`webgpu` among it);
    for tools that follow no links, the folder beside the tool's node_modules."""
    there = installed(tool) if tool else CACHE
    folder = at or there / "project"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "node_modules").mkdir(parents=True)
    for part in (there / "node_modules").iterdir() if tool and at else ():
        if part.name[0] != ".":
            (folder / "node_modules" / part.name).symlink_to(part)
    with tarfile.open(tarball) as archive:
        unpack(archive, folder / "node_modules")
    (folder / "node_modules" / "package").rename(folder / "node_modules" / "tensorloom")
    for name, content in {
        "package.json": '{ "name": "stranger", "private": true, "type": "module" }\n',
        **files,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else content.read_text())
    return folder


@contextlib.contextmanager
def serving(
    words: Sequence[str | Path], cwd: Path, ready: re.Pattern[str], timeout: float = 120
) -> Iterator[list[str]]:
    """A tool's server, from the line that says it is ready until the end, when it and what it started are stopped; what
    it said, line by line."""
    server = subprocess.Popen(
        [str(node.newest()), *map(str, words)],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=_environment({}),
        start_new_session=True,
    )
    said, started = [], threading.Event()

    def listen() -> None:
        for line in server.stdout or ():
            said.append(line)
            if ready.search(line):
                started.set()
        started.set()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        if not started.wait(timeout) or server.poll() is not None:
            raise AssertionError(f"{words[0]} does not start: {''.join(said)}")
        yield said
    finally:
        if server.stdin:
            server.stdin.close()
        try:
            server.wait(3)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)
        listener.join(30)


def run(
    words: Sequence[str | Path],
    cwd: Path,
    env: dict[str, str] | None = None,
    program: Path | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run a tool's script with a Node that it supports, or the executable `program`; stdout and stderr are apart."""
    return subprocess.run(
        [str(program or node.newest()), *map(str, words)],
        cwd=cwd,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=_environment(env or {}),
    )


def _environment(more: dict[str, str]) -> dict[str, str]:
    # Without the options that tests give to Node: these are tools as their users have them.
    return {**os.environ, "CI": "1", "NEXT_TELEMETRY_DISABLED": "1", "NODE_OPTIONS": "", **more}
