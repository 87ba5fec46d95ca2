"""`def`s with steps: what they mean in numpy, their texts, derivatives, and mistakes in them."""

import json
import subprocess
from itertools import islice

import numpy as np
import pytest
from definitions import LIBRARY
from front import errors_of

from buildtools import node
from buildtools.paths import DIST
from codegen.api.opdata import routine_steps
from codegen.wgsl import routines as wgsl
from dsl.catalogue import Catalogue
from dsl.gradients.adjoint import complete
from dsl.ir import intrinsics
from dsl.library import definition_files, load_text
from dsl.reference.routine_run import run
from dsl.text.diagnostics import DefinitionError
from dsl.text.places import OPS
from workbench import Function, op

ROUTINES = dict(LIBRARY.routines)
FIBONACCI = """
def fibonacci(n)
    "The n-th number of Fibonacci."
    a, b = 0, 1
    for k in 0 .. n: a, b = b, a + b
    out = a
"""
ROOT = """
def newton_root(x)
    y = x
    for k in 0 .. 60 while abs(y * y - x) > 1e-12 * x: y = (y + x / y) / 2
    out = y
    grad x = 0.5 / out
"""


def made(text: str, name: str):
    library, errors, _ = load_text(text)
    assert errors == []
    return library.routines[name]


def test_steps_run_in_order_and_together():
    r = made(FIBONACCI, "fibonacci")
    assert run(r, (np.arange(8),)).tolist() == [0, 1, 1, 2, 3, 5, 8, 13]
    assert run(r, (np.float32([6.0, 2.5]),)).tolist() == [8.0, 2.0]  # counts below 2.5: 0, 1 and 2
    swapped = made("def f(x)\n    a = x; b = a + 1\n    a, b = b, a\n    out = 10 * a + b\n", "f")
    assert run(swapped, (np.float64(1.0),)) == 21


def test_a_loop_ends_for_each_element_by_itself():
    r = made(
        "def halvings(x)\n    y, n = x, 0\n    for k in 0 .. 100 while y > 1: y = y / 2; n = n + 1\n    out = n\n",
        "halvings",
    )
    assert run(r, (np.array([0.5, 1.0, 8.0, np.nan, 1000.0]),)).tolist() == [0, 0, 3, 0, 10]


def test_whole_numbers_stay_whole_where_they_can():
    r = made(FIBONACCI, "fibonacci")
    assert r.integral and run(r, (np.int32([46, 47]),)).tolist() == [1836311903, -1323752223]  # wraps at 32 bits
    assert not made(ROOT, "newton_root").integral
    assert op("op f(input: Int) = fibonacci_of(input)\n\n" + FIBONACCI.replace("fibonacci(", "fibonacci_of("))(
        [5, 7]
    ).tolist() == [5, 13]


def test_loops_and_exchanges_of_the_same_names_stand_beside_each_other():
    again = op(
        "op f(input: Float) = there_and_back(input)\n    nograd\n\ndef there_and_back(x)\n    a, b = x, 0\n"
        "    for k in 0 .. 3: b = b + a; a = a / 2\n    a, b = b, a\n    for k in 0 .. 2: b = b + 1\n    a, b = b, a\n"
        "    out = 10 * a + b\n"
    )
    assert again([8.0]).tolist() == [44.0]  # a: 8, 4, 2, 1 and twice 1; b: 8 + 4 + 2
    again.check()


def test_texts():
    r = made(FIBONACCI, "fibonacci")
    assert "fn fibonacci_routine(n_: f32) -> f32 {" in wgsl.function(
        r, False
    ) and "fn fibonacci_routine_int(n_: i32) -> i32 {" in wgsl.function(r, True)


# Where a routine is called: elsewhere it cancels until nothing but rounding is left.
WITHIN = {"gamma_below": lambda a, l: np.exp(l) < a}


def points_of(r, whole: bool, rng: np.random.Generator) -> list[list[float]]:
    """Twelve lists of arguments of a routine."""
    drawn = (rng.integers(0, 12, len(r.params)) if whole else rng.uniform(0.1, 6, len(r.params)) for _ in range(1000))
    points = ([float(x) for x in numbers] for numbers in drawn if WITHIN.get(r.name, lambda *_: True)(*numbers))
    return list(islice(points, 12))


@pytest.mark.parametrize("name", ROUTINES)
def test_without_webassembly(name, tmp_path):
    """The interpreter of statements does as numpy, for floats and for whole numbers."""
    rng, cases = np.random.default_rng(3), []
    for r in [ROUTINES[name]]:
        for integral in (False, True) if r.integral else (False,):
            points = points_of(r, integral, rng)
            assert len(points) == 12
            steps = routine_steps(tuple(ROUTINES.values()))
            wanted = [float(run(r, tuple(np.int32(x) if integral else np.float64(x) for x in p))) for p in points]
            cases.append((f"{name}_routine{'_int' if integral else ''}", steps, points, wanted))
    file = tmp_path / "routines.mjs"
    file.write_text(
        f"import {{ evaluator }} from '{DIST / 'runtime' / 'program' / 'procedure-evaluator.js'}';\n"
        f"import {{ FUNCTIONS }} from '{DIST / 'runtime' / 'devices' / 'cpu' / 'functions.js'}';\n"
        f"const cases = {json.dumps([c[:3] for c in cases])};\n"
        "console.log(JSON.stringify(cases.map(([name, steps, points]) => {"
        " const made = evaluator.functions("
        "{ routines: Object.entries(steps).map(([name, steps]) => ({ name, steps })) }, FUNCTIONS);"
        " return points.map((p) => String(made[name](...p))); })));"
    )
    done = subprocess.run([str(node.executable()), str(file)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    for (*_, wanted), found in zip(cases, json.loads(done.stdout)):
        np.testing.assert_allclose([float(x.replace("Infinity", "inf")) for x in found], wanted, 1e-9, 1e-300)


def test_a_choice_computes_one_branch():
    r = made("def f(x)\n    out = exp(x) if x < 0 else sqrt(x)\n", "f")
    assert "if (x_ < 0.0) {" in wgsl.function(r, False) and "select" not in wgsl.function(r, False)


def test_the_derivative_that_is_given():
    f = op("op root(input: Float) = newton_root(input)\n\n" + ROOT)
    np.testing.assert_allclose(f.numpy([4.0, 9.0]), [2, 3])
    np.testing.assert_allclose(f.grad([4.0, 9.0], wrt="input"), [0.25, 1 / 6], rtol=1e-6)


def test_a_derivative_that_is_missing_is_asked_for():
    text = (
        "op f(input: Float) = halves(input)\n\ndef halves(x)\n    y = x\n    for k in 0 .. 3: y = y / 2\n    out = y\n"
    )
    library, errors, _ = load_text(text)
    assert errors == []
    with pytest.raises(DefinitionError, match="derivative of `halves`"):
        complete(library.ops["f"])
    quiet, errors, _ = load_text(text.replace("halves(input)\n", "halves(input)\n    nograd\n", 1))
    assert errors == [] and complete(quiet.ops["f"]).gradient is None


def test_an_argument_without_a_tensor_needs_no_derivative():
    library, errors, _ = load_text("op f(input: Float, n: int) = input * fibonacci(n)\n\n" + FIBONACCI)
    assert errors == []
    assert Function(library.ops["f"], library).grad([3.0], 7, wrt="input").tolist() == [13]


def test_poly_is_horners_rule():
    assert op("op f(input: Float) = poly(input, 1, 0, 0.5)").numpy([2.0]).tolist() == [3]


@pytest.mark.parametrize(
    "text, words",
    [
        ("def f(x)\n    y = x\n", "nothing assigns the result `out`"),
        ("def f(x)\n    out = y\n    y = x\n", "`y` is used before it is assigned"),
        ("def f(x)\n    x = 1\n    out = x\n", "the parameter `x` is assigned"),
        ("def f(x)\n    for x in 0 .. 3: out = x\n", "`x` means something already"),
        ("def f(x)\n    out = k\n    for k in 0 .. 3: out = k\n", "unknown name `k`"),
        ("def f(x)\n    out = x\n    grad y = 1\n", "`f` has no parameter `y` to differentiate by"),
        ("def f(x)\n    a, b = x\n    out = a + b\n", "2 names, but 1 values"),
        ("def f(x) = x\n    out = x\n", "this `def` has a formula already"),
        ('def f(x)\n    "Nothing."\n', "this `def` says nothing"),
        ("def f(x)\n    out = f(x - 1)\n", "`f` calls itself"),
    ],
)
def test_mistakes(text, words):
    assert any(words in e.message for e in errors_of(text)), [e.message for e in errors_of(text)]


def test_a_function_with_steps_does_not_stand_for_a_formula_of_the_library():
    """Though it has the name of one: ops of the library that are made later call their own."""
    made("def length(x, y)\n    s = x\n    for k in 0 .. 3: s = s + y\n    out = s\n", "length")
    try:
        masked = Catalogue(definition_files(OPS)).ops["masked_norm"]
        assert "length(" not in str(masked.forward)
    finally:
        intrinsics.ROUTINES.pop("length", None)
