"""Definitions become the loop programs that they mean; mistakes in them become errors; broken programs are noticed."""

import pytest
from definitions import LIBRARY

from dsl.ir.builders import FALSE, TRUE, conj, integer, sym
from dsl.ir.conditions import either, exclusive, narrowed
from dsl.ir.expression import Binary, Unary, show
from dsl.ir.program import Dim
from dsl.ir.verify import verify
from dsl.library import load_text
from dsl.lowering.types import symbol_kinds
from dsl.opdef import OpDef

PRINTED = [
    "adam_step",
    "adaptive_avg_pool1d",
    "clamp",
    "conv2d",
    "conv_transpose1d",
    "cross_entropy",
    "embedding",
    "gather",
    "layer_norm",
    "logit",
    "matmul_mm",
    "max",
    "mse_loss",
    "norm",
    "pad1d",
    "scaled_dot_product_attention",
    "scatter_add",
    "softmax",
    "std",
]


def op(text: str) -> OpDef:
    """The last op of a text that has no mistakes."""
    made, errors, _ = load_text(text)
    assert errors == []
    return list(made.ops.values())[-1]


def program(text: str) -> list[str]:
    return repr(op(text).forward).split("\n")


@pytest.mark.parametrize("condition", ["same(x, y)", "rank(x) > 1", "numel(y) > 3", "flag", "max(x) > 1"])
def test_what_a_call_decides_chooses_a_statement(condition):
    """Each case of a formula on whole tensors is a statement of its own, unless elements decide; each is computed by
    itself then."""
    option = ", *, flag: bool = false" if condition == "flag" else ""
    text = f"op f(x: Float[*A], y: Float[*A]{option}) -> Float[*A]\n    out = x * y if {condition} else x"
    stores = [line for line in program(text) if line.startswith("out")]
    assert [" when " in line for line in stores] == ([False] if "max" in condition else [True, True]), stores


# --- The print of a dozen ops ----------------------------------------------------------------------


def dim(d: Dim) -> str:
    match d.kind:
        case "pack":
            s = "*" + d.name
        case "domain":
            s = f"domain {d.part}" + (f" by {d.option}" if d.option else "")
        case _:
            s = f"({' '.join(map(show, d.factors))})" if d.factors else show(d.size)
    if d.kind == "chosen":
        s += f"@{d.option}"
    return s + "..." * d.broadcast + (f" if {show(d.when)}" if d.when is not None else "")


def printed(o: OpDef) -> str:
    lines = [f"{o.name}  promote {o.promote}: {', '.join(o.promoted)}"]
    for t in o.tensors.values():
        flags = "".join(w for w, there in ((" optional", t.optional), (" mut", t.mut)) if there)
        lines.append(f"    {t.role} {t.name}: {t.dtype}[{', '.join(map(dim, t.dims))}]{flags}")
    lines += [f"    where {n} = {show(e)}" for n, e in o.sizes]
    lines += [f"    require {show(r.holds)}: {r.message} {', '.join(map(show, r.values))}".rstrip() for r in o.requires]
    if o.drop:
        lines.append(f"    drop {o.drop} {o.keepdim}".rstrip())
    lines.append(repr(o.forward))
    for name, stmts in o.grads.items():
        lines += [f"grad {name}", *map(repr, stmts)]
    for own in o.owned:
        lines += [f"called: {', '.join(own.results)}", *map(repr, own.stmts)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", PRINTED)
def test_program_of(name, golden):
    golden(f"golden/ir/{name}.ir", printed(LIBRARY.ops[name]))


def test_every_op_of_the_library_is_sound():
    assert len(LIBRARY.ops) > 200
    for o in LIBRARY.ops.values():
        verify(o.forward, "lower", o)


# --- Types -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, kind, promoted",
    [
        ("add", "default", ["input", "other"]),
        ("div", "float", ["input", "other"]),
        ("sum", "sum", ["input"]),
        ("mean", "float", ["input"]),
        ("where", "default", ["input", "other"]),
        ("copy", "default", ["input"]),
        ("eq", "default", ["input", "other"]),
        ("cumsum", "sum", ["input"]),
        ("embedding", "default", ["weight"]),
        ("gather", "default", ["input"]),
        ("bitwise_and", "default", ["input", "other"]),
        ("one_hot", "default", ["input"]),
        ("scatter_add", "default", ["input", "src"]),
    ],
)
def test_promotion(name, kind, promoted):
    assert (LIBRARY.ops[name].promote, LIBRARY.ops[name].promoted) == (kind, promoted)


@pytest.mark.parametrize(
    "name, tensor, dtype",
    [
        ("eq", "out", "bool"),
        ("argmax", "out", "int"),
        ("max", "indices", "int"),
        ("max", "values", "T"),
        ("gather", "index", "own"),
        ("where", "condition", "bool"),
        ("isclose", "near", "bool"),
        ("nanmean", "count", "int"),
        ("bitwise_and", "input", "T"),
        ("one_hot", "out", "int"),
        ("count_nonzero", "out", "int"),
    ],
)
def test_dtypes(name, tensor, dtype):
    assert LIBRARY.ops[name].tensors[tensor].dtype == dtype


# --- What becomes of notation ----------------------------------------------------------------------


def test_packs_of_fixed_rank_become_components():
    o = op("""op f{D}d(x: Num[N, *X:D], stride: ints[*X] = 1) -> Num[N, *Y]
    for D in 1, 2
    where *Y = X // stride
    require stride > 0, "stride must be positive, got {stride} of {D}"
    out[n, *y] = x[n, *(y*stride)]
""")
    assert o.name == "f2d" and repr(o.forward) == "out[n, y0, y1] = x[n, y0 * stride0, y1 * stride1]"
    assert [(n, show(e)) for n, e in o.sizes] == [("Y0", "X0 // stride0"), ("Y1", "X1 // stride1")]
    assert [(r.message, r.values) for r in o.requires] == [
        ("stride must be positive, got {0} of 2", (sym(f"stride{j}"),)) for j in (0, 1)
    ]
    assert o.params[1].rank == 2 and show(o.params[1].default) == "1"


def test_a_mean_divides_by_the_number_of_points():
    assert (
        program("op f(x: Float[*B, N, *S]) -> Float[*B]\n    out[*b] = mean[n, *s] x[*b, n, *s]\n")[1]
        == "out[*b] = t0_[*b] / (N * count_S)"
    )
    assert program("op f(x: Float) -> Float = mean(x)\n")[1] == "out[] = t0_[] / count_I"
    assert (
        program("op f(x: Float, dim: dim) -> Float drop dim\n    out = mean[dim] x\n")[1]
        == "out[*kept] = t0_[*kept] / count_dropped"
    )


def test_a_range_that_does_not_start_at_zero_is_shifted():
    text = (
        'op f(x: Num[N], a: int) -> Num[]\n    require a >= 0 and a <= N, "a"\n    out[] = sum[k in a .. N] x[k] * k\n'
    )
    assert program(text) == ["out[] = sum[k < N - a] x[k + a] * (k + a)"]


def test_conditions_on_options_make_alternatives():
    assert program(
        'op f(x: Float, *, mode: "a" | "b" | "c" = "a") -> Float\n'
        '    out = x if mode == "b" else sum(x) if mode == "c" else sum(x) / 2\n'
    ) == [
        "out[*i] = x[*i]   when mode == 1",
        "out[] = sum[*i < I] x[*i]   when mode == 2",
        "t0_[] = sum[*i < I] x[*i]   when mode == 0",
        "out[] = t0_[] / 2   when mode == 0",
    ]


def test_the_axes_of_a_result_that_only_some_alternatives_have_are_conditional():
    (d,) = LIBRARY.ops["mse_loss"].tensors["out"].dims
    assert d.kind == "domain" and show(d.when) == "reduction == 2"


def test_a_condition_on_random_numbers_is_no_alternative():
    assert [show(s.when) if s.when is not None else None for s in LIBRARY.ops["dropout"].forward.stmts] == [
        "training",
        "not training",
    ]


def test_what_may_be_absent():
    assert "min[*i] if has_min else input[*i]" in repr(LIBRARY.ops["clamp"].forward)
    assert program("op f(x: Num[N], b: Num[N]?, s: num?) -> Num[N]\n    out[i] = x[i] * (b[i] ?? 1) + (s ?? 0)\n") == [
        "out[i] = x[i] * (b[i] if has_b else 1) + (s if has_s else 0)"
    ]
    step = [repr(s) for s in LIBRARY.ops["sgd_step"].forward.stmts]
    assert all("has_momentum_buffer" in s for s in step if s.startswith("momentum_buffer"))


def test_fallbacks_stay_with_the_access():
    assert program("op f(x: Num[N], y: Num[M]) -> Num[N + M]\n    out[i] = x[i] ?? (y[i - N])\n") == [
        "out[i] = (x[i] ?? y[i - N])"
    ]


def test_an_index_may_leave_an_access_with_a_fallback():
    assert program("op f(x: Num[N], y: Num[M]) -> Num[M]\n    out[i] = (x[i] ?? 0) + y[i]\n") == [
        "out[i] = (x[i] ?? 0) + y[i]"
    ]


def test_reductions_inside_formulas_get_temporaries_over_what_they_depend_on():
    assert program(
        "op f(x: Num[N, M], y: Num[M]) -> Num[N, M]\n    out[i, j] = x[i, j] * (sum[k] x[i, k] * y[k])\n"
    ) == ["t0_[i] = sum[k < M] x[i, k] * y[k]", "out[i, j] = x[i, j] * t0_[i]"]


def test_a_reduction_of_reduced_values():
    text = "op f(x: Float, dim: dim) -> Float\n    out = x - sum(max[dim] x)\n    grad x = sum(g)\n"
    assert program(text) == [
        "t0_[*kept] = max[*dropped < dropped] x[*kept, *dropped]",
        "t1_[] = sum[*kept < kept] t0_[*kept]",
        "out[*kept, *dropped] = x[*kept, *dropped] - t1_[]",
    ]
    assert [repr(s) for s in op(text).grads["x"]] == [
        "t2_[] = sum[*kept < kept, *dropped < dropped] g_out[*kept, *dropped]",
        "d_x[*kept, *dropped] = t2_[]",
    ]


def test_a_filter_over_a_pack_holds_for_every_component():
    assert program("op f{D}(x: Num[*X:D]) -> Num[*X]\n    for D in 1, 2\n    out[*i] = sum[*j if j <= i] x[*j]\n") == [
        "out[i0, i1] = sum[j0 < X0, j1 < X1 if j0 <= i0 and j1 <= i1] x[j0, j1]"
    ]


def test_formulas_with_names_and_products_over_components():
    assert program(
        "def hat(d) = max(1 - abs(d), 0)\n\nop f{D}(x: Num[*X:D]) -> Num[*X]\n    for D in 1, 2\n    out[*i] = x[*i] * product(hat(i - X))\n"
    ) == ["out[i0, i1] = x[i0, i1] * (max(1 - abs(i0 - X0), 0) * max(1 - abs(i1 - X1), 0))"]


def test_data_dependent_targets_loop_over_every_index():
    first, second = LIBRARY.ops["scatter_add"].forward.stmts
    assert (first.mode, second.mode) == ("=", "+=") and {v.name for v in second.loops} == {"p", "j", "q"}


def test_results_that_read_no_tensor_have_the_axes_of_the_arguments():
    for name in ("filled", "rand_like"):
        assert LIBRARY.ops[name].tensors["out"].dims == (Dim("domain", "I"),)


def test_gradients_of_what_may_have_been_broadcast_spread():
    assert all(s.spread for s in LIBRARY.ops["clamp"].grads["min"])
    assert all(s.spread for s in LIBRARY.ops["cdist"].grads["x1"] if s.target == "d_x1")
    assert not any(s.spread for s in LIBRARY.ops["embedding"].grads["weight"])


def test_an_option_may_be_called_nan():
    assert "nan_ if isnan(input[*i])" in repr(LIBRARY.ops["nan_to_num"].forward)


def test_pointwise():
    assert [
        LIBRARY.ops[n].pointwise for n in ("add", "where", "gelu", "softmax", "matmul_mm", "mse_loss", "adam_step")
    ] == [True] * 3 + [False] * 4


# --- Calls of other ops ----------------------------------------------------------------------------

GELU = (
    "op soft(x: Float, dim: dim) -> Float\n    e = exp(x - max[dim] x)\n    out = e / sum[dim] e\n\n"
    'op act(x: Float, low: num?, *, mode: "a" | "b" = "a") -> Float\n    out = max(x, low ?? 0) if mode == "a" else x * 2\n\n'
)


def test_a_call_is_put_in_place_with_its_options_decided():
    assert program(GELU + "op f(x: Float) -> Float = act(-x)\n")[1] == "act1_out[*i] = max(act1_x[*i], 0)"
    assert program(GELU + 'op f(x: Float) -> Float = act(x, 3, mode="b") + 1\n') == [
        "act1_out[*i] = x[*i] * 2",
        "out[*i] = act1_out[*i] + 1",
    ]


def test_the_gradients_that_a_called_op_says_are_kept():
    (norm,) = LIBRARY.ops["norm"].owned
    assert (
        norm.complete
        and set(norm.targets.values()) == {"input"}
        and len(norm.stmts) > 3
        and "p == 0" in repr(norm.stmts[0])
    )
    (softmin,) = LIBRARY.ops["softmin"].owned
    assert list(softmin.targets.values()) == ["softmax1_input"] and softmin.results == ("softmax1_out",)


def test_a_constant_axis_falls_on_the_axes_of_the_operand():
    stmts = program(
        GELU + "op f(x: Float[*B, N, M]) -> Float[*B, N, M]\n    y[*b, n, m] = x[*b, n, m] * 2\n    out = soft(y, -2)\n"
    )
    assert stmts[1] == "t0_[*b, m] = max[n < N] y[*b, n, m]"


# --- Mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, code, at",
    [
        ("op f(x: Num[N]) -> Num[]\n    out[] = sum[i < N, j in 0 .. i] x[j]\n", "range", "i"),
        ("op f(x: Num, d1: dim, d2: dim) -> Num\n    out = (sum[d1] x) + (sum[d2] x)\n", "option", "d2"),
        ("op f(x: Num[N]) -> Num[]\n    out[] = mean[k if k > 0] x[k]\n", "type", "k > 0"),
        (GELU + "op f(x: Float) -> Float = soft(x, -1) + soft(x, 0)\n", "rank", None),
        ("op f(x: Num[N, M]) -> Num[N]\n    out[i] = x[i]\n", "rank", "x[i]"),
        ("op f(x: Num[N]) -> Num[M]\n    where M = N // 2\n    out[i] = sum[k] x[2*i + k]\n", "range", "k"),
        ("op f(q: Num[L, E], k: Num[S, E]) -> Num[L, S]\n    out[i, j] = sum[e] q[i, e] * k[e, j]\n", "size", None),
        ("op f(x: Num[*B]) -> Num[*B]\n    out[*b] = x[*(b + 1)]\n", "index", "*(b + 1)"),
        ('op f(x: Num, *, mode: "a" | "b" = "a") -> Num = x if mode == "c" else 2 * x\n', "option", '"c"'),
        ("op g(x: Num[N]) -> Num[N]\n    out[i] = x[i]\n\nop f(x: Num) -> Num = g(x)\n", "rank", "x"),
        ("op f(x: Num[N]) -> Num[N]\n    out[i] = x[i] + (1 ?? 2)\n", None, None),
    ],
)
def test_mistakes(text, code, at):
    made, errors, (source,) = load_text(text)
    assert errors and "f" not in made.ops
    if code:
        assert errors[0].code == code
    if at:
        assert source.text[errors[0].span[0] : errors[0].span[1]] == at


def test_several_mistakes_of_one_op_are_reported_together():
    _, errors, _ = load_text("op f(x: Num[N, M]) -> Num[N]\n    a[i] = x[i]\n    out[i] = x[i, i, i]\n")
    assert [e.code for e in errors].count("rank") == 2


# --- Conditions ------------------------------------------------------------------------------------


def c(n):
    return Binary("==", sym("p"), integer(n))


def no(e):
    return Unary("not", e)


def test_conditions_say_what_does_not_follow_from_the_rest():
    assert narrowed(conj(no(c(1)), c(2))) == c(2)
    assert (
        narrowed(conj(no(c(2)), c(2))) == FALSE and narrowed(conj(c(1), c(2))) == FALSE and narrowed(no(TRUE)) == FALSE
    )
    assert narrowed(conj(no(c(0)), no(c(1)))) == conj(no(c(0)), no(c(1)))
    assert narrowed(conj(no(c(0)), no(c(1))), {"p": 3}) == c(2)
    assert narrowed(no(FALSE)) is None
    assert exclusive(c(1), conj(sym("q"), c(2))) and exclusive(sym("q"), no(sym("q"))) and not exclusive(sym("q"), c(1))


def test_one_of_several_conditions():
    q, r = sym("q"), sym("r")
    assert either([q, conj(q, r)]) == q and either([q, no(q)]) is None and either([q, None]) is None
    assert either([c(0), c(1)], {"p": 2}) is None and either([c(0), c(1)], {"p": 3}) == Binary("or", c(0), c(1))
    assert either([q, r, q]) == Binary("or", q, r)


# --- Verification ----------------------------------------------------------------------------------


# --- Symbols ---------------------------------------------------------------------------------------


def test_sizes_that_need_not_be_whole_are_real():
    o = op(
        "op f(x: Num[N], s: real, n: int = 2, *, flag: bool = false) -> Num[M]\n"
        "    where M = floor(N * s)\n    where step = 1 / s if flag else N / M\n    where half = 0 if flag else 0.5\n    where k = N // n + max(n, 1)\n"
        "    out[i] = x[min(floor(i * step + half), N - 1)] * k\n"
    )
    assert symbol_kinds(o) == {"s": "real", "n": "int", "flag": "bool", "step": "real", "half": "real"}
