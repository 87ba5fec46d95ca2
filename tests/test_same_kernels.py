"""Python runs what the package runs: for the same op, types, shapes and limits of the device, the built dist/ plans
the same launches in Node as codegen/planner does here, their WGSL byte for byte (small calls of every op are
test_host.py's).  And on every type of elements, wgpu's results are numpy's."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from definitions import LIBRARY, packaged

import workbench
from buildtools import node
from codegen.api.modules import binding
from codegen.api.opdata import rules
from codegen.binding.bind import bind
from codegen.data.errors import OpError
from codegen.data.model import Meta
from codegen.planner.plan import plan
from codegen.planner.writer import Facts
from dsl.ir.dtypes import TYPES, is_floating
from workbench.function import device
from workbench.numpy_runner import contiguous

HERE = Path(__file__).parent
DEVICES = [Facts(True, True, 1 << 31, 8, 256, 32768, False), Facts(False, False, 1 << 27, 8, 256, 16384, True)]


def tensor(shape, dtype="float32", strides=None) -> Meta:
    return Meta(dtype, list(shape), strides or contiguous(shape), 0, False)


F16 = "float16"
WITHOUT_DOUBLES = [name for name in TYPES if name != "float64"]
CALLS = {  # of all strategies, by large shapes, small ones, strides and types
    "add": [
        [tensor([64, 64]), tensor([64])],
        [tensor([64, 64], F16), tensor([64, 64], F16)],
        [tensor([5, 1]), tensor([7], "int32")],
        [tensor([64, 32], strides=[1, 64]), tensor([64, 32])],
        [tensor([1 << 22, 8]), tensor([1 << 22, 8])],
    ],
    "relu": [[tensor([4096])], [tensor([0, 3])], [tensor([], "int32")], [tensor([3, 3], "bool")]],
    "sum": [
        [tensor([4096, 4096]), [1]],
        [tensor([4096, 4096]), [0]],
        [tensor([1 << 20])],
        [tensor([33, 5, 7], "uint8"), [0, 2]],
        [tensor([9, 99], F16), [1]],
    ],
    "softmax": [[tensor([4096, 4096]), 1], [tensor([16, 100]), 0], [tensor([3, 100000]), -1]],
    "matmul_mm": [
        [tensor([1024, 1024]), tensor([1024, 1024])],
        [tensor([64, 4096]), tensor([4096, 64])],
        [tensor([3, 4]), tensor([4, 5])],
        [tensor([256, 128], F16), tensor([128, 256], F16)],
        [tensor([128, 64], strides=[1, 128]), tensor([64, 96])],
    ],
    "conv2d": [
        [tensor([2, 8, 28, 28]), tensor([16, 8, 3, 3]), tensor([16])],
        [tensor([1, 3, 9, 9]), tensor([4, 3, 3, 3])],
        [tensor([1, 16, 8, 8]), tensor([16, 16, 3, 3]), tensor([16]), [1, 1], [1, 1]],
    ],
    "cumsum": [[tensor([4, 100000]), 1], [tensor([100000, 4]), 0], [tensor([5], "int32"), 0]],
    "embedding": [[tensor([5, 2], "int32"), tensor([10, 3])]],
    "gelu": [[tensor([1000])], [tensor([3, 5], F16)]],
    "max_pool2d": [
        [tensor([2, 3, 8, 8]), [2, 2]],
        [tensor([2, 3, 40, 50]), [3, 3], [1, 1], [1, 1]],
        [tensor([0, 3, 4, 5]), [1, 1]],
    ],
    "cross_entropy": [[tensor([32, 10]), tensor([32], "int32")], [tensor([4, 70000]), tensor([4], "int32")]],
    "layer_norm": [[tensor([64, 512]), [512], tensor([512]), tensor([512])]],
    "scaled_dot_product_attention": [
        [tensor([2, 4, 100, 64]), tensor([2, 4, 77, 64]), tensor([2, 4, 77, 96]), None, 0, True],
        [tensor([32, 7]), tensor([33, 7]), tensor([33, 6]), tensor([32, 33], strides=[0, 1])],
    ],
}


def planned(*call) -> list[dict] | str:
    """The launches, or the words with which the call is refused."""
    try:
        return [asdict(x) for x in plan(*call)]
    except OpError as e:
        return str(e)


def test_same_launches(dist, tmp_path, figure):
    calls, here, schedules = [], [], rules(LIBRARY)
    data_of = {name: packaged(name) for name in CALLS}
    for name, args in ((name, args) for name, calls_ in CALLS.items() for args in calls_):
        data = data_of[name]
        args = args + [None] * (len(data.params) - len(args))
        call = bind(data, args)
        for program in range(len(data.programs)):
            if program and not call.dtype.startswith("float"):
                continue
            wanted = data.programs[program].outputs
            for facts in DEVICES:
                if call.dtype == F16 and not facts.f16:
                    continue
                for scheduled in (True, False):
                    here.append((name, planned(data, program, call, wanted, facts, schedules if scheduled else [])))
                    calls.append(
                        {
                            "file": LIBRARY.ops[name].file,
                            "op": binding(name),
                            "args": [asdict(a) if isinstance(a, Meta) else a for a in args],
                            "program": program,
                            "wanted": wanted,
                            "facts": asdict(facts),
                            "scheduled": scheduled,
                        }
                    )
    given, answers = tmp_path / "calls.json", tmp_path / "launches.json"
    given.write_text(json.dumps(calls))
    done = node.run([HERE / "node" / "launches.mjs", dist, given, answers])
    assert done.returncode == 0, done.stdout
    there = json.loads(answers.read_text())
    assert len(there) == len(here)
    for (name, mine), theirs in zip(here, there):
        if isinstance(mine, str) or isinstance(theirs, str):
            assert mine == theirs, name
            continue
        assert [x["code"] for x in mine] == [x["code"] for x in theirs], name
        for a, b in zip(mine, theirs):
            assert a | {"uniforms": [repr(float(w)) for w in a["uniforms"]]} == b | {
                "uniforms": [repr(float(w)) for w in b["uniforms"]]
            }, name
    launches = [x for _, made in here if not isinstance(made, str) for x in made]
    texts, strategies = {x["code"] for x in launches}, {x["strategy"].partition(",")[0] for x in launches}
    assert {"map", "reduce", "scan", "tiled_matmul", "scatter", "tree"} <= strategies
    figure(f"{len(texts)} kernel texts of {len(CALLS)} ops are the same in Python and in the package")


@pytest.mark.parametrize("dtype", WITHOUT_DOUBLES)
@pytest.mark.parametrize(
    "name, options",
    [
        ("add", {}),
        ("mul", {}),
        ("maximum", {}),
        ("relu", {}),
        ("square", {}),
        ("sum", {"dim": [1]}),
        ("cumsum", {"dim": 1}),
        ("softmax", {"dim": 0}),
        ("amax", {"dim": [0]}),
        ("matmul", {}),
        ("eq", {}),
        ("where", {}),
        ("sigmoid", {}),
        ("argmax", {"dim": 1}),
    ],
)
def test_types(name, options, dtype):
    f = workbench.op(name)
    rng = np.random.default_rng(3)
    tensors = [p for p in f.op.params if p.kind == "tensor" and not p.optional]
    drawn = [
        rng.integers(0, 2, (6, 6)).astype(bool)
        if p.cls == "Bool" or dtype == "bool"
        else rng.integers(0, 9, (6, 6)).astype(dtype)
        for p in tensors
    ]
    try:
        want = f.numpy(*drawn, **options)
    except OpError as e:
        with pytest.raises(OpError, match=re.escape(str(e))):
            f.gpu(*drawn, **options)
        return
    if dtype == F16 and not device().facts.f16:
        with pytest.raises(OpError, match="cannot compute with float16"):
            f.gpu(*drawn, **options)
        return
    if dtype == "uint32" and name in ("maximum", "relu", "amax", "argmax"):
        with pytest.raises(OpError, match="not implemented for 'uint32'"):
            f.gpu(*drawn, **options)
        return
    got = f.gpu(*drawn, **options)
    assert got.dtype == want.dtype and got.shape == want.shape
    if is_floating(want.dtype.name):
        digits = {"float16": 2e-3, "bfloat16": 2**-7}.get(want.dtype.name, 2e-5)
        np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=digits)
    else:
        np.testing.assert_array_equal(got, want)
