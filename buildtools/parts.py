"""The table of docs/sizes.md: what each part of the package adds to a bundle.

What is in which part is said here by the folders of `dist/`; parts.mjs bundles and measures.  A part that a bundle
lacks has no figure."""

from __future__ import annotations

import json
import re
from pathlib import Path

from . import node
from .paths import DIST, ROOT

PAGE = ROOT / "docs" / "sizes.md"
ENTRIES = {
    "four ops": "import { add, matmul, relu, tensor } from './functional.js'; console.log(add, matmul, relu, tensor)",
    "core": "import * as torch from './core.js'; console.log(torch)",
    "whole": "import * as torch from './index.js'; console.log(torch)",
}


def modules(*packages: str) -> list[str]:
    """What the translations of these packages of Python are called."""
    files = [file for package in packages for file in (ROOT / package).glob("*.py")]
    return [f"host/{file.stem}." for file in files]


# Part -> how the names of its files begin; the longest beginning decides.
PARTS = {
    "formulas of ops": ["ops/data/"],
    "typed functions, names": [
        "ops/",
        "complex-ops",
        "names/",
        "namespaces/",
        "methods",
        "order",
        "needed",
        "core",
        "functional",
        "index",
    ],
    "tensors, views, types, errors": ["runtime/"],
    "calls: arguments, shapes, plans kept": [
        *modules("codegen/binding", "codegen/data"),
        *("runtime/dispatch/", "runtime/program/"),
    ],
    "tape and way back": ["runtime/tape/", "runtime/autograd/"],
    "gradients derived where they are asked for": ["dsl/", "codegen/", "runtime/dispatch/derive"],
    "CPU: memory, threads, interpreter": ["runtime/devices/"],
    "CPU: WebAssembly": ["wasm"],
    "GPU: strategies and WGSL": ["host/", "wgsl/"],
    "GPU: buffers, pipelines, queue": ["runtime/devices/webgpu/"],
    "functions by hand": ["runtime/functions/", "runtime/composite/"],
    "modules (nn)": ["runtime/nn/", "nn"],
    "optimizers, schedulers, mixed precision": ["runtime/optim/", "runtime/amp/", "autocast-rules"],
    "files": ["runtime/files/"],
    "exported programs, ONNX": ["runtime/exchange/", "runtime/onnx/", "runtime/quantization/", "runtime/bundle/"],
    "torch.compile": ["runtime/capture/", "fusion/"],
    "distributions": ["runtime/distributions/"],
    "data sets, tools": ["runtime/datasets/", "runtime/tools/"],
}
COMPILERS = ["gradients derived where they are asked for", "CPU: WebAssembly", "GPU: strategies and WGSL"]
DEVICES = ["tape and way back", "CPU: memory, threads, interpreter", "GPU: buffers, pipelines, queue"]
# How much is left where none of some parts is there.
WITHOUT = {
    "without compilers": COMPILERS,
    "without compilers, devices, gradients": [*COMPILERS, *DEVICES],
    "without modules and what follows them": [*PARTS][[*PARTS].index("functions by hand") + 1 :],
}
Sizes = dict[str, dict[str, tuple[int, int]]]


def measured(dist: Path = DIST) -> Sizes:
    """Bundle -> part -> bytes minified, and bytes gzipped that it adds; `all` is the bundle, those of WITHOUT what is
    left of it."""
    asked = json.dumps({"entries": ENTRIES, "parts": PARTS, "without": WITHOUT})
    done = node.run([ROOT / "buildtools" / "parts.mjs", dist, asked])
    assert done.returncode == 0, done.stdout
    return {
        bundle: {part: (n, z) for part, (n, z) in parts.items()} for bundle, parts in json.loads(done.stdout).items()
    }


def table(sizes: Sizes) -> str:
    """kB gzipped, a column for each bundle."""

    def cell(bundle: str, part: str) -> str:
        return f"{sizes[bundle][part][1] / 1000:.1f}" if part in sizes[bundle] else ""

    names = [*zip(PARTS, PARTS), ("together", "all"), *zip(WITHOUT, WITHOUT)]
    rows = [[name, *(cell(bundle, part) for bundle in sizes)] for name, part in names]
    lines = [["kB gzipped that each adds", *sizes], ["---", *("---:" for _ in sizes)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def stated(page: str) -> dict[str, list[float]]:
    """Part -> the figures of its row, in the order of the bundles; 0 where there is none."""
    rows = [line.strip("| ").split("|") for line in re.findall(r"^\|.*\|$", page, re.M)[2:]]
    return {name.strip(): [float(cell.strip() or 0) for cell in cells] for name, *cells in rows}
