"""An op's definition as a reader sees it: how it is called, what it takes and gives, its formula, its gradient."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.api import described, docs, report
from codegen.api.signatures import positional, required
from dsl.opdef import OpDef
from dsl.text.show import show
from workbench import formulas


@dataclass(frozen=True)
class Row:
    """A parameter: what it is, its default as text where it has one, whether it is given by name, and whether it must
    be given."""

    name: str
    what: str
    default: str
    option: bool
    required: bool = False


@dataclass(frozen=True)
class Form:
    """One op of a page.  call: as one writes it; results: (name, what); requires: as the definition says them; formula,
    sizes, gradient: LaTeX, or nothing for what is no formula or too long for one; derived: how the gradient came about,
    program: the gradient as text; examples: code and what it gives."""

    op: str
    call: str
    doc: str
    rows: list[Row]
    results: list[tuple[str, str]]
    promotion: str
    formula: str
    sizes: str
    requires: list[str]
    definition: str
    file: str
    gradient: str
    derived: str
    program: str
    examples: list[tuple[str, str]]

    @property
    def title(self) -> str:
        """The first sentence, without its full stop."""
        return self.doc.partition(". ")[0].rstrip(".")

    @property
    def rest(self) -> str:
        return self.doc.partition(". ")[2]


def form(op: OpDef) -> Form:
    assert op.tree is not None
    return Form(
        op=op.name,
        call=call(op),
        doc=docs.family_text(op, op.doc).strip(),
        rows=rows(op),
        results=[(name, described.result(op, name)) for name in op.outputs],
        promotion=described.promotion(op),
        formula=formulas.body(op.tree),
        sizes=formulas.sizes(op.tree),
        requires=[described.family(op, r.message) for r in op.tree.requires if r.message],
        definition=show(op.tree),
        file=f"ops/{op.file}.op",
        gradient=formulas.gradient(op),
        derived=report.gradient(op),
        program=str(op.gradient) if op.gradient is not None else "",
        examples=[tuple(line.split("  // ", 1)) for line in docs.examples(op)],  # type: ignore[misc]
    )


def rows(op: OpDef) -> list[Row]:
    assert op.tree is not None
    keywords = {p.name for p in op.params if p.keyword}
    return [
        Row(p.name, described.parameter(op, p), described.default(op, p), p.name in keywords, p.default is None)
        for p in op.tree.params
    ]


def call(op: OpDef) -> str:
    """`torch.softmax(input, dim, { dtype })`: what may be left out stands in the object of options."""
    name = op.aliases[0].replace("Tensor.", "input.") if op.aliases else op.name
    given = [p.name for p in positional(op) if required(p)]
    left = [p.name for p in op.params if p.name not in given]
    if name.startswith("input."):
        given = given[1:]
    options = ["{ " + ", ".join(left) + " }"] if left else []
    return f"{name}({', '.join(given + options)})"
