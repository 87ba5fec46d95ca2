"""The names under which users find an op: `as torch.softmax`, in a project `as swiglu` (dsl/text/home.py)."""

from __future__ import annotations

import re

from ..text.diagnostics import did_you_mean
from ..text.source import Source
from ..text.syntax import Op, Span
from ..text.vocabulary import SPACES
from .assignments import results_of
from .formulas import Formulas
from .reach import clause_word
from .scope import Vocabulary


def check_public_names(walk: Formulas, op: Op, source: Source, vocabulary: Vocabulary) -> None:
    """walk: takes the errors."""
    if op.name.endswith("_"):
        walk.error("name", f"`{op.name}` ends in `_`", op.name_span, "the form that works in place is generated")
    for i, alias in enumerate(op.aliases):
        at = clause_word(op, source, "as", alias, op.aliases[:i].count(alias))
        if alias in op.aliases[:i]:
            walk.error("name", f"the name `{alias}` is given twice", at)
        if vocabulary.home:
            of_project(walk, alias, at)
        else:
            of_library(walk, op, alias, at)
        for hole in sorted(set(re.findall(r"\{(\w)\}", alias)) - ({op.family[0]} if op.family else set())):
            walk.error(
                "name",
                f"`{{{hole}}}` in this name stands for nothing",
                at,
                f"the op's variable is `{op.family[0]}`" if op.family else "the op has no `for` clause",
            )
    if vocabulary.home and op.complexes:
        walk.error(
            "name",
            "what complex numbers get in the place of an op is the library's to say",
            clause_word(op, source, "complex", op.complexes[0]),
            "an op of a project stands for itself",
        )


def of_library(walk: Formulas, op: Op, alias: str, at: Span) -> None:
    space, _, name = alias.rpartition(".")
    if space not in SPACES:
        label = did_you_mean(space, SPACES) if space else f"did you mean `torch.{name}`?"
        walk.error(
            "name",
            f"nothing is found under the name `{alias}`",
            at,
            label,
            help=("a name is in one of  " + ", ".join(SPACES),),
        )
    if name.endswith("_") and (count := results_of(op)) != 1:
        walk.error(
            "name",
            f"`{alias}` puts the result in the place of the first tensor",
            at,
            f"`{op.name}` has {'none' if not count else 'several'}",
            help=(f"leave the `_` out:  as {alias.rstrip('_')}",),
        )


def of_project(walk: Formulas, alias: str, at: Span) -> None:
    space, _, name = alias.rpartition(".")
    if space or name.endswith("_"):
        walk.error(
            "name",
            f"the name `{alias}` is not this project's to give",
            at,
            "its ops are found in its own package",
            help=(f"write a name alone:  as {name.rstrip('_')}",),
        )
