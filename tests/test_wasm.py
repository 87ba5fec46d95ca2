"""Kernels as WebAssembly: every op's mean what the reference evaluates, forward and gradient, and those that the
package makes are the same bytes."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from definitions import LIBRARY, data_of, drawn, packaged
from test_same_kernels import CALLS
from test_wgsl import memory, single, strided
from turns import one_in, turn

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
from workbench.numpy_runner import meta, run
from workbench.wasm_runner import Wasm

HERE = Path(__file__).parent
RELAXED = Wasm(relaxed=True)
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}  # of the reference, which computes in single floats


def product(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    return q @ t @ np.conj(np.swapaxes(q, -1, -2))


def product_of_pairs(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    found = product(*(x[..., 0] + 1j * x[..., 1] for x in (t, q)))
    return np.stack([found.real, found.imag], -1)


# Factors that depend on the steps that rounding chooses: only their product is known.
FACTORS = {"schur_rows": product, "complex_schur_rows": product_of_pairs}


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
    """Contiguous tensors, strided ones whose temporaries count as large, and those of doubles, with one commit after
    the other (turns.py)."""
    op, data = LIBRARY.ops[name], data_of(name)
    number = {s.name: i for i, s in enumerate(data.slots)}
    changed = {p.name for p in op.params if p.mut}
    found = drawn(op, 3, seed=5)
    for n, instance in one_in(len(found), found, turn(), start=[*LIBRARY.ops].index(name)):
        rng = np.random.default_rng(n)  # the same numbers whichever turn it is
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
        if name in FACTORS:
            found = [got[number[k]].reshape(want[k].shape) for k in op.outputs]
            np.testing.assert_allclose(FACTORS[name](*found), arrays["a"], err_msg=name, rtol=1e-4, atol=1e-4)
            continue
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
