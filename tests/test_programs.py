"""Random programs: PyTorch's recorded answers on both devices, and the two devices against each other.  See
tests/programs/README.md."""

import collections
import json
import lzma
import re
from pathlib import Path

import pytest
from day import TODAY
from turns import one_in, turn

from buildtools import gpu, node

HERE = Path(__file__).parent / "programs"
PARTS = 2  # of what a software GPU replays: processes share them
LIGHT = 100
SEED = 1  # of programs varied without PyTorch
KNOWN = [
    re.compile(line.split("  #")[0])
    for line in (HERE / "known.txt").read_text(encoding="utf-8").splitlines()
    if line and line[0] != "#"
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Path:
    """The recorded programs, unpacked."""
    file = tmp_path_factory.mktemp("programs") / "programs.jsonl"
    file.write_bytes(lzma.decompress((HERE / "programs.jsonl.xz").read_bytes()))
    return file


@pytest.fixture(scope="module")
def sizes(tmp_path_factory) -> Path:
    """Recorded calls with the smallest shapes, unpacked."""
    file = tmp_path_factory.mktemp("programs") / "sizes.jsonl"
    file.write_bytes(lzma.decompress((HERE / "sizes.jsonl.xz").read_bytes()))
    return file


def run(script: str, *arguments) -> dict:
    done = node.run([HERE / script, *map(str, arguments)], env=gpu.variables(), timeout=900)
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout.splitlines()[-1])


def said(x: dict) -> str:
    """What a line of known.txt is searched in."""
    return (
        f"{x.get('id', '')} {x['kind']} {x['f']} {x.get('want', '') if x['kind'] == 'no error' else x.get('got', '')}"
    )


def unknown(found: list[dict]) -> list[dict]:
    return [x for x in found if not any(k.search(said(x)) for k in KNOWN)]


def shown(found: list[dict]) -> str:
    groups = collections.Counter(f"{x['kind']} {x['f']}" for x in found)
    return "\n".join([*(f"{n} x {name}" for name, n in groups.most_common()), *(json.dumps(x) for x in found[:40])])


def test_programs_on_the_cpu(programs, dist, figure):
    answered(run("replay.mjs", programs, "cpu"), 500, "cpu", figure)


def test_the_smallest_shapes_on_the_cpu(sizes, dist, figure):
    """No axes, no elements, one, axes that broadcast and that do not: what PyTorch answers, and what it refuses."""
    answered(run("replay.mjs", sizes, "cpu"), 77, "cpu", figure, each=30)


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_on_webgpu(part, programs, dist, figure):
    size = LIGHT // PARTS
    answered(run("replay.mjs", programs, "webgpu", part * size, size), size, "webgpu", figure)


def test_a_gpu_has_the_types_of_the_light_programs(programs):
    light = programs.read_text(encoding="utf-8").splitlines()[:LIGHT]
    assert not [json.loads(p)["id"] for p in light if re.search(r'"(dtype|d)":"float64"', p)]


def answered(result: dict, count: int, device: str, figure, each: int = 40):
    left = unknown(result["found"])
    figure(f"random programs on {device}: {result['answers']} answers of {result['programs']} programs as PyTorch's")
    assert result["programs"] == count and result["answers"] > each * count
    assert not left, shown(left)


# Half of them with each commit (turns.py).
COMPILED = [
    *(("cpu", first, 30) for first in one_in(2, (0, 30), turn())),
    *(("webgpu", first, 3) for first in one_in(2, (30, 33), turn())),
]


@pytest.mark.parametrize(("device", "first", "count"), COMPILED)
def test_programs_compiled(device, first, count, programs, dist, figure):
    """Replays give what the program gives as it is, and leave its arguments so: also other ones."""
    result = run("compiled.mjs", programs, device, first, count)
    figure(f"random programs compiled on {device}: {result['replays']} replays of {result['programs']} programs")
    assert result["programs"] == count and result["replays"] > 12 * count and not result["found"], result


def test_the_devices_agree(programs, dist):
    """In varied programs, which need no recorded answers."""
    agree(run("vary.mjs", programs, SEED, 20), 20)


def test_the_devices_agree_today(programs, dist, figure, todays):
    """In others every day."""
    with todays():
        result = run("vary.mjs", programs, TODAY, 10)
        figure(f"programs of seed {TODAY} on both devices: {result['answers']} answers")
        agree(result, 10)


def agree(result: dict, count: int):
    assert result["programs"] == count and result["answers"] > 10 * count
    assert not result["found"], shown(result["found"])


def test_what_is_known_is_searched_in_one_line():
    x = {"f": "torch.Tensor.mul", "kind": "value", "got": 1, "want": 2}
    assert unknown([x]) == [x]
    assert not unknown(
        [{"f": "torch.abs", "kind": "no error", "want": "NotImplementedError: \"abs_cpu\" not implemented for 'Bool'"}]
    )
