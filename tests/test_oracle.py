"""PyTorch's recorded answers, forward and gradient, on both devices: what once was right stays right; every module is
right."""

import re

import pytest
from turns import one_in, turn

from buildtools import conformance

MODULES = 113
PARTS = 4  # of what takes a software GPU minutes: processes share them
INTERPRETED = 3  # of names, one is tried without WebAssembly, another third with each commit (turns.py)


def part_of(names: set[str], part: int) -> list[str]:
    return sorted(names)[part::PARTS]


def only(names: list[str]) -> str:
    return f"^({'|'.join(map(re.escape, names))})(@|$)"


def held(result: conformance.Replay, wanted: set[str], what: str, figure):
    figure(f"PyTorch's answers, {what}: {len(result.right)} of {len(result.right | result.wrong)} names all right")
    lost = wanted - result.right
    assert wanted, "nothing was compared"
    assert not lost, f"{len(lost)} names are no longer right, {what}: {' '.join(sorted(lost))}\n{result.report}"


def test_names_that_were_right_stay_right_on_the_cpu(dist, figure):
    wanted, result = set(conformance.expected()["cpu"]), conformance.replay("cpu", tier="all", methods=True)
    held(result, wanted, "cpu", figure)
    for kind, least in ("error", 204), ("method", 1820), ("inplace", 669):
        answers = [
            (x["id"], x["forward"] if kind == x["kind"] else x.get(kind)) for x in result.items if not x.get("skip")
        ]
        found = {name: answer["ok"] for name, answer in answers if answer and not answer.get("skip")}
        wrong = {
            name
            for name, ok in found.items()
            if not ok and not name.startswith("addbmm/")  # which takes another shape in place
        }
        figure(f"PyTorch's answers, cpu: {sum(found.values())} of {len(found)} {kind}s right")
        assert not wrong and sum(found.values()) >= least, sorted(wrong)


def test_without_webassembly_the_same_names_are_right(dist, figure):
    names = one_in(INTERPRETED, sorted(conformance.expected()["cpu"]), turn())
    result = conformance.replay("interpreter", tier="all", names=only(names), methods=True)
    held(result, set(names), "cpu without WebAssembly", figure)


def test_tier_1_stays_right_on_webgpu(dist, figure):
    held(
        conformance.replay("webgpu"),
        set(conformance.expected()["webgpu"]) & conformance.of_tiers(1),
        "tier 1 on webgpu",
        figure,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_the_rest_stays_right_on_webgpu(part, dist, figure):
    names = part_of(set(conformance.expected()["webgpu"]) & conformance.of_tiers(2, 3), part)
    result = conformance.replay("webgpu", tier="2,3", names=only(names), jobs=1)
    held(result, set(names), f"part {part + 1} of {PARTS} of tiers 2 and 3 on webgpu", figure)


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_degenerate_points_are_as_they_were(device, dist, figure):
    """Values and slopes at zeros, equal numbers, infinities and NaN: no call joins those that are known to differ from
    PyTorch's."""
    found, count = conformance.odd(
        conformance.replay(device, tier=conformance.DEGENERATE_TIERS[device], degenerate=True).items
    )
    known = conformance.degenerate_known(device)
    figure(f"degenerate points, {device}: {count - len(found)} of {count} as PyTorch's")
    assert count > 500
    assert found <= known.keys(), sorted(found - known.keys())
    assert all(len(why.split()) > 3 for why in known.values()), "a call differs for no reason"


def test_every_recorded_module_is_right_on_the_cpu(dist, figure):
    assert modules_right("cpu", None, "modules on cpu", figure) == MODULES


@pytest.mark.parametrize("part", range(PARTS))
def test_every_recorded_module_is_right_on_webgpu(part, dist, figure):
    names = part_of(conformance.modules(), part)
    assert modules_right("webgpu", only(names), f"part {part + 1} of {PARTS} of modules on webgpu", figure) == len(
        names
    )


def modules_right(device: str, names: str | None, what: str, figure) -> int:
    """How many modules were replayed, all of them right."""
    result = conformance.replay(device, modules=True, names=names, fail_list=True)
    figure(f"PyTorch's answers, {what}: {len(result.right)} of {len(result.right | result.wrong)} all right")
    assert not result.wrong, result.report
    return len(result.right)
