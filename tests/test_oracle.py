"""PyTorch's recorded answers, forward and gradient, on both devices: what once was right of tier 1 stays right; every module is right."""

import pytest

from buildtools import conformance


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_names_that_were_right_stay_right(device, dist, figure):
    wanted = set(conformance.expected()[device])
    result = conformance.replay(device)
    figure(f"PyTorch's answers, tier 1 on {device}: {len(result.right)} of {len(result.right | result.wrong)} names all right")
    lost = wanted - result.right
    assert not lost, f"{len(lost)} names are no longer right on {device}: {' '.join(sorted(lost))}\n{result.report}"


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_every_recorded_module_is_right(device, dist, figure):
    result = conformance.replay(device, modules=True, fail_list=True)
    figure(f"PyTorch's answers, modules on {device}: {len(result.right)} of {len(result.right | result.wrong)} all right")
    assert len(result.right | result.wrong) == 113
    assert not result.wrong, result.report
