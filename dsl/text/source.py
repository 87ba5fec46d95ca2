"""Files of definitions: reading them, cutting them into items, and offsets to lines and columns.

An item starts at a line in column 0 that is no comment; it ends where the next one starts.  Nothing
else of the language is known here."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

ITEM = re.compile(r"^(?=[^ \t\r\n#])", re.M)


@dataclass
class Source:
    """A file's text with line ends made `\\n`, the last line's too; all spans are offsets into `text`."""

    path: str
    text: str
    starts: list[int] = field(init=False, repr=False)

    def __post_init__(self):
        self.text = self.text.replace("\r\n", "\n").replace("\r", "\n")
        if not self.text.endswith("\n"):
            self.text += "\n"
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 0."""
        line = bisect_right(self.starts, offset) - 1
        return line, offset - self.starts[line]

    def line(self, number: int) -> str:
        """The text of a line, counted from 0, without its end."""
        end = self.text.find("\n", self.starts[number])
        return self.text[self.starts[number] : end if end >= 0 else len(self.text)]

    def items(self) -> list[tuple[int, int]]:
        """The items' (start, end) offsets; the first may be preceded by text that belongs to none."""
        starts = [m.start() for m in ITEM.finditer(self.text) if m.start() < len(self.text)]
        return list(zip(starts, starts[1:] + [len(self.text)]))


def read(path: str | Path) -> Source:
    """Reads a file.  Raises OSError, or UnicodeDecodeError if it is not UTF-8."""
    return Source(str(path), Path(path).read_text(encoding="utf-8-sig"))
