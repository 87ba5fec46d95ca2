"""Makes `.venv` (from requirements.txt) and `node_modules` (from package-lock.json), once per content.

Runs under the system's Python with the standard library alone, before anything else exists.  It does
not decide which Node or GPU is used: see `node` and `gpu`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import lock
from .paths import CACHE, NODE_MODULES, ROOT, VENV

OLDEST_PYTHON = (3, 11)


class SetupError(Exception):
    """The machine lacks something, or an installation failed; the text says what to do."""


def python() -> Path:
    """The virtual environment's interpreter."""
    return VENV / "bin" / "python"


def inside() -> bool:
    """Whether this process runs on the virtual environment's interpreter."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def enter() -> None:
    """Continue this command on `.venv`'s interpreter, making it first if need be.  Returns only inside it."""
    if sys.version_info < OLDEST_PYTHON:
        raise SetupError(
            f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed, this is {sys.version.split()[0]}"
        )
    if sys.platform == "win32":
        raise SetupError("the build runs on Linux and macOS; on Windows, use the Windows Subsystem for Linux")
    if inside():
        return
    ensure_venv()
    sys.stdout.flush()
    command = [str(python()), *sys.argv]
    os.execv(command[0], command)


def ensure_venv() -> None:
    """`.venv` as requirements.txt says.  Made anew when that file, the folder or the Python changed."""
    requirements = ROOT / "requirements.txt"
    stamp = VENV / ".stamp"
    wanted = _digest(requirements) + f" {sys.version_info[:2]} {VENV}"
    if _reads(stamp, wanted) and python().exists():
        return
    with lock.alone(CACHE / "setup.lock", say):
        if not (_reads(stamp, wanted) and python().exists()):
            _make_venv(requirements, stamp, wanted)


def _make_venv(requirements: Path, stamp: Path, wanted: str) -> None:
    if VENV.is_symlink():
        raise SetupError(".venv is a link, and what it leads to would be emptied: remove the link first")
    say("setting up .venv")
    try:
        # A folder that was moved or made by another Python has dead paths in its scripts.
        _run([sys.executable, "-m", "venv", "--clear", str(VENV)], "making the virtual environment failed")
    except SetupError as error:
        raise SetupError(f"{error}\nPython's venv module is needed (Debian: python3-venv)") from None
    _run(
        [
            str(python()),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "--requirement",
            str(requirements),
        ],
        "installing requirements.txt failed",
    )
    stamp.write_text(wanted)


def ensure_node_modules() -> None:
    """`node_modules` exactly as package-lock.json says (npm ci), without running install scripts."""
    stamp = CACHE / "node_modules.stamp"
    wanted = _digest(ROOT / "package-lock.json")
    if _reads(stamp, wanted) and NODE_MODULES.is_dir():
        return
    with lock.alone(CACHE / "setup.lock", say):
        if not (_reads(stamp, wanted) and NODE_MODULES.is_dir()):
            _make_node_modules(stamp, wanted)


def _make_node_modules(stamp: Path, wanted: str) -> None:
    from . import node

    say("setting up node_modules")
    stamp.unlink(missing_ok=True)
    shutil.rmtree(NODE_MODULES, ignore_errors=True)
    _run(
        [*node.npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        "npm ci failed",
        env=node.environment(),
    )
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(wanted)


def ensure() -> None:
    """All that every command needs: to be called inside the virtual environment."""
    ensure_node_modules()


def say(text: str) -> None:
    """One line of progress."""
    print(f"· {text}", flush=True)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _reads(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text() == wanted


def _run(command: list[str], complaint: str, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=lock.descriptors(),
    )
    if done.returncode:
        raise SetupError(f"{complaint}:\n{done.stdout.strip()}")
