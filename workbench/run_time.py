"""Definitions compiled for a program that runs: `tensorloom/op` of the package asks this, in Pyodide
(runtime/definitions/run-time-compiler.ts), and the website's op playground.

    compiled(text) is {"errors": [...]} or {"made": {...}}, what codegen/api/transported.py says

Nothing here asks for numpy, and nothing runs a definition."""

from __future__ import annotations

import json
from dataclasses import replace

from codegen.api.project import project
from codegen.api.transported import transported
from dsl.catalogue import hidden
from dsl.gradients.adjoint import complete
from dsl.library import lower, standard
from dsl.opdef import Library
from dsl.text.diagnostics import DefinitionError, Error, ordered
from dsl.text.parse import parse_text
from dsl.text.source import Source
from dsl.text.syntax import Op

FILE = "definition.op"


def answer(request: str) -> str:
    """request: the arguments of `compiled` as JSON; its answer, too."""
    return json.dumps(compiled(**json.loads(request)))


def compiled(text: str, home: str) -> dict:
    """The ops that definitions make, or the mistakes in them.  home: what messages and kernels call them after."""
    _, library, errors, source = read(text, home)
    if errors:
        return {"errors": mistakes(errors, source)}
    try:
        complete_all(library)
    except DefinitionError as e:
        return {"errors": [unplaced(e)]}
    return {"made": transported(project(home, library))}


def complete_all(library: Library) -> None:
    """Makes the gradients of all ops.  Raises DefinitionError."""
    for op in library.ops.values():
        complete(op)


def read(text: str, home: str) -> tuple[list, Library, list[Error], Source]:
    """The definitions of a text as they are written and as ops, and what is wrong with them."""
    shelf = standard()
    items, found, source = parse_text(text, FILE)
    items = [found_by_own_names(i) if isinstance(i, Op) else i for i in items]
    parsed = [(items, found, source)]
    library, errors, _ = lower(parsed, [FILE.partition(".")[0]], shelf, home=home)
    return items, library, errors or hidden(parsed, shelf), source


def found_by_own_names(op: Op) -> Op:
    """A definition of the library may be tried out as it is: PyTorch's names for it are those of its functions here,
    but for those of methods that change their tensor."""
    names = dict.fromkeys(a.rpartition(".")[2] for a in op.aliases)
    return replace(op, aliases=tuple(n for n in names if not n.endswith("_")))


# --- Mistakes --------------------------------------------------------------------------------------


def mistakes(errors: list[Error], source: Source) -> list[dict]:
    """Where they are, in units of UTF-16 as JavaScript counts them, and in lines and columns counted from 1."""
    return [
        {
            "from": units(source.text, e.span[0]),
            "to": units(source.text, max(e.span[1], e.span[0] + 1)),
            "line": source.place(e.span[0])[0] + 1,
            "column": source.place(e.span[0])[1] + 1,
            "message": e.message,
            "label": e.label,
            "help": [*(text for _, text in e.notes), *e.help],
        }
        for e, _ in ordered(errors, source)
    ]


def unplaced(e: DefinitionError) -> dict:
    """A mistake of a definition as a whole."""
    return {"from": 0, "to": 0, "line": 1, "column": 1, "message": str(e), "label": "", "help": []}


def units(text: str, offset: int) -> int:
    return len(text[:offset].encode("utf-16-le")) // 2
