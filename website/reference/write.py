"""Writes the reference: its index, a page for each entry, and the list of names for the tests."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path

from markupsafe import Markup

from dsl.library import standard
from dsl.opdef import Library, OpDef
from workbench.playground import alone

from ..playground import ops as op_playground
from ..playground.link import link
from ..shell import Found, Shell
from . import by_hand, mathematics, typings
from .entries import Entry, by_subject, entries
from .forms import Form, form
from .links import pytorch

NAMES = "reference/names.json"  # the page of every public name


def write(shell: Shell, library: Library, dist: Path) -> None:
    """All pages of the reference.  dist: the built package."""
    found = entries(library, typings.read(dist, shell.earlier))
    groups = by_subject(found)
    sides = {subject: side(shell, subject, beside) for subject, beside in groups.items()}
    forms = {entry.name: [form(op) for op in entry.ops] for entry in found}
    formulas = mathematics.rendered(
        (text for f in chain(*forms.values()) for text in (f.formula, f.sizes, f.gradient)), shell.earlier
    )
    mathematics.assets(shell.folder / "assets" / "mathematics")
    opened = openings(chain(*(entry.ops for entry in found)), shell)
    functions = {op.name: entry for entry in found if entry.kind == "op" for op in entry.ops}
    for entry in found:
        page(shell, entry, forms[entry.name], formulas, sides[entry.subject], functions, opened)
    shell.write(
        "reference/index.html",
        "reference/index.html.j2",
        title="Reference",
        about="Every function, method, module, optimizer, scheduler and loader, with its definition where it is an op.",
        groups=groups,
    )
    shell.write_data(NAMES, {name: entry.path for entry in found for name in entry.names})


def side(shell: Shell, subject: str, beside: list[Entry]) -> str:
    """The list beside all pages of a subject, made once: there are thousands of pages."""
    return shell.templates.get_template("reference/side.html.j2").render(subject=subject, beside=beside)


def openings(ops: Iterable[OpDef], shell: Shell) -> dict[str, str]:
    """By the names of ops their definitions in the op playground, of those that can be compiled by themselves."""
    sources = "".join(source.text for source in standard().sources.values())
    texts: dict[str, str] = {}
    found = {}
    for op in ops:
        assert op.tree is not None
        name = op.tree.name
        if name not in texts:
            texts[name] = shell.earlier.get(partial(alone, op), "alone", name, sources)
        if texts[name]:
            found[op.name] = link(op_playground.PATH, texts[name])
    return found


def page(
    shell: Shell,
    entry: Entry,
    forms: list[Form],
    formulas: dict[str, Markup],
    beside: str,
    functions: dict[str, Entry],
    opened: dict[str, str],
) -> None:
    shell.write(
        entry.path,
        "reference/entry.html.j2",
        title=entry.name,
        about=entry.summary,
        entry=entry,
        forms=forms,
        function_pages=functions,
        value=by_hand.described(entry.value, entry.settings) if entry.value and entry.kind != "op" else None,
        math=lambda latex: formulas[latex],
        opened=opened,
        side=Markup(beside.replace(f'href="{entry.name}.html"', f'href="{entry.name}.html" aria-current="page"')),
        links=[(name, pytorch(name)) for name in (entry.name, *entry.names) if pytorch(name)][:1],
    )
    if entry.listed:
        shell.found.append(Found(entry.name, entry.path, entry.kind, entry.summary, entry.names))
