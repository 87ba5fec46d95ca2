"""CPU kernels that are the same but for names: each is written once, whichever ops need it.

Broadcasting, transposition and types are data to a kernel, so many kernels are equal: copies, products, the blocks
of contractions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .canonical import canonical
from .emit import CpuKernels

MODULE = "shared"  # of the kernels that ops of several files have


@dataclass
class Shared:
    """functions: for each module (a file of definitions, or MODULE) its functions, exported where others import them;
    tables: for each op the table of its kernels; imports: for each module the names it takes from MODULE."""

    functions: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, list[list[tuple[str | None, str | None]]]] = field(default_factory=dict)
    imports: dict[str, set[str]] = field(default_factory=dict)


def share(made: Mapping[str, CpuKernels], file_of: Mapping[str, str]) -> Shared:
    """The kernels of all ops, each once.  `file_of`: the file of definitions that an op is in."""
    texts: dict[str, str] = {}  # the first function's name -> its text
    first: dict[str, str] = {}  # a function's canonical text -> the first one's name
    same: dict[str, str] = {}  # a function's name -> the first one's
    home: dict[str, str] = {}  # the first one's name -> its file, or MODULE
    own_calls = {
        name: called for op in made.values() for name, called in op.calls.items()
    }  # names are an op's, so they differ

    for op, kernels in made.items():
        for (name, form), f in zip(kernels.forms.items(), kernels.functions):
            if own_calls[name]:
                form = canonical(f, same)
            if form not in first:
                first[form], texts[name], home[name] = name, f, file_of[op]
            same[name] = first[form]
            if home[same[name]] != file_of[op]:
                home[same[name]] = MODULE

    out = Shared()
    calls = {n: [same[c] for c in own_calls[n]] for n in texts}
    for n in list(texts):  # what a shared kernel calls is shared, too
        if home[n] == MODULE:
            for c in calls[n]:
                home[c] = MODULE
    for name, text in texts.items():
        if calls[name] != own_calls[name]:
            text = re.sub(r"(?<![.\w\"])[A-Za-z_]\w*", lambda m: same.get(m[0], m[0]), text)
        if home[name] == MODULE:
            text = re.sub(r"^function", "export function", text, flags=re.M)
        else:
            out.imports.setdefault(home[name], set()).update(c for c in calls[name] if home[c] == MODULE)
        out.functions.setdefault(home[name], []).append(text)
    for op, kernels in made.items():
        table = [[tuple(found(f, kernels, same) for f in pair) for pair in row] for row in kernels.table]
        out.tables[op] = table
        used = {f for row in table for pair in row for f in pair}
        out.imports.setdefault(file_of[op], set()).update(f for f in used if home.get(f) == MODULE)
    return out


def found(name: str | None, kernels: CpuKernels, same: Mapping[str, str]) -> str | None:
    """The kernel that stands for one: the first that is the same, or the interpreter."""
    return None if name is None else kernels.interpreted.get(name) or same[name]
