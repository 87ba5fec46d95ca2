"""How definitions are laid out: `tensorloom fmt`.

Line breaks, comments and texts are the author's; what stands between words of a line, and between definitions, is not:
one space after a comma and none before it, none inside brackets, an operator as far from its left side as from its
right one, one blank line between definitions and none before a variant. The words are those of the language's own
lexer, and what it says of a definition with a mistake is nothing: that one stays as it is.

    formatted("op f( x:Float )= x +1") == "op f(x: Float) = x + 1\\n" """

from __future__ import annotations

import re

from lark import Token
from lark.exceptions import LarkError
from lark.utils import TextSlice

from .parse import parser
from .source import Source

NONE_BEFORE = {"COMMA", "RPAR", "RSQB", "COLON", "OPTIONAL", "SEMICOLON"}
NONE_AFTER = {"LPAR", "LSQB"}
ONE_AFTER = {"COMMA", "COLON", "SEMICOLON", "ARROW"}
ONE_AROUND = {"ARROW", "COMPARE", "IF", "ELSE", "AND", "OR", "IN", "FALLBACK", "RANGE"}
EVEN = {"ASSIGN", "EQUAL", "ADD", "MUL", "POWER", "BITOP", "SHIFT", "VBAR"}  # as near on one side as on the other


def formatted(text: str) -> str:
    """The text of a file, laid out.  What cannot be read stays as it is."""
    source = Source("", text)
    spans = source.items()
    head = source.text[: spans[0][0]] if spans else source.text
    parts = [head, *(item(source, start, end) for start, end in spans)]
    lines = [line.rstrip() for line in "".join(parts).split("\n")]
    return "\n".join(separated(lines)).strip("\n") + "\n" if any(lines) else ""


def item(source: Source, start: int, end: int) -> str:
    """An item with what follows it up to the next one."""
    found = tokens(source, start, end)
    out, at, brackets = [], start, [""]
    for n, token in enumerate(found):
        gap = source.text[at : token.start_pos]
        free = n == 0 or "\n" in gap or "#" in gap
        out.append(gap if free else between(source, found, n, gap, inside_shape=brackets[-1] == "LSQB"))
        if token.type in NONE_AFTER:
            brackets.append(token.type)
        elif token.type in ("RPAR", "RSQB"):
            brackets.pop()
        out.append(source.text[token.start_pos : token.end_pos])
        at = token.end_pos
    return "".join(out) + source.text[at:end]


def tokens(source: Source, start: int, end: int) -> list[Token]:
    """The words of an item; none of one that is no definition."""
    try:
        reading = parser().parse_interactive(TextSlice(source.text, start, end), start="item")
        found = [t for t in reading.iter_parse() if t.type != "$END"]
        reading.feed_eof()
    except LarkError:
        return []
    return found


def between(source: Source, found: list[Token], n: int, gap: str, inside_shape: bool) -> str:
    """What stands between a word and the one before it, on one line.  inside_shape: of `*X:D`."""
    left, right = found[n - 1], found[n]
    if right.type == "_CLAUSE" or left.type == "_CLAUSE" or right.type == "BLOCK":
        return ""
    if left.type in NONE_AFTER or right.type in NONE_BEFORE:
        return ""
    if left.type == "COLON" and inside_shape:
        return ""
    if left.type in ONE_AFTER or right.type in ONE_AROUND or left.type in ONE_AROUND:
        return " "
    if right.type in EVEN:
        after = source.text[right.end_pos : right.end_pos + 1]
        return " " if gap or after in " \t\n" else ""
    if left.type in EVEN and n > 1:
        return " " if source.text[found[n - 2].end_pos : left.start_pos] else " " if gap else ""
    return " " if gap else ""


def separated(lines: list[str]) -> list[str]:
    """Lines with one blank line before each definition but a variant, and never two."""
    out: list[str] = []
    for line in lines:
        if not line and (not out or not out[-1]):
            continue
        starts = re.match(r"(op|def|schedule)\b", line) is not None
        if starts and out and out[-1] and (out[-1].startswith(" ") or starts and line.startswith("op")):
            if not out[-1].startswith("#"):
                out.append("")
        if line.startswith("or ") and out and not out[-1]:
            out.pop()
        out.append(line)
    return out
