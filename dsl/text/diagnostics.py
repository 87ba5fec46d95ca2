"""Errors as values, and how they are shown.

Passes append `Error`s and never raise for a user's mistake; only the command line renders them.
A message starts with a small letter, has no full stop, and names things in `backquotes`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from unicodedata import combining, east_asian_width

from .source import Source
from .syntax import Span

CODES = ("syntax", "layout", "name", "index", "range", "rank", "size", "outside", "grad", "test", "type", "option")
SHOWN = 20  # errors printed at most; the rest are counted
WIDTH = 150  # a longer line is shown in part


class DefinitionError(Exception):
    """Definitions with mistakes were asked for something; the text is what the author reads."""


@dataclass(frozen=True)
class Error:
    """A mistake in a definition.

    code     one of CODES
    message  general, stands alone:             unknown function `sigmod`
    span     where, as offsets into the file:   as small as still tells
    label    short, written beside the carets:  did you mean `sigmoid`?
    notes    other places: (span, what is there)
    help     what to do, each one line
    path     the file; passes may leave it empty and let `located` fill it in"""

    code: str
    message: str
    span: Span
    label: str = ""
    notes: tuple[tuple[Span, str], ...] = ()
    help: tuple[str, ...] = ()
    path: str = ""


def located(errors: Iterable[Error], path: str) -> list[Error]:
    """The errors, with `path` where they name no file."""
    return [e if e.path else replace(e, path=path) for e in errors]


# --- Did you mean ... ------------------------------------------------------------------------------


def distance(a: str, b: str) -> int:
    """Restricted Damerau-Levenshtein: letters put in, left out, changed, or neighbours swapped."""
    before, row = [], list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row, older = row, [i], before
        for j, y in enumerate(b, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        before = last
    return row[-1]


def near(name: str, names: Iterable[str]) -> list[str]:
    """Names that may have been meant: at most four of those nearest, one edit away (or two, from three letters on)."""
    reach = 1 if len(name) < 3 else 2
    found = []
    for n in set(names) - {name}:
        if n.lower() == name.lower():
            found.append((0, n))
        elif abs(len(n) - len(name)) <= reach and min(len(name), len(n)) > 1:
            d = distance(name.lower(), n.lower())
            if d <= reach and d < min(len(name), len(n)):
                found.append((d, n))
    return [n for d, n in sorted(found) if d == min(found)[0]][:4]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A label, or "" if nothing is near."""
    found = near(name, names)
    return f"did you mean {either(f'`{n}`' for n in found)}?" if found else ""


def choice_label(text: str, choices: Iterable[str]) -> str:
    """A label for a text that is none of the choices."""
    choices = list(choices)
    found = near(text, choices)
    if not found:
        return "it has " + either(f'`"{c}"`' for c in choices[:6])
    return "did you mean " + either(f'`"{n}"`' for n in found) + "?"


def either(words: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    words = list(words)
    return " or ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])


# --- Rendering -------------------------------------------------------------------------------------


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def excerpt(line: str, column: int) -> tuple[str, int]:
    """The part of a long line around a column, and how many letters were cut off in front."""
    if len(line) <= WIDTH:
        return line, 0
    start = max(0, min(column - WIDTH // 2, len(line) - WIDTH))
    return line[start : start + WIDTH], start


def show(error: Error, source: Source) -> str:
    """One error: message, place, the lines with their marks, help."""
    marks = sorted([(error.span, 0, "^", error.label)] + [(s, 1, "-", text) for s, text in error.notes])
    line, column = source.place(error.span[0])
    gutter = len(str(max(source.place(s[0])[0] for s, *_ in marks) + 1))
    margin = " " * gutter
    out = [f"error[{error.code}]: {error.message}", f"{margin}--> {source.path}:{line + 1}:{column + 1}", f"{margin} |"]
    last = None
    for (start, end), _, mark, label in marks:
        n, column = source.place(start)
        full = source.line(n)
        text, cut = excerpt(full, column)
        if last is not None and n > last + 1:
            out.append("...")
        if n != last:
            out.append(f"{n + 1:>{gutter}} | {text}".replace("\t", "    ").rstrip())
        last = n
        stop = min(column + max(end - start, 1), max(len(full), column + 1))
        before = cells(text[: column - cut].replace("\t", "    "))
        under = max(cells(text[column - cut : stop - cut].replace("\t", "    ")), 1)
        out.append(f"{margin} | {' ' * before}{mark * under} {label}".rstrip())
    return "\n".join(out + [f"{margin} = help: {h}" for h in error.help])


def by_path(sources: Source | Iterable[Source] | dict[str, Source]) -> dict[str, Source]:
    if isinstance(sources, dict):
        return sources
    return {s.path: s for s in ([sources] if isinstance(sources, Source) else sources)}


def ordered(errors: Iterable[Error], sources) -> list[tuple[Error, Source]]:
    """Each error once, with its source, by file and position; an error without a file is in the first one."""
    table = by_path(sources)
    first = next(iter(table), "")
    seen = dict.fromkeys(located(errors, first))
    order = {path: i for i, path in enumerate(table)}
    return [(e, table[e.path]) for e in sorted(seen, key=lambda e: (order[e.path], e.span, e.code, e.message))]


def render(errors: Iterable[Error], sources) -> str:
    """All errors as text for a terminal, at most SHOWN of them, and a count; "" if there are none.

    sources: a Source, several, or a dict by path."""
    pairs = ordered(errors, sources)
    if not pairs:
        return ""
    shown = [show(e, s) for e, s in pairs[:SHOWN]]
    if len(pairs) > SHOWN:
        shown.append(f"... and {len(pairs) - SHOWN} more")
    files = sorted({s.path for _, s in pairs})
    where = files[0] if len(files) == 1 else f"{len(files)} files"
    return "\n\n".join(shown + [f"{len(pairs)} error{'s' * (len(pairs) > 1)} in {where}"])


def to_json(errors: Iterable[Error], sources) -> str:
    """All errors for an editor: lines and columns count from 1, ends are exclusive."""

    def span(source, at):
        (a, b), (c, d) = source.place(at[0]), source.place(max(at[1], at[0] + 1))
        return {"line": a + 1, "column": b + 1, "end_line": c + 1, "end_column": d + 1}

    return json.dumps(
        [
            {
                "code": e.code,
                "message": e.message,
                "path": s.path,
                **span(s, e.span),
                "label": e.label,
                "notes": [{**span(s, at), "text": text} for at, text in e.notes],
                "help": list(e.help),
            }
            for e, s in ordered(errors, sources)
        ],
        indent=2,
    )
