"""Says what becomes of one definition: `build.py explain NAME`.  The text itself is workbench/explain.py's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .environment import SetupError


def page(name: str, arguments: Sequence[str] = (), more: Sequence[Path] = ()) -> str:
    """The text about an op, by its own name or one of PyTorch's, and about the kernels of the call with these
    arguments (workbench/call_text.py).  more: folders of definitions beside ops/.  Raises SetupError for what is not
    there."""
    from codegen.data.errors import OpError
    from dsl.catalogue import Catalogue
    from dsl.library import definition_files
    from dsl.text.diagnostics import DefinitionError
    from dsl.text.places import OPS
    from workbench import explain
    from workbench.call_text import given
    from workbench.function import find

    shelf = Catalogue([f for folder in (OPS, *more) for f in definition_files(folder)])
    try:
        op = find(name, shelf)
        return explain.page(op, shelf.library, given(op, arguments))
    except (DefinitionError, OpError) as error:
        raise SetupError(str(error)) from None
