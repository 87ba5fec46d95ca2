"""Parsing: the tree that each construct gives, printing and parsing again, one error for one item."""

import time
from pathlib import Path
from pprint import pformat

import pytest

from dsl.text.parse import parse_file, parse_text
from dsl.text.show import show
from dsl.text.syntax import Def, Op, Schedule, X

ROOT = Path(__file__).resolve().parent.parent
OPS = sorted((ROOT / "ops").glob("*.op"))

# One definition for each construct; their trees are in tests/golden/tree/.
CONSTRUCTS = {
    "one_line": "op add(input: Num, other: Num, *, alpha: num = 1) = input + alpha * other\n",
    "whole": "op softmax(input: Float, dim: dim) -> Float\n    e = exp(input - max[dim] input)\n    out = e / sum[dim] e\n    grad input = out * (g - sum[dim] g * out)\n",
    "indexed": "op mm(input: Num[M, K], other: Num[K, N]) -> Num[M, N]\n    out[m, n] = sum[k] input[m, k] * other[k, n]\n",
    "family": (
        "op pool{D}d(input: Num[*B, *X:D], kernel: ints[*X], stride: ints[*X] = kernel) -> Num[*B, *Y]\n    for D in 1, 2\n"
        "    where *Y = (X - kernel) // stride + 1\n    as torch.pool{D}d, torch.nn.functional.pool{D}d\n"
        '    require stride > 0, "stride must be positive, got {stride}"\n    out[*b, *y] = max[*k < kernel] input[*b, *(y*stride + k)] ?? -inf\n'
    ),
    "split_and_chosen": "op glu(input: Float[*A, (2 N)@dim, *B], dim: dim = -1) -> Float[*A, N, *B]\n    out[*a, i, *b] = input[*a, 0, i, *b] / (1 + exp(-input[*a, 1, i, *b]))\n",
    "optional_dims": "op top(input: Num[*A, K@dim, *B], dim: dim, keepdim: bool = false) -> (values: Num[*A, 1 if keepdim, *B], indices: Int[*A, 1 if keepdim, *B])\n    values[*a, 0, *b] = max[k] input[*a, k, *b]\n    indices[*a, 0, *b] = argmax[k] input[*a, k, *b]\n",
    "drop": "op total(input: Any, dim: dims = all, keepdim: bool = false) -> Num drop dim unless keepdim = sum[dim] input\n",
    "like": "op scale(input: Float[N], weight: Float[N]?) -> (out: Float[N] like input, total: Float)\n    out[n] = input[n] * (weight[n] ?? 1)\n    total = sum(input)\n",
    "choices": 'op resize(input: Num, mode: "nearest" = "nearest", reduction: "mean" | "sum" | "none" = "mean", low: num?, dim: dims?) = input if mode == "nearest" else low ?? 0\n',
    "null_alone": "op plain(input: Float, way: none) = input\n",
    "scatter": "op spread(input: Num[N], index: Int[M], src: Num[M]) -> Num[N]\n    out[i] = input[i]\n    out[index[j]] += src[j]\n    out[index[j]] max= src[j]\n    out[index[j]] min= src[j]\n",
    "reductions": "op scan(input: Num[N]) -> Num[N]\n    out[i] = sum[j if j <= i] input[j] + sum[k in i .. N] input[k] - max[l < 3, *m] -sum[o] input[o] * input[l]\n",
    "operators": "op all_of_them(a: Int, b: Int) = not a == b and a < b <= 3 or (a if b else -a ** -2 % 3 // 4 / 5 & ~b | a ^ b << 1 >> 2) != 1e-5 + 0x1F\n",
    "nograd": 'op sign(input: Num, other: Num) = sign(input) * other\n    nograd input\n    sample input in -1 .. 1\n    test sign([1, -2], 1) ~= [1, -1]\n    test sign(1) raises "other"\n',
    "numbers": "op plus(input: Num | num, other: Num | num) = input + other\n    numbers\n",
    "mut": "op step(mut state: Float, grad: Float?, *, lr: real)\n    foreach\n    state = state - lr * (grad ?? 0)\n",
    "steps": 'op sort(input: Num[*A, K@dim], dim: dim) -> (values: Num[*A, K], indices: Int[*A, K])\n    """Sorts "stably".\n       Slowly."""\n    scratch rest: Int[*A, K]\n    launch merge for step < K over a < numel(A), k < K groups of 64:\n        indices[a, k] = k\n    launch fill over k < K: values[0, k] = input[0, k]\n    grad input[*a, indices[*a, i]] += g.values[*a, i]\n',
    "def": "def hat(d, n) = max(1 - abs(d), 0) * n\n",
    "schedule": "schedule matmul when M >= 64 and N >= 64\n    tiled(tile=[64, 64, 16], vec=4)\n    plain()\n",
}


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_tree(name, golden):
    items, errors, _ = parse_text(CONSTRUCTS[name])
    assert errors == [] and len(items) == 1
    golden(f"golden/tree/{name}.txt", pformat(items[0], width=140) + "\n")
    assert reparsed(items[0]) == items[0]


def reparsed(item):
    items, errors, source = parse_text(show(item))
    assert errors == [], source.text
    return items[0]


@pytest.mark.parametrize("path", OPS, ids=lambda p: p.stem)
def test_print_and_reparse(path):
    items, errors, _ = parse_file(path)
    assert errors == []
    for item in items:
        assert reparsed(item) == item
        assert show(reparsed(item)) == show(item)


def test_brackets_where_they_matter():
    for formula in (
        "(a + b) * c",
        "a - (b - c)",
        "-(a + b)",
        "(-a) ** 2",
        "-a ** 2",
        "(sum[k] a[k] + b) * c",
        "(sum[k] a[k]) * b",
        "sum[k] a[k] * b",
        "(a ?? b)[i]",
        "a ?? (b + c)",
        "(a if b else c) if d else e",
        "a if b else c if d else e",
        "a if (b if c else d) else e",
        "(a < b) < c",
        "not (a and b)",
        "(not a) == b",
        "2 * -sum[k] a[k]",
        "(a * sum[k] b[k]) * c",
        "~(-a)",
        "a ** b ** c",
        "(a ** b) ** c",
    ):
        text = f"op f(a: Num) = {formula}\n"
        item = parse_text(text)[0][0]
        assert reparsed(item) == item, formula


def test_a_reducer_before_a_bracket_is_a_reduction_blank_or_not():
    assert (
        parse_text("op f(a: Num[N]) -> Num[]\n    out[] = sum [n] a[n]\n")[0]
        == parse_text("op f(a: Num[N]) -> Num[]\n    out[] = sum[n] a[n]\n")[0]
    )
    items, errors, _ = parse_text("op f(a: Num) = g([[1, 2], all [3, 4]])\n")
    assert not items and errors[0].message == "unexpected `3`"


def test_spans_point_into_the_file():
    text = "# A comment.\n\nop f(input: Num[M], other: Num[M]) -> Num[M]\n    s[m] = (input[m] + other[m]) * 2\n    out[m] = s[m]\n\ndef h(x) = x\n"
    items, errors, source = parse_text(text)
    assert errors == []
    op, function = items
    at = lambda span: text[span[0] : span[1]]
    assert at(op.name_span) == "f" and at(function.name_span) == "h" and at(function.value.span) == "x"
    assert [at(p.span) for p in op.params] == ["input: Num[M]", "other: Num[M]"]
    product = op.body[0].value
    assert (
        at(op.body[0].name_span) == "s"
        and at(product.span) == "(input[m] + other[m]) * 2"
        and at(product.args[0].args[1].span) == "other[m]"
    )
    assert source.place(op.name_span[0]) == (2, 3)


def test_one_error_costs_one_item():
    text = (
        "op a(input: Num) = input +\n\nop b(input: Num) = input\n\nop c(input: Num) = )\n\nschedule map\n    lanes()\n"
    )
    items, errors, _ = parse_text(text)
    assert [type(i) for i in items] == [Op, Schedule] and [e.code for e in errors] == ["syntax", "syntax"]


def test_line_ends_and_byte_order_mark(tmp_path):
    file = tmp_path / "x.op"
    file.write_bytes("\ufeffop f(input: Num)\r\n    y = input\r\n    out = y\r\n".encode())
    items, errors, source = parse_file(file)
    assert errors == [] and len(items[0].body) == 2 and "\r" not in source.text


def test_unreadable_files(tmp_path):
    (tmp_path / "bytes.op").write_bytes(b"op \xff\xfe")
    for path in (tmp_path / "bytes.op", tmp_path / "missing.op", tmp_path):
        items, errors, _ = parse_file(path)
        assert items == [] and [e.code for e in errors] == ["layout"]


def test_long_files_are_parsed_in_time():
    text = "".join(f"op f{i}(input: Num) = {' + '.join(['input'] * 20)}\n" for i in range(200))
    parse_text("def warm(x) = x\n")
    start = time.process_time()
    items, errors, _ = parse_text(text)
    assert len(items) == 200 and not errors and time.process_time() - start < 20


def test_defs_and_numbers():
    (d,), errors, _ = parse_text("def f() = 0x10 + 1e-5 + 2.50 + 7\n")
    assert errors == [] and isinstance(d, Def)
    numbers = []

    def walk(e: X):
        if e.kind == "num":
            numbers.append(e.val)
        for a in e.args:
            walk(a)

    walk(d.value)
    assert numbers == [16, 1e-5, 2.5, 7] and [type(n) for n in numbers] == [int, float, float, int]
