"""Says what becomes of one definition: `build.py explain NAME`.  The text itself is codegen/explain.py's."""

from __future__ import annotations

from .environment import SetupError


def page(name: str, library: dsl.opdef.Library) -> str:  # noqa: F821 - imported inside .venv
    """The text about an op, by its own name or one of PyTorch's.  Raises SetupError for an unknown name."""
    from codegen import explain
    from dsl.api import find
    from dsl.diagnostics import DefinitionError

    try:
        return explain.page(find(name, library), library)
    except DefinitionError as error:
        raise SetupError(str(error)) from None
