"""Runs CPU kernels made from hand-made kernels in Node: for tests of codegen/cpu, without the rest of the package."""

from __future__ import annotations

import json
import tempfile
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import get_args
from unittest.mock import patch

import numpy as np

from buildtools import node
from codegen.api import opdata
from codegen.api.literal import literal
from codegen.api.modules import kernels_module
from codegen.api.package import host_files
from codegen.cpu import interpreted
from codegen.cpu.emit import cpu_kernels
from codegen.cpu.shared import share
from codegen.data.nodes import Node
from codegen.kernels.kernel import Kernel, named_loops
from dsl.ir.expression import integer, is_loop
from dsl.ir.program import Dim, Tensor
from dsl.opdef import OpDef, Param

ROOT = Path(__file__).parents[1]
# Of the runtime what kernels on the CPU stand on; the bundler takes what they need.
RUNTIME = tuple(
    p.relative_to(ROOT / "runtime").with_suffix("").as_posix()
    for folder in ("base", "elements", "program", "devices/cpu")
    for p in sorted((ROOT / "runtime" / folder).glob("*.ts"))
)
HOST_FILES = cache(host_files)
ARRAYS = {
    "float32": "Float32Array",
    "float64": "Float64Array",
    "float16": "Float32Array",
    "int32": "Int32Array",
    "bool": "Uint8Array",
    "uint8": "Uint8Array",
    "int8": "Int8Array",
}


def op(tensors: dict[str, str], params=(), promote: str = "default") -> OpDef:
    """An op with these tensors (name -> dtype of dsl.ir.program.Tensor) and options."""
    made = {n: Tensor(n, "input", (Dim("domain"),), dtype) for n, dtype in tensors.items()}
    first = [Param(n, "tensor", "Num") for n, dtype in tensors.items() if dtype == "T"][:1]
    return OpDef(
        "thing", "", (), [*first, *params], made, promote, [p.name for p in first], [], [], ["out"], file="things"
    )


def option(name: str, kind: str) -> Param:
    return Param(name, kind, has_default=True, default=integer(0))


def launch(kernel: Kernel, sizes: dict[str, int], tensors: dict[str, np.ndarray], random: bool = False) -> dict:
    """What codegen/planner would say, without collapsing: anonymous loops in order, packs with one axis."""
    named = named_loops(kernel)
    strides = lambda a: [s // tensors[a.tensor].itemsize for s in tensors[a.tensor].strides]
    summed = kernel.spread and kernel.shape == "map"

    def dims(loops, extra=()):
        anonymous = [l for l in loops if l.name not in named]
        rows = [
            [sum(s for i, s in zip(a.index, strides(a)) if is_loop(i) and i.loop == l.name) for l in anonymous]
            for a in kernel.accesses
        ]
        return {"sizes": [sizes[l.name] for l in anonymous], "strides": rows + list(extra)}

    places, block = {}, 1
    for l in reversed(kernel.loops):
        places[l.name] = block
        block *= sizes[l.name]
    anonymous = [l for l in kernel.loops if l.name not in named]
    outer = dims(kernel.loops, [[places[l.name] for l in anonymous]] if random else ())
    reduce = dims(kernel.rloops)
    if summed:  # the axes that the target lacks
        target = kernel.accesses[kernel.steps[-1].target]
        lacks = [d for d, s in enumerate(outer["strides"][kernel.accesses.index(target)]) if s == 0]
        keep = [d for d in range(len(outer["sizes"])) if d not in lacks]
        pick = lambda ds: {
            "sizes": [outer["sizes"][d] for d in ds],
            "strides": [[s[d] for d in ds] for s in outer["strides"]],
        }
        outer, reduce = pick(keep), pick(lacks)
    other = [
        [
            (n, s)
            for i, n, s in zip(a.index, tensors[a.tensor].shape, strides(a))
            if not (is_loop(i) and i.loop not in named)
        ]
        for a in kernel.accesses
    ]
    axes = [[s for _, s in x] for x in other] + (
        [[places[l.name] for l in kernel.loops if l.name in named]] if random else []
    )
    return {
        "offsets": [0] * len(kernel.accesses),
        "outer": outer,
        "reduce": reduce,
        "axes": axes,
        "lengths": [[n for n, _ in x] for x in other],
    }


def run(
    kernel: Kernel,
    definition: OpDef,
    tensors: dict[str, np.ndarray],
    sizes: dict[str, int],
    words: dict | None = None,
    dtype: str = "float32",
    types: dict[str, str] | None = None,
    random: bool = False,
):
    """`kernel` in Node: changes the arrays of `tensors` in place; answers an error's message or None."""
    # What is generated, also where the interpreter would do; a contraction as it is in the package.
    with nullcontext() if kernel.shape == "contract" else patch.object(interpreted, "brought", return_value=None):
        made = cpu_kernels(definition, [([kernel], definition.tensors)])
    with tempfile.TemporaryDirectory() as folder:
        src = Path(folder) / "src"
        for f in RUNTIME:
            put(src / "runtime" / f"{f}.ts", (ROOT / "runtime" / f"{f}.ts").read_text())
        for path, text in HOST_FILES().items():
            put(src / path, text)
        put(
            src / "ops" / "kernels" / "things.js",
            kernels_module("things", [definition], share({"thing": made}, {"thing": "things"})),
        )
        names = {a: "float64" if tensors[a].dtype == np.float64 else str(tensors[a].dtype) for a in tensors}
        names.update(types or {})
        order = [a.tensor for a in kernel.accesses]
        flat = {a: number_list(base(t)) for a, t in tensors.items()}
        put(
            src / "main.ts",
            f"""
import {{ thing }} from "./ops/kernels/things.js";
import {{ KernelRun }} from "./runtime/devices/cpu/kernel-run.js";
import {{ {", ".join(c.__name__ for c in get_args(Node))} }} from "./host/nodes.js";
const flat: any = {json.dumps(flat)}, types: any = {json.dumps(names)}, arrays: any = {{}};
const kinds: any = {{ {", ".join(f"{k}: {v}" for k, v in ARRAYS.items())} }};
for (const name in flat) arrays[name] = kinds[types[name]].from(flat[name].map(Number));
const kernel: any = {literal(data_of(kernel, definition))};
let error: string | null = null;
try {{
  new KernelRun("thing", thing[0][0], kernel, {json.dumps(launch(kernel, sizes, tensors, random))}, {json.dumps(order)}.map((n: string) => types[n]), "{dtype}")
    .run({json.dumps(order)}.map((n: string) => arrays[n]), {json.dumps({**sizes, **(words or {})})});
}} catch (e) {{ error = (e as Error).message; }}
for (const name in arrays) arrays[name] = Array.from(arrays[name], String);
console.log(JSON.stringify({{ error, arrays }}));
""",
        )
        bundle = Path(folder) / "main.mjs"
        done = node.run(
            [
                node.tool("esbuild"),
                src / "main.ts",
                "--bundle",
                "--format=esm",
                f"--outfile={bundle}",
                "--log-level=warning",
            ]
        )
        assert done.returncode == 0, done.stdout
        done = node.run([bundle])
        assert done.returncode == 0, done.stdout
        answer = json.loads(done.stdout)
    for name, values in answer["arrays"].items():
        base(tensors[name])[:] = np.array([float(v.replace("Infinity", "inf").replace("NaN", "nan")) for v in values])
    return answer["error"]


def data_of(kernel: Kernel, definition: OpDef):
    """What the package would know of the kernel: all of it for a contraction, which is run from it."""
    if kernel.shape == "contract":
        data = opdata.op_kernel(
            definition, kernel, 0, definition.tensors, {n: k for k, n in enumerate(definition.tensors)}, False
        )
        for made, a in zip(data.accesses, kernel.accesses):
            made.axes = [i.loop if is_loop(i) else "" for i in a.index]  # the definition's tensors have one axis
        return data
    return {
        "loops": [{"named": l.name in named_loops(kernel)} for l in kernel.loops],
        "steps": [{"target": s.target} for s in kernel.steps],
    }


def base(t: np.ndarray) -> np.ndarray:
    """The whole memory of a tensor, flat."""
    while t.base is not None and t.base.size:
        t = t.base
    return t.reshape(-1)


def number_list(t: np.ndarray) -> list[str]:
    return [repr(float(x)).replace("inf", "Infinity").replace("nan", "NaN") for x in t]


def put(path: Path, text: str):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
