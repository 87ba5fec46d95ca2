"""CPU kernels from hand-made kernels, run in Node, against numpy."""

import numpy as np
import pytest
from cpu_kernels import op, option, run

from codegen.cpu.emit import cpu_kernels
from codegen.kernels.kernel import Access, Kernel, Step
from dsl.ir.expression import (
    ZERO,
    Binary,
    Element,
    Random,
    Result,
    add,
    call,
    conj,
    div,
    idx,
    mul,
    pack,
    real,
    sub,
    sym,
)
from dsl.ir.program import Loop
from dsl.reference.random import uniform

R = np.random.default_rng(0)
f32 = lambda *shape: R.standard_normal(shape).astype(np.float32)
A, B = pack("a"), pack("b")
OUTER = (Loop("a", None, "A"), Loop("b", None, "B"))
ADD = Kernel(
    "map",
    OUTER,
    (),
    (Access("input", (A, B)), Access("other", (A, B)), Access("out", (A, B))),
    (Step("store", -1, add(Element(0), mul(sym("alpha"), Element(1))), target=2),),
)
BINARY = {"input": "T", "other": "T", "out": "T"}


def test_a_map_follows_the_strides_of_broadcast_and_transposed_tensors():
    t = {"input": f32(5, 3).T, "other": np.broadcast_to(f32(3, 1).copy(), (3, 5)), "out": np.zeros((3, 5), np.float32)}
    want = t["input"] + np.float32(0.5) * t["other"]
    assert run(ADD, op(BINARY, [option("alpha", "num")]), t, {"a": 3, "b": 5}, {"alpha": 0.5}) is None
    np.testing.assert_allclose(t["out"], want, rtol=1e-6)


def test_whole_numbers_fit_into_32_bits_or_wrap_at_8():
    t = {
        "input": np.array([[2**31 - 1001, -5]], np.int32),
        "other": np.array([[1, 200]], np.int32),
        "out": np.zeros((1, 2), np.int32),
    }
    assert run(ADD, op(BINARY, [option("alpha", "num")]), t, {"a": 1, "b": 2}, {"alpha": 1000}, "int32") is None
    assert t["out"].tolist() == [[2**31 - 1, 199995]]
    t["other"][0, 0] = 2
    assert "does not fit into int32" in run(
        ADD, op(BINARY, [option("alpha", "num")]), t, {"a": 1, "b": 2}, {"alpha": 1000}, "int32"
    )
    t = {n: np.array([[200, 100]], np.uint8) for n in t}
    assert (
        run(
            ADD,
            op(BINARY, [option("alpha", "num")]),
            t,
            {"a": 1, "b": 2},
            {"alpha": 1},
            "uint8",
            types=dict.fromkeys(t, "uint8"),
        )
        is None
    )
    assert t["out"].tolist() == [[144, 200]]


def test_float16_results_are_rounded_to_half():
    x = f32(4, 4).astype(np.float16)
    t = {"input": x.astype(np.float32), "other": x.astype(np.float32) / 4, "out": np.zeros((4, 4), np.float32)}
    run(
        ADD,
        op(BINARY, [option("alpha", "num")]),
        t,
        {"a": 4, "b": 4},
        {"alpha": 1},
        "float16",
        types=dict.fromkeys(t, "float16"),
    )
    assert (t["out"] == (t["input"] + t["other"]).astype(np.float16)).all()


def softmax_kernel() -> Kernel:
    e = call("exp", sub(Element(0), Result(0)))
    return Kernel(
        "row",
        OUTER,
        (Loop("k", sym("K")),),
        (Access("input", (A, idx("k"), B)), Access("out", (A, idx("k"), B))),
        (
            Step("reduce", 0, Element(0), "max"),
            Step("reduce", 1, e, "sum"),
            Step("store", -1, div(e, Result(1)), inner=True, target=1),
        ),
    )


def test_a_row_runs_its_steps_in_order():
    t = {"input": f32(2, 7, 3), "out": np.zeros((2, 7, 3), np.float32)}
    run(softmax_kernel(), op({"input": "T", "out": "T"}), t, {"a": 2, "b": 3, "k": 7})
    e = np.exp(t["input"] - t["input"].max(1, keepdims=True))
    np.testing.assert_allclose(t["out"], e / e.sum(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("red", ["max", "min"])
def test_extremes_hand_nan_on_and_name_the_first_place(red):
    x = np.array([[1, 3, 3], [2, np.nan, 5], [-np.inf] * 3], np.float32)
    kernel = Kernel(
        "row",
        OUTER[:1],
        (Loop("k", sym("K")),),
        (Access("input", (A, idx("k"))), Access("out", (A,)), Access("where", (A,))),
        (
            Step("reduce", 0, Element(0), red),
            Step("reduce", 1, Element(0), "arg" + red),
            Step("store", -1, Result(0), target=1),
            Step("store", -1, Result(1), target=2),
        ),
    )
    t = {"input": x, "out": np.zeros(3, np.float32), "where": np.zeros(3, np.int32)}
    run(kernel, op({"input": "T", "out": "T", "where": "int"}), t, {"a": 3, "k": 3})
    np.testing.assert_array_equal(t["out"], getattr(np, red)(x, 1))
    np.testing.assert_array_equal(t["where"], getattr(np, "arg" + red)(x, 1))


def test_a_sum_of_single_floats_is_kept_in_double():
    kernel = Kernel(
        "row",
        (),
        (Loop("k", None, "K"),),
        (Access("input", (pack("k"),)), Access("out", ())),
        (Step("reduce", 0, Element(0), "sum"), Step("store", -1, Result(0), target=1)),
    )
    t = {"input": np.full(3001, 0.1, np.float32), "out": np.zeros((), np.float32)}
    t["input"][0] = 2.0**25
    run(kernel, op({"input": "T", "out": "T"}), t, {"k": 3001})
    assert t["out"] == np.float32(t["input"].sum(dtype=np.float64))


def test_spread_adds_along_the_axes_the_target_lacks():
    kernel = Kernel(
        "map",
        OUTER,
        (),
        (Access("input", (A, B)), Access("other", (A, B)), Access("d_x", (A, B))),
        (Step("store", -1, mul(Element(0), Element(1)), target=2, mode="+="),),
        spread=True,
    )
    whole = np.zeros((1, 3), np.float32)
    t = {"input": f32(5, 3), "other": f32(5, 3), "d_x": np.lib.stride_tricks.as_strided(whole, (5, 3), (0, 4))}
    t["d_x"] = np.ndarray((5, 3), np.float32, whole, strides=(0, 4))
    run(kernel, op({"input": "T", "other": "T", "d_x": "T"}), t, {"a": 5, "b": 3})
    np.testing.assert_allclose(t["d_x"][0], (t["input"] * t["other"]).sum(0), rtol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_stores_at_every_point(reverse):
    kernel = Kernel(
        "scan",
        OUTER,
        (Loop("k", sym("K")),),
        (Access("input", (A, idx("k"), B)), Access("out", (A, idx("k"), B))),
        (Step("reduce", 0, Element(0), "sum"), Step("store", -1, Result(0), inner=True, target=1)),
        reverse=reverse,
    )
    t = {"input": f32(2, 6, 3), "out": np.zeros((2, 6, 3), np.float32)}
    run(kernel, op({"input": "T", "out": "T"}), t, {"a": 2, "b": 3, "k": 6})
    x = t["input"][:, ::-1] if reverse else t["input"]
    want = np.cumsum(x, 1)
    np.testing.assert_allclose(t["out"], want[:, ::-1] if reverse else want, rtol=1e-5, atol=1e-6)


EMBED = Kernel(
    "map",
    (Loop("a", None, "A"), Loop("d", sym("D"))),
    (),
    (Access("input", (A,)), Access("weight", (Element(0), idx("d"))), Access("out", (A, idx("d")))),
    (Step("store", -1, Element(1), target=2),),
)


def test_an_index_from_a_tensor_is_followed_and_checked():
    tensors = {"input": np.array([2, 0, 2], np.int32), "weight": f32(3, 4), "out": np.zeros((3, 4), np.float32)}
    definition = op({"weight": "T", "input": "int", "out": "T"})
    assert run(EMBED, definition, tensors, {"a": 3, "d": 4}) is None
    assert (tensors["out"] == tensors["weight"][[2, 0, 2]]).all()
    tensors["input"][1] = 3
    assert (
        run(EMBED, definition, tensors, {"a": 3, "d": 4}) == "thing: index 3 is out of bounds for an axis of length 3"
    )


def conv_kernel(shape: str) -> Kernel:
    """out[n, o, y] = (sum[c, k] (input[n, c, y*stride + k - padding] ?? 0) * weight[o, c, k]) + (bias[o] ?? 0)"""
    at = sub(add(mul(idx("y"), sym("stride")), idx("k")), sym("padding"))
    return Kernel(
        shape,
        (Loop("n", None, "N"), Loop("o", sym("O")), Loop("y", sym("Y"))),
        (Loop("c", sym("C")), Loop("k", sym("K"))),
        (
            Access("input", (pack("n"), idx("c"), at), conj(Binary("<=", ZERO, at), Binary("<", at, sym("X"))), ZERO),
            Access("weight", (idx("o"), idx("c"), idx("k"))),
            Access("bias", (idx("o"),), sym("has_bias"), ZERO),
            Access("out", (pack("n"), idx("o"), idx("y"))),
        ),
        (
            Step("reduce", 0, mul(Element(0), Element(1)), "sum"),
            Step("store", -1, add(Result(0), Element(2)), target=3),
        ),
        left=(0,),
    )


@pytest.mark.parametrize("shape", ["row", "contract"])
@pytest.mark.parametrize("sizes", [(1, 1, 4, 1), (2, 5, 13, 3), (3, 130, 9, 70)])
def test_a_contraction_in_blocks_equals_plain_loops(shape, sizes):
    n, o, x, c = sizes
    k, stride, padding = 3, 2, 1
    y = (x + 2 * padding - k) // stride + 1
    t = {"input": f32(n, c, x), "weight": f32(o, c, k), "bias": f32(o), "out": np.zeros((n, o, y), np.float32)}
    definition = op({"input": "T", "weight": "T", "bias": "T", "out": "T"})
    kernel = conv_kernel(shape)
    assert shape == "row" or cpu_kernels(definition, [([kernel], definition.tensors)]).interpreted == {
        "thing_0": "contract"
    }
    size = {"n": n, "o": o, "y": y, "c": c, "k": k}
    run(
        kernel,
        definition,
        t,
        size,
        {"O": o, "Y": y, "C": c, "K": k, "X": x, "stride": stride, "padding": padding, "has_bias": 1},
    )
    padded = np.pad(t["input"], ((0, 0), (0, 0), (padding, padding)))
    windows = np.stack([padded[:, :, i * stride : i * stride + k] for i in range(y)], 2)
    want = np.einsum("ncyk,ock->noy", windows.astype(float), t["weight"].astype(float)) + t["bias"][None, :, None]
    np.testing.assert_allclose(t["out"], want, rtol=1e-5, atol=1e-5)


ROW, COLUMN, DEEP = idx("m"), idx("n"), idx("k")
PRODUCT_LOOPS = (Loop("b", None, "B"), Loop("m", sym("M")), Loop("n", sym("N"))), (Loop("k", sym("K")),)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 2, 9, 5), (2, 70, 3, 4), (2, 133, 6, 300), (1, 530, 515, 3)])
@pytest.mark.parametrize("mode", ["=", "+="])
def test_a_product_of_elements_in_blocks(sizes, mode):
    b, m, n, k = sizes
    kernel = Kernel(
        "contract",
        *PRODUCT_LOOPS,
        (Access("input", (B, ROW, DEEP)), Access("other", (B, DEEP, COLUMN)), Access("out", (B, ROW, COLUMN))),
        (Step("reduce", 0, mul(Element(0), Element(1)), "sum"), Step("store", -1, Result(0), target=2, mode=mode)),
        left=(0,),
    )
    made = cpu_kernels(op(BINARY), [([kernel], op(BINARY).tensors)])
    assert any("multiplyElements" in f for f in made.functions) and not made.interpreted
    t = {"input": f32(b, m, k), "other": f32(b, n, k).transpose(0, 2, 1), "out": f32(b, m, n)}
    want = t["input"] @ t["other"] + (t["out"] if mode == "+=" else 0)
    assert run(kernel, op(BINARY), t, {"b": b, "m": m, "n": n, "k": k}) is None
    np.testing.assert_allclose(t["out"], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sizes", [(1, 2, 5, 3), (2, 2, 9, 5), (2, 133, 6, 300), (1, 20, 515, 7)])
def test_factors_that_are_formulas(sizes):
    """out = sum[k if k <= m and k < L] (a * alpha) * (b + c) + 2 where n != m, into two tensors: infinite elements that
    the conditions leave out do not count."""
    b, m, n, k = sizes
    kernel = Kernel(
        "contract",
        *PRODUCT_LOOPS,
        (
            Access("input", (B, ROW, DEEP)),
            Access("other", (B, DEEP, COLUMN)),
            Access("more", (B, COLUMN)),
            Access("out", (B, ROW, COLUMN)),
            Access("second", (B, ROW, COLUMN)),
        ),
        (
            Step(
                "reduce",
                0,
                mul(mul(Element(0), sym("alpha")), add(Element(1), Element(2))),
                "sum",
                pred=conj(Binary("<=", DEEP, ROW), Binary("<", DEEP, sym("L"))),
            ),
            Step("store", 1, add(Result(0), real(2.0)), target=3),
            Step("store", -1, mul(Result(1), Element(2)), target=4, pred=Binary("!=", COLUMN, ROW)),
        ),
        left=(0,),
    )
    definition = op({"input": "T", "other": "T", "more": "T", "out": "T", "second": "T"}, [option("alpha", "num")])
    assert cpu_kernels(definition, [([kernel], definition.tensors)]).interpreted == {"thing_0": "contract"}
    last = k - 1
    t = {
        "input": f32(b, m, k),
        "other": f32(b, k, n),
        "more": f32(b, n),
        "out": np.zeros((b, m, n), np.float32),
        "second": np.zeros((b, m, n), np.float32),
    }
    t["input"][:, :, last] = t["other"][:, last] = np.inf
    counts = np.tril(np.ones((m, k)))[:, :last]
    want = (
        np.einsum("bmk,bkn->bmn", 0.5 * t["input"][:, :, :last] * counts, t["other"][:, :last] + t["more"][:, None]) + 2
    )
    assert (
        run(kernel, definition, t, {"b": b, "m": m, "n": n, "k": k}, {"M": m, "N": n, "K": k, "L": last, "alpha": 0.5})
        is None
    )
    np.testing.assert_allclose(t["out"], want, rtol=1e-4, atol=1e-4)
    off = np.arange(m)[:, None] != np.arange(n)
    np.testing.assert_allclose(t["second"], np.where(off, want * t["more"][:, None], 0), rtol=1e-4, atol=1e-3)


def test_random_numbers_are_those_of_the_definition():
    kernel = Kernel(
        "map",
        OUTER,
        (),
        (Access("input", (A, B)), Access("out", (A, B))),
        (Step("store", -1, add(Random(1), Element(0)), target=1),),
    )
    t = {"input": np.zeros((3, 5), np.float32), "out": np.zeros((3, 5), np.float32)}
    run(
        kernel, op({"input": "T", "out": "T"}), t, {"a": 3, "b": 5}, {"seed0_": 7, "seed1_": 9, "call_": 3}, random=True
    )
    np.testing.assert_array_equal(t["out"].ravel(), uniform((7, 9), 3, 1, np.arange(15)))
