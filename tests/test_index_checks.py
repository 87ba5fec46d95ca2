"""Indices of workgroup memory that cannot leave it are not checked in the inner loops of products: Tint, Chrome's and
Dawn's compiler, limits every index whose range it does not find, which took a tenth of the time of an attention."""

import re
import subprocess
from pathlib import Path

import numpy as np
from definitions import LIBRARY, data_of

from buildtools import gpu as chosen
from buildtools import node
from codegen.api.opdata import rules
from codegen.binding.bind import bind
from codegen.planner.plan import plan
from codegen.planner.writer import Facts
from workbench.numpy_runner import meta

DEVICE = Facts(False, False, 1 << 30, 8, 256, 32768, False)
RULES = rules(LIBRARY)
WORKGROUP = re.compile(r"OpAccessChain %_ptr_Workgroup_v4float %\S+(.*)")
LIMITED = re.compile(r"(%\S+) = OpExtInst %uint %\S+ UMin %\S+ %uint_\d+$", re.MULTILINE)


def planned(name: str, number: int, shapes: list[tuple[int, ...]], *options: object) -> list[str]:
    """The texts of a program for tensors of these shapes."""
    data = data_of(name)
    given = [meta(np.zeros(shape, np.float32)) for shape in shapes] + list(options)
    call = bind(data, [*given, *[None] * (len(data.params) - len(given))])
    tensors = [p.slot for p in data.params[: len(shapes)]]
    outputs = data.programs[number].outputs
    wanted = [slot for slot, p in zip(outputs, data.params) if p.slot in tensors] if number else outputs
    return [x.code for x in plan(data, number, call, wanted, DEVICE, RULES) if "_tile" in x.code]


def spirv(code: str, folder: Path) -> str:
    """What Tint makes of a text, up to the end of the entry point, which stands last.  Node is ended there: a GPU in
    software would take long to compile it."""
    (folder / "text.wgsl").write_text(code)
    command = [str(node.executable()), str(Path(__file__).parent / "node" / "spirv.mjs"), str(folder / "text.wgsl")]
    out: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=node.environment(chosen.variables())
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            out.append(line)
            entry = re.search(r"OpEntryPoint GLCompute (%\S+)", line)
            if entry:
                last = f"{entry[1]} = OpFunction "
            if line.strip() == "OpFunctionEnd" and any(last in made for made in out[-40:]):
                process.kill()
    text = "".join(out)
    assert "OpFunctionEnd" in text, text
    return text


def limited(text: str) -> tuple[int, int]:
    """The accesses of vec4s in workgroup memory, and those of them with an index that is limited."""
    indices = [found.split() for found in WORKGROUP.findall(text)]
    checked = set(LIMITED.findall(text))
    return len(indices), sum(not checked.isdisjoint(index) for index in indices)


def test_inner_loops_check_no_index_of_workgroup_memory(tmp_path):
    deep = (2, 64, 64)
    texts = [
        *planned("matmul_mm", 0, [(1024, 1024), (1024, 1024)]),
        *planned("scaled_dot_product_attention", 0, [deep, deep, deep], None, 0.0, True),
        *planned("scaled_dot_product_attention", 1, [deep, deep, deep], None, 0.0, True),
    ]
    counts = [limited(spirv(text, tmp_path)) for text in texts]
    assert len(counts) == 5 and all(all_of >= 20 for all_of, _ in counts), counts
    # What is left stands before the loops: threads that load nothing of a tile.
    assert [checked for _, checked in counts if checked > 4] == [], counts
    assert counts[0][1] == 0


def test_an_index_of_unknown_range_is_seen(tmp_path):
    """The counting itself: of two reads the one whose index is an XOR is limited."""
    code = """
    var<workgroup> tile: array<vec4<f32>, 64>;
    @group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {
      tile[local] = vec4(f32(local));
      workgroupBarrier();
      out[local] = tile[local ^ 5u] + tile[(local ^ 5u) % 64u];
    }"""
    accesses, checked = limited(spirv(code, tmp_path))
    assert accesses >= 3 and checked == 1
