"""PyTorch's recorded answers, tier 1, forward and gradient: what once was right stays right, on both devices."""

import pytest

from buildtools import conformance


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_names_that_were_right_stay_right(device, dist):
    wanted = set(conformance.expected()[device])
    result = conformance.replay(device)
    lost = wanted - result.right
    assert not lost, f"{len(lost)} names are no longer right on {device}: {' '.join(sorted(lost))}\n{result.report}"
    gained = result.right - wanted
    if gained:
        print(f"newly right on {device} (build.py check --oracle {device} --update): {' '.join(sorted(gained))}")
