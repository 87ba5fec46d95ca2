"""Products of half numbers on a GPU's matrix units.

No software GPU has such units, or half numbers: the kernels run with float32 in place of these, and with functions that
multiply fragments as a subgroup does in place of WGSL's.  Tiles, edges and what follows the sums are the kernels' own."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from as_json import as_json
from definitions import LIBRARY, data_of
from test_compilers import refused_by_tint
from test_strategies import RULES, R, flat

from buildtools import node
from codegen.api import modules
from codegen.binding.bind import bind
from codegen.planner.plan import plan
from codegen.planner.writer import Facts
from workbench.numpy_runner import meta
from workbench.wgpu_runner import Gpu

# A factor's fragment is where it begins in its tile and how far its rows and columns are apart; of a sum's each of 32
# threads has eight elements.
FRAGMENTS = """
struct Factor { at: u32, row: u32, column: u32 }
alias Sum = array<f32, 8>;
fn row_major(at: u32, pitch: u32) -> Factor { return Factor(at, pitch, 1u); }
fn col_major(at: u32, pitch: u32) -> Factor { return Factor(at, 1u, pitch); }
fn multiplied(lane: u32, left: Factor, right: Factor, before: Sum) -> Sum {
  var sum = before;
  for (var i = 0u; i < 8u; i++) {
    let row = (lane * 8u + i) / 16u;
    let column = (lane * 8u + i) % 16u;
    for (var d = 0u; d < 16u; d++) {
      sum[i] += left_tile[left.at + row * left.row + d * left.column]
        * right_tile[right.at + d * right.row + column * right.column];
    }
  }
  return sum;
}
fn store_sums(lane: u32, at: u32, stored: Sum, pitch: u32) {
  var sum = stored;
  for (var i = 0u; i < 8u; i++) { sums[at + (lane * 8u + i) / 16u * pitch + (lane * 8u + i) % 16u] = sum[i]; }
}
"""


def in_float32(code: str) -> str:
    """The text of a kernel for a device without matrix units and half numbers."""
    code = re.sub(r"^enable .*;\n", "", code, flags=re.MULTILINE)
    code = re.sub(r"\bf16\b", "f32", re.sub(r"\b0\.0h\b", "0.0", code))
    code = code.replace(", @builtin(subgroup_id) subgroup: u32) {", ") {\n  let subgroup = local / 32u;")
    code = code.replace("subgroup_matrix_result<f32, 16, 16>()", "Sum()")
    code = re.sub(r"subgroupMatrixLoad<\w+<[^>]*>, (\w+)>\(&\w+, ", r"\1(", code)
    code = code.replace("subgroupMatrixMultiplyAccumulate(", "multiplied(local % 32u, ")
    code = code.replace("subgroupMatrixStore<row_major>(&sums, ", "store_sums(local % 32u, ")
    assert "subgroupMatrix" not in code
    return code.replace("@compute", FRAGMENTS + "@compute", 1)


class Units(Gpu):
    """This machine's device, planned for as one with matrix units, whose float16 elements are float32 in memory."""

    def __init__(self):
        super().__init__()
        self.facts = replace(self.facts, f16=True, matrix_units=True, software=False)

    def compile(self, launch):
        code = in_float32(launch.code) if "matrix units" in launch.strategy else re.sub(r"\bf16\b", "f32", launch.code)
        return super().compile(replace(launch, code=code.replace("enable f32;\n", "")))

    def upload(self, a, dtype):
        return super().upload(a, "float32" if dtype == "float16" else dtype)

    def download(self, buffer, dtype, elements):
        return super().download(buffer, "float32" if dtype == "float16" else dtype, elements)


@pytest.fixture(scope="module")
def gpu() -> Units:
    return Units()


def half(*shape: int) -> np.ndarray:
    return R.standard_normal(shape).astype(np.float16)


def filled(name: str, *args) -> list:
    """The arguments of a call, arrays as what is known of tensors, None for those that are not given."""
    given = [meta(a) if isinstance(a, np.ndarray) else a for a in args]
    return [*given, *[None] * (len(data_of(name).params) - len(args))]


def planned(facts: Facts, name: str, *args) -> tuple:
    """The op, its call, and its launches."""
    data = data_of(name)
    call = bind(data, filled(name, *args))
    return data, call, plan(data, 0, call, data.outputs, facts, RULES)


def strategies(facts: Facts, name: str, *args) -> str:
    return " ".join(launch.strategy for launch in planned(facts, name, *args)[2])


def run(gpu: Gpu, name: str, *args, strategy: str = "matrix units") -> np.ndarray:
    data, call, launches = planned(gpu.facts, name, *args)
    assert strategy in " ".join(launch.strategy for launch in launches)
    storages = {p.slot: flat(a) for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    return gpu.run(data, 0, call, storages, data.outputs, RULES)[data.outputs[0]]


def close(got: np.ndarray, expected: np.ndarray):
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


LARGE_MEMORY = 49152  # bytes of a workgroup, enough for large tiles
ALIGNED, ODD = (72, 40, 100), (71, 51, 67)


@pytest.mark.parametrize(
    "sizes, left, right",
    [
        *[(ALIGNED, left, right) for left in (False, True) for right in (False, True)],
        *[(ODD, False, False), (ODD, True, True)],
    ],
    ids=str,
)
def test_products(gpu, sizes, left, right):
    """Factors and their transposes, of sizes that leave vec4s whole and odd ones, loaded element by element."""
    m, k, n = sizes
    a = half(k, m).T if left else half(m, k)
    b = half(n, k).T if right else half(k, n)
    close(run(gpu, "mm", a, b), a.astype(float) @ b.astype(float))


def test_depth_in_parts(gpu):
    a, b = half(64, 1040), half(1040, 68)
    close(run(gpu, "mm", a, b, strategy="matrix units, 4 parts"), a.astype(float) @ b.astype(float))


def test_batches_and_what_follows(gpu):
    a, b = half(3, 40, 36), half(3, 36, 44)
    close(run(gpu, "bmm", a, b), a.astype(float) @ b.astype(float))
    x, w, bias = half(40, 36), half(44, 36), half(44)
    close(run(gpu, "linear", x, w, bias), x.astype(float) @ w.astype(float).T + bias)


def test_convolution(gpu):
    """Padding counts as 0."""
    x, w = half(2, 4, 9, 11), half(36, 4, 3, 3)
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwij,kcij->nkhw", windows, w.astype(float))
    close(run(gpu, "conv2d", x, w, None, [1.0, 1.0], [1.0, 1.0]), expected)


def test_where_units_serve(gpu):
    """Half numbers alone, and products as large as a fragment."""
    facts = replace(gpu.facts, max_shared=LARGE_MEMORY)
    large, narrow = half(2048, 64), half(256, 12)
    single = large.astype(np.float32)
    assert "128 by 128 sums in steps of 32, matrix units" in strategies(facts, "mm", large, large.T)
    assert "64 by 64 sums in steps of 32, matrix units" in strategies(facts, "mm", large[:512], large.T)
    tall = half(20000, 64), half(64, 48)
    assert "64 by 64 sums in steps of 32, matrix units" in strategies(facts, "mm", *tall)
    assert "matrix units" not in strategies(facts, "mm", single, single.T)
    assert "matrix units" not in strategies(facts, "mm", narrow, narrow.T)
    assert "matrix units" not in strategies(replace(facts, matrix_units=False), "mm", large, large.T)


def test_the_package_writes_them_and_tint_accepts_them(dist, tmp_path):
    """What runs here is another text; the kernels' own are as WGSL has subgroup matrices, in both languages."""
    facts = replace(Units().facts, max_shared=LARGE_MEMORY)
    calls = [
        *[("mm", half(m, k), half(k, n)) for m, k, n in (ALIGNED, ODD, (2048, 64, 2048), (64, 1040, 68))],
        *[("mm", half(k, m).T, half(n, k).T) for m, k, n in (ALIGNED, ODD, (20000, 64, 48))],
        ("conv2d", half(2, 4, 9, 11), half(36, 4, 3, 3), half(36), [1.0, 1.0], [1.0, 1.0]),
    ]
    texts = {x.code for call in calls for x in planned(facts, *call)[2] if "matrix units" in x.strategy}
    assert len(texts) == len(calls)
    given = tmp_path / "calls.json"
    asked = [[modules.binding(name), as_json(filled(name, *args))] for name, *args in calls]
    files = sorted({LIBRARY.ops[name].file for name, *_ in calls})
    given.write_text(json.dumps({"files": files, "devices": [{"facts": as_json(facts), "calls": asked}]}))
    done = node.run([Path(__file__).parent / "node" / "kernel_texts.mjs", given])
    assert done.returncode == 0, done.stdout
    assert texts <= set(json.loads(done.stdout)[0])
    assert refused_by_tint([*texts], tmp_path) == []
