"""The adjoint core on programs written by hand: against central differences, first and second order; gathers
against the scatters they replace; the form of what comes out."""

import handmade
import numpy as np
import pytest

import workbench
from dsl.gradients.adjoint import gradient, second
from dsl.gradients.solve import Sizes, gather
from dsl.ir.axes import Axis
from dsl.ir.builders import ONE, add, idx, integer, mul, read, sub, sym
from dsl.ir.expression import Binary, Cast
from dsl.ir.program import Dim, Fresh, Loop, Program, Stmt, Tensor
from dsl.reference.interpreter import evaluate
from dsl.testing.gradcheck import difference

CASES = list(handmade.drawn())
NAMES = [f"{case[0].name}{i}" for i, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_gradients_are_central_differences(case):
    op, env, packs, views = case
    rng = np.random.default_rng(1)
    first = gradient(op)
    out = evaluate(op.forward, env, packs, views)
    given = {"g_" + n: rng.standard_normal(a.shape) for n, a in out.items()}
    got = evaluate(first, env, packs, {**views, **out, **given})
    floats = [n for n, a in views.items() if a.dtype.kind == "f"]
    assert set(got) == {"d_" + n for n in floats}
    for n in floats:
        assert got["d_" + n].shape == views[n].shape
        for at, slope in difference(op.forward, env, packs, views, n, {k[2:]: w for k, w in given.items()}, rng):
            assert got["d_" + n][at] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_second_derivatives_are_central_differences(case):
    op, env, packs, views = case
    rng = np.random.default_rng(2)
    first, twice = gradient(op), second(op)
    out = evaluate(op.forward, env, packs, views)
    inputs = {**views, **out, **{"g_" + n: rng.standard_normal(a.shape) for n, a in out.items()}}
    grads = evaluate(first, env, packs, inputs)
    given = {"gg_" + n[2:]: rng.standard_normal(a.shape) for n, a in grads.items()}
    got = evaluate(twice, env, packs, {**inputs, **given})
    assert "dd_g_out" in got
    for n, a in inputs.items():
        if a.dtype.kind != "f" or n not in first.inputs:
            continue
        for at, slope in difference(first, env, packs, inputs, n, {"d_" + k[3:]: w for k, w in given.items()}, rng):
            if not np.isnan(slope):
                assert got.get("dd_" + n, np.zeros(a.shape))[at] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_second_derivatives_write_only_places_that_exist():
    """Where a condition of the gradient keeps a place inside its axis, the scatter that leads back has it, too: the
    interpreter refuses places outside, in memory they would be other elements."""
    f = workbench.op("""op f(x: Float[N], w: Float[K]) -> Float[N]
    out[a] = x[a] + (w[-2 * a] ?? 0.5)""")
    first = gradient(f.op)
    shapes = {"x": 4, "w": 3, "g_out": 4, "gg_x": 4, "gg_w": 3}
    given = {n: np.random.default_rng(0).standard_normal(k) for n, k in shapes.items()}
    got = evaluate(second(f.op, first), {"N": 4, "K": 3}, {}, given)
    want = given["gg_x"].copy()
    want[0] += given["gg_w"][0]
    np.testing.assert_allclose(got["dd_g_out"], want)


def test_products_with_zeros():
    """The gradient of a product is the product of the others: with one zero, and with two."""
    x = np.array([[3.0, 0.0, 5.0], [0.0, 0.0, 7.0]])
    op = handmade.reduction("prod")
    got = evaluate(
        gradient(op), {}, {"kept": (2,), "dropped": (3,)}, {"input": x, "out": x.prod(1), "g_out": np.ones(2)}
    )
    assert got["d_input"].tolist() == [[0, 15, 0], [0, 0, 0]]


def test_equal_maxima_share():
    x = np.array([[3.0, 7.0, 7.0, 1.0]])
    op = handmade.reduction("max")
    got = evaluate(
        gradient(op), {}, {"kept": (1,), "dropped": (4,)}, {"input": x, "out": x.max(1), "g_out": np.ones(1)}
    )
    assert got["d_input"].tolist() == [[0, 0.5, 0.5, 0]]


def test_first_maximum_of_a_window_wins():
    env = dict(X=4, Y=2, K=2, stride=2, padding=0, dilation=1)
    got = evaluate(
        gradient(handmade.max_pool1d()),
        env,
        {"A": ()},
        {"input": np.array([2.0, 2, 1, 5]), "g_out": np.array([3.0, 4])},
    )
    assert got["d_input"].tolist() == [3, 0, 0, 4]


def test_a_gather_has_no_atomics_and_matmul_reads_well():
    printed = repr(gradient(handmade.matmul())).splitlines()
    assert printed == [
        "d_input[*b, m, k] = sum[n < N] g_out[*b, m, n] * other[*b, k, n]   spread",
        "d_other[*b, k, n] = sum[m < M] g_out[*b, m, n] * input[*b, m, k]   spread",
    ]
    for make in (handmade.conv1d, handmade.conv_transpose1d, handmade.max_pool1d, lambda: handmade.scan("sum")):
        assert all(s.mode == "=" for s in gradient(make()).stmts)


def test_data_dependent_indices_stay_scatters():
    (s,) = gradient(handmade.embedding()).stmts
    assert s.mode == "+=" and repr(s) == "d_weight[input[*a], k] += g_out[*a, k]"


def test_softmax_reuses_its_result():
    text = repr(gradient(handmade.softmax()))
    assert "g_out[*kept, *dropped] * out[*kept, *dropped] / t1_[*kept]" in text


# --- scatter = gather ------------------------------------------------------------------------------


def scattered(at, loops, extents, env, pred=None, known=Sizes(), mode="="):
    """The sum at each element of a target, once as a scatter and once as a gather."""
    body = Cast("f", add(mul(integer(100), idx(loops[0].name)), idx(loops[-1].name)))
    inside = None
    for e, n in zip(at, extents):
        for p in (Binary(">=", e, integer(0)), Binary("<", e, n)):
            inside = p if inside is None else Binary("and", inside, p)
    t = Tensor("t", "output", tuple(Dim("one", size=n) for n in extents), "float")
    both = inside if pred is None else Binary("and", inside, pred)
    plain = Stmt("t", at, loops, body, pred=both, mode="+=")
    solved = gather(
        "t",
        at,
        [f"k{j}" for j in range(len(at))],
        [Axis(n) for n in extents],
        list(loops),
        pred,
        body,
        Fresh(),
        inside,
        known,
    )
    assert solved.mode == mode
    run = lambda s: evaluate(Program("p", {"t": t}, [s], [], ["t"]), env, {}, {})["t"]
    np.testing.assert_array_equal(run(plain), run(solved), err_msg=repr(solved))


i, j = idx("i"), idx("j")
N, M, P, Q = map(sym, "NMPQ")
FORMS = {
    "shift": ((sub(i, P),), "i"),
    "stride": ((sub(mul(i, Q), P),), "i"),
    "window": ((sub(add(mul(i, Q), mul(j, P)), ONE),), "ij"),
    "mirror": ((sub(sub(N, ONE), i),), "i"),
    "divide": ((Binary("//", i, Q),), "i"),
    "divide shifted": ((Binary("//", add(i, P), Q),), "i"),
    "divide scaled": ((Binary("//", mul(i, P), Q),), "i"),
    "turn": ((Binary("%", add(i, P), N),), "i"),
    "wrap": ((Binary("%", add(i, P), Q),), "i"),
    "diagonal": ((i, i), "i"),
    "transpose": ((j, i), "ij"),
    "two": ((add(i, j), sub(i, j)), "ij"),
    "constant": ((P,), "i"),
}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_gather_is_the_scatter_turned_round(form):
    at, names = FORMS[form]
    rng = np.random.default_rng(list(FORMS).index(form))
    for _ in range(40):
        env = dict(
            N=int(rng.integers(1, 7)),
            M=int(rng.integers(1, 7)),
            P=int(rng.integers(0, 4)),
            Q=int(rng.integers(1, 4)),
            E=int(rng.integers(1, 8)),
            F=int(rng.integers(1, 8)),
        )
        if form == "divide scaled":
            env["P"] = max(env["P"], 1)
        loops = tuple(Loop(v, sym("N" if v == "i" else "M")) for v in names)
        scattered(
            at,
            loops,
            (sym("E"), sym("F"))[: len(at)],
            env,
            known=Sizes(positive=frozenset("PQ" if form == "divide scaled" else "Q")),
        )


@pytest.mark.parametrize("form", ["stride", "divide", "divide shifted", "divide scaled", "wrap"])
def test_nothing_is_divided_by_a_number_that_may_be_0(form):
    at, names = FORMS[form]
    for q in (-2, 0, 1, 3):
        env = dict(N=5, M=3, P=1, Q=q, E=4)
        scattered(at, (Loop("i", N),), (sym("E"),), env, known=Sizes(), mode="+=")


def test_a_filter_stays_with_its_points():
    rng = np.random.default_rng(3)
    for _ in range(10):
        env = dict(N=int(rng.integers(1, 6)), M=int(rng.integers(1, 6)), P=1, Q=2, E=5)
        scattered((add(mul(i, Q), j),), (Loop("i", N), Loop("j", M)), (sym("E"),), env, Binary("<=", i, j))


def test_exact_quotients_need_no_extra_loop():
    """i // Q where a filter says that Q divides i."""
    whole = Binary("==", Binary("%", i, Q), integer(0))
    env = dict(N=9, Q=3, E=4)
    scattered((Binary("//", i, Q),), (Loop("i", N),), (sym("E"),), env, whole, Sizes(positive=frozenset("Q")))
    s = gather(
        "t",
        (Binary("//", i, Q),),
        ["k"],
        [Axis(sym("E"))],
        [Loop("i", N)],
        whole,
        read("x", [i]),
        Fresh(),
        sizes=Sizes(positive=frozenset("Q")),
    )
    assert s.red is None
