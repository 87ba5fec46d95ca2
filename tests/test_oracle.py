"""PyTorch's recorded answers, tier 1, forward and gradient: what once was right stays right, on both devices."""

import pytest

from buildtools import conformance


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_names_that_were_right_stay_right(device, dist, figure):
    wanted = set(conformance.expected()[device])
    result = conformance.replay(device)
    figure(f"PyTorch's answers, tier 1 on {device}: {len(result.right)} of {len(result.right | result.wrong)} names all right")
    lost = wanted - result.right
    assert not lost, f"{len(lost)} names are no longer right on {device}: {' '.join(sorted(lost))}\n{result.report}"
