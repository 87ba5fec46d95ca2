"""An op as mathematics that people read, in LaTeX: nothing where it would be too long for that."""

from __future__ import annotations

from codegen.api import report
from dsl.opdef import OpDef
from dsl.text import latex, latex_programs
from dsl.text.syntax import Op

LONGEST = 2600  # letters of LaTeX that make a formula which people read


def body(tree: Op) -> str:
    """What a definition computes."""
    return short(latex.body(tree))


def sizes(tree: Op) -> str:
    """The sizes that its signature computes."""
    return short(latex.aligned([latex.size(s) for s in tree.sizes])) if tree.sizes else ""


def gradient(op: OpDef) -> str:
    """The gradient as the definition gives it, else as it was derived."""
    assert op.tree is not None
    if op.gradient is None or not op.gradient.stmts:
        return ""
    if report.gradient(op) == "given":
        return short(latex.gradient(op.tree))
    return short(latex_programs.program(op.gradient, {p.name: p.choices for p in op.params if p.choices}))


def short(text: str) -> str:
    return text if len(text) <= LONGEST else ""
