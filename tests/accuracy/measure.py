"""Measures every pointwise function of the library over its range, and writes docs/accuracy.md.

    python -m tests.accuracy.measure            # on numpy, on the package's CPU, on WebGPU where Node finds a GPU
    python -m tests.accuracy.measure --list     # the functions, for pytorch.py

The reference is the meaning of the definitions in float64; tests/test_accuracy.py anchors that to known values."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from buildtools import gpu, node, package
from buildtools.paths import DIST, EARLIER, ROOT
from codegen.earlier import Earlier
from dsl.opdef import Library, OpDef
from workbench import Function

from . import points

REPORT = ROOT / "docs" / "accuracy.md"
HERE = Path(__file__).parent


def functions(library: Library) -> list[dict]:
    """Calls of pointwise functions of one or two floating tensors, by the names that PyTorch has for them."""
    found: list[dict] = []
    for op in library.ops.values():
        name = next((a for a in op.aliases if a.startswith("torch.")), None)
        tensors = [p for p in op.params if p.kind == "tensor"]
        if name is None or not op.pointwise or op.random or any(p.cls not in ("Num", "Float", "Any") for p in tensors):
            continue
        if (
            op.tensors[op.outputs[0]].dtype in ("bool", "int")
            or any(p.optional for p in tensors)
            or len(tensors) > 2
            or op.raw
        ):
            continue
        extra = [
            (label, *o[1:])
            for label, o in points.OPTIONS.items()
            if o[0] in op.aliases
            and all(k in {p.name for p in op.params} for k in o[2])
            and len(o[1]) == (op.params[0].kind != "tensor")
        ]
        needed = [p for p in op.params if p.kind != "tensor" and not p.has_default and not p.optional]
        for label, before, options in extra if needed else [(name.removeprefix("torch."), [], {})]:
            degree = points.DEGREE if "polynomial" in name else 0
            found.append(
                {
                    "label": label,
                    "torch": points.OPTIONS[label][0] if needed else name,
                    "op": op.name,
                    "tensors": len(tensors),
                    "before": before,
                    "options": options,
                    "degree": degree,
                }
            )
    seen: dict[str, dict] = {}
    for f in found:
        seen.setdefault(f["label"], f)
    return sorted(seen.values(), key=lambda f: f["label"])


def arrays(f: dict) -> list[np.ndarray]:
    xs = points.arguments(f["tensors"])
    return [xs[0], np.full_like(xs[0], f["degree"])] if f["degree"] else xs


def meaning(library: Library, f: dict, dtype) -> np.ndarray:
    op: OpDef = library.ops[f["op"]]
    with np.errstate(all="ignore"):
        return np.asarray(
            Function(op, library).numpy(*f["before"], *(x.astype(dtype) for x in arrays(f)), **f["options"])
        )


def package_results(found: list[dict], device: str) -> list[np.ndarray] | None:
    """What the package in dist/ answers on a device; None where there is no such device."""
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 2):
            for i, x in enumerate(points.arguments(count)):
                (Path(folder) / f"x{count}{i}").write_bytes(x.tobytes())
        (Path(folder) / "functions.json").write_text(json.dumps(found), encoding="utf-8")
        done = node.run(
            [HERE / "run.mjs", DIST / "index.js", folder, device], env=gpu.variables() if device == "webgpu" else None
        )
        if done.returncode == 3:
            return None
        if done.returncode:
            raise RuntimeError(done.stdout)
        return [np.fromfile(Path(folder) / f"y{i}", np.float32) for i in range(len(found))]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--list", action="store_true")
    library = package.definitions(earlier=Earlier(EARLIER))
    found = functions(library)
    if asked.parse_args().list:
        print(json.dumps(found, indent=0))
        return 0
    want = [meaning(library, f, np.float64) for f in found]
    columns = {
        "numpy": [meaning(library, f, np.float32) for f in found],
        "cpu": package_results(found, "cpu"),
        "webgpu": package_results(found, "webgpu"),
    }
    measured = {d: [points.largest(g, w) for g, w in zip(got, want)] for d, got in columns.items() if got is not None}
    REPORT.write_text(
        report(found, measured, json.loads((HERE / "pytorch.json").read_text(encoding="utf-8"))), encoding="utf-8"
    )
    return 0


def report(found: list[dict], measured: dict[str, list[tuple[float, int]]], pytorch: dict) -> str:
    reasons = json.loads((HERE / "reasons.json").read_text(encoding="utf-8"))
    rows, worse = [], 0
    for i, f in enumerate(found):
        own = pytorch["functions"].get(f["label"])
        cells = [shown(*measured[d][i]) if d in measured else "" for d in ("numpy", "cpu", "webgpu")]
        limit = max(2 * own["ulp"], 1.0) if own else None
        over = [d for d in measured if limit is not None and measured[d][i][0] > limit]
        worse += bool(over)
        rows.append(
            f"| {f['label']} | {cells[0]} | {cells[1]} | {cells[2]} | {shown(own['ulp'], own['kind']) if own else ''} | "
            f"{reasons.get(f['label'], 'UNEXPLAINED') if over else ''} |"
        )
    return "\n".join(
        [
            "# Accuracy",
            "",
            "Written by `python -m tests.accuracy.measure`. For every pointwise function the largest error in units in the last place of float32,",
            "against float64, over arguments of every size and both signs (tests/accuracy/points.py): of the numpy meaning, of the package on the CPU",
            f"and on WebGPU ({gpu.name()}), and of PyTorch {pytorch['version']} on its CPU, as recorded by tests/accuracy/pytorch.py. 0.5 is a correctly rounded result.",
            "`+n` says that at n of the arguments one side is infinite or not a number and the other is not.",
            "",
            f"{len(found)} functions; at {worse} of them an error is more than one unit and more than twice PyTorch's, and the reason stands beside it.",
            "",
            "| function | numpy | cpu | webgpu | PyTorch | why |",
            "|---|---:|---:|---:|---:|---|",
            *rows,
            "",
        ]
    )


def shown(ulp: float, kind: int) -> str:
    text = f"{ulp:.2f}" if ulp < 100 else f"{ulp:.0f}" if ulp < 1e5 else f"{ulp:.0e}".replace("e+0", "e")
    return text + (f" +{kind}" if kind else "")


if __name__ == "__main__":
    sys.exit(main())
