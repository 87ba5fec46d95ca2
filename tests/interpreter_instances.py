"""Whole programs in the interpreter of the CPU device, in Node, in the small random
instances of dsl/testing/instances: what codegen/planner decides is decided here anew and plainly (nothing collapses), so
that it is tested apart from the planner."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

from buildtools import node
from buildtools.paths import EARLIER
from codegen.api import modules
from codegen.api.compiled import programs
from codegen.api.package import host_files, ops_files
from codegen.earlier import Earlier
from codegen.kernels.kernel import Kernel, named_loops
from dsl.ir.builders import is_loop
from dsl.ir.expression import Pack, Random, walk
from dsl.opdef import Library, OpDef
from dsl.reference.sizes import constant, extents
from dsl.testing.instance import Instance

ROOT = Path(__file__).parents[1]
TYPES = {"T": "float64", "own": "float64", "float": "float64", "int": "int32", "bool": "bool"}

MAIN = """
import { readFileSync } from "node:fs";
import { Interpreter } from "./runtime/devices/cpu/interpreter.js";
import { FUNCTIONS } from "./runtime/devices/cpu/functions.js";
import { PROCEDURES } from "./runtime/program/procedures.js";
import { programOf } from "./runtime/program/programs.js";
import { deriving } from "./runtime/dispatch/derive.js";
import { compiled } from "./ops/data/complete.js";
%s
const data: any = { %s }, ops: any = Object.create(null);
const kinds: any = { float64: Float64Array, int32: Int32Array, bool: Uint8Array };
const answers: any[] = [];
deriving();
for (const task of JSON.parse(readFileSync(0, "utf8"))) {
  const arrays: any = {}, types: any = task.types;
  for (const name in task.arrays) arrays[name] = kinds[types[name]].from(task.arrays[name].map(Number));
  let error: string | null = null;
  const words = Object.fromEntries(Object.entries(task.words).map(([k, v]) => [k, Number(v)]));
  try {
    for (const { number, launch, names } of task.kernels) {
      const op = ops[task.op] ??= compiled(data[task.file][task.op]);
      new Interpreter({
        op: task.op,
        kernel: programOf(op, task.program)!.kernels[number]!,
        launch,
        types: names.map((n: string) => types[n] ?? "float64"),
        dtype: task.dtype,
        functions: PROCEDURES.evaluator?.functions(op.op, FUNCTIONS) ?? {},
      }, words).run(names.map((n: string) => arrays[n] ?? new Float64Array(0)), words);
    }
  } catch (e) { error = (e as Error).stack ?? ""; }
  answers.push({ error, arrays: Object.fromEntries(task.wanted.map((n: string) => [n, Array.from(arrays[n], String)])) });
}
console.log(JSON.stringify(answers));
"""


class Bench:
    """All kernels of a library, bundled for Node."""

    def __init__(self, library: Library, folder: Path):
        src, earlier = folder / "src", Earlier(EARLIER)
        for f in (ROOT / "runtime").rglob("*.ts"):
            put(src / f.relative_to(ROOT), f.read_text())
        for path, text in earlier.get(host_files, "host").items():  # from the build
            put(src / path, text)
        files, _ = ops_files(library, earlier)
        for path, text in files.items():
            if path.count("/") > 1 or path.startswith("codegen/"):
                put(src / path, text)
        data = list(dict.fromkeys(op.file for op in library.ops.values()))
        imports = [f'import * as d{i} from "./ops/data/{n}.js";' for i, n in enumerate(data)]
        known = ", ".join(f'"{n}": d{i}' for i, n in enumerate(data))
        put(src / "main.ts", MAIN % ("\n".join(imports), known))
        self.bundle = folder / "main.mjs"
        done = node.run(
            [
                node.tool("esbuild"),
                src / "main.ts",
                "--bundle",
                "--format=esm",
                "--platform=node",
                f"--outfile={self.bundle}",
                "--log-level=warning",
            ]
        )
        assert done.returncode == 0, done.stdout

    def run(self, tasks: list[dict]) -> list[dict]:
        done = subprocess.run(
            [str(node.executable()), str(self.bundle)],
            input=json.dumps(tasks),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def task(op: OpDef, number: int, instance: Instance, given: dict[str, np.ndarray], dtype: type = np.float64) -> dict:
    """One program of an op in an instance: arrays, kernels, launches.  given: the tensors it starts from."""
    kernels, tensors = programs(op)[number]
    program = (op.forward, op.gradient, op.gradient2)[number]
    env = {"inf": float("inf"), "nan": float("nan"), "seed0_": 0, "seed1_": 0, "call_": 0, **instance.env}
    arrays = {n: np.array(v, order="C") for n, v in given.items()}

    def absent(name: str) -> bool:
        t = tensors[name]
        if t.role == "input":
            return name not in given
        return t.role == "gradient" and t.like not in given and not env.get("has_" + t.like, 1)

    def array(name: str) -> np.ndarray:
        if name not in arrays:
            t = tensors[name]
            known = t.role != "output" and t.like in arrays
            shape = arrays[t.like].shape if known else extents(t, env, instance.packs)
            arrays[name] = np.zeros(shape, {"int": np.int32, "bool": bool, "T": dtype}.get(t.dtype, np.float64))
        return arrays[name]

    steps = []
    for n, kernel in enumerate(kernels):
        if kernel.when is not None and not constant(kernel.when, env):
            continue
        targets = [kernel.accesses[s.target].tensor for s in kernel.steps if s.target >= 0]
        if all(absent(t) for t in targets):
            continue
        found = {a.tensor: array(a.tensor) for a in kernel.accesses if not absent(a.tensor)}
        steps.append(
            {"number": n, "launch": launch(kernel, instance, env, found), "names": [a.tensor for a in kernel.accesses]}
        )
    wanted = [o for o in program.outputs if o in arrays and not absent(o)]
    types = {
        n: "bool" if v.dtype == bool else "int32" if v.dtype.kind in "iu" else "float64" for n, v in arrays.items()
    }
    text = lambda x: str(float(x)).replace("inf", "Infinity").replace("nan", "NaN")
    return {
        "file": op.file,
        "op": modules.binding(op.name),
        "program": number,
        "kernels": steps,
        "types": types,
        "wanted": wanted,
        "dtype": np.dtype(dtype).name,
        "words": {k: text(v) for k, v in env.items() if isinstance(v, (int, float))},
        "arrays": {n: [text(x) for x in v.ravel()] for n, v in arrays.items()},
        "shapes": {n: arrays[n].shape for n in wanted},
    }


def launch(kernel: Kernel, instance: Instance, env: dict, arrays: dict[str, np.ndarray]) -> dict:
    named = named_loops(kernel)
    length = lambda l: list(instance.packs[l.pack]) if l.pack else [int(constant(l.extent, env))]
    rank = {l.name: len(length(l)) for l in kernel.loops + kernel.rloops}

    def strides_of(access):
        """For each index of an access the (length, stride) of its axes."""
        if access.tensor not in arrays or not access.index:
            return [[] for _ in access.index]
        a, out, at = arrays[access.tensor], [], 0
        rest = (
            a.ndim
            - sum(rank[i.loop] for i in access.index if isinstance(i, Pack))
            - sum(not isinstance(i, Pack) for i in access.index)
        )
        if rest > 0:
            return [[] for _ in access.index]  # meant for an option under which the tensor has other axes
        for i in access.index:
            n = rank[i.loop] if isinstance(i, Pack) else 1
            out.append([(a.shape[k], a.strides[k] // a.itemsize if a.shape[k] > 1 else 0) for k in range(at, at + n)])
            at += n
        return out

    seen = [strides_of(a) for a in kernel.accesses]
    random = any(isinstance(n, Random) for s in kernel.steps for n in walk(s.body))

    def dims(loops):
        sizes, rows = [], [[] for _ in kernel.accesses]
        for l in loops:
            if l.name in named:
                continue
            for d, size in enumerate(length(l)):
                sizes.append(size)
                for a, access in enumerate(kernel.accesses):
                    rows[a].append(
                        sum(
                            seen[a][k][d][1]
                            for k, i in enumerate(access.index)
                            if is_loop(i) and i.loop == l.name and seen[a][k]
                        )
                    )
        return sizes, rows

    outer, reduce = dims(kernel.loops), dims(kernel.rloops)
    if kernel.spread and kernel.shape in ("map", "reduce", "contract"):
        target = next(s.target for s in kernel.steps[::-1] if s.target >= 0)
        lacks = [d for d, size in enumerate(outer[0]) if size > 1 and outer[1][target][d] == 0]
        keep = [d for d in range(len(outer[0])) if d not in lacks]
        reduce = (
            [outer[0][d] for d in lacks] + reduce[0],
            [[r[d] for d in lacks] + q for r, q in zip(outer[1], reduce[1])],
        )
        outer = [outer[0][d] for d in keep], [[r[d] for d in keep] for r in outer[1]]
    other = [
        [
            x
            for i, axes_ in zip(a.index, seen[n])
            if not (is_loop(i) and i.loop not in named)
            for x in (axes_ or [(1, 0)])
        ]
        for n, a in enumerate(kernel.accesses)
    ]
    strides = [[s for _, s in x] for x in other]
    if random:
        sizes = [(l, size) for l in kernel.loops for size in length(l)]
        places, block = [], 1
        for l, size in reversed(sizes):
            places.insert(0, (l, block))
            block *= size
        outer[1].append([s for l, s in places if l.name not in named])
        strides.append([s for l, s in places if l.name in named])
    side = lambda d: {"sizes": d[0], "strides": d[1]}
    return {
        "offsets": [0] * len(kernel.accesses),
        "outer": side(outer),
        "reduce": side(reduce),
        "axes": strides,
        "lengths": [[n for n, _ in x] for x in other],
    }
