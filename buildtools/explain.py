"""Says what becomes of one definition: `build.py explain NAME`.  The text itself is workbench/explain.py's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .environment import SetupError

if TYPE_CHECKING:  # a heavy import, made where it is needed
    from dsl.opdef import Library


def page(name: str, library: Library) -> str:
    """The text about an op, by its own name or one of PyTorch's.  Raises SetupError for an unknown name."""
    from dsl.text.diagnostics import DefinitionError
    from workbench import explain
    from workbench.function import find

    try:
        return explain.page(find(name, library), library)
    except DefinitionError as error:
        raise SetupError(str(error)) from None
