"""Ops of the library in the formulas of others: with chosen axes, split axes, lists, tensors that are left out.

A call means what the op itself means: the same values and gradients on every device, for the same arguments."""

import numpy as np
import pytest

import workbench
from codegen.data.errors import OpError
from workbench.run_time import compiled

RANDOM = np.random.default_rng(5)
SYMMETRIC = np.diag([3, 1, 2]).astype(np.float32) + 0.5
PLACES = np.array([0, 2, 1, 5], np.int32)


def drawn(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


# Of a definition that calls an op: its head and the call, and the op's arguments beside the tensors; how the call's
# tensors are given is how the definition's are.
CASES = {
    "scaled_dot_product_attention": (
        "(q: Float[*B, L, E], k: Float[*B, S, E], v: Float[*B, S, V]) -> Float[*B, L, V]",
        "scaled_dot_product_attention(q, k, v, is_causal=true)",
        (drawn(2, 3, 4), drawn(2, 5, 4), drawn(2, 5, 6)),
        {"is_causal": True},
    ),
    "conv2d": (
        "(x: Float[B, C, H, W], w: Float[O, C, K, L], b: Float[O]) -> Float[B, O, P, Q]\n"
        "    where P = (H + 2 - K) // 2 + 1\n    where Q = (W - L) // 3 + 1",
        "conv2d(x, w, b, [2, 3], [1, 0])",
        (drawn(2, 3, 7, 8), drawn(4, 3, 3, 2), drawn(4)),
        {"stride": [2, 3], "padding": [1, 0]},
    ),
    "conv1d": (
        "(x: Float[B, C, H], w: Float[O, G, K]) -> Float[B, O, P]\n    where P = H - K + 1",
        "conv1d(x, w, groups=2)",
        (drawn(2, 4, 7), drawn(6, 2, 3)),
        {"groups": 2},
    ),
    "conv_transpose1d": (
        "(x: Float[B, C, H], w: Float[C, O, K]) -> Float[B, O, P]\n    where P = 2 * (H - 1) + K",
        "conv_transpose1d(x, w, stride=2)",
        (drawn(2, 4, 5), drawn(4, 3, 3)),
        {"stride": 2},
    ),
    "group_norm": (
        "(x: Float[N, C, L], a: Float[C], b: Float[C]) -> Float[N, C, L]",
        "group_norm(x, 3, a, b)",
        (drawn(2, 6, 5), drawn(6), drawn(6)),
        {"num_groups": 3},
    ),
    "layer_norm": (
        "(x: Float[*B, N], a: Float[N], b: Float[N]) -> Float[*B, N]",
        "layer_norm(x, [N], a, b)",
        (drawn(2, 6, 5), drawn(5), drawn(5)),
        {"normalized_shape": [5]},
    ),
    "cumsum": ("(x: Float[A, B, C]) -> Float[A, B, C]", "cumsum(x, 1)", (drawn(2, 6, 5),), {"dim": 1}),
    "glu": ("(x: Float[*A, M]) -> Float[*A, N]\n    where N = M // 2", "glu(x)", (drawn(3, 6),), {}),
    "cross_entropy": ("(x: Float[B, N], t: Int[B]) -> Float", "cross_entropy(x, t)", (drawn(4, 6), PLACES), {}),
    "max_pool2d": (
        "(x: Float[*B, H, W]) -> Float[*B, P, Q]\n    where P = H // 2\n    where Q = W // 2",
        "max_pool2d(x, 2)",
        (drawn(3, 6, 8),),
        {"kernel_size": 2},
    ),
    "median_all": ("(x: Float[A, B]) -> Float[]", "median_all(x)", (drawn(3, 4),), {}),
    "eigvalsh": ("(x: Float[N, N]) -> Float[N]", "eigvalsh(x)", (SYMMETRIC,), {}),
    "prelu_one": ("(x: Float, w: Float[]) -> Float", "prelu_one(x, w)", (drawn(3, 4), np.float32(0.3)), {}),
    "softmax": ("(x: Float) -> Float", "softmax(x, -1)", (drawn(3, 4),), {"dim": -1}),
    "batch_norm": (
        "(x: Float[N, C, L], m: Float[C], v: Float[C]) -> Float[N, C, L]",
        "batch_norm(x, m, v, training=true)",
        (drawn(3, 2, 4), drawn(2), np.ones(2, np.float32)),
        {"training": True},
    ),
    "index_select": (
        "(x: Float[B, N], i: Int[M]) -> Float[B, M]",
        "index_select(x, -1, i)",
        (drawn(3, 6), PLACES),
        {"dim": -1},
    ),
}


def library(name: str, tensors: tuple, options: dict, on: str):
    """A call of the op itself, its arguments by name; and the gradients of its tensors, in order."""
    f = workbench.op(name, on=on)
    given = [p.name for p in f.op.params if p.kind == "tensor"][: len(tensors)]
    named = dict(zip(given, tensors)) | options
    slopes = f.grad(**named)
    return np.asarray(f(**named)), [slopes[n] for n in given if n in slopes]


@pytest.mark.parametrize("on", ["numpy", "gpu", "wasm"])
@pytest.mark.parametrize("name", CASES)
def test_a_call_means_what_the_op_means(name, on):
    head, call, tensors, options = CASES[name]
    f = workbench.op(f"op caller{head}\n    out = {call}\n", on=on)
    value, slopes = library(name, tensors, options, on)
    np.testing.assert_allclose(f(*tensors), value, rtol=2e-5, atol=2e-6)
    found = list(f.grad(*tensors).values())
    assert len(found) == len(slopes) > 0
    for got, want in zip(found, slopes):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_what_is_called_goes_on_in_index_notation():
    """The result is a tensor like any other, also in the second derivative."""
    f = workbench.op(
        "op caller(x: Float[B, N], t: Int[B]) -> Float[B]\n"
        '    losses = cross_entropy(x, t, reduction="none")\n    out[b] = losses[b] * x[b, 0]\n',
        on="numpy",
    )
    x = drawn(4, 6).astype(np.float64)
    log = x - x.max(1, keepdims=True)
    log = log - np.log(np.exp(log).sum(1, keepdims=True))
    np.testing.assert_allclose(f(x, PLACES), -log[np.arange(4), PLACES] * x[:, 0], rtol=1e-6)
    assert f.check()


@pytest.mark.parametrize(
    "text, message, label",
    [
        ("(x: Float[N, M], k: int) -> Float[N, M]\n    out = cumsum(x, k)", "`cumsum` cannot", "`dim` chooses an axis"),
        ("(x: Float[*B, N]) -> Float[*B, N]\n    out = cumsum(x, 0)", "`x` does not fit", "it has no single axis 0"),
        (
            "(x: Float[*B, N], k: int) -> Float[*B, N]\n    out = layer_norm(x, k)",
            "`layer_norm` cannot",
            "write it out",
        ),
        ("(x: Float[*A]) -> Float[]\n    out = median_all(x)", "`median_all` cannot", "give `x` its axes"),
        ("(x: Float) -> Float\n    out = 1 + var_mean_all(x, true)", "`var_mean_all` cannot", "several results"),
        (
            "(x: Float) -> Float\n    a, b, c = frexp(x)\n    out = a",
            "`frexp` has 2 results, not 3",
            "mantissa, exponent",
        ),
        (
            "(x: Float[N, C, S], mut m: Float[C]) -> Float[N, C, S]\n    out, m = batch_norm(x, m, m)",
            "`batch_norm` has 1 result, not 2",
            "changes  running_mean, running_var",
        ),
        (
            '(x: Float, y: Float, how: "mean" | "sum" | "none") -> Float\n    out = mse_loss(x, y, reduction=how)',
            "an option decides which axes this has",
            "only a result can have more axes or fewer",
        ),
        (
            "(x: Float[N, M], y: Float[N, K]) -> Float[N, M]\n    out = scaled_dot_product_attention(x, y, y)",
            "is two different sizes here",
            "",
        ),
    ],
)
def test_calls_that_cannot_be_say_why(text, message, label):
    (found,) = compiled(f"op caller{text}\n", "own")["errors"][:1]
    assert message in found["message"] and label in found["label"], found


# Calls within formulas, and the same definition with a line for each part.
NESTED = {
    "of rows, in a whole-tensor formula": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, C, P]\n    where P = L - K + 1",
        "out = relu(conv1d(x, w)) + 1",
        "y = conv1d(x, w)\n    out[n, c, p] = max(y[n, c, p], 0) + 1",
    ),
    "of rows, its argument a formula": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, C, L]",
        "out = cumsum(2 * x, dim=2)",
        "y[n, c, l] = 2 * x[n, c, l]\n    out = cumsum(y, 2)",
    ),
    "of rows in rows": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, C, P]\n    where P = L - K + 1",
        "out = conv1d(cumsum(relu(x), 1), w)",
        "y[n, c, l] = max(x[n, c, l], 0)\n    z = cumsum(y, 1)\n    out = conv1d(z, w)",
    ),
    "of rows, an element": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, C]",
        "out[n, c] = x[n, c, 0] * conv1d(x, w)[n, c, 0]",
        "y = conv1d(x, w)\n    out[n, c] = x[n, c, 0] * y[n, c, 0]",
    ),
    "of whole tensors, an element": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, C]",
        "out[n, c] = softmax(x, 2)[n, c, 0]",
        "y = softmax(x, 2)\n    out[n, c] = y[n, c, 0]",
    ),
    "element by element": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, C]",
        "out[n, c] = x[n, c, 0] + relu6(3 * x[n, c, 0] + w[c, 0, 0])",
        "out[n, c] = x[n, c, 0] + min(max(3 * x[n, c, 0] + w[c, 0, 0], 0), 6)",
    ),
    "element by element, with two of them": (
        "(x: Float[N, C, L], w: Float[C, C, K]) -> Float[N, L]",
        "out[n, l] = sum[c] logaddexp(x[n, c, l], w[c, 0, 0])",
        "out[n, l] = sum[c] log(exp(x[n, c, l]) + exp(w[c, 0, 0]))",
    ),
    "under a reduction": (
        "(x: Float[N, *B], w: Float[C, C, K]) -> Float[*B]",
        "out[*b] = sum[n] relu(silu(x[n, *b]) - 0.1)",
        "out[*b] = sum[n] max(x[n, *b] / (1 + exp(-x[n, *b])) - 0.1, 0)",
    ),
}


@pytest.mark.parametrize("on", ["numpy", "gpu", "wasm"])
@pytest.mark.parametrize("case", NESTED)
def test_a_call_within_a_formula_is_one_in_a_line_of_its_own(case, on):
    head, nested, apart = NESTED[case]
    x, w = drawn(2, 3, 6), drawn(3, 3, 2)
    one, other = (workbench.op(f"op caller{head}\n    {body}\n", on=on) for body in (nested, apart))
    np.testing.assert_allclose(one(x, w), other(x, w), rtol=2e-5, atol=2e-6)
    found, wanted = one.grad(x, w), other.grad(x, w)
    assert found.keys() == wanted.keys()
    for name, slope in found.items():
        np.testing.assert_allclose(slope, wanted[name], rtol=1e-4, atol=1e-5)


def test_what_an_op_says_of_its_gradient_holds_for_its_elements():
    """relu's slope at 0 is 0, which no formula of it says."""
    f = workbench.op("op caller(x: Float[N]) -> Float[N]\n    out[n] = 3 * relu(x[n])\n", on="numpy")
    assert f.grad(np.array([-1.0, 0, 2]))["x"].tolist() == [0, 0, 3]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("out[n, m] = softmax(x[n, m], 0)", "needs more than one of its argument"),
        ("out[n, m] = 1 + cumsum(x, 1)", r"help: say which element:  cumsum\(...\)\[...\]"),
        ("out[n, m] = sum[k in 1 .. M] relu(x[n, k])", "`k` does not begin at 0"),
        ("out[n, m] = sort(x, 1)[n, m]", "it has several results:  values, indices = sort"),
        ("out = cumsum(x, 1)[1:]", "unexpected"),
    ],
)
def test_a_call_that_cannot_stand_within_a_formula_is_told_why(body, why):
    with pytest.raises(workbench.DefinitionError, match=why):
        workbench.op(f"op caller(x: Float[N, M]) -> Float[N, M]\n    {body}\n", on="numpy")


def test_a_result_that_is_longer_than_what_is_called_answers_is_told():
    with pytest.raises(workbench.DefinitionError, match="`out` can be longer than what is assigned to it"):
        workbench.op(
            "op caller(x: Float[C, L], w: Float[C, C, K]) -> Float[C, P]\n    where P = L - K + 2\n"
            "    out = 2 * conv1d(x, w)\n"
        )


@pytest.mark.parametrize("pack", ["", "*B, "])
@pytest.mark.parametrize("wanted", [1, 2])
@pytest.mark.parametrize("given", range(1, 5))
def test_a_tensor_has_as_many_axes_as_the_op_that_is_called_takes(pack, wanted, given):
    """At least as many where it takes a pack."""
    axes, own = ([f"{letter}{n}" for n in range(many)] for letter, many in (("N", wanted), ("K", given)))
    taken = pack.lower() + ", ".join(axes).lower()
    names, places = ", ".join(own), ", ".join(own).lower()
    text = (
        f"op ends(x: Float[{pack}{', '.join(axes)}]) -> (low: Float[{pack}{', '.join(axes)}], high: Float[])\n"
        f"    low[{taken}] = x[{taken}] + 1\n    high = 2\n"
        f"op caller(x: Float[{names}]) -> Float[{names}]\n    p = ends(x)\n    out[{places}] = p.low[{places}]\n"
    )
    found = [e["message"] for e in compiled(text, "own").get("errors", [])]
    fits = given >= wanted if pack else given == wanted
    assert found[:1] == ([] if fits else ["`x` does not fit `x` of `ends`"]), found


def test_a_divided_axis_must_divide():
    f = workbench.op("op caller(x: Float[N, C, L]) -> Float[N, C, L]\n    out = group_norm(x, 4)\n", on="numpy")
    with pytest.raises(OpError, match="x: 6 cannot be divided by 4"):
        f(drawn(2, 6, 3))


def called_with(text: str, *tensors):
    return workbench.op(f"op caller{text}\n", on="numpy")(*tensors)


def test_of_several_results_one_name_stands_for_all_or_each_has_its_own():
    x = drawn(4, 5)
    want = (x - x.mean(1, keepdims=True)) / x.var(1, ddof=1, keepdims=True)
    head = "(x: Float, dim: dim = -1) -> Float\n    "
    for body in (
        "v, m = var_mean(x, dim)\n    out = (x - m) / v",
        "s = var_mean(x, dim)\n    out = (x - s.mean) / s.var",
    ):
        np.testing.assert_allclose(called_with(head + body, x), want, rtol=2e-6)


def test_an_op_without_tensors_makes_a_tensor():
    x = drawn(2, 6)
    found = called_with(
        "(x: Float[*B, N]) -> Float[*B, N]\n    w = hann_window(N)\n    out[*b, n] = w[n] * x[*b, n]", x
    )
    np.testing.assert_allclose(found, x * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(6) / 6)), rtol=1e-6, atol=1e-7)


def test_a_call_changes_nothing_and_gives_what_would_be():
    x, m, v = drawn(3, 2, 4), np.zeros(2, np.float32), np.ones(2, np.float32)
    head = "(x: Float[N, C, L], mut m: Float[C], mut v: Float[C]) -> Float[N, C, L]\n"
    called_with(head + "    out, m, v = batch_norm(x, m, v, training=true)", x, m, v)
    np.testing.assert_allclose(m, 0.1 * x.mean((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(v, 0.9 + 0.1 * x.var((0, 2), ddof=1), rtol=1e-5)
    p, g = drawn(4), drawn(4)
    want = p - 0.5 * np.sign(g)
    f = workbench.op(
        "op caller(mut p: Float, g: Float, *, lr: real)\n    p = sgd_step(p, sign(g), lr=lr)\n", on="numpy"
    )
    f(p, g, lr=0.5)
    np.testing.assert_allclose(p, want)


def test_random_numbers_of_two_calls_are_others():
    f = workbench.op("op caller(x: Float[N, C, S]) -> Float[N, C, S]\n    out = feature_dropout(x)\n", on="numpy")
    kept = f(np.ones((8, 64, 3), np.float32))
    assert set(np.unique(kept)) == {0, 2} and (kept == kept[..., :1]).all()
    twice = workbench.op(
        "op caller(x: Float[N, C, S]) -> Float[N, C, S]\n    a = feature_dropout(x)\n    b = feature_dropout(x)\n"
        "    out[n, c, s] = a[n, c, s] - b[n, c, s]\n",
        on="numpy",
    )
    assert set(np.unique(twice(np.ones((8, 64, 1), np.float32)))) == {-2, 0, 2}
