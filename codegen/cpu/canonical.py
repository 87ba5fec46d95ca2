"""The text of a CPU kernel without what is only a name: kernels that are the same have the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = re.compile(r"^(?:export )?function (\w+)", re.M)


def name_of(function: str) -> str:
    return NAME.search(function)[1]


def canonical(text: str, known: Mapping[str, str]) -> str:
    """A function with its own names replaced by numbers and those of other kernels by `known`; without its comment."""
    text = re.sub(r"^/\*\*.*?\*/\n", "", text, flags=re.S)
    own = {name_of(text)}
    for declared in re.findall(r"\b(?:const|let) ([^;]*);", text):
        own |= set(re.findall(r"(?:^|, )(\w+) = ", declared))
    numbers: dict[str, str] = {}

    def replaced(m: re.Match) -> str:
        name = m[0]
        if name in own:
            return numbers.setdefault(name, f"${len(numbers)}")
        return known.get(name, name)

    return re.sub(r'(?<![.\w"])[A-Za-z_]\w*', replaced, text)
