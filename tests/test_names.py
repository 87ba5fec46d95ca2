"""Names: the library is clean, correct definitions of every form pass, and errors do not pile up."""

from pathlib import Path

import pytest
from front import errors_of

from dsl.checking.names import check_library
from dsl.checking.scope import Vocabulary
from dsl.text.parse import parse_file, parse_text
from dsl.text.vocabulary import axes_of, expanded

ROOT = Path(__file__).resolve().parent.parent


def messages(text: str) -> list[str]:
    return [f"{e.code}: {e.message}" for e in errors_of(text)]


def test_the_library_has_no_mistakes():
    files = [parse_file(f) for f in sorted((ROOT / "ops").glob("*.op"))]
    assert len(files) > 10
    assert [e for _, errors, _ in files for e in errors] + check_library(
        [(items, source) for items, _, source in files]
    ) == []


@pytest.mark.parametrize(
    "text",
    [
        "op f(input: Num, *, alpha: num = 1) = alpha * input\n",
        "op f(input: Num[*B, N]) -> Num[*B]\n    out[*b] = sum[i if i > 0] input[*b, i]\n",
        "op f(input: Num[N], index: Int[M]) -> Num[N]\n    out[i] = input[i]\n    out[index[j]] += input[index[j]]\n",
        "op f(input: Num[M, N]) -> Num[]\n    s[i] = sum[j] input[i, j]\n    out[] = sum[i] s[i]\n",
        "op f(input: Num[N]) -> Num[N, 2]\n    out[i, 0] = input[i]\n    out[i, 1] = -input[i]\n",
        "op f(input: Num[N], weight: Num[N]?) -> Num[N]\n    mu = mean(input)\n    out[i] = (input[i] - mu) * (weight[i] ?? 1)\n",
        "op f(input: Num) -> (low: Num, high: Num)\n    low = min(input)\n    high = max(input)\n    grad input = g.low + g.high\n",
        "op f(input: Float, dim: dims = all) -> Float\n    m = max[dim] input\n    out = sum[dim] exp(input - m)\n    test f([1.0], dim=[0]) ~= 1\n",
        "op f(input: Num[N, N]) -> Num[N]\n    out[i] = input[i, i] + N - 1 - i\n",
        "op f(mut state: Float[C], input: Float[C]) -> Float[C]\n    state[c] = state[c] + input[c]\n    out[c] = input[c]\n",
        "op f(input: Num[*A, N@dim, *B], dim: dim) -> Num[*A, 1 if true, *B]\n    out[*a, 0, *b] = sum[i] input[*a, i, *b]\n",
        'op f(input: Num, mode: "a" | "b" = "a", other: "a" | "b" = "b") = input if mode == other and mode != "b" else 0\n',
        "def reflect(i, n) = n - 1 - abs(n - 1 - abs(i))\n\nop f{D}d(input: Num[*X:D], before: ints[*X]) -> Num[*X]\n    for D in 1, 2\n    out[*i] = input[*reflect(i - before, X)] ?? 0\n    test f1d([1], [0]) == [1]\n",
        "op f(input: Num[N]) -> (values: Num[N], indices: Int[N])\n    launch fill over i < N:\n        values[i], indices[i] = input[i], i\n    grad input[indices[i]] += g.values[i]\n",
        "op g(input: Num) = input\n    grad input = g\n",
    ],
)
def test_correct_definitions_pass(text):
    assert messages(text) == []


def test_errors_do_not_pile_up():
    assert messages("op f(input: Float, beta: real) = bta * input + bta\n") == [
        "name: unknown name `bta`"
    ]  # nor is beta unused
    assert messages("op f(input: Num[M]) -> Num\n    out[i] = inptu[i] + inptu[i, i]\n") == [
        "name: unknown tensor `inptu`"
    ]
    assert messages("op f(x: Num[M, K]) -> Num[M]\n    out[m] = x[m, k] + x[k, m]\n") == [
        "index: `k` is used on the right but never bound"
    ]


def test_definitions_of_other_files_are_known():
    a, b = (
        parse_text("op twice(input: Num) = 2 * input\n", "a.op"),
        parse_text("op four(input: Num) = twice(twice(input))\n\nop twice(input: Num) = input\n", "b.op"),
    )
    errors = check_library([(a[0], a[2]), (b[0], b[2])])
    assert [(e.path, e.message, e.help) for e in errors] == [
        ("b.op", "`twice` is defined twice", ("the first is in a.op, line 1",))
    ]


def test_members_of_a_family():
    items = parse_text("op conv{D}d_same(input: Num) = input\n    for D in 1, 3\n")[0]
    assert expanded(items[0]) == ["conv1d_same", "conv3d_same"] and set(Vocabulary.of(items).ops) == {
        "conv1d_same",
        "conv3d_same",
    }


def test_axes_as_they_are_indexed():
    (op,), errors, _ = parse_text(
        "op f(input: Num[*A, (2 N)@dim, 3, M + 1 if flag, *X:D], dim: dim, flag: bool) = input\n    for D in 1\n"
    )
    assert axes_of(op.params[0].type.dims) == ("*A", "2", "N", "3", "an axis", "*X") and axes_of(None) is None
