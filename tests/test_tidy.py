"""Tidying keeps values, and takes out what is there twice, for nothing or under the wrong sign."""

import handmade
import numpy as np
import pytest

from dsl.gradients.adjoint import known_sizes
from dsl.gradients.solve import tighten
from dsl.ir.affine import always, expression, poly, shorter
from dsl.ir.builders import ONE, ZERO, add, call, cond, idx, integer, is_binary, mul, neg, read, real, sub, sym
from dsl.ir.expression import Binary, Unary
from dsl.ir.program import Fresh, Loop, Program, Stmt, Tensor
from dsl.ir.tidy import filtered, simplify, tidy
from dsl.reference.interpreter import evaluate
from dsl.reference.sizes import constant

x, y, c = read("x", []), read("y", []), Binary(">", read("x", []), ZERO)


def value(e, a, b):
    tensors = {"x": Tensor("x", "input", ()), "y": Tensor("y", "input", ()), "out": Tensor("out", "output", ())}
    p = Program("p", tensors, [Stmt("out", (), (), e)], ["x", "y"], ["out"])
    return float(evaluate(p, {}, {}, {"x": np.float64(a), "y": np.float64(b)})["out"])


def random_tree(rng, depth):
    if depth == 0:
        return [x, y, ZERO, ONE, integer(-2), real(0.5)][rng.integers(6)]
    sub_ = lambda: random_tree(rng, depth - 1)
    match rng.integers(8):
        case 0:
            return add(sub_(), sub_())
        case 1:
            return sub(sub_(), sub_())
        case 2:
            return mul(sub_(), sub_())
        case 3:
            return neg(sub_())
        case 4:
            return Binary("/", sub_(), neg(call("exp", sub_())))
        case 5:
            return cond(Binary(["<", "=="][rng.integers(2)], sub_(), sub_()), sub_(), sub_())
        case 6:
            return cond(Unary("not", Binary("and", c, Binary("==", sub_(), sub_()))), sub_(), ZERO)
        case _:
            return add(cond(c, sub_(), ZERO), cond(c, ZERO, sub_()))


@pytest.mark.parametrize("seed", range(5))
def test_simplify_keeps_every_value(seed):
    """Over numbers, zeros, infinities and NaN; the sign of a zero may change."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        e = random_tree(rng, 4)
        for a, b in [(1.5, -2.0), (0.0, 3.0), (-1.0, 0.0), (np.inf, 1.0), (np.nan, 1.0), (-np.inf, np.nan)]:
            np.testing.assert_equal(
                value(simplify(e), a, b) + 0.0, value(e, a, b) + 0.0, err_msg=f"{e}  ->  {simplify(e)}"
            )


def test_zero_times_nan_stays():
    assert is_binary(simplify(mul(ZERO, x)), "*")


def test_a_branch_knows_its_condition():
    assert simplify(cond(c, cond(c, x, y), cond(c, y, x))) == x
    assert simplify(Unary("not", Binary("==", x, y))) == Binary("!=", x, y)


@pytest.mark.parametrize("case", list(handmade.drawn()), ids=lambda c: c[0].name)
def test_tidy_keeps_programs(case):
    op, env, packs, views = case
    p = op.forward
    tidied = Program(p.name, p.tensors, tidy(list(p.stmts), dict(p.tensors), p.outputs, []), p.inputs, p.outputs)
    for n, a in evaluate(p, env, packs, views).items():
        np.testing.assert_allclose(evaluate(tidied, env, packs, views)[n], a, rtol=1e-12)


def test_dead_twice_and_copied():
    t = lambda n: Tensor(n, "temp", ())
    tensors = {n: t(n) for n in ("a", "b", "c", "d")} | {
        "x": Tensor("x", "input", ()),
        "out": Tensor("out", "output", ()),
    }
    stmts = [
        Stmt("a", (), (), call("exp", x)),
        Stmt("b", (), (), call("exp", x)),
        Stmt("c", (), (), x),
        Stmt("d", (), (), call("sin", x)),
        Stmt("out", (), (), add(mul(read("a", []), read("b", [])), read("c", []))),
    ]
    assert [repr(s) for s in tidy(stmts, tensors, ["out"], [])] == ["a[] = exp(x[])", "out[] = a[] * a[] + x[]"]
    stored = [Stmt("out0", (), (), call("exp", x))]
    tensors["out0"] = Tensor("out0", "output", ())
    assert [repr(s) for s in tidy(stmts, tensors, ["out"], stored)] == ["out[] = out0[] * out0[] + x[]"]


def test_a_scatter_leaves_out_what_it_would_add_for_nothing():
    at = read("i", [idx("k")])
    s = filtered(Stmt("t", (at,), (Loop("k", sym("N")),), cond(Binary("!=", at, integer(-1)), x, ZERO), mode="+="))
    assert repr(s) == "t[i[k]] += x[]   if i[k] != -1"


def test_affine():
    i, N, P = idx("i"), sym("N"), sym("P")
    e = sub(add(mul(i, P), N), add(N, mul(P, sub(i, ONE))))
    assert shorter(e) == P
    rng = np.random.default_rng(0)
    for _ in range(20):
        env = {"P": int(rng.integers(-3, 4)), "N": int(rng.integers(-3, 4))}
        tree = sub(mul(add(N, integer(2)), sub(P, N)), neg(mul(P, integer(3))))
        assert constant(expression(poly(tree)), env) == constant(tree, env)
    loop = [Loop("i", N)]
    assert (
        always(Binary(">=", i, ZERO), loop)
        and always(Binary("<", i, N), loop)
        and always(Binary(">=", sub(sub(N, ONE), i), ZERO), loop)
    )
    assert not always(Binary(">=", sub(i, ONE), ZERO), loop) and not always(Binary("<", i, P), loop)


def test_what_is_shorter_is_so_under_any_name():
    """Of `(i + 1) * P + 2` and `P * i + P + 2` the first stays, whose text is longer where P is one letter."""
    for name in ("P", "PADDING"):
        e = add(mul(add(idx("i"), ONE), sym(name)), integer(2))
        assert shorter(e) is e


def test_tighten_solves_a_definitions_own_filter():
    op, env, packs, views = [c for c in handmade.drawn() if c[0].name == "conv_transpose1d"][0]
    (s,) = op.forward.stmts
    quick = tighten(s, Fresh(), known_sizes(op))
    assert [v.name for v in quick.rloops] == ["c", "k"]
    run = lambda s: evaluate(Program("p", op.tensors, [s], [], ["out"]), env, packs, views)["out"]
    np.testing.assert_allclose(run(quick), run(s), rtol=1e-12)
