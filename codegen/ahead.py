"""Makes on all cores what earlier builds have not kept, so that the build, which goes through the definitions one by
one, finds it.

Nothing is answered but through `Earlier`: a definition that is wrong, or that a worker cannot finish, is left to the
build, which says what is wrong in the order of the files."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

Task = TypeVar("Task")

FEW = 4  # tasks that are not worth a second process


def ahead(work: Callable[[Task], None], tasks: Sequence[Task]) -> None:
    """Runs `work` on every task, in as many processes as there are cores; what it raises is lost.

    Workers are forks: they see what this process has read, and nothing they make comes back."""
    global _work, _tasks
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1  # elsewhere a fork is not safe
    if cores == 1 or len(tasks) < FEW:
        return
    _work, _tasks = work, tasks
    with multiprocessing.get_context("fork").Pool(min(cores, len(tasks))) as pool:
        for _ in pool.imap_unordered(_run, range(len(tasks))):
            pass


def _run(number: int) -> None:
    try:
        _work(_tasks[number])
    except Exception:
        pass  # the build meets it again, and says it
