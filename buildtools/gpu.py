"""A WebGPU that works on this machine, for Node (Dawn), for Python (wgpu) and for the browser.

A real GPU is used where Dawn finds one.  Elsewhere SwiftShader, Vulkan on the CPU, unpacked from the npm
package @sparticuz/chromium (Linux, x86-64) into .cache/chromium/, which also holds a headless Chromium.
TENSORLOOM_GPU=software or =system overrides the choice.  Correctness only: a software GPU ranks kernels wrongly."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import platform
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

from . import node
from .archives import unpack
from .environment import SetupError, say
from .paths import CACHE, NODE_MODULES

PARCEL = NODE_MODULES / "@sparticuz" / "chromium"
UNPACKED = CACHE / "chromium"

# Prints what Dawn finds; `null` where it finds nothing.
PROBE = """
import { create, globals } from "webgpu";
Object.assign(globalThis, globals);
const adapter = await create([]).requestAdapter().catch(() => null);
console.log("adapter " + JSON.stringify(adapter && {
  name: [adapter.info.vendor, adapter.info.architecture, adapter.info.description].filter(Boolean).join(" "),
  software:
    adapter.info.isFallbackAdapter === true ||
    /swiftshader|llvmpipe/i.test(adapter.info.description + adapter.info.architecture),
}));
process.exit(0);
"""


def variables() -> dict[str, str]:
    """The environment variables with which Node's `webgpu` and Python's `wgpu` find the chosen GPU."""
    return dict(_choice()[0])


def name() -> str:
    """What the chosen GPU calls itself."""
    return _choice()[1]


def enter() -> None:
    """Let this process's `wgpu` find the chosen GPU, and the processes it starts.  To be called before wgpu is used."""
    wanted = variables()
    os.environ.update(wanted)
    if "LD_LIBRARY_PATH" in wanted:
        # The loader read that variable when this process began; wgpu asks for the library by this name.
        ctypes.CDLL(str(UNPACKED / "libvulkan.so.1"), mode=ctypes.RTLD_GLOBAL)


def chromium() -> Path:
    """The folder with the executable `chromium` and its libraries."""
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        raise SetupError("the software GPU and the headless browser are built for Linux on x86-64 only")
    return _unpack()


@functools.cache
def _choice() -> tuple[dict[str, str], str]:
    asked = os.environ.get("TENSORLOOM_GPU", "")
    if asked not in ("", "software", "system"):
        raise SetupError(f"TENSORLOOM_GPU={asked}: it is `software`, `system` or unset")
    software = None if asked == "system" else _software()
    if os.environ.get("VK_ICD_FILENAMES") == (software or {}).get("VK_ICD_FILENAMES", ""):
        return software or {}, "SwiftShader"  # chosen by the process that started this one
    if asked != "software":
        found = _probe({})
        if found and not found["software"]:
            return {}, found["name"]
    if software is None:
        raise SetupError("TENSORLOOM_GPU=system, but Dawn finds no GPU here")
    found = _probe(software)
    if not found:
        raise SetupError(f"SwiftShader in {UNPACKED} does not start")
    return software, found["name"]


def _software() -> dict[str, str] | None:
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        return None
    folder = _unpack()
    old = os.environ.get("LD_LIBRARY_PATH", "")
    path = old if str(folder) in old.split(":") else ":".join(filter(None, [str(folder), old]))
    return {
        "LD_LIBRARY_PATH": path,
        "VK_ICD_FILENAMES": str(folder / "vk_swiftshader_icd.json"),
        "XDG_RUNTIME_DIR": str(folder),
    }


def _probe(variables: dict[str, str]) -> dict[str, Any] | None:
    done = node.run(["--input-type=module", "--eval", PROBE], env=variables, timeout=60)
    lines = [line for line in done.stdout.splitlines() if line.startswith("adapter ")]
    return json.loads(lines[-1].removeprefix("adapter ")) if lines else None


def _unpack() -> Path:
    package = PARCEL / "package.json"
    if not package.exists():
        raise SetupError("node_modules lacks @sparticuz/chromium: run `python3 build.py`")
    version = json.loads(package.read_text())["version"]
    stamp = UNPACKED / "version"
    if stamp.exists() and stamp.read_text() == version:
        return UNPACKED
    say(f"unpacking Chromium {version} and SwiftShader")
    shutil.rmtree(UNPACKED, ignore_errors=True)
    UNPACKED.mkdir(parents=True)
    for parcel in sorted((PARCEL / "bin").glob("*.br")):
        target = UNPACKED / parcel.stem
        _brotli(parcel, target)
        if target.suffix == ".tar":
            with tarfile.open(target) as archive:
                unpack(archive, UNPACKED)
            target.unlink()
    (UNPACKED / "chromium").chmod(0o755)
    stamp.write_text(version)
    return UNPACKED


def _brotli(source: Path, target: Path) -> None:
    # Node has Brotli, Python's standard library has not.
    script = (
        "const {brotliDecompressSync: d} = require('node:zlib'), fs = require('node:fs');"
        "fs.writeFileSync(process.argv[2], d(fs.readFileSync(process.argv[1])))"
    )
    done = node.run(["--eval", script, source, target])
    if done.returncode:
        raise SetupError(f"{source.name} cannot be unpacked:\n{done.stdout}")
