"""One build at a time: a lock on a file, which the system lets go of when its holder ends, however it ends.

The programs that a build starts hold it too (`descriptors`), so that none of an interrupted build still writes
while the next one does.  The standard library alone: used before `.venv` exists."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_held: list[int] = []


@contextmanager
def alone(file: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Waits until no other process is in a body with this file, and keeps others out until its own body ends."""
    if fcntl is None:
        yield
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build in this folder")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _held.append(descriptor)
        try:
            yield
        finally:
            _held.remove(descriptor)
    finally:
        os.close(descriptor)


def descriptors() -> tuple[int, ...]:
    """What a started program inherits (`pass_fds`) to hold the locks that this process holds."""
    return tuple(_held)


def _forget() -> None:
    """In a fork: workers of a build that was killed may stay, and are not to keep the next one waiting."""
    while _held:
        os.close(_held.pop())


if fcntl:
    os.register_at_fork(after_in_child=_forget)
