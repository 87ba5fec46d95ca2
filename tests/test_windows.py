"""The `window` strategy: chosen where windows overlap, and equal to the plain kernels round every edge."""

from dataclasses import replace

import numpy as np
import pytest
from definitions import LIBRARY, data_of
from test_strategies import flat

from codegen.api.opdata import rules
from codegen.binding.bind import bind
from codegen.data.written import read_formula
from codegen.planner.affine import affine, quotient
from codegen.planner.constants import put_in
from codegen.planner.plan import plan
from codegen.planner.strategies.window import index_of
from codegen.planner.writer import Facts
from workbench.numpy_runner import meta
from workbench.wgpu_runner import Gpu

RULES = rules(LIBRARY)
ALWAYS = [replace(r, when=lambda facts: facts["window"] > 0) if r.strategy == "window" else r for r in RULES]
R = np.random.default_rng(3)
f32 = lambda *shape: R.standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    """This machine's GPU, planned for as one of many cores: on a CPU that plays one, windows are not chosen."""
    device = Gpu()
    device.facts = replace(device.facts, software=False)
    return device


def ran(gpu: Gpu, name: str, args: list, program: int, shared: list) -> tuple[list[np.ndarray], list[str]]:
    """The tensors that a program makes, and the strategies of its launches.  Cotangents are drawn; results of a
    gradient are those of the floating inputs."""
    data = data_of(name)
    args = [*args, *[None] * (len(data.params) - len(args))]
    call = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    storages = {p.slot: flat(a) for p, a in zip(data.params, args) if isinstance(a, np.ndarray)}
    draw = np.random.default_rng(5)
    for slot in data.programs[program].inputs:
        if slot not in storages and call.slots[slot].fresh:
            storages[slot] = draw.standard_normal(int(np.prod(call.slots[slot].shape))).astype(np.float32)
    wanted = data.programs[program].outputs
    if program:
        wanted = [s for s in wanted if call.slots[data.slots[s].like].given]
    strategies = [x.strategy for x in plan(data, program, call, wanted, gpu.facts, shared)]
    results = gpu.run(data, program, call, storages, wanted, shared, (0, 0, 0))
    return [results[slot] for slot in wanted], strategies


ONE, TWO = [1.0, 1.0], [2.0, 2.0]
CALLS = {
    "max_pool2d": ("max_pool2d", [f32(2, 3, 37, 45), [3.0, 3.0], ONE, ONE]),
    "max_pool2d, stride 2": ("max_pool2d", [f32(2, 3, 37, 45), [3.0, 3.0], TWO, ONE]),
    "max_pool2d, dilated": ("max_pool2d", [f32(3, 37, 9), [3.0, 2.0], ONE, ONE, TWO]),
    "avg_pool2d": ("avg_pool2d", [f32(2, 70, 5), [3.0, 3.0], ONE, ONE]),
    "avg_pool3d": ("avg_pool3d", [f32(2, 5, 9, 33), [2.0, 3.0, 3.0], [1.0] * 3, [1.0] * 3]),
    "max_pool1d": ("max_pool1d", [f32(2, 3, 700), [5.0], [2.0], [2.0]]),
    "depthwise conv2d": ("conv2d", [f32(2, 4, 33, 40), f32(4, 1, 3, 3), f32(4), ONE, ONE, ONE, 4.0]),
    "depthwise conv2d, stride 2": ("conv2d", [f32(2, 4, 33, 40), f32(4, 1, 5, 5), None, TWO, TWO, ONE, 4.0]),
    "a transposed view": ("max_pool2d", [f32(2, 3, 45, 37).swapaxes(2, 3), [3.0, 3.0], ONE, ONE]),
    "whole numbers": ("max_pool2d", [R.integers(-9, 9, (2, 3, 37, 45)).astype(np.int32), [3.0, 3.0], ONE, ONE]),
}


@pytest.mark.parametrize("program", [0, 1], ids=["forward", "gradient"])
@pytest.mark.parametrize("call", CALLS)
def test_windows(gpu, call, program):
    name, args = CALLS[call]
    if program and args[0].dtype == np.int32:
        return
    got, strategies = ran(gpu, name, args, program, ALWAYS)
    assert any(s.startswith("window") for s in strategies), strategies
    plain, without = ran(gpu, name, args, program, [])
    assert not any(s.startswith("window") for s in without), without
    for a, b in zip(got, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


def test_where_schedules_choose_windows(gpu):
    """Where each element is read by three windows or more; the gradient of a pool with stride 2 too, its forward
    not."""
    for call, program in (
        ("max_pool2d", 0),
        ("max_pool2d", 1),
        ("avg_pool2d", 0),
        ("depthwise conv2d", 0),
        ("depthwise conv2d", 1),
        ("max_pool2d, stride 2", 1),
    ):
        assert any(s.startswith("window") for s in ran(gpu, *CALLS[call], program, RULES)[1]), call
    assert not any(s.startswith("window") for s in ran(gpu, *CALLS["max_pool2d, stride 2"], 0, RULES)[1])


@pytest.mark.parametrize("call", [c for c in CALLS if "pool" in c or "conv" in c])
def test_a_patch_holds_what_windows_read_beyond_an_edge(gpu, call):
    """It is filled in where the patch is loaded, once; no read of it asks again."""
    name, args = CALLS[call]
    data = data_of(name)
    args = [*args, *[None] * (len(data.params) - len(args))]
    made = bind(data, [meta(a) if isinstance(a, np.ndarray) else a for a in args])
    (code,) = (x.code for x in plan(data, 0, made, data.outputs, gpu.facts, ALWAYS) if "window" in x.strategy)
    reads = [line.strip() for line in code.split("\n") if "= patch0[" in line]
    assert len(reads) > 1 and all(line.startswith("let r") for line in reads), reads[:2]


def test_nan_and_infinities(gpu):
    x = f32(1, 1, 40, 40)
    x[0, 0, 5, 7], x[0, 0, 30, 31], x[0, 0, 0, 0] = np.nan, np.inf, -np.inf
    got, _ = ran(gpu, "max_pool2d", [x, [3.0, 3.0], ONE, ONE], 0, RULES)
    np.testing.assert_array_equal(got[0], ran(gpu, "max_pool2d", [x, [3.0, 3.0], ONE, ONE], 0, [])[0][0])


@pytest.mark.parametrize(
    "name, args",
    [
        ("max_pool2d", [f32(1, 2, 8, 8), TWO]),  # windows side by side
        ("max_pool2d", [f32(1, 2, 40, 40), [9.0, 9.0], ONE]),  # too many points to write out
        ("conv2d", [f32(1, 4, 12, 12), f32(2, 4, 3, 3)]),  # channels are summed as well
        (
            "max_pool2d",
            [f32(1, 2, 8, 2000), [2.0, 2.0], ONE, [0.0, 0.0], [1.0, 1990.0]],
        ),  # a patch beyond workgroup memory
    ],
)
def test_where_windows_are_not_used(gpu, name, args):
    _, strategies = ran(gpu, name, args, 0, RULES)
    assert not any(s.startswith("window") for s in strategies), strategies


def test_a_software_device_keeps_the_plain_kernels():
    data = data_of("max_pool2d")
    call = bind(data, [meta(f32(1, 2, 40, 40)), [3.0, 3.0], ONE, *[None] * (len(data.params) - 3)])
    for software in (True, False):
        launches = plan(data, 0, call, data.outputs, Facts(False, False, 1 << 27, 8, 256, 16384, software), RULES)
        assert any(x.strategy.startswith("window") for x in launches) != software


@pytest.mark.parametrize(
    "text, factors",
    [
        ("((y0*2)+(k0*3))-1", {"y0": 2, "k0": 3, "": -1}),
        ("2*((-y0)+k0)", {"y0": -2, "k0": 2, "": 0}),
        ("x0+(p.n*y0)", {"x0": 1, "y0": 3, "": 0}),
        ("floor_divide_int(((4*x0)-(6*k0))+5,2)", {"x0": 2, "k0": -3, "": 2}),
        ("floor_divide_int((3*x0)+4,p.n)", {"x0": 1, "": 1}),
        ("floor_divide_int(x0+3,p.n)", None),
        ("floor_divide_int(3*x0,p.m)", None),
        ("y0*k0", None),
        ("floor_divide_int(y0,k0)", None),
        ("min(y0,k0)", None),
        ("remainder_int(y0,2)", None),
        ("y0+@0", None),
    ],
)
def test_affine(text, factors):
    node = read_formula(text, ["x0", "y0", "k0"])
    found = affine(node, {"n": 3}.get, quotient)
    assert (found is None) == (factors is None)
    if found is not None:
        assert {n: f for n, f in found.factors.items() if f or n == ""} == factors


@pytest.mark.parametrize(
    "text, factors, divisor",
    [
        ("((y0*2)+(k0*3))-1", {"y0": 2, "k0": 3, "": -1}, 1),
        ("floor_divide_int((x0+1)-(2*k0),3)", {"x0": 1, "k0": -2, "": 1}, 3),
        ("floor_divide_int(x0+p.n,p.n)", {"x0": 1, "": 3}, 3),
        ("floor_divide_int(y0,k0)", None, 0),
        ("floor_divide_int(4*x0,2)+y0", None, 0),
    ],
)
def test_indices_of_windows_may_be_divided_once(text, factors, divisor):
    found = index_of(None, put_in(read_formula(text, ["x0", "y0", "k0"]), {"n": 3}))
    assert (found is None) == (factors is None)
    if found is not None:
        assert ({n: f for n, f in found.sum.factors.items() if f or n == ""}, found.divisor) == (factors, divisor)
