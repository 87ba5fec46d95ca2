"""The whole front end on a text, for tests."""

from dsl.diagnostics import Error
from dsl.library import load_text
from dsl.source import Source
from dsl.trials import check_reads


def checked(text: str, path: str = "text.op", trials: int = 60) -> tuple[list[Error], Source]:
    """All errors that the front end finds in a text; reads outside are looked for in `trials` small worlds."""
    library, errors, (source,) = load_text(text, path)
    if trials:
        for op in library.ops.values(): errors += check_reads(op, source, trials)
    return errors, source


def errors_of(text: str) -> list[Error]: return checked(text)[0]
