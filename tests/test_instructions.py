"""Every instruction that kernels may use is encoded as another assembler encodes it."""

import pytest
import wasmtime

from codegen.wasm.encoder import instruction
from codegen.wasm.instructions import GROUPS, Instruction

SIXTEEN = list(range(16))
# By what follows an instruction: numbers, and how the text format writes them.
IMMEDIATES: dict[str, tuple[list[float], str]] = {
    "": ([], ""),
    "block": ([], " end"),
    "index": ([0], " 0"),
    "integer": ([-5], " -5"),
    "f64": ([1.5], " 1.5"),
    "memory": ([0, 8], " offset=8 align=1"),
    "stored": ([0, 8, 1], " offset=8 align=1 1"),
    "lane": ([1], " 1"),
    "lanes": (SIXTEEN, " " + " ".join(map(str, SIXTEEN))),
}
TEXTS = {  # where the text format says more, or less
    "v128.const": "v128.const i8x16 " + " ".join(map(str, SIXTEEN)),
    "memory.fill": "memory.fill",
    "else": "if else end",
    "end": "block end",
}
INSTRUCTIONS = [(name, group.immediate) for group in GROUPS for name in group.names.split(" ") if name != "-"]


@pytest.mark.parametrize("name, immediate", INSTRUCTIONS)
def test_encoding(name: str, immediate: str):
    values, text = IMMEDIATES[immediate]
    module = wasmtime.wat2wasm(f"(module (memory 1) (func {TEXTS.get(name, name + text)}))")
    mine: list[int] = []
    around = {"else": ["if", name, "end"], "end": ["block", name]}.get(name, [name] + ["end"] * (immediate == "block"))
    for each in around:
        instruction(Instruction(each, values), mine)
    assert bytes(module).endswith(bytes([0, *mine, 0x0B])), name
