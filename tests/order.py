"""In which order the processes of a run take the tests: long ones first, so that none runs alone at the end.

pytest-xdist gives each process as many tests, in their order; one that has ended takes the last half of what another
has left.  So each process gets files of few tests, which take long each, then its part of every file of many: of those
of most, whose tests are quickest, last."""

from __future__ import annotations

from itertools import groupby

import pytest

MANY = 100  # tests of a file that is divided among the processes; a smaller one, whose tests share more, stays whole


def parts(lengths: list[int], processes: int) -> list[list[tuple[int, int, int]]]:
    """For each process what it gets of files of so many tests: (file, first test, the one after the last)."""
    few = [file for file, length in enumerate(lengths) if length <= MANY]
    given = [[(file, 0, lengths[file]) for file in few[n::processes]] for n in range(processes)]
    many = sorted((file for file, length in enumerate(lengths) if length > MANY), key=lengths.__getitem__)
    for file in many[:-1]:
        cuts = [lengths[file] * n // processes for n in range(processes + 1)]
        for n in range(processes):
            given[n].append((file, cuts[n], cuts[n + 1]))
    # The last file makes the parts as long as pytest-xdist will make them.
    left, at = sum(lengths), 0
    for n, part in enumerate(given):
        whole = left // (processes - n)
        left -= whole
        wanted = whole - sum(end - first for _, first, end in part)
        if many and wanted > 0:
            end = min(at + wanted, lengths[many[-1]])
            part.append((many[-1], at, end))
            at = end
    if many and at < lengths[many[-1]]:
        given[-1].append((many[-1], at, lengths[many[-1]]))
    return given


def dealt(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """The tests in the order in which so many processes are to have them."""
    files = [[*tests] for _, tests in groupby(items, key=lambda item: item.path)]
    return [
        item
        for part in parts([len(tests) for tests in files], processes)
        for file, first, end in part
        for item in files[file][first:end]
    ]
