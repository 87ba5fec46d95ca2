"""The lines of a body and what stands below each: indentation becomes structure here, and nowhere else.

A line that ends in `:` begins a block of deeper lines.  A line deeper than the one above it that begins none goes on
with that line, as does one inside an open bracket."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from .diagnostics import Error
from .mistakes import strings_of
from .source import Source
from .syntax import Branch, Op, Span, Step
from .tree_values import Head

# Reads a line: its steps, or what it begins; or says what is wrong with it.
Parse: TypeAlias = Callable[[int, int], tuple[Step, ...] | Head | Error]


class Misplaced(Exception):
    """A mistake in a body."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True)
class Line:
    """text[start:end], indented by so many blanks."""

    indent: int
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.start, self.end


def with_steps(op: Op, source: Source, parse: Parse) -> Op:
    """The op with the steps of its launches.  parse: reads a line, or says what is wrong.  Raises Misplaced."""
    made = [replace(x, body=Block(source, x.below, parse).steps()) if x.below[1] else x for x in op.launches]
    return replace(op, launches=tuple(made))


class Block:
    """One block of lines, read from the top."""

    def __init__(self, source: Source, span: Span, parse: Parse) -> None:
        self.parse, self.span = parse, span
        self.lines = lines_of(source.text, *span)
        self.at = 0

    def steps(self) -> tuple[Step, ...]:
        if not self.lines:
            raise Misplaced(Error("syntax", "nothing stands below this", (self.span[0], self.span[0] + 1)))
        out = self.below(self.lines[0].indent)
        if self.at < len(self.lines):
            raise Misplaced(
                Error("layout", "this line is as deep as none of those it could go on with", self.lines[self.at].span)
            )
        return out

    def below(self, indent: int) -> tuple[Step, ...]:
        """The steps of the lines from here on that are indented so."""
        out: list[Step] = []
        while self.at < len(self.lines) and self.lines[self.at].indent >= indent:
            line = self.lines[self.at]
            if line.indent > indent:
                raise Misplaced(Error("layout", "this line is deeper than the one it stands below", line.span))
            found = self.parse(line.start, line.end)
            if isinstance(found, Error):
                raise Misplaced(found)
            self.at += 1
            if not isinstance(found, Head):
                out += found
                continue
            steps = found.below if found.below is not None else self.deeper(line)
            if found.otherwise:
                out[-1:] = [self.otherwise(out[-1] if out else None, found, steps)]
            else:
                assert found.step is not None
                out.append(replace(found.step, steps=steps))
        return tuple(out)

    def deeper(self, line: Line) -> tuple[Step, ...]:
        """What stands below a line that ends in `:`."""
        following = self.lines[self.at].indent if self.at < len(self.lines) else 0
        if following <= line.indent:
            raise Misplaced(
                Error("layout", "nothing stands below this line", line.span, help=("indent what belongs to it",))
            )
        return self.below(following)

    def otherwise(self, before: Step | None, found: Head, steps: tuple[Step, ...]) -> Branch:
        """The branch before with one more `else`."""
        if not isinstance(before, Branch):
            raise Misplaced(Error("syntax", "this `else` has no `if` above it", found.span))
        last = before.otherwise[-1] if before.otherwise else None
        if before.otherwise and not (isinstance(last, Branch) and last.chained):
            raise Misplaced(Error("syntax", "this `if` has an `else` already", found.span))
        if isinstance(last, Branch) and last.chained:
            return replace(before, otherwise=(self.otherwise(last, found, steps),))
        if found.step is None:
            return replace(before, otherwise=steps)
        assert isinstance(found.step, Branch)
        return replace(before, otherwise=(replace(found.step, steps=steps, chained=True),))


def lines_of(text: str, start: int, end: int) -> list[Line]:
    """The lines of a block, without that of its colon; continuations are joined, comments left out."""
    comments = [a for a, _ in strings_of(text, start, end) if text[a] == "#"]
    out: list[Line] = []
    depth, begin = 0, text.index("\n", start) + 1
    while begin < end:
        stop = text.find("\n", begin, end)
        stop = end if stop < 0 else stop
        comment = next((a for a in comments if begin <= a < stop), stop)
        shown = text[begin:comment].rstrip()
        blank = len(shown) - len(shown.lstrip(" "))
        line = Line(blank, begin + blank, begin + len(shown))
        begin = stop + 1
        if not shown.strip():
            continue
        if out and (depth > 0 or line.indent > out[-1].indent and text[out[-1].end - 1] != ":"):
            out[-1] = replace(out[-1], end=line.end)
        else:
            out.append(line)
        depth += len(re.findall(r"[(\[]", shown)) - len(re.findall(r"[)\]]", shown))
    return out
