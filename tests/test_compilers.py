"""Every kernel's WGSL is accepted by both compilers it meets: Tint (Chrome, Dawn) and naga (Firefox, wgpu).

Of every op: forward, gradient and gradient of the gradient, with schedules and without, in small random instances of
every kind of elements.  What the kernels compute is test_wgsl.py's."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from as_json import as_json
from definitions import LIBRARY, drawn, packaged
from turns import one_in, turn

from buildtools import gpu as chosen
from buildtools import node
from codegen.api import modules
from codegen.planner.writer import MOST_BINDINGS, Facts
from workbench.numpy_runner import meta
from workbench.wgpu_runner import Gpu, numbered

DEVICE = Facts(False, False, 1 << 27, 8, 256, 16384, False)
WITH_HALVES = replace(DEVICE, f16=True)
INSTANCES = 4
NODE = Path(__file__).parent / "node"
KINDS = ("int32", "bool", "uint8")


def calls(op, halves):
    """The arguments of calls in small random instances, of floats, and with tensors of another type in each where the
    op takes them; or of half numbers."""
    found = drawn(op, 1 if halves else INSTANCES, seed=5)
    for n, instance in found if halves or len(found) == 1 else one_in(2, found, turn()):
        given = [
            meta(a) if p.kind == "tensor" and a is not None else a for p, a in zip(op.params, instance.arguments(n))
        ]
        for kind in ("float16",) if halves else ("float32", KINDS[n % len(KINDS)]):
            for m, p in zip(given, op.params):
                if p.kind == "tensor" and m is not None:
                    # What promotes nothing, an element that takes another's type, is drawn in float64, which no GPU has.
                    m.dtype = kind if p.name in op.promoted else m.dtype.replace("float64", "float32")
            yield as_json(given)


def asked(halves: bool) -> list[tuple[str, list]]:
    """The calls of all ops, by the names of their bindings."""
    calls_asked = []
    for op in LIBRARY.ops.values():
        if op.forward is None:
            continue
        if halves and any(kernel.raw is not None for kernel in packaged(op.name).programs[0].kernels):
            continue  # the runtime gives it float32 (runtime/dispatch/plan.ts)
        calls_asked += [(modules.binding(op.name), args) for args in calls(op, halves)]
    return calls_asked


@pytest.fixture(scope="module")
def texts(dist, tmp_path_factory) -> list[dict[str, str]]:
    """The distinct texts, each with an op that has it: of a device, and of half numbers on one that has them.  The
    package's planner writes them, as Python's does (test_host.py) in several times the time."""
    given = tmp_path_factory.mktemp("texts") / "calls.json"
    devices = [
        {"facts": as_json(facts), "calls": asked(halves)} for facts, halves in ((DEVICE, False), (WITH_HALVES, True))
    ]
    given.write_text(json.dumps({"files": sorted({op.file for op in LIBRARY.ops.values()}), "devices": devices}))
    done = node.run([NODE / "kernel_texts.mjs", given])
    assert done.returncode == 0, done.stdout[-4000:]
    return json.loads(done.stdout)


def test_no_kernel_binds_more_than_every_device_has(figure):
    """Eight storage buffers: what needs more is split where it is a sum, or is refused by the compiler."""
    widths = Counter()
    for op in LIBRARY.ops.values():
        if op.forward is None:
            continue
        for n, program in enumerate(packaged(op.name).programs):
            for kernel in program.kernels:
                wide = len({a.slot for a in kernel.accesses})
                assert wide <= MOST_BINDINGS, f"{op.name}, program {n}, kernel {kernel.number} binds {wide} tensors"
                widths[wide] += 1
    figure(
        f"{sum(widths.values())} kernels by how many tensors they bind: {', '.join(f'{n}: {widths[n]}' for n in sorted(widths))}"
    )


def test_every_text_is_accepted(texts, tmp_path, figure):
    found, _ = texts
    for compiler, refused in (("Tint", refused_by_tint(list(found), tmp_path)), ("naga", refused_by_naga(found))):
        code, what = refused[0] if refused else ("", "")
        assert not refused, f"{len(refused)} texts are refused by {compiler}; {found[code]}: {what}\n{numbered(code)}"
    figure(
        f"{len(found)} kernel texts of {len({t.split(',')[0] for t in found.values()})} ops are accepted by Tint and naga"
    )


def test_every_text_of_half_numbers_is_accepted(texts, tmp_path, figure):
    """By Tint alone: what numbers these kernels give only a GPU with `shader-f16` shows, which CI has not."""
    _, found = texts
    assert sum("enable f16;" in text for text in found) > 1000
    assert sum("vec4<f16>" in text for text in found) > 100
    refused = refused_by_tint(list(found), tmp_path)
    code, what = refused[0] if refused else ("", "")
    assert not refused, f"{len(refused)} texts are refused; {found[code]}: {what}\n{numbered(code)}"
    figure(f"{len(found)} kernel texts of half numbers are accepted by Tint")


def refused_by_tint(codes: list[str], folder: Path) -> list[tuple[str, str]]:
    (folder / "texts.json").write_text(json.dumps(codes))
    done = node.run([NODE / "tint.mjs", folder / "texts.json"], env=chosen.variables())
    assert done.returncode == 0, done.stdout
    return [(codes[number], what) for number, what in json.loads(done.stdout.splitlines()[-1])]


def refused_by_naga(codes) -> list[tuple[str, str]]:
    device = Gpu().device
    refused = []
    for code in codes:
        try:
            device.create_shader_module(code=code)
        except Exception as error:
            refused.append((code, str(error)))
    return refused
