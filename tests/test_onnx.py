"""torch.onnx.load: ONNX's own tests of operators, networks that PyTorch exported, and files that are no models.

The operators' tests are written anew by the `onnx` package each time (tests/onnx/write_node_tests.py); what PyTorch
answers for the networks is in tests/exchange/models.tar.xz, their models are made by tests/onnx/record_models.py."""

import json
import re
import runpy
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import onnx
import onnx.checker
import pytest
from onnx.reference import ReferenceEvaluator

from buildtools import gpu, node
from buildtools.onnx_operators import NODE_TESTS, NOT_ASKED
from buildtools.paths import ROOT

HERE = Path(__file__).parent / "onnx"
# On a GPU there is no arithmetic of uint32, and no 64 bits, and whole numbers that do not fit are an error.
NOT_ON_A_GPU = r"uint32|bitcast_(float64_to_int64|int64_to_float64)|bitshift_left_int32_(overflow|shift_ge)"


@pytest.fixture(scope="module")
def node_tests(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("operators")
    done = subprocess.run(
        [sys.executable, HERE / "write_node_tests.py", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


EXPORTED = ("models", "detectors", "rare")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    exchange = HERE.parent / "exchange"
    for archive in (HERE / "models.tar.xz", *(exchange / f"{name}.tar.xz" for name in EXPORTED)):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return folder


def results(script: str, *words: object) -> dict:
    done = node.run([HERE / script, *words], env=gpu.variables(), cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def told(failures: dict) -> str:
    return "\n".join(f"{name}: {error}" for name, error in failures.items())


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_operators(device, node_tests, dist):
    """As docs/coverage.md says: all but those about what there is not here, of which each is an error."""
    found = results("node_tests.mjs", node_tests, device)
    assert len(found) == NODE_TESTS
    for why, pattern, count in NOT_ASKED:
        about = [name for name in found if re.search(pattern, name)]
        wrong = [name for name in about if found.pop(name)]
        assert len(wrong) == len(about) == count, why
    away = NOT_ON_A_GPU if device == "webgpu" else "$^"
    failures = {name: error for name, error in found.items() if error and not re.search(away, name)}
    assert not failures, told(failures)


@pytest.mark.parametrize(("device", "least"), [("cpu", 76), ("webgpu", 76)])
def test_operators_of_onnxruntime(device, least, tmp_path, dist):
    """com.microsoft's, and weights of few bits: what onnxruntime answered is in microsoft.tar.xz."""
    with tarfile.open(HERE / "microsoft.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    found = results("node_tests.mjs", tmp_path, device)
    failures = {name: error for name, error in found.items() if error}
    assert len(found) >= least and not failures, told(failures)


@pytest.mark.parametrize("words", [("cpu",), ("webgpu",), ("cpu", "compiled")], ids=" ".join)
def test_networks(words, models, dist):
    found = results("programs.mjs", models, models, *words)
    assert len(found) >= 13
    failures = {name: error for name, error in found.items() if error}
    assert not failures, told(failures)


# Networks that a graph of ONNX cannot have, and why.
VALUES, STEPS = "(a value is read|the model answers a promise)", "is computed step by step"
NOT_OUT = {
    "branch": VALUES,
    "loop": VALUES,
    "nested_control": VALUES,
    "gated_graph": VALUES,
    "sizes_by_values": VALUES,
    "matrices": STEPS,
    "matrices_decomposed": STEPS,
    "gp_regression": f"cholesky {STEPS}",
    "kalman": f"inv_ex {STEPS}",
    "parametrized": f"matrix_exp {STEPS}",
    "two_stages": VALUES,
    "lines_and_places": VALUES,
    "outputs_of_all_kinds": "a result is not computed from the arguments.*: got number 4",
}
# On a GPU what quantises moves numbers of 64 bits to the CPU and back, so the model answers a promise.
NOT_OUT_OF_A_GPU = {"quant_dequant": VALUES}


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_networks_exported_and_read_again(device, models, tmp_path, dist):
    found = results("exported.mjs", models, tmp_path, device)
    for name, reason in (NOT_OUT | (NOT_OUT_OF_A_GPU if device == "webgpu" else {})).items():
        assert re.search(f"onnx.export: .*?{reason}", found.pop(name))
    failures = {name: error for name, error in found.items() if error}
    assert not failures, told(failures)
    assert checked(tmp_path) == len(found) >= 62


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_functions_exported_and_read_again(device, tmp_path, dist, golden):
    """And what has an operator is exported as that, not as its formula: the operators of each graph."""
    found = results("exported_ops.mjs", tmp_path, device)
    failures = {name: error for name, error in found.items() if error}
    assert not failures, told(failures)
    assert checked(tmp_path) == len(found) >= 76
    if device == "cpu":
        used = {name: sorted({n.op_type for n in onnx.load(tmp_path / f"{name}.onnx").graph.node}) for name in found}
        golden("golden/onnx/operators.txt", "".join(f"{name}: {' '.join(ops)}\n" for name, ops in used.items()))


SCALES = [(), (1,), (4,), (1, 4), (3, 1), (3, 4), (1, 3, 4), (2, 1, 1)]


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_norms_with_scales_of_all_shapes(device, tmp_path, dist):
    """Scales and what is added are broadcast to what is normed, which ONNX's own tests have of one shape."""
    h, numbers, listed = onnx.helper, np.random.default_rng(3), []
    value = runpy.run_path(str(HERE / "write_node_tests.py"))["value"]
    for operator, shapes in {
        "LayerNormalization": [[scale, bias] for scale in SCALES for bias in (None, *SCALES)],
        "RMSNormalization": [[scale, None] for scale in SCALES],
    }.items():
        for n, given in enumerate(shapes):
            inputs = [numbers.standard_normal(s).astype(np.float32) for s in ((2, 3, 4), *given) if s is not None]
            names = "xsb"[: len(inputs)]
            ends = [
                h.make_tensor_value_info(i, onnx.TensorProto.FLOAT, x.shape) for i, x in zip(names, inputs, strict=True)
            ]
            graph = h.make_graph(
                [h.make_node(operator, list(names), ["out"], axis=1)],
                "norm",
                ends,
                [h.make_tensor_value_info("out", onnx.TensorProto.FLOAT, (2, 3, 4))],
            )
            model = h.make_model(graph, opset_imports=[h.make_opsetid("", 23)])
            outputs = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
            name = f"{operator}_{n}"
            (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
            sets = [[[value(x) for x in inputs], [value(x) for x in outputs]]]
            (tmp_path / f"{name}.json").write_text(json.dumps({"sets": sets, "rtol": 1e-4, "atol": 1e-5}))
            listed.append(name)
    (tmp_path / "tests.json").write_text(json.dumps(listed))
    found = results("node_tests.mjs", tmp_path, device)
    failures = {name: error for name, error in found.items() if error}
    assert len(found) == len(listed) and not failures, told(failures)


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_corners_stay_where_a_factor_gives_no_whole_length(device, tmp_path, dist):
    """PyTorch's answer for `interpolate(x, scale_factor=1.7, mode="linear", align_corners=True)`, and onnxruntime's."""
    h, value = onnx.helper, runpy.run_path(str(HERE / "write_node_tests.py"))["value"]
    x, wanted = (np.array([[row]], np.float32) for row in ([0, 1, 4, 9], [0, 0.6, 1.6, 3.4, 6, 9]))
    way = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    x_info, y_info = (
        h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, v.shape) for n, v in (("x", x), ("y", wanted))
    )
    factors = h.make_tensor("f", onnx.TensorProto.FLOAT, [3], [1, 1, 1.7])
    graph = h.make_graph([h.make_node("Resize", ["x", "", "f"], ["y"], **way)], "resize", [x_info], [y_info], [factors])
    (tmp_path / "resize.onnx").write_bytes(
        h.make_model(graph, opset_imports=[h.make_opsetid("", 20)]).SerializeToString()
    )
    sets = [[[value(x)], [value(wanted)]]]
    (tmp_path / "resize.json").write_text(json.dumps({"sets": sets, "rtol": 1e-5, "atol": 1e-5}))
    (tmp_path / "tests.json").write_text(json.dumps(["resize"]))
    assert results("node_tests.mjs", tmp_path, device) == {"resize": None}


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_sequences_have_gradients(device, tmp_path, dist):
    """PyTorch writes `split` and `chunk` as sequences, so what lies before them learns only through their elements."""
    h = onnx.helper
    weight = h.make_tensor("w", onnx.TensorProto.FLOAT, [2, 2], [1, 2, 3, 4])
    one, zero = (h.make_tensor(n, onnx.TensorProto.INT64, [], [v]) for n, v in (("one", 1), ("zero", 0)))
    three = h.make_tensor("three", onnx.TensorProto.FLOAT, [], [3])
    nodes = [
        h.make_node("MatMul", ["x", "w"], ["product"]),
        h.make_node("SplitToSequence", ["product", "one"], ["rows"], axis=0),
        h.make_node("SequenceAt", ["rows", "one"], ["second"]),
        h.make_node("SequenceAt", ["rows", "zero"], ["first"]),
        h.make_node("Mul", ["second", "three"], ["scaled"]),
        h.make_node("Add", ["scaled", "first"], ["out"]),
    ]
    ends = [h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, shape) for n, shape in (("x", [2, 2]), ("out", [1, 2]))]
    graph = h.make_graph(nodes, "rows", ends[:1], ends[1:], [weight, one, zero, three])
    file = tmp_path / "rows.onnx"
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 20)]), file)
    failures = {name: e for name, e in results("sequence_gradients.mjs", file, device).items() if e}
    assert not failures, told(failures)


def checked(folder: Path) -> int:
    """How many models lie there; the standard's own checker has nothing to say of any."""
    files = sorted(folder.glob("*.onnx"))
    for file in files:
        onnx.checker.check_model(onnx.load(file), full_check=True)
    return len(files)


def test_what_cannot_be_exported_says_why(models, dist):
    failures = {name: e for name, e in results("not_exported.mjs", models).items() if e}
    assert not failures, told(failures)


def test_what_cannot_be_read_says_why(models, dist):
    failures = {name: e for name, e in results("refused.mjs", models, 5, 400).items() if e}
    assert not failures, told(failures)
