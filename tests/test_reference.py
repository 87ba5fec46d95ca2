"""The numpy meaning of programs: whole numbers, NaN, filters, scans, scatters, random numbers, special functions."""

import math

import handmade
import numpy as np
import pytest
from ml_dtypes import bfloat16

from dsl.ir.builders import ZERO, call, cond, idx, integer, read, real, sym
from dsl.ir.expression import Binary
from dsl.ir.intrinsics import INTRINSICS
from dsl.ir.program import Dim, Loop, Program, Stmt, Tensor
from dsl.reference import special
from dsl.reference.interpreter import evaluate
from dsl.reference.random import philox, uniform
from dsl.reference.scalars import CALLS, binary, power

N = (Dim("one", "N", sym("N")),)
i, j = idx("i"), idx("j")
over_i = (Loop("i", sym("N")),)


def vector(body, x, dtype="T", red=None, pred=None, rloops=(), **env):
    """out[i] = body over a vector x."""
    x = np.asarray(x)
    tensors = {"x": Tensor("x", "input", N), "out": Tensor("out", "output", N, dtype)}
    p = Program("p", tensors, [Stmt("out", (i,), over_i, body, red, rloops, pred)], ["x"], ["out"])
    return evaluate(p, {"N": len(x), **env}, {}, {"x": x})["out"]


def test_every_intrinsic_has_a_meaning():
    assert set(CALLS) == set(INTRINSICS)


def test_whole_numbers_fit_and_round_down():
    x = np.array([2**31 - 1, -7, 7], np.int32)
    with pytest.raises(OverflowError, match="does not fit into int32"):
        vector(Binary("+", read("x", [i]), integer(1)), x)
    assert vector(Binary("-", read("x", [i]), integer(1)), x).tolist() == [2**31 - 2, -8, 6]
    assert vector(Binary("//", read("x", [i]), integer(2)), x).tolist() == [2**30 - 1, -4, 3]
    assert vector(Binary("%", read("x", [i]), integer(3)), x).tolist() == [1, 2, 1]
    assert binary("%", np.float32(-7), 3) == 2
    assert binary("<<", np.int32(1), 40) == 0 and binary(">>", np.int32(-2), 40) == -1
    assert binary("**", np.array([2, -1, 1, 3], np.int32), np.array([-1, -3, -2, 2], np.int32)).tolist() == [
        0,
        -1,
        1,
        9,
    ]


@pytest.mark.parametrize("dtype", [np.float16, bfloat16, np.float32, np.float64, np.int32])
def test_stored_is_what_T_holds(dtype):
    x, alpha = np.arange(1, 200).astype(dtype), 0.1 if np.dtype(dtype).kind != "i" else 3
    wide = np.dtype(np.float32 if np.dtype(dtype).itemsize == 2 else dtype).type
    found = vector(Binary("*", read("x", [i]), call("stored", sym("alpha"))), x, alpha=alpha)
    assert (found == (x.astype(wide) * wide(dtype(alpha))).astype(dtype)).all()
    full = vector(Binary("*", read("x", [i]), sym("alpha")), x, alpha=alpha)
    assert (found != full).any() == (wide != dtype)


@pytest.mark.parametrize(
    "dtype,want",
    [(np.uint8, [4, 250]), (np.int8, [4, -6]), (np.int32, [4, 250]), (np.bool_, [True, True]), (np.float16, [4, 250])]
    + [(np.int16, [4, 250]), (np.uint16, [4, 250]), (np.uint32, [4, 250]), (bfloat16, [4, 250])],
)
def test_types(dtype, want):
    """Types of fewer bits compute in 32 and wrap or round when stored."""
    x = np.array([2, 125], dtype)
    p = Program(
        "p",
        {"x": Tensor("x", "input", N), "out": Tensor("out", "output", N)},
        [Stmt("out", (i,), over_i, Binary("+", read("x", [i]), read("x", [i])))],
        ["x"],
        ["out"],
    )
    got = evaluate(p, {"N": 2}, {}, {"x": x})["out"]
    assert got.dtype == dtype and got.tolist() == want


def test_plain_numbers_divide_as_floats():
    assert binary("/", 1, 0) == math.inf and math.isnan(binary("/", 0, 0))


def test_powers_of_whole_numbers():
    for a in range(-3, 4):
        for b in range(-3, 5):
            want = 0 if a == 0 and b < 0 else math.trunc(float(a) ** b)  # of plain numbers and of arrays
            assert (a, b, binary("**", a, b), int(power(np.int32([a]), np.int32([b]))[0])) == (a, b, want, want)


def test_nan_wins_in_maxima_and_is_found_by_its_bits():
    x = np.array([1.0, math.nan, 3.0])
    assert np.isnan(vector(read("x", [j]), x, red="max", rloops=(Loop("j", sym("N")),))).all()
    assert vector(read("x", [j]), x, "int", red="argmax", rloops=(Loop("j", sym("N")),)).tolist() == [1, 1, 1]
    assert vector(call("fmax", read("x", [i]), real(2.0)), x).tolist() == [2, 2, 3]
    assert vector(call("isnan", read("x", [i])), x, "bool").tolist() == [False, True, False]


def test_argmax_skips_what_the_filter_leaves_out():
    x = np.full(3, -math.inf)
    last = Binary(">=", j, i)
    assert vector(read("x", [j]), x, "int", red="argmax", pred=last, rloops=(Loop("j", sym("N")),)).tolist() == [
        0,
        1,
        2,
    ]


def test_scans():
    before = Binary("<=", j, i)
    x = np.array([2.0, 3.0, 4.0])
    assert vector(read("x", [j]), x, red="sum", pred=before, rloops=(Loop("j", sym("N")),)).tolist() == [2, 5, 9]
    assert vector(read("x", [j]), x, red="prod", pred=before, rloops=(Loop("j", sym("N")),)).tolist() == [2, 6, 24]


def test_any_all_and_counting():
    x = np.array([0.0, 2.0, 0.0])
    nonzero = Binary("!=", read("x", [j]), ZERO)
    loops = (Loop("j", sym("N")),)
    assert (
        vector(nonzero, x, "bool", red="any", rloops=loops).all()
        and not vector(nonzero, x, "bool", red="all", rloops=loops).any()
    )
    assert vector(cond(nonzero, integer(1), ZERO), x, "int", red="sum", rloops=loops).tolist() == [1, 1, 1]


def test_sums_are_exact_in_float32():
    x = np.full(100_000, 0.1, np.float32)
    tensors = {"x": Tensor("x", "input", N), "out": Tensor("out", "output", ())}
    p = Program("p", tensors, [Stmt("out", (), (), read("x", [j]), "sum", (Loop("j", sym("N")),))], ["x"], ["out"])
    assert evaluate(p, {"N": len(x)}, {}, {"x": x})["out"] == np.float32(np.float64(np.float32(0.1)) * 100_000)


def test_reading_outside():
    assert vector(read("x", [Binary("-", i, integer(1))], real(9.0)), [1.0, 2.0]).tolist() == [9, 1]
    op = handmade.embedding()
    views = {"input": np.array([0, 5], np.int32), "weight": np.zeros((3, 2))}
    with pytest.raises(IndexError, match="weight: index 5 is out of range for an axis of length 3"):
        evaluate(op.forward, dict(V=3, D=2), dict(A=(2,)), views)
    audit = []
    evaluate(op.forward, dict(V=3, D=2), dict(A=(2,)), views, audit=audit)
    assert (audit[0].axis, audit[0].value, audit[0].length) == (0, 5, 3)


def test_an_index_where_the_value_does_not_count():
    ignored = cond(Binary("!=", read("x", [i]), integer(-100)), read("t", [read("x", [i])]), real(0.0))
    tensors = {"x": Tensor("x", "input", N, "int"), "t": Tensor("t", "input", N), "out": Tensor("out", "output", N)}
    p = Program("p", tensors, [Stmt("out", (i,), over_i, ignored)], ["x", "t"], ["out"])
    got = evaluate(p, {"N": 2}, {}, {"x": np.array([-100, 1], np.int32), "t": np.array([5.0, 6.0])})["out"]
    assert got.tolist() == [0, 6]


def test_large_kernels_run_in_slices(monkeypatch):
    import dsl.reference.statements

    op, env, packs, views = next(handmade.drawn())
    whole = evaluate(op.forward, env, packs, views)["out"]
    monkeypatch.setattr(dsl.reference.statements, "LARGEST", 5)
    np.testing.assert_array_equal(evaluate(op.forward, env, packs, views)["out"], whole)


def test_philox_known_answers():
    """Random123's vectors for Philox 4x32-10."""
    words = lambda key, counter: [int(w) for w in philox(key, counter)]
    assert words((0, 0), (0, 0, 0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)) == [
        0xD16CFE09,
        0x94FDCCEB,
        0x5001E420,
        0x24126EA1,
    ]


def test_draws_depend_on_seed_call_site_and_place():
    place = np.arange(1000)
    u = uniform((1, 0), 0, 0, place)
    assert u.min() >= 0 and u.max() < 1 and abs(u.mean() - 0.5) < 0.05 and (u.astype(np.float32) == u).all()
    for other in (
        uniform((2, 0), 0, 0, place),
        uniform((1, 1), 0, 0, place),
        uniform((1, 0), 1, 0, place),
        uniform((1, 0), 0, 1, place),
    ):
        assert not np.array_equal(u, other)
    assert np.array_equal(uniform((1, 0), 0, 0, place[500:]), u[500:])


def test_special_functions():
    x = np.linspace(-0.999999, 0.999999, 401)
    np.testing.assert_allclose(special.erf(special.erfinv(x)), x, atol=2e-16)
    euler = 0.5772156649015329
    harmonic = sum(1 / k for k in range(1, 30))
    np.testing.assert_allclose(
        special.digamma([1, 0.5, -1.5, 30]),
        [-euler, -1.9635100260214235, 0.7031566406452432, harmonic - euler],
        rtol=1e-13,
    )
    assert special.lgamma([0.0, -2.0])[1] == math.inf and special.erfinv([1.0])[0] == math.inf
