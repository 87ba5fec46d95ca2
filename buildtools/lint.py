"""Layout, habits and types of the sources: ruff and mypy for Python, biome for TypeScript and JavaScript, and the
layout of definitions.

What each asks for is in pyproject.toml and biome.jsonc.  Needs `.venv` and `node_modules`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import node
from .paths import ROOT


def tools() -> dict[str, Callable[[bool], list[str | Path]]]:
    """The command line of each tool, given whether it is to mend what it can."""
    biome: list[str | Path] = [node.executable(), node.tool("biome"), "check", "--error-on-warnings"]
    python: list[str | Path] = [sys.executable, "-m"]
    return {
        "ruff format": lambda fix: [*python, "ruff", "format", *([] if fix else ["--diff"]), "--quiet", "."],
        "ruff check": lambda fix: [*python, "ruff", "check", *(["--fix"] if fix else []), "--quiet", "."],
        "mypy": lambda fix: [*python, "mypy", "--cache-dir", ".cache/mypy"],
        "tensorloom fmt": lambda fix: [*python, "tensorloom", "fmt", *([] if fix else ["--check"]), *definitions()],
        "biome": lambda fix: [*biome, *(["--write"] if fix else []), "."],
    }


def definitions() -> list[Path]:
    """The folders of definitions."""
    return [ROOT / "ops", *sorted((ROOT / "examples" / "packages").glob("*/ops"))]


def complaint(name: str, fix: bool = False) -> str:
    """What a tool has to say against the sources, "" for nothing.  fix: mend what it can mend by itself first."""
    done = subprocess.run(
        list(map(str, tools()[name](fix))), cwd=ROOT, env=node.environment(), capture_output=True, text=True
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"exit status {done.returncode}"


def lint(fix: bool) -> int:
    """Prints what the tools say; 0 if that is nothing."""
    found = {name: complaint(name, fix) for name in tools()}
    for name, text in found.items():
        print(f"{name}: {text or 'nothing to say'}")
    return 1 if any(found.values()) else 0
