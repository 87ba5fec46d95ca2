"""The package's public values with their types in words and their comments, as public_api.mjs reads them from the
typings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from buildtools import node
from buildtools.typescript import BuildError
from codegen.earlier import Earlier

SCRIPT = Path(__file__).with_name("public_api.mjs")
WORDS = SCRIPT.with_name("words.mjs")  # which it imports


@dataclass(frozen=True)
class Parameter:
    """option: it is said by name, in an object."""

    name: str
    type: str
    optional: bool
    doc: str
    rest: bool = False
    option: bool = False


@dataclass(frozen=True)
class Signature:
    params: tuple[Parameter, ...]
    result: str
    doc: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Value:
    """A public value.  kind: function, class, value, method or property; names: others of the same thing; file: where
    it is declared, from the package's root; of: of a class, where what it makes is declared; told: what its comment
    says of parameters, by their names; members: of a class; examples: code, with what it gives behind `  // `."""

    name: str
    kind: str
    file: str
    doc: str
    names: tuple[str, ...] = ()
    type: str = ""
    base: str = ""
    of: str = ""
    signatures: tuple[Signature, ...] = ()
    members: tuple[Value, ...] = field(default=())
    examples: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its comment, or that of a signature."""
        return self.doc or next((s.doc for s in self.signatures if s.doc), "")

    @property
    def source(self) -> str:
        """The file of the repository."""
        return source(self.file)


def source(file: str) -> str:
    return file.removesuffix(".d.ts") + ".ts"


def read(dist: Path, earlier: Earlier) -> list[Value]:
    """All that the package exports, namespaces included.  earlier: what was read before.  Raises BuildError."""
    texts = [f.read_text(encoding="utf-8") for f in sorted(dist.rglob("*.d.ts"))]
    made = earlier.get(
        lambda: listed(dist), "typings", *(f.read_text(encoding="utf-8") for f in (SCRIPT, WORDS)), *texts
    )
    return [value(one) for one in json.loads(made)]


def listed(dist: Path) -> str:
    done = node.run([SCRIPT, dist / "index.d.ts"], node=node.development())
    if done.returncode:
        raise BuildError(f"the package's typings cannot be read:\n{done.stdout}")
    return done.stdout


def value(made: dict[str, Any]) -> Value:
    return Value(
        name=made["name"],
        kind=made["kind"],
        file=made["file"],
        doc=made["doc"],
        names=tuple(made.get("names", ())),
        type=made.get("type", ""),
        base=made.get("base", ""),
        of=made.get("of", ""),
        signatures=tuple(signature(s) for s in made["signatures"]),
        members=tuple(value(m) for m in made.get("members", ())),
        examples=tuple(made.get("examples", ())),
        told=made.get("told", {}),
    )


def signature(made: dict[str, Any]) -> Signature:
    keys = ("name", "type", "optional", "doc", "rest", "option")
    params = [Parameter(**{k: p[k] for k in keys if k in p}) for p in made["params"]]
    return Signature(tuple(params), made["result"], made["doc"], tuple(made["examples"]))
