"""No tile that a device may choose for itself (torch.backends.tensorloom.benchmark) changes a result beyond rounding."""

from dataclasses import replace

import numpy as np
import pytest
from test_strategies import f32, hardware, run  # noqa: F401 (hardware is a fixture)

from codegen.data.model import Schedule
from codegen.planner.tile_candidates import TRIED, candidates, settings_of
from codegen.planner.writer import Facts

FACTS = Facts(False, False, 1 << 30, 8, 256, 16384, False)


def exactly(name, settings):
    return [Schedule(name, None, "exact_tile", settings)]


def words(tile, parts):
    rows, columns, depth, _, _, slices = tile
    sliced = f", {slices} slices" if slices > 1 else ""
    return f"{rows} by {columns} sums in steps of {depth}{sliced}" + (f", {parts} parts" if parts > 1 else "")


# The first sizes are read four neighbours at once, the others one by one: there are no slices then.
@pytest.mark.parametrize("m, k, n, parts, turned", [(132, 1028, 140, 2, False), (131, 519, 135, 1, True)])
@pytest.mark.parametrize("tile", TRIED, ids=lambda tile: "x".join(map(str, tile)))
def test_products(hardware, tile, m, k, n, parts, turned):  # noqa: F811
    a, b = f32(m, k), f32(n, k).T if turned else f32(k, n)
    strategy = words(tile, parts) if tile[5] == 1 or not turned else "tiled_matmul"
    got = run(hardware, "mm", a, b, first=exactly("mm", settings_of(tile, parts)), strategy=strategy)
    np.testing.assert_allclose(got, a.astype(float) @ b.astype(float), rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("tile", [TRIED[0], TRIED[2], TRIED[5]], ids=lambda tile: "x".join(map(str, tile)))
def test_convolutions(hardware, tile):  # noqa: F811
    x, w = f32(2, 8, 9, 11), f32(36, 8, 3, 3)
    options = [None, [2.0, 2.0], [1.0, 1.0]]
    got = run(
        hardware, "conv2d", x, w, *options, first=exactly("conv2d", settings_of(tile, 1)), strategy=words(tile, 1)
    )
    np.testing.assert_allclose(got, run(hardware, "conv2d", x, w, *options, scheduled=False), rtol=1e-4, atol=2e-4)


def contraction(m, n, k, batch=1):
    return {"M": m, "N": n, "K": k, "batch": batch}


def test_what_is_tried():
    """Large tiles where they can be filled, parts where tiles are few and the depth is much; for a CPU that plays a GPU
    nothing."""
    large, small = candidates(contraction(4096, 4096, 4096), FACTS), candidates(contraction(32, 64, 4096), FACTS)
    assert {c["parts"] for c in large} == {1} and max(c["rows"] for c in large) == 128
    assert max(c["rows"] for c in small) == 32 and max(c["parts"] for c in small) == 16
    assert candidates(contraction(4096, 4096, 4096), replace(FACTS, software=True)) == []
    assert all(
        c["rows"] / c["thread_rows"] * c["columns"] / c["thread_columns"] <= 64
        for c in candidates(contraction(4096, 4096, 4096), replace(FACTS, max_threads=64))
    )
