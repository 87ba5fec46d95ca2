"""What functions and classes that are no ops take for arguments that are left out: as their sources say, or PyTorch,
whose defaults they have (tests/node/default_values.test.mjs)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import chain

from buildtools import node
from buildtools.paths import ROOT
from buildtools.typescript import BuildError

from . import typings
from .typings import Value

SCRIPT = ROOT / "website" / "reference" / "written.mjs"
# What stands for the default device, its numbers' type, its generator and so on, wherever one of these is taken.
EVERYWHERE = {
    "device": "null",
    "dtype": "null",
    "generator": "null",
    "map_location": "null",
    "progress": "null",
    "requires_grad": "false",
    "signal": "null",
}
RECORDED = ROOT / "tests" / "recorded" / "default_values.json"  # default_values.py beside it says what is in it


@dataclass(frozen=True)
class Written:
    """defaults: by file, (name, values) of what constructors take; ops: by exported name, those that it is made of."""

    defaults: dict[str, list[tuple[str, dict[str, str]]]]
    ops: dict[str, list[str]]


@cache
def written() -> Written:
    """What the sources say.  Raises BuildError."""
    done = node.run([SCRIPT, "runtime"], cwd=ROOT, node=node.development())
    if done.returncode:
        raise BuildError(f"the hand-written TypeScript cannot be read:\n{done.stdout}")
    made = json.loads(done.stdout)
    defaults = {file: [(e["name"], e["values"]) for e in found] for file, found in made["defaults"].items()}
    return Written(defaults, made["ops"])


def said(value: Value) -> dict[str, str]:
    """What is taken where nothing is given, as text; "" for what must be given.  Empty where no source says it."""
    short = value.name.rpartition(".")[2]
    takes = {p.name for s in value.signatures for p in s.params}
    for file in (value.source, typings.source(value.of)):
        found = written().defaults.get(file, [])
        named = next((values for name, values in found if name == short), None)
        if named is not None:
            # What a function hands on in an object, as a type that it computes, need not be given.
            return named if value.kind == "class" else {p: default for p, default in named.items() if default}
        # One text for several classes, and `LazyLinear`, which takes what `Linear` does but for what an input says.
        for name, values in found:
            usual = {p: default for p, default in values.items() if default or p in takes}
            if name in ("", short.removeprefix("Lazy")) and usual.keys() <= takes:
                return usual
    return {}


@cache
def of_pytorch() -> dict[str, list[list[tuple[str, str, object]]]]:
    """By names, overloads as lists of (parameter, kind, default)."""
    made: dict[str, list[list[tuple[str, str, object]]]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return made


def overloads(value: Value) -> list[list[tuple[str, str, object]]]:
    """PyTorch's, of all names that the value has."""
    return [one for name in (value.name, *value.names) for one in of_pytorch().get(name, [])]


def recorded(value: Value) -> dict[str, str]:
    """PyTorch's defaults, as JavaScript: of a name's overloads the first that has one."""
    found: dict[str, str] = {}
    for parameter, kind, default in chain(*overloads(value)):
        if kind in ("place", "name"):  # both may be left out
            found.setdefault(parameter, literal(default))
    return found


def needed(value: Value) -> set[str]:
    """The parameters that no call of PyTorch's leaves out."""
    always = [{name for name, kind, _ in one if kind in ("needed", "named")} for one in overloads(value)]
    return set.intersection(*always) if always else set()


def order(value: Value) -> list[str]:
    """The names of all parameters in PyTorch's order."""
    return [name for name, _, _ in max(overloads(value), key=len, default=[])]


def literal(value: object) -> str:
    """`1e-5`, `"mean"`, `[0, 1]`."""
    return re.sub(r"e([-+])0", r"e\1", json.dumps(value))
