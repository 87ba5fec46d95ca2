"""PyTorch's recorded answers, forward and gradient, on both devices: what once was right stays right; every module is right."""

import datetime
import re

import pytest

from buildtools import conformance

PARTS = 8           # of the operators beyond tier 1, which a software GPU takes minutes for: one of them each day


def held(result: conformance.Replay, wanted: set[str], what: str, figure):
    figure(f"PyTorch's answers, {what}: {len(result.right)} of {len(result.right | result.wrong)} names all right")
    lost = wanted & result.wrong
    assert wanted & result.right, "nothing was compared"
    assert not lost, f"{len(lost)} names are no longer right, {what}: {' '.join(sorted(lost))}\n{result.report}"


def test_names_that_were_right_stay_right_on_the_cpu(dist, figure):
    wanted, result = set(conformance.expected()["cpu"]), conformance.replay("cpu", tier="all")
    assert wanted <= result.right | result.wrong
    held(result, wanted, "cpu", figure)


def test_tier_1_stays_right_on_webgpu(dist, figure):
    held(conformance.replay("webgpu"), set(conformance.expected()["webgpu"]), "tier 1 on webgpu", figure)


def test_the_rest_stays_right_on_webgpu_part_by_part(dist, figure):
    wanted, part = conformance.expected()["webgpu"], datetime.date.today().toordinal() % PARTS
    names = wanted[part::PARTS]
    result = conformance.replay("webgpu", tier="2,3", names=f"^({'|'.join(map(re.escape, names))})(@|$)")
    held(result, set(names), f"part {part + 1} of {PARTS} of tiers 2 and 3 on webgpu", figure)


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_every_recorded_module_is_right(device, dist, figure):
    result = conformance.replay(device, modules=True, fail_list=True)
    figure(f"PyTorch's answers, modules on {device}: {len(result.right)} of {len(result.right | result.wrong)} all right")
    assert len(result.right | result.wrong) == 113
    assert not result.wrong, result.report
