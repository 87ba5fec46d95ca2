"""Calls that a formula has several times, computed once.

Derivatives of quotients and roots repeat them at every depth.  Drivers put the text of a function in the place of each
call before they look for what is the same, so that a formula with forty of them takes minutes to compile."""

from __future__ import annotations

from dataclasses import dataclass

from .texts import has_part, is_word

# Calls that cost no more than a variable.
PLAIN = ["select", "f32", "i32", "u32", "bool", "abs", "min", "max"]


@dataclass
class Common:
    """lines: variables for what a formula has several times; text: the formula by them."""
    lines: list[str]
    text: str


def common(text: str, name: str) -> Common:
    """A formula with its repeated calls in variables, whose names start with `name`."""
    lines: list[str] = []
    call = repeated(text)
    while call != "":
        variable = f"{name}_{len(lines)}"
        lines.append(f"let {variable} = {call};")
        text = variable.join(text.split(call))
        call = repeated(text)
    return Common(lines, text)


def repeated(text: str) -> str:
    """The shortest call that a text has more than once, or nothing."""
    best = ""
    at = text.find("(")
    while at >= 0:
        begin = at
        while begin > 0 and is_word(text[begin - 1]): begin -= 1
        if begin < at and text[begin:at] not in PLAIN:
            call = text[begin:closing(text, at) + 1]
            if (best == "" or len(call) < len(best)) and len(text.split(call)) > 2 and has_part(text, call): best = call
        at = text.find("(", at + 1)
    return best


def closing(text: str, at: int) -> int:
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "(": depth += 1
        if text[i] == ")": depth -= 1
        if depth == 0: return i
    return len(text) - 1
