"""What an op's author has in Python: a definition as a function by numpy and on the GPU, its gradient, its kernels,
its checks, and mistakes that say where they are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16

import workbench
from buildtools import gpu
from codegen.data.errors import LinAlgError, OpError
from codegen.data.nodes import Binary, Constant
from workbench.function import device

ROOT = Path(__file__).resolve().parent.parent
RELU3 = """op relu3(input: Num) = max(input, 0) ** 3
    "The cube of what is positive."
    test relu3([2, -1]) == [8, 0]
"""
X = np.array([[-1.0, 2.0], [0.5, 3.0]], np.float32)


@pytest.fixture(scope="module")
def relu3():
    return workbench.op(RELU3)


def test_importing_loads_nothing():
    code = "import sys, dsl, workbench; print(sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'lark', 'wgpu', 'codegen')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
    with pytest.raises(AttributeError, match="foo"):
        workbench.foo


def test_an_author_has_the_gpu_of_the_build():
    """Without build.py, whose variables are for the processes that it starts."""
    clean = {name: value for name, value in os.environ.items() if name not in gpu.variables()}
    code = "from workbench.function import device; gpu = device(); print(gpu.name, '|', gpu.facts.software)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=clean, capture_output=True, text=True)
    assert done.stdout == f"{device().name} | {device().facts.software}\n", done.stderr
    assert "SwiftShader" in done.stdout or "SwiftShader" not in gpu.name()


def test_remainders_of_negatives_do_not_rely_on_the_sign_of_wgsl():
    f = workbench.op(
        "op turned(input: Float[N], n: int = 4) -> Float[N]\n    out[i] = 100 * ((i - 5) % n) + 10 * ((i - 5) % 3) + (i - 5) // 3 + 0 * input[i]\n"
    )
    x = np.zeros(9, np.float32)
    np.testing.assert_array_equal(f.gpu(x), [100 * (i % 4) + 10 * (i % 3) + i // 3 for i in range(-5, 4)])
    texts = workbench.op("conv2d").wgsl(np.zeros((1, 1, 8, 8)), np.zeros((2, 1, 3, 3)), None, 2, 1, gradient=True)
    signed = [before for text in texts for before in re.findall(r"(.{5}) % \d+\)", text)]
    assert signed and all(re.search(r"\+ \d+\)$", before) for before in signed), signed  # of what is positive


def test_a_new_op(relu3):
    want = np.maximum(X, 0) ** 3
    np.testing.assert_allclose(relu3.numpy(X), want, rtol=1e-6)
    np.testing.assert_allclose(relu3.gpu(X), want, rtol=1e-6)
    assert relu3.on == "gpu" and relu3(X).dtype == np.float32
    assert relu3.numpy(X.astype(np.float64)).dtype == np.float64
    assert relu3.numpy([2, -1]).tolist() == [8, 0] and relu3.gpu(2) == 8
    assert (
        relu3.__name__ == "relu3"
        and relu3.__doc__ == "The cube of what is positive."
        and repr(relu3) == "op relu3(input: Num)"
    )


@pytest.mark.parametrize("on", ["numpy", "gpu"])
def test_gradients(on):
    f = workbench.op(RELU3, on=on)
    slope = 3 * np.maximum(X, 0) ** 2
    np.testing.assert_allclose(f.grad(X)["input"], slope, rtol=1e-5)
    np.testing.assert_allclose(f.grad(X, wrt="input", cotangent=np.full_like(X, 2)), 2 * slope, rtol=1e-5)
    np.testing.assert_allclose(f.grad(X, wrt="input", cotangent=3), 3 * slope, rtol=1e-5)


def test_gradients_of_some_arguments_and_of_several_results():
    matmul = workbench.op("torch.matmul", on="numpy")
    a, b = np.ones((2, 3)), np.arange(12.0).reshape(3, 4)
    assert set(workbench.op("mul", on="numpy").grad(X, X)) == {"input", "other"}
    np.testing.assert_allclose(matmul.grad(a, b, wrt=["input"])["input"], np.ones((2, 4)) @ b.T)
    parts = workbench.op(
        "op parts(input: Float) -> (low: Float, high: Float)\n    low = 2 * input\n    high = 3 * input\n", on="numpy"
    )
    assert parts(1.5)["high"] == 4.5
    assert parts.grad(1.5, wrt="input") == 5 and parts.grad(1.5, wrt="input", cotangent={"high": 2}) == 6


@pytest.mark.parametrize("on", ["numpy", "gpu"])
def test_layouts_and_types(on):
    add = workbench.op("add", on=on)
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.testing.assert_array_equal(add(wide.T[::2, ::-1], wide[:, 1]), wide.T[::2, ::-1] + wide[:, 1])
    assert add(np.array([1, 2]), 1).dtype == np.int64
    assert add(np.array([1, 2]), 1.5).dtype == np.float32
    assert add(np.array([True]), np.array([1], np.uint8)).dtype == np.uint8


def test_requirements_over_results_are_asked_when_there_are_any():
    f = workbench.op("inv")
    for run in (f.numpy, f.gpu):
        with pytest.raises(
            LinAlgError, match="inv: The inversion could not be completed because the input matrix is singular"
        ):
            run(np.ones((2, 2), np.float32))
        np.testing.assert_allclose(run(np.eye(2, dtype=np.float32) * 2), np.eye(2) / 2)


def test_requirements_of_what_is_called_speak_of_what_it_is_given():
    # `part` is also the name of a `def` that the library keeps to itself: the text's own op is meant.
    text = (
        'op part(x: Float, size: int) -> Float\n    require size > 0, "size must be positive, got {size}"\n    out = x * size\n'
        "op by_name(x: Float, many: int) -> Float = part(x, many) + 1\nop by_number(x: Float) -> Float = part(x, -3) + 1\n"
    )
    assert workbench.op(text, "by_name").numpy([2.0], many=3) == [7]
    with pytest.raises(OpError, match="^by_name: size must be positive, got -2$"):
        workbench.op(text, "by_name").numpy([2.0], many=-2)
    with pytest.raises(OpError, match="^by_number: size must be positive, got -3$"):
        workbench.op(text, "by_number").numpy([2.0])


@pytest.mark.parametrize(
    "formula, dtype",
    [
        ("x > 0", bool),
        ("x > 0 and x < 2", bool),
        ("isnan(x)", bool),
        ("(x > 0) if x < 1 else (x < 3)", bool),
        ("x", "float32"),
        ("x + 1", "float32"),
    ],
)
@pytest.mark.parametrize(
    "form", ["op f(x: Num) = {}", "op f(x: Num)\n    out = {}", "op f(x: Num[N])\n    out[n] = {}"]
)
def test_a_result_without_a_type_has_its_formulas(form, formula, dtype):
    text = form.format(formula.replace("x", "x[n]") if "[n]" in form else formula) + "\n"
    assert workbench.op(text).numpy(np.ones(3, np.float32)).dtype == dtype


def test_parameters_in_place():
    f = workbench.op("op bump(mut input: Float[N], by: real = 1)\n    input[i] += by\n", on="numpy")
    a = np.zeros(3, np.float32)
    f(a, by=2)
    assert a.tolist() == [2, 2, 2]
    assert f.gpu(a)["input"].tolist() == a.tolist() == [3, 3, 3]


def test_calling_other_ops():
    f = workbench.op("op twice(input: Float, dim: dim) -> Float\n    out = 2 * softmax(input, dim)\n", on="numpy")
    np.testing.assert_allclose(f(X, 1).sum(1), [2, 2])


def test_random_ops_repeat():
    f = workbench.op("dropout", on="numpy")
    x = np.ones((8, 8), np.float32)
    one = f(x, p=0.5, training=True)
    np.testing.assert_array_equal(one, f(x, p=0.5, training=True))
    np.testing.assert_array_equal(one, f.gpu(x, p=0.5, training=True))
    f.seeds = (1, 0, 0)
    assert (one != f(x, p=0.5, training=True)).any()


def test_texts_and_explanation(relu3):
    (text,) = relu3.wgsl(X)
    assert "@compute" in text and "relu3" in text
    assert relu3.wgsl(X, gradient=True) != [text]
    page = relu3.explain()
    for part in (
        "── definition",
        "max(input, 0) ** 3",
        "── gradient, derived",
        "d_input",
        "@compute",
    ):
        assert part in page, part


def test_check(relu3):
    report = relu3.check()
    assert (
        report
        and "all is well" in str(report)
        and {"tests", "reads", "gradient", "gpu"} <= {f.title for f in report.findings}
    )


@pytest.mark.parametrize(
    "change, title, words",
    [
        (("== [8, 0]", "== [9, 0]"), "tests", "got [8, 0]"),
        (("    test", "    grad input = g * input\n    test"), "gradient", "but the slope is"),
    ],
)
def test_check_notices(change, title, words):
    report = workbench.op(RELU3.replace(*change)).check()
    wrong = {f.title: f.wrong for f in report.findings if f.wrong}
    assert not report and title in wrong and words in wrong[title][0] and "WRONG" in str(report)


def test_check_notices_a_wrong_kernel(relu3, monkeypatch):
    f = workbench.op(RELU3)
    body = f.data.programs[0].kernels[0].floating.steps[-1]
    body.body = Binary("+", body.body, Constant("f", 1))
    assert [g.title for g in f.check().findings if g.wrong] == ["gpu"]


@pytest.mark.parametrize(
    "text, words",
    [
        (
            "op relu3(input: Num) = maxx(inptu, 0)",
            ["error[name]: unknown function `maxx`", "did you mean `max`?", "did you mean `input`?", "^^^^"],
        ),
        (
            "op f(input: Num[N]) -> Num[N]\n    out[i] = input[i + 1]\n",
            ["error[outside]: this read can leave `input`", "?? 0"],
        ),
        ("op f(input: Float) = input[0] * 2\n", ["error[rank]", "definition.op:1:22"]),
        ("op f(input Num) = input\n", ["error[syntax]"]),
        ("sofmax", ["no op is called `sofmax`; did you mean `softmax`?"]),
        ("", ["defines no op"]),
        ("op a(input: Num) = input\n\nop b(input: Num) = input\n", ["choose with name=: a, b"]),
    ],
)
def test_mistakes_in_a_definition(text, words):
    with pytest.raises(workbench.DefinitionError) as caught:
        workbench.op(text)
    for w in words:
        assert w in str(caught.value)


def test_one_of_several():
    text = "op a(input: Num) = input\n\nop b(input: Num) = 2 * input\n"
    assert workbench.op(text, name="b", on="numpy")(3) == 6
    with pytest.raises(workbench.DefinitionError, match="no op `c`"):
        workbench.op(text, name="c")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda f: f(), "missing argument 'input'"),
        (lambda f: f(X, 1), "at most 1 positional"),
        (lambda f: f(X, inputs=X), "did you mean `input`"),
        (lambda f: f(X, input=X), "got 'input' twice"),
        (lambda f: f([[1, 2], [3]]), "'input' is no array"),
        (lambda f: f(X + 1j), "is of type complex64"),
        (lambda f: f("abc"), "is of type str"),
        (lambda f: f(np.array([2**63], np.uint64)), "past 63 bits"),
        (lambda f: f.grad(X, wrt="dim"), "no gradient by 'dim'"),
        (lambda f: f.grad(X, cotangent=np.ones(7)), r"the cotangent of 'out' has shape \[7\], the result has \[2, 2\]"),
        (lambda f: f.grad([1, 2]), "gradients of floats"),
    ],
)
def test_mistakes_in_a_call(relu3, call, words):
    with pytest.raises(OpError, match=words):
        call(relu3)


def test_a_wrong_target(relu3):
    with pytest.raises(ValueError, match="cpu"):
        relu3.on = "cpu"
    with pytest.raises(ValueError, match="cpu"):
        workbench.op(RELU3, on="cpu")


def test_a_check_that_compared_nothing_fails():
    text = 'op f(x: Float[N]) -> Float[N]\n    {}require N * N == 400, "N"\n    out[n] = x[n]\n'
    report = workbench.op(text.format("")).check()
    assert (
        not report
        and "no random instance of `f` met this requirement" in str(report)
        and "require N * N == 400" in str(report)
    )
    assert workbench.op(text.format("sample N in 20 .. 20\n    ")).check()
    kinks = workbench.op("op f(x: Float[N]) -> Float[N]\n    sample x in 2 .. 2\n    out[n] = max(x[n], 2)\n").check()
    assert not kinks and "no slope was compared" in str(kinks)


def test_dsl_opens_the_workbench():
    import dsl

    assert dsl.op is workbench.op and dsl.Function is workbench.Function
    with pytest.raises(AttributeError, match="module 'dsl' has no attribute 'opp'"):
        dsl.opp  # noqa: B018


@pytest.mark.parametrize("dtype", [np.float16, bfloat16])
def test_numbers_beside_16_bits(dtype):
    """`num` is rounded to them first, `real` is not; so are arrays without axes."""
    scaled = workbench.op("op scaled(input: Num | num, other: Num | real) = input * other")
    x, n = np.arange(1, 400).astype(dtype), np.float32(0.1)
    full, rounded = [(x.astype(np.float32) * np.float32(v)).astype(dtype) for v in (n, dtype(n))]
    assert (full != rounded).any()
    gpus = [scaled.gpu] if device() and (dtype is bfloat16 or device().facts.f16) else []
    for run in [scaled.numpy, *gpus]:
        for given in (0.1, np.array(n)):
            np.testing.assert_array_equal(run(x, given), full)
            np.testing.assert_array_equal(run(given, x), rounded)
