"""Records what onnxruntime answers for operators of com.microsoft, and others that ONNX has no test of: microsoft.tar.xz.

    python -m venv ENV && ENV/bin/pip install onnx onnxruntime && ENV/bin/python tests/onnx/record_microsoft.py

In the archive each case is as write_node_tests.py writes ONNX's own tests: NAME.onnx, NAME.json, and tests.json.
BiasAdd, BiasSplitGelu have no implementation for CPUs there."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from write_node_tests import value

HERE = Path(__file__).parent
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}
random = np.random.default_rng(17)
cases: dict[str, tuple[bytes, str]] = {}


def normal(*shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def case(name: str, op: str, inputs: list, outputs: int, held: tuple = (), domain: str = "com.microsoft", **attributes):
    """inputs: arrays, None for those that are left out; held: which are in the model."""
    names = [f"i{n}" if x is not None else "" for n, x in enumerate(inputs)]
    node = helper.make_node(op, names, [f"o{n}" for n in range(outputs)], domain=domain, **attributes)
    given = {names[n]: x for n, x in enumerate(inputs) if x is not None and n not in held}
    graph = helper.make_graph(
        [node],
        name,
        [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for k, x in given.items()],
        [helper.make_empty_tensor_value_info(f"o{n}") for n in range(outputs)],
        [numpy_helper.from_array(inputs[n], names[n]) for n in held],
    )
    versions = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=10).SerializeToString()
    answers = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, given)
    sets = [[[value(x) for x in given.values()], [value(x) for x in answers]]]
    assert name not in cases
    cases[name] = (model, json.dumps({"sets": sets, "rtol": 1e-4, "atol": 1e-5}))


# --- Weights of few bits -----------------------------------------------------------------------------
for bits, block, k, zeros, rows, type_ in [
    (4, 32, 64, "none", (1,), "float32"),
    (4, 32, 64, "packed", (5,), "float32"),
    (4, 16, 40, "packed", (2, 3), "float32"),
    (4, 32, 96, "float", (1,), "float32"),
    (4, 64, 64, "none", (33,), "float32"),
    (4, 32, 64, "none", (2,), "float16"),
    (8, 32, 64, "none", (3,), "float32"),
    (8, 32, 64, "packed", (3,), "float32"),
]:
    n, groups = 10, -(-k // block)
    packed = random.integers(0, 256, (n, groups, block * bits // 8), dtype=np.uint8)
    scales = (normal(n * groups) / 8).astype(type_)
    zero = {
        "none": None,
        "packed": random.integers(0, 256, n * (-(-groups * bits // 8)), dtype=np.uint8),
        "float": (random.integers(0, 16, n * groups)).astype(type_),
    }[zeros]
    inputs = [normal(*rows, k).astype(type_), packed, scales, zero]
    for held in [(1, 2, 3), (1, 2), ()]:
        if (zero is None) == (3 in held):
            continue
        how = "held" if held else "given"
        case(
            f"matmulnbits_{bits}_{block}_{k}_{zeros}_{len(rows)}_{type_}_{how}",
            "MatMulNBits",
            inputs,
            1,
            held,
            K=k,
            N=n,
            bits=bits,
            block_size=block,
        )
case(
    "matmulnbits_bias",
    "MatMulNBits",
    [normal(3, 64), random.integers(0, 256, (6, 2, 16), dtype=np.uint8), normal(12), None, None, normal(6)],
    1,
    (1, 2, 5),
    K=64,
    N=6,
    bits=4,
    block_size=32,
)
for dtype in (np.int8, np.uint8):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    codes = random.integers(low, high + 1, (6, 64)).astype(dtype)
    for axis, shape, block in [(1, (6, 4), 16), (0, (3, 64), 2), (0, (6,), 0), (1, (64,), 0), (0, (), 0)]:
        scale = np.asarray(np.abs(normal(*shape)) + 0.1, np.float32)
        zero = np.asarray(random.integers(low, high + 1, shape), dtype)
        more = {"block_size": block} if block else {}
        name = f"{dtype.__name__}_{axis}_{block}_{len(shape)}"
        case(f"dequantizelinear_{name}", "DequantizeLinear", [codes, scale, zero], 1, domain="", axis=axis, **more)
        case(
            f"dequantizelinear_without_zero_{name}", "DequantizeLinear", [codes, scale], 1, domain="", axis=axis, **more
        )
    case(
        f"microsoft_dequantizelinear_{dtype.__name__}",
        "DequantizeLinear",
        [codes, np.array(0.25, np.float32), np.array(3, dtype)],
        1,
    )
    case(
        f"microsoft_quantizelinear_{dtype.__name__}",
        "QuantizeLinear",
        [normal(4, 6) * 20, np.array(0.37, np.float32), np.array(3, dtype)],
        1,
    )
for name, x in {
    "normal": normal(3, 17),
    "positive": np.abs(normal(20)) + 1,
    "negative": -np.abs(normal(20)) - 1,
    "zeros": np.zeros((2, 2), np.float32),
    "large": normal(8) * 1e6,
}.items():
    case(f"dynamicquantizelinear_{name}", "DynamicQuantizeLinear", [x], 3, domain="")

# --- Norms and activations ---------------------------------------------------------------------------
x, skip, gamma, beta, bias = normal(2, 3, 8), normal(2, 3, 8), normal(8), normal(8), normal(8)
case("skiplayernormalization", "SkipLayerNormalization", [x, skip, gamma, beta, bias], 1, epsilon=1e-5)
case("skiplayernormalization_plain", "SkipLayerNormalization", [x, skip, gamma], 1, epsilon=1e-5)
case("skipsimplified", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], 1, epsilon=1e-5)
case("skipsimplified_plain", "SkipSimplifiedLayerNormalization", [x, skip, gamma], 1, epsilon=1e-5)
case("simplified", "SimplifiedLayerNormalization", [x, gamma], 1, domain="", axis=-1, epsilon=1e-5)
case("gelu", "Gelu", [x], 1)
case("fastgelu", "FastGelu", [x, bias], 1)
case("fastgelu_plain", "FastGelu", [x], 1)
case("biasgelu", "BiasGelu", [x, bias], 1)
case("quickgelu", "QuickGelu", [x], 1, alpha=1.5)
case("fusedmatmul", "FusedMatMul", [normal(2, 5, 4), normal(2, 6, 5)], 1, transA=1, transB=1, alpha=0.5)
ids = random.integers(0, 9, (2, 4)).astype(np.int32)
segments = random.integers(0, 2, (2, 4)).astype(np.int32)
mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
embed = [ids, segments, normal(9, 8), normal(6, 8), normal(2, 8), gamma, beta]
case("embedlayernormalization", "EmbedLayerNormalization", [*embed, mask], 2, epsilon=1e-5)

# --- Attention ---------------------------------------------------------------------------------------
wide = normal(2, 5, 16)
weight, projection = normal(16, 48) / 4, normal(48)
full = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], np.int32)
for name, given, more in [
    ("plain", [], {}),
    ("causal", [], {"unidirectional": 1}),
    ("masked", [full], {}),
    ("lengths", [np.array([5, 3], np.int32)], {}),
    ("biased", [None, None, normal(2, 4, 5, 5)], {}),
]:
    case(f"attention_{name}", "Attention", [wide, weight, projection, *given], 1, num_heads=4, **more)
case(
    "attention_past",
    "Attention",
    [wide, weight, projection, None, normal(2, 2, 4, 3, 4)],
    2,
    num_heads=4,
    unidirectional=1,
)
q, k, v = normal(2, 5, 16), normal(2, 7, 16), normal(2, 7, 16)
case("multihead_plain", "MultiHeadAttention", [q, k, v], 1, num_heads=4)
case("multihead_bias", "MultiHeadAttention", [q, k, v, normal(48)], 1, num_heads=4)
keys = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]], np.int32)
case("multihead_masked", "MultiHeadAttention", [q, k, v, None, keys], 1, num_heads=4)
case("multihead_scores", "MultiHeadAttention", [q, k, v, None, None, normal(2, 4, 5, 7)], 1, num_heads=4, scale=0.3)
case("multihead_causal", "MultiHeadAttention", [q, q, v[:, :5]], 1, num_heads=4, unidirectional=1)
past = [normal(2, 4, 3, 4), normal(2, 4, 3, 4)]
case("multihead_past", "MultiHeadAttention", [q, k[:, :5], v[:, :5], None, None, None, *past], 3, num_heads=4)

# A table of angles for eight places, and heads of 16.
angles = np.arange(8)[:, None] / 100 ** (np.arange(8) / 8)[None]
cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
places = np.array([[0, 1, 2, 3], [2, 3, 4, 5]], np.int64)
case("rotary_3", "RotaryEmbedding", [normal(2, 4, 48), places, cos, sin], 1)
case("rotary_4", "RotaryEmbedding", [normal(2, 3, 4, 16), places, cos, sin], 1)
case("rotary_start", "RotaryEmbedding", [normal(2, 4, 48), np.array([3], np.int64), cos, sin], 1)
case("rotary_interleaved", "RotaryEmbedding", [normal(2, 4, 48), places, cos, sin], 1, interleaved=1)
case(
    "rotary_part",
    "RotaryEmbedding",
    [normal(2, 4, 48), places, cos[:, :4], sin[:, :4]],
    1,
    rotary_embedding_dim=8,
    num_heads=3,
)
group = {"num_heads": 4, "kv_num_heads": 2}
ends = np.array([3, 3], np.int32)
whole = np.array(4, np.int32)
case(
    "groupquery_first",
    "GroupQueryAttention",
    [normal(2, 4, 64), normal(2, 4, 32), normal(2, 4, 32), None, None, ends, whole],
    3,
    **group,
)
case("groupquery_packed", "GroupQueryAttention", [normal(2, 4, 128), None, None, None, None, ends, whole], 3, **group)
case(
    "groupquery_rotary",
    "GroupQueryAttention",
    [normal(2, 4, 64), normal(2, 4, 32), normal(2, 4, 32), None, None, ends, whole, cos, sin],
    3,
    do_rotary=1,
    **group,
)
cache = [normal(2, 2, 5, 16), normal(2, 2, 5, 16)]
later = [np.array([5, 5], np.int32), np.array(6, np.int32)]
one = [normal(2, 1, 64), normal(2, 1, 32), normal(2, 1, 32)]
case("groupquery_later", "GroupQueryAttention", [*one, *cache, *later], 3, **group)
case("groupquery_later_rotary", "GroupQueryAttention", [*one, *cache, *later, cos, sin], 3, do_rotary=1, **group)
case("groupquery_softcap", "GroupQueryAttention", [*one, *cache, *later], 3, softcap=5.0, **group)
case("groupquery_window", "GroupQueryAttention", [*one, *cache, *later], 3, local_window_size=3, **group)

# --- Of the standard, without a test there -----------------------------------------------------------
regions = np.array([[0, 1, 1, 6, 5], [1, -3, 2, 2, 9], [1, 4.5, 3, 4, 2], [0, 9, 9, 12, 12]], np.float32)
case(
    "max_roi_pool",
    "MaxRoiPool",
    [normal(2, 3, 6, 7), regions],
    1,
    domain="",
    pooled_shape=[3, 2],
    spatial_scale=0.75,
)

with tarfile.open(HERE / "microsoft.tar.xz", "w:xz") as tar:

    def add(name: str, data: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))

    for name, (model, data) in cases.items():
        add(f"{name}.onnx", model)
        add(f"{name}.json", data.encode())
    add("tests.json", json.dumps([*cases]).encode())
print(len(cases), "cases")
