"""Definitions found by name (dsl/catalogue.py) are those of the whole library, and cost what is named."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from definitions import LIBRARY

import workbench
from buildtools.paths import ROOT
from codegen.data.errors import OpError
from dsl.catalogue import Catalogue
from dsl.library import definition_files
from dsl.text.places import OPS
from workbench.call_text import given
from workbench.function import standard


@pytest.fixture(scope="module")
def shelf() -> Catalogue:
    return Catalogue(definition_files(OPS))


def test_names_are_those_of_the_library(shelf):
    asked = {name for op in LIBRARY.ops.values() for name, _ in op.value_checks}
    assert set(shelf.trees) == LIBRARY.ops.keys() - asked
    first = {}
    for op in LIBRARY.ops.values():
        for alias in op.aliases:
            first.setdefault(alias, op.name)
    assert {alias: shelf.called[alias] for alias in first} == first


@pytest.mark.parametrize(
    "name", ["softmax", "conv2d", "linalg_svd", "multinomial", "sort", "cross_entropy", "adam_step"]
)
def test_an_op_is_as_the_whole_library_has_it(shelf, name):
    mine, whole = shelf.ops[name], LIBRARY.ops[name]
    assert str(mine.forward) == str(whole.forward)
    assert (mine.aliases, mine.value_checks, mine.schedules) == (whole.aliases, whole.value_checks, whole.schedules)


def test_little_is_parsed():
    """An op that names one other brings that one, in a process that has nothing yet."""
    code = (
        "import workbench; from workbench.function import standard\n"
        "f = workbench.op('op reglu(x: Float, y: Float) = relu(x) * y', on='numpy')\n"
        "assert f([-1.0, 2.0], [3.0, 4.0]).tolist() == [0, 8]\n"
        "print(sum('trees' in i.__dict__ for i in standard().items.values()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 20


def test_kernel_schedules_are_there():
    assert [s.target for s in standard().library.schedules] == [s.target for s in LIBRARY.schedules]


# --- What Python and a notebook know of an op ---


def test_signatures_are_pythons():
    f = workbench.op("conv2d")
    shown = inspect.signature(f)
    assert list(shown.parameters) == ["input", "weight", "bias", "stride", "padding", "dilation", "groups"]
    assert shown.parameters["input"].default is inspect.Parameter.empty
    assert (shown.parameters["bias"].default, shown.parameters["groups"].default) == (None, 1)
    assert inspect.signature(workbench.op("mse_loss")).parameters["reduction"].default == "mean"


def test_every_op_has_a_signature_and_a_page():
    for name in list(LIBRARY.ops)[::9]:
        if name in standard().trees:
            f = workbench.op(name)
            assert list(inspect.signature(f).parameters)[:1] == [p.name for p in f.op.params[:1]]
    html = workbench.op("softmax")._repr_html_()
    assert "torch.nn.functional.softmax" in html and "<pre>op softmax(" in html and "g_out" in html
    assert "&lt;" in workbench.op("conv2d")._repr_html_()  # shapes and comparisons are text


def test_arguments_in_words():
    op = standard().ops["conv2d"]
    found = given(op, ["input=2x3x8x8", "weight=4x3x3x3", "stride=2,1", "padding=1"])
    assert (found["input"].shape, found["input"].dtype, found["stride"]) == ((2, 3, 8, 8), np.float32, [2, 1])
    assert given(standard().ops["embedding"], ["weight=9x4", "input=2x3"])["input"].dtype == np.int64
    for words, said in [
        (["inptu=3"], "did you mean `input`"),
        (["input=3x"], "write its shape"),
        (["input=3x3:float12"], "no type 'float12'"),
        (["input=2x3x8x8"], "weight must be given"),
        (["2x3"], "write NAME=VALUE"),
        (["input=2x3x8x8", "weight=4x3x3x3", "groups=many"], "is no int"),
    ]:
        with pytest.raises(OpError, match=said.replace("(", r"\(")):
            given(op, words)


def test_explained_at_a_size():
    text = workbench.op("softmax").explain(np.zeros((64, 1000), np.float32), 1)
    assert "WGSL, softmax(input: float32[64, 1000], dim=1)" in text and "// 64 x 1 x 1 workgroups" in text
