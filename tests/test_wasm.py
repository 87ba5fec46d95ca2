"""Kernels as WebAssembly: every op's mean what the reference evaluates, forward and gradient, and those that the
package makes are the same bytes."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from definitions import LIBRARY, data_of, packaged
from test_same_kernels import CALLS
from test_wgsl import memory, single, strided

import workbench
from buildtools import node
from codegen.api.modules import binding
from codegen.binding.bind import bind
from codegen.data.dtypes import LARGE, temporary_dtype
from codegen.data.errors import OpError
from codegen.data.model import Meta
from codegen.wasm.module import kernel_bytes, kernel_text, wasm_kernel
from codegen.wasm.planning.plan import plan_wasm
from dsl.ir.dtypes import TYPES, is_floating
from dsl.testing.instances import instances
from workbench.numpy_runner import meta, run
from workbench.wasm_runner import Wasm

HERE = Path(__file__).parent
RELAXED = Wasm(relaxed=True)
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}  # of the reference, which computes in single floats


@pytest.fixture(scope="module")
def wasm() -> Wasm:
    return Wasm()


def compare(got: np.ndarray, want: np.ndarray, what: str):
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got.reshape(want.shape), want, err_msg=what, equal_nan=True, **TOLERANCE)
    else:
        np.testing.assert_array_equal(got.reshape(want.shape), want, what)


@pytest.mark.parametrize("name", LIBRARY.ops)
def test_op(wasm, name):
    op, data = LIBRARY.ops[name], data_of(name)
    number = {s.name: i for i, s in enumerate(data.slots)}
    changed, rng = {p.name for p in op.params if p.mut}, np.random.default_rng(0)
    for n, instance in enumerate(instances(op, 3, seed=5, largest=150)):
        wasm.large = 0 if n == 1 else LARGE
        args = [a if n == 2 else single(a) for a in instance.arguments(n)]
        arrays = {p.name: a for p, a in zip(op.params, args) if p.kind == "tensor" and a is not None}
        if n % 2:
            arrays = {k: a if k in changed else strided(a) for k, a in arrays.items()}
        call = bind(data, [meta(arrays[p.name]) if p.name in arrays else a for p, a in zip(op.params, args)])
        seed = (instance.env["seed0_"], instance.env["seed1_"])
        want = run(op, data, call, arrays, seed=seed)
        storages = {number[k]: memory(a) for k, a in arrays.items()}
        got = wasm.run(data, 0, call, storages, [number[o] for o in op.outputs], (*seed, 0))
        for k in op.outputs:
            compare(got[number[k]], want[k], f"{name}.{k}")
        if op.gradient is None or not call.dtype.startswith("float"):
            continue
        given = {k: np.asarray(want[k]) for k in op.outputs}
        for g in op.gradient.inputs:
            if g.startswith("g_"):
                bound = call.slots[number[g]]
                given[g] = rng.standard_normal(bound.shape).astype(bound.dtype)
        back = run(op, data, call, {**arrays, **given}, program=1, seed=seed)
        for k, a in given.items():
            storages[number[k]] = np.ascontiguousarray(a).reshape(-1)
        wanted = [number[o] for o in op.gradient.outputs if o in back]
        got = wasm.run(data, 1, call, storages, wanted, (*seed, 0))
        for k in back:
            if number[k] in got:
                compare(got[number[k]], back[k], f"{name}.{k}")


def test_large_temporaries_are_single(wasm):
    """The scores of attention are as good as PyTorch's, in half of the memory; smaller ones are doubles."""
    f = workbench.op("scaled_dot_product_attention", on="wasm")
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 1, 2, 200, 16)).astype(np.float32)
    scores = np.einsum("bhik,bhjk->bhij", q, k, dtype=np.float64) / 4
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = np.einsum("bhij,bhjk->bhik", weights / weights.sum(-1, keepdims=True), v)
    assert scores.size >= LARGE
    assert temporary_dtype("float32", scores.size, LARGE) == "float32"
    assert temporary_dtype("float32", LARGE - 1, LARGE) == "float64" == temporary_dtype("float64", LARGE, LARGE)
    np.testing.assert_allclose(f(q, k, v), exact, rtol=2e-6, atol=2e-7)


POINTS = np.concatenate(
    [
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -1e-310, 709.7, 709.8, -745.0, -746.0]),
        np.random.default_rng(1).standard_normal(400),
        np.random.default_rng(2).standard_normal(400) * 10.0 ** np.random.default_rng(3).integers(-300, 300, 400),
        np.random.default_rng(4).uniform(-40, 40, 400),
        np.arange(-400, 400) * (np.pi / 2),  # near zeros of sines
        np.random.default_rng(5).uniform(-2.5e6, 2.5e6, 400),
    ]
)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "sinh",
        "cosh",
        "tanh",
        "sqrt",
        "sigmoid",
        "erf",
        "erfc",
        "sin",
        "cos",
        "tan",
    ],
)
@pytest.mark.parametrize("relaxed", [False, True])
def test_functions(name, relaxed, monkeypatch):
    """In doubles to a few units in the last place, in single floats rounded correctly, but for near ties."""
    if relaxed:
        monkeypatch.setattr(workbench.function, "cpu", lambda: RELAXED)
    f = workbench.op(name, on="wasm")
    with np.errstate(all="ignore"):
        want = f.numpy(POINTS)
        same = np.signbit(f(POINTS)) == np.signbit(want)
        assert np.all(same | np.isnan(want))
        np.testing.assert_array_equal(np.isnan(f(POINTS)), np.isnan(want))
        np.testing.assert_allclose(f(POINTS), want, rtol=2e-15, atol=5e-324)
        floats = POINTS.astype(np.float32)
        exact = f.numpy(floats.astype(np.float64))
        got = f(floats)
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(rounded))
    assert np.all((np.signbit(got) == np.signbit(rounded)) | np.isnan(exact))
    finite = np.isfinite(exact) & np.isfinite(got)
    unit = np.spacing(np.abs(exact[finite]).astype(np.float32)).astype(float)
    assert np.max(np.abs(got[finite] - exact[finite]) / unit, initial=0) < 0.501


def test_powers():
    """Of every sign, of zeros, infinities and what is no number; in single floats rounded correctly, but for near ties."""
    f = workbench.op("pow", on="wasm")
    special = np.array([0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 2.5, 1e30, -1e30, 16777217, np.inf, -np.inf, np.nan])
    x, y = (a.reshape(-1).astype(np.float32) for a in np.meshgrid(special, special))
    rng = np.random.default_rng(0)
    x = np.concatenate([x, rng.uniform(0, 3, 4000).astype(np.float32), np.float32(10) ** rng.uniform(-38, 38, 4000)])
    y = np.concatenate([y, rng.uniform(-60, 60, 4000).astype(np.float32), rng.uniform(-3, 3, 4000)])
    x, y = x.astype(np.float32), y.astype(np.float32)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        got = f(x, y)
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    assert np.all((np.signbit(got) == np.signbit(rounded)) | np.isnan(exact))
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(finite, np.isfinite(got))
    unit = np.spacing(np.abs(exact[finite]).astype(np.float32)).astype(float)
    assert np.max(np.abs(got[finite] - exact[finite]) / unit) < 0.502


SIGNED = ("maximum", "relu", "amax", "argmax")  # which uint32 has not
SIZES = [0, 1, 2, 3, 4, 7, 16, 33]


@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize(
    "name, options",
    [
        ("add", {}),
        ("mul", {}),
        ("maximum", {}),
        ("relu", {}),
        ("sum", {"dim": [1]}),
        ("sum", {"dim": [0]}),
        ("cumsum", {"dim": 1}),
        ("softmax", {"dim": 1}),
        ("softmax", {"dim": 0}),
        ("amax", {"dim": [0]}),
        ("amax", {"dim": [1]}),
        ("eq", {}),
        ("where", {}),
        ("argmax", {"dim": 1}),
    ],
)
def test_types(name, options, dtype):
    """Of all types, and of sizes beside those that vectors take."""
    f = workbench.op(name)
    rng = np.random.default_rng(3)
    for size in SIZES:
        drawn = []
        for p in f.op.params:
            if p.kind == "tensor" and not p.optional:
                boolean = p.cls == "Bool" or dtype == "bool"
                drawn.append(rng.integers(0, 2 if boolean else 9, (size, size)).astype("bool" if boolean else dtype))
        try:
            want = f.numpy(*drawn, **options)
        except OpError:
            continue
        if dtype == "uint32" and f.op.name in SIGNED:
            with pytest.raises(OpError, match="not implemented for 'uint32'"):
                f.run("wasm", tuple(drawn), options)
            return
        got = f.run("wasm", tuple(drawn), options)
        assert got.dtype == want.dtype and got.shape == want.shape
        if is_floating(want.dtype.name):
            digits = {"float16": 2e-3, "bfloat16": 2**-7}.get(want.dtype.name, 1e-6)
            np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=digits)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("matmul_mm", [(300, 270), (270, 301)], {}),
        ("matmul_mm", [(5, 9), (9, 500)], {}),
        ("matmul_mm", [(131, 257), (257, 9)], {}),
        ("bmm", [(3, 20, 30), (3, 30, 40)], {}),
        ("linear", [(7, 3, 64), (50, 64), (50,)], {}),
        ("conv1d", [(2, 6, 40), (8, 6, 5), (8,)], {"padding": [2]}),
        ("conv2d", [(2, 5, 13, 14), (8, 5, 3, 3), (8,)], {"padding": [1, 1], "stride": [2, 1]}),
        ("conv2d", [(2, 6, 13, 14), (8, 3, 3, 3)], {"groups": 2, "dilation": [2, 2]}),
        ("conv_transpose2d", [(2, 6, 7, 8), (6, 5, 3, 3)], {"stride": [2, 2], "padding": [1, 1]}),
        ("conv_transpose2d", [(2, 9, 7, 9), (9, 8, 3, 2)], {"stride": [3, 2], "dilation": [2, 3]}),
        ("conv_transpose2d", [(1, 9, 12, 12), (9, 8, 3, 3)], {"stride": [4, 6], "padding": [1, 0]}),
        ("conv2d", [(2, 8, 23, 24), (16, 8, 4, 3)], {"padding": [1, 1], "stride": [2, 4], "dilation": [3, 2]}),
    ],
)
def test_contractions(name, shapes, options, dtype):
    """In blocks that do not divide their lines, forward and gradient."""
    f = workbench.op(name)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(dtype) for s in shapes]
    call, _ = f.bind(tuple(arrays), options, "wasm")
    launches = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [b.dtype for b in call.slots])
    assert any(x is not None and (x.plan.product is not None or x.plan.singles) for x in launches)
    doubles = tuple(a.astype(np.float64) for a in arrays)
    want = f.run("numpy", doubles, options)
    close = {"rtol": 0, "atol": np.max(np.abs(want)) * (2e-6 if dtype == np.float32 else 1e-14)}
    np.testing.assert_allclose(f.run("wasm", tuple(arrays), options), want, **close)
    slopes = []
    for target in ("wasm", "numpy"):
        f.on = target
        slopes.append(f.grad(*(arrays if target == "wasm" else doubles), **options))
    for k, exact in slopes[1].items():
        close = {"rtol": 0, "atol": np.max(np.abs(exact)) * (2e-6 if dtype == np.float32 else 1e-14)}
        np.testing.assert_allclose(slopes[0][k], exact, **close)


@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("conv_transpose2d", [(2, 6, 7, 8), (6, 5, 3, 3)], {"stride": [2, 2], "padding": [1, 1]}),
        ("conv2d", [(2, 5, 13, 14), (8, 5, 3, 3)], {"padding": [1, 1], "stride": [3, 2]}),
    ],
)
def test_infinite_factors(name, shapes, options):
    """What a condition leaves out of a sum in tiles is not multiplied by 0: only sums that meet an infinity hold one."""
    f = workbench.op(name)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s) for s in shapes]
    arrays[0][0, 1, 3, 4] = np.inf
    arrays[1][2, 1, 1, 0] = -np.inf
    want = f.run("numpy", tuple(arrays), options)
    assert np.isinf(want).any() and np.isfinite(want).any()
    np.testing.assert_allclose(f.run("wasm", tuple(arrays), options), want, rtol=1e-9, atol=1e-9)
    slopes = []
    for target in ("wasm", "numpy"):
        f.on = target
        slopes.append(f.grad(*arrays, **options))
    for k, exact in slopes[1].items():
        np.testing.assert_allclose(slopes[0][k], exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relaxed_tiles(dtype, monkeypatch):
    """The same where engines have relaxed SIMD."""
    monkeypatch.setattr(workbench.function, "cpu", lambda: RELAXED)
    f = workbench.op("matmul_mm", on="wasm")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((70, 300)), rng.standard_normal((300, 41))
    close = {"rtol": 0, "atol": 1e-4 if dtype == np.float32 else 1e-12}
    np.testing.assert_allclose(f(a.astype(dtype), b.astype(dtype)), a @ b, **close)
    call, _ = f.bind((a.astype(dtype), b.astype(dtype)), {}, "wasm")
    launches = plan_wasm(f.data, 0, call, f.data.programs[0].outputs, [s.dtype for s in call.slots])
    assert "relaxed_madd" in kernel_text(wasm_kernel(launches[0], True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("matmul_mm", [(1, 67), (67, 35)], {}),
        ("matmul_mm", [(3, 5), (5, 4)], {}),
        ("linear", [(1, 70), (21, 70), (21,)], {}),
        ("linear", [(2, 3), (21, 3)], {}),
        ("bmm", [(3, 1, 30), (3, 30, 41)], {}),
        ("bmm", [(3, 2, 30), (3, 30, 3)], {}),
        ("conv2d", [(2, 5, 9, 23), (5, 1, 3, 3), (5,)], {"padding": [1, 1], "groups": 5}),
        ("conv2d", [(2, 5, 11, 22), (10, 1, 3, 3)], {"padding": [1, 1], "stride": [2, 2], "groups": 5}),
        ("conv2d", [(1, 4, 12, 12), (4, 2, 3, 2)], {"padding": [3, 0], "dilation": [2, 3], "groups": 2}),
        ("conv2d", [(1, 4, 3, 5), (4, 1, 7, 7)], {"padding": [3, 3], "groups": 4}),
        ("conv1d", [(3, 2, 40), (2, 2, 5), (2,)], {"padding": [4], "stride": [3]}),
        ("conv3d", [(1, 2, 5, 6, 7), (2, 1, 3, 3, 3)], {"padding": [1, 0, 1], "groups": 2}),
        ("conv_transpose2d", [(2, 3, 5, 6), (3, 1, 3, 3)], {"padding": [1, 1], "groups": 3}),
    ],
)
def test_few_rows(name, shapes, options, dtype):
    """Contractions that are too small on one side for tiles, forward and gradient."""
    f = workbench.op(name)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(dtype) for s in shapes]
    doubles = tuple(a.astype(np.float64) for a in arrays)
    want = f.run("numpy", doubles, options)
    close = {"rtol": 0, "atol": np.max(np.abs(want)) * (1e-6 if dtype == np.float32 else 1e-14)}
    np.testing.assert_allclose(f.run("wasm", tuple(arrays), options), want, **close)
    slopes = []
    for target in ("wasm", "numpy"):
        f.on = target
        slopes.append(f.grad(*(arrays if target == "wasm" else doubles), **options))
    for k, exact in slopes[1].items():
        close = {"rtol": 0, "atol": np.max(np.abs(exact)) * (1e-6 if dtype == np.float32 else 1e-14)}
        np.testing.assert_allclose(slopes[0][k], exact, **close)


def test_faults():
    """What a kernel tells of: places off their axis, whole numbers that do not fit."""
    with pytest.raises(IndexError, match="embedding: index 7 is out of bounds for an axis of length 3"):
        workbench.op("embedding", on="wasm")(np.array([1, 7], np.int32), np.zeros((3, 2), np.float32))
    with pytest.raises(OverflowError, match="add: the result does not fit into int32"):
        workbench.op("add", on="wasm")(np.full(9, 2**31 - 1, np.int32), np.full(9, 1, np.int32))
    assert workbench.op("sum", on="wasm")(np.full(9, 2**31 - 1, np.int32)) == 9 * (2**31 - 1)
    with pytest.raises(OverflowError, match="mul: the result does not fit into int32"):
        workbench.op("mul", on="wasm")(np.arange(9, dtype=np.int32), np.full(9, 2**29, np.int32))
    edges = (
        np.array([2**31 - 1, -(2**31), 46340, -46340, 65536, 7], np.int32),
        np.array([1, 1, 46340, 46340, -32768, -3]),
    )
    assert np.array_equal(workbench.op("mul", on="wasm")(*edges), edges[0].astype(np.int64) * edges[1])
    least = np.array([-(2**31)], np.int32)
    assert workbench.op("add", on="wasm")(least, np.array([2**31 - 1], np.int32)) == [-1]


def test_same_kernels(dist, tmp_path, figure):
    """The package makes the bytes that Python makes, and Node takes them."""
    calls, here = [], []
    ours = {name: packaged(name) for name in CALLS}
    for name, args in ((name, args) for name, calls_ in CALLS.items() for args in calls_):
        data = ours[name]
        args = args + [None] * (len(data.params) - len(args))
        call = bind(data, args)
        types = [b.dtype for b in call.slots]
        for program in range(len(data.programs)):
            if program and not call.dtype.startswith("float"):
                continue
            wanted = data.programs[program].outputs
            launches = [x for x in plan_wasm(data, program, call, wanted, types) if x is not None]
            here.append([(x, wasm_kernel(x, False)) for x in launches])
            calls.append(
                {
                    "file": LIBRARY.ops[name].file,
                    "op": binding(name),
                    "args": [asdict(a) if isinstance(a, Meta) else a for a in args],
                    "program": program,
                    "wanted": wanted,
                    "types": types,
                }
            )
    given, answers = tmp_path / "calls.json", tmp_path / "kernels.json"
    given.write_text(json.dumps(calls))
    done = node.run([HERE / "node" / "wasm_kernels.mjs", dist, given, answers])
    assert done.returncode == 0, done.stdout
    there = json.loads(answers.read_text())
    sizes = set()
    for mine, theirs in zip(here, there, strict=True):
        assert [x.key for x, _ in mine] == [x["key"] for x in theirs]
        for (x, kernel), y in zip(mine, theirs, strict=True):
            assert [repr(float(v)) for v in x.values] == [repr(float(v)) for v in y["values"]]
            assert kernel_text(kernel) == y["text"]
            assert kernel_bytes(kernel, False) == y["bytes"]
            sizes.add((x.key, len(y["bytes"])))
    figure(f"{len(sizes)} WebAssembly kernels of {len(CALLS)} ops are the same in Python and in the package")


LONG = np.array(
    [2**63 - 1, -(2**63), 2**53 + 1, 2**40, -(2**33), 0, 1, -1, 3, -7, 6364136223846793005, 16777619, 5], np.int64
)
OF_LONG = "add sub mul floor_divide remainder maximum minimum eq lt ge bitwise_and bitwise_xor".split()
OF_LONG += "sum prod cumsum cumprod amax amin argmax argmin abs neg sign bitwise_not sort gather".split()


@pytest.mark.parametrize("name", OF_LONG)
def test_whole_numbers_of_64_bits(name):
    """Kernels of int64 wrap as numpy does, rows and columns alike."""
    f = workbench.op(name)
    a = np.stack([LONG, np.roll(LONG, 1), LONG[::-1]])
    b = np.roll(a, 5, axis=1) | 1
    if name == "gather":
        args = (a, 1, np.argsort(b, axis=1))
    else:
        args = {0: (a, b), 1: (a,)}[f.op.name in OF_LONG[12:]]
    args += (1,) if name.startswith("cum") or name == "prod" else ()
    with np.errstate(over="ignore"):
        want, got = f.numpy(*args), workbench.op(name, on="wasm")(*args)
    for x, y in zip(want.values(), got.values()) if isinstance(want, dict) else [(want, got)]:
        np.testing.assert_array_equal(y, x)
        assert y.dtype == x.dtype
