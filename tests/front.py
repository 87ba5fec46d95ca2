"""The whole front end on a text, for tests."""

from dsl.diagnostics import Error
from dsl.names import check_library
from dsl.parse import parse_text
from dsl.source import Source


def checked(text: str, path: str = "text.op") -> tuple[list[Error], Source]:
    """All errors that the front end finds in a text."""
    items, errors, source = parse_text(text, path)
    return errors + check_library([(items, source)]), source


def errors_of(text: str) -> list[Error]: return checked(text)[0]
