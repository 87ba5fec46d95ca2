"""Kernels on WebGPU: every strategy equals the plain one round its tile's edges, and the prelude is accurate."""

import re
from dataclasses import replace

import numpy as np
import pytest
from definitions import LIBRARY, data_of
from test_same_kernels import DEVICES

import workbench
from codegen.api.opdata import op_data, rules
from codegen.binding.bind import bind
from codegen.planner.lines import resolve
from codegen.planner.plan import neighbours_last, plan
from codegen.planner.strategies import unrolled
from dsl.library import load_text
from dsl.reference import scalars
from dsl.reference.random import uniform
from workbench.numpy_runner import meta
from workbench.wgpu_runner import Gpu

RULES = rules(LIBRARY)
R = np.random.default_rng(0)
f32 = lambda *shape: R.standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    return Gpu()


def flat(a: np.ndarray) -> np.ndarray:
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a.reshape(-1)


def run(gpu: Gpu, name: str, *args, scheduled=True, strategy: str = "", seeds=(0, 0, 0), first=()) -> np.ndarray:
    """The first output of an op; `strategy`: a word that the chosen strategy must have; first: schedules before the
    library's."""
    data = data_of(name)
    args = [*args, *[None] * (len(data.params) - len(args))]
    call = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    shared = [*first, *RULES] if scheduled else []
    assert strategy in " ".join(x.strategy for x in plan(data, 0, call, data.outputs, gpu.facts, shared))
    storages = {p.slot: flat(a) for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    return gpu.run(data, 0, call, storages, data.outputs, shared, seeds)[data.outputs[0]]


@pytest.mark.parametrize("sizes", [(32, 8, 32), (33, 9, 65), (64, 260, 128), (131, 70, 132), (36, 1030, 40)])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_tiles(gpu, sizes, left, right):
    m, k, n = sizes
    a = f32(k, m).T if left else f32(m, k)
    b = f32(n, k).T if right else f32(k, n)
    got = run(gpu, "mm", a, b, strategy="tiled")
    np.testing.assert_allclose(got, run(gpu, "mm", a, b, scheduled=False), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def hardware() -> Gpu:
    """The device as one that is no CPU, whose products are made in larger tiles."""
    device = Gpu()
    device.facts = replace(device.facts, software=False)
    return device


@pytest.mark.parametrize(
    "sizes, strategy",
    [
        ((124, 2052, 60), "64 by 64 sums in steps of 32, 2 slices, 8 parts"),
        ((772, 36, 768), "64 by 32 sums in steps of 32, 2 slices"),
        ((1028, 20, 1000), "64 by 64 sums in steps of 32, 2 slices"),
        ((63, 2051, 65), "parts"),
    ],
)
@pytest.mark.parametrize("left, right", [(False, True), (True, False)])
def test_large_tiles(hardware, sizes, strategy, left, right):
    m, k, n = sizes
    a = f32(k, m).T if left else f32(m, k)
    b = f32(n, k).T if right else f32(k, n)
    got = run(hardware, "mm", a, b, strategy=strategy)
    np.testing.assert_allclose(got, a.astype(float) @ b.astype(float), rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("name, vec4", [("erfinv", True), ("digamma", True), ("igammac", False), ("igamma", False)])
def test_long_functions_stand_once(gpu, name, vec4):
    """Four points a thread are four copies of what a formula calls, once a driver has put it in its place."""
    data, x = data_of(name), meta(np.ones((64, 64), np.float32))
    (launch,) = plan(data, 0, bind(data, [x] * len(data.params)), data.outputs, gpu.facts, RULES)
    assert ("four elements" in launch.strategy) is vec4


@pytest.mark.parametrize("shape", [(3, 64), (5, 1028), (2, 70), (300, 257)])
@pytest.mark.parametrize("dim", [0, 1])
def test_rows(gpu, shape, dim):
    x = f32(*shape)
    for name, args in (
        ("softmax", [float(dim)]),
        ("sum", [[float(dim)]]),
        ("amax", [[float(dim)]]),
        ("var", [[float(dim)]]),
        ("argmax", [[float(dim)]]),
    ):
        np.testing.assert_allclose(
            run(gpu, name, x, *args), run(gpu, name, x, *args, scheduled=False), rtol=2e-5, atol=2e-5, err_msg=name
        )


@pytest.mark.parametrize("fill", [8, unrolled.THREADS_TO_FILL])  # threads from which each makes several rows
@pytest.mark.parametrize("vec4", [True, False])
@pytest.mark.parametrize("sizes", [(1, 3, 2, 8), (2, 4, 4, 9), (3, 12, 1, 33), (1, 6, 5, 20)])
def test_unrolled_rows(gpu, monkeypatch, sizes, vec4, fill):
    """Products with weights of few bits: the loop over the codes of a word is written out."""
    monkeypatch.setattr(unrolled, "THREADS_TO_FILL", fill)
    b, o, g, w = sizes
    for name, each in ("linear_int4", 8), ("linear_int8", 4):
        x = f32(b, g, w, each) if vec4 else f32(b, g, each, w).swapaxes(2, 3)
        scale, bias = f32(o, g), f32(o)
        codes = R.integers(-(2**31), 2**31, (o, g, w)).astype(np.int32)
        zero = R.integers(0, 9, (o, g)).astype(np.float32)
        got = run(gpu, name, x, codes, scale, zero, bias, strategy="unrolled")
        want = run(gpu, name, x, codes, scale, zero, bias, scheduled=False)
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-2, err_msg=name)
        np.testing.assert_allclose(got, workbench.op(name)(x, codes, scale, zero, bias), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("dim", [0, 1])
def test_scans(gpu, dim):
    x = f32(3, 700) if dim else f32(700, 3)
    for name in ("cumsum", "cumprod"):
        got = run(gpu, name, x, float(dim), strategy="runs")
        np.testing.assert_allclose(got, run(gpu, name, x, float(dim), scheduled=False), rtol=1e-4, atol=1e-4)


def launches(name: str, shapes: list[tuple], *options) -> list:
    data = data_of(name)
    args = [*(meta(np.zeros(s, np.float32)) for s in shapes), *options]
    call = bind(data, [*args, *[None] * (len(data.params) - len(args))])
    return plan(data, 0, call, data.outputs, DEVICES[0], RULES)


def test_a_launch_says_its_lanes_and_points():
    rows = [*launches("sum", [(3, 100000)], [1]), *launches("sum", [(3, 100000)], [0])]
    parts = launches("softmax", [(3, 100000)], -1.0)
    assert "tree, stores" in parts[-1].strategy
    for x in rows + parts:
        lanes, rows = (
            int((re.search(words, x.strategy) or ("", 1))[1]) for words in (r"(\d+) lanes", r"of (\d+) rows")
        )
        assert f"@workgroup_size({lanes * rows})" in x.code, x.strategy
    (pool,) = launches("max_pool2d", [(2, 3, 40, 50)], [3, 3], [1, 1], [1, 1])
    down, across = map(int, re.findall(r"window, (\d+) by (\d+) points", pool.strategy)[0])
    assert pool.groups == [6 * -(-40 // down) * -(-50 // across), 1, 1]


def test_neighbouring_threads_write_neighbours():
    """The lines of a kernel are those of what it stores last, however they stand in its formulas."""
    data = data_of("masked_sum")
    shape = (3, 5, 4, 4)
    call = bind(data, [meta(np.zeros(shape, np.float32)), [1.0], None, None, meta(np.ones(shape, bool))])
    (x,) = plan(data, 1, call, data.programs[1].outputs[:1], DEVICES[0], RULES)
    names, stored = re.search(r"struct Uniforms \{ (.*) \}", x.code), re.search(r"\[p\.at(\d+)[^]]*\] = ", x.code)
    assert names is not None and stored is not None, x.code
    of = dict(zip(re.findall(r"(\w+): \w+", names[1]), x.uniforms))
    strides = [of[n] for n in sorted(of) if n.startswith(f"outer_stride{stored[1]}_")]
    assert len(strides) > 2 and strides == sorted(strides, reverse=True), (of, x.code)


@pytest.mark.parametrize("columns, type_", [(128, "vec4<f32>"), (126, "f32")])
def test_tiles_store_four_numbers_at_once(columns, type_):
    (x,) = launches("mm", [(128, 128), (128, columns)])
    assert x.strategy.startswith("tiled") and f"read_write> out_: array<{type_}>" in x.code


def test_long_sums_are_exact_where_they_can_be(gpu):
    ones = np.ones(2**22 + 4, np.float32)
    assert run(gpu, "sum", ones, strategy="tree") == ones.size
    assert run(gpu, "sum", np.full(2**20, 0.1, np.float32)) == pytest.approx(0.1 * 2**20, rel=1e-6)


def test_lanes_draw_what_single_threads_draw(gpu):
    x = np.zeros(1024, np.float32)
    got = run(gpu, "rand_like", x, strategy="four", seeds=(7, 9, 3))
    np.testing.assert_array_equal(got, uniform((7, 9), 3, 0, np.arange(1024)))
    np.testing.assert_array_equal(got, run(gpu, "rand_like", x, scheduled=False, seeds=(7, 9, 3)))


RANGES = {
    "exp": (-80, 88),
    "expm1": (-5, 20),
    "log": (1e-6, 1e6),
    "log2": (1e-6, 1e6),
    "log10": (1e-3, 1e6),
    "log1p": (-0.99, 100),
    "sin": (-1e6, 1e6),
    "cos": (-3e4, 3e4),
    "tan": (-1.5, 1.5),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-20, 20),
    "sinh": (-20, 20),
    "cosh": (-20, 20),
    "tanh": (-10, 10),
    "asinh": (-1000, 1000),
    "acosh": (1, 1000),
    "atanh": (-0.999, 0.999),
    "erf": (-5, 5),
    "erfc": (-3, 9),
    "erfinv": (-0.9999, 0.9999),
    "lgamma": (0.01, 50),
    "digamma": (2, 50),
    "sqrt": (0, 1e10),
    "rsqrt": (1e-8, 1e8),
}
SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-8, -1e-8, 89, -100, 1e6, 3.4e38, 0.5, 2], np.float32)


@pytest.mark.parametrize("name", [n for n in RANGES if n in LIBRARY.ops])
def test_functions_are_accurate(gpu, name):
    x = np.concatenate([SPECIAL, R.uniform(*RANGES[name], 1009).astype(np.float32)])
    got = run(gpu, name, x)
    with np.errstate(all="ignore"):
        want = np.asarray(scalars.call(name, x.astype(float))).astype(np.float32)
    normal = ~(np.abs(want) < 1.2e-38) | (want == 0)
    np.testing.assert_allclose(
        got[normal], want[normal], rtol=2e-6, atol=2e-7 if name in ("acos", "lgamma", "log2", "log10") else 0
    )


CHOICES = ("0 if x < 0 else x", "x if not x <= 0 else 0", "x if x > y else y", "y if x * 2 >= y else x * 2")


@pytest.mark.parametrize("text", CHOICES)
def test_a_choice_of_the_larger_or_smaller_looks_for_nan(text):
    """Some GPUs' compilers take it for `max`, and lose what is NaN where neither is the larger."""
    op = workbench.op(f"op choice(x: Num, y: Num) = {text}")
    x = np.array([np.nan, 1, -1, np.nan], np.float32)
    y = np.array([2, np.nan, 1, np.nan], np.float32)
    (code,) = op.wgsl(x, y)
    assert re.search(r"is_nan\((r\d+|r\d+ \* 2\.0)\) (&&|\|\|)", code), code
    np.testing.assert_array_equal(op(x, y), op.numpy(x, y))
    (whole,) = op.wgsl(np.arange(4, dtype=np.int32), np.ones(4, np.int32))
    assert "is_nan" not in whole


def test_a_choice_by_another_comparison_is_as_written():
    (code,) = workbench.op("op choice(x: Float, y: Float) = x + 1 if x < y else y").wgsl(f32(3), f32(3))
    assert "is_nan" not in code


def test_a_place_is_rounded_from_one_operation():
    """Some GPUs' compilers make one of a product and a sum here and not there: a guard, an index and a weight of the same
    formula then fall on two sides of a whole number."""
    place = "floor(n * 2 * r - n * s + 0.5)"
    op = workbench.op(
        f"op drawn(x: Float[N], r: real, s: real) -> Float[N]\n    out[n] = (x[{place}] ?? 0) * (1 + {place})"
    )
    x = f32(9)
    (code,) = op.wgsl(x, 0.31, 0.1)
    rounded = [code[m.end() :].split("+ 0.5", 1)[0] for m in re.finditer(r"floor\(", code)]
    assert len(rounded) > 1
    assert all(text.startswith("fma(") for text in rounded), code
    np.testing.assert_allclose(op(x, 0.31, 0.1), op.numpy(x, 0.31, 0.1), rtol=1e-6)


def test_powers_and_quotients(gpu):
    x, y = np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)
    x = np.concatenate([x, R.uniform(-5, 20, 1000).astype(np.float32)])
    y = np.concatenate([y, R.uniform(-9, 9, 1000).astype(np.float32)])
    with np.errstate(all="ignore"):
        for name, f in (
            ("pow", np.power),
            ("div", np.divide),
            ("remainder", np.mod),
            ("fmod", np.fmod),
            ("floor_divide", np.floor_divide),
            ("atan2", np.arctan2),
            ("maximum", np.maximum),
            ("minimum", np.minimum),
        ):
            want = f(x, y)
            normal = ~(np.abs(want) < 1.2e-38) | (want == 0)
            np.testing.assert_allclose(run(gpu, name, x, y)[normal], want[normal], rtol=6e-7, err_msg=name)
    assert run(gpu, "div", np.array([91], np.float32), np.array([13], np.float32)) == 7


def test_whole_numbers_divide_as_in_python(gpu):
    a, b = np.array([7, -7, 7, -7, 5], np.int32), np.array([3, 3, -3, -3, 0], np.int32)
    assert run(gpu, "floor_divide", a, b).tolist() == [2, -3, -3, 2, 0]
    assert run(gpu, "remainder", a, b)[:4].tolist() == [1, 2, -2, -1]


def test_an_op_may_have_a_schedule_of_its_own(gpu):
    made, errors, _ = load_text(
        'op total(input: Num) -> Num[] = sum(input)\n    "All together."\n\n'
        "schedule total when inner >= 4\n    workgroup(threads=32)\n"
    )
    assert errors == []
    data, x = op_data(made.ops["total"]), f32(1000)
    first = plan(data, 0, bind(data, [meta(x)]), data.outputs, gpu.facts, [])[0]
    assert (
        "32" in first.strategy
        and "32"
        not in plan(
            op_data(replace(made.ops["total"], schedules=[])), 0, bind(data, [meta(x)]), data.outputs, gpu.facts, []
        )[0].strategy
    )


def test_scatters_add_to_neighbours():
    """Neighbouring threads have one row's columns, whose places differ, and not one column of many rows; where no line
    has neighbours in the target, lines stay as the source has them."""
    data = data_of("embedding")
    call = bind(data, [meta(np.zeros((3, 2), np.int32)), meta(f32(6, 5)), *[None] * (len(data.params) - 2)])
    scatter = next(k for k in data.programs[1].kernels if k.shape == "scatter" and k.steps[-1].value != "i")
    lines = neighbours_last(scatter, resolve(scatter, call).outer)
    assert lines[-1].size == 5 and lines[-1].strides[scatter.steps[-1].target] == 1
    assert sorted(x.size for x in lines[:-1]) == [2, 3]
    apart = [replace(x, strides=[2 * n for n in x.strides]) for x in resolve(scatter, call).outer]
    assert neighbours_last(scatter, apart) == apart
