"""Makes on all cores what earlier builds have not kept, so that the build, which goes through the definitions one by
one, finds it.

Nothing is answered but through `Earlier`: a definition that is wrong, or that a worker cannot finish, is left to the
build, which says what is wrong in the order of the files."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")

FEW = 4  # tasks that are not worth a second process


def ahead(work: Callable[[Task], None], tasks: Sequence[Task]) -> None:
    """Runs `work` on every task, in as many processes as there are cores; what it raises is lost.

    Workers are forks: they see what this process has read, and nothing they make comes back."""
    global _work, _tasks
    if cores() == 1 or len(tasks) < FEW:
        return
    _work, _tasks = work, tasks
    with multiprocessing.get_context("fork").Pool(min(cores(), len(tasks))) as pool:
        for _ in pool.imap_unordered(_run, range(len(tasks))):
            pass


@contextmanager
def beside(*works: Callable[[], object]) -> Iterator[None]:
    """Runs each of `works` in a process of its own while the block runs, and waits for them at its end; what they raise
    is lost.  A block that fails waits for nothing."""
    fork = multiprocessing.get_context("fork") if cores() > 1 else None
    started = [fork.Process(target=_attempt, args=(work,)) for work in works] if fork else []
    for process in started:
        process.start()
    try:
        yield
    except BaseException:
        for process in started:
            process.terminate()
        raise
    finally:
        for process in started:
            process.join()


def cores() -> int:
    """How many processes may run; 1 where a fork is not safe."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def _attempt(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception:
        pass  # the build meets it again, and says it


def _run(number: int) -> None:
    _attempt(lambda: _work(_tasks[number]))
