"""ops/autocast.names holds what PyTorch's own lists do, as far as there are such ops here."""

import json

import pytest
from definitions import LIBRARY

from buildtools.paths import ROOT
from codegen.api import autocast
from codegen.api.docs import shown_name

RECORDED = json.loads((ROOT / "tests" / "recorded" / "autocast.json").read_text(encoding="utf-8"))
GPU = {"lower_precision_fp": "lower", "fp32": "float32", "fp32_set_opt_dtype": "result", "promote": "widest"}
# PyTorch's names of what stands here under others, and what PyTorch makes of functions that have names of their own.
CALLED = {
    "grid_sampler": "grid_sample",
    "grid_sampler_2d": "grid_sample",
    "grid_sampler_3d": "grid_sample",
    "cross_entropy_loss": "cross_entropy",
    "inverse": "inv",
    "orgqr": "householder_product",
    "fft_fft": "fft_along",
    "fft_irfft": "fft_real_along",
    "linalg_solve": "solve",
    "_lu_with_info": "lu_factor_ex",
    "multilabel_margin_loss_forward": "multilabel_margin_loss",
} | {f"upsample_{kind}": "interpolate" for kind in ("nearest1d", "linear1d", "nearest2d", "bilinear2d", "bicubic2d")}
# PyTorch lists these as ops of their own, and nn.LSTM's kernel as one.
PADS = {f"pad:{mode}:{n}" for mode, most in (("reflect", 2), ("replicate", 3)) for n in range(1, most + 1)}
# What is listed here besides: variants that PyTorch has in another place of its code, and parts of what it lists.
BESIDES = {"webgpu": {"cross_entropy", "grid_sample", "bilinear"}, "cpu": {"lu_factor", "solve", "lstm", *PADS}}


@pytest.fixture(scope="module")
def rules():
    ops = {shown_name(op) for op in LIBRARY.ops.values()}
    return autocast.rules(autocast.LIST.read_text(encoding="utf-8"), ops)


@pytest.fixture(scope="module")
def known():
    """PyTorch's names of ops -> the names they are shown by."""
    found = {}
    for op in LIBRARY.ops.values():
        for alias in op.aliases:
            space, name = alias.rsplit(".", 1)
            found[f"linalg_{name}" if space == "torch.linalg" else name] = shown_name(op)
        found.setdefault(shown_name(op), shown_name(op))
    return found | {theirs: own for theirs, own in CALLED.items() if own in found.values()}


def test_each_op_of_the_lists_for_gpus_has_its_rule(rules, known):
    table = {name: rule for rule, names in rules["webgpu"].items() for name in names}
    wanted = {known[n]: rule for group, rule in GPU.items() for n in RECORDED["gpu"][group] if n in known}
    assert len(wanted) > 70
    assert {n: (table.get(n), rule) for n, rule in wanted.items() if table.get(n) != rule} == {}
    assert set(table) - set(wanted) <= BESIDES["webgpu"]


def test_each_op_of_the_list_for_the_cpu_has_a_rule(rules, known):
    table = {name for names in rules["cpu"].values() for name in names}
    wanted = {known[n] for n in RECORDED["cpu"] if n in known}
    assert len(wanted) > 50
    assert (wanted - table, table - wanted - BESIDES["cpu"]) == (set(), set())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu lower matmull", "line 1: there is no op 'matmull'; did you mean `matmul`?"),
        ("\ncpu lowr mm", "line 2: 'lowr' is no rule; did you mean `lower`?"),
        ("cpu lower mm\ncpu webgpu float32 mm", "line 2: 'mm' has a rule on cpu already"),
        ("lower mm", "line 1: devices"),
        ("cpu webgpu", "line 1: devices"),
    ],
)
def test_mistakes_are_told(text, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        autocast.rules(text, {"mm", "matmul"})
