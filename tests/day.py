"""The day, from which fuzzers draw seeds beside their fixed ones: what they look at grows with the days.

What such a seed finds was there before whatever is being tested, so that it fails no test: it is told loudly at the end
of the run, with the command that repeats it.  TENSORLOOM_DAY=YYYYMMDD repeats a day, and there it fails."""

import contextlib
import datetime
import os
from collections.abc import Callable, Iterator

ASKED = os.environ.get("TENSORLOOM_DAY", "")
TODAY = int(ASKED or datetime.date.today().strftime("%Y%m%d"))


@contextlib.contextmanager
def told(test: str, tell: Callable[[str], None]) -> Iterator[None]:
    """A block of the test that today's seed decides; `tell` gets what it found."""
    try:
        yield
    except Exception as error:
        if ASKED:
            raise
        again = f"TENSORLOOM_DAY={TODAY} python3 build.py test {test}"
        tell(f"{again}\n{type(error).__name__}: {str(error)[:4000]}")
