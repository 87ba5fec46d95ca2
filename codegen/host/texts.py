"""Texts of expressions: brackets and names."""

from __future__ import annotations


def bare(text: str) -> str:
    """Without brackets round all of it."""
    if not text.startswith("(") or not text.endswith(")"): return text
    depth = 0
    for i in range(len(text)):
        if text[i] == "(": depth += 1
        if text[i] == ")": depth -= 1
        if depth == 0 and i < len(text) - 1: return text
    return text[1:len(text) - 1]


def is_word(c: str) -> bool: return c >= "a" and c <= "z" or c >= "A" and c <= "Z" or c >= "0" and c <= "9" or c == "_"


def called(text: str) -> list[str]:
    """The names before brackets: functions of the prelude, of WGSL or of the text itself."""
    out: list[str] = []
    start = 0
    for i in range(len(text)):
        if text[i] == "(" and start < i and text[start:i] not in out: out.append(text[start:i])
        if not is_word(text[i]): start = i + 1
    return out


def has_part(text: str, part: str) -> bool:
    """Whether a formula contains another, and not only the end of a longer name."""
    at = text.find(part)
    if at < 0: return False
    while at >= 0:
        if at > 0 and is_word(text[at - 1]): return False
        at = text.find(part, at + 1)
    return True
