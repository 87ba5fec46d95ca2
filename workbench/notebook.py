"""How an op shows itself where people try it out: its parameters to `help` and completion, its page to a notebook."""

from __future__ import annotations

import html
import inspect
import keyword
from typing import TYPE_CHECKING

from codegen.api import report
from codegen.api.docs import family_text, param_docs, tree_param
from dsl.gradients.adjoint import complete
from dsl.ir.expression import Constant
from dsl.opdef import OpDef, Param
from dsl.text.show import show, type_text

if TYPE_CHECKING:
    from .function import Function


def python_signature(op: OpDef) -> inspect.Signature:
    """The parameters as Python knows them, with the types and defaults of the definition.  What follows a parameter
    that may be left out can be left out as far as Python is concerned; a name that Python keeps for itself ends in
    `_`."""
    found, optional = [], False
    for p in sorted(op.params, key=lambda p: p.keyword):
        optional = optional or (p.optional or p.has_default) and not p.keyword
        left_out = p.optional or p.has_default or optional and not p.keyword
        written = tree_param(op, p.name)
        found.append(
            inspect.Parameter(
                p.name + "_" * keyword.iskeyword(p.name),
                inspect.Parameter.KEYWORD_ONLY if p.keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default(p) if left_out else inspect.Parameter.empty,
                annotation=family_text(op, type_text(written.type)) if written else p.kind,
            )
        )
    return inspect.Signature(found, return_annotation=results(op))


def default(p: Param) -> object:
    """A default as Python has it; None where it is computed or absent."""
    if not isinstance(p.default, Constant):
        return None
    if p.kind == "choice":
        return p.choices[int(p.default.value)]
    return bool(p.default.value) if p.kind == "bool" else p.default.value


def results(op: OpDef) -> str:
    assert op.tree is not None
    said = [f"{o.name}: {family_text(op, type_text(o.type))}" if o.type else o.name for o in op.tree.outputs]
    return said[0].partition(": ")[2] or "Tensor" if len(said) == 1 else f"({', '.join(said)})"


def page(f: Function) -> str:
    """What a notebook shows of an op: its text, parameters, definition and gradient."""
    op, text = complete(f.op), html.escape
    rows = "".join(f"<tr><td><code>{text(n)}</code></td><td>{code(d)}</td></tr>" for n, d in param_docs(op).items())
    names = ", ".join(f"<code>{text(a)}</code>" for a in op.aliases)
    parts = [("definition", show(op.tree).rstrip(), True), ("loops", str(op.forward), False)]
    if op.gradient is not None:
        parts.append((f"gradient, {report.gradient(op)}", str(op.gradient), False))
    folded = "".join(
        f"<details{' open' * shown}><summary>{text(title)}</summary><pre>{text(said)}</pre></details>"
        for title, said, shown in parts
    )
    doc = text(family_text(op, op.doc).strip()).replace("\n", "<br>")
    return f"<div><b><code>{text(f.name)}</code></b> {names}<p>{doc}</p><table>{rows}</table>{folded}</div>"


def code(said: str) -> str:
    """A text whose parts in backquotes are code, as HTML."""
    parts = html.escape(said).split("`")
    return "".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
