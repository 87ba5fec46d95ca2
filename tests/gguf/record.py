"""Writes tests/files/weights.gguf with PyPI's `gguf`: a tensor of each type, and beside it what that package decodes it to.

    python -m venv ENV && ENV/bin/pip install gguf && ENV/bin/python tests/gguf/record.py

Its quantisers do not know Q4_K and Q6_K, so blocks of these are random bytes with a scale that is a number."""

from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize, quantize

HERE = Path(__file__).parents[1] / "files"
random = np.random.default_rng(17)


def random_blocks(kind: GGMLQuantizationType, rows: int, columns: int, scales: list[int]) -> np.ndarray:
    """Bytes of blocks; scales: where half-precision numbers stand in a block."""
    elements, size = GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (rows, columns // elements, size), dtype=np.uint8)
    for at in scales:
        scale = (random.standard_normal(blocks.shape[:2]) / 16).astype(np.float16)
        blocks[..., at : at + 2] = scale[..., None].view(np.uint8)
    return blocks.reshape(rows, -1)


def add(writer: GGUFWriter, name: str, kind: GGMLQuantizationType, data: np.ndarray) -> None:
    writer.add_tensor(name, data, raw_dtype=kind)
    writer.add_tensor(f"{name}.expected", dequantize(data, kind).astype(np.float32))


kinds = GGMLQuantizationType
writer = GGUFWriter(HERE / "weights.gguf", "test")
writer.add_uint32("test.count", 4294967295)
writer.add_int64("test.large", -(2**60))
writer.add_float32("test.eps", 0.5)
writer.add_bool("test.yes", True)
writer.add_string("test.name", "gewöhnlich")
writer.add_array("test.words", ["a", "", "läng"])
writer.add_array("test.numbers", [1, -2, 3])
writer.add_string("__proto__", "a key like others")
for kind in (kinds.F32, kinds.F16, kinds.BF16, kinds.Q8_0, kinds.Q4_0):
    weight = random.standard_normal((6, 64)).astype(np.float32)
    add(writer, kind.name, kind, quantize(weight, kind) if kind != kinds.F32 else weight)
writer.add_tensor("vector", np.arange(5, dtype=np.float32))
writer.add_tensor("whole", np.arange(6, dtype=np.int32).reshape(2, 3))
add(writer, "Q4_K", kinds.Q4_K, random_blocks(kinds.Q4_K, 5, 512, [0, 2]))
add(writer, "Q6_K", kinds.Q6_K, random_blocks(kinds.Q6_K, 5, 512, [208]))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
