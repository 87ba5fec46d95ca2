"""Builds whenever a source changes: looks at the files' times twice a second, with no other dependency."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .environment import say
from .paths import ROOT
from .typescript import BuildError

FOLDERS = ("ops", "grammar", "dsl", "codegen", "workbench", "runtime", "compat")
SUFFIXES = {".op", ".lark", ".py", ".ts", ".j2", ".wgsl"}


def watch(build: Callable[[], object], *, pause: float = 0.5) -> int:
    """Run `build` now and after each change, in a fresh process if the compiler itself changed; until interrupted."""
    _attempt(build)
    before = dict(_times())
    say("watching " + ", ".join(f"{name}/" for name in FOLDERS) + " (Ctrl-C ends)")
    while True:
        time.sleep(pause)
        now = dict(_times())
        changed = {file for file in before.keys() | now.keys() if before.get(file) != now.get(file)}
        if not changed:
            continue
        say("changed: " + ", ".join(sorted(str(file.relative_to(ROOT)) for file in changed)[:5]))
        if any(file.suffix == ".py" for file in changed):
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # Python keeps old modules
        before = now
        _attempt(build)


def _attempt(build: Callable[[], object]) -> None:
    try:
        build()
        say("built")
    except BuildError as error:
        print(error, file=sys.stderr)


def _times() -> Iterator[tuple[Path, int]]:
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in SUFFIXES:
                yield file, file.stat().st_mtime_ns
