"""What kernels bring along: each function of the prelude, of the rare ones and of the library's routines with those
that it calls, which the compiler knows without reading WGSL."""

import re

import numpy as np
from definitions import LIBRARY
from wgpu.utils.compute import compute_with_buffers

from codegen.wgsl import prelude

WORD = re.compile(r"\b[A-Za-z_]\w*")


def said(text: str) -> set[str]:
    return set(WORD.findall(re.sub(r"//.*", "", text)))


def test_functions_call_what_is_declared():
    assert LIBRARY.routines  # they are among the functions
    texts, calls = prelude.functions(), prelude.calls()
    assert len(texts) > 120 and sum(map(len, calls.values())) > 200
    for name, text in texts.items():
        assert set(calls[name]) == (said(text) & texts.keys()) - {name}, name


def test_every_function_of_the_files_has_a_line():
    for file in (prelude.FILE, prelude.CHECKS, prelude.RARE):
        written = re.findall(r"^(?:fn|const) (\w+)", file.read_text(encoding="utf-8"), re.M)
        assert written == list(prelude.of_file(file))


ROUNDED = """
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  found[at.x] = bitcast<u32>(to_float16(bitcast<f32>(given[at.x])));
}
"""


def test_half_numbers_are_the_nearest():
    """Of numbers beside every float16, in the middle between two and a bit off it, on both sides of 0; NaN stays one."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middles = (halves[:-1] + halves[1:]) / 2
    near = [np.nextafter(x, np.float32(end)) for x in (halves, middles) for end in (0, np.inf)]
    rng = np.random.default_rng(0)
    positive = np.concatenate([halves, middles, *near, rng.uniform(65500, 65540, 500), [65520, 1e38, 1e-30, np.inf]])
    given = np.concatenate([positive, -positive, [np.nan]]).astype(np.float32)
    texts = prelude.functions()
    code = "\n".join(texts[name] for name in (*prelude.calls()["to_float16"], "to_float16")) + ROUNDED
    groups = -(-len(given) // 256)
    given = np.resize(given, groups * 256)
    found = np.frombuffer(compute_with_buffers({0: given.tobytes()}, {1: given.nbytes}, code, n=groups)[1], np.float32)
    with np.errstate(over="ignore"):
        want = given.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(found, want)
    assert (np.signbit(found) == np.signbit(want))[~np.isnan(want)].all()
